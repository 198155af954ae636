/* ids.c - reads the ids with a meaning: BOS, EOS, those that end a text */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "vocab/vocab.h"

#define KEY(name) "tokenizer.ggml." name

enum {
    MAX_PADDED = 1 << 16, /* ids */
};

/* Keys that hold an id. All are checked, though not all are used yet. */
static const char *const other_ids[] = {
    KEY("padding_token_id"),   KEY("separator_token_id"),
    KEY("seperator_token_id"), /* as files write it */
    KEY("cls_token_id"),       KEY("mask_token_id"),
};

/* Keys of tokens that end a text or a turn, as EOS does: in fill in the middle,
 * padding and what begins another file or repository do, too. */
static const char *const eog_keys[] = {
    KEY("eot_token_id"),     KEY("eom_token_id"),     KEY("fim_pad_token_id"),
    KEY("fim_rep_token_id"), KEY("fim_sep_token_id"),
};

/* The bar is U+FF5C, the blanks are U+2581. */
#define DEEPSEEK_END                                                           \
    "<\xef\xbd\x9c"                                                            \
    "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>"

#define HUNYUAN_END                                                            \
    "<\xef\xbd\x9c"                                                            \
    "hy_place\xe2\x96\x81holder\xe2\x96\x81no\xe2\x96\x81"                     \
    "2\xef\xbd\x9c>"

/* Tokens that end a text or a turn in the families that write them so. They
 * count where they are control tokens or the user defined them. */
static const char *const eog_names[] = {
    "</s>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|im_end|>",
    "<end_of_turn>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|calls|>",
    "<|flush|>",
    "<EOT>",
    "_<EOT>",
    "<|EOT|>",
    "[EOT]",
    "[EOS]",
    "<eos>",
    "<|endofturn|>",
    "<|END_OF_TURN_TOKEN|>",
    "<end_of_utterance>",
    "<turn|>",
    "<|tool_response>",
    "<|end_of_turn|>",
    "<|eot|>",
    "[|endofturn|]",
    "<|endofresponse|>",
    "<|end_of_sentence|>",
    "<seed:eos>",
    "[e~[",
    "<|eos|>",
    "<|fim_pad|>",
    "<fim_pad>",
    "<fim-pad>",
    "<|file_sep|>",
    "<|repo_name|>",
    "<|fim_repo|>",
    "<reponame>",
    DEEPSEEK_END,
    HUNYUAN_END,
};

enum {
    N_NAMES = sizeof(eog_names) / sizeof(eog_names[0]),
    N_KEYS = sizeof(eog_keys) / sizeof(eog_keys[0])
};

static int32_t
named(const struct gg_vocab *v, const char *name)
{
    return vocab_find_other(v, name, strlen(name));
}

static int
by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* In harmony, and in what is like it, "<|end|>" ends a message, after which
 * the same answer has others; -1 elsewhere. */
static int32_t
inner_end(const struct gg_vocab *v)
{
    bool harmony = named(v, "<|return|>") >= 0 && named(v, "<|call|>") >= 0;
    bool solar = named(v, "<|flush|>") >= 0 && named(v, "<|calls|>") >= 0;

    return harmony || solar ? named(v, "<|end|>") : -1;
}

/* Sorts ids, and leaves each once, but `without` not at all. Returns how many
 * are left. */
static size_t
sort_ids(int32_t *ids, size_t n, int32_t without)
{
    size_t kept = 0;

    qsort(ids, n, sizeof(*ids), by_number);
    for (size_t i = 0; i < n; i++)
        if (ids[i] != without && (kept == 0 || ids[i] != ids[kept - 1]))
            ids[kept++] = ids[i];
    return kept;
}

/* No text has the token, whatever the file calls it. */
static void
make_control(struct gg_vocab *v, int32_t id)
{
    if (id >= 0 && vocab_type(v, id) == GG_TOKEN_USER_DEFINED)
        v->types[id] = GG_TOKEN_CONTROL;
}

static void
add_eog(struct gg_vocab *v, int32_t id)
{
    if (id >= 0)
        v->eog[v->n_eog++] = id;
    make_control(v, id);
}

