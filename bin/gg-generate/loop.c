/* loop.c - evaluates and draws until an end */
#include <config.h>

#include <inttypes.h>

#include "common/terminal.h"
#include "gg-generate/generate.h"

/* Ends the tool, where it is less than what was asked for. */
static void
say_full(const struct generate *g, size_t more)
{
    const struct answer *a = &g->answer;
    char text[256];

    engine_say_full(&g->engine, a->n_ids, more, text, sizeof(text));
    if (a->n_made == 0 || g->o->sampling.count)
        cli_die("%s", text);
    if (!g->o->engine.quiet)
        cli_warn("stopped: %s", text);
}

/* Evaluates the n ids that were put last. False: a signal came. */
static bool
evaluate(struct generate *g, size_t n)
{
    struct gg_chunk chunk =
        g->draft ? draft_chunk(g->draft, &g->answer) : answer_chunk(&g->answer);
    int64_t start = ggml_time_us();
    struct gg_error err;
    enum gg_status st = gg_session_eval(g->engine.session, &chunk, 1, &err);

    if (g->draft)
        draft_took(g->draft, ggml_time_us() - start);
    if (st == GG_ERR_ABORTED && cli_signal()) {
        answer_take_back(&g->answer, n);
        return false;
    }
    cli_check(st, &err);
    return true;
}

static void
write_text(struct buffer *text, bool more)
{
    terminal_write(text->p, text->len, more);
    text->len = 0;
    cli_flush();
}

/* Draws until an end. What is drawn last is not evaluated. */
static void
answer(struct generate *g)
{
    struct answer *a = &g->answer;
    char text[128];
    struct gg_error err;

    while (!cli_signal()) {
        cli_check(answer_draw(a, &err), &err);
        write_text(&a->text, true);
        if (!answer_goes_on(a))
            break;
        if (g->draft && draft_follows(g->draft, a))
            continue;
        if (!evaluate(g, 1)) {
            a->tail = a->ids[a->n_ids];
            break;
        }
    }
    if (g->draft)
        draft_end(g->draft, a);
    answer_end(a);
    write_text(&a->text, false);
    if (a->ending == ENDING_CONTEXT)
        say_full(g, 1);
    if (answer_is_cut(a, text, sizeof(text))) {
        cli_warn("%s", text);
        g->cut = true;
    }
}

bool
generate_loop(struct generate *g, const int32_t *prompt, size_t n)
{
    struct answer *a = &g->answer;
    int32_t tail = a->tail; /* begins the prompt */
    int64_t start = ggml_time_us();
    bool heard;

    answer_start(a, &g->o->sampling, a->sampler, &g->o->stop);
    a->decode.started = g->resumed;
    g->resumed = false;
    if (!answer_put(a, prompt, n))
        say_full(g, n);
    heard = evaluate(g, n);
    g->sum_prompt += n;
    g->t_prompt += ggml_time_us() - start;
    if (!heard) {
        a->tail = tail;
        return false;
    }
    g->heard = true;
    if (g->o->sampling.none)
        return true;
    start = ggml_time_us();
    answer(g);
    g->sum_made += a->n_made;
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
    if (g->draft)
        draft_describe(g->draft);
}
