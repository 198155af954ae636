/* sampling.c - the options of drawing */
#include <config.h>

#include "common/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sampling_options
sampling_options_default(void)
{
    return (struct sampling_options){
        .params = gg_sampler_params_default(),
        .logprobs = -1,
    };
}

/* ---- values ---- */

static enum gg_status
set_count(void *options, const struct cli_option *o, const char *value,
          struct gg_error *err)
{
    struct sampling_options *s = options;
    enum gg_status st;
    int64_t n = 0;

    if (*value == '-')
        return cli_error(err, GG_ERR_ARG,
                         "%s: '%s': leave it out where there is no limit",
                         o->shown, value);
    st = cli_read_int(o->shown, value, !s->takes_none, INT64_MAX, &n, err);
    s->count = st == GG_OK ? (uint64_t)n : s->count;
    s->none = st == GG_OK && n == 0;
    return st;
}

static enum gg_status
set_seed(void *options, const struct cli_option *o, const char *value,
         struct gg_error *err)
{
    struct sampling_options *s = options;
    char name[CLI_OPTION_NAME];
    enum gg_status st =
        cli_read_u64(cli_option_name(o, name), value, &s->params.seed, err);

    s->has_seed = s->has_seed || st == GG_OK;
    return st;
}

static const struct gg_sampler_parameter *
find_parameter(const char *name)
{
    const struct gg_sampler_parameter *is;

    for (size_t i = 0; (is = gg_sampler_parameter_at(i)); i++)
        if (strcmp(is->name, name) == 0)
            break;
    return is;
}

static void
set_value(struct sampling_options *s, const char *name, double x)
{
    size_t i = 0;

    while (i < s->n_values && strcmp(s->values[i].name, name) != 0)
        i++;
    if (i == SAMPLING_VALUES)
        return; /* there are no more names */
    s->values[i] = (struct gg_sampler_value){ name, x };
    s->n_values += i == s->n_values;
}

/* A number of a stage, which has the option's name; its bounds are the
 * library's. */
static enum gg_status
set_number(void *options, const struct cli_option *o, const char *value,
           struct gg_error *err)
{
    const struct gg_sampler_parameter *is = find_parameter(o->name);
    char name[CLI_OPTION_NAME];
    int64_t n = 0;
    double x = 0;
    enum gg_status st;

    cli_option_name(o, name);
    if (!is)
        return cli_error(err, GG_ERR_ARG, "%s: no stage reads it", name);
    if (is->whole) {
        st = cli_read_int(name, value, (int64_t)is->min, (int64_t)is->max, &n,
                          err);
        x = (double)n;
    } else {
        st = cli_read_float(name, value, is->min, is->max, &x, err);
    }
    if (st == GG_OK)
        set_value(options, is->name, x);
    return st;
}

static enum gg_status
set_greedy(void *options, const struct cli_option *o, const char *value,
           struct gg_error *err)
{
    struct sampling_options *s = options;
    bool on = false;
    enum gg_status st = cli_read_flag(o, value, &on, err);

    if (on)
        s->params.temperature = 0;
    return st;
}

static enum gg_status
set_logprobs(void *options, const struct cli_option *o, const char *value,
             struct gg_error *err)
{
    struct sampling_options *s = options;
    char name[CLI_OPTION_NAME];
    int64_t fd = 0;
    enum gg_status st =
        cli_read_int(cli_option_name(o, name), value, 2, INT_MAX, &fd, err);

    if (st == GG_OK && fcntl((int)fd, F_GETFD) < 0)
        return cli_error(err, GG_ERR_ARG, "%s: %s is not open", name, value);
    if (st == GG_OK)
        s->logprobs = (int)fd;
    return st;
}

/* All arrays of options, which any number of copies may share. */
static struct kept {
    struct kept *next;
    max_align_t array[];
} * all_kept;

