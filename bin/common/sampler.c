/* sampler.c - a sampler made of the options of drawing */
#include <config.h>

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/sampling.h"

enum {
    MAX_GRAMMAR = 1 << 24, /* bytes of a file */
};

/* 32 bits: easy to type again. */
static uint64_t
any_seed(void)
{
    uint32_t seed;

    if (getentropy(&seed, sizeof(seed)))
        cli_die("no source of random numbers: use --seed");
    return seed;
}

static bool
needs_breakers(const struct sampling_options *o)
{
    return o->params.dry_multiplier > 0 && o->params.dry_last_n != 0 &&
           (o->n_breakers || !o->no_breakers);
}

bool
sampling_needs_vocab(const struct sampling_options *o)
{
    return needs_breakers(o) || o->grammar || o->json_schema || o->ban;
}

struct ids {
    int32_t *p;
    size_t n, cap;
};

/* The tokens whose text has the string. */
static void
find_tokens(const struct gg_vocab *vocab, const char *string, struct ids *out)
{
    size_t len = strlen(string), cap = 256, n;
    char *text = cli_alloc(NULL, cap, 1);
    struct gg_error err;

    for (int32_t id = 0; id < gg_vocab_size(vocab);) {
        struct gg_decode_state state = { .started = true };

        cli_check(gg_vocab_decode(vocab, &state, id, 0, text, cap, &n, &err),
                  &err);
        if (n > cap) {
            text = cli_alloc(text, cap = n, 1);
            continue;
        }
        if (memmem(text, n, string, len)) {
            if (out->n == out->cap)
                out->p = cli_alloc(out->p, out->cap = 2 * out->cap + 16,
                                   sizeof(*out->p));
            out->p[out->n++] = id;
        }
        id++;
    }
    free(text);
}

static enum gg_status
find_breakers(const struct sampling_options *o, const struct gg_vocab *vocab,
              struct ids *out, struct gg_error *err)
{
    static const char *const customary[] = { "\n", ":", "\"", "*" };
    const char *const *strings = o->no_breakers ? o->breakers : customary;
    size_t n = o->no_breakers ? o->n_breakers : 4;

    for (size_t i = 0; i < n; i++) {
        size_t before = out->n;

        find_tokens(vocab, strings[i], out);
        if (out->n == before && o->no_breakers) {
            char shown[100];

            snprintf(err->message, sizeof(err->message),
                     "--dry-sequence-breaker: no token has '%s' in it",
                     gg_escape(shown, sizeof(shown), strings[i],
                               strlen(strings[i])));
            return GG_ERR_UNSUPPORTED;
        }
    }
    return GG_OK;
}

/* They cost a look at all tokens: those found last stay. */
static enum gg_status
breakers_of(const struct sampling_options *o, const struct gg_vocab *vocab,
            const struct ids **out, struct gg_error *err)
{
    static struct ids found;
    static struct sampling_options of;
    static const struct gg_vocab *in;
    enum gg_status st = GG_OK;

    *out = &found;
    if (in == vocab && !of.breakers_are_own && !o->breakers_are_own &&
        of.no_breakers == o->no_breakers && of.breakers == o->breakers &&
        of.n_breakers == o->n_breakers)
        return GG_OK;
    in = NULL;
    found.n = 0;
    st = find_breakers(o, vocab, &found, err);
    if (st == GG_OK) {
        of = *o;
        in = vocab;
    }
    return st;
}

enum gg_status
sampling_check_ids(const struct sampling_options *o, int64_t n_vocab,
                   struct gg_error *err)
{
    for (size_t i = 0; i < o->n_bias; i++)
        if (o->bias[i].id >= n_vocab) {
            snprintf(err->message, sizeof(err->message),
                     "--logit-bias: id %" PRId32 " is not in 0..%" PRId64,
                     o->bias[i].id, n_vocab - 1);
            return GG_ERR_ARG;
        }
    return GG_OK;
}

