/* folder_scaled.c - weights as bytes with scales, or the values that these
 * stand for, by the formats' definitions */
#include "folder_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/half.h"

enum {
    ROWS = 16, /* of a block of FP8, whose last one may have fewer */
    COLUMNS = 24,
    MX = 32,
};

static unsigned
next_random(void)
{
    static uint32_t state = 12345;

    state = state * 1664525 + 1013904223;
    return state >> 16;
}

static double
of_e4m3(unsigned u)
{
    int exponent = (int)(u >> 3 & 15), mantissa = (int)(u & 7);
    double v = exponent ? ldexp(1 + mantissa / 8.0, exponent - 7)
                        : ldexp(mantissa / 8.0, -6);

    return u & 0x80 ? -v : v;
}

static double
of_e2m1(unsigned u)
{
    static const double v[] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6 };

    return u & 8 ? -v[u & 7] : v[u & 7];
}

static void
put_bf16(uint8_t *to, size_t at, double v)
{
    uint16_t half = bf16_from_float((float)v);

    memcpy(to + 2 * at, &half, sizeof(half));
}

/* A tensor in the place of another, or one more. */
static struct folder_tensor
new_tensor(const char *name, const char *suffix, const char *dtype, size_t size,
           int n_dims, const int64_t *shape)
{
    struct folder_tensor t = { .dtype = dtype, .n_dims = n_dims };

    snprintf(t.name, sizeof(t.name), "%.80s%.12s", name, suffix);
    t.size = size;
    for (int i = 0; i < n_dims; i++) {
        t.shape[i] = shape[i];
        t.size *= (size_t)shape[i];
    }
    t.data = malloc(t.size);
    return t;
}

/* The product is rounded to 24 bits first, as in a program for FP8. */
static void
to_fp8(struct folder_tensors *all, struct folder_tensor *t, bool plain)
{
    size_t rows = (size_t)t->shape[0], columns = (size_t)t->shape[1];
    int64_t blocks[2] = { (t->shape[0] + ROWS - 1) / ROWS,
                          (t->shape[1] + COLUMNS - 1) / COLUMNS };
    struct folder_tensor bytes =
        new_tensor(t->name, "", "F8_E4M3", 1, 2, t->shape);
    struct folder_tensor scales =
        new_tensor(t->name, "_scale_inv", "F32", 4, 2, blocks);
    float scale;

    for (size_t i = 0; i < scales.size; i += sizeof(scale)) {
        scale = (float)(next_random() % 1000 + 1) * 1.3e-6f;
        memcpy(scales.data + i, &scale, sizeof(scale));
    }
    for (size_t i = 0; i < rows * columns; i++) {
        size_t at =
            i / columns / ROWS * (size_t)blocks[1] + i % columns / COLUMNS;
        unsigned u = next_random() & 0xff;

        u = (u & 0x7f) == 0x7f ? 0 : u; /* no NaN */
        bytes.data[i] = (uint8_t)u;
        memcpy(&scale, scales.data + 4 * at, sizeof(scale));
        put_bf16(t->data, i, of_e4m3(u) * (double)scale);
    }
    if (plain) {
        free(bytes.data);
        free(scales.data);
        return;
    }
    free(t->data);
    *t = bytes;
    all->list[all->n++] = scales;
}

/* E x columns x rows becomes E x rows x blocks x 16, and E x rows x blocks. */
static void
to_mxfp4(struct folder_tensors *all, struct folder_tensor *t, bool plain)
{
    size_t n_in = (size_t)t->shape[1], n_out = (size_t)t->shape[2];
    int64_t shape[4] = { t->shape[0], t->shape[2], t->shape[1] / MX, MX / 2 };
    struct folder_tensor blocks =
        new_tensor(t->name, "_blocks", "U8", 1, 4, shape);
    struct folder_tensor scales =
        new_tensor(t->name, "_scales", "U8", 1, 3, shape);

    for (size_t i = 0; i < scales.size; i++)
        scales.data[i] = (uint8_t)(115 + next_random() % 8);
    for (size_t i = 0; i < 2 * blocks.size; i++) { /* expert, row, column */
        size_t expert = i / n_in / n_out, row = i / n_in % n_out;
        unsigned u = next_random() & 15;
        uint8_t *byte = &blocks.data[i / 2];

        u = u == 8 ? 0 : u; /* no -0 */
        *byte = (uint8_t)(i % 2 ? *byte | u << 4 : u);
        put_bf16(t->data, (expert * n_in + i % n_in) * n_out + row,
                 ldexp(of_e2m1(u), scales.data[i / MX] - 127));
    }
    if (plain) {
        free(blocks.data);
        free(scales.data);
        return;
    }
    free(t->data);
    *t = blocks;
    all->list[all->n++] = scales;
}

void
folder_scale(struct folder_tensors *all, const char *kind)
{
    bool plain = strstr(kind, "plain") != NULL;
    int n = all->n;

    for (int i = 0; i < n; i++) {
        struct folder_tensor *t = &all->list[i];

        if (t->type != GGML_TYPE_BF16)
            continue;
        if (!strncmp(kind, "fp8", 3) && strstr(t->name, "proj.weight"))
            to_fp8(all, t, plain);
        else if (!strncmp(kind, "mxfp4", 5) && strstr(t->name, "experts.") &&
                 t->n_dims == 3)
            to_mxfp4(all, t, plain);
    }
}
