/* test_vocab_encode.c - small vocabularies against merging done plainly */
#include <config.h>

#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/vocab_make.h"

#include "core/mem.h"

enum {
    TEXT = 3000
};

/* ---- the reference: the definition, in quadratic time ---- */

struct part {
    char text[16]; /* as the file writes it */
};

static int
token_named(const struct make *m, const char *text)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->tokens[i], text) == 0 && m->types[i] == GG_TOKEN_NORMAL)
            return (int)i;
    return -1;
}

/* Lower is better; -1: the two do not merge. */
static double
order(const struct make *m, const struct part *a, const struct part *b)
{
    char both[64];
    int id;

    if (m->n_merges) {
        snprintf(both, sizeof(both), "%.15s %.15s", a->text, b->text);
        for (size_t i = 0; i < m->n_merges; i++)
            if (strcmp(m->merges[i], both) == 0)
                return (double)i;
        return -1;
    }
    snprintf(both, sizeof(both), "%.15s%.15s", a->text, b->text);
    id = token_named(m, both);
    return id < 0 ? -1 : 1000.0 - (double)m->scores[id];
}

static size_t
merge_plainly(const struct make *m, struct part *parts, size_t n)
{
    for (;;) {
        size_t best = n;
        struct part both;
        double lowest = 1e9;

        for (size_t i = 0; i + 1 < n; i++) {
            double o = order(m, &parts[i], &parts[i + 1]);

            if (o >= 0 && o < lowest) {
                lowest = o;
                best = i;
            }
        }
        if (best == n)
            return n;
        snprintf(both.text, sizeof(both.text), "%.7s%.7s", parts[best].text,
                 parts[best + 1].text); /* no token of ours is longer */
        parts[best] = both;
        memmove(&parts[best + 1], &parts[best + 2],
                (n - best - 2) * sizeof(*parts));
        n--;
    }
}

/* One word of ASCII letters and, for SentencePiece, blanks. */
static size_t
encode_plainly(const struct make *m, const char *text, size_t len, int32_t *ids)
{
    static struct part parts[TEXT + 1];
    size_t n = 0;

    if (!m->n_merges)
        strcpy(parts[n++].text, MARK);
    for (size_t i = 0; i < len; i++)
        snprintf(parts[n++].text, sizeof(parts[0].text), "%s",
                 text[i] == ' ' ? MARK : (char[]){ text[i], 0 });
    n = merge_plainly(m, parts, n);
    for (size_t i = 0; i < n; i++)
        ids[i] = token_named(m, parts[i].text);
    return n;
}

static void
against_reference(const char *what, void (*make)(struct make *),
                  const char *letters)
{
    struct make m;
    struct gg_vocab *v;
    uint64_t random = 7;
    int wrong = 0;

    make(&m);
    ok(make_load(&m, &v, NULL) == GG_OK, what);
    for (int round = 0; round < 300; round++) {
        char text[TEXT];
        int32_t ids[TEXT + 1], want[TEXT + 1];
        size_t len = 1 + make_random(&random) % (round < 250 ? 80 : 300), n;
        size_t n_want;

        for (size_t i = 0; i < len; i++)
            text[i] = letters[make_random(&random) % strlen(letters)];
        n_want = encode_plainly(&m, text, len, want);
        if (encode_ids(v, text, len, 0, ids, TEXT + 1, &n, NULL) != GG_OK ||
            n != n_want || memcmp(ids, want, n * sizeof(*ids)) != 0)
            wrong++;
    }
    is(wrong, 0, what);
    gg_vocab_free(v);
    make_free(&m);
}

/* ---- properties ---- */

