/* too_long.c - texts that the context cannot hold, known before all of them
 * is encoded */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>

#include "gg-generate/generate.h"

enum {
    LIKELY = 8,      /* bytes of a token */
    SHORT = 1 << 15, /* bytes: encoding them takes no time */
};

/* How many ids a text begins with, in any case: of its beginning up to where it
 * can be cut; grows until that is all of it, or more than `most`. */
static size_t
least_ids(const struct generate *g, const char *text, size_t len, size_t most)
{
    const struct gg_vocab *vocab = g->engine.vocab;
    unsigned flags = g->o->special == SPECIAL_PARSE ? GG_ENCODE_SPECIAL : 0;
    size_t part = SHORT + most * LIKELY;
    struct gg_encoded out = { 0 };
    struct gg_error err;

    for (; part < len && out.n <= most; part *= 4) {
        size_t cut = gg_vocab_cut(vocab, text, part, flags);

        if (cut && gg_vocab_encode(vocab, text, cut, flags | GG_ENCODE_CONTINUE,
                                   NULL, 0, &out, &err) != GG_OK)
            return 0;
    }
    return out.n;
}

enum gg_status
generate_check_length(const struct generate *g, const struct prompt_source *s,
                      size_t *least, struct gg_error *err)
{
    size_t most = (size_t)gg_session_n_ctx(g->engine.session), n = 0;

    if (!g->o->unordered || g->o->engine.shift)
        return GG_OK;
    if (!s->is_chat && s->text)
        n = least_ids(g, s->text, s->len, most);
    for (size_t i = 0; i < s->chat.n && n <= most; i++) {
        const struct gg_message *m = &s->chat.messages[i];

        if (m->role != GG_ROLE_ASSISTANT && m->content) /* reasoning may go */
            n = least_ids(g, m->content, m->len, most);
    }
    if (n <= most)
        return GG_OK;
    *least = n;
    return cli_error(err, GG_ERR_CONTEXT,
                     "more than %zu ids at once are above the context of %zu",
                     n - 1, most);
}
