/* vocab.c - answers about a vocabulary */
#include <config.h>

#include "vocab/vocab.h"

#include <string.h>

#include "core/hash.h"

void
vocab_set_split(struct gg_vocab *v, const struct vocab_split_name *name)
{
    v->split = name->rule;
    v->group = name->group;
    v->ends = name->ends ? name->ends : " \n";
}

int32_t
gg_vocab_size(const struct gg_vocab *v)
{
    return v ? v->n : 0;
}

/* Lengths are hashed as well, so that no two lists of tokens run together. */
uint64_t
gg_vocab_fingerprint(const struct gg_vocab *v)
{
    uint64_t h;

    if (!v)
        return 0;
    h = hash_bytes(HASH_START, v->name, strlen(v->name));
    for (int32_t id = 0; id < v->n; id++) {
        const struct gguf_str *s = &v->tokens[id];
        uint8_t head[4] = { (uint8_t)s->n, (uint8_t)(s->n >> 8),
                            (uint8_t)(s->n >> 16), (uint8_t)vocab_type(v, id) };

        h = hash_bytes(h, head, sizeof(head));
        h = hash_bytes(h, s->s, s->n);
    }
    return h;
}

const char *
gg_vocab_note(const struct gg_vocab *v)
{
    return v && v->note[0] ? v->note : NULL;
}

int32_t
gg_vocab_bos(const struct gg_vocab *v)
{
    return v ? v->bos : -1;
}

int32_t
gg_vocab_eos(const struct gg_vocab *v)
{
    return v ? v->eos : -1;
}

bool
gg_vocab_add_bos(const struct gg_vocab *v)
{
    return v && v->add_bos;
}

bool
gg_vocab_add_eos(const struct gg_vocab *v)
{
    return v && v->add_eos;
}

int32_t
gg_vocab_decoder_start(const struct gg_vocab *v)
{
    return v ? v->start : -1;
}

bool
gg_vocab_is_eog(const struct gg_vocab *v, int32_t id)
{
    bool found = false;

    for (size_t i = 0; v && i < v->n_eog; i++)
        found = found || v->eog[i] == id;
    return found;
}

const int32_t *
gg_vocab_eog_ids(const struct gg_vocab *v, size_t *n)
{
    if (n)
        *n = v ? v->n_eog : 0;
    return v ? v->eog : NULL;
}

static bool
has_id(const struct gg_vocab *v, int32_t id)
{
    return v && id >= 0 && id < v->n;
}

const int32_t *
gg_vocab_suppressed_ids(const struct gg_vocab *v, size_t *n)
{
    if (n)
        *n = v ? v->n_suppressed : 0;
    return v ? v->suppressed : NULL;
}

const char *
gg_vocab_sampling(const struct gg_vocab *v)
{
    return v ? v->sampling : NULL;
}

enum gg_token_type
gg_vocab_type(const struct gg_vocab *v, int32_t id)
{
    return has_id(v, id) ? vocab_type(v, id) : GG_TOKEN_UNUSED;
}

const char *
gg_vocab_token(const struct gg_vocab *v, int32_t id, size_t *len)
{
    if (len)
        *len = has_id(v, id) ? v->tokens[id].n : 0;
    return has_id(v, id) ? v->tokens[id].s : NULL;
}

/* One after the other, for names that are too long to be looked up: pieces
 * first. */
static int32_t
find_long(const struct gg_vocab *v, const char *token, size_t len)
{
    int32_t other = -1;

    for (int32_t id = 0; id < v->n; id++) {
        if (v->tokens[id].n != len || memcmp(v->tokens[id].s, token, len) != 0)
            continue;
        if (v->types[id] & VOCAB_PIECE)
            return id;
        other = other < 0 ? id : other;
    }
    return other;
}

int32_t
gg_vocab_find(const struct gg_vocab *v, const char *token, size_t len)
{
    uint8_t bytes[1024];
    int32_t id = -1;
    size_t n;

    if (!v || (!token && len))
        return -1;
    if (len > sizeof(bytes))
        return find_long(v, token, len);
    if (vocab_piece_bytes(v->kind, token, len, bytes, &n))
        id = vocab_find_piece(v, bytes, n);
    return id < 0 ? vocab_find_other(v, token, len) : id;
}
