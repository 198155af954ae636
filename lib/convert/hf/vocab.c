/* vocab.c - a vocabulary in the making: its tokens by their ids and texts */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/tokens.h"

enum {
    MAX_TOKEN = 65535, /* as in lib/vocab */
};

int32_t
convert_hf_token_find(const struct hf_tokens *t, const char *text, size_t len)
{
    uint32_t id;

    return hash_map_find(&t->ids, text, len, &id) ? (int32_t)id : -1;
}

void
convert_hf_token_put(struct hf_tokens *t, int64_t id, const char *text,
                     size_t len, int32_t type)
{
    struct core_json_keys *here = &t->h->here;

    if (id < 0 || id >= t->n)
        core_json_bad(
            here, GG_ERR_FORMAT,
            "token '%.*s': its id %lld is not below vocab_size, which "
            "is %d",
            len < 60 ? (int)len : 0, text, (long long)id, (int)t->n);
    else if (t->types[id])
        core_json_bad(here, GG_ERR_FORMAT, "two tokens have the id %lld",
                      (long long)id);
    else if (len > MAX_TOKEN)
        core_json_bad(here, GG_ERR_FORMAT, "token %lld has %zu bytes",
                      (long long)id, len);
    if (!convert_hf_good(t->h))
        return;
    t->text[id] = (struct gguf_str){ text, len };
    t->types[id] = type;
}

#endif
