/* media.c - texts and conversations in which media stand */
#include <config.h>

#include "gg-tokenize/media.h"

#include <stdlib.h>
#include <string.h>

/* The place of the marker in text[0..len), or len. */
static size_t
find_place(const struct tokenize_options *o, const char *text, size_t len)
{
    size_t n = strlen(o->marker);
    const char *p = len ? memmem(text, len, o->marker, n) : NULL;

    return p ? (size_t)(p - text) : len;
}

static void
start_media(struct media_ids *m, const struct tokenize_options *o,
            const struct gg_vocab *vocab, unsigned flags)
{
    m->vocab = vocab;
    m->media = o->media;
    m->own = o->intake ? media_intake_media(o->intake) : NULL;
    m->flags = flags;
    m->n = m->left_out = m->text.len = 0;
    m->begun = flags & GG_ENCODE_CONTINUE;
}

enum gg_status
tokenize_media_text(struct job *job, const struct tokenize_options *o,
                    const struct gg_vocab *vocab, const char *text, size_t len,
                    unsigned flags, struct gg_error *err)
{
    struct media_ids *m = &job->placed;
    enum gg_status st;

    start_media(m, o, vocab, flags);
    st = media_ids_whole(m, text, len, o->marker, job->medium, err);
    job->n_left_out += st == GG_OK ? m->left_out : 0;
    return st;
}

enum gg_status
tokenize_media_before(const struct tokenize_options *o, struct chat *chat,
                      struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; st == GG_OK && i < o->media->n; i++)
        st = chat_add_media(chat, o->media->items[i].rows.kind, NULL, err);
    return st;
}

enum gg_status
tokenize_media_chat(struct job *job, const struct tokenize_options *o,
                    const struct gg_vocab *vocab, const struct chat *chat,
                    const int32_t *ids, size_t n, struct gg_error *err)
{
    struct media_ids *m = &job->placed;
    size_t from = *job->medium;
    const struct media_places places = { chat->media, chat->n_media, false,
                                         gg_chat_name(o->chat) };
    enum gg_status st;

    if (from == SIZE_MAX && chat_count_job_media(chat))
        return cli_error(err, GG_ERR_FORMAT,
                         "which media are its own is not known after a record "
                         "that could not be read");
    if (o->intake && (o->binary || o->pieces))
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "rows of images and sounds do not go with %s",
                         o->binary ? "--binary" : "--pieces");
    start_media(m, o, vocab, 0);
    st = media_ids_place(m, &places, ids, n, err);
    if (from != SIZE_MAX)
        *job->medium = from + chat_count_job_media(chat);
    job->n_left_out += st == GG_OK ? m->left_out : 0;
    return st;
}

void
tokenize_media_lost(struct job *job, const struct tokenize_options *o)
{
    if (o->media)
        *job->medium = SIZE_MAX;
}

static void
skip_chat(struct job *job, const struct tokenize_options *o, const char *text,
          size_t len)
{
    struct chat chat = { .takes_media = true, .has_job_media = true };
    struct gg_error err;

    if (chat_read(&chat, o->chat, text, len, false, &err) != GG_OK)
        tokenize_media_lost(job, o);
    else if (*job->medium != SIZE_MAX)
        *job->medium += chat.n_media;
    chat_clear(&chat);
}

void
tokenize_media_skip(struct job *job, const struct tokenize_options *o,
                    const char *text, size_t len)
{
    if (o->media && o->chat)
        skip_chat(job, o, text, len);
    if (!o->media || !o->marker)
        return;
    for (size_t at; (at = find_place(o, text, len)) < len;) {
        ++*job->medium;
        at += strlen(o->marker);
        text += at;
        len -= at;
    }
}
