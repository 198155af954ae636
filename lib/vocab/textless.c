/* textless.c - a vocabulary of which nothing is known but the number of ids */
#include <config.h>

#include "core/mem.h"
#include "vocab/vocab.h"

static bool
make_empty(struct gg_vocab *v)
{
    size_t n = (size_t)v->n;

    v->empty = mem_array(n, sizeof(*v->empty));
    v->types = mem_array(n, 1);
    v->at = mem_array(n + 1, sizeof(*v->at));
    v->bytes = mem_zalloc(VOCAB_SLACK);
    if (!v->empty || !v->types || !v->at || !v->bytes)
        return false;
    for (size_t i = 0; i < n; i++)
        v->empty[i].s = "";
    memset(v->types, GG_TOKEN_NORMAL, n);
    v->tokens = v->empty;
    return true;
}

enum gg_status
vocab_load_textless(struct gg_vocab *v, const struct gguf_context *gguf,
                    int32_t n, struct gg_error *err)
{
    enum gg_status st;

    v->name = "none";
    v->kind = VOCAB_BPE;
    v->n = n;
    vocab_set_split(v, vocab_split_name(0));
    st = make_empty(v) ? vocab_index(v, err) : error_nomem(err);
    if (st == GG_OK)
        st = vocab_load_ids(v, gguf, NULL, err);
    if (st == GG_OK && (!vocab_special_init(&v->user, v, false) ||
                        !vocab_special_init(&v->all, v, true) ||
                        !vocab_special_contents(&v->contents, v)))
        st = error_nomem(err);
    return st;
}
