/* options.h - the command line of gg-eval */
#ifndef EVAL_OPTIONS_H
#define EVAL_OPTIONS_H

#include "common/state.h"
#include "gg-eval/classify.h"
#include "gg-eval/embed.h"
#include "gg-eval/evaluate.h"
#include "gg-eval/perplexity.h"
#include "gg-eval/quiz.h"
#include "gg-eval/watch.h"

/* The kind of output. */
enum eval_mode {
    EVAL_RECORDS, /* logits, or text of them */
    EVAL_EMBED,
    EVAL_PERPLEXITY,
    EVAL_IMATRIX,
    EVAL_QUIZ,
    EVAL_CLASSIFY,
};

struct options {
    enum eval_mode mode;
    bool writes_text; /* a terminal can show it */
    struct engine_options engine;
    struct output_options output;
    const char *input, *output_path;
    struct evaluate_options evaluate;
    struct embed_options embed;
    struct state_options state;
    int32_t n_slots;
    bool f16;
    struct perplexity_options perplexity;
    struct quiz_options quiz;
    struct classify_options classify;
    bool json;           /* of these two */
    const char *imatrix; /* a file to write */
    struct watch_options watch;
};

/* Fills *o in, or ends the tool. */
void
eval_parse(int argc, char **argv, struct options *o);

#endif
