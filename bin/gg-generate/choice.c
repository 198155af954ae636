/* choice.c - which of several texts is likeliest to follow the prompt */
#include <config.h>

#include "common/terminal.h"
#include "gg-generate/generate.h"

static void
write_choice(const struct generate *g, const struct gg_choices *c)
{
    struct buffer out = { 0 };

    if (g->o->scores) {
        choices_add_scores(c, '\n', &out);
        buffer_char(&out, '\n');
    } else {
        buffer_add(&out, choices_text(c->list)->text,
                   choices_text(c->list)->len);
    }
    terminal_write(out.p, out.len, false);
    buffer_clear(&out);
}

/* Adds the chosen text to the sequence: all that follows goes on from it. */
static void
go_on(struct generate *g, const struct gg_choice *chosen)
{
    const struct choice *text = choices_text(chosen);
    struct gg_sequence **q = &g->base.sequence;
    struct gg_error err;
    size_t n;

    if (!*q)
        cli_check(gg_sequence_new(g->engine.gg, q, &err), &err);
    g->answer.text.len = 0;
    buffer_add(&g->answer.text, text->text, text->len);
    n = engine_count_ids(*q);
    cli_check(gg_sequence_put(*q, chosen->ids + n, chosen->n - n, &err), &err);
    generate_hold_base(g);
}

bool
generate_choice(struct generate *g, struct prompt *prompt)
{
    struct gg_choices *c = &prompt->contest;
    struct gg_error err;

    if (!contest_fits(c, &g->engine, &err)) {
        if (!g->gentle)
            cli_die("%s", err.message);
        cli_warn("%s", err.message);
        return false;
    }
    if (!contest_run(g->engine.gg, c, 1))
        return false;
    if (!contest_decide(c, &err))
        cli_die("%s", err.message);
    write_choice(g, c);
    if (g->o->interactive || state_saves(&g->state))
        go_on(g, c->list);
    g->heard = true;
    return true;
}
