/* npy.c - the head of NumPy's file format, version 1.0
 *
 * As the documentation of numpy.lib.format has it: magic, version, a length in
 * two bytes, and a Python literal that ends in a newline where the data begins,
 * at a multiple of 64. */
#include <config.h>

#include "common/npy.h"

#include <inttypes.h>
#include <string.h>

enum {
    BEFORE = 10, /* bytes before the literal */
    ALIGN = 64,
    MAX_LITERAL = 256, /* four dimensions have no more than 20 digits each */
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

void
npy_head(FILE *f, const char *type, const int64_t *ne, int n_dims)
{
    char literal[MAX_LITERAL];
    int n = snprintf(literal, sizeof(literal),
                     "{'descr': '%s', 'fortran_order': False, 'shape': (", type);

    for (int i = n_dims - 1; i >= 0; i--)
        n += snprintf(literal + n, sizeof(literal) - (size_t)n, "%" PRId64 "%s",
                      ne[i], i || n_dims == 1 ? "," : "");
    n += snprintf(literal + n, sizeof(literal) - (size_t)n, "), }");
    while ((BEFORE + n + 1) % ALIGN)
        literal[n++] = ' ';
    literal[n++] = '\n';
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    putc(n & 255, f);
    putc(n >> 8, f);
    fwrite(literal, 1, (size_t)n, f);
}
