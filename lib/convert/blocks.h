/* blocks.h - quantised blocks as they were laid out before GGUF
 *
 * Twice the layout changed under the same numbers: in May 2023 the order of
 * nibbles, which had been pairs of neighbours and is now the halves of a block
 * (llama.cpp, pull request 1405); a week later the scales of Q4_0, Q4_1 and
 * Q8_0 went from 32 bits to 16 (pull request 1508). */
#ifndef CONVERT_BLOCKS_H
#define CONVERT_BLOCKS_H

#include <ggml.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum blocks_layout {
    BLOCKS_PAIRS,  /* before the first change */
    BLOCKS_HALVES, /* between the two */
    BLOCKS_TODAY,
};

struct blocks {
    enum ggml_type type; /* of today */
    size_t size;         /* of a block in the file */
    /* One block of the file becomes one of today; NULL: it is one. False: a
     * scale that 16 bits cannot hold. */
    bool (*convert)(const uint8_t *from, uint8_t *to);
};

/* How the type that has this number in the file is laid out. False: the number
 * means nothing, or a type that was given up. */
bool
convert_blocks_find(enum blocks_layout layout, uint32_t number,
                    struct blocks *out);

/* llama2.c's groups of int8 with a 32-bit scale, `group` values to one: block i
 * of a tensor in Q8_0. */
bool
convert_blocks_from_group(const int8_t *values, float scale, uint8_t *to);

#endif
