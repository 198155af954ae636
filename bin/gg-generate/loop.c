/* loop.c - evaluates and draws until an end */
#include <config.h>

#include <ggml.h>
#include <inttypes.h>

#include "common/terminal.h"
#include "gg-generate/media.h"

/* Ends the tool, where there are fewer tokens than -n says, or only says so;
 * `p`: the prompt that has no room, or NULL. */
static void
say_full(const struct generate *g, const struct prompt *p, size_t more)
{
    const struct answer *a = &g->answer;
    char text[256];

    engine_say_full(&g->engine, engine_count_ids(a->sequence), more, text,
                    sizeof(text));
    if (p)
        generate_media_say_rows(g, p, text, sizeof(text));
    if (!g->gentle && (a->n_made == 0 || g->o->sampling.count))
        cli_die("%s", text);
    if (a->n_made == 0)
        cli_warn("%s", text);
    else if (!g->o->engine.quiet)
        cli_warn("stopped: %s", text);
}

/* Writes the text that was not written yet. */
static void
write_text(const struct generate *g, struct answer *a, bool more)
{
    generate_write_thought(g, a, more);
    terminal_write(a->shown.p, a->shown.len, more);
    a->shown.len = 0;
    cli_flush();
}

static void
say_dropped(const struct generate *g, uint64_t before)
{
    uint64_t n = gg_sequence_dropped(g->answer.sequence) - before;

    if (g->engine.verbose && n)
        cli_warn("the context is full: %" PRIu64 " ids dropped", n);
}

/* Evaluates, and draws an id. False: a signal came. */
static bool
step_text(struct generate *g)
{
    struct answer *a = &g->answer;
    uint64_t dropped = gg_sequence_dropped(a->sequence);
    struct gg_error err;
    enum gg_status st = gg_engine_step(g->engine.gg, &a->made, 1, &err);

    if (!cli_finished(st, &err))
        return false;
    if (gg_text_error(a->made))
        cli_die("%s", gg_text_error(a->made));
    answer_take(a);
    say_dropped(g, dropped);
    return true;
}

/* Goes on until an end. What is drawn last is not evaluated. */
static void
finish_text(struct generate *g)
{
    struct answer *a = &g->answer;
    bool going = gg_text_finish(a->made) == GG_FINISH_NONE;
    struct gg_error err;
    char text[128];

    write_text(g, a, true);
    while (going && !cli_signal() && step_text(g)) {
        write_text(g, a, true);
        going = gg_text_finish(a->made) == GG_FINISH_NONE;
    }
    answer_cut(a);
    cli_check(tools_read(g, a, &err), &err);
    write_text(g, a, false);
    tools_write(g, a);
    if (gg_text_finish(a->made) == GG_FINISH_CONTEXT)
        say_full(g, NULL, 1);
    if (answer_is_cut(a, text, sizeof(text))) {
        cli_warn("%s", text);
        g->cut = true;
    }
}

/* -n 0: the prompt, and nothing else. False: a signal came. */
static bool
evaluate_only(struct generate *g, const struct prompt *p)
{
    struct gg_query query = { .sequence = g->answer.sequence };
    size_t before = engine_count_ids(query.sequence);
    struct gg_error err;
    enum gg_status st = gg_sequence_put(query.sequence, p->ids, p->n, &err);

    if (st == GG_ERR_CONTEXT)
        say_full(g, p, p->n);
    if (st == GG_OK)
        st = gg_engine_eval(g->engine.gg, &query, 1, &err);
    if (!cli_finished(st, &err)) {
        gg_sequence_truncate(query.sequence, before);
        return false;
    }
    g->answer.tail = -1;
    return true;
}

/* The prompt is put, evaluated, and an id drawn after it. False: a signal
 * came, or there is no room. */
static bool
begin_text(struct generate *g, const struct prompt *p)
{
    struct answer *a = &g->answer;
    uint64_t dropped = gg_sequence_dropped(a->sequence);
    struct gg_error err;
    enum gg_status st = answer_start(g, a, p, 0, &err);

    if (st == GG_ERR_CONTEXT)
        say_full(g, p, p->n);
    if (st == GG_ERR_CONTEXT && g->gentle)
        return false;
    cli_check(st, &err);
    say_dropped(g, dropped);
    return step_text(g);
}

bool
generate_loop(struct generate *g, const struct prompt *prompt)
{
    int32_t tail = g->answer.tail; /* begins the prompt */
    int64_t start = ggml_time_us();
    bool none = g->o->sampling.none;

    g->sums.n_prompt += prompt->n;
    if (none ? !evaluate_only(g, prompt) : !begin_text(g, prompt)) {
        if (!none)
            answer_cut(&g->answer);
        g->answer.tail = tail;
        return false;
    }
    g->sums.t_prompt += ggml_time_us() - start;
    g->heard = true;
    if (none)
        return true;
    start = ggml_time_us();
    finish_text(g);
    g->sums.n_made += g->answer.n_made;
    g->sums.t_made += ggml_time_us() - start;
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
    cli_warn("prefill: %" PRIu64 " ids in %.3f s, %.1f ids/s",
             (uint64_t)g->sums.n_prompt, (double)g->sums.t_prompt / 1e6,
             rate(g->sums.n_prompt, g->sums.t_prompt));
    cli_warn("decoding: %" PRIu64 " ids in %.3f s, %.1f ids/s",
             (uint64_t)g->sums.n_made, (double)g->sums.t_made / 1e6,
             rate(g->sums.n_made, g->sums.t_made));
    draft_model_describe(g);
}
