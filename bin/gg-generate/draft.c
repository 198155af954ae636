/* draft.c - ids that may come next, evaluated together with the one that does
 */
#include <config.h>

#include "gg-generate/draft.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gg-generate/guess.h"

enum {
    ON_GPU = 7,   /* guesses whose logits have the same bits there */
    LONGEST = 16, /* ids at the end that are looked for before */
};

struct draft {
    const struct engine *engine;
    size_t most; /* guesses at once */
    struct guess guess;

    bool has_model;
    struct engine own;
    struct sampling_options sampling; /* the model's */
    struct stop_strings none;
    struct answer other; /* what it makes of the answer's ids */

    int32_t ids[GUESS_MOST]; /* guesses that were evaluated */
    size_t n, row;           /* how many; those that were right so far */
    int kind;
    bool counts; /* the evaluation is of one id and the guesses */

    float *logits; /* after the drawn id and each guess */
    struct gg_best best[GUESS_MOST + 1];
    size_t best_cap;
    float *its_logits; /* the answer's own */
    struct gg_best its_best;

    uint64_t n_guessed, n_right, n_runs; /* for -v */
};

/* ---- birth and death ----------------------------------------------------- */

static void
open_model(struct draft *d, const char *path, const struct engine_options *o)
{
    const struct engine_options defaults = engine_options_default();
    struct engine_options own = *o;

    own.model = path;
    own.n_ctx = 0;
    own.max_ctx = gg_session_n_ctx(d->engine->session);
    own.shift = own.profile = own.verbose = false;
    own.rope_scaling = defaults.rope_scaling;
    own.rope_factor = defaults.rope_factor;
    own.rope_base = defaults.rope_base;
    own.rope_n_ctx = defaults.rope_n_ctx;
    own.gpu_layers = defaults.gpu_layers;
    engine_open(&d->own, &own, 1, true);
    if (gg_vocab_fingerprint(d->own.vocab) !=
        gg_vocab_fingerprint(d->engine->vocab))
        cli_die("--draft: %s: its vocabulary is not that of %s", d->own.path,
                d->engine->path);
    answer_init(&d->other, &d->own, 0);
    d->has_model = true;
}

struct draft *
draft_new(const char *what, const struct engine *engine,
          const struct engine_options *o,
          const struct sampling_options *sampling)
{
    struct draft *d = cli_alloc(NULL, 1, sizeof(*d));
    size_t n_vocab = (size_t)gg_model_n_vocab(engine->model);

    *d = (struct draft){ .engine = engine, .sampling = *sampling };
    d->most = strcmp(gg_model_device(engine->model), "CPU") == 0 ? GUESS_MOST
                                                                 : ON_GPU;
    d->logits = cli_alloc(NULL, (d->most + 1) * n_vocab, sizeof(*d->logits));
    d->sampling.count = 0;
    d->sampling.logprobs = -1;
    guess_init(&d->guess);
    if (strcmp(what, "prompt") != 0)
        open_model(d, what, o);
    return d;
}

void
draft_free(struct draft *d)
{
    if (!d)
        return;
    if (d->has_model) {
        answer_clear(&d->other);
        engine_close(&d->own);
    }
    for (size_t i = 0; i <= GUESS_MOST; i++) {
        free(d->best[i].ids);
        free(d->best[i].logits);
    }
    free(d->logits);
    free(d);
}

/* ---- guesses by what was there ------------------------------------------- */

/* How many ids in front of ids[i] are those in front of ids[n]. */
static size_t
alike(const int32_t *ids, size_t i, size_t n)
{
    size_t k = 0;

    while (k < i && k < LONGEST && ids[i - 1 - k] == ids[n - 1 - k])
        k++;
    return k;
}

/* Where the longest end of ids[0..n) stood before, the last time: the place
 * behind it; *len gets its length. */
static size_t
find_before(const int32_t *ids, size_t n, size_t *len)
{
    size_t found = 0;

    *len = 0;
    for (size_t i = n - 1; i > *len && *len < LONGEST; i--) {
        size_t k = ids[i - 1] == ids[n - 1] ? alike(ids, i, n) : 0;

        if (k > *len) {
            *len = k;
            found = i;
        }
    }
    return found;
}

/* What followed then, again and again where it goes up to the end. */
static void
guess_by_text(struct draft *d, const struct answer *a, size_t most)
{
    size_t len, at = find_before(a->ids, a->n_ids, &len);

    if (len < 2)
        return;
    d->kind = len < 4 ? 0 : len < 8 ? 1 : 2;
    d->n = guess_count(&d->guess, d->kind, most);
    for (size_t i = 0; i < d->n; i++, at++)
        d->ids[i] = at < a->n_ids ? a->ids[at] : d->ids[at - a->n_ids];
    if (d->n == 0)
        guess_skipped(&d->guess, d->kind);
}

/* ---- guesses by a model -------------------------------------------------- */

/* Draws at the same place with the same seed are likely to be the same. Where
 * they depend on more, the likeliest id must do. */
static void
start_other(struct draft *d, const struct answer *a)
{
    if (gg_sampler_remembers(a->sampler)) {
        struct gg_sampler_params p = gg_sampler_params_default();

        p.temperature = 0;
        d->sampling.params = p;
    }
    d->sampling.has_seed = true;
    answer_start(&d->other, &d->sampling,
                 d->other.sampler
                     ? d->other.sampler
                     : sampling_start(&d->sampling, d->own.vocab, false),
                 &d->none);
    d->other.sequence = a->sequence;
    d->other.n_dropped = a->n_dropped;
}

