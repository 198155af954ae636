/* media_ids.h - ids of a text in which media stand: markers, text and rows */
#ifndef COMMON_MEDIA_IDS_H
#define COMMON_MEDIA_IDS_H

#include "common/buffer.h"
#include "common/media.h"

/* Text is gathered, and encoded as one from marker to marker. */
struct media_ids {
    const struct gg_vocab *vocab;
    const struct media *media; /* of the job; or NULL */
    const struct media *own;   /* those that messages have brought; or NULL */
    unsigned flags;            /* GG_ENCODE_..., of the text as a whole */
    int32_t *ids;              /* n of them; has room for cap, and grows */
    size_t n, cap;
    uint64_t left_out; /* bytes without a token */
    struct buffer text;
    size_t counts[2]; /* media of each kind so far */
    bool begun;       /* some of the text was encoded */
};

void
media_ids_text(struct media_ids *m, const char *text, size_t n);

/* Medium i of the stream. GG_ERR_FORMAT: there is none, it failed, or the
 * vocabulary lacks one of its markers. */
enum gg_status
media_ids_medium(struct media_ids *m, size_t i, struct gg_error *err);

/* Encodes what is left. */
enum gg_status
media_ids_end(struct media_ids *m, struct gg_error *err);

/* The text and all that stands in it: at each `marker` the next medium, from
 * number *medium on, which moves on; without one (NULL) all of the stream in
 * front. */
enum gg_status
media_ids_whole(struct media_ids *m, const char *text, size_t n,
                const char *marker, size_t *medium, struct gg_error *err);

/* Media of a conversation. */
struct media_places {
    const struct media_place *list; /* n, in the order of their parts */
    size_t n;
    bool tail; /* the ids have but the last messages of the conversation */
    const char *template; /* its name */
};

/* Puts media in the places of GG_CHAT_IMAGE and GG_CHAT_SOUND among the n ids
 * of a conversation, each kind in its order. Markers that the template has
 * written around a place are not doubled. `m` has the ids then. */
enum gg_status
media_ids_place(struct media_ids *m, const struct media_places *p,
                const int32_t *ids, size_t n, struct gg_error *err);

#endif
