/* thoughts.c - what models think before they answer */
#include <config.h>

#include "gg-generate/generate.h"

enum gg_status
generate_reader(struct generate *g, const struct gg_chat_reader **out,
                struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (!g->reader)
        st = gg_chat_reader_new(g->engine.vocab, g->o->template, NULL,
                                &g->reader, err);
    *out = gg_chat_reader_thinks(g->reader) ? g->reader : NULL;
    return st;
}
