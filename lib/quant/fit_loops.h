/* fit_loops.h - the loops of fits, for one set of instructions
 *
 * Included by fit_loops.c for each set, with LOOP(name) as the functions'
 * names there. Vectors have eight lanes everywhere, and nothing is fused: sums
 * have the same bits with every set. */

/* Rounds eight values to codes; as floats. */
static inline __attribute__((always_inline)) void
LOOP(round)(const struct quant_codes *codes, const floats *v, floats *q)
{
    floats lo = splat((float)codes->lo), hi = splat((float)codes->hi);
    floats in, magic = splat(0x1.8p23f);

    if (codes->levels) {
        *q = lo;
        for (int k = 0; k + 1 < codes->n; k++) {
            int low = codes->levels[k], high = codes->levels[k + 1];
            floats rise = splat((float)(high - low));

            *q += (floats)((ints)rise & (*v >= splat((float)(low + high) / 2)));
        }
        return;
    }
    in = choose(*v > lo, *v, lo);
    in = choose(in < hi, in, hi);
    /* Adding and subtracting 1.5 * 2^23 rounds to the nearest integer. */
    *q = (in + magic) - magic;
}

/* Magnitudes are compared as integers, in which a NaN is the largest;
 * |x * inverse| is below 128, or no number that counts. */
static float
LOOP(round_bytes)(int n, const float *x, int8_t *q)
{
    ints largest = { 0 };
    int32_t most = 0;
    float amax, d, inverse;

    for (int j = 0; j < n; j += 8) {
        ints a = (ints)magnitude(load(x + j));

        largest = (a & (a > largest)) | (largest & ~(a > largest));
    }
    for (int i = 0; i < 8; i++)
        most = largest[i] > most ? largest[i] : most;
    memcpy(&amax, &most, sizeof(amax));
    d = amax / 127;
    inverse = d != 0 ? 1.0f / d : 0;
    for (int j = 0; j < n; j += 8) {
        floats v = load(x + j) * splat(inverse), rest, whole;
        ints to;

        v = choose(magnitude(v) < splat(128), v, splat(0));
        to = __builtin_convertvector(v, ints);
        whole = __builtin_convertvector(to, floats);
        rest = v - whole;
        to += (ints)(rest <= splat(-0.5f)) - (ints)(rest >= splat(0.5f));
        store_bytes(q + j, to);
    }
    return d;
}

/* q = round((x + m) * inverse) */
static void
LOOP(round_all)(const struct quant_codes *codes, int n, const float *x, float m,
                float inverse, int8_t *q)
{
    for (int j = 0; j < n; j += 8) {
        floats v = (load(x + j) + splat(m)) * splat(inverse), to;

        LOOP(round)(codes, &v, &to);
        store_bytes(q + j, to);
    }
}

/* In floats: the sums are short, and only which start is better is asked. */
static void
LOOP(sum_rounded)(const struct quant_codes *codes, int n, const float *x,
                  const float *w, float inverse, struct fit_sums *s)
{
    floats xq = splat(0), qq = splat(0);

    for (int j = 0; j < n; j += 8) {
        floats a = load(x + j), v = a * splat(inverse), wj = load(w + j), q;

        LOOP(round)(codes, &v, &q);
        xq += wj * a * q;
        qq += wj * q * q;
    }
    *s = (struct fit_sums){ 0, 0 };
    for (int i = 0; i < 8; i++) {
        s->xq += (double)xq[i];
        s->qq += (double)qq[i];
    }
}

/* For q = round((x - m) * inverse). */
static void
LOOP(sum_moments)(const struct quant_codes *codes, int n, const float *x,
                  const float *w, float inverse, float m,
                  struct fit_moments *of)
{
    floats q1 = splat(0), qq = splat(0), xq = splat(0);

    for (int j = 0; j < n; j += 8) {
        floats a = load(x + j), wj = load(w + j), q;
        floats v = (a - splat(m)) * splat(inverse), wq;

        LOOP(round)(codes, &v, &q);
        wq = wj * q;
        q1 += wq;
        qq += wq * q;
        xq += wj * a * q;
    }
    of->q = of->qq = of->xq = 0;
    for (int i = 0; i < 8; i++) {
        of->q += (double)q1[i];
        of->qq += (double)qq[i];
        of->xq += (double)xq[i];
    }
}

static void
LOOP(spread)(const float *starts, float unit, float end, float extreme,
             float *inverse)
{
    floats v = (splat(end) + load(starts) * splat(unit)) / splat(extreme);

    memcpy(inverse, &v, sizeof(v));
}

/* Eight at once: a lane each, so that nothing is added across lanes. */
static void
LOOP(sum_starts)(const struct quant_codes *codes, struct quant_group of,
                 const float *inverse, float *xq, float *qq)
{
    floats sum_xq = splat(0), sum_qq = splat(0), by = load(inverse);

    for (int j = 0; j < of.n; j++) {
        floats v = splat(of.x[j]) * by, q, wq;

        LOOP(round)(codes, &v, &q);
        wq = splat(of.w[j]) * q;
        sum_xq += wq * splat(of.x[j]);
        sum_qq += wq * q;
    }
    memcpy(xq, &sum_xq, sizeof(sum_xq));
    memcpy(qq, &sum_qq, sizeof(sum_qq));
}

