/* encode.h - ids of texts, for tests of which no byte is left out */
#ifndef UNIT_ENCODE_H
#define UNIT_ENCODE_H

#include <gg.h>

/* gg_vocab_encode(), strictly */
static inline enum gg_status
encode_ids(const struct gg_vocab *v, const char *text, size_t len,
           unsigned flags, int32_t *ids, size_t cap, size_t *n,
           struct gg_error *error)
{
    struct gg_encoded made;
    enum gg_status st = gg_vocab_encode(v, text, len, flags | GG_ENCODE_STRICT,
                                        ids, cap, &made, error);

    if (st == GG_OK)
        *n = made.n;
    return st;
}

/* gg_chat_encode(), strictly */
static inline enum gg_status
encode_chat(const struct gg_vocab *v, const struct gg_chat_template *chat,
            const struct gg_message *messages, size_t n_messages, size_t first,
            unsigned flags, int32_t *ids, size_t cap, size_t *n,
            struct gg_error *error)
{
    const struct gg_chat_params params = { .flags = flags | GG_CHAT_STRICT,
                                           .first = first };
    struct gg_encoded made;
    enum gg_status st = gg_chat_encode(v, chat, messages, n_messages, &params,
                                       ids, cap, &made, error);

    if (st == GG_OK)
        *n = made.n;
    return st;
}

#endif
