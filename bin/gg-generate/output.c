/* output.c - what is written of the ids that are drawn */
#include <config.h>

#include "gg-generate/generate.h"

bool
generate_write(struct generate *g, int32_t id)
{
    struct gg_error err;
    struct gg_decode_state next;
    unsigned flags = g->o->special == SPECIAL_PARSE ? GG_DECODE_SPECIAL : 0;
    bool more;
    size_t n;

    for (;;) {
        next = g->decode;
        cli_check(gg_vocab_decode(g->engine.vocab, &next, id, flags, g->piece,
                                  g->piece_cap, &n, &err),
                  &err);
        if (n <= g->piece_cap)
            break;
        g->piece = cli_alloc(g->piece, n, 1);
        g->piece_cap = n;
    }
    g->decode = next;
    more = stop_write(&g->o->stop, g->piece, n);
    cli_flush();
    return more;
}

void
generate_end(struct generate *g)
{
    stop_end(&g->o->stop);
    cli_flush();
    g->decode = (struct gg_decode_state){ 0 };
}
