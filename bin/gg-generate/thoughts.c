/* thoughts.c - what models think before they answer */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gg-generate/generate.h"

enum gg_status
generate_reader(struct generate *g, const struct gg_chat_reader **out,
                struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (!g->reader)
        st = reasoning_check_arguments(g->o->template,
                                       g->o->reasoning.arguments, err);
    if (!g->reader && st == GG_OK)
        st = gg_chat_reader_new(g->engine.vocab, g->o->template, NULL,
                                &g->reader, err);
    *out = gg_chat_reader_thinks(g->reader) ? g->reader : NULL;
    return st;
}

void
generate_write_thought(const struct generate *g, struct answer *a)
{
    const struct buffer *b = &a->reasoning;
    ssize_t n = 0;

    if (g->o->show_reasoning <= 0)
        return;
    while (a->n_thought < b->len && n >= 0) {
        n = write(g->o->show_reasoning, b->p + a->n_thought,
                  b->len - a->n_thought);
        if (n < 0 && errno != EINTR)
            cli_die("--show-reasoning: %s", strerror(errno));
        a->n_thought += n > 0 ? (size_t)n : 0;
        n = 0;
    }
}