static enum gg_status
read_eog(struct gg_vocab *v, const struct gguf_context *gguf,
         struct gg_error *err)
{
    enum gg_status st = GG_OK;

    v->eog = mem_array(N_NAMES + N_KEYS + 1, sizeof(*v->eog));
    if (!v->eog)
        return error_nomem(err);
    for (size_t i = 0; st == GG_OK && i < N_KEYS; i++) {
        int32_t id = -1;

        st = vocab_read_id(v, gguf, eog_keys[i], &id, err);
        add_eog(v, id);
    }
    for (size_t i = 0; i < N_NAMES; i++) {
        int32_t id = named(v, eog_names[i]);

        if (id < 0 || (vocab_type(v, id) != GG_TOKEN_CONTROL &&
                       vocab_type(v, id) != GG_TOKEN_USER_DEFINED))
            continue;
        add_eog(v, id);
    }
    add_eog(v, v->eos);
    v->n_eog = sort_ids(v->eog, v->n_eog, inner_end(v));
    return st;
}

static enum gg_status
read_ids(const struct gguf_context *gguf, const char *key, struct gguf_array *a,
         struct gg_error *err)
{
    int64_t at = gguf_find_key(gguf, key);
    bool is_u32 = at >= 0 && gguf_get_kv_type(gguf, at) == GGUF_TYPE_ARRAY &&
                  gguf_get_arr_type(gguf, at) == GGUF_TYPE_UINT32;

    return gguf_opt_array(gguf, key,
                          is_u32 ? GGUF_TYPE_UINT32 : GGUF_TYPE_INT32, a, err);
}

/* Ids that the makers of a model want never drawn; others are no tokens. */
static enum gg_status
read_suppressed(struct gg_vocab *v, const struct gguf_context *gguf,
                struct gg_error *err)
{
    struct gguf_array a = { 0 };
    enum gg_status st = read_ids(gguf, KEY("suppress_tokens"), &a, err);

    if (st != GG_OK || a.n == 0)
        return st;
    v->suppressed = mem_array(a.n, sizeof(*v->suppressed));
    if (!v->suppressed)
        return error_nomem(err);
    for (size_t i = 0; i < a.n; i++) {
        int32_t id = gguf_array_i32(&a, i);

        if (id >= 0 && id < gg_vocab_size(v))
            v->suppressed[v->n_suppressed++] = id;
    }
    v->n_suppressed = sort_ids(v->suppressed, v->n_suppressed, -1);
    return GG_OK;
}

static bool
is_one_of(const struct gguf_context *gguf, const char *key,
          const char *const *values)
{
    struct gguf_str s = { 0 };

    if (gguf_opt_str(gguf, key, &s, NULL) != GG_OK)
        return false;
    while (*values && (s.n != strlen(*values) || memcmp(s.s, *values, s.n)))
        values++;
    return *values != NULL;
}

static void
take_space(struct gg_vocab *v, int32_t id, uint8_t flag)
{
    v->types[id] |= flag;
    v->takes_space = true;
}

/* Phi-3's control tokens take the white space after them, but for those that
 * were LLaMA's. */
static void
mark_phi3(struct gg_vocab *v, const struct gguf_context *gguf)
{
    static const char *const phi3[] = { "phi3", NULL };
    int32_t unk, bos, end;

    if (v->kind != VOCAB_SPM || !is_one_of(gguf, "general.architecture", phi3))
        return;
    unk = named(v, "<unk>");
    bos = named(v, "<s>");
    end = named(v, "<|endoftext|>");
    for (int32_t id = 0; id < v->n; id++)
        if (vocab_type(v, id) == GG_TOKEN_CONTROL && id != unk && id != bos &&
            id != end)
            take_space(v, id, VOCAB_STRIPS);
}

/* A mask takes the white space before it. The names are those for which
 * llama.cpp does the same. */