/* array[0..n) with one more after it, in memory of its own. */
static void *
append(const void *array, size_t n, const void *more, size_t size)
{
    struct kept *kept = cli_alloc(NULL, 1, sizeof(*kept) + (n + 1) * size);
    char *p = (char *)kept->array;

    kept->next = all_kept;
    all_kept = kept;
    if (n)
        memcpy(p, array, n * size);
    memcpy(p + n * size, more, size);
    return p;
}

/* ID=X; X may be -inf. */
static enum gg_status
add_bias(void *options, const struct cli_option *o, const char *value,
         struct gg_error *err)
{
    struct sampling_options *s = options;
    const char *equal = strchr(value, '=');
    char digits[16], name[CLI_OPTION_NAME];
    int64_t id = 0;
    double add = -INFINITY;
    enum gg_status st;
    struct gg_bias bias;

    cli_option_name(o, name);
    if (!equal || equal - value >= (ptrdiff_t)sizeof(digits))
        return cli_error(err, GG_ERR_ARG, "%s: '%s' is not ID=X", name, value);
    memcpy(digits, value, (size_t)(equal - value));
    digits[equal - value] = '\0';
    st = cli_read_int(name, digits, 0, INT32_MAX, &id, err);
    if (st == GG_OK && strcmp(equal + 1, "-inf") != 0)
        st = cli_read_float(name, equal + 1, o->min, o->max, &add, err);
    if (st != GG_OK)
        return st;
    bias = (struct gg_bias){ (int32_t)id, (float)add };
    s->bias = append(s->bias, s->n_bias++, &bias, sizeof(bias));
    return GG_OK;
}

/* "none" takes away what there is. */
static enum gg_status
add_breaker(void *options, const struct cli_option *o, const char *value,
            struct gg_error *err)
{
    struct sampling_options *s = options;

    if (!*value)
        return cli_error(err, GG_ERR_ARG, "--%s: the string is empty", o->name);
    s->no_breakers = true;
    if (strcmp(value, "none") == 0)
        s->n_breakers = 0;
    else
        s->breakers =
            append(s->breakers, s->n_breakers++, &value, sizeof(value));
    return GG_OK;
}

/* Names that are none are told of here, with the option's. */
static enum gg_status
set_samplers(void *options, const struct cli_option *o, const char *value,
             struct gg_error *err)
{
    struct sampling_options *s = options;
    struct gg_sampler_params p = { .stages = value };
    struct gg_sampler *sampler = NULL;
    char name[CLI_OPTION_NAME];
    struct gg_error why;

    if (gg_sampler_new(&p, &sampler, &why) != GG_OK)
        return cli_error(err, GG_ERR_ARG, "%s: %s", cli_option_name(o, name),
                         why.message);
    gg_sampler_free(sampler);
    s->params.stages = value;
    return GG_OK;
}

static enum gg_status
add_ban(void *options, const struct cli_option *o, const char *value,
        struct gg_error *err)
{
    struct sampling_options *s = options;
    enum gg_status st = GG_OK;

    if (!*value)
        return cli_error(err, GG_ERR_ARG, "--%s: the string is empty", o->name);
    if (!s->ban)
        st = gg_stop_new(&s->ban, err);
    return st == GG_OK ? gg_stop_add(s->ban, value, strlen(value), err) : st;
}

/* ---- the table ---- */

#define AT(field) .at = offsetof(struct sampling_options, field)

