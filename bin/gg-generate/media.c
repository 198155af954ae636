/* media.c - prompts in which images and sounds stand */
#include <config.h>

#include "gg-generate/media.h"

#include <stdlib.h>

#include "common/media_ids.h"

static struct media_ids
ids_of(const struct generate *g, unsigned flags)
{
    return (struct media_ids){ .vocab = g->engine.vocab,
                               .media = g->engine.media,
                               .flags = flags,
                               .begun = flags & GG_ENCODE_CONTINUE };
}

/* The prompt gets the ids, unless it failed. */
static enum gg_status
give_ids(struct generate *g, struct media_ids *m, struct prompt *out,
         enum gg_status st)
{
    buffer_clear(&m->text);
    if (st != GG_OK) {
        free(m->ids);
        return st;
    }
    free(out->ids);
    out->ids = m->ids;
    out->n = m->n;
    out->cap = m->cap;
    g->left_out += m->left_out;
    return GG_OK;
}

enum gg_status
generate_media_text(struct generate *g, const char *text, size_t len,
                    unsigned flags, struct prompt *out, struct gg_error *err)
{
    struct media_ids m = ids_of(g, flags);
    enum gg_status st =
        media_ids_whole(&m, text, len, g->o->marker, &g->medium, err);

    return give_ids(g, &m, out, st);
}

void
generate_media_begin(struct generate *g, struct prompt_source *s)
{
    s->chat.takes_media = generate_has_media(g);
    s->medium = g->medium;
}

/* Records of JSON say where media stand; other input cannot. */
enum gg_status
generate_media_take(struct generate *g, struct prompt_source *s,
                    struct gg_error *err)
{
    const struct media *media = g->engine.media;
    enum gg_status st = GG_OK;

    if (!media)
        return GG_OK;
    if (s->chat.n_media == 0 && g->o->form != FORM_JSONL) {
        s->medium = 0;
        for (size_t i = 0; st == GG_OK && i < media->n; i++)
            st = chat_add_media(&s->chat, media->items[i].rows.kind, err);
    }
    g->medium = s->medium + s->chat.n_media;
    return st;
}

enum gg_status
generate_media_place(struct generate *g, const struct prompt_source *s,
                     struct prompt *out, struct gg_error *err)
{
    const struct media_places places = { s->chat.media, s->chat.n_media,
                                         s->medium, s->done > 0,
                                         gg_chat_name(s->template) };
    struct media_ids m = ids_of(g, 0);

    return give_ids(g, &m, out,
                    media_ids_place(&m, &places, out->ids, out->n, err));
}
