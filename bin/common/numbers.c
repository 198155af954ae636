/* numbers.c - values of any type as doubles */
#include <config.h>

#include "common/numbers.h"

#include <stdint.h>

/* Types of plain numbers have no conversion in the library. */
static bool
is_plain(enum ggml_type type)
{
    return type == GGML_TYPE_I8 || type == GGML_TYPE_I16 ||
           type == GGML_TYPE_I32 || type == GGML_TYPE_I64 ||
           type == GGML_TYPE_F64 || type == GGML_TYPE_F32;
}

bool
numbers_known(enum ggml_type type)
{
    return is_plain(type) || ggml_get_type_traits(type)->to_float;
}

#define WIDEN(ctype)                                                           \
    for (size_t i = 0; i < n; i++)                                             \
    out[i] = (double)((const ctype *)data)[i]

void
numbers_widen(enum ggml_type type, const void *data, float *floats, double *out,
              size_t n)
{
    switch (type) {
    case GGML_TYPE_I8:
        WIDEN(int8_t);
        break;
    case GGML_TYPE_I16:
        WIDEN(int16_t);
        break;
    case GGML_TYPE_I32:
        WIDEN(int32_t);
        break;
    case GGML_TYPE_I64:
        WIDEN(int64_t);
        break;
    case GGML_TYPE_F64:
        WIDEN(double);
        break;
    case GGML_TYPE_F32:
        WIDEN(float);
        break;
    default:
        ggml_get_type_traits(type)->to_float(data, floats, (int64_t)n);
        for (size_t i = 0; i < n; i++)
            out[i] = (double)floats[i];
    }
}
