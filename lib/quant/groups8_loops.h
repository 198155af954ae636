/* groups8_loops.h - fits of eight groups at once, for one set of instructions
 *
 * A lane is a group, so nothing is added across lanes. Included by
 * fit_loops.c, as fit_loops.h is, for which see there. */

/* The values of largest magnitude, with their signs; 0 where that is too small
 * for any F16 scale, or not finite. */
static inline __attribute__((always_inline)) void
LOOP(groups8_extremes)(const struct fit_groups8 *of, floats *extreme)
{
    floats most = splat(0), size;
    ints fits;

    for (int j = 0; j < of->n; j++) {
        floats v = load(of->x + 8 * j);

        most = choose(magnitude(v) > magnitude(most), v, most);
    }
    size = magnitude(most);
    fits = (size > splat(0x1p-60f)) & (size <= splat(FLT_MAX));
    *extreme = choose(fits, most, splat(0));
}

/* Weighted sums for one attempt, or for the best of those that were made. */
struct LOOP(groups8_sums) {
    floats xq, qq, score;
};

static inline __attribute__((always_inline)) void
LOOP(groups8_add)(const struct quant_codes *codes, const floats *x,
                  const floats *w, const floats *by,
                  struct LOOP(groups8_sums) * s)
{
    floats v = *x * *by, q, wq;

    LOOP(round)(codes, &v, &q);
    wq = *w * q;
    s->xq += wq * *x;
    s->qq += wq * q;
}

/* The error is less by xq^2 / qq. */
static inline __attribute__((always_inline)) void
LOOP(groups8_keep)(struct LOOP(groups8_sums) * best,
                   const struct LOOP(groups8_sums) * s)
{
    floats score = s->xq * (s->xq / s->qq);
    ints is = score > best->score;

    best->score = choose(is, score, best->score);
    best->xq = choose(is, s->xq, best->xq);
    best->qq = choose(is, s->qq, best->qq);
}

/* The extreme near the lowest code, and near the highest. */
static inline __attribute__((always_inline)) void
LOOP(groups8_start)(const struct quant_codes *codes,
                    const struct fit_groups8 *of, float start,
                    struct LOOP(groups8_sums) * best)
{
    float steps = codes->levels ? 16 * start : start; /* 16 a code */
    floats low = splat((float)codes->lo - steps);
    floats high = splat((float)codes->hi + steps);
    struct LOOP(groups8_sums) a = { .xq = splat(0) }, b = { .xq = splat(0) };

    for (int j = 0; j < of->n; j++) {
        floats x = load(of->x + 8 * j), w = load(of->w + 8 * j);

        LOOP(groups8_add)(codes, &x, &w, &low, &a);
        LOOP(groups8_add)(codes, &x, &w, &high, &b);
    }
    LOOP(groups8_keep)(best, &a);
    LOOP(groups8_keep)(best, &b);
}

static inline __attribute__((always_inline)) void
LOOP(groups8_improve)(const struct quant_codes *codes,
                      const struct fit_groups8 *of,
                      struct LOOP(groups8_sums) * best)
{
    struct LOOP(groups8_sums) a = { .xq = splat(0) };
    floats by = best->qq / best->xq;

    for (int j = 0; j < of->n; j++) {
        floats x = load(of->x + 8 * j), w = load(of->w + 8 * j);

        LOOP(groups8_add)(codes, &x, &w, &by, &a);
    }
    LOOP(groups8_keep)(best, &a);
}

static void
LOOP(fit_groups8)(const struct quant_codes *codes, const struct fit_groups8 *of,
                  const float *starts, int rounds, float *scale, float *weight)
{
    float x[FIT_GROUPS8];
    struct fit_groups8 units = { of->n, x, of->w };
    struct LOOP(groups8_sums) best = { .qq = splat(1) };
    floats extreme, v;

    LOOP(groups8_extremes)(of, &extreme);
    for (int j = 0; j < of->n; j++) { /* not above 1: sums are in range */
        v = choose(extreme != splat(0), load(of->x + 8 * j) / extreme,
                   splat(0));
        memcpy(x + 8 * j, &v, sizeof(v));
    }
    for (int i = 0; i < 8; i++)
        LOOP(groups8_start)(codes, &units, starts[i], &best);
    for (int i = 0; i < rounds; i++)
        LOOP(groups8_improve)(codes, &units, &best);
    v = extreme * (best.xq / best.qq);
    memcpy(scale, &v, sizeof(v));
    v = choose(best.score > splat(0), best.qq, splat(0));
    memcpy(weight, &v, sizeof(v));
}

/* The errors that rounding with these scales leaves. */
static void
LOOP(groups8_errors)(const struct quant_codes *codes,
                     const struct fit_groups8 *of, const float *d, float *error)
{
    floats by = load(d), sum = splat(0), inverse;

    inverse = choose(by == splat(0), splat(0), splat(1) / by);
    for (int j = 0; j < of->n; j++) {
        floats x = load(of->x + 8 * j), v = x * inverse, q, e;

        LOOP(round)(codes, &v, &q);
        e = by * q - x;
        sum += load(of->w + 8 * j) * e * e;
    }
    memcpy(error, &sum, sizeof(sum));
}

static void
LOOP(round_groups8)(const struct quant_codes *codes,
                    const struct fit_groups8 *of, const float *d, int8_t *q,
                    float *xx, float *xq, float *qq)
{
    floats by = load(d), inverse;
    floats sum_xx = splat(0), sum_xq = splat(0), sum_qq = splat(0);

    inverse = choose(by == splat(0), splat(0), splat(1) / by);
    for (int j = 0; j < of->n; j++) {
        floats x = load(of->x + 8 * j), w = load(of->w + 8 * j);
        floats v = x * inverse, to, wq;
        ints code;

        LOOP(round)(codes, &v, &to);
        wq = w * to;
        sum_xx += w * x * x;
        sum_xq += wq * x;
        sum_qq += wq * to;
        code = __builtin_convertvector(to, ints);
        for (int g = 0; g < 8; g++)
            q[of->n * g + j] = (int8_t)code[g];
    }
    memcpy(xx, &sum_xx, sizeof(sum_xx));
    memcpy(xq, &sum_xq, sizeof(sum_xq));
    memcpy(qq, &sum_qq, sizeof(sum_qq));
}
