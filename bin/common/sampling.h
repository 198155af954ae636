/* sampling.h - the options of drawing, which gg-sample and gg-generate have in
 * common */
#ifndef COMMON_SAMPLING_H
#define COMMON_SAMPLING_H

#include <gg-engine.h>

#include "common/options.h"

enum {
    SAMPLING_VALUES = 32, /* as many as there are numbers of stages */
};

/* Sampling as the model's file gives it: file_sampling.c. */
enum {
    FILE_SAMPLING_KEYS = 12,
    FILE_SAMPLING_VALUE = 512, /* bytes of one, with a NUL */
};

/* Who says a value that counts. */
enum file_sampling_whose {
    FILE_SAMPLING_NOT_USED, /* the file's is out of range: the default counts */
    FILE_SAMPLING_FILE,
    FILE_SAMPLING_OPTION,
    FILE_SAMPLING_RECORD,
};

struct file_sampling {
    int is_left_out;  /* by --defaults own */
    const char *line; /* of gg_sampling_of_file(); NULL: none is used */
    enum file_sampling_whose whose[FILE_SAMPLING_KEYS];
    char sequence[FILE_SAMPLING_VALUE]; /* of stages */
};

struct sampling_options {
    /* But for what follows; 0 is the number that was said, not a default. */
    struct gg_sampler_params params;
    struct gg_sampler_value values[SAMPLING_VALUES]; /* of params, by name */
    size_t n_values;
    bool has_seed, ignore_eog;
    uint64_t count;  /* of ids in a sequence; 0: no limit */
    bool takes_none; /* -n 0 may be said, and was: */
    bool none;
    int logprobs;                      /* a file descriptor, or -1 */
    const char *grammar, *json_schema; /* files, or NULL; not both */
    int64_t min_ids;     /* ids before an end of generation may be drawn */
    struct gg_stop *ban; /* strings that are not drawn; or NULL. As arrays: */

    /* Copies share these until one of them gets more: they are never freed
     * while the tool runs. */
    struct gg_bias *bias;
    size_t n_bias;
    const char **breakers; /* strings at which DRY begins anew */
    size_t n_breakers;
    bool no_breakers;      /* not even the customary ones */
    bool breakers_are_own; /* they do not live as long as the tool */

    struct file_sampling file;
};

/* Their rows, whose fields are in struct sampling_options. */
extern const struct cli_option sampling_rows[];

/* All defaults. */
struct sampling_options
sampling_options_default(void);

/* True if a sampler for these options looks at texts of tokens. */
bool
sampling_needs_vocab(const struct sampling_options *o);

/* Values of the line count where the command line says none; `from` is what
 * has the line, for warnings of values that are out of range; NULL: none. The
 * line outlives the options and their copies; NULL: there is none. */
void
file_sampling_take(struct sampling_options *o, const char *line,
                   const char *from);

/* True where a file may say the option's value: no option does. */
bool
file_sampling_may_say(const struct sampling_options *o, const char *option);

/* A record says the value of the option. */
void
file_sampling_said(struct sampling_options *o, const char *option);

/* Whose value of each key counts, as "file", "option", "record" or "ours":
 * `put` gets the key, the file's value, and this word. */
void
file_sampling_list(const struct sampling_options *o,
                   void (*put)(void *data, const char *key, const char *value,
                               const char *whose),
                   void *data);

/* Prints file_sampling_list() to stderr, where the file says something. */
void
file_sampling_tell(const struct sampling_options *o);

/* A sampler for the options; `vocab` may be NULL where none is needed. */
enum gg_status
sampling_sampler(const struct sampling_options *o, const struct gg_vocab *vocab,
                 struct gg_sampler **out, struct gg_error *err);

/* True if the value of --grammar or --json-schema is no file's name, but such a
 * text itself. */
bool
sampling_is_text(const char *value);

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

/* True where draws learn what a state is to hold: gg_history_mirostat(). */
bool
sampling_learns(const struct sampling_options *o);

/* When all samplers, histories and texts are gone. */
void
sampling_clear(struct sampling_options *o);

/* Writes --logprobs's line for a token that was drawn: natural logarithms of
 * its probability in the model, and in the chain. */
void
sampling_log(const struct sampling_options *o, bool numbered, uint64_t sequence,
             uint64_t position, const struct gg_draw *drawn, double logprob);

/* The message where -n has ended a text that its grammar goes on with. */
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
