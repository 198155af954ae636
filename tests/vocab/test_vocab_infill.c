/* test_vocab_infill.c - fill in the middle: which marks a vocabulary has, in
 * which order; with $GG_TEST_VOCAB those of real ones */
#include "fixtures/vocab_make.h"
#include "harness/tap.h"

static struct gg_error err;

/* The ids as text: control tokens as they are written, others as bytes. */
static const char *
shown(const struct gg_vocab *v, const char *prefix, const char *suffix,
      unsigned flags)
{
    static char text[4096];
    struct gg_decode_state state = { .started = true };
    struct gg_encoded made;
    int32_t ids[256];
    size_t done, len;
    enum gg_status st =
        gg_vocab_encode_infill(v, prefix, strlen(prefix), suffix,
                               strlen(suffix), flags, ids, 256, &made, &err);

    if (st != GG_OK)
        return gg_status_string(st);
    if (made.n > 256 ||
        gg_vocab_decode_ids(v, &state, ids, made.n, GG_DECODE_SPECIAL, text,
                            sizeof(text) - 1, &done, &len, &err) != GG_OK)
        return "?";
    text[len] = '\0';
    return text;
}

/* ---- which marks ---- */

static void
check_form(const char *pre, const char *suf, const char *mid,
           enum gg_token_type type, const char *want)
{
    struct gg_vocab *v;
    struct make m;

    make_bpe(&m);
    make_token(&m, pre, type, 0);
    make_token(&m, suf, type, 0);
    if (mid)
        make_token(&m, mid, type, 0);
    if (make_load(&m, &v, &err) != GG_OK)
        exit(99);
    is(shown(v, "ab", "cc", 0), want, pre);
    gg_vocab_free(v);
    make_free(&m);
}

static void
check_forms(void)
{
    const enum gg_token_type control = GG_TOKEN_CONTROL;

    check_form("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", control,
               "<|fim_prefix|>ab<|fim_suffix|>cc<|fim_middle|>");
    check_form("<fim_prefix>", "<fim_suffix>", "<fim_middle>",
               GG_TOKEN_USER_DEFINED,
               "<fim_prefix>ab<fim_suffix>cc<fim_middle>");
    check_form("<\xef\xbd\x9c"
               "fim\xe2\x96\x81"
               "begin\xef\xbd\x9c>",
               "<\xef\xbd\x9c"
               "fim\xe2\x96\x81hole\xef\xbd\x9c>",
               "<\xef\xbd\x9c"
               "fim\xe2\x96\x81"
               "end\xef\xbd\x9c>",
               control,
               "<\xef\xbd\x9c"
               "fim\xe2\x96\x81"
               "begin\xef\xbd\x9c>ab<\xef\xbd\x9c"
               "fim\xe2\x96\x81hole\xef\xbd\x9c>cc<\xef\xbd\x9c"
               "fim\xe2\x96\x81"
               "end\xef\xbd\x9c>");
    check_form("<[fim-prefix]>", "<[fim-suffix]>", "<[fim-middle]>", control,
               "<[fim-suffix]>cc<[fim-prefix]>ab<[fim-middle]>");
    check_form("[PREFIX]", "[SUFFIX]", NULL, control, "[SUFFIX]cc[PREFIX]ab");
    check_form("[PREFIX]", "[SUFFIX]", "[MIDDLE]", control,
               "[SUFFIX]cc[PREFIX]ab");
    check_form("[PREFIX]", "[SUFFIX]", NULL, GG_TOKEN_USER_DEFINED,
               gg_status_string(GG_ERR_UNSUPPORTED));
    check_form("<|fim_prefix|>", "<|fim_suffix|>", NULL, control,
               gg_status_string(GG_ERR_UNSUPPORTED));
}

/* ---- ids that the file names ---- */

static void
check_keys(const char *const keys[3], bool all, const char *want)
{
    struct gg_vocab *v;
    struct make m;

    make_bpe(&m);
    for (int i = 0; i < (all ? 3 : 2); i++) {
        char text[16];

        snprintf(text, sizeof(text), "<%d>", i);
        gguf_set_val_u32(m.gguf, keys[i],
                         (uint32_t)make_token(&m, text, GG_TOKEN_CONTROL, 0));
    }
    if (make_load(&m, &v, &err) != GG_OK)
        exit(99);
    is(shown(v, "ab", "cc", 0), want, keys[0]);
    gg_vocab_free(v);
    make_free(&m);
}