/* The model's slot gets the answer's ids. False: there is no room. */
static bool
follow(struct draft *d, const struct answer *a)
{
    struct answer *o = &d->other;
    struct gg_session *session = d->own.session;
    size_t held = (size_t)gg_session_length(session, 0), same = 0;

    while (same < held && same < a->n_ids - 1 && o->ids[same] == a->ids[same])
        same++;
    o->n_ids = (size_t)gg_session_truncate(session, 0, (int32_t)same);
    return answer_put(o, a->ids + o->n_ids, a->n_ids - o->n_ids);
}

static void
guess_by_model(struct draft *d, const struct answer *a, size_t most)
{
    int64_t start = ggml_time_us();
    struct answer *o = &d->other;
    struct gg_error err;
    size_t n;

    d->kind = GUESS_KINDS - 1;
    n = guess_count(&d->guess, d->kind, most);
    if (n == 0)
        guess_skipped(&d->guess, d->kind);
    start_other(d, a);
    if (n == 0 || !follow(d, a))
        return;
    while (d->n < n && answer_goes_on(o) && !cli_signal()) {
        struct gg_chunk chunk = answer_chunk(o);
        enum gg_status st = gg_session_eval(d->own.session, &chunk, 1, &err);

        if (st == GG_ERR_ABORTED && cli_signal())
            break;
        cli_check(st, &err);
        cli_check(answer_draw(o, &err), &err);
        if (answer_goes_on(o))
            d->ids[d->n++] = o->ids[o->n_ids - 1];
    }
    o->text.len = 0;
    guess_made(&d->guess, d->n, (double)(ggml_time_us() - start));
}

/* ---- evaluation ---------------------------------------------------------- */

static void
need_best(struct draft *d, size_t k)
{
    for (size_t i = 0; i <= d->most; i++) {
        struct gg_best *b = &d->best[i];

        if (k > d->best_cap) {
            b->ids = cli_alloc(b->ids, k, sizeof(*b->ids));
            b->logits = cli_alloc(b->logits, k, sizeof(*b->logits));
        }
        b->k = k;
    }
    d->best_cap = k > d->best_cap ? k : d->best_cap;
}

/* The answer draws from the logits after the last right guess. */
static void
show_row(struct draft *d, struct answer *a)
{
    size_t n_vocab = (size_t)gg_model_n_vocab(d->engine->model);

    a->logits = d->logits + d->row * n_vocab;
    a->best = d->best[d->row];
}

/* Guesses that there is room and need for. */
static size_t
useful(const struct draft *d, const struct answer *a)
{
    size_t room = (size_t)gg_session_n_ctx(d->engine->session) - a->n_ids;
    uint64_t count = a->sampling->count;
    size_t n = d->most < room ? d->most : room;

    if (count && count - a->n_made - 1 < n)
        n = (size_t)(count - a->n_made - 1);
    return n;
}

/* Behind the answer's ids, where its own will go. */
static void
put_guesses(struct draft *d, struct answer *a)
{
    if (a->ids_cap - a->n_ids < d->n) {
        a->ids_cap = 2 * (a->n_ids + d->n);
        a->ids = cli_alloc(a->ids, a->ids_cap, sizeof(*a->ids));
    }
    memcpy(a->ids + a->n_ids, d->ids, d->n * sizeof(*d->ids));
}

static void
give_back(struct draft *d, struct answer *a)
{
    if (!d->its_logits)
        return;
    a->logits = d->its_logits;
    a->best = d->its_best;
    d->its_logits = NULL;
}

struct gg_chunk
draft_chunk(struct draft *d, struct answer *a)
{
    struct gg_chunk chunk;

    give_back(d, a);
    chunk = answer_chunk(a);
    d->n = d->row = 0;
    d->counts = chunk.n == 1 && a->n_made > 0;
    if (!d->counts)
        return chunk;
    if (d->has_model)
        guess_by_model(d, a, useful(d, a));
    else
        guess_by_text(d, a, useful(d, a));
    put_guesses(d, a);
    need_best(d, a->best.k);
    chunk = answer_chunk(a);
    chunk.n += d->n;
    chunk.n_last = d->n + 1;
    chunk.logits = d->logits;
    chunk.best = a->best.k ? d->best : NULL;
    d->its_logits = a->logits;
    d->its_best = a->best;
    show_row(d, a);
    return chunk;
}

void
draft_took(struct draft *d, int64_t us)
{
    if (!d->counts)
        return;
    guess_took(&d->guess, d->n, (double)us);
    d->n_runs++;
}

/* What the guesses were worth. */
static void
settle(struct draft *d, size_t wrong)
{
    guess_learn(&d->guess, d->kind, d->row + wrong, d->row);
    d->n_guessed += d->n;
    d->n_right += d->row;
    d->n = d->row = 0;
}

/* The slot keeps the first n ids. */
static void
cut(const struct draft *d, const struct answer *a, size_t n)
{
    struct gg_session *session = d->engine->session;

    if ((size_t)gg_session_length(session, a->slot) > n)
        gg_session_truncate(session, a->slot, (int32_t)n);
}

bool
draft_follows(struct draft *d, struct answer *a)
{
    bool guessed = d->row < d->n;

    if (guessed && a->ids[a->n_ids - 1] == d->ids[d->row]) {
        d->row++;
        show_row(d, a);
        return true;
    }
    settle(d, guessed);
    cut(d, a, a->n_ids - 1);
    return false;
}

void
draft_end(struct draft *d, struct answer *a)
{
    settle(d, 0);
    cut(d, a, a->n_ids);
    give_back(d, a);
}

void
draft_describe(const struct draft *d)
{
    cli_warn("draft: %" PRIu64 " ids guessed, %" PRIu64 " of them right; %.2f "
             "ids an evaluation",
             d->n_guessed, d->n_right,
             d->n_runs ? 1 + (double)d->n_right / (double)d->n_runs : 0);
}
