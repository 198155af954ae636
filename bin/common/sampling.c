/* sampling.c - the options of drawing */
#include <config.h>

#include "common/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind {
    KIND_COUNT,
    KIND_SEED,
    KIND_INT,
    KIND_FLOAT,
    KIND_FLAG,
    KIND_GREEDY,
    KIND_BIAS,
    KIND_BREAKER,
    KIND_FD,
    KIND_FILE,
};

struct row {
    const char *name;
    int c;
    enum kind kind;
    double min, max;
    size_t at; /* of the field in struct sampling_options */
};

#define PARAM(f) offsetof(struct sampling_options, params.f)

static const struct row rows[] = {
    { "count", 'n', KIND_COUNT, 0, 0, 0 },
    { "seed", 's', KIND_SEED, 0, 0, 0 },
    { "temp", SAMPLING_OPT_TEMP, KIND_FLOAT, 0, 1e6, PARAM(temperature) },
    { "top-k", SAMPLING_OPT_TOP_K, KIND_INT, 0, INT32_MAX, PARAM(top_k) },
    { "top-p", SAMPLING_OPT_TOP_P, KIND_FLOAT, 0, 1, PARAM(top_p) },
    { "min-p", SAMPLING_OPT_MIN_P, KIND_FLOAT, 0, 1, PARAM(min_p) },
    { "typical-p", SAMPLING_OPT_TYPICAL_P, KIND_FLOAT, 0, 1, PARAM(typical_p) },
    { "top-n-sigma", SAMPLING_OPT_TOP_N_SIGMA, KIND_FLOAT, 0, 1e6,
      PARAM(top_n_sigma) },
    { "xtc-probability", SAMPLING_OPT_XTC_PROBABILITY, KIND_FLOAT, 0, 1,
      PARAM(xtc_probability) },
    { "xtc-threshold", SAMPLING_OPT_XTC_THRESHOLD, KIND_FLOAT, 0, 1,
      PARAM(xtc_threshold) },
    { "repeat-penalty", SAMPLING_OPT_REPEAT_PENALTY, KIND_FLOAT, 0.01, 100,
      PARAM(repeat_penalty) },
    { "frequency-penalty", SAMPLING_OPT_FREQUENCY_PENALTY, KIND_FLOAT, -100,
      100, PARAM(frequency_penalty) },
    { "presence-penalty", SAMPLING_OPT_PRESENCE_PENALTY, KIND_FLOAT, -100, 100,
      PARAM(presence_penalty) },
    { "repeat-last-n", SAMPLING_OPT_REPEAT_LAST_N, KIND_INT, -1, INT32_MAX,
      PARAM(penalty_last_n) },
    { "dry-multiplier", SAMPLING_OPT_DRY_MULTIPLIER, KIND_FLOAT, 0, 100,
      PARAM(dry_multiplier) },
    { "dry-base", SAMPLING_OPT_DRY_BASE, KIND_FLOAT, 1, 100, PARAM(dry_base) },
    { "dry-allowed-length", SAMPLING_OPT_DRY_ALLOWED_LENGTH, KIND_INT, 1,
      INT32_MAX, PARAM(dry_allowed_length) },
    { "dry-penalty-last-n", SAMPLING_OPT_DRY_LAST_N, KIND_INT, -1, INT32_MAX,
      PARAM(dry_last_n) },
    { "dry-sequence-breaker", SAMPLING_OPT_DRY_BREAKER, KIND_BREAKER, 0, 0, 0 },
    { "logit-bias", SAMPLING_OPT_LOGIT_BIAS, KIND_BIAS, -1e6, 1e6, 0 },
    { "mirostat", SAMPLING_OPT_MIROSTAT, KIND_INT, 0, 2, PARAM(mirostat) },
    { "mirostat-ent", SAMPLING_OPT_MIROSTAT_TAU, KIND_FLOAT, 0, 100,
      PARAM(mirostat_tau) },
    { "mirostat-lr", SAMPLING_OPT_MIROSTAT_ETA, KIND_FLOAT, 0, 1,
      PARAM(mirostat_eta) },
    { "greedy", SAMPLING_OPT_GREEDY, KIND_GREEDY, 0, 0, 0 },
    { "ignore-eog", SAMPLING_OPT_IGNORE_EOG, KIND_FLAG, 0, 0,
      offsetof(struct sampling_options, ignore_eog) },
    { "logprobs", SAMPLING_OPT_LOGPROBS, KIND_FD, 2, INT_MAX, 0 },
    { "grammar", SAMPLING_OPT_GRAMMAR, KIND_FILE, 0, 0,
      offsetof(struct sampling_options, grammar) },
    { "json-schema", SAMPLING_OPT_JSON_SCHEMA, KIND_FILE, 0, 0,
      offsetof(struct sampling_options, json_schema) },
};

enum {
    N_ROWS = sizeof(rows) / sizeof(rows[0]),
};

struct sampling_options
sampling_options_default(void)
{
    return (struct sampling_options){
        .params = gg_sampler_params_default(),
        .logprobs = -1,
    };
}

/* ---- values ---- */

CLI_PRINTF(3, 4)
static enum gg_status
fail(struct gg_error *err, enum gg_status st, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(err->message, sizeof(err->message), fmt, ap);
    va_end(ap);
    return st;
}

/* All arrays of options, which any number of copies may share. */
static struct kept {
    struct kept *next;
    max_align_t array[];
} * all_kept;

