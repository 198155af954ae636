/* test_vocab_world.c - RWKV's World vocabulary: what its tokens stand for, and
 * the longest one at each place, as a search through all of them finds it */
#include <config.h>

#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/vocab_make.h"

enum {
    LENGTH = 60,
    ROUNDS = 2000,
};

static void
succeed(enum gg_status st)
{
    if (st != GG_OK)
        ok(false, "succeeds");
}

/* The bytes of a token as Python writes them; a check on world.c by another
 * way. */
static size_t
bytes_of(const char *text, uint8_t *out)
{
    size_t n = 0;
    unsigned byte;

    for (; *text; n++) {
        if (*text != '\\') {
            out[n] = (uint8_t)*text++;
        } else if (text[1] == 'x') {
            sscanf(text + 2, "%2x", &byte);
            out[n] = (uint8_t)byte;
            text += 4;
        } else {
            out[n] = text[1] == 'n'   ? '\n'
                     : text[1] == 't' ? '\t'
                     : text[1] == 'r' ? '\r'
                                      : (uint8_t)text[1];
            text += 2;
        }
    }
    return n;
}

/* The first of the longest tokens; tokens that no text has do not count. */
static int32_t
longest(const struct make *m, const uint8_t *p, size_t len, size_t *n)
{
    uint8_t bytes[64];
    int32_t best = -1;

    *n = 0;
    for (size_t id = 0; id < m->n; id++) {
        size_t k = bytes_of(m->tokens[id], bytes);

        if (m->types[id] != GG_TOKEN_CONTROL && k > *n && k <= len &&
            !memcmp(bytes, p, k)) {
            best = (int32_t)id;
            *n = k;
        }
    }
    return best;
}

static size_t
random_text(uint64_t *state, uint8_t *out)
{
    static const char *const parts[] = { "a",    "b",  "\n",   "\xc3\xa9",
                                         " ",    "\\", "\xe4", "\xb8\xad",
                                         "c",    "'s", "\xff", "aaa",
                                         "[PAD", "1]" };
    size_t n = 0;

    while (n < LENGTH - 8) {
        uint32_t r = make_random(state) % 15;

        if (r == 14) {
            out[n++] = 0;
            continue;
        }
        memcpy(out + n, parts[r], strlen(parts[r]));
        n += strlen(parts[r]);
    }
    return n;
}

static bool
encodes_right(const struct gg_vocab *v, const struct make *m,
              const uint8_t *text, size_t len)
{
    struct gg_range ranges[LENGTH];
    int32_t ids[LENGTH];
    size_t n = 0, k = 0, at = 0, step;

    succeed(encode_ids(v, (const char *)text, len, 0, ids, LENGTH, &n, NULL));
    succeed(
        gg_vocab_offsets(v, (const char *)text, len, 0, ids, n, ranges, NULL));
    for (; at < len && k < n; at += step, k++)
        if (ids[k] != longest(m, text + at, len - at, &step) ||
            ranges[k].begin != at || ranges[k].end != at + step)
            return false;
    return at == len && k == n;
}

static void
test_search(void)
{
    struct gg_vocab *v = NULL;
    uint8_t text[LENGTH];
    uint64_t state = 1;
    bool all = true;
    struct make m;

    make_world(&m);
    succeed(make_load(&m, &v, NULL));
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = random_text(&state, text);

        all = all && encodes_right(v, &m, text, n);
    }
    ok(all, "the longest token at each place, and where it stands");
    gg_vocab_free(v);
    make_free(&m);
}

/* Whether the ids of a text stand for `want`, with "|" after each. */
static bool
cuts(const struct gg_vocab *v, const char *text, unsigned flags,
     const char *want)
{
    char got[256] = "";
    int32_t ids[LENGTH];
    size_t n = 0, k;

    succeed(encode_ids(v, text, strlen(text), flags, ids, LENGTH, &n, NULL));
    for (size_t i = 0; i < n; i++) {
        const char *token = gg_vocab_token(v, ids[i], &k);

        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%.*s|", (int)k,
                 token);
    }
    if (strcmp(got, want) != 0)
        printf("# %s\n", got);
    return strcmp(got, want) == 0;
}

static void
test_texts(void)
{
    struct gg_vocab *v = NULL;
    struct make m;

    make_world(&m);
    succeed(make_load(&m, &v, NULL));
    ok(cuts(v, "aaaaaab\n\n", 0, "aaaa|aa|b|\\n\\n|"),
       "greedy, though another way has fewer tokens");
    ok(cuts(v, "b\\c's\xc3\xa9\xc3", 0, "b\\\\c|\\'s|\\xc3\\xa9|\\xc3|"),
       "escapes, and bytes that are no character");
    ok(cuts(v, "<s>a<user>a", 0, "<|s|>|a|<user>|a|"),
       "a text has no control token, but what the user defined");
    ok(cuts(v, "<s>a", GG_ENCODE_SPECIAL, "<s>|a|"), "unless it is wanted");
    ok(gg_vocab_find(v, "\\n\\n", 4) == gg_vocab_size(v) - 10,
       "a token by how the file writes it");
    gg_vocab_free(v);
    make_free(&m);
}

/* Without a token for a byte it is left out, or becomes what the file says. */
static void
test_unknown(void)
{
    struct gg_encoded result;
    struct gg_vocab *v = NULL;
    int32_t ids[8];
    struct make m;

    make_world(&m);
    free(m.tokens[1 + 'q']);
    m.tokens[1 + 'q'] = strdup("\\xzz"); /* stands for nothing */
    succeed(make_load(&m, &v, NULL));
    succeed(gg_vocab_encode(v, "aqa", 3, 0, ids, 8, &result, NULL));
    ok(result.n == 2 && result.left_out == 1,
       "a byte without a token is left out");
    ok(gg_vocab_encode(v, "aqa", 3, GG_ENCODE_STRICT, ids, 8, &result, NULL) ==
           GG_ERR_UNSUPPORTED,
       "or fails");
    gg_vocab_free(v);
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.unknown_token_id", 1 + 'u');
    succeed(make_load(&m, &v, NULL));
    succeed(gg_vocab_encode(v, "aqa", 3, 0, ids, 8, &result, NULL));
    ok(result.n == 3 && ids[1] == 1 + 'u', "or becomes the unknown token");
    gg_vocab_free(v);
    make_free(&m);
}

int
main(void)
{
    test_search();
    test_texts();
    test_unknown();
    return tap_done();
}
