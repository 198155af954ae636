/* vocab_make.h - small vocabularies for tests, made in memory */
#ifndef VOCAB_MAKE_H
#define VOCAB_MAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vocab/vocab.h"

enum {
    MAKE_MAX = 400
};

/* What a file says; a test may change it before it is loaded. */
struct make {
    struct gguf_context *gguf;
    char *tokens[MAKE_MAX];
    int32_t types[MAKE_MAX];
    float scores[MAKE_MAX];
    size_t n;
    const char *merges[MAKE_MAX];
    size_t n_merges;
};

static inline int32_t
make_token(struct make *m, const char *text, enum gg_token_type type,
           float score)
{
    m->tokens[m->n] = strdup(text);
    m->types[m->n] = (int32_t)type;
    m->scores[m->n] = score;
    return (int32_t)m->n++;
}

static inline int32_t
make_merge(struct make *m, const char *merge)
{
    char text[64];
    const char *blank = strchr(merge, ' ');

    snprintf(text, sizeof(text), "%.*s%s", (int)(blank - merge), merge,
             blank + 1);
    m->merges[m->n_merges++] = merge;
    return make_token(m, text, GG_TOKEN_NORMAL, 0);
}

/* The table of GPT-2's encoder.py: printable Latin-1 characters stand for
 * themselves, the others get numbers from 256 on. */
static inline void
make_bytes(struct make *m)
{
    unsigned next = 256;

    for (unsigned b = 0; b < 256; b++) {
        bool same = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) ||
                    (b >= 0xae && b <= 0xff);
        unsigned cp = same ? b : next++;
        char text[3] = { (char)cp, 0, 0 };

        if (cp >= 0x80) {
            text[0] = (char)(0xc0 | cp >> 6);
            text[1] = (char)(0x80 | (cp & 0x3f));
        }
        make_token(m, text, GG_TOKEN_NORMAL, 0);
    }
}

/* Byte-level BPE: bytes are ids 0 to 255, then the merges. */
static inline void
make_bpe(struct make *m)
{
    static const char *const merges[] = {
        "h e",
        "l l",
        "a a",
        "he ll",
        "hell o",
        "a b",
        "b c",
        "aa b",
        "aa aa",
        "c c",
        "\xc4\xa0 w",
        "o r",
        "or l",
        "orl d",
        "b a",
        "ab c",
        "cc c",
        "\xc4\xa0w orld",
        "\xc3\xa9 \xc3\xa9",
    };

    memset(m, 0, sizeof(*m));
    make_bytes(m);
    for (size_t i = 0; i < sizeof(merges) / sizeof(merges[0]); i++)
        make_merge(m, merges[i]);
    make_token(m, "<|endoftext|>", GG_TOKEN_CONTROL, 0);
    make_token(m, "<|im_end|>", GG_TOKEN_CONTROL, 0);
    make_token(m, "<user>", GG_TOKEN_USER_DEFINED, 0);
    make_token(m, "<user><more>", GG_TOKEN_USER_DEFINED, 0);
    m->gguf = gguf_init_empty();
    gguf_set_val_str(m->gguf, "tokenizer.ggml.model", "gpt2");
    gguf_set_val_str(m->gguf, "tokenizer.ggml.pre", "gpt-2");
}

#define MARK "\xe2\x96\x81"

/* SentencePiece: <unk> <s> </s>, bytes from 3 on, then pieces. */
static inline void
make_spm(struct make *m)
{
    static const struct {
        const char *text;
        float score;
    } pieces[] = {
        { MARK, -20 },
        { "a", -21 },
        { "b", -22 },
        { "c", -23 },
        { "ab", -1 },
        { "ba", -1 },
        { "bc", -2 },
        { MARK "a", -3 },
        { MARK "ab", -4 },
        { "abab", -5 },
        { "cc", -1.5f },
        { "ccc", -1.25f },
        { MARK MARK, -6 },
        { "\xc3\xa9", -9 },
        { "b\xc3\xa9", -0.5f },
        { "\xe4\xb8\xad"
          "a",
          -0.25f },
    };
    char byte[8];

    memset(m, 0, sizeof(*m));
    make_token(m, "<unk>", GG_TOKEN_UNKNOWN, 0);
    make_token(m, "<s>", GG_TOKEN_CONTROL, 0);
    make_token(m, "</s>", GG_TOKEN_CONTROL, 0);
    for (unsigned b = 0; b < 256; b++) {
        snprintf(byte, sizeof(byte), "<0x%02X>", b);
        make_token(m, byte, GG_TOKEN_BYTE, 0);
    }
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        make_token(m, pieces[i].text, GG_TOKEN_NORMAL, pieces[i].score);
    make_token(m, "<user>", GG_TOKEN_USER_DEFINED, 0);
    m->gguf = gguf_init_empty();
    gguf_set_val_str(m->gguf, "tokenizer.ggml.model", "llama");
}

/* WordPiece: [UNK] [CLS] [SEP], then pieces. */
static inline void
make_wpm(struct make *m)
{
    static const char *const pieces[] = {
        MARK "hello",
        MARK "he",
        "llo",
        "l",
        "o",
        MARK "a",
        "a",
        "b",
        MARK "b",
        "ab",
        MARK ",",
        MARK ".",
        MARK "'",
        MARK "worl",
        "d",
        MARK "=",
        MARK "\xe4\xb8\xad",
        MARK,
        MARK "users",
        "[unused0]",
        MARK "\xe1\x84\x92",
        "\xe1\x85\xa1",
        "\xe1\x86\xab",
        MARK "\xc3\x9f",
    };

    memset(m, 0, sizeof(*m));
    make_token(m, "[UNK]", GG_TOKEN_CONTROL, 0);
    make_token(m, "[CLS]", GG_TOKEN_CONTROL, 0);
    make_token(m, "[SEP]", GG_TOKEN_CONTROL, 0);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        make_token(m, pieces[i], GG_TOKEN_NORMAL, 0);
    make_token(m, "<user>", GG_TOKEN_USER_DEFINED, 0);
    m->gguf = gguf_init_empty();
    gguf_set_val_str(m->gguf, "tokenizer.ggml.model", "bert");
}

