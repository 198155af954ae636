/* reference_parts.h - what the files of the reference share */
#ifndef TESTS_REFERENCE_PARTS_H
#define TESTS_REFERENCE_PARTS_H

#include <stdbool.h>

#include "reference.h"

enum rotation {
    ROTATE_NOT,
    ROTATE_PAIRS,  /* (x[2i], x[2i + 1]) */
    ROTATE_HALVES, /* (x[i], x[i + n / 2]) */
};

enum activation {
    SILU,
    GELU_TANH,
    GELU_ERF,
    SILU_CLAMPED, /* gpt-oss: x sigmoid(1.702 x), clamped, times (1 + up) */
};

/* What an architecture does that its file doesn't say. */
struct architecture {
    const char *name;
    bool means;    /* norms subtract them */
    bool parallel; /* attention and feed forward start from the same x */
    enum rotation rotation;
    enum activation activation;
    int window_period;   /* every so manieth layer sees all; 1: none does */
    int straight_period; /* every so manieth layer doesn't rotate; 0: all do */
    int deep; /* of so many layers: attention is scaled by n_embd / n_head */
    bool scaled_tokens; /* by sqrt(n_embd) */
    bool kept_weights;  /* of experts: not made to sum to 1 */
    bool local_base;    /* windowed layers rotate by 10000, unscaled */
    bool local_plain;   /* windowed layers rotate unscaled */
    bool yarn_exact;    /* YaRN's bounds are not made whole */
    bool ffn_norm_post; /* post_attention_norm is the feed forward's norm */
};

struct weight {
    char name[64];
    double *x;
    int n;
};

struct reference {
    const struct architecture *arch;
    struct weight *weights; /* by name */
    int n_weights;
    int n_embd, n_layer, n_head, n_head_kv, n_ff, n_vocab, n_ctx, d, n_rot;
    int n_expert, n_expert_used, n_ff_expert, n_ff_shared;
    int window;     /* 0: all keys are seen */
    bool *windowed; /* by layer; NULL: as the architecture has it */
    bool straight;  /* no layer rotates */
    bool parallel;
    double eps, attention_scale, attention_cap, final_cap;
    double token_scale, residual_scale, logit_scale;

    /* Rotary positions. */
    char scaling[16]; /* "none", "linear", "yarn", "longrope" */
    double base, factor, magnitude;
    double beta_fast, beta_slow;
    int n_ctx_original;
};

/* The values of blk.LAYER.NAME.SUFFIX, or of NAME.SUFFIX when layer is -1;
 * NULL: there is no such tensor. */
const struct weight *
reference_weight(const struct reference *r, int layer, const char *name,
                 const char *suffix);

/* n numbers, all 0; free() them. */
double *
reference_new(int n);

/* y = W x + b */
void
reference_linear(const struct reference *r, int layer, const char *name,
                 int n_in, int n_out, const double *x, double *y);

/* The layer's feed forward, or its mixture of experts. */
void
reference_feed_forward(const struct reference *r, int layer, const double *x,
                       double *y);

/* Turns n_head heads of x by their position, as this layer does. */
void
reference_rotate(const struct reference *r, int layer, double *x, int n_head,
                 int position);

/* Whether queries of this layer see only r->window keys. */
bool
reference_windowed(const struct reference *r, int layer);

#endif
