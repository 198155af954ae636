/* choices.c - texts of which one is to follow the prompt */
#include <config.h>

#include "common/records/choices.h"

#include <stdlib.h>
#include <string.h>

enum gg_status
choices_add(struct choices *c, const char *text, size_t len,
            struct gg_error *err)
{
    struct choice *new;

    if (len == 0)
        return cli_error(err, GG_ERR_ARG, "--choice: a choice is empty");
    c->list = cli_alloc(c->list, c->n + 1, sizeof(*c->list));
    new = &c->list[c->n++];
    *new = (struct choice){ .text = cli_copy(text, len), .len = len };
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

void
choices_add_scores(const struct gg_choices *c, char between, struct buffer *out)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct gg_choice *s = &c->list[i];
        size_t room = 5 * (choices_text(s)->len + 1);
        char *shown = cli_alloc(NULL, room, 1);

        gg_escape(shown, room, choices_text(s)->text, choices_text(s)->len);
        if (i)
            buffer_char(out, between);
        buffer_format(out, "%.6f\t%zu\t%s\t%.6f", s->logprob, s->n_scored,
                      shown, s->probability);
        free(shown);
    }
}
