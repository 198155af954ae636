/* iq_loops.h - the search for the best codebook entry, for one set of
 * instructions
 *
 * Included by fit_loops.c, as fit_loops.h is, for which see there.
 */

/* errors[k * 8 + i]: of value i, if it becomes level k of three. */
static inline __attribute__((always_inline)) void
LOOP(errors_of_three)(const struct quant_codebook_index *h, const float *x,
                      const float *w, float d, float *errors)
{
    for (int k = 0; k < 3; k++) {
        floats e = splat(d * h->levels[k]) - load(x);

        e = load(w) * e * e;
        memcpy(errors + 8 * k, &e, sizeof(e));
    }
}

/* The errors of the pairs of levels that values i and i + 1 can have. */
static inline __attribute__((always_inline)) void
LOOP(pair_errors)(const float *errors, int i, float *pairs)
{
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            pairs[3 * a + b] = errors[8 * a + i + 1] + errors[8 * b + i];
    for (int k = 9; k < QUANT_HALF_ROW; k++)
        pairs[k] = HUGE_VALF;
}

/* Adds two pairs, or two values of eight levels: the errors of all halves of
 * entries, and the least of them. */
static inline __attribute__((always_inline)) float
LOOP(half_errors)(const float *low, const float *high, int rows, int row,
                  float *errors)
{
    floats least = splat(HUGE_VALF);
    float lanes[8], all = HUGE_VALF;

    for (int a = 0; a < rows; a++)
        for (int b = 0; b < row; b += 8) {
            floats e = load(low + b) + splat(high[a]);

            memcpy(errors + a * row + b, &e, sizeof(e));
            least = choose(e < least, e, least);
        }
    memcpy(lanes, &least, sizeof(lanes));
    for (int i = 0; i < 8; i++)
        all = lanes[i] < all ? lanes[i] : all;
    return all;
}

/* The entries with one upper half; `rest` is its error. */
static inline __attribute__((always_inline)) int
LOOP(look_at_run)(const struct quant_codebook_index *h, int high,
                  const float *low, float rest, int best, float *least)
{
    for (int i = h->first[high]; i < h->first[high + 1]; i++) {
        float e = rest + low[h->low[i]];

        best = e < *least ? i : best;
        *least = e < *least ? e : *least;
    }
    return best;
}

/* Looks at the upper halves, of eight, that may leave less than *least. */
static inline __attribute__((always_inline)) int
LOOP(look_at_eight)(const struct quant_codebook_index *h, int from,
                    const float *low, const float *high, float least_low,
                    int best, float *least)
{
    ints in = load(high + from) + splat(least_low) < splat(*least);
    unsigned mask = LOOP(mask_of)(&in);

    while (mask) {
        int half = from + __builtin_ctz(mask);

        best = LOOP(look_at_run)(h, half, low, high[half], best, least);
        mask &= mask - 1;
    }
    return best;
}

/* An upper half with entries that leaves little: where to begin. */
static inline __attribute__((always_inline)) int
LOOP(begin)(const struct quant_codebook_index *h, int n, const float *high)
{
    floats least = load(high) + load(h->none);
    ints at = { 0 }, index = { 0 };
    int best = 0;

    for (int i = 8; i < n; i += 8) {
        floats e = load(high + i) + load(h->none + i);
        ints in = e < least;

        index += 8;
        at = (index & in) | (at & ~in);
        least = choose(in, e, least);
    }
    for (int i = 1; i < 8; i++)
        best = least[i] < least[best] ? i : best;
    return at[best] + best;
}

static int
LOOP(best_entry)(const struct quant_codebook_index *h, const float *x,
                 const float *w, float d, float *error)
{
    float low[QUANT_MOST_HALF_ENTRIES], high[QUANT_MOST_HALF_ENTRIES], e[4 * 8];
    float least = HUGE_VALF, least_low;
    int best = 0, n;

    if (h->size == 8) {
        float pairs[4][QUANT_HALF_ROW];

        LOOP(errors_of_three)(h, x, w, d, e);
        for (int i = 0; i < 4; i++)
            LOOP(pair_errors)(e, 2 * i, pairs[i]);
        least_low = LOOP(half_errors)(pairs[0], pairs[1], 9, 16, low);
        LOOP(half_errors)(pairs[2], pairs[3], 9, 16, high);
        n = 9 * 16;
    } else {
        for (int i = 0; i < 4; i++) {
            floats v = splat(d) * load(h->levels) - splat(x[i]);

            v = splat(w[i]) * v * v;
            memcpy(e + 8 * i, &v, sizeof(v));
        }
        least_low = LOOP(half_errors)(e, e + 8, 8, 8, low);
        LOOP(half_errors)(e + 16, e + 24, 8, 8, high);
        n = 8 * 8;
    }
    best = LOOP(begin)(h, n, high);
    best = LOOP(look_at_run)(h, best, low, high[best], 0, &least);
    for (int i = 0; i < n; i += 8)
        best = LOOP(look_at_eight)(h, i, low, high, least_low, best, &least);
    *error += least;
    return best;
}
