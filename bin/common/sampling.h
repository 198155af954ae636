/* sampling.h - the options of drawing, which gg-sample and gg-generate have in
 * common */
#ifndef COMMON_SAMPLING_H
#define COMMON_SAMPLING_H

#include "common/cli.h"

struct sampling_options {
    /* But for what follows; 0 is the number that was said, not a default. */
    struct gg_sampler_params params;
    bool has_seed, ignore_eog;
    uint64_t count;  /* of ids in a sequence; 0: no limit */
    bool takes_none; /* -n 0 may be said, and was: */
    bool none;
    int logprobs;                      /* a file descriptor, or -1 */
    const char *grammar, *json_schema; /* files, or NULL; not both */

    /* Copies share these until one of them gets more: they are never freed
     * while the tool runs. */
    struct gg_bias *bias;
    size_t n_bias;
    const char **breakers; /* strings at which DRY begins anew */
    size_t n_breakers;
    bool no_breakers;      /* not even the customary ones */
    bool breakers_are_own; /* they do not live as long as the tool */
};

enum {
    SAMPLING_OPT_FIRST = 640, /* in the order of their table */
    SAMPLING_OPT_TEMP = SAMPLING_OPT_FIRST,
    SAMPLING_OPT_TOP_K,
    SAMPLING_OPT_TOP_P,
    SAMPLING_OPT_MIN_P,
    SAMPLING_OPT_TYPICAL_P,
    SAMPLING_OPT_TOP_N_SIGMA,
    SAMPLING_OPT_XTC_PROBABILITY,
    SAMPLING_OPT_XTC_THRESHOLD,
    SAMPLING_OPT_REPEAT_PENALTY,
    SAMPLING_OPT_FREQUENCY_PENALTY,
    SAMPLING_OPT_PRESENCE_PENALTY,
    SAMPLING_OPT_REPEAT_LAST_N,
    SAMPLING_OPT_DRY_MULTIPLIER,
    SAMPLING_OPT_DRY_BASE,
    SAMPLING_OPT_DRY_ALLOWED_LENGTH,
    SAMPLING_OPT_DRY_LAST_N,
    SAMPLING_OPT_DRY_BREAKER,
    SAMPLING_OPT_LOGIT_BIAS,
    SAMPLING_OPT_MIROSTAT,
    SAMPLING_OPT_MIROSTAT_TAU,
    SAMPLING_OPT_MIROSTAT_ETA,
    SAMPLING_OPT_GREEDY,
    SAMPLING_OPT_IGNORE_EOG,
    SAMPLING_OPT_LOGPROBS,
    SAMPLING_OPT_GRAMMAR,
    SAMPLING_OPT_JSON_SCHEMA,
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
    { "typical-p", required_argument, NULL, SAMPLING_OPT_TYPICAL_P },          \
    { "top-n-sigma", required_argument, NULL, SAMPLING_OPT_TOP_N_SIGMA },      \
    { "xtc-probability", required_argument, NULL,                              \
      SAMPLING_OPT_XTC_PROBABILITY },                                          \
    { "xtc-threshold", required_argument, NULL, SAMPLING_OPT_XTC_THRESHOLD },  \
    { "repeat-penalty", required_argument, NULL,                               \
      SAMPLING_OPT_REPEAT_PENALTY },                                           \
    { "frequency-penalty", required_argument, NULL,                            \
      SAMPLING_OPT_FREQUENCY_PENALTY },                                        \
    { "presence-penalty", required_argument, NULL,                             \
      SAMPLING_OPT_PRESENCE_PENALTY },                                         \
    { "repeat-last-n", required_argument, NULL, SAMPLING_OPT_REPEAT_LAST_N },  \
    { "dry-multiplier", required_argument, NULL,                               \
      SAMPLING_OPT_DRY_MULTIPLIER },                                           \
    { "dry-base", required_argument, NULL, SAMPLING_OPT_DRY_BASE },            \
    { "dry-allowed-length", required_argument, NULL,                           \
      SAMPLING_OPT_DRY_ALLOWED_LENGTH },                                       \
    { "dry-penalty-last-n", required_argument, NULL,                           \
      SAMPLING_OPT_DRY_LAST_N },                                               \
    { "dry-sequence-breaker", required_argument, NULL,                         \
      SAMPLING_OPT_DRY_BREAKER },                                              \
    { "logit-bias", required_argument, NULL, SAMPLING_OPT_LOGIT_BIAS },        \
    { "mirostat", required_argument, NULL, SAMPLING_OPT_MIROSTAT },            \
    { "mirostat-ent", required_argument, NULL, SAMPLING_OPT_MIROSTAT_TAU },    \
    { "mirostat-lr", required_argument, NULL, SAMPLING_OPT_MIROSTAT_ETA },     \
    { "greedy", no_argument, NULL, SAMPLING_OPT_GREEDY },                      \
    { "ignore-eog", no_argument, NULL, SAMPLING_OPT_IGNORE_EOG },              \
    { "grammar", required_argument, NULL, SAMPLING_OPT_GRAMMAR },              \
    { "json-schema", required_argument, NULL, SAMPLING_OPT_JSON_SCHEMA },      \
    { "logprobs", required_argument, NULL, SAMPLING_OPT_LOGPROBS }
/* clang-format on */
#define SAMPLING_HELP                                                          \
    "  -n, --count N           at most N tokens in a sequence\n"               \
    "  -s, --seed N            repeat what was drawn with this seed\n"         \
    "      --temp T            temperature (0.8); 0: always the likeliest\n"   \
    "      --top-k K           among the K likeliest (40); 0: all\n"           \
    "      --top-p P           among the likeliest that make up P (0.95)\n"    \
    "      --min-p P           only what has P of the likeliest's (0)\n"       \
    "      --typical-p P       the most typical that make up P (1: all)\n"     \
    "      --top-n-sigma N     no logit further than N deviations below the\n" \
    "                          highest (0: off)\n"                             \
    "      --xtc-probability P how often to exclude top choices (0)\n"         \
    "      --xtc-threshold P   which are those, but the last, of at least P "  \
    "(0.1)\n"                                                                  \
    "      --repeat-penalty X, --frequency-penalty X, --presence-penalty X\n"  \
    "                          of tokens that are there (1, 0, 0)\n"           \
    "      --repeat-last-n N   among the last N (64); -1: all\n"               \
    "      --dry-multiplier X  penalty for what goes on with a repetition "    \
    "(0)\n"                                                                    \
    "      --dry-base X        times X for each token more (1.75)\n"           \
    "      --dry-allowed-length N\n"                                           \
    "                          than N (2)\n"                                   \
    "      --dry-penalty-last-n N\n"                                           \
    "                          looked for among the last N; -1: all (-1)\n"    \
    "      --dry-sequence-breaker STRING\n"                                    \
    "                          none goes over STRING; may be given more than " \
    "once\n"                                                                   \
    "      --logit-bias ID=X   add X to the logit of ID; may be given more "   \
    "than once\n"                                                              \
    "      --mirostat N        1 or 2: hold the surprise at --mirostat-ent "   \
    "(0: off)\n"                                                               \
    "      --mirostat-ent X    in bits (5)\n"                                  \
    "      --mirostat-lr X     rate of learning (0.1)\n"                       \
    "      --grammar FILE      what is drawn follows the grammar (GBNF) in "   \
    "FILE\n"                                                                   \
    "      --json-schema FILE  what is drawn is JSON as the schema in FILE "   \
    "has it\n"                                                                 \
    "      --greedy            the same as --temp 0\n"                         \
    "      --ignore-eog        never draw an end of generation\n"              \
    "      --logprobs FD       write log-probabilities to file descriptor "    \
    "FD\n"

/* All defaults. */
struct sampling_options
sampling_options_default(void);

/* Takes option `c` with optarg, if it is one of the above. */
bool
sampling_set_option(struct sampling_options *o, int c);

/* Sets the option of that long name ("top-k", also written "top_k") to a value
 * as on the command line; those without argument take "true" and "false".
 * GG_ERR_ARG: the value; GG_ERR_UNSUPPORTED: no option of drawing has the
 * name. The value must outlive *o. */
enum gg_status
sampling_set(struct sampling_options *o, const char *name, const char *value,
             struct gg_error *err);

/* True if a sampler for these options looks at texts of tokens. */
bool
sampling_needs_vocab(const struct sampling_options *o);

/* A sampler for the options; `vocab` may be NULL where none is needed. */
enum gg_status
sampling_sampler(const struct sampling_options *o, const struct gg_vocab *vocab,
                 struct gg_sampler **out, struct gg_error *err);

/* The grammar of a text in GBNF, or of a JSON schema. */
enum gg_status
sampling_grammar(const struct gg_vocab *vocab, bool schema, const char *text,
                 size_t len, struct gg_grammar **out, struct gg_error *err);

/* Each id of a bias must be below n_vocab: GG_ERR_ARG. A sampler of a
 * vocabulary is made after that only. */
enum gg_status
sampling_check_ids(const struct sampling_options *o, int64_t n_vocab,
                   struct gg_error *err);

/* To be called after the options: makes the sampler, with a seed of its own
 * where none was given; `verbose` tells it. */
struct gg_sampler *
sampling_start(struct sampling_options *o, const struct gg_vocab *vocab,
               bool verbose);

/* When all samplers and histories are gone. */
void
sampling_clear(struct sampling_options *o);

/* What --logprobs writes of a token that was drawn: natural logarithms of its
 * probability in the model, and in the chain. */
void
sampling_log(const struct sampling_options *o, bool numbered, uint64_t sequence,
             uint64_t position, const struct gg_draw *drawn, double logprob);

/* What to say where -n has ended a text that its grammar goes on with. */
void
sampling_say_cut(const struct sampling_options *o, char *text, size_t size);

/* Makes the ids impossible: logits[i] belongs to ids[i], or to i where ids is
 * NULL. */
void
sampling_exclude(float *logits, const int32_t *ids, size_t n,
                 const int32_t *excluded, size_t n_excluded);

/* The logit of `id` of the same; -infinity where it is not among them. */
double
sampling_logit(const float *logits, const int32_t *ids, size_t n, int32_t id);

#endif