static void
LOOP(sum_lines)(const struct quant_codes *codes, struct quant_group of,
                const float *inverse, const float *m, struct fit_lines *l)
{
    floats sum_q = splat(0), sum_qq = splat(0), sum_xq = splat(0);
    floats by = load(inverse), from = load(m);

    for (int j = 0; j < of.n; j++) {
        floats x = splat(of.x[j]), v = (x - from) * by, q, wq;

        LOOP(round)(codes, &v, &q);
        wq = splat(of.w[j]) * q;
        sum_q += wq;
        sum_qq += wq * q;
        sum_xq += wq * x;
    }
    memcpy(l->q, &sum_q, sizeof(sum_q));
    memcpy(l->qq, &sum_qq, sizeof(sum_qq));
    memcpy(l->xq, &sum_xq, sizeof(sum_xq));
}

static void
LOOP(sum_errors)(const struct quant_codes *codes, struct quant_group of,
                 const float *d, const float *m, float *error)
{
    floats by = load(d), min = load(m), inverse, sum = splat(0);

    inverse = splat(1) / by;
    inverse = choose(by == splat(0), splat(0), inverse);
    for (int j = 0; j < of.n; j++) {
        floats x = splat(of.x[j]), v = (x + min) * inverse, q, e;

        LOOP(round)(codes, &v, &q);
        e = by * q - min - x;
        sum += splat(of.w[j]) * e * e;
    }
    memcpy(error, &sum, sizeof(sum));
}

static inline __attribute__((always_inline)) float
LOOP(add_lanes)(const floats *v)
{
    four_floats low, high;

    memcpy(&low, v, sizeof(low));
    memcpy(&high, (const char *)v + sizeof(low), sizeof(high));
    low += high;
    return (low[0] + low[2]) + (low[1] + low[3]);
}

static float
LOOP(extreme)(int n, const float *x)
{
    floats most = splat(0);
    float largest = 0;

    for (int j = 0; j < n; j += 8) {
        floats v = magnitude(load(x + j));

        most = choose(v > most, v, most);
    }
    for (int i = 0; i < 8; i++)
        largest = most[i] > largest ? most[i] : largest;
    for (int j = 0; j < n && largest > 0; j += 8) {
        ints where = magnitude(load(x + j)) == splat(largest);
        unsigned mask = LOOP(mask_of)(&where);

        if (mask)
            return x[j + __builtin_ctz(mask)];
    }
    return 0;
}

/* The first of equals: 0 and -0 are equal. */
static void
LOOP(range)(int n, const float *x, struct quant_range *r)
{
    floats least = splat(FLT_MAX), most = splat(-FLT_MAX);

    for (int j = 0; j < n; j += 8) {
        floats v = load(x + j);

        least = choose(v < least, v, least);
        most = choose(v > most, v, most);
    }
    *r = (struct quant_range){ least[0], most[0] };
    for (int i = 1; i < 8; i++) {
        r->min = least[i] < r->min ? least[i] : r->min;
        r->max = most[i] > r->max ? most[i] : r->max;
    }
    for (int j = n - 1; j >= 0 && (r->min == 0 || r->max == 0); j--) {
        r->min = x[j] == r->min ? x[j] : r->min;
        r->max = x[j] == r->max ? x[j] : r->max;
    }
}

static void
LOOP(cut)(int n, const float *x, float m, float inverse, float add, float hi,
          int8_t *q)
{
    for (int j = 0; j < n; j += 8) {
        floats v = (load(x + j) - splat(m)) * splat(inverse) + splat(add);

        v = choose((v > splat(0)) & (v < splat(0x1p31f)), v, splat(0));
        v = choose(v < splat(hi), v, splat(hi));
        store_bytes(q + j, __builtin_convertvector(v, ints));
    }
}

static void
LOOP(nearest_fp4)(int n, const float *x, float scale, int8_t *q)
{
    for (int j = 0; j < n; j += 8) {
        floats v = load(x + j), size = magnitude(v), best = size;
        floats code = splat(0);
        ints negative;

        for (int i = 1; i < 8; i++) { /* code 8 is -0, the others follow */
            floats level = splat((float)quant_fp4_doubled[i] * scale);
            floats error = level - size;

            error = magnitude(error);
            code = choose(error < best, splat((float)i), code);
            best = choose(error < best, error, best);
        }
        negative = (v < splat(0)) & (code > splat(0));
        code += choose(negative, splat(8), splat(0));
        store_bytes(q + j, code);
    }
}

/* The weighted squares. */
static float
LOOP(sum_squares)(struct quant_group of)
{
    floats sum = splat(0);

    for (int j = 0; j < of.n; j += 8) {
        floats x = load(of.x + j);

        sum += load(of.w + j) * x * x;
    }
    return LOOP(add_lanes)(&sum);
}

/* q for x = d * q - m. */
static void
LOOP(round_group)(const struct quant_codes *codes, struct quant_group of,
                  float d, float m, int8_t *q, struct quant_sums *s)
{
    float inverse = d != 0 ? 1 / d : 0;
    floats error = splat(0), q1 = splat(0), qq = splat(0), xq = splat(0);

    for (int j = 0; j < of.n; j += 8) {
        floats x = load(of.x + j), w = load(of.w + j), to, e, wq;
        floats v = (x + splat(m)) * splat(inverse);

        LOOP(round)(codes, &v, &to);
        e = splat(d) * to - splat(m) - x;
        error += w * e * e;
        wq = w * to;
        q1 += wq;
        qq += wq * to;
        xq += wq * x;
        store_bytes(q + j, to);
    }
    s->error = LOOP(add_lanes)(&error);
    s->q = LOOP(add_lanes)(&q1);
    s->qq = LOOP(add_lanes)(&qq);
    s->xq = LOOP(add_lanes)(&xq);
}
