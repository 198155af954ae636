/* sparse.h - ops of attention which no public header names: what each token
 * attends to, attention to that alone, and attention to keys that come in parts
 *
 * A list has the numbers of rows in ascending order, and -1 after the last. */
#ifndef TENSOR_SPARSE_H
#define TENSOR_SPARSE_H

#include "tensor/tensor.h"

/* Their numbers follow those of enum ggml_op. */
enum {
    TENSOR_OP_CHOOSE = GGML_OP_COUNT,
    TENSOR_OP_ATTENTION_ROWS,
    TENSOR_OP_ATTENTION_PART,
    TENSOR_OPS,
};

/* True for ops that back ends of other makers do not know. */
static inline bool
tensor_is_private(const struct ggml_tensor *t)
{
    return (unsigned)t->op >= GGML_OP_COUNT;
}

/* How a token chooses rows of keys. Keys are in the order of positions, and a
 * token sees the first of them: those whose positions it has passed whole. */
struct tensor_choice {
    int32_t n_best;  /* blocks that are listed: the best, */
    int32_t n_local; /* among them the newest, whatever their scores */
    int32_t block;   /* keys of a block; 0: 1 */
    bool pooled;  /* a score is a block's; else a key's, and a block has that of
                     the best key that is seen */
    bool tail;    /* keys after the last whole block are listed, too */
    int32_t each; /* positions of a key; 0: 1 */
    int32_t start; /* position that key 0 begins with: a multiple of each */
    int32_t row;   /* of key 0, in the list */
};

/* The lists of n_lists x n_tokens: I32, as long as the choice can be. scores:
 * F32, n x n_lists x n_tokens, or NULL: the newest n_best blocks, of n_keys
 * keys (which is 0 with scores). seen: I32, the position of each token, or F16,
 * a mask of at least n_tokens columns, whose last 0 says as much; what it hides
 * before that is not listed, if each is 1.
 *
 * Of equal scores the earlier is better; NaN is better than any number. */
struct ggml_tensor *
tensor_choose(struct ggml_context *ctx, struct ggml_tensor *scores,
              struct ggml_tensor *seen, int32_t n_keys,
              const struct tensor_choice *choice);

/* Rows that attention reads: k, d x rows x n_head_kv, and v, e x rows x
 * n_head_kv, or part of k; the lists of rows, one of all heads or one of each
 * that k has. */
struct tensor_rows {
    struct ggml_tensor *k, *v, *lists;
};

/* softmax(q k * scale) v over the listed rows, e x n_head x n_tokens, of q,
 * F32, d x n_head x n_tokens. more: other rows in the same softmax, after
 * these; or NULL. sinks: n_head scores without a value; or NULL. What is
 * computed for a head of a token depends on nothing but its query and its rows.
 */
struct ggml_tensor *
tensor_attend_rows(struct ggml_context *ctx, struct ggml_tensor *q,
                   const struct tensor_rows *rows,
                   const struct tensor_rows *more, struct ggml_tensor *sinks,
                   float scale);

/* Attention to a part of the keys, all but the last of a multiple of
 * TENSOR_PART_KEYS. Tensors are those of ggml_flash_attn_ext(). */
struct tensor_part {
    struct ggml_tensor *q, *k, *v, *mask, *sinks; /* mask, sinks: or NULL */
    struct ggml_tensor *before; /* of the parts before; NULL: there is none */
    float scale, max_bias, softcap;
    bool more; /* other parts follow */
};

enum {
    TENSOR_PART_KEYS = 64,
    TENSOR_PART_EXTRA = 2, /* floats of each row, after its e sums of values */
};

/* Where more parts follow: e + TENSOR_PART_EXTRA x n_head x n_tokens, the sums
 * of each query so far, which the next part goes on with. After the last part:
 * what ggml_flash_attn_ext() gives for all keys at once, with the same bytes.
 * Sinks are the last part's. */
struct ggml_tensor *
tensor_attend_part(struct ggml_context *ctx, const struct tensor_part *part);

static inline bool
tensor_part_has_more(const struct ggml_tensor *t)
{
    return t->op == (int)TENSOR_OP_ATTENTION_PART && tensor_get_i32(t, 3) != 0;
}

/* Places of sources. */
enum {
    TENSOR_CHOOSE_SEEN,
    TENSOR_CHOOSE_SCORES, /* or NULL */

    TENSOR_PART_BEFORE = 5, /* after those of FLASH_ATTN_EXT */

    TENSOR_ROWS_Q = 0,
    TENSOR_ROWS_K, /* and v, and the lists */
    TENSOR_ROWS_MORE = TENSOR_ROWS_K + 3,
    TENSOR_ROWS_SINKS = TENSOR_ROWS_MORE + 3,
};

/* As tensor_choose() recorded it. */
struct tensor_choice
tensor_get_choice(const struct ggml_tensor *t);
/* Keys that the op chooses from. */
int64_t
tensor_choice_keys(const struct ggml_tensor *t);

#endif
