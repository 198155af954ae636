/* compare.c - how far the values of two tensors are apart */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/compare.h"
#include "gg-inspect/tensor_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 18, /* bytes at a time */
    LANES = 4,       /* sums at once */
};

/* Tensors of one type: byte by byte. */
static bool
same_bytes(struct inspected *a, int64_t ta, struct inspected *b, int64_t tb)
{
    char *x = cli_alloc(NULL, PIECE, 1), *y = cli_alloc(NULL, PIECE, 1);
    struct tensor_source from, to;
    bool same = true;
    size_t most;

    tensor_source_open(&from, a, ta);
    tensor_source_open(&to, b, tb);
    most = tensor_source_whole(&from, PIECE);
    for (size_t at = 0, n; same && at < from.size; at += n) {
        n = from.size - at < most ? from.size - at : most;
        tensor_source_read(&from, x, n, at);
        tensor_source_read(&to, y, n, at);
        same = memcmp(x, y, n) == 0;
    }
    tensor_source_close(&to);
    tensor_source_close(&from);
    free(x);
    free(y);
    return same;
}

static void
add_one(struct comparison *c, double x, double y)
{
    double d = fabs(y - x);

    if (x == y || (isnan(x) && isnan(y)))
        d = 0;
    else if (!isfinite(d))
        d = INFINITY;
    if (d > c->largest)
        c->largest = d;
    c->dd += d * d;
    if (isfinite(x) && isfinite(y)) {
        c->xx += x * x;
        c->yy += y * y;
        c->xy += x * y;
    }
}

/* All at once, where all are finite. */
static bool
add_finite(struct comparison *c, const double *x, const double *y, size_t n)
{
    double dd[LANES] = { 0 }, xx[LANES] = { 0 }, yy[LANES] = { 0 },
           xy[LANES] = { 0 }, most[LANES] = { 0 }, sum = 0;

    for (size_t i = 0; i < n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            double u = x[i + (size_t)k], v = y[i + (size_t)k], d = v - u;

            dd[k] += d * d;
            xx[k] += u * u;
            yy[k] += v * v;
            xy[k] += u * v;
            d = d < 0 ? -d : d;
            most[k] = d > most[k] ? d : most[k];
        }
    for (int k = 0; k < LANES; k++)
        sum += dd[k] + xx[k] + yy[k];
    if (!isfinite(sum))
        return false;
    for (int k = 0; k < LANES; k++) {
        c->dd += dd[k];
        c->xx += xx[k];
        c->yy += yy[k];
        c->xy += xy[k];
        c->largest = most[k] > c->largest ? most[k] : c->largest;
    }
    return true;
}

static void
add_values_compared(struct comparison *c, const double *x, const double *y,
                    size_t n)
{
    size_t whole = n - n % LANES;

    if (!add_finite(c, x, y, whole))
        whole = 0;
    for (size_t i = whole; i < n; i++)
        add_one(c, x[i], y[i]);
    c->n += n;
}

static void
compare_values(struct inspected *a, int64_t ta, struct inspected *b, int64_t tb,
               struct comparison *out)
{
    struct values x, y;

    values_open(&x, a, ta);
    values_open(&y, b, tb);
    for (size_t n; (n = values_next(&x)) && values_next(&y);)
        add_values_compared(out, x.x, y.x, n);
    values_close(&y);
    values_close(&x);
    out->known = true;
}

void
compare(struct inspected *a, int64_t ta, struct inspected *b, int64_t tb,
        bool soon, struct comparison *out)
{
    enum ggml_type x = gguf_get_tensor_type(a->gguf, ta);
    enum ggml_type y = gguf_get_tensor_type(b->gguf, tb);

    *out = (struct comparison){ 0 };
    out->different = x != y || !same_bytes(a, ta, b, tb);
    if (out->different && !soon && values_known(x) && values_known(y))
        compare_values(a, ta, b, tb, out);
}

void
comparison_add(struct comparison *to, const struct comparison *c)
{
    to->different |= c->different;
    to->n += c->n;
    to->largest = c->largest > to->largest ? c->largest : to->largest;
    to->dd += c->dd;
    to->xx += c->xx;
    to->yy += c->yy;
    to->xy += c->xy;
}

double
comparison_rms(const struct comparison *c)
{
    return c->n ? sqrt(c->dd / (double)c->n) : 0;
}

double
comparison_nmse(const struct comparison *c)
{
    return c->dd > 0 ? c->dd / c->xx : 0;
}

double
comparison_cosine(const struct comparison *c)
{
    if (c->xx == 0 && c->yy == 0)
        return 1;
    return c->xy / (sqrt(c->xx) * sqrt(c->yy));
}
