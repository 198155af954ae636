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

static void
write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno != EINTR)
            cli_die("--show-reasoning: %s", strerror(errno));
        p += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
}

void
generate_write_thought(const struct generate *g, struct answer *a, bool more)
{
    const struct buffer *b = &a->reasoning;
    int fd = g->o->show_reasoning;

    if (fd <= 0)
        return;
    if (b->len > a->n_thought)
        write_all(fd, b->p + a->n_thought, b->len - a->n_thought);
    a->n_thought = b->len;
    if (!more && b->len && g->o->interactive)
        write_all(fd, "\n", 1);
}
