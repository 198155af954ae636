/* importance_cases.h - importance matrices, good and hostile
 *
 * Shared by the unit test and the fuzz target, whose corpus they are. */
#ifndef IMPORTANCE_CASES_H
#define IMPORTANCE_CASES_H

#include "gguf_cases.h"

enum {
    IMPORTANCE_COLUMNS = 256,
    IMPORTANCE_EXPERTS = 2, /* of the second tensor; the first has one matrix */
    IMPORTANCE_ROWS = 2,
};

/* What differs from a sound file, whose tensors are a.in_sum2, a.counts,
 * b.in_sum2 and b.counts. */
struct importance_case {
    const char *name;
    const char *message;   /* a part of it; NULL: all of the file is taken */
    bool late;             /* told when the model asks for the tensor */
    const char *type;      /* general.type */
    bool type_is_number;   /* it is no string */
    bool zero;             /* all sums are */
    int tensor;            /* these are of that one: 0 to 3 */
    const char *called;    /* its name */
    uint64_t ne0, ne1;     /* its shape */
    bool half;             /* it has type f16 */
    bool set;              /* its first number is this */
    float value;
    size_t cut;            /* bytes that are missing at the end */
};

extern const struct importance_case importance_cases[];
extern const size_t n_importance_cases;

/* free(b->data) at the end. */
void
importance_build(const struct importance_case *c, struct bytes *b);

/* The model that they are for: tensors "a", columns x rows, and "b", columns x
 * rows x experts. gguf_free() it. */
struct gguf_context *
importance_model(void);

#endif