/* clang-format off */
const struct cli_option sampling_rows[] = {
    { "count", 'n', CLI_CALL, "N", "at most N tokens in a sequence",
      .set = set_count, .shown = "-n", .aliases = "n-predict|max-tokens",
      .record = true,
      .members = "n|max_completion_tokens|max_output_tokens" },
    { "seed", 's', CLI_CALL, "N", "seed of sampling (else a random one)",
      .set = set_seed, .record = true },
    { "temp", 0, CLI_FLOAT, "T", "temperature (0.8); 0: greedy",
      AT(params.temperature), 0, 1e6, .aliases = "temperature",
      .record = true },
    { "samplers", 0, CLI_CALL, "LIST",
      "the stages to apply, in this order, separated by ; or ,",
      .set = set_samplers, .record = true },
    { "dynatemp-range", 0, CLI_CALL, "X",
      "vary the temperature by up to X around --temp, by the entropy (0: off)",
      .set = set_number, .record = true },
    { "dynatemp-exponent", 0, CLI_CALL, "X",
      "exponent of the entropy for --dynatemp-range (1)",
      .set = set_number, .record = true, .aliases = "dynatemp-exp" },
    { "adaptive-target", 0, CLI_CALL, "P",
      "adaptive-p: favor tokens of the probability P (-1: off)",
      .set = set_number, .record = true },
    { "adaptive-decay", 0, CLI_CALL, "X",
      "decay of adaptive-p's mean of drawn probabilities (0.9)",
      .set = set_number, .record = true },
    { "top-k", 0, CLI_CALL, "K", "keep the K likeliest tokens (40); 0: all",
      .set = set_number, .record = true },
    { "top-p", 0, CLI_CALL, "P",
      "keep the likeliest tokens that add up to P (0.95); 1: all",
      .set = set_number, .record = true },
    { "min-p", 0, CLI_CALL, "P",
      "drop tokens less likely than P times the likeliest (0)",
      .set = set_number, .record = true },
    { "typical-p", 0, CLI_CALL, "P",
      "keep the most typical tokens that add up to P (1: all)",
      .set = set_number, .record = true },
    { "eta-cutoff", 0, CLI_CALL, "E",
      "drop tokens less likely than E, and than sqrt(E) * exp(-entropy) (0: "
      "off)",
      .set = set_number, .record = true },
    { "top-n-sigma", 0, CLI_CALL, "N",
      "drop logits more than N standard deviations below the highest (0: off)",
      .set = set_number, .record = true },
    { "xtc-probability", 0, CLI_CALL, "P",
      "probability of excluding top choices, XTC (0)",
      .set = set_number, .record = true },
    { "xtc-threshold", 0, CLI_FLOAT, "P",
      "XTC: exclude tokens of at least P, except the least likely of them "
      "(0.1)",
      AT(params.xtc_threshold), 0, 1, .record = true },
    { "repeat-penalty", 0, CLI_FLOAT, "X", NULL,
      AT(params.repeat_penalty), 0.01, 100, .record = true },
    { "frequency-penalty", 0, CLI_FLOAT, "X", NULL,
      AT(params.frequency_penalty), -100, 100, .record = true },
    { "presence-penalty", 0, CLI_FLOAT, "X",
      "penalties for tokens that occurred (1, 0, 0)",
      AT(params.presence_penalty), -100, 100, .record = true },
    { "repeat-last-n", 0, CLI_INT, "N",
      "apply the penalties to the last N ids (64); -1: all",
      AT(params.penalty_last_n), -1, INT32_MAX, .record = true },
    { "dry-multiplier", 0, CLI_FLOAT, "X",
      "DRY: penalty for tokens that extend a repetition (0)",
      AT(params.dry_multiplier), 0, 100, .record = true },
    { "dry-base", 0, CLI_FLOAT, "X",
      "DRY: multiply the penalty by X for each further token (1.75)",
      AT(params.dry_base), 1, 100, .record = true },
    { "dry-allowed-length", 0, CLI_INT, "N",
      "DRY: penalise repetitions longer than N tokens (2)",
      AT(params.dry_allowed_length), 1, INT32_MAX, .record = true },
    { "dry-penalty-last-n", 0, CLI_INT, "N",
      "DRY: look for repetitions in the last N ids; -1: all (-1)",
      AT(params.dry_last_n), -1, INT32_MAX, .record = true },
    { "dry-sequence-breaker", 0, CLI_CALL, "STRING",
      "DRY: end repetitions at STRING; may be repeated",
      .set = add_breaker, .record = true,
      .members = "dry_sequence_breakers" },
    { "logit-bias", 0, CLI_CALL, "ID=X",
      "add X to the logit of ID; may be repeated",
      .min = -1e6, .max = 1e6, .set = add_bias, .record = true },
    { "mirostat", 0, CLI_INT, "N",
      "Mirostat of version 1 or 2 (0: off)",
      AT(params.mirostat), 0, 2, .record = true },
    { "mirostat-ent", 0, CLI_FLOAT, "X",
      "target entropy of Mirostat, in bits (5)",
      AT(params.mirostat_tau), 0, 100, .record = true,
      .members = "mirostat_tau" },
    { "mirostat-lr", 0, CLI_FLOAT, "X", "learning rate of Mirostat (0.1)",
      AT(params.mirostat_eta), 0, 1, .record = true,
      .members = "mirostat_eta" },
    { "grammar", 0, CLI_TEXT, "FILE",
      "constrain the output to a grammar (GBNF): a file, or the grammar itself",
      AT(grammar), .record = true, .is_text = sampling_is_text },
    { "json-schema", 0, CLI_TEXT, "FILE",
      "constrain the output to a JSON schema: a file, or the schema itself if "
      "it begins with {",
      AT(json_schema), .record = true, .members = "response_format",
      .is_text = sampling_is_text },
    { "greedy", 0, CLI_CALL, NULL, "the same as --temp 0",
      .set = set_greedy, .record = true },
    { "defaults", 0, CLI_WORD, "WHOSE",
      "default values of sampling: from the model's file, if it has any (file, "
      "the default), or gg's (own)",
      AT(file.is_left_out), .values = "file|own" },
    { "ignore-eog", 0, CLI_FLAG, NULL,
      "never draw an end-of-generation token (EOG)",
      AT(ignore_eog), .record = true, .members = "ignore_eos" },
    { "min-tokens", 0, CLI_INT64, "N",
      "draw no end-of-generation token before N tokens (0)",
      AT(min_ids), 0, 1e12, .record = true },
    { "ban", 0, CLI_CALL, "STRING",
      "go back if STRING was drawn; may be repeated",
      .set = add_ban, .record = true, .members = "banned_strings|bad_words" },
    { "logprobs", 0, CLI_CALL, "FD",
      "write log-probabilities to file descriptor FD", .set = set_logprobs },
    { 0 },
};
/* clang-format on */

