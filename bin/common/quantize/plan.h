/* plan.h - what becomes of each tensor */
#ifndef QUANTIZE_PLAN_H
#define QUANTIZE_PLAN_H

#include <gg.h>
#include <gguf.h>

#include "common/quantize/importance.h"
#include "common/quantize/mixture.h"

/* --tensor PATTERN=TYPE */
struct type_choice {
    char *pattern;
    enum ggml_type type;
    bool used;
};

struct type_choices {
    struct type_choice *list;
    size_t n;
    bool pure; /* all matrices get the mixture's own type */
};

/* Ends the tool where the argument is no PATTERN=TYPE. */
void
type_choices_add(struct type_choices *c, const char *argument);
void
type_choices_clear(struct type_choices *c);

/* Surprises of the plan for a user, in numbers of tensors. */
struct plan_counts {
    int64_t quantised; /* that are so already, and are so again */
    int64_t fell_back; /* to a type that fits their rows */
};

/* Types of all tensors of the file, in its order; the caller frees them. Ends
 * the tool where a type cannot be made of what the file and the importance
 * matrix, which may be empty, have, or a pattern fits no matrix. */
enum ggml_type *
plan_types(const struct gguf_context *gguf, const struct mixture *mixture,
           struct type_choices *choices, const struct importance *importance,
           struct plan_counts *counts);

/* A line for each, if there are any. */
void
plan_tell(const struct plan_counts *counts);

/* Metadata of the new file: keys, and the table with the new types. */
struct gguf_context *
plan_gguf(const struct gguf_context *from, const enum ggml_type *types,
          const struct mixture *mixture);

#endif