/* The parameters, with the meaning that a 0 has on the command line. */
static struct gg_sampler_params
params_of(const struct sampling_options *o)
{
    struct gg_sampler_params p = o->params;
    float *least[] = { &p.xtc_threshold, &p.mirostat_tau, &p.mirostat_eta };

    p.greedy = p.temperature == 0;
    p.values = o->values;
    p.n_values = o->n_values;
    for (size_t i = 0; i < sizeof(least) / sizeof(least[0]); i++)
        *least[i] = *least[i] > 0 ? *least[i] : FLT_MIN;
    if (p.penalty_last_n == 0)
        p.repeat_penalty = p.frequency_penalty = p.presence_penalty = 0;
    if (p.dry_last_n == 0)
        p.dry_multiplier = 0;
    return p;
}

enum gg_status
sampling_sampler(const struct sampling_options *o, const struct gg_vocab *vocab,
                 struct gg_sampler **out, struct gg_error *err)
{
    struct gg_sampler_params p = params_of(o);
    enum gg_status st = GG_OK;
    const struct ids *breakers;

    p.bias = o->bias;
    p.n_bias = o->n_bias;
    if (vocab)
        st = sampling_check_ids(o, gg_vocab_size(vocab), err);
    if (st == GG_OK && needs_breakers(o)) {
        st = breakers_of(o, vocab, &breakers, err);
        p.dry_breakers = breakers->p;
        p.n_dry_breakers = breakers->n;
    }
    if (st == GG_OK)
        st = gg_sampler_new(&p, out, err);
    return st;
}

enum gg_status
sampling_grammar(const struct gg_vocab *vocab, bool schema, const char *text,
                 size_t len, struct gg_grammar **out, struct gg_error *err)
{
    return schema ? gg_grammar_from_schema(vocab, text, len, out, err)
                  : gg_grammar_new(vocab, text, len, out, err);
}

bool
sampling_is_text(const char *value)
{
    return value[strspn(value, " \t\r\n")] == '{' || strstr(value, "::=");
}

/* The grammar, or the one that the schema stands for. */
static void
read_grammar(struct sampling_options *o, const struct gg_vocab *vocab)
{
    const char *path = o->grammar ? o->grammar : o->json_schema;
    bool is_text = sampling_is_text(path);
    const char *name = !is_text     ? cli_input_name(path)
                       : o->grammar ? "--grammar"
                                    : "--json-schema";
    struct gg_error err;
    size_t len = strlen(path), mark;
    char *text =
        is_text ? cli_copy(path, len)
                : cli_read_all(cli_open_input(path), name, MAX_GRAMMAR, &len);

    mark = cli_mark(text, len);
    if (sampling_grammar(vocab, !o->grammar, text + mark, len - mark,
                         &o->params.grammar, &err) != GG_OK)
        cli_die("%s: %s", name, err.message);
    free(text);
}

void
sampling_clear(struct sampling_options *o)
{
    gg_grammar_free(o->params.grammar);
    o->params.grammar = NULL;
    gg_stop_free(o->ban);
    o->ban = NULL;
}

bool
sampling_learns(const struct sampling_options *o)
{
    bool learns = o->params.mirostat > 0;

    for (size_t i = 0; i < o->n_values; i++)
        learns |= strcmp(o->values[i].name, "adaptive-target") == 0 &&
                  o->values[i].value >= 0;
    return learns;
}

struct gg_sampler *
sampling_start(struct sampling_options *o, const struct gg_vocab *vocab,
               bool verbose)
{
    struct gg_sampler *sampler;
    struct gg_error err;
    enum gg_status st;

    if (!o->has_seed)
        o->params.seed = any_seed();
    if (o->grammar && o->json_schema)
        cli_misuse("--grammar and --json-schema do not go together");
    if (o->grammar || o->json_schema)
        read_grammar(o, vocab);
    st = sampling_sampler(o, vocab, &sampler, &err);
    if (st == GG_ERR_ARG)
        cli_misuse("%s", err.message);
    cli_check(st, &err);
    if (verbose)
        cli_warn("seed %" PRIu64, o->params.seed);
    return sampler;
}
