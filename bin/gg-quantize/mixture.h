/* mixture.h - which type each tensor of a model gets */
#ifndef QUANTIZE_MIXTURE_H
#define QUANTIZE_MIXTURE_H

#include <ggml.h>
#include <stdbool.h>
#include <stdint.h>

/* A name that people use for a way to quantise a whole model. */
struct mixture {
    const char *name;    /* "Q4_K_M" */
    enum ggml_type type; /* of a tensor that no rule is about */
    int32_t file_type;   /* general.file_type, as llama.cpp counts them */
};

/* What the rules ask about a model. */
struct mixture_model {
    bool falcon, big_llama; /* the 70B */
    bool tied;              /* the output has no matrix of its own */
    bool imatrix;
    int32_t n_layer, n_gqa, n_expert;
    /* Matrices that make values: of all, and, n_layer of them, of the layers
     * before each: some layers have none. NULL: each has one. */
    int32_t n_values;
    const int32_t *values_before;
};

/* Whether it makes values, alone or beside others. */
bool
mixture_makes_values(const char *tensor);

/* The mixture of that name, in any case, or NULL. */
const struct mixture *
mixture_find(const char *name);
/* The i-th, NULL after the last. */
const struct mixture *
mixture_at(int i);
const char *
mixture_name(size_t i);

/* The type for a matrix by its name and the length of its rows. The rules are
 * those of llama.cpp's llama_tensor_get_type(), so that a mixture means what
 * people expect of its name. *fits: rows are whole blocks of the type that the
 * rules want. */
enum ggml_type
mixture_type(const struct mixture *m, const struct mixture_model *model,
             const char *tensor, int64_t row, bool *fits);

/* The type, if its blocks fit rows of that length, which *fits gets; else
 * another that does, with about as many bits. */
enum ggml_type
mixture_fit(enum ggml_type type, int64_t row, bool *fits);

#endif