/* ---- logits ---- */

/* Without a sign of what is shown as 0. */
static double
shown(double x)
{
    return fabs(x) < 0.5e-6 ? 0 : x;
}

void
sampling_log(const struct sampling_options *o, bool numbered, uint64_t sequence,
             uint64_t position, const struct gg_draw *drawn, double logprob)
{
    char line[160];
    int n = numbered ? snprintf(line, 32, "%" PRIu64, sequence)
                     : snprintf(line, 32, "-");
    ssize_t written = 0;

    n += snprintf(line + n, sizeof(line) - (size_t)n,
                  "\t%" PRIu64 "\t%ld\t%.6f\t%.6f\n", position, (long)drawn->id,
                  shown(logprob), shown(drawn->logprob));
    for (int done = 0; done < n; done += (int)written) {
        written = write(o->logprobs, line + done, (size_t)(n - done));
        if (written < 0 && errno != EINTR)
            cli_die("--logprobs: %s", strerror(errno));
        written = written < 0 ? 0 : written;
    }
}

void
sampling_say_cut(const struct sampling_options *o, char *text, size_t size)
{
    snprintf(text, size,
             "cut by -n %" PRIu64 " before its grammar or schema is satisfied",
             o->count);
}

void
sampling_exclude(float *logits, const int32_t *ids, size_t n,
                 const int32_t *excluded, size_t n_excluded)
{
    for (size_t e = 0; e < n_excluded; e++) {
        size_t i = (size_t)excluded[e];

        if (ids)
            for (i = 0; i < n && ids[i] != excluded[e]; i++)
                ;
        if (i < n)
            logits[i] = -INFINITY;
    }
}

double
sampling_logit(const float *logits, const int32_t *ids, size_t n, int32_t id)
{
    size_t i = (size_t)id;

    if (ids)
        for (i = 0; i < n && ids[i] != id; i++)
            ;
    return i < n ? (double)logits[i] : -INFINITY;
}
