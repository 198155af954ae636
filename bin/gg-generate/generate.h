/* generate.h - the parts of gg-generate */
#ifndef GENERATE_H
#define GENERATE_H

#include "common/engine.h"
#include "common/sampling.h"

enum {
    OPT_BOS = 256,
    OPT_NO_BOS,
    OPT_ECHO,
    OPT_SPECIAL,
};

struct options {
    struct engine_options engine;
    struct sampling_options sampling;
    const char *prompt, *input, *output;
    bool echo, special;
    int bos; /* OPT_BOS, OPT_NO_BOS, or 0: as the model wants it */
};

/* Everything while the tool runs. */
struct generate {
    struct options *o;
    struct engine engine;
    struct gg_sampler *sampler;
    float *logits;
    struct gg_decode_state decode;
    char *piece; /* scratch */
    size_t piece_cap;
    size_t n_prompt, n_made;  /* ids */
    int64_t t_prompt, t_made; /* microseconds of evaluation */
};

/* The ids of the prompt, which --echo writes; the caller frees them. */
int32_t *
generate_prompt(struct generate *g, size_t *n);

/* Evaluates the prompt, then draws and writes until an end. */
void
generate_loop(struct generate *g, const int32_t *prompt, size_t n);

/* For -v: how fast it was. */
void
generate_describe(const struct generate *g);

/* Writes the text of an id. */
void
generate_write(struct generate *g, int32_t id);

#endif
