/* numbers.h - values of any type as doubles */
#ifndef COMMON_NUMBERS_H
#define COMMON_NUMBERS_H

#include <ggml.h>
#include <stdbool.h>
#include <stddef.h>

/* True if values of this type can be turned into numbers. */
bool
numbers_known(enum ggml_type type);

/* n values, whole blocks of a known type, from `data`, which is aligned as the
 * type wants it; `floats` is scratch for n. Of a type that is neither integer
 * nor F32 or F64 it then holds the values, too. */
void
numbers_widen(enum ggml_type type, const void *data, float *floats, double *out,
              size_t n);

#endif
