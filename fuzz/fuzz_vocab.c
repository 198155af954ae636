/* fuzz_vocab.c - vocabularies: whatever a file holds, a word at most; what is
 * accepted encodes any text, and gives it back
 *
 * The input is a GGUF file. The text is its last bytes, and of some inputs all
 * of them; as a message of a conversation it makes no control token. The last
 * byte says which of the flags and which of the known forms of conversations
 * are tried: with all of them, and all bytes, an input takes fifteen times as
 * long.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "fixtures/vocab_make.h"

const char fuzz_name[] = "vocab";

enum {
    SHORT_TEXT = 100,
    LONG_TEXT = 1 << 12,
    LONG_EACH = 16, /* sizes that are its multiples: all of the input */
};

static void
check(bool right)
{
    if (!right)
        abort();
}

/* Blanks for marks: SentencePiece cannot tell the two. Returns the length. */
static size_t
unmark(char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; n++) {
        bool mark = len - i >= 3 && memcmp(text + i, MARK, 3) == 0;

        text[n] = mark ? ' ' : text[i];
        i += mark ? 3 : 1;
    }
    return n;
}

/* The bytes of the ids in one piece of memory. */
static char *
decode(const struct gg_vocab *v, const int32_t *ids, size_t n, unsigned flags,
       size_t *len)
{
    struct gg_decode_state state = { .no_bos = true };
    size_t cap = 16;
    char *text = malloc(cap);

    check(text != NULL);
    *len = 0;
    for (size_t i = 0; i < n;) {
        size_t more;

        check(ids[i] >= 0 && ids[i] < gg_vocab_size(v));
        check(gg_vocab_decode(v, &state, ids[i], flags,
                              text ? text + *len : NULL, cap - *len, &more,
                              NULL) == GG_OK);
        if (more > cap - *len) {
            text = realloc(text, cap = 2 * cap + more);
            check(text != NULL);
        } else {
            *len += more;
            i++;
        }
    }
    return text;
}

/* Decodes the same text, all at once and through a small buffer. */
static void
decode_again(const struct gg_vocab *v, const int32_t *ids, size_t n,
             unsigned flags, const char *text, size_t len)
{
    struct gg_decode_state state = { .no_bos = true };
    char *room = malloc(len + 1);
    size_t used = 0, done = 0, more;

    check(room != NULL);
    for (size_t i = 0, cap = len / 3; i < n; i += done) {
        check(gg_vocab_decode_ids(v, &state, ids + i, n - i, flags, room, cap,
                                  &done, &more, NULL) == GG_OK);
        check(done ? more <= cap : more > cap && more <= len);
        cap = done ? len / 3 : more;
        check(!done || more == 0 ||
              (more <= len - used && memcmp(room, text + used, more) == 0));
        used += done ? more : 0;
    }
    check(used == len);
    free(room);
}

static void
comes_back(const struct gg_vocab *v, const char *text, size_t len,
           const int32_t *ids, size_t n)
{
    size_t n_back;
    char *back = decode(v, ids, n, 0, &n_back), *want = malloc(len + 1);

    check(want != NULL);
    memcpy(want, text, len);
    if (v->kind == VOCAB_SPM) {
        len = unmark(want, len);
        n_back = unmark(back, n_back);
    }
    check(n_back == len && (len == 0 || memcmp(back, want, len) == 0));
    free(want);
    free(back);
}

/* The most ids that there can be: normalising makes up to 255 bytes of one. */
static size_t
bound(const struct gg_vocab *v, size_t len)
{
    return (v->kind == VOCAB_UGM ? 256 : 2) * len + 3;
}

