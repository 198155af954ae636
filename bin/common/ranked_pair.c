/* ranked_pair.c - a query and a document, as the ids that a reranker takes */
#include <config.h>

#include "common/ranked_pair.h"

#include <stdlib.h>
#include <string.h>

void
ranked_pair_clear(struct pair *pair)
{
    buffer_clear(&pair->query);
    buffer_clear(&pair->document);
}

static bool
begins(const char *text, size_t len, const char *with)
{
    size_t n = strlen(with);

    return len >= n && !memcmp(text, with, n);
}

/* Adds the text to `out`, with {query} and {document} replaced. */
static void
expand_text(const struct pair *pair, const char *text, size_t len,
            struct buffer *out)
{
    static const char query[] = "{query}", document[] = "{document}";

    for (size_t i = 0; i < len;) {
        if (begins(text + i, len - i, query)) {
            buffer_add(out, pair->query.p, pair->query.len);
            i += sizeof(query) - 1;
        } else if (begins(text + i, len - i, document)) {
            buffer_add(out, pair->document.p, pair->document.len);
            i += sizeof(document) - 1;
        } else {
            buffer_char(out, text[i++]);
        }
    }
}

static void
add_ids(struct ranked_pair_ids *to, const int32_t *ids, size_t n)
{
    if (to->n + n > to->cap) {
        to->cap = 2 * (to->n + n);
        to->ids = cli_alloc(to->ids, to->cap, sizeof(*to->ids));
    }
    if (n)
        memcpy(to->ids + to->n, ids, n * sizeof(*ids));
    to->n += n;
}

static enum gg_status
add_text(struct ranked_pair_ids *to, const char *text, size_t len,
         unsigned flags, struct gg_error *err)
{
    const int32_t *ids;
    size_t n;
    enum gg_status st =
        to->encode(to->data, text ? text : "", len, flags, &ids, &n, err);

    if (st == GG_OK)
        add_ids(to, ids, n);
    return st;
}

/* <s> query </s> document </s>, with a second </s> between as RoBERTa has it;
 * or [CLS] query [SEP] document [SEP]. */
static enum gg_status
encode_two(const struct pair *pair, const struct gg_vocab *vocab,
           struct ranked_pair_ids *to, struct gg_error *err)
{
    int32_t bos = gg_vocab_bos(vocab), eos = gg_vocab_eos(vocab);
    size_t n = 0;
    const char *end = eos < 0 ? "" : gg_vocab_token(vocab, eos, &n);
    enum gg_status st;

    if (bos < 0 || eos < 0)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "the vocabulary has no tokens around a pair");
    st = add_text(to, pair->query.p, pair->query.len,
                  GG_ENCODE_BOS | GG_ENCODE_EOS, err);
    if (st == GG_OK && n == 4 && !memcmp(end, "</s>", 4))
        add_ids(to, &eos, 1);
    if (st == GG_OK)
        st = add_text(to, pair->document.p, pair->document.len, GG_ENCODE_EOS,
                      err);
    return st;
}

/* A stretch of a template without control tokens; what is put into it never
 * becomes one. */
static enum gg_status
encode_stretch(const struct pair *pair, const char *text, size_t len,
               struct ranked_pair_ids *to, struct gg_error *err)
{
    struct buffer b = { 0 };
    enum gg_status st = GG_OK;

    expand_text(pair, text, len, &b);
    if (b.len)
        st = add_text(to, b.p, b.len, GG_ENCODE_CONTINUE, err);
    buffer_clear(&b);
    return st;
}

static enum gg_status
encode_template(const struct pair *pair, const struct gg_vocab *vocab,
                const char *text, size_t len, struct ranked_pair_ids *to,
                struct gg_error *err)
{
    enum gg_status st = GG_OK;
    size_t at, n;

    while (st == GG_OK && len > 0) {
        int32_t id = gg_vocab_find_control(vocab, text, len, &at);

        at = id < 0 ? len : at;
        st = encode_stretch(pair, text, at, to, err);
        text += at, len -= at;
        if (id < 0 || st != GG_OK)
            break;
        add_ids(to, &id, 1);
        (void)gg_vocab_token(vocab, id, &n);
        text += n, len -= n;
    }
    return st;
}

enum gg_status
ranked_pair_encode(const struct pair *pair, const struct gg_vocab *vocab,
                   struct ranked_pair_ids *to, struct gg_error *err)
{
    size_t n;
    const char *template = gg_vocab_chat_source(vocab, "rerank", &n);

    to->n = 0;
    return template ? encode_template(pair, vocab, template, n, to, err)
                    : encode_two(pair, vocab, to, err);
}