/* array[0..n) with one more behind it, in memory of its own. */
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
add_bias(struct sampling_options *o, const struct row *row, const char *name,
         const char *value, struct gg_error *err)
{
    const char *equal = strchr(value, '=');
    char digits[16];
    int64_t id = 0;
    double add = -INFINITY;
    enum gg_status st;
    struct gg_bias bias;

    if (!equal || equal - value >= (ptrdiff_t)sizeof(digits))
        return fail(err, GG_ERR_ARG, "%s: '%s' is not ID=X", name, value);
    memcpy(digits, value, (size_t)(equal - value));
    digits[equal - value] = '\0';
    st = cli_read_int(name, digits, 0, INT32_MAX, &id, err);
    if (st == GG_OK && strcmp(equal + 1, "-inf") != 0)
        st = cli_read_float(name, equal + 1, row->min, row->max, &add, err);
    if (st != GG_OK)
        return st;
    bias = (struct gg_bias){ (int32_t)id, (float)add };
    o->bias = append(o->bias, o->n_bias++, &bias, sizeof(bias));
    return GG_OK;
}

/* "none" takes away what there is. */
static enum gg_status
add_breaker(struct sampling_options *o, const char *name, const char *value,
            struct gg_error *err)
{
    if (!*value)
        return fail(err, GG_ERR_ARG, "%s: the string is empty", name);
    o->no_breakers = true;
    if (strcmp(value, "none") == 0)
        o->n_breakers = 0;
    else
        o->breakers =
            append(o->breakers, o->n_breakers++, &value, sizeof(value));
    return GG_OK;
}

static enum gg_status
set_flag(struct sampling_options *o, const struct row *row, const char *name,
         const char *value, struct gg_error *err)
{
    bool on = strcmp(value, "true") == 0;

    if (!on && strcmp(value, "false") != 0)
        return fail(err, GG_ERR_ARG, "%s: '%s' is not true or false", name,
                    value);
    if (row->kind == KIND_FLAG)
        *(bool *)((char *)o + row->at) = on;
    else if (on)
        o->params.temperature = 0;
    return GG_OK;
}

static enum gg_status
set_number(struct sampling_options *o, const struct row *row, const char *name,
           const char *value, struct gg_error *err)
{
    void *field = (char *)o + row->at;
    enum gg_status st;
    int64_t n = 0;
    double x = 0;

    if (row->kind == KIND_FLOAT) {
        st = cli_read_float(name, value, row->min, row->max, &x, err);
        if (st == GG_OK)
            *(float *)field = (float)x;
        return st;
    }
    st = cli_read_int(name, value, (int64_t)row->min, (int64_t)row->max, &n,
                      err);
    if (st == GG_OK)
        *(int32_t *)field = (int32_t)n;
    return st;
}

static enum gg_status
set_fd(struct sampling_options *o, const struct row *row, const char *name,
       const char *value, struct gg_error *err)
{
    int64_t fd = 0;
    enum gg_status st = cli_read_int(name, value, (int64_t)row->min,
                                     (int64_t)row->max, &fd, err);

    if (st == GG_OK && fcntl((int)fd, F_GETFD) < 0)
        return fail(err, GG_ERR_ARG, "%s: %s is not open", name, value);
    if (st == GG_OK)
        o->logprobs = (int)fd;
    return st;
}

static enum gg_status
set(struct sampling_options *o, const struct row *row, const char *value,
    struct gg_error *err)
{
    char name[40];
    enum gg_status st;
    int64_t n = 0;

    snprintf(name, sizeof(name), row->c == 'n' ? "-n" : "--%s", row->name);
    switch (row->kind) {
    case KIND_COUNT:
        if (*value == '-')
            return fail(err, GG_ERR_ARG,
                        "%s: '%s': leave it out where there is no limit", name,
                        value);
        st = cli_read_int(name, value, !o->takes_none, INT64_MAX, &n, err);
        o->count = st == GG_OK ? (uint64_t)n : o->count;
        o->none = st == GG_OK && n == 0;
        return st;
    case KIND_SEED:
        st = cli_read_u64(name, value, &o->params.seed, err);
        o->has_seed = o->has_seed || st == GG_OK;
        return st;
    case KIND_FLAG:
    case KIND_GREEDY:
        return set_flag(o, row, name, value, err);
    case KIND_BIAS:
        return add_bias(o, row, name, value, err);
    case KIND_BREAKER:
        return add_breaker(o, name, value, err);
    case KIND_FD:
        return set_fd(o, row, name, value, err);
    case KIND_FILE:
        *(const char **)((char *)o + row->at) = value;
        return GG_OK;
    default:
        return set_number(o, row, name, value, err);
    }
}

bool
sampling_set_option(struct sampling_options *o, int c)
{
    struct gg_error err;

    for (size_t i = 0; i < N_ROWS; i++) {
        bool flag = rows[i].kind == KIND_FLAG || rows[i].kind == KIND_GREEDY;

        if (rows[i].c != c)
            continue;
        if (set(o, &rows[i], flag ? "true" : optarg, &err) != GG_OK)
            cli_misuse("%s", err.message);
        return true;
    }
    return false;
}

/* '-' is like '_'. */
static bool
same_name(const char *a, const char *b)
{
    while (*a && (*a == *b || (*a == '-' && *b == '_')))
        a++, b++;
    return *a == *b;
}

enum gg_status
sampling_set(struct sampling_options *o, const char *name, const char *value,
             struct gg_error *err)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (same_name(rows[i].name, name) && rows[i].kind < KIND_FD)
            return set(o, &rows[i], value, err);
    return fail(err, GG_ERR_UNSUPPORTED, "'%s' is no option of drawing", name);
}

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
