/* media_ids.c - ids of a text in which media stand: markers, text and rows */
#include <config.h>

#include "common/media_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
media_ids_text(struct media_ids *m, const char *text, size_t n)
{
    buffer_add(&m->text, text, n);
}

static void
add_id(struct media_ids *m, int32_t id)
{
    if (m->n == m->cap)
        m->ids = cli_alloc(m->ids, m->cap = 2 * m->cap + 64, sizeof(*m->ids));
    m->ids[m->n++] = id;
}

/* Flags of one stretch of the text. */
static enum gg_status
encode_stretch(struct media_ids *m, unsigned flags, struct gg_error *err)
{
    struct gg_encoded made = { .n = m->text.len + 3 };
    enum gg_status st;

    do {
        if (made.n > m->cap - m->n)
            m->ids = cli_alloc(m->ids, m->cap = m->n + made.n + m->cap / 2,
                               sizeof(*m->ids));
        st = gg_vocab_encode(m->vocab, m->text.p ? m->text.p : "", m->text.len,
                             flags, m->ids + m->n, m->cap - m->n, &made, err);
    } while (st == GG_OK && made.n > m->cap - m->n);
    if (st != GG_OK)
        return st;
    m->n += made.n;
    m->left_out += made.left_out;
    m->text.len = 0;
    m->begun = true;
    return GG_OK;
}

static enum gg_status
encode_gathered(struct media_ids *m, bool last, struct gg_error *err)
{
    unsigned ends = GG_ENCODE_BOS | GG_ENCODE_EOS;
    unsigned flags = m->flags & ~ends;

    flags |= m->begun ? (unsigned)GG_ENCODE_CONTINUE : m->flags & GG_ENCODE_BOS;
    flags |= last ? m->flags & GG_ENCODE_EOS : 0;
    if (m->text.len == 0 && !(flags & ends))
        return GG_OK;
    return encode_stretch(m, flags, err);
}

/* The control token of a marker; -1: there is none. */
static int32_t
find_marker(const struct gg_vocab *vocab, const char *text)
{
    struct gg_encoded made;
    struct gg_error err;
    enum gg_token_type type;
    int32_t id = -1;

    if (gg_vocab_encode(vocab, text, strlen(text),
                        GG_ENCODE_CONTINUE | GG_ENCODE_SPECIAL, &id, 1, &made,
                        &err) != GG_OK ||
        made.n != 1 || made.left_out)
        return -1;
    type = gg_vocab_type(vocab, id);
    return type == GG_TOKEN_CONTROL || type == GG_TOKEN_USER_DEFINED ? id : -1;
}

/* How many media of the kind stand before this one. */
static void
add_ordinal(struct media_ids *m, enum gg_media_kind kind)
{
    char text[32];

    snprintf(text, sizeof(text), "%zu", m->counts[kind]);
    media_ids_text(m, text, strlen(text));
}

static enum gg_status
add_piece(struct media_ids *m, const struct media_item *item,
          const struct gg_piece *p, struct gg_error *err)
{
    enum gg_status st;
    int32_t id;

    if (p->kind == GG_PIECE_TEXT) {
        media_ids_text(m, p->text, strlen(p->text));
        return GG_OK;
    }
    if (p->kind == GG_PIECE_ORDINAL) {
        add_ordinal(m, item->rows.kind);
        return GG_OK;
    }
    st = encode_gathered(m, false, err);
    if (st != GG_OK)
        return st;
    m->begun = true;
    if (p->kind == GG_PIECE_ROWS) {
        for (size_t i = 0; i < p->n; i++)
            add_id(m, item->first + (int32_t)(p->first + i));
        return GG_OK;
    }
    id = find_marker(m->vocab, p->text);
    if (id < 0)
        return cli_error(err, GG_ERR_FORMAT,
                         "the vocabulary has no token %s, which stands around "
                         "%s of this projector",
                         p->text, media_a_kind(item->rows.kind));
    add_id(m, id);
    return GG_OK;
}

static enum gg_status
find_item(const struct media *media, size_t i, const struct media_item **out,
          struct gg_error *err)
{
    if (i >= media->n)
        return cli_error(err, GG_ERR_FORMAT, "%s has %zu media, and no %zu",
                         media->name, media->n, i + 1);
    *out = &media->items[i];
    if ((*out)->failure)
        return cli_error(err, GG_ERR_FORMAT, "%s: medium %zu: %s", media->name,
                         i + 1, (*out)->failure);
    return GG_OK;
}

enum gg_status
media_ids_medium(struct media_ids *m, size_t i, struct gg_error *err)
{
    const struct media_item *item;
    enum gg_status st = find_item(m->media, i, &item, err);

    for (size_t k = 0; st == GG_OK && k < item->rows.n_pieces; k++)
        st = add_piece(m, item, &item->rows.pieces[k], err);
    if (st == GG_OK)
        m->counts[item->rows.kind]++;
    return st;
}

enum gg_status
media_ids_end(struct media_ids *m, struct gg_error *err)
{
    return encode_gathered(m, true, err);
}

static enum gg_status
add_by_markers(struct media_ids *m, const char *text, size_t n,
               const char *marker, size_t *medium, struct gg_error *err)
{
    size_t len = strlen(marker);
    enum gg_status st = GG_OK;
    const char *p;

    while (st == GG_OK && n && (p = memmem(text, n, marker, len))) {
        size_t at = (size_t)(p - text);

        media_ids_text(m, text, at);
        st = media_ids_medium(m, (*medium)++, err);
        text += at + len;
        n -= at + len;
    }
    media_ids_text(m, text, n);
    return st;
}

