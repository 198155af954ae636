/* main.c - gg-generate: a prompt -> its continuation, in one process */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/terminal.h"
#include "gg-generate/options.h"
#include "gg-generate/records.h"

enum {
    DEFAULT_BATCH = 8,
};

const char cli_name[] = "gg-generate";

static void
start_chat(struct generate *g)
{
    struct options *o = g->o;

    if (!o->template)
        o->template = chat_detect(g->engine.vocab, g->engine.path);
    if (o->engine.verbose)
        cli_warn("chat template %s", gg_chat_name(o->template));
    if (o->interactive)
        chat_check(g->engine.vocab, o->template);
}

static void
run_text(struct generate *g, struct gg_sampler *sampler)
{
    const struct options *o = g->o;
    bool prompt = !o->interactive || o->prompt || o->input;
    int32_t *ids = NULL;
    size_t n = 0;

    g->answer.sampler = sampler;
    g->answer.sampling = &g->o->sampling;
    if (o->system && !g->loaded) /* which had one, or none */
        chat_add(&g->chat, GG_ROLE_SYSTEM, o->system, strlen(o->system));
    if (prompt)
        ids = generate_prompt(g, &n);
    if (o->interactive)
        generate_interactive(g, ids, n);
    else
        (void)generate_loop(g, ids, n);
    if (o->engine.verbose)
        generate_describe(g);
    generate_save(g);
    free(ids);
    answer_clear(&g->answer);
}

/* One text is made. */
static bool
is_one(const struct options *o)
{
    return o->form == FORM_TEXT && o->choices.n == 0;
}

/* Returns the exit status. */
static int
run(struct generate *g, int resumed)
{
    struct gg_sampler *sampler =
        sampling_start(&g->o->sampling, g->engine.vocab, g->o->engine.verbose);
    int status = EXIT_SUCCESS;
    struct gg_error err;

    if (is_one(g->o)) {
        cli_check(gg_sequence_new(g->gg, &g->answer.sequence, &err), &err);
        generate_load(g);
    } else {
        generate_load_base(g);
    }
    if (g->o->chat)
        start_chat(g);
    if (is_one(g->o)) {
        run_text(g, sampler);
        status = cli_status(g->cut, true);
    } else {
        gg_sampler_free(sampler); /* each record has its own */
        if (g->o->form == FORM_TEXT)
            generate_choice(g);
        else
            status = cli_status(!generate_records(g, resumed), true);
    }
    gg_stop_free(g->o->stop);
    choices_clear(&g->o->choices);
    gg_sequence_free(g->base.sequence);
    grammars_clear(&g->grammars);
    while (g->n_unknown)
        free(g->unknown[--g->n_unknown]);
    chat_clear(&g->chat);
    return status;
}

/* Sequences that are evaluated together, and what they go on from. */
static int32_t
count_slots(const struct options *o)
{
    size_t n = o->choices.n;
    bool base = o->state.load && !is_one(o);

    if (o->form != FORM_TEXT)
        return (o->n_batch ? o->n_batch : DEFAULT_BATCH) + base;
    return (n > CHOICES_AT_ONCE ? CHOICES_AT_ONCE : n ? (int32_t)n : 1) + base;
}

static void
open_engines(struct generate *g)
{
    struct gg_engine_params params = { .shift = g->o->engine.shift };
    int32_t n_slots = count_slots(g->o);
    struct gg_error err;

    engine_open(&g->engine, &g->o->engine, n_slots, true);
    cli_check(gg_engine_new(g->engine.model, g->engine.session, &params, &g->gg,
                            &err),
              &err);
    draft_open(g, n_slots);
}

static void
close_engines(struct generate *g)
{
    gg_engine_free(g->gg);
    draft_close(g);
    engine_close(&g->engine);
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };
    struct generate g = { .o = &o, .answer.tail = -1 };
    int resumed = -1, status;

    cli_start();
    generate_parse(argc, argv, &o);
    state_lock(&g.state, &o.state);
    if (o.resume)
        resumed = resume_open(o.resume);
    else
        cli_output(o.output);
    terminal_open(o.raw);
    cli_catch_signals();
    open_engines(&g);
    status = run(&g, resumed);
    terminal_newline();
    sampling_clear(&o.sampling);
    close_engines(&g);
    if (cli_signal())
        cli_raise(cli_signal());
    return cli_finish(status);
}
