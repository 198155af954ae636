/* main.c - gg-generate: a prompt -> its continuation, in one process */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/terminal.h"
#include "gg-generate/media.h"
#include "gg-generate/options.h"
#include "gg-generate/records.h"

const char cli_name[] = "gg-generate";

static void
open_template(struct generate *g)
{
    struct options *o = g->o;

    if (!o->template)
        o->template = chat_template_open(g->engine.vocab, g->engine.path);
}

static void
start_chat(struct generate *g)
{
    struct options *o = g->o;

    open_template(g);
    if (o->engine.verbose)
        cli_warn("chat template %s", gg_chat_name(o->template));
    generate_check_date(g);
    if (o->interactive)
        chat_check(g->engine.vocab, o->template);
}

/* ---- modes: each returns the exit status ---- */

static int32_t
slots_of_text(const struct options *o)
{
    (void)o;
    return 1;
}

/* Sequences that are evaluated together, and what they go on from. */
static int32_t
slots_of_choice(const struct options *o)
{
    size_t n = o->choices.n;

    return (n > CHOICES_AT_ONCE ? CHOICES_AT_ONCE : (int32_t)n) +
           (o->state.load || o->interactive);
}

static int
run_text(struct generate *g)
{
    const struct options *o = g->o;
    struct prompt prompt = { 0 };

    g->source.whole = true;
    if (!o->interactive || o->prompt || o->input)
        generate_prompt(g, &prompt);
    if (o->interactive)
        generate_interactive(g, &prompt);
    else
        (void)generate_answer(g, &prompt);
    generate_tell_unread(g);
    if (o->engine.verbose && !o->choices.n)
        generate_describe(g);
    generate_save(g);
    prompt_clear(&prompt);
    prompt_source_close(&g->source);
    answer_clear(&g->answer);
    return cli_status(g->cut, true);
}

static int32_t
slots_of_records(const struct options *o)
{
    int32_t n = o->n_batch;

    return (o->n_slots > n ? o->n_slots : n) + (o->state.load != NULL);
}

static int
run_records(struct generate *g)
{
    return cli_status(!generate_records(g), true);
}

enum {
    ONE_TEXT,
    ONE_CHOICE,
    ALL_RECORDS,
};

static const struct mode {
    int32_t (*slots)(const struct options *o);
    void (*begin)(struct generate *g); /* with what it goes on from */
    bool draws; /* by the one sampler: records have their own */
    int (*run)(struct generate *g);
} modes[] = {
    [ONE_TEXT] = { slots_of_text, generate_take_base, true, run_text },
    [ONE_CHOICE] = { slots_of_choice, generate_hold_base, false, run_text },
    [ALL_RECORDS] = { slots_of_records, generate_hold_base, false,
                      run_records },
};

static const struct mode *
mode_of(const struct options *o)
{
    return &modes[o->form != FORM_TEXT ? ALL_RECORDS
                  : o->choices.n       ? ONE_CHOICE
                                       : ONE_TEXT];
}

/* ---- all of it ---- */

static void
tell_plainer(const struct generate *g)
{
    const struct options *o = g->o;
    bool read = o->input || !o->prompt;

    chat_tell_plainer(read ? cli_input_name(o->input) : "-p", g->plainer);
}

/* Sampling goes on as the state, or the job that is resumed, began; else the
 * model's file counts. */
static void
take_file(struct generate *g)
{
    bool quiet = g->o->engine.quiet;

    g->sampling = state_sampling(&g->state, g->engine.vocab);
    if (g->resumed >= 0)
        resume_sampling(g);
    file_sampling_take(&g->o->sampling, g->sampling,
                       quiet ? NULL : g->engine.path);
    if (g->o->engine.verbose)
        file_sampling_tell(&g->o->sampling);
}

/* Each medium stood somewhere. */
static void
check_media_used(const struct generate *g)
{
    const struct media *m = g->engine.media;

    if (m && g->medium < m->n && !cli_signal())
        cli_die("%s: the prompts have places for %zu of its %zu media", m->name,
                g->medium, m->n);
}

/* Returns the exit status. */
static int
run(struct generate *g, const struct mode *mode)
{
    struct gg_sampler *sampler;
    int status;

    tools_open(g);
    if (g->o->tool_choice && g->o->chat)
        open_template(g);
    if (g->o->tool_choice && g->o->tools)
        tools_constrain(g);
    generate_load(g);
    take_file(g);
    generate_check_shard(g->o, true);
    resume_check_sampling(g);
    sampler =
        sampling_start(&g->o->sampling, g->engine.vocab, g->o->engine.verbose);
    mode->begin(g);
    if (g->o->chat)
        start_chat(g);
    if (mode->draws) {
        g->answer.sampler = sampler;
        g->answer.sampling = &g->o->sampling;
        g->answer.stop = g->o->stop;
        g->answer.thoughts = &g->o->reasoning;
    } else {
        gg_sampler_free(sampler);
    }
    status = mode->run(g);
    check_media_used(g);
    if (g->o->engine.verbose && g->intake)
        media_intake_describe(g->intake);
    if (g->o->engine.verbose)
        tell_plainer(g);
    gg_chat_reader_free(g->reader);
    tools_close(g);
    free(g->o->reasoning.arguments);
    chat_template_clear(g->o->template);
    gg_stop_free(g->o->stop);
    choices_clear(&g->o->choices);
    gg_sequence_free(g->base.sequence);
    requests_clear(&g->requests);
    return status;
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };
    struct generate g = { .o = &o, .answer.tail = -1, .resumed = -1 };
    const struct mode *mode;
    int status;

    cli_start();
    generate_parse(argc, argv, &o);
    draft_table_choose(&o);
    draft_model_choose(&o);
    engine_join(&o.engine);
    mode = mode_of(&o);
    g.date = o.date;
    state_lock(&g.state, &o.state);
    if (o.resume)
        g.resumed = resume_open(o.resume);
    else
        cli_output(o.output);
    terminal_open(o.raw);
    cli_catch_signals();
    o.files.device = devices_name(&o.engine.devices);
    o.engine.media =
        media_files_encode(&o.files, o.engine.model, o.engine.n_threads);
    if (generate_takes_media(&o))
        g.intake =
            media_intake_new(&o.files, o.engine.model, o.engine.n_threads);
    engine_open(&g.engine, &o.engine, mode->slots(&o), true);
    if (g.intake)
        media_intake_attach(g.intake, g.engine.session);
    draft_model_open(&g);
    draft_table_open(&g);
    status = run(&g, mode);
    draft_table_save(&g);
    terminal_finish(o.newline && mode != &modes[ALL_RECORDS]);
    sampling_clear(&o.sampling);
    free(g.resumed_sampling);
    state_clear(&g.state);
    media_intake_free(g.intake);
    engine_close(&g.engine);
    draft_model_close(&g);
    adapters_clear(&o.engine.adapters);
    media_files_clear(&o.files);
    engine_leave();
    if (cli_signal())
        cli_raise(cli_signal());
    return cli_finish(status);
}
