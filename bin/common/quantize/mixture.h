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

/* Facts about a model that the rules ask for. */
struct mixture_model {
    bool projector;      /* of images or sounds: it has no rules */
    bool falcon, of_70b; /* values that many heads share: more bits */
    bool ling3;          /* matrices of heads are no experts */
    bool glm5;           /* queries have 8 bits at least */
    bool tied;           /* the output has no matrix of its own */
    bool imatrix;
    int32_t n_layer, n_gqa, n_expert;
    int32_t n_values; /* matrices that make values */
};

/* Facts about a matrix that the rules ask for. */
struct mixture_tensor {
    const char *name;
    int64_t row;    /* its length */
    int32_t number; /* among those that are counted together */
    bool stacked;   /* one for each expert */
};

/* Matrices that rules count. */
enum mixture_counted {
    MIXTURE_VALUES, /* makes values, alone or with others */
    MIXTURE_GATE,
    MIXTURE_UP,
    MIXTURE_DOWN,
    MIXTURE_UNCOUNTED,
};

enum mixture_counted
mixture_counts(const char *tensor);

/* The mixture of that name, in any case, or NULL. */
const struct mixture *
mixture_find(const char *name);
/* The i-th, NULL after the last. */
const struct mixture *
mixture_at(int i);
const char *
mixture_name(size_t i);

/* The type for a matrix. The rules are those of llama.cpp's
 * llama_tensor_get_type(), so that a mixture means what people expect of its
 * name. *fits: rows are whole blocks of the type that the rules want. */
enum ggml_type
mixture_type(const struct mixture *m, const struct mixture_model *model,
             const struct mixture_tensor *tensor, bool *fits);

/* The type, if its blocks fit rows of that length, which *fits gets; else
 * another that does, with about as many bits. */
enum ggml_type
mixture_fit(enum ggml_type type, int64_t row, bool *fits);

#endif