static void
mark_mask(struct gg_vocab *v, const struct gguf_context *gguf)
{
    static const char *const pre[] = { "jina-v2-de", "jina-v2-es",
                                       "jina-v2-code", "mmbert", NULL };
    static const char *const arch[] = { "nomic-bert-moe", "jina-bert-v3",
                                        NULL };
    int32_t id = is_one_of(gguf, KEY("pre"), pre) ||
                         is_one_of(gguf, "general.architecture", arch)
                     ? named(v, "<mask>")
                     : -1;

    if (id >= 0 && vocab_type(v, id) == GG_TOKEN_CONTROL)
        take_space(v, id, VOCAB_LEADS);
}

/* Marks the ids of a list that are looked for in a text. */
static enum gg_status
mark_listed(struct gg_vocab *v, const struct gguf_context *gguf,
            const char *key, uint8_t flag, struct gg_error *err)
{
    struct gguf_array a = { 0 };
    enum gg_status st = read_ids(gguf, key, &a, err);

    for (size_t i = 0; st == GG_OK && i < a.n; i++) {
        int32_t id = gguf_array_i32(&a, i);

        if (id >= 0 && id < v->n && !(v->types[id] & VOCAB_PIECE))
            take_space(v, id, flag);
    }
    return st;
}

/* Tokens that take the white space around them: tokenizer.json says so of each,
 * GGUF has no key for it. gg-convert writes lists; files of others have none,
 * and their names must do. */
static enum gg_status
mark_space(struct gg_vocab *v, const struct gguf_context *gguf,
           struct gg_error *err)
{
    enum gg_status st;

    if (gguf_find_key(gguf, GGUF_LSTRIP) < 0 &&
        gguf_find_key(gguf, GGUF_RSTRIP) < 0) {
        mark_phi3(v, gguf);
        mark_mask(v, gguf);
    }
    st = mark_listed(v, gguf, GGUF_LSTRIP, VOCAB_LEADS, err);
    if (st == GG_OK)
        st = mark_listed(v, gguf, GGUF_RSTRIP, VOCAB_STRIPS, err);
    return st;
}

static enum gg_status
check_others(const struct gg_vocab *v, const struct gguf_context *gguf,
             struct gg_error *err)
{
    enum gg_status st = GG_OK;
    int32_t unused;

    for (size_t i = 0;
         st == GG_OK && i < sizeof(other_ids) / sizeof(other_ids[0]); i++)
        st = vocab_read_id(v, gguf, other_ids[i], &unused, err);
    return st;
}

/* Names that makers give BOS, EOS and the unknown token unless told otherwise.
 * BERT has others that stand at the ends of a text; files name them in one of
 * several ways. */
static const char *const end_names[][3] = {
    [VOCAB_BPE] = { "", "", "" },
    [VOCAB_SPM] = { "<s>", "</s>", "<unk>" },
    [VOCAB_WPM] = { "[CLS]", "[SEP]", "[UNK]" },
    [VOCAB_UGM] = { "<s>", "</s>", "<unk>" },
    [VOCAB_WORLD] = { "", "", "" },
};

static enum gg_status
read_ends(struct gg_vocab *v, const struct gguf_context *gguf,
          struct gg_error *err)
{
    const char *const *names = end_names[v->kind];
    const struct {
        const char *key;
        int32_t *id;
        bool wpm; /* only there */
    } keys[] = {
        { KEY("bos_token_id"), &v->bos, false },
        { KEY("cls_token_id"), &v->bos, true },
        { KEY("eos_token_id"), &v->eos, false },
        { KEY("separator_token_id"), &v->eos, true },
        { KEY("seperator_token_id"), &v->eos, true },
        { KEY("unknown_token_id"), &v->unk, false },
    };
    enum gg_status st = GG_OK;

    v->bos = named(v, names[0]);
    v->eos = named(v, names[1]);
    v->unk = named(v, names[2]);
    for (size_t i = 0; st == GG_OK && i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!keys[i].wpm || v->kind == VOCAB_WPM)
            st = vocab_read_id(v, gguf, keys[i].key, keys[i].id, err);
    return st;
}

/* A text never has a control token. BERT's files call [UNK] one, which a text
 * has; other files name one where there is no unknown token. Byte-level BPE
 * knows none: what it has no token for is left out, whatever the file says. */
