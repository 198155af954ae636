/* media.c - prompts in which images and sounds stand */
#include <config.h>

#include "gg-generate/media.h"

#include <stdlib.h>

#include "common/media_ids.h"
#include "common/projector.h"

static struct media_ids
ids_of(const struct generate *g, unsigned flags)
{
    return (struct media_ids){ .vocab = g->engine.vocab,
                               .media = g->engine.media,
                               .own = g->intake ? media_intake_media(g->intake)
                                                : NULL,
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

bool
generate_takes_media(const struct options *o)
{
    bool messages = o->messages || o->interactive || o->form == FORM_JSONL;

    return messages && !o->engine.rows;
}

void
generate_media_begin(const struct generate *g, struct chat *chat)
{
    chat->has_job_media = generate_has_media(g);
    chat->intake = g->intake;
    chat->takes_media = chat->has_job_media || g->intake;
    chat->next_medium = g->medium;
    if (!chat->takes_media)
        chat->why_none = projector_why_missing();
}

void
generate_media_say_rows(const struct generate *g, const struct prompt *p,
                        char *text, size_t size)
{
    int32_t n_vocab = gg_model_n_vocab(g->engine.model);
    size_t n = 0, used = strlen(text);

    for (size_t i = 0; i < p->n; i++)
        n += p->ids[i] >= n_vocab;
    if (n)
        snprintf(text + used, size - used,
                 "; %zu of its %zu ids are rows of images and sounds", n, p->n);
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
    if (chat_count_job_media(&s->chat) == 0 && g->o->form != FORM_JSONL) {
        s->chat.next_medium = 0;
        for (size_t i = 0; st == GG_OK && i < media->n; i++)
            st = chat_add_media(&s->chat, media->items[i].rows.kind, NULL, err);
    }
    g->medium = s->chat.next_medium;
    return st;
}

/* The prompt holds what messages have brought, as long as it is there. */
static void
hold_media(struct generate *g, const struct chat *chat, struct prompt *out)
{
    out->intake = g->intake;
    for (size_t i = 0; i < chat->n_media; i++) {
        if (!chat->media[i].own)
            continue;
        out->media =
            cli_alloc(out->media, out->n_media + 1, sizeof(*out->media));
        out->media[out->n_media++] = chat->media[i].item;
        media_intake_hold(g->intake, chat->media[i].item);
    }
}

void
generate_media_release(struct prompt *p)
{
    for (size_t i = 0; i < p->n_media; i++)
        media_intake_release(p->intake, p->media[i]);
    free(p->media);
}

enum gg_status
generate_media_place(struct generate *g, const struct prompt_source *s,
                     struct prompt *out, struct gg_error *err)
{
    const struct media_places places = { s->chat.media, s->chat.n_media,
                                         s->done > 0,
                                         gg_chat_name(s->template) };
    struct media_ids m = ids_of(g, 0);
    enum gg_status st = media_ids_place(&m, &places, out->ids, out->n, err);

    if (st == GG_OK)
        hold_media(g, &s->chat, out);
    return give_ids(g, &m, out, st);
}