static bool
encodes(const struct gg_vocab *v, const char *text, unsigned flags, size_t n,
        const int32_t *want)
{
    int32_t ids[64];
    size_t got;

    return encode_ids(v, text, strlen(text), flags, ids, 64, &got, NULL) ==
               GG_OK &&
           got == n && memcmp(ids, want, n * sizeof(*ids)) == 0;
}
#define IDS(...)                                                               \
    sizeof((int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t), (int32_t[])          \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

/* The bytes of the ids are the text's again, whatever it holds. */
static int
round_trips(const struct gg_vocab *v, bool utf8)
{
    uint64_t random = 11;
    int wrong = 0;

    for (int round = 0; round < 200; round++) {
        static char text[2 * TEXT], back[8 * TEXT];
        static int32_t ids[4 * TEXT];
        struct gg_decode_state state = { .no_bos = true };
        size_t len = make_random(&random) % TEXT, n, used = 0, got;

        for (size_t i = 0; i < len; i++)
            text[i] = (char)(make_random(&random) % (utf8 ? 128 : 256));
        if (encode_ids(v, text, len, 0, ids, 4 * TEXT, &n, NULL) != GG_OK)
            return -1;
        for (size_t i = 0; i < n; i++, used += got)
            if (gg_vocab_decode(v, &state, ids[i], 0, back + used,
                                sizeof(back) - used, &got, NULL) != GG_OK)
                return -1;
        wrong += used != len || memcmp(text, back, len) != 0;
    }
    return wrong;
}

static void
test_bpe(void)
{
    struct make m;
    struct gg_vocab *v;
    int32_t ids[2];
    size_t n;
    int32_t end, im_end, user, more;

    make_bpe(&m);
    end = (int32_t)m.n - 4;
    im_end = end + 1;
    user = end + 2;
    more = end + 3;
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.eos_token_id", (uint32_t)end);
    ok(make_load(&m, &v, NULL) == GG_OK, "byte-level BPE loads");
    ok(gg_vocab_bos(v) == -1 && !gg_vocab_add_bos(v), "it needs no BOS");
    ok(gg_vocab_eos(v) == end && gg_vocab_is_eog(v, end) &&
           gg_vocab_is_eog(v, im_end) && !gg_vocab_is_eog(v, user),
       "EOS and tokens of known names end a text");
    ok(gg_vocab_eog_ids(v, &n)[0] == end && n == 2, "each is listed once");
    is(gg_vocab_size(v), (int32_t)m.n, "size");
    ok(gg_vocab_find(v, "hello", 5) >= 256 &&
           gg_vocab_find(v, "\xc4\xa0w", 3) >= 256 &&
           gg_vocab_find(v, "<user>", 6) == user &&
           gg_vocab_find(v, "hellooo", 7) == -1 &&
           gg_vocab_find(v, " w", 2) == -1,
       "tokens are found as the file writes them");
    ok(encodes(v, "", 0, 0, ids), "nothing becomes nothing");
    ok(encodes(v, "<|endoftext|>", GG_ENCODE_SPECIAL, IDS(end)),
       "control tokens are found if asked for");
    ok(!encodes(v, "<|endoftext|>", 0, IDS(end)), "and else are text");
    ok(encodes(v, "a<user>b", 0, IDS('a', user, 'b')),
       "user-defined tokens always are");
    ok(encodes(v, "<user><more><user>", 0, IDS(more, user)),
       "the longest first");
    ok(encode_ids(v, "abcdef", 6, 0, ids, 2, &n, NULL) == GG_OK && n == 4,
       "too little room: the number of ids is right");
    ok(encode_ids(v, "a", 1, GG_ENCODE_BOS, ids, 2, &n, NULL) ==
           GG_ERR_UNSUPPORTED,
       "no BOS where there is none");
    is(round_trips(v, false), 0, "random bytes come back");
    gg_vocab_free(v);
    make_free(&m);
}

static bool
decodes(const struct gg_vocab *v, bool no_bos, unsigned flags, size_t n_ids,
        const int32_t *ids, const char *want)
{
    struct gg_decode_state state = { .no_bos = no_bos };
    char text[256];
    size_t used = 0, n;

    for (size_t i = 0; i < n_ids; i++, used += n)
        if (gg_vocab_decode(v, &state, ids[i], flags, text + used,
                            sizeof(text) - used, &n, NULL) != GG_OK)
            return false;
    return used == strlen(want) && memcmp(text, want, used) == 0;
}

static void
test_spm(void)
{
    struct make m;
    struct gg_vocab *v;
    int32_t mark, ab_mark, user;
    char c;
    size_t n;
    struct gg_decode_state state = { 0 };

    make_spm(&m);
    ok(make_load(&m, &v, NULL) == GG_OK, "SentencePiece loads");
    mark = gg_vocab_find(v, MARK, 3);
    ab_mark = gg_vocab_find(v, MARK "ab", 5);
    user = gg_vocab_find(v, "<user>", 6);
    ok(gg_vocab_bos(v) == 1 && gg_vocab_eos(v) == 2 && gg_vocab_add_bos(v),
       "BOS and EOS are known by their names");
    ok(encodes(v, "ab", GG_ENCODE_BOS | GG_ENCODE_EOS, IDS(1, ab_mark, 2)) &&
           encodes(v, "", GG_ENCODE_EOS, IDS(2)) &&
           encode_ids(v, "ab", 2, GG_ENCODE_EOS, NULL, 0, &n, NULL) == GG_OK &&
           n == 2,
       "EOS comes last, also where there is no room for it");
    ok(encodes(v, "ab", GG_ENCODE_BOS, IDS(1, ab_mark)),
       "a blank goes in front");
    ok(encodes(v, "\xe4\xb8\xad", 0, IDS(mark, 3 + 0xe4, 3 + 0xb8, 3 + 0xad)),
       "unknown characters become bytes");
    ok(encodes(v, "\xff", 0, IDS(mark, 3 + 0xff)), "so do broken ones");
    ok(encodes(v, "ab<s>ab", GG_ENCODE_SPECIAL, IDS(ab_mark, 1, ab_mark)),
       "after a control token a text begins");
    ok(encodes(v, "ab<user>ab", 0,
               IDS(ab_mark, user, gg_vocab_find(v, "ab", 2))) &&
           encodes(v, "<user>", 0, IDS(mark, user)),
       "a user-defined token stands within a text");
    ok(!encodes(v, "<s>", 0, IDS(1)) && !encodes(v, "<0x41>", 0, IDS(mark, 68)),
       "no text can pretend to be a control token or a byte");
    ok(decodes(v, false, 0, IDS(1, ab_mark, mark), "ab "),
       "the blank goes after BOS");
    ok(decodes(v, true, 0, IDS(ab_mark), "ab"), "or where the caller says so");
    ok(decodes(v, false, 0, IDS(ab_mark), " ab"), "but not elsewhere");
    ok(decodes(v, false, 0, IDS(1, 3 + 'x', mark, 2), "x "),
       "only the first character can be the blank; control tokens are mute");
    ok(decodes(v, false, GG_DECODE_SPECIAL, IDS(1, ab_mark, 2), "<s>ab</s>"),
       "or shown");
    ok(gg_vocab_decode(v, &state, ab_mark, 0, &c, 1, &n, NULL) == GG_OK &&
           n == 3 && !state.started,
       "too little room: the state stays");
    ok(gg_vocab_decode(v, &state, (int32_t)m.n, 0, &c, 1, &n, NULL) ==
               GG_ERR_FORMAT &&
           gg_vocab_decode(v, &state, -1, 0, &c, 1, &n, NULL) == GG_ERR_FORMAT,
       "an id that is none is refused");
    ok(round_trips(v, true) == 0 && round_trips(v, false) == 0,
       "random bytes come back");
    gg_vocab_free(v);

    gguf_set_val_bool(m.gguf, "tokenizer.ggml.add_bos_token", false);
    gguf_set_val_bool(m.gguf, "tokenizer.ggml.add_space_prefix", false);
    ok(vocab_load(m.gguf, &v, NULL) == GG_OK && !gg_vocab_add_bos(v) &&
           encodes(v, "ab", 0, IDS(gg_vocab_find(v, "ab", 2))) &&
           decodes(v, true, 0, IDS(ab_mark), " ab"),
       "the metadata can want neither BOS nor blank");
    gg_vocab_free(v);
    gguf_set_val_bool(m.gguf, "tokenizer.ggml.add_eos_token", true);
    ok(make_load(&m, &v, NULL) == GG_OK && gg_vocab_add_eos(v),
       "and can want EOS");
    gg_vocab_free(v);
    make_free(&m);
}

/* The split rule's name tells of BOS and of whole words, too. */
static void
test_names(void)
{
    struct make m;
    struct gg_vocab *v = NULL;
    int32_t end, odd;

    make_bpe(&m);
    end = (int32_t)m.n - 4;
    odd = make_token(&m, "cab", GG_TOKEN_NORMAL, 0); /* merges make c ab */
    make_lists(&m);
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.bos_token_id", (uint32_t)end);
    ok(vocab_load(m.gguf, &v, NULL) == GG_OK && !gg_vocab_add_bos(v) &&
           !encodes(v, "cab", 0, IDS(odd)) && gg_vocab_find(v, "cab", 3) == odd,
       "gpt-2: merges only, and no BOS");
    gg_vocab_free(v);
    gguf_set_val_str(m.gguf, "tokenizer.ggml.pre", "llama-bpe");
    ok(vocab_load(m.gguf, &v, NULL) == GG_OK && gg_vocab_add_bos(v) &&
           encodes(v, "cab", GG_ENCODE_BOS, IDS(end, odd)) &&
           !encodes(v, "cabb", 0, IDS(odd, 'b')),
       "llama-bpe: a word that is a token is taken whole; BOS in front");
    gg_vocab_free(v);
    gguf_set_val_bool(m.gguf, "tokenizer.ggml.add_bos_token", false);
    ok(vocab_load(m.gguf, &v, NULL) == GG_OK && !gg_vocab_add_bos(v),
       "but for what the metadata says");
    gg_vocab_free(v);
    make_free(&m);
}

static bool
ends(const struct make *m, size_t n, const int32_t *want)
{
    struct gg_vocab *v = NULL;
    const int32_t *ids;
    size_t got;
    bool good = vocab_load(m->gguf, &v, NULL) == GG_OK;

    if (good) {
        ids = gg_vocab_eog_ids(v, &got);
        good = got == n && memcmp(ids, want, n * sizeof(*ids)) == 0;
    }
    gg_vocab_free(v);
    return good;
}

/* Tokens that end a generation. */
static void
test_endings(void)
{
    struct make m;
    struct gg_vocab *v = NULL;
    int32_t text, im, end, turn, ret, call;

    make_bpe(&m);
    text = (int32_t)m.n - 4;
    im = text + 1;
    end = make_token(&m, "<|end|>", GG_TOKEN_CONTROL, 0);
    turn = make_token(&m, "<end_of_turn>", GG_TOKEN_USER_DEFINED, 0);
    make_token(&m, "<|eot_id|>", GG_TOKEN_NORMAL, 0);
    make_lists(&m);
    ok(ends(&m, IDS(text, im, end, turn)),
       "by their names, but no ordinary token");
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.eot_token_id", 'x');
    ok(ends(&m, IDS('x', text, im, end, turn)), "and by the metadata");
    ok(vocab_load(m.gguf, &v, NULL) == GG_OK &&
           !encodes(v, "<end_of_turn>", 0, IDS(turn)) &&
           encodes(v, "<end_of_turn>", GG_ENCODE_SPECIAL, IDS(turn)),
       "no text can say that it ends");
    gg_vocab_free(v);
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.eot_token_id", (uint32_t)end);
    ret = make_token(&m, "<|return|>", GG_TOKEN_CONTROL, 0);
    make_lists(&m);
    ok(ends(&m, IDS(text, im, end, turn, ret)), "<|end|> does");
    call = make_token(&m, "<|call|>", GG_TOKEN_CONTROL, 0);
    make_lists(&m);
    ok(ends(&m, IDS(text, im, turn, ret, call)),
       "where messages follow each other, <|end|> does not");
    make_free(&m);
}

static bool
same_ids(const struct gg_vocab *v, const char *a, const char *b)
{
    int32_t x[32], y[32];
    size_t n = 0, m = 0;

    return encode_ids(v, a, strlen(a), GG_ENCODE_SPECIAL, x, 32, &n, NULL) ==
               GG_OK &&
           encode_ids(v, b, strlen(b), GG_ENCODE_SPECIAL, y, 32, &m, NULL) ==
               GG_OK &&
           n == m && !memcmp(x, y, n * sizeof(*x));
}

static void
test_strips(void)
{
    struct make m;
    struct gg_vocab *v = NULL;
    int32_t end, mark_a;

    make_spm(&m);
    end = make_token(&m, "<|end|>", GG_TOKEN_CONTROL, 0);
    make_lists(&m);
    gguf_set_val_str(m.gguf, "general.architecture", "phi3");
    ok(vocab_load(m.gguf, &v, NULL) == GG_OK, "a vocabulary of Phi-3's kind");
    mark_a = gg_vocab_find(v, MARK "a", 4);
    ok(encodes(v, "<|end|>\n \xc2\xa0\ta<|end|>\n", GG_ENCODE_SPECIAL,
               IDS(end, mark_a, end)),
       "its control tokens take the white space behind them");
    ok(encodes(v, "<s>\na", GG_ENCODE_SPECIAL,
               IDS(1, gg_vocab_find(v, MARK, 3), 3 + '\n',
                   gg_vocab_find(v, "a", 1))),
       "but <s> does not");
    is(gg_vocab_type(v, end), GG_TOKEN_CONTROL, "they are control tokens");
    gg_vocab_free(v);
    gguf_set_val_str(m.gguf, "general.architecture", "llama");
    ok(vocab_load(m.gguf, &v, NULL) == GG_OK &&
           !encodes(v, "<|end|>\na", GG_ENCODE_SPECIAL, IDS(end, mark_a)),
       "those of others do not");
    gg_vocab_free(v);
    make_free(&m);
}

/* gg-convert's lists count, and names do not where they are. */
static void
test_listed(void (*make)(struct make *), const char *what)
{
    static const struct {
        const char *text, *same;
    } texts[] = {
        { "a \n<l> \ta", "a<l> \ta" },
        { "a \n<r> \ta", "a \n<r>a" },
        { "a <l><r> \xc2\xa0<l><r>\n", "a<l><r><l><r>" },
        { "a <u> a", "a<u>a" },
    };
    struct make m;
    struct gg_vocab *v = NULL;
    int32_t left[2], right[3] = { -1, 1 << 30, 0 };
    bool same = true;

    make(&m);
    left[0] = make_token(&m, "<l>", GG_TOKEN_CONTROL, 0);
    right[2] = make_token(&m, "<r>", GG_TOKEN_CONTROL, 0);
    left[1] = right[0] = make_token(&m, "<u>", GG_TOKEN_USER_DEFINED, 0);
    make_token(&m, "<mask>", GG_TOKEN_CONTROL, 0);
    make_lists(&m);
    gguf_set_arr_data(m.gguf, GGUF_LSTRIP, GGUF_TYPE_INT32, left, 2);
    gguf_set_arr_data(m.gguf, GGUF_RSTRIP, GGUF_TYPE_UINT32, right, 3);
    gguf_set_val_str(m.gguf, "general.architecture", "jina-bert-v3");
    ok(vocab_load(m.gguf, &v, NULL) == GG_OK, what);
    for (size_t i = 0; v && i < sizeof(texts) / sizeof(*texts); i++)
        same = same_ids(v, texts[i].text, texts[i].same) && same;
    ok(v && same, "tokens of the lists take the white space around them");
    ok(v && !same_ids(v, "a <mask>", "a<mask>"), "and no other one");
    gg_vocab_free(v);
    gguf_set_val_str(m.gguf, GGUF_LSTRIP, "<l>");
    ok(vocab_load(m.gguf, &v, NULL) == GG_ERR_FORMAT,
       "a list is one of numbers");
    make_free(&m);
}

static void
test_fingerprint(void)
{
    struct make a, b;
    struct gg_vocab *va = NULL, *vb = NULL;

    make_bpe(&a);
    make_bpe(&b);
    ok(make_load(&a, &va, NULL) == GG_OK && make_load(&b, &vb, NULL) == GG_OK &&
           gg_vocab_fingerprint(va) == gg_vocab_fingerprint(vb),
       "equal vocabularies have equal fingerprints");
    gg_vocab_free(vb);
    b.types[b.n - 1] = GG_TOKEN_CONTROL;
    ok(make_load(&b, &vb, NULL) == GG_OK &&
           gg_vocab_fingerprint(va) != gg_vocab_fingerprint(vb),
       "a type changes it");
    gg_vocab_free(vb);
    gg_vocab_free(va);
    make_free(&a);
    make_free(&b);
}

/* Every allocation fails once: a status, and nothing leaks (which the
 * sanitizers see). */
static void
test_no_memory(void (*make)(struct make *), const char *what)
{
    static char text[TEXT];
    int32_t ids[8];
    struct make m;
    struct gg_vocab *v = NULL;
    enum gg_status st = GG_ERR_NOMEM;
    size_t n;
    long i;

    make(&m);
    make_lists(&m);
    for (i = 0; st == GG_ERR_NOMEM && i < 100; i++) {
        mem_fail_after(i);
        st = vocab_load(m.gguf, &v, NULL);
    }
    mem_fail_after(-1);
    ok(st == GG_OK && i > 3, what);
    for (size_t k = 0; k < sizeof(text); k++)
        text[k] = "ab"[k % 2];
    mem_fail_after(0);
    ok(encode_ids(v, text, 8, 0, ids, 8, &n, NULL) == GG_OK,
       "a short word needs no memory");
    ok(encode_ids(v, text, TEXT, 0, ids, 8, &n, NULL) == GG_ERR_NOMEM,
       "a long one does, and says so");
    mem_fail_after(-1);
    gg_vocab_free(v);
    make_free(&m);
}

/* Each merge of x and y leaves two pairs after that come late, and makes two
 * more: the most that a long word has to keep in mind. */
static void
test_many_pairs(void)
{
    enum {
        TIMES = 1000
    };
    static char text[3 * TIMES];
    static int32_t ids[3 * TIMES];
    struct make m;
    struct gg_vocab *v = NULL;
    size_t n = 0;
    int32_t xyz;
    bool same = true;

    make_bpe(&m);
    make_merge(&m, "x y");
    xyz = make_merge(&m, "xy z");
    make_merge(&m, "y z");
    make_merge(&m, "z x");
    make_merge(&m, "z xy");
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = "xyz"[i % 3];
    same = make_load(&m, &v, NULL) == GG_OK &&
           encode_ids(v, text, sizeof(text), 0, ids, 3 * TIMES, &n, NULL) ==
               GG_OK &&
           n == TIMES;
    for (size_t i = 0; i < n; i++)
        same = same && ids[i] == xyz;
    ok(same, "a long word with many pairs that wait");
    gg_vocab_free(v);
    make_free(&m);
}

int
main(void)
{
    against_reference("BPE merges as defined", make_bpe, "abchello");
    against_reference("BPE: runs", make_bpe, "aab");
    against_reference("SentencePiece merges as defined", make_spm, "abc ");
    against_reference("SentencePiece: blanks", make_spm, "a  b");
    test_bpe();
    test_spm();
    test_names();
    test_many_pairs();
    test_endings();
    test_strips();
    test_listed(make_bpe, "lists of what takes white space, BPE");
    test_listed(make_spm, "lists of what takes white space, SentencePiece");
    test_fingerprint();
    test_no_memory(make_bpe, "BPE: memory runs out");
    test_no_memory(make_spm, "SentencePiece: memory runs out");
    return tap_done();
}