static void
settle_unknown(struct gg_vocab *v)
{
    int32_t id = v->unk;
    bool own = id >= 0 && id == named(v, end_names[v->kind][2]);

    if (own && vocab_type(v, id) == GG_TOKEN_CONTROL)
        v->types[id] = GG_TOKEN_UNKNOWN;
    if (v->kind == VOCAB_BPE || id < 0 || id == v->bos ||
        gg_vocab_is_eog(v, id) || vocab_type(v, id) == GG_TOKEN_CONTROL)
        v->unk = -1;
}

/* SigLIP's texts are padded to one length. */
static enum gg_status
read_padding(struct gg_vocab *v, const struct gguf_context *gguf,
             struct gg_error *err)
{
    uint32_t n = 0;
    enum gg_status st;

    v->pad = -1;
    st = vocab_read_id(v, gguf, KEY("padding_token_id"), &v->pad, err);
    if (st == GG_OK)
        st = gguf_opt_u32(gguf, KEY("padded_length"), &n, err);
    if (st == GG_OK && n > MAX_PADDED)
        return gguf_bad_value(gguf, KEY("padded_length"), err,
                              "%lu is not in 0..%d", (unsigned long)n,
                              MAX_PADDED);
    v->n_padded = v->pad < 0 ? 0 : (int32_t)n;
    return st;
}

/* T5's text is the encoder's, and EOS ends it. */
static enum gg_status
read_start(struct gg_vocab *v, const struct gguf_context *gguf,
           struct gg_error *err)
{
    static const struct gguf_str t5 = { "t5", 2 };
    struct gguf_str arch = { "", 0 };
    enum gg_status st = gguf_opt_str(gguf, "general.architecture", &arch, err);

    v->start = -1;
    if (st != GG_OK || arch.n != t5.n || memcmp(arch.s, t5.s, t5.n) != 0)
        return st;
    v->start = 0;
    return vocab_read_id(v, gguf, "t5.decoder_start_token_id", &v->start, err);
}

enum gg_status
vocab_load_ids(struct gg_vocab *v, const struct gguf_context *gguf,
               const struct vocab_split_name *defaults, struct gg_error *err)
{
    bool spm = v->kind == VOCAB_SPM, wpm = v->kind == VOCAB_WPM;
    enum gg_status st;

    st = read_ends(v, gguf, err);
    if (st == GG_OK)
        st = check_others(v, gguf, err);
    if (st == GG_OK)
        st = read_eog(v, gguf, err);
    if (st == GG_OK)
        st = read_suppressed(v, gguf, err);
    if (st == GG_OK) {
        st = vocab_load_infill(v, gguf, err);
        make_control(v, v->bos);
        make_control(v, v->infill.prefix);
        make_control(v, v->infill.suffix);
        make_control(v, v->infill.middle);
        settle_unknown(v);
    }
    if (st == GG_OK)
        st = mark_space(v, gguf, err);
    v->add_bos = (spm && strcmp(v->name, "gpt2") != 0) || wpm ||
                 (defaults && defaults->add_bos);
    v->add_eos = wpm || v->kind == VOCAB_UGM;
    if (st == GG_OK)
        st = gguf_opt_bool(gguf, KEY("add_bos_token"), &v->add_bos, err);
    if (st == GG_OK)
        st = gguf_opt_bool(gguf, KEY("add_eos_token"), &v->add_eos, err);
    if (st == GG_OK)
        st = read_start(v, gguf, err);
    v->add_bos = v->add_bos && v->bos >= 0;
    v->add_eos = (v->add_eos || v->start >= 0) && v->eos >= 0;
    if (st == GG_OK)
        st = read_padding(v, gguf, err);
    v->add_blank = (spm && !v->ranked) || wpm;
    if (st == GG_OK && (spm || v->kind == VOCAB_UGM))
        st = gguf_opt_bool(gguf, KEY("add_space_prefix"), &v->add_blank, err);
    v->add_blank = v->cuts == VOCAB_CUTS_BLANKS ||
                   (v->add_blank && v->cuts != VOCAB_CUTS_WORDS);
    return st;
}