/* They are in order, and in the text. */
static void
ranges(const struct gg_vocab *v, const char *text, size_t len, unsigned flags,
       const int32_t *ids, size_t n)
{
    struct gg_range *all = malloc((n + 1) * sizeof(*all)), last = { 0, 0 };

    check(all != NULL);
    if (gg_vocab_offsets(v, text, len, flags, ids, n, all, NULL) == GG_OK)
        for (size_t i = 0; i < n; last = all[i++])
            check(all[i].begin <= all[i].end && all[i].end <= len &&
                  all[i].begin >= last.begin && all[i].end >= last.end);
    else
        check(v->kind <= VOCAB_SPM);
    free(all);
}

static void
encode(const struct gg_vocab *v, const char *text, size_t len, unsigned flags)
{
    int32_t *ids, few[3];
    struct gg_encoded first, again;
    size_t n, bytes;
    char *shown;

    if (gg_vocab_encode(v, text, len, flags, few, 3, &first, NULL) != GG_OK)
        return;
    n = first.n;
    check(n <= bound(v, len));
    ids = malloc((n + 1) * sizeof(*ids));
    check(ids != NULL);
    check(gg_vocab_encode(v, text, len, flags, ids, n, &again, NULL) == GG_OK &&
          again.n == n && again.left_out == first.left_out &&
          memcmp(ids, few, (n < 3 ? n : 3) * 4) == 0);
    for (size_t i = 0; i < n && flags == 0; i++)
        check(gg_vocab_type(v, ids[i]) != GG_TOKEN_CONTROL);
    ranges(v, text, len, flags, ids, n);
    if (v->unk < 0 && first.left_out == 0 && flags == 0 && v->kind <= VOCAB_SPM)
        comes_back(v, text, len, ids, n);
    shown = decode(v, ids, n, GG_DECODE_SPECIAL, &bytes);
    decode_again(v, ids, n, GG_DECODE_SPECIAL, shown, bytes);
    free(shown);
    free(ids);
}

/* The control tokens of a message that says the text; -1: it cannot be. */
static long
controls(const struct gg_vocab *v, const struct gg_chat_template *t,
         const char *text, size_t len)
{
    const struct gg_message message = { GG_ROLE_USER, text, len };
    const struct gg_chat_params params = { .flags = GG_CHAT_ANSWER };
    size_t cap = bound(v, len) + 4096;
    struct gg_encoded made;
    int32_t *ids = malloc(cap * sizeof(*ids));
    long found = -1;

    check(ids != NULL);
    if (gg_chat_encode(v, t, &message, 1, &params, ids, cap, &made, NULL) ==
        GG_OK) {
        check(made.n <= cap);
        found = 0;
        for (size_t i = 0; i < made.n; i++)
            found += gg_vocab_type(v, ids[i]) == GG_TOKEN_CONTROL;
    }
    free(ids);
    return found;
}

/* Text of a message is never a control token. */
static void
converse(const struct gg_vocab *v, size_t which, const char *text, size_t len)
{
    static size_t n_forms;
    const struct gg_chat_template *t;
    long n;

    while (gg_chat_at(n_forms))
        n_forms++;
    t = gg_chat_at(which % n_forms);
    n = controls(v, t, text, len);
    check(n < 0 || n == controls(v, t, "", 0));
}

