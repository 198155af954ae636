/* npy.c - arrays as NumPy writes them */
#include <config.h>

#include "common/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

enum {
    HEADER_MAX = 1 << 16,
    PART = 1 << 9, /* elements that are read together */
};

static const char magic[] = "\x93NUMPY";

static enum gg_status
bad_npy(const struct npy *a, const char *why, struct gg_error *err)
{
    return cli_error(err, GG_ERR_FORMAT, "%s: %s", a->name, why);
}

/* ---- the header: a dictionary as Python writes it ---- */

static const char *
skip_header_space(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

/* Moves *s after `c`, if that comes next. */
static bool
accept(const char **s, char c)
{
    const char *p = skip_header_space(*s);

    if (*p != c)
        return false;
    *s = p + 1;
    return true;
}

/* A string without escapes in it; the result ends at the second quote. */
static bool
quoted(const char **s, char *out, size_t size)
{
    const char *p = skip_header_space(*s), *end;

    if (*p != '\'' && *p != '"')
        return false;
    end = strchr(p + 1, *p);
    if (!end || (size_t)(end - p) > size)
        return false;
    memcpy(out, p + 1, (size_t)(end - p) - 1);
    out[end - p - 1] = '\0';
    *s = end + 1;
    return true;
}

static bool
set_type(struct npy *a, const char *s)
{
    bool known = !strcmp(s, "<f2") || !strcmp(s, "<f4") || !strcmp(s, "<f8");

    if (known)
        a->size = (unsigned)(s[2] - '0');
    return known;
}

/* Digits. */
static bool
read_count(const char **s, uint64_t *n)
{
    const char *p = skip_header_space(*s);
    char *end;

    errno = 0;
    *n = strtoull(p, &end, 10);
    *s = end;
    return *p >= '0' && *p <= '9' && !errno && *n <= INT64_MAX;
}

static bool
set_shape(struct npy *a, const char **s)
{
    uint64_t count = 1;

    if (!accept(s, '('))
        return false;
    a->n_dims = 0;
    while (!accept(s, ')')) {
        uint64_t n;

        if (a->n_dims == NPY_DIMENSIONS || !read_count(s, &n) ||
            __builtin_mul_overflow(count, n, &count) || count > INT64_MAX)
            return false;
        a->shape[a->n_dims++] = n;
        if (!accept(s, ',') && *skip_header_space(*s) != ')')
            return false;
    }
    a->left = count;
    return true;
}

/* Python's words; Fortran's order has to be C's. */
static bool
is_false(const char **s)
{
    const char *p = skip_header_space(*s);

    if (strncmp(p, "False", 5))
        return false;
    *s = p + 5;
    return true;
}

static const char *
parse_header(struct npy *a, const char *s)
{
    bool type = false, order = false, shape = false;
    char key[32], word[32];

    for (int i = 0; i < NPY_DIMENSIONS; i++)
        a->shape[i] = 1;
    if (!accept(&s, '{'))
        return "its header is no dictionary";
    while (!accept(&s, '}')) {
        if (!quoted(&s, key, sizeof(key)) || !accept(&s, ':'))
            return "its header cannot be read";
        if (!strcmp(key, "descr")) {
            if (!quoted(&s, word, sizeof(word)) || !set_type(a, word))
                return "its elements are of a type that is not taken";
            type = true;
        } else if (!strcmp(key, "fortran_order")) {
            if (!is_false(&s))
                return "its elements are not in C's order";
            order = true;
        } else if (!strcmp(key, "shape")) {
            if (!set_shape(a, &s))
                return "its shape cannot be read";
            shape = true;
        } else {
            return "its header has an unknown key";
        }
        if (!accept(&s, ',') && *skip_header_space(s) != '}')
            return "its header cannot be read";
    }
    return type && order && shape && !*skip_header_space(s)
               ? NULL
               : "its header is not whole";
}

static enum gg_status
read_length(struct npy *a, size_t *n, struct gg_error *err)
{
    uint8_t b[8], wide[2] = { 0 };
    enum gg_status st = a->read(a->from, b, sizeof(b), err);

    if (st == GG_OK && memcmp(b, magic, 6))
        return bad_npy(a, "not an array of numpy", err);
    if (st == GG_OK && (b[6] < 1 || b[6] > 3))
        return bad_npy(a, "an array in a version of the format that is unknown",
                       err);
    if (st == GG_OK)
        st = a->read(a->from, b, 2, err);
    if (st == GG_OK && b[6] > 1)
        st = a->read(a->from, wide, 2, err);
    if (st != GG_OK)
        return st;
    *n = b[0] | (size_t)b[1] << 8 | (size_t)wide[0] << 16 |
         (size_t)wide[1] << 24;
    return *n > HEADER_MAX ? bad_npy(a, "its header is too long", err) : GG_OK;
}

enum gg_status
npy_open(struct npy *a, struct gg_error *err)
{
    size_t n = 0;
    enum gg_status st = read_length(a, &n, err);
    const char *why;
    char *text;

    if (st != GG_OK)
        return st;
    text = malloc(n + 1);
    if (!text)
        return cli_error(err, GG_ERR_NOMEM, "out of memory");
    st = a->read(a->from, text, n, err);
    text[n] = '\0';
    if (st == GG_OK) {
        why = strlen(text) < n ? "a NUL in its header" : parse_header(a, text);
        if (why)
            st = bad_npy(a, why, err);
    }
    free(text);
    return st;
}

/* ---- elements ---- */

static double
half(uint16_t h)
{
    int exponent = h >> 10 & 31;
    double mantissa = h & 1023, x;

    if (exponent == 31)
        x = mantissa > 0 ? NAN : INFINITY;
    else if (exponent == 0)
        x = ldexp(mantissa, -24);
    else
        x = ldexp(mantissa + 1024, exponent - 25);
    return h >> 15 ? -x : x;
}

static double
floating(const struct npy *a, const uint8_t *p)
{
    uint64_t bits = 0;
    uint32_t low;
    float f;
    double d;

    for (unsigned i = 0; i < a->size; i++)
        bits |= (uint64_t)p[i] << 8 * i;
    low = (uint32_t)bits;
    switch (a->size) {
    case 2:
        return half((uint16_t)bits);
    case 4:
        memcpy(&f, &low, 4);
        return (double)f;
    default:
        memcpy(&d, &bits, 8);
        return d;
    }
}

/* At most PART elements, as they lie. */
static enum gg_status
take_floats(struct npy *a, float *out, size_t n, struct gg_error *err)
{
    uint8_t bytes[8 * PART];
    enum gg_status st;

    if (n > a->left)
        return bad_npy(a, "has too few elements", err);
    a->left -= n;
    st = a->read(a->from, bytes, n * a->size, err);
    for (size_t i = 0; st == GG_OK && i < n; i++) {
        double x = floating(a, bytes + i * a->size);

        if (isfinite(x) && fabs(x) >= 3.4028235677973366e38)
            return bad_npy(a, "has a number beyond single precision", err);
        out[i] = (float)x;
    }
    return st;
}

enum gg_status
npy_floats(struct npy *a, float *out, size_t n, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t count; st == GG_OK && n > 0; out += count, n -= count) {
        count = n < PART ? n : PART;
        st = take_floats(a, out, count, err);
    }
    return st;
}