/* Where the file names a family's marks, the order is the family's. */
static void
check_named(const char *pre, const char *suf, const char *mid, bool key,
            const char *want)
{
    struct gg_vocab *v;
    struct make m;
    int32_t id;

    make_bpe(&m);
    id = make_token(&m, suf, GG_TOKEN_CONTROL, 0);
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.fim_suf_token_id", (uint32_t)id);
    id = make_token(&m, pre, GG_TOKEN_CONTROL, 0);
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.fim_pre_token_id", (uint32_t)id);
    id = make_token(&m, mid, GG_TOKEN_CONTROL, 0);
    if (key)
        gguf_set_val_u32(m.gguf, "tokenizer.ggml.fim_mid_token_id",
                         (uint32_t)id);
    if (make_load(&m, &v, &err) != GG_OK)
        exit(99);
    is(shown(v, "ab", "cc", 0), want, pre);
    gg_vocab_free(v);
    make_free(&m);
}

static void
check_bad_key(void)
{
    struct make m;

    make_bpe(&m);
    make_lists(&m);
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.fim_mid_token_id", 100000);
    ok(make_fails(&m, GG_ERR_FORMAT, "fim_mid"), "an id that is none");
}

static void
check_all_keys(void)
{
    static const char *const new[] = { "tokenizer.ggml.fim_pre_token_id",
                                       "tokenizer.ggml.fim_suf_token_id",
                                       "tokenizer.ggml.fim_mid_token_id" };
    static const char *const old[] = { "tokenizer.ggml.prefix_token_id",
                                       "tokenizer.ggml.suffix_token_id",
                                       "tokenizer.ggml.middle_token_id" };

    check_keys(new, true, "<0>ab<1>cc<2>");
    check_keys(old, true, "<0>ab<1>cc<2>");
    check_keys(new, false, gg_status_string(GG_ERR_UNSUPPORTED));
    check_named("[PREFIX]", "[SUFFIX]", "[MIDDLE]", false,
                "[SUFFIX]cc[PREFIX]ab");
    check_named("[PREFIX]", "[SUFFIX]", "[MIDDLE]", true,
                "[SUFFIX]cc[PREFIX]ab[MIDDLE]");
    check_named("<[fim-prefix]>", "<[fim-suffix]>", "<[fim-middle]>", false,
                "<[fim-suffix]>cc<[fim-prefix]>ab<[fim-middle]>");
    check_named("<|prefix|>", "<|suffix|>", "<|mid|>", false,
                gg_status_string(GG_ERR_UNSUPPORTED));
    check_bad_key();
}

/* ---- texts ---- */

static size_t
count(const struct gg_vocab *v, const char *prefix, const char *suffix,
      unsigned flags, int32_t ids[64])
{
    struct gg_encoded made = { 0 };

    if (gg_vocab_encode_infill(v, prefix, strlen(prefix), suffix,
                               strlen(suffix), flags, ids, 64, &made,
                               &err) != GG_OK)
        return 0;
    return made.n;
}

/* CodeLlama's: a blank is put in front of the prefix, and of nothing else. */
static void
check_spm(void)
{
    struct gg_vocab *v;
    struct make m;
    int32_t ids[64], pre, suf, mid;

    make_spm(&m);
    pre = make_token(&m, MARK "<PRE>", GG_TOKEN_NORMAL, -30);
    suf = make_token(&m, MARK "<SUF>", GG_TOKEN_NORMAL, -30);
    mid = make_token(&m, MARK "<MID>", GG_TOKEN_NORMAL, -30);
    if (make_load(&m, &v, &err) != GG_OK)
        exit(99);
    ok(count(v, "ab", "ab", GG_ENCODE_BOS, ids) == 6 && ids[0] == 1 &&
           ids[1] == pre && ids[2] == gg_vocab_find(v, MARK "ab", 5) &&
           ids[3] == suf && ids[4] == gg_vocab_find(v, "ab", 2) &&
           ids[5] == mid,
       "SentencePiece: a blank in front of the prefix only");
    ok(count(v, "", "", 0, ids) == 3 && ids[0] == pre && ids[1] == suf &&
           ids[2] == mid,
       "nothing around the gap");
    gg_vocab_free(v);
    make_free(&m);
}

