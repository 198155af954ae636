/* scales.c - the scales of blocks
 *
 * Where they lie in a block is part of the GGUF format: "Quantization types" of
 * ggml's documentation, and the layouts in lib/quant/blocks.h. */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/scales.h"
#include "gg-inspect/tensor_source.h"

#include <stdlib.h>
#include <string.h>

enum kind {
    F16,   /* at each of the places */
    E8M0,  /* a byte, 255 is NaN (OCP Microscaling Formats 1.0, 5.4.1) */
    E4M3,  /* four bytes, 127 and 255 are NaN (there, 5.3.1) */
    IQ1_M, /* an F16 in the high nibbles of four words */
};

static const struct layout {
    enum ggml_type type;
    enum kind kind;
    int n, at[2];
} layouts[] = {
    { GGML_TYPE_Q4_0, F16, 1, { 0 } },
    { GGML_TYPE_Q4_1, F16, 2, { 0, 2 } },
    { GGML_TYPE_Q5_0, F16, 1, { 0 } },
    { GGML_TYPE_Q5_1, F16, 2, { 0, 2 } },
    { GGML_TYPE_Q8_0, F16, 1, { 0 } },
    { GGML_TYPE_Q8_1, F16, 2, { 0, 2 } },
    { GGML_TYPE_Q2_K, F16, 2, { 80, 82 } },
    { GGML_TYPE_Q3_K, F16, 1, { 108 } },
    { GGML_TYPE_Q4_K, F16, 2, { 0, 2 } },
    { GGML_TYPE_Q5_K, F16, 2, { 0, 2 } },
    { GGML_TYPE_Q6_K, F16, 1, { 208 } },
    { GGML_TYPE_IQ2_XXS, F16, 1, { 0 } },
    { GGML_TYPE_IQ2_XS, F16, 1, { 0 } },
    { GGML_TYPE_IQ2_S, F16, 1, { 0 } },
    { GGML_TYPE_IQ3_XXS, F16, 1, { 0 } },
    { GGML_TYPE_IQ3_S, F16, 1, { 0 } },
    { GGML_TYPE_IQ1_S, F16, 1, { 0 } },
    { GGML_TYPE_IQ1_M, IQ1_M, 1, { 48 } },
    { GGML_TYPE_IQ4_NL, F16, 1, { 0 } },
    { GGML_TYPE_IQ4_XS, F16, 1, { 0 } },
    { GGML_TYPE_TQ1_0, F16, 1, { 52 } },
    { GGML_TYPE_TQ2_0, F16, 1, { 64 } },
    { GGML_TYPE_MXFP4, E8M0, 1, { 0 } },
    { GGML_TYPE_NVFP4, E4M3, 4, { 0 } },
};

static const struct layout *
layout_of(enum ggml_type type)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].type == type)
            return &layouts[i];
    return NULL;
}

/* A word of IQ1_M, whose scales are bytes. */
static unsigned
word(const unsigned char *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static void
see_f16(struct scales *s, unsigned bits, uint64_t block)
{
    unsigned exponent = bits >> 10 & 31, mantissa = bits & 1023;

    if (exponent == 31 && s->bad++ == 0)
        s->first_bad = block;
    s->subnormal += exponent == 0 && mantissa != 0;
}

static void
see_bad(struct scales *s, bool bad, uint64_t block)
{
    if (bad && s->bad++ == 0)
        s->first_bad = block;
}

static void
see_block(struct scales *s, const struct layout *l, const unsigned char *p,
          uint64_t block)
{
    const unsigned char *d = p + l->at[0];
    uint16_t bits; /* a number of the machine */

    s->n += (uint64_t)l->n;
    switch (l->kind) {
    case F16:
        for (int i = 0; i < l->n; i++) {
            memcpy(&bits, p + l->at[i], sizeof(bits));
            see_f16(s, bits, block);
        }
        break;
    case IQ1_M:
        see_f16(s,
                word(d) >> 12 | (word(d + 2) >> 12) << 4 |
                    (word(d + 4) >> 12) << 8 | (word(d + 6) >> 12) << 12,
                block);
        break;
    case E8M0:
        see_bad(s, d[0] == 255, block);
        break;
    case E4M3:
        for (int i = 0; i < l->n; i++)
            see_bad(s, (d[i] & 127) == 127, block);
    }
}

void
scales_count(struct inspected *f, int64_t tensor, struct scales *out)
{
    enum ggml_type type = gguf_get_tensor_type(f->gguf, tensor);
    const struct layout *l = layout_of(type);
    size_t size = ggml_type_size(type), piece = size << 10;
    unsigned char *data;
    struct tensor_source from;
    uint64_t block = 0;

    *out = (struct scales){ 0 };
    if (!l)
        return;
    data = cli_alloc(NULL, piece, 1);
    tensor_source_open(&from, f, tensor);
    for (size_t at = 0, n; at < from.size; at += n) {
        n = from.size - at < piece ? from.size - at : piece;
        tensor_source_read(&from, data, n, at);
        for (size_t i = 0; i + size <= n; i += size)
            see_block(out, l, data + i, block++);
    }
    tensor_source_close(&from);
    free(data);
}
