/* grammar.c - a grammar over the tokens of a vocabulary */
#include <config.h>

#include "sample/grammar.h"

#include "core/mem.h"
#include "core/plant.h"
#include "sample/schema/schema.h"

struct tokens {
    char *bytes;
    size_t len, cap;
    uint32_t *at;
};

/* Adds the token's bytes in the middle of a text. */
static enum gg_status
add_token(const struct gg_vocab *vocab, int32_t id, struct tokens *t,
          struct gg_error *err)
{
    enum gg_status st = GG_OK;
    size_t n = 0;

    t->at[id] = (uint32_t)t->len;
    do {
        struct gg_decode_state state = { .started = true };

        if (t->len + n > INT32_MAX ||
            !mem_grow(&t->bytes, &t->cap, t->len + n + 64, 1))
            return error_nomem(err);
        st = gg_vocab_decode(vocab, &state, id, 0, t->bytes + t->len,
                             t->cap - t->len, &n, err);
    } while (st == GG_OK && n > t->cap - t->len);
    t->len += n;
    return st;
}

static int32_t
find_token(const void *vocab, const char *name, size_t len)
{
    return gg_vocab_find(vocab, name, len);
}

enum gg_status
gg_grammar_new(const struct gg_vocab *vocab, const char *text, size_t len,
               struct gg_grammar **out, struct gg_error *err)
{
    int32_t n = gg_vocab_size(vocab);
    struct tokens t = { 0 };
    struct grammar_tokens tokens = { .n = n,
                                     .find = find_token,
                                     .vocab = vocab };
    enum gg_status st;

    if (!vocab || (!text && len) || !out)
        return error_null(err);
    t.at = mem_array((size_t)n + 1, sizeof(*t.at));
    st = t.at ? GG_OK : error_nomem(err);
    for (int32_t id = 0; st == GG_OK && id < n; id++)
        st = add_token(vocab, id, &t, err);
    if (st == GG_OK) {
        t.at[n] = (uint32_t)t.len;
        tokens.bytes = t.bytes;
        tokens.at = t.at;
        tokens.eog = gg_vocab_eog_ids(vocab, &tokens.n_eog);
        st = sample_grammar_new(text, len, &tokens, out, err);
        gg_plant("grammar");
    }
    mem_free(t.bytes);
    mem_free(t.at);
    return st;
}

enum gg_status
gg_grammar_from_schema(const struct gg_vocab *vocab, const char *text,
                       size_t len, struct gg_grammar **out,
                       struct gg_error *err)
{
    char *gbnf = NULL;
    size_t n = 0;
    enum gg_status st;

    if (!vocab || (!text && len) || !out)
        return error_null(err);
    st = sample_schema_to_gbnf(text ? text : "", len, &gbnf, &n, err);
    gg_plant("schema");
    if (st != GG_OK)
        return st;
    st = gg_grammar_new(vocab, gbnf, n, out, err);
    mem_free(gbnf);
    return st == GG_OK || st == GG_ERR_NOMEM
               ? st
               : error_prefix(err, st, "as a grammar");
}