enum {
    MAKE_UNITS = 1024, /* of the trie of a character map */
    MAKE_CHARSMAP = 4 + 4 * MAKE_UNITS + 16,
};

static inline void
make_unit(uint8_t *map, size_t at, uint32_t unit)
{
    for (int i = 0; i < 4; i++)
        map[4 + 4 * at + (size_t)i] = (uint8_t)(unit >> 8 * i);
}

/* Where A becomes a, a tab a blank, U+FB01 fi, and NUL NUL nothing. See
 * charsmap.h: the root's children stand at 256 and on, those of 0xef at 512
 * and on, and their children at 768; values come from 1 on. */
static inline void
make_charsmap(uint8_t map[MAKE_CHARSMAP])
{
    static const char texts[16] = "a\0 \0fi";

    memset(map, 0, MAKE_CHARSMAP);
    map[1] = 4 * MAKE_UNITS >> 8;
    make_unit(map, 0, 256u << 10);
    make_unit(map, 256 ^ 'A', (256u ^ 'A' ^ 1) << 10 | 0x100 | 'A');
    make_unit(map, 1, 1u << 31 | 0);
    make_unit(map, 256 ^ '\t', (256u ^ '\t' ^ 2) << 10 | 0x100 | '\t');
    make_unit(map, 2, 1u << 31 | 2);
    make_unit(map, 256 ^ 0xef, (256u ^ 0xef ^ 512) << 10 | 0xef);
    make_unit(map, 512 ^ 0xac, (512u ^ 0xac ^ 768) << 10 | 0xac);
    make_unit(map, 768 ^ 0x81, (768u ^ 0x81 ^ 3) << 10 | 0x100 | 0x81);
    make_unit(map, 3, 1u << 31 | 4);
    memcpy(map + 4 + 4 * MAKE_UNITS, texts, sizeof(texts));
}

static inline void
make_set_charsmap(struct make *m, const uint8_t *map, size_t n)
{
    gguf_set_arr_data(m->gguf, "tokenizer.ggml.precompiled_charsmap",
                      GGUF_TYPE_UINT8, map, n);
}

/* Unigram: <pad> </s> <unk>, then pieces. */
static inline void
make_ugm(struct make *m)
{
    static const struct {
        const char *text;
        float score;
    } pieces[] = {
        { MARK, -3 },       { "a", -4 },          { "b", -4.5f },
        { "ab", -5 },       { MARK "a", -4.25f }, { MARK "ab", -4.75f },
        { "ba", -5.5f },    { "aba", -7 },        { "f", -6 },
        { "i", -6 },        { "\xc3\xa9", -5 },   { "b" MARK "a", -9 },
        { "aaaaaaaa", -8 }, { "\xc3", -9 },       { "a", -1 },
    };
    uint8_t map[MAKE_CHARSMAP];

    memset(m, 0, sizeof(*m));
    make_token(m, "<pad>", GG_TOKEN_CONTROL, 0);
    make_token(m, "</s>", GG_TOKEN_CONTROL, 0);
    make_token(m, "<unk>", GG_TOKEN_UNKNOWN, 0);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        make_token(m, pieces[i].text, GG_TOKEN_NORMAL, pieces[i].score);
    make_token(m, "bb", GG_TOKEN_UNUSED, -1);
    make_token(m, "<user>", GG_TOKEN_USER_DEFINED, 0);
    make_token(m, MARK MARK, GG_TOKEN_USER_DEFINED, 0);
    m->gguf = gguf_init_empty();
    gguf_set_val_str(m->gguf, "tokenizer.ggml.model", "t5");
    gguf_set_val_bool(m->gguf, "tokenizer.ggml.add_space_prefix", true);
    make_charsmap(map);
    make_set_charsmap(m, map, sizeof(map));
}

/* Puts the lists into the file. */
static inline void
make_lists(struct make *m)
{
    bool spm = m->n_merges == 0;

    gguf_set_arr_str(m->gguf, "tokenizer.ggml.tokens", (const char **)m->tokens,
                     m->n);
    gguf_set_arr_data(m->gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32,
                      m->types, m->n);
    if (spm)
        gguf_set_arr_data(m->gguf, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32,
                          m->scores, m->n);
    else
        gguf_set_arr_str(m->gguf, "tokenizer.ggml.merges", m->merges,
                         m->n_merges);
}

static inline enum gg_status
make_load(struct make *m, struct gg_vocab **out, struct gg_error *err)
{
    make_lists(m);
    return vocab_load(m->gguf, out, err);
}

static inline void
make_free(struct make *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->tokens[i]);
    gguf_free(m->gguf);
}

/* Loading fails with the status, and with a message that has `word` in it;
 * frees `m`. */
static inline bool
make_fails(struct make *m, enum gg_status want, const char *word)
{
    struct gg_error err = { "" };
    struct gg_vocab *v = NULL;
    enum gg_status st = vocab_load(m->gguf, &v, &err);
    bool good = st == want && strstr(err.message, word) && !v;

    if (!good)
        printf("# status %d: %s\n", (int)st, err.message);
    gg_vocab_free(v);
    make_free(m);
    return good;
}

static inline uint32_t
make_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

#endif