enum gg_status
media_ids_whole(struct media_ids *m, const char *text, size_t n,
                const char *marker, size_t *medium, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (marker) {
        st = add_by_markers(m, text, n, marker, medium, err);
    } else {
        for (size_t i = 0; st == GG_OK && i < m->media->n; i++)
            st = media_ids_medium(m, i, err);
        media_ids_text(m, text, n);
        *medium = m->media->n;
    }
    return st == GG_OK ? media_ids_end(m, err) : st;
}

/* ---- Conversations ------------------------------------------------------- */

/* The marker that the template has put there already. */
static bool
is_there(const struct media_ids *m, const struct gg_piece *p, const int32_t *id)
{
    return id && p->kind == GG_PIECE_MARKER &&
           find_marker(m->vocab, p->text) == *id;
}

/* How many pieces in front of the rows the template has put there already: up
 * to the last marker among them that stands before the place. */
static size_t
count_there(const struct media_ids *m, const struct gg_piece *p, size_t n)
{
    size_t there = 0;

    for (size_t i = 0; i < n && p[i].kind != GG_PIECE_ROWS; i++)
        if (is_there(m, &p[i], m->n ? &m->ids[m->n - 1] : NULL))
            there = i + 1;
    return there;
}

/* `next` is the id after the place; or NULL. */
static enum gg_status
place_item(struct media_ids *m, const struct media_item *item,
           const int32_t *next, struct gg_error *err)
{
    const struct gg_piece *p = item->rows.pieces;
    size_t n = item->rows.n_pieces, there = count_there(m, p, n);
    enum gg_status st = GG_OK;

    p += there;
    n -= there;
    if (n && is_there(m, p + n - 1, next))
        n--;
    for (size_t k = 0; st == GG_OK && k < n; k++)
        st = add_piece(m, item, &p[k], err);
    m->counts[item->rows.kind]++;
    return st == GG_OK ? encode_gathered(m, false, err) : st;
}

static size_t
count_kind(const struct media_places *p, enum gg_media_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += p->list[i].kind == kind;
    return n;
}

/* As many placeholders of a kind as there are media, or, of a tail, no more;
 * *skip gets how many media of the kind were before. */
static enum gg_status
check_places(const struct media_places *p, const int32_t *ids, size_t n,
             enum gg_media_kind kind, size_t *skip, struct gg_error *err)
{
    int32_t place = kind == GG_MEDIA_SOUND ? GG_CHAT_SOUND : GG_CHAT_IMAGE;
    size_t written = 0, given = count_kind(p, kind);

    for (size_t i = 0; i < n; i++)
        written += ids[i] == place;
    *skip = given - written;
    if (written == given || (p->tail && written < given))
        return GG_OK;
    return cli_error(err, GG_ERR_UNSUPPORTED,
                     "chat template %s writes %zu placeholder%s for %ss, and "
                     "the messages have %zu",
                     p->template, written, written == 1 ? "" : "s",
                     media_kind_name(kind), given);
}

/* Media of messages were checked when they came. */
static enum gg_status
check_kinds(const struct media *media, const struct media_places *p,
            struct gg_error *err)
{
    const struct media_item *item;
    enum gg_status st = GG_OK;

    for (size_t i = 0; st == GG_OK && i < p->n; i++) {
        const struct media_place *place = &p->list[i];

        if (place->own)
            continue;
        st = find_item(media, place->item, &item, err);
        if (st == GG_OK && item->rows.kind != place->kind)
            st = cli_error(err, GG_ERR_FORMAT,
                           "%s: medium %zu is %s, and the message has %s",
                           media->name, place->item + 1,
                           media_a_kind(item->rows.kind),
                           media_a_kind(place->kind));
    }
    return st;
}

/* The medium that is number `skip` of its kind. */
static const struct media_item *
item_of_kind(const struct media_ids *m, const struct media_places *p,
             enum gg_media_kind kind, size_t skip)
{
    size_t i = 0;

    while (p->list[i].kind != kind || skip-- > 0)
        i++;
    return &(p->list[i].own ? m->own : m->media)->items[p->list[i].item];
}

enum gg_status
media_ids_place(struct media_ids *m, const struct media_places *p,
                const int32_t *ids, size_t n, struct gg_error *err)
{
    size_t next[2] = { 0, 0 };
    enum gg_status st = check_kinds(m->media, p, err);

    for (int kind = 0; st == GG_OK && kind < 2; kind++)
        st =
            check_places(p, ids, n, (enum gg_media_kind)kind, &next[kind], err);
    memcpy(m->counts, next, sizeof(next));
    m->begun = true;
    for (size_t i = 0; st == GG_OK && i < n; i++) {
        enum gg_media_kind kind =
            ids[i] == GG_CHAT_SOUND ? GG_MEDIA_SOUND : GG_MEDIA_IMAGE;

        if (ids[i] >= 0)
            add_id(m, ids[i]);
        else
            st = place_item(m, item_of_kind(m, p, kind, next[kind]++),
                            i + 1 < n ? &ids[i + 1] : NULL, err);
    }
    return st;
}