static void
ask(const struct gg_vocab *v)
{
    size_t n, len;
    const int32_t *eog = gg_vocab_eog_ids(v, &n);

    for (size_t i = 0; i < n; i++)
        check(gg_vocab_is_eog(v, eog[i]) && eog[i] < gg_vocab_size(v) &&
              (i == 0 || eog[i] > eog[i - 1]));
    check(gg_vocab_bos(v) < gg_vocab_size(v) &&
          gg_vocab_eos(v) < gg_vocab_size(v));
    check(!gg_vocab_add_bos(v) || gg_vocab_bos(v) >= 0);
    for (int32_t id = 0; id < gg_vocab_size(v); id++) {
        const char *token = gg_vocab_token(v, id, &len);
        int32_t found = gg_vocab_find(v, token, len);

        /* Where two are written alike: a piece of texts, the first of them. */
        check(found <= id || !(v->types[id] & VOCAB_PIECE));
        check(found >= 0 || len == 0);
    }
    (void)gg_vocab_fingerprint(v);
    check(!gg_vocab_note(v) || gg_vocab_note(v)[0]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct gguf_context *g = NULL;
    struct gg_vocab *v = NULL;
    struct gg_error err = { "" };
    bool all = size % LONG_EACH == 0 && size < LONG_TEXT;
    size_t some = size < SHORT_TEXT || all ? size : SHORT_TEXT;
    uint8_t choice = size > 0 ? data[size - 1] : 0;

    if (gguf_parse(data, size, "input", &g, NULL) != GG_OK)
        return 0;
    if (vocab_load(g, &v, &err) == GG_OK) {
        ask(v);
        encode(v, text + size - some, some, 0);
        if (choice % 8)
            encode(v, text + size - some, some, choice % 8);
        converse(v, choice / 8, text + size - some, some);
    } else {
        check(!v && err.message[0]);
    }
    gg_vocab_free(v);
    gguf_free(g);
    return 0;
}

static const char *const texts[] = {
    "hello world, <|im_end|>hello  world's end\n\n  <user>\xc3\xa9\xff\xf0\x9f",
    "ab abab <s>cc" MARK "ccc <|endoftext|> <user> \t bab ba\xe4\xb8\xad"
    "a",
    "Hello, a\xcc\x81"
    "b \xed\x95\x9c users helloo[SEP] \xff b.\xe4\xb8\xad "
    "\x01[CLS]",
    "  A\tab aba</s>  \xef\xac\x81 aaaaaaaaaab<user>bb  \xc3\xa9\xff" MARK
    "ba ",
};

/* A rule each; the last is not known. */
static const char *const rules[] = {
    "llama-bpe",    "qwen35",         "gpt-4o",      "falcon",  "starcoder",
    "deepseek-llm", "deepseek-coder", "deepseek-v3", "klingon",
};

enum {
    KINDS = 5,
    N_KINDS = 4 * KINDS,
    N_RULES = sizeof(rules) / sizeof(rules[0])
};

static void (*const makers[KINDS])(struct make *m) = { make_bpe, make_spm,
                                                       make_wpm, make_ugm,
                                                       make_world };

/* The kinds in turn, then with what a mutation would hardly find, and then the
 * split rules. */
uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    const char *text = texts[i % 4];
    const char *rule = i < N_KINDS ? NULL : rules[(i - N_KINDS) % N_RULES];
    struct make m;
    uint8_t *data;
    size_t meta;

    if (i >= N_KINDS + N_RULES)
        return NULL;
    (rule ? make_bpe : makers[i % KINDS])(&m);
    if (i >= KINDS)
        gguf_set_val_u32(m.gguf, "tokenizer.ggml.bos_token_id", 1);
    if (i >= 2 * KINDS)
        make_token(&m, i % KINDS ? MARK MARK "a" : " a", GG_TOKEN_USER_DEFINED,
                   0);
    if (i >= 2 * KINDS) {
        gguf_set_val_bool(m.gguf, "tokenizer.ggml.remove_extra_whitespaces", 1);
        make_token(&m, "<|im_start|>", GG_TOKEN_CONTROL, 0);
        gguf_set_val_str(m.gguf, "tokenizer.chat_template", "<|im_start|>");
    }
    if (rule)
        gguf_set_val_str(m.gguf, "tokenizer.ggml.pre", rule);
    if (i >= 3 * KINDS)
        m.types[0] = GG_TOKEN_UNUSED;
    make_lists(&m);
    meta = gguf_get_meta_size(m.gguf);
    *size = meta + strlen(text);
    data = malloc(*size);
    check(data != NULL);
    gguf_get_meta_data(m.gguf, data);
    memcpy(data + meta, text, strlen(text));
    make_free(&m);
    return data;
}
