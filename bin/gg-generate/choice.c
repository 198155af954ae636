/* choice.c - which of several texts is likeliest to follow the prompt */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/terminal.h"
#include "gg-generate/generate.h"

/* ---- the option ---------------------------------------------------------- */

enum gg_status
choices_add(struct choices *c, const char *text, size_t len,
            struct gg_error *err)
{
    struct choice *new;

    if (len == 0)
        return cli_error(err, GG_ERR_ARG, "--choice: a choice is empty");
    c->list = cli_alloc(c->list, c->n + 1, sizeof(*c->list));
    new = &c->list[c->n++];
    *new = (struct choice){ .text = cli_alloc(NULL, len + 1, 1), .len = len };
    memcpy(new->text, text, len);
    new->text[len] = '\0';
    return GG_OK;
}

/* The byte that a backslash and `c` stand for; NUL: none. */
static char
escaped(char c)
{
    static const char from[] = ",\\nt", to[] = ",\\\n\t";
    const char *p = c ? strchr(from, c) : NULL;

    return p ? to[p - from] : '\0';
}

enum gg_status
choices_add_list(struct choices *c, const char *list, struct gg_error *err)
{
    struct buffer text = { 0 };
    enum gg_status st = GG_OK;
    const char *p = list;

    for (bool more = true; more && st == GG_OK; p++) {
        for (text.len = 0; *p && *p != ',' && st == GG_OK; p++) {
            char byte = *p == '\\' ? escaped(*++p) : *p;

            if (byte)
                buffer_char(&text, byte);
            else
                st = cli_error(err, GG_ERR_ARG,
                               "--choice: a backslash goes before a comma, a "
                               "backslash, n or t");
        }
        if (st == GG_OK)
            st = choices_add(c, text.p, text.len, err);
        more = *p == ',';
    }
    buffer_clear(&text);
    return st;
}

void
choices_clear(struct choices *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].text);
    free(c->list);
    *c = (struct choices){ 0 };
}

/* ---- the answer ---------------------------------------------------------- */

void
choices_add_scores(const struct gg_choices *c, char between, struct buffer *out)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct gg_choice *s = &c->list[i];
        size_t room = 5 * (contest_text(s)->len + 1);
        char *shown = cli_alloc(NULL, room, 1);

        gg_escape(shown, room, contest_text(s)->text, contest_text(s)->len);
        if (i)
            buffer_char(out, between);
        buffer_format(out, "%.6f\t%zu\t%s\t%.6f", s->logprob, s->n_scored,
                      shown, s->probability);
        free(shown);
    }
}

static void
write_choice(const struct generate *g, const struct gg_choices *c)
{
    struct buffer out = { 0 };

    if (g->o->scores) {
        choices_add_scores(c, '\n', &out);
        buffer_char(&out, '\n');
    } else {
        buffer_add(&out, contest_text(c->list)->text,
                   contest_text(c->list)->len);
    }
    terminal_write(out.p, out.len, false);
    buffer_clear(&out);
}

/* What comes next goes on with it. */
static void
go_on(struct generate *g, const struct gg_choice *chosen)
{
    const struct choice *text = contest_text(chosen);
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
