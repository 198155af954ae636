/* loop.c - evaluates and draws until an end */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/shift.h"
#include "gg-generate/generate.h"

/* Ends the tool, where it is less than what was asked for. */
static void
say_full(struct generate *g, size_t more)
{
    char text[256];

    engine_say_full(&g->engine, g->n_ids, more, text, sizeof(text));
    if (g->n_made == 0 || g->o->sampling.count)
        cli_die("%s", text);
    if (!g->o->engine.quiet)
        cli_warn("stopped: %s", text);
}

/* Drops what must go for the `more` ids that stand behind those of the
 * context. False: nothing helps. */
static bool
make_room(struct generate *g, size_t more)
{
    size_t n_ctx = (size_t)gg_session_n_ctx(g->engine.session), kept, count;

    if (more <= n_ctx - g->n_ids)
        return true;
    kept = shift_kept(g->n_ids, g->ids[0], gg_vocab_bos(g->engine.vocab));
    count = shift_count(g->n_ids, kept, more, n_ctx);
    if (!g->engine.shift || count == 0)
        return false;
    shift_ids(g->ids, g->n_ids + more, kept, count);
    g->n_ids -= count;
    g->n_dropped += count;
    gg_session_truncate(g->engine.session, 0, 0);
    if (g->o->engine.verbose)
        cli_warn("the context is full: %zu ids dropped", count);
    return true;
}

/* The ids go behind those of the context. What the session has lost of them
 * is evaluated again. False: there is no room, or a signal came. */
static bool
evaluate(struct generate *g, const int32_t *ids, size_t n)
{
    struct gg_chunk chunk = { .logits = g->logits,
                              .best = g->best.k ? &g->best : NULL };
    struct gg_error err;
    enum gg_status st;

    if (g->ids_cap - g->n_ids < n) {
        g->ids_cap = 2 * (g->n_ids + n);
        g->ids = cli_alloc(g->ids, g->ids_cap, sizeof(*g->ids));
    }
    memcpy(g->ids + g->n_ids, ids, n * sizeof(*ids));
    if (!make_room(g, n)) {
        say_full(g, n);
        return false;
    }
    chunk.ids = g->ids + gg_session_length(g->engine.session, 0);
    chunk.n = (size_t)(g->ids + g->n_ids + n - chunk.ids);
    st = gg_session_eval(g->engine.session, &chunk, 1, &err);
    if (st == GG_ERR_ABORTED && cli_signal())
        return false;
    cli_check(st, &err);
    g->n_ids += n;
    return true;
}

/* The likeliest are enough where the sampler takes no more, and as many again
 * as may be excluded. */
void
generate_need_best(struct generate *g)
{
    const struct gg_sampler_params *p = &g->o->sampling.params;
    size_t k = p->temperature == 0 ? 1 : (size_t)p->top_k, n_eog = 0;

    gg_vocab_eog_ids(g->engine.vocab, &n_eog);
    if (k > 0 && g->o->sampling.ignore_eog)
        k += n_eog;
    if (k == 0 || k >= (size_t)gg_model_n_vocab(g->engine.model))
        return;
    g->best.ids = cli_alloc(NULL, k, sizeof(*g->best.ids));
    g->best.logits = cli_alloc(NULL, k, sizeof(*g->best.logits));
    g->best.k = k;
}

static int32_t
draw(struct generate *g)
{
    bool found = g->best.n > 0;
    size_t n = found ? g->best.n : (size_t)gg_model_n_vocab(g->engine.model);
    float *logits = found ? g->best.logits : g->logits;
    const int32_t *ids = found ? g->best.ids : NULL;
    uint64_t position = g->n_dropped + g->n_ids;
    struct gg_error err;
    int32_t id;

    if (found && !isfinite(g->best.log_sum_exp))
        cli_die("a logit is NaN or infinite");
    if (g->o->sampling.ignore_eog) {
        size_t n_eog;
        const int32_t *eog = gg_vocab_eog_ids(g->engine.vocab, &n_eog);

        sampling_exclude(logits, ids, n, eog, n_eog);
    }
    cli_check(
        gg_sampler_draw(g->sampler, ids, logits, n, 0, position, &id, &err),
        &err);
    return id;
}

/* Draws until an end. What is drawn last is not evaluated. */
static void
answer(struct generate *g)
{
    while (!cli_signal()) {
        int32_t id = draw(g);
        bool more = generate_write(g, id);

        g->n_made++;
        if (!more || gg_vocab_is_eog(g->engine.vocab, id))
            break;
        g->tail = id;
        if (g->n_made == g->o->sampling.count || !evaluate(g, &id, 1))
            break;
        g->tail = -1;
    }
    generate_end(g);
}

bool
generate_loop(struct generate *g, const int32_t *prompt, size_t n)
{
    int64_t start = ggml_time_us();
    bool heard;

    g->n_made = 0;
    heard = evaluate(g, prompt, n);
    g->sum_prompt += n;
    g->t_prompt += ggml_time_us() - start;
    if (!heard)
        return false;
    g->tail = -1;
    start = ggml_time_us();
    answer(g);
    g->sum_made += g->n_made;
    g->t_made += ggml_time_us() - start;
    return true;
}

static double
rate(uint64_t n, int64_t us)
{
    return us > 0 ? (double)n * 1e6 / (double)us : 0;
}

void
generate_describe(const struct generate *g)
{
    cli_warn("prompt: %" PRIu64 " ids in %.3f s, %.1f/s", g->sum_prompt,
             (double)g->t_prompt / 1e6, rate(g->sum_prompt, g->t_prompt));
    cli_warn("made: %" PRIu64 " ids in %.3f s, %.1f/s", g->sum_made,
             (double)g->t_made / 1e6, rate(g->sum_made, g->t_made));
}
