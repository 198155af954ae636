/* sampling.h - the options of drawing, which gg-sample and gg-generate have in
 * common */
#ifndef COMMON_SAMPLING_H
#define COMMON_SAMPLING_H

#include "common/cli.h"

struct sampling_options {
    struct gg_sampler_params params;
    bool has_seed, ignore_eog;
    uint64_t count; /* of ids in a sequence; 0: no limit */
};

enum {
    SAMPLING_OPT_TEMP = 640,
    SAMPLING_OPT_TOP_K,
    SAMPLING_OPT_TOP_P,
    SAMPLING_OPT_MIN_P,
    SAMPLING_OPT_GREEDY,
    SAMPLING_OPT_IGNORE_EOG,
};

/* For getopt_long(). */
#define SAMPLING_LETTERS "n:s:"
/* clang-format off */
#define SAMPLING_LONG_OPTIONS                                                  \
    { "count", required_argument, NULL, 'n' },                                 \
    { "seed", required_argument, NULL, 's' },                                  \
    { "temp", required_argument, NULL, SAMPLING_OPT_TEMP },                    \
    { "top-k", required_argument, NULL, SAMPLING_OPT_TOP_K },                  \
    { "top-p", required_argument, NULL, SAMPLING_OPT_TOP_P },                  \
    { "min-p", required_argument, NULL, SAMPLING_OPT_MIN_P },                  \
    { "greedy", no_argument, NULL, SAMPLING_OPT_GREEDY },                      \
    { "ignore-eog", no_argument, NULL, SAMPLING_OPT_IGNORE_EOG }
/* clang-format on */
#define SAMPLING_HELP                                                          \
    "  -n, --count N           at most N tokens in a sequence\n"               \
    "  -s, --seed N            repeat what was drawn with this seed\n"         \
    "      --temp T            temperature (0.8); 0: always the likeliest\n"   \
    "      --top-k K           among the K likeliest (40); 0: all\n"           \
    "      --top-p P           among the likeliest that make up P (0.95)\n"    \
    "      --min-p P           only what has P of the likeliest's (0)\n"       \
    "      --greedy            the same as --temp 0\n"                         \
    "      --ignore-eog        never draw an end of generation\n"

/* All defaults. */
struct sampling_options
sampling_options_default(void);

/* Takes option `c` with optarg, if it is one of the above. */
bool
sampling_set_option(struct sampling_options *o, int c);

/* To be called after the options: makes the sampler, with a seed of its own
 * where none was given; `verbose` tells it. */
struct gg_sampler *
sampling_start(struct sampling_options *o, bool verbose);

/* Makes the ids impossible: logits[i] belongs to ids[i], or to i where ids is
 * NULL. */
void
sampling_exclude(float *logits, const int32_t *ids, size_t n,
                 const int32_t *excluded, size_t n_excluded);

#endif
