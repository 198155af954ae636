/* common.h - what the examples share: ends that name an error, growing ids */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <gg-engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gg_error err;

static inline void
must(enum gg_status status)
{
    if (status == GG_OK)
        return;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

struct ids {
    int32_t *list;
    size_t n, cap;
};

/* The ids of a text, with BOS (and EOS) where the model wants it. */
static inline void
encode(const struct gg_vocab *vocab, const char *text, struct ids *out)
{
    size_t len = strlen(text);
    struct gg_encoded made;
    unsigned flags = (gg_vocab_add_bos(vocab) ? GG_ENCODE_BOS : 0) |
                     (gg_vocab_add_eos(vocab) ? GG_ENCODE_EOS : 0);

    out->cap = 2 * len + 3;
    out->list = malloc(out->cap * sizeof(*out->list));
    if (!out->list)
        exit(1);
    must(gg_vocab_encode(vocab, text, len, flags, out->list, out->cap, &made,
                         &err));
    out->n = made.n;
}

static inline void
put_text(struct gg_text *text)
{
    size_t n;
    const char *bytes = gg_text_take(text, &n);

    fwrite(bytes, 1, n, stdout);
    fflush(stdout);
}

#endif
