/* talk_media.c - /image and /audio: what goes with the next message */
#include <config.h>

#include <stdlib.h>

#include "common/projector.h"
#include "gg-generate/interactive.h"
#include "gg-generate/media.h"

static enum gg_status
refuse_media(const struct talk *t, struct gg_error *err)
{
    const char *why = projector_why_missing();

    if (t->g->o->engine.rows)
        why = "--rows has all images and sounds of the job";
    return cli_error(err, GG_ERR_UNSUPPORTED, "%s",
                     why ? why : "no projector is there");
}

/* How much of the context it takes. */
static void
tell_medium(const struct talk *t, const struct media_item *item)
{
    const struct generate *g = t->g;
    const struct gg_sequence *q =
        g->answer.sequence ? g->answer.sequence : g->base.sequence;

    talk_tell(t,
              "%s of %zu rows goes before the next message; %zu of %d "
              "positions are used",
              media_a_kind(item->rows.kind), item->rows.medium.n,
              q ? engine_count_ids(q) : 0,
              (int)gg_session_n_ctx(g->engine.session));
}

enum gg_status
talk_take_medium(struct talk *t, enum gg_media_kind kind,
                 const struct buffer *bytes, struct gg_error *err)
{
    struct media_intake *in = t->g->intake;
    struct media_place place = { .kind = kind, .own = true };
    enum gg_status st;

    if (!in)
        return refuse_media(t, err);
    st = media_intake_bytes(in, kind, bytes->p ? bytes->p : "", bytes->len,
                            &place.item, err);
    if (st != GG_OK)
        return st;
    t->media = cli_alloc(t->media, t->n_media + 1, sizeof(*t->media));
    t->media[t->n_media++] = place;
    tell_medium(t, &media_intake_media(in)->items[place.item]);
    return GG_OK;
}

enum gg_status
talk_place_media(struct talk *t, struct gg_error *err)
{
    struct chat *chat = &t->g->source.chat;
    enum gg_status st = GG_OK;

    for (size_t i = 0; st == GG_OK && i < t->n_media; i++)
        st = chat_add_media(chat, t->media[i].kind, &t->media[i].item, err);
    talk_drop_media(t);
    return st;
}

void
talk_drop_media(struct talk *t)
{
    for (size_t i = 0; i < t->n_media; i++)
        media_intake_release(t->g->intake, t->media[i].item);
    free(t->media);
    t->media = NULL;
    t->n_media = 0;
}