/* ---- writing ---- */

enum {
    BEFORE = 10, /* bytes before the dictionary */
    ALIGN = 64,
};

const char *
npy_type(enum ggml_type type)
{
    switch (type) {
    case GGML_TYPE_F32:
        return "<f4";
    case GGML_TYPE_F16:
        return "<f2";
    case GGML_TYPE_F64:
        return "<f8";
    case GGML_TYPE_I8:
        return "|i1";
    case GGML_TYPE_I16:
        return "<i2";
    case GGML_TYPE_I32:
        return "<i4";
    case GGML_TYPE_I64:
        return "<i8";
    default:
        return NULL;
    }
}

size_t
npy_header(char out[NPY_HEADER], const char *type, const uint64_t *shape,
           int n_dims)
{
    bool turned = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && *type == '<';
    size_t n = BEFORE;

    memcpy(out, magic, 6);
    memcpy(out + 6, "\1\0", 2);
    n += (size_t)snprintf(out + n, NPY_HEADER - n,
                          "{'descr': '%s%s', 'fortran_order': False, "
                          "'shape': (",
                          turned ? ">" : "", type + turned);
    for (int i = 0; i < n_dims; i++)
        n += (size_t)snprintf(out + n, NPY_HEADER - n, "%s%" PRIu64,
                              i ? ", " : "", shape[i]);
    n += (size_t)snprintf(out + n, NPY_HEADER - n, "%s), }",
                          n_dims == 1 ? "," : "");
    while ((n + 1) % ALIGN)
        out[n++] = ' ';
    out[n++] = '\n';
    out[8] = (char)((n - BEFORE) & 255);
    out[9] = (char)((n - BEFORE) >> 8);
    return n;
}

void
npy_head(FILE *f, const char *type, const int64_t *ne, int n_dims)
{
    uint64_t shape[GGML_MAX_DIMS];
    char head[NPY_HEADER];

    for (int i = 0; i < n_dims; i++)
        shape[i] = (uint64_t)ne[n_dims - 1 - i];
    fwrite(head, 1, npy_header(head, type, shape, n_dims), f);
}