static void
check_text(void)
{
    struct gg_vocab *v;
    struct gg_encoded made;
    struct make m;
    int32_t ids[64], pad;

    make_bpe(&m);
    make_token(&m, "<fim_prefix>", GG_TOKEN_USER_DEFINED, 0);
    make_token(&m, "<fim_suffix>", GG_TOKEN_USER_DEFINED, 0);
    make_token(&m, "<fim_middle>", GG_TOKEN_USER_DEFINED, 0);
    pad = make_token(&m, "<fim_pad>", GG_TOKEN_CONTROL, 0);
    if (make_load(&m, &v, &err) != GG_OK)
        exit(99);
    ok(count(v, "<fim_suffix>", "", 0, ids) > 10, "a text has no mark");
    ok(count(v, "<fim_suffix>", "", GG_ENCODE_SPECIAL, ids) == 4,
       "unless that is wanted");
    ok(gg_vocab_is_eog(v, pad), "padding ends a text");
    ok(gg_vocab_encode_infill(v, "a", 1, "b", 1, 0, NULL, 0, &made, &err) ==
               GG_OK &&
           made.n == 5,
       "counted without room");
    ok(gg_vocab_encode_infill(v, "a", 1, "b", 1, GG_ENCODE_EOS, ids, 64, &made,
                              &err) == GG_ERR_ARG &&
           gg_vocab_encode_infill(v, "a", 1, "b", 1, GG_ENCODE_GREEDY, ids, 64,
                                  &made, &err) == GG_ERR_ARG,
       "neither EOS nor greedy");
    ok(gg_vocab_encode_infill(v, NULL, 1, "b", 1, 0, ids, 64, &made, &err) ==
               GG_ERR_ARG &&
           gg_vocab_encode_infill(v, NULL, 0, NULL, 0, 0, ids, 64, &made,
                                  &err) == GG_OK,
       "no text is an empty one");
    gg_vocab_free(v);
    make_free(&m);
}

/* ---- real ones ---- */

/* In BPE's texts with marks in them have the same ids. */
static void
check_real(const char *folder, const char *name, const char *whole)
{
    static const char pre[] = "def add(a, b):\n    ", suf[] = "\n\nadd(1, 2)\n";
    struct gg_encoded made;
    struct gg_vocab *v;
    char path[512], text[512];
    int32_t got[256], want[256];
    size_t n = 0, n_mark = strcspn(whole, "1");

    snprintf(path, sizeof(path), "%s/%s.gguf", folder, name);
    if (gg_vocab_open(path, &v, &err) != GG_OK) {
        printf("# %s is not there\n", path);
        return;
    }
    snprintf(text, sizeof(text), "%.*s%s%.*s%s%s", (int)n_mark, whole, pre,
             (int)strcspn(whole + n_mark + 1, "2"), whole + n_mark + 1, suf,
             strchr(whole, '2') + 1);
    if (gg_vocab_encode(v, text, strlen(text), GG_ENCODE_SPECIAL, want, 256,
                        &made, &err) == GG_OK)
        n = made.n;
    ok(n &&
           gg_vocab_encode_infill(v, pre, strlen(pre), suf, strlen(suf), 0, got,
                                  256, &made, &err) == GG_OK &&
           made.n == n && !memcmp(got, want, n * sizeof(*got)),
       name);
    gg_vocab_free(v);
}

static void
check_all_real(void)
{
    static const char fim[] = "<fim_prefix>1<fim_suffix>2<fim_middle>";
    static const char *const names[] = { "starcoder", "ggml-vocab-starcoder",
                                         "refact", "ggml-vocab-refact" };
    static const char deepseek[] = "<\xef\xbd\x9c"
                                   "fim\xe2\x96\x81"
                                   "begin\xef\xbd\x9c>1<\xef\xbd\x9c"
                                   "fim\xe2\x96\x81hole\xef\xbd\x9c>2<"
                                   "\xef\xbd\x9c"
                                   "fim\xe2\x96\x81"
                                   "end\xef\xbd\x9c>";
    const char *folder = getenv("GG_TEST_VOCAB");

    if (!folder) {
        printf("# without GG_TEST_VOCAB no real vocabularies\n");
        return;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_real(folder, names[i], fim);
    check_real(folder, "deepseek-coder", deepseek);
    check_real(folder, "ggml-vocab-deepseek-coder", deepseek);
}

int
main(void)
{
    check_forms();
    check_all_keys();
    check_spm();
    check_text();
    check_all_real();
    return tap_done();
}
