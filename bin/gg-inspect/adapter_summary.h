/* adapter_summary.h - what a file that changes a model changes of it */
#ifndef INSPECT_ADAPTER_SUMMARY_H
#define INSPECT_ADAPTER_SUMMARY_H

#include "gg-inspect/metadata.h"

enum adapter_kind {
    ADAPTER_NONE,    /* a model, or something else */
    ADAPTER_LORA,    /* LoRA */
    ADAPTER_CONTROL, /* a control vector */
    ADAPTER_OTHER,   /* of another type */
};

/* A change of tensor NAME of the model: NAME.lora_a and NAME.lora_b, or one of
 * the same name in its place. */
struct adapter_change {
    char module[GGML_MAX_NAME]; /* "attn_q" of "blk.7.attn_q.weight" */
    int64_t layer;              /* -1: of none */
    uint64_t rank;              /* 0: in the tensor's place */
    uint64_t values;
    int64_t tensor; /* the first of it in the file */
    bool odd;       /* the other of the pair is missing, or of another rank */
};

struct adapter_summary {
    enum adapter_kind kind;
    struct text type;   /* as it calls itself */
    struct text family; /* of the model */
    bool has_alpha;
    double alpha;
    struct range rank, layers;
    struct adapter_change *changes; /* by module, rank, layer */
    size_t n;
};

void
adapter_summary_make(const struct gguf_context *ctx,
                     struct adapter_summary *out);
void
adapter_summary_clear(struct adapter_summary *a);

/* The factor that B A is multiplied by. */
double
adapter_summary_scale(const struct adapter_summary *a, uint64_t rank);

/* ---- adapter_text.c ------------------------------------------------------ */

/* Aligned lines for people: what it is; what it changes. */
void
adapter_text_kind(const struct adapter_summary *a);
void
adapter_text_targets(const struct adapter_summary *a);

/* A member "adapter" of the summary. */
void
adapter_text_json(const struct adapter_summary *a);

#endif
