/* test_model_file.c - model files that lie: each one clear error, no crash */
#include <config.h>

#include <gg.h>

#include <math.h>

#include "core/mem.h"
#include "fixtures/models.h"
#include "harness/scratch.h"
#include "harness/tap.h"

/* The status of a folder without config.json; without Jansson, of any. */
#ifdef HAVE_JANSSON
#define FOLDER_STATUS GG_ERR_IO
#else
#define FOLDER_STATUS GG_ERR_UNSUPPORTED
#endif

static struct gg_error err;

static struct gg_model *
open_model(enum gg_status *status)
{
    struct gg_model *m = NULL;

    *status = gg_model_open(scratch_path(), NULL, &m, &err);
    return m;
}

/* Opening must fail, with a message that has both words. */
static void
refused(struct model_spec spec, const char *word1, const char *word2,
        const char *name)
{
    enum gg_status st;
    struct gg_model *m;

    if (!models_write(&spec, scratch_path()))
        exit(99);
    memset(&err, 0, sizeof(err));
    m = open_model(&st);
    ok(st != GG_OK && !m && strstr(err.message, word1) &&
           strstr(err.message, word2) && !strchr(err.message, '\n'),
       name);
    printf("# %s\n", err.message);
    gg_model_free(m);
}

/* ---- metadata ------------------------------------------------------------ */

#define SPOIL(name, call)                                                      \
    static void name(struct gguf_context *g)                                   \
    {                                                                          \
        call;                                                                  \
    }

SPOIL(no_layers, gguf_set_val_u32(g, "llama.block_count", 0))
SPOIL(many_layers, gguf_set_val_u32(g, "llama.block_count", 4000))
SPOIL(huge_layers, gguf_set_val_u32(g, "llama.block_count", 0xffffffff))
SPOIL(text_layers, gguf_set_val_str(g, "llama.block_count", "2"))
SPOIL(lost_layers, gguf_remove_key(g, "llama.block_count"))
SPOIL(few_layers, gguf_set_val_i32(g, "llama.block_count", -1))
SPOIL(no_heads, gguf_set_val_u32(g, "llama.attention.head_count", 0))
SPOIL(odd_heads, gguf_set_val_u32(g, "llama.attention.head_count", 3))
SPOIL(huge_heads, gguf_set_val_u32(g, "llama.attention.head_count", 1u << 31))
SPOIL(no_kv_heads, gguf_set_val_u32(g, "llama.attention.head_count_kv", 0))
SPOIL(more_kv_heads, gguf_set_val_u32(g, "llama.attention.head_count_kv", 8))
SPOIL(odd_kv_heads, gguf_set_val_u32(g, "llama.attention.head_count_kv", 3))
SPOIL(no_embd, gguf_set_val_u32(g, "llama.embedding_length", 0))
SPOIL(huge_embd, gguf_set_val_u32(g, "llama.embedding_length", 1u << 30))
SPOIL(other_embd, gguf_set_val_u32(g, "llama.embedding_length", 128))
SPOIL(other_ff, gguf_set_val_u32(g, "llama.feed_forward_length", 128))
SPOIL(no_ctx, gguf_set_val_u32(g, "llama.context_length", 0))
SPOIL(huge_ctx, gguf_set_val_u32(g, "llama.context_length", 1u << 31))
SPOIL(long_ctx, gguf_set_val_u32(g, "llama.context_length", 1u << 28))
SPOIL(nan_eps,
      gguf_set_val_f32(g, "llama.attention.layer_norm_rms_epsilon", NAN))
SPOIL(minus_eps,
      gguf_set_val_f32(g, "llama.attention.layer_norm_rms_epsilon", -1))
SPOIL(inf_base, gguf_set_val_f32(g, "llama.rope.freq_base", INFINITY))
SPOIL(zero_base, gguf_set_val_f32(g, "llama.rope.freq_base", 0))
SPOIL(odd_rot, gguf_set_val_u32(g, "llama.rope.dimension_count", 7))
SPOIL(long_rot, gguf_set_val_u32(g, "llama.rope.dimension_count", 18))
SPOIL(minus_factor, gguf_set_val_f32(g, "llama.rope.scaling.factor", -1))
SPOIL(strange_scaling, gguf_set_val_str(g, "llama.rope.scaling.type", "su"))
SPOIL(long_key, gguf_set_val_u32(g, "llama.attention.key_length", 32))
SPOIL(family, gguf_set_val_str(g, "general.architecture", "mamba\033[1m"))
SPOIL(alignment_8, gguf_set_val_u32(g, "general.alignment", 8))
SPOIL(no_family, gguf_remove_key(g, "general.architecture"))
SPOIL(no_vocab, gguf_remove_key(g, "tokenizer.ggml.tokens"))
SPOIL(gpt2_ctx, gguf_set_val_u32(g, "gpt2.context_length", 4096))
#undef SPOIL

static void
check_metadata(void)
{
    static const struct {
        void (*spoil)(struct gguf_context *);
        const char *word1, *word2;
    } cases[] = {
        { no_layers, "block_count", "0" },
        { many_layers, "blk.2.", "no such tensor" },
        { huge_layers, "block_count", "4294967295" },
        { text_layers, "block_count", "" },
        { lost_layers, "block_count", "" },
        { few_layers, "block_count", "" },
        { no_heads, "attention.head_count", "0" },
        { odd_heads, "attention.head_count", "3" },
        { huge_heads, "attention.head_count", "2147483648" },
        { no_kv_heads, "head_count_kv", "0" },
        { more_kv_heads, "head_count_kv", "8" },
        { odd_kv_heads, "head_count_kv", "3" },
        { no_embd, "embedding_length", "0" },
        { huge_embd, "embedding_length", "1073741824" },
        { other_embd, "shape is 64 x 300", "not 128 x 300" },
        { other_ff, "blk.0.ffn_gate.weight", "64 x 256, not 64 x 128" },
        { no_ctx, "context_length", "0" },
        { huge_ctx, "context_length", "2147483648" },
        { nan_eps, "epsilon", "" },
        { minus_eps, "epsilon", "-1" },
        { inf_base, "freq_base", "" },
        { zero_base, "freq_base", "0" },
        { odd_rot, "dimension_count", "7" },
        { long_rot, "dimension_count", "18" },
        { minus_factor, "factor", "-1" },
        { strange_scaling, "rope.scaling.type", "su is none of" },
        { long_key, "", "" },
        { family, "mamba\\x1b", "gg(7)" },
        { no_family, "general.architecture", "" },
        { no_vocab, "tokenizer.ggml.tokens", "" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refused((struct model_spec){ "llama", .n_head_kv = 2,
                                     .spoil = cases[i].spoil },
                cases[i].word1, cases[i].word2, "metadata that lies");
    refused((struct model_spec){ "gpt2", .spoil = gpt2_ctx },
            "position_embd.weight", "not 64 x 4096", "too few positions");
}

/* ---- tensors ------------------------------------------------------------- */

static void
check_tensors(void)
{
    static const struct model_spec llama = { "llama", .n_layer = 4 };
    static const struct model_spec gpt2 = { .arch = "gpt2" };
    struct model_spec s = llama;

    s.skip = "blk.3.ffn_up.weight";
    refused(s, s.skip, "no such tensor", "a matrix is missing");
    s.skip = "token_embd.weight";
    refused(s, s.skip, "no such tensor", "the embedding is missing");
    s.skip = "output_norm.weight";
    refused(s, s.skip, "no such tensor", "a norm is missing");
    s = llama;
    s.shrink = "blk.3.ffn_up.weight";
    refused(s, s.shrink, "shape is 64 x 255, not 64 x 256",
            "a matrix is too small");
    s.shrink = "blk.0.attn_norm.weight";
    refused(s, s.shrink, "shape is 63, not 64", "a norm is too small");
    s = llama;
    s.retype = "blk.1.ffn_norm.weight";
    refused(s, s.retype, "type is f16", "a norm has a strange type");
    s = llama;
    s.shrink = "token_embd.weight";
    refused(s, "tokenizer.ggml.tokens", "300 tokens, but the embedding has 299",
            "a token has no row");
    s = gpt2;
    s.skip = "blk.1.attn_qkv.bias";
    refused(s, s.skip, "no such tensor", "a bias is missing");
    s = gpt2;
    s.skip = "position_embd.weight";
    refused(s, s.skip, "no such tensor", "positions are missing");
}

/* ---- files that are no model --------------------------------------------- */

static void
refused_bytes(const char *bytes, size_t n, const char *word, const char *name)
{
    FILE *f = fopen(scratch_path(), "wb");
    enum gg_status st;
    struct gg_model *m;

    fwrite(bytes, 1, n, f);
    fclose(f);
    m = open_model(&st);
    ok(st != GG_OK && !m && strstr(err.message, word), name);
    printf("# %s\n", err.message);
    gg_model_free(m);
}

/* A file whose embedding has no rows. */
static void
check_no_rows(void)
{
    static const char name[] = "token_embd.weight";
    const struct model_spec spec = { "llama", .n_layer = 1, .no_vocab = true };
    static char bytes[1 << 19];
    char *at;
    FILE *f;
    size_t n;

    models_write(&spec, scratch_path());
    f = fopen(scratch_path(), "rb");
    n = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    at = memmem(bytes, n, name, strlen(name));
    if (!at || n == sizeof(bytes))
        exit(99);
    memset(at + strlen(name) + 4 + 8, 0, 8); /* dimensions, the first one */
    refused_bytes(bytes, n, "token_embd.weight: no rows", "no token has a row");
}

static void
check_strangers(void)
{
    struct gg_model *m = NULL;

    refused_bytes("", 0, "empty", "an empty file");
    refused_bytes("GG", 2, "2 bytes", "two bytes");
    refused_bytes("lmgg\1\0\0\0", 8, "end of the file",
                  "an older format, cut short");
    refused_bytes("Hello, world", 12, "not a model file", "some text");
    refused_bytes("GGUF\3\0\0\0", 8, "", "a header cut short");
    ok(gg_model_open("/nonexistent/model", NULL, &m, &err) == GG_ERR_IO && !m,
       "no such file");
    ok(gg_model_open("/", NULL, &m, &err) == FOLDER_STATUS && !m, "a folder");
}

static void
check_devices(void)
{
    struct gg_model_params p = { .device = "tpu" };
    struct gg_model *m = NULL;

    if (!models_write(&(struct model_spec){ .arch = "llama" }, scratch_path()))
        exit(99);
    ok(gg_model_open(scratch_path(), &p, &m, &err) == GG_ERR_ARG && !m &&
           strstr(err.message, "tpu"),
       "a device that nobody knows");
    p.device = "cuda:x";
    ok(gg_model_open(scratch_path(), &p, &m, &err) == GG_ERR_ARG && !m,
       "a device number that is none");
    p.device = "cuda:998";
    ok(gg_model_open(scratch_path(), &p, &m, &err) == GG_ERR_UNSUPPORTED && !m,
       "a device that is not there");
    p.device = "cpu";
    is(gg_model_open(scratch_path(), &p, &m, &err), GG_OK, "the CPU");
    gg_model_free(m);
}

/* ---- memory -------------------------------------------------------------- */

static void
check_huge_context(void)
{
    struct model_spec spec = { "llama", .n_layer = 32, .spoil = long_ctx };
    struct gg_session_params small = { .n_ctx = 16,
                                       .cache_type = GG_CACHE_F16 };
    struct gg_session_params many = { .n_slots = 65536, .n_ctx = 1 << 28 };
    struct gg_session *s = NULL;
    enum gg_status st;
    struct gg_model *m;

    models_write(&spec, scratch_path());
    m = open_model(&st);
    is(st, GG_OK, "a context of 2^28 is not refused when opening");
    ok(gg_session_new(m, &many, &s, &err) == GG_ERR_NOMEM && !s &&
           strstr(err.message, "-c"),
       "nor is memory for it found");
    printf("# %s\n", err.message);
    is(gg_session_new(m, &small, &s, &err), GG_OK, "a smaller one does");
    gg_session_free(s);
    gg_model_free(m);
}

/* Opens, evaluates, closes. */
static enum gg_status
whole_run(float *logits)
{
    struct gg_session_params p = { .n_slots = 2,
                                   .n_threads = 1,
                                   .cache_type = GG_CACHE_F16 };
    static const int32_t ids[] = { 1, 2, 3 };
    struct gg_chunk chunk = {
        .slot = 1, .ids = ids, .n = 3, .rows.logits = logits
    };
    struct gg_session *s = NULL;
    struct gg_model *m = NULL;
    enum gg_status st = gg_model_open(scratch_path(), NULL, &m, &err);

    if (st == GG_OK)
        st = gg_session_new(m, &p, &s, &err);
    if (st == GG_OK)
        st = gg_session_eval(s, &chunk, 1, &err);
    gg_session_free(s);
    gg_model_free(m);
    return st;
}

static void
check_allocation(void)
{
    float logits[MODELS_N_VOCAB];
    enum gg_status st;
    bool clean = true;
    long n = 0;

    models_write(&(struct model_spec){ .arch = "llama" }, scratch_path());
    is(whole_run(logits), GG_OK, "all is well while there is memory");
    do {
        mem_fail_after(n++);
        st = whole_run(logits);
        mem_fail_after(-1);
        if (st != GG_OK && st != GG_ERR_NOMEM) {
            clean = false;
            printf("# allocation %ld: %s: %s\n", n - 1, gg_status_string(st),
                   err.message);
        }
    } while (st != GG_OK && n < 100000);
    ok(clean && st == GG_OK && n > 20,
       "each allocation that fails ends in a status");
    printf("# %ld allocations\n", n - 1);
}

/* ---- alignment ----------------------------------------------------------- */

/* Rows of 57 floats begin anywhere in a file that aligns to 8 bytes; such
 * weights are copied. */
static void
check_alignment(void)
{
    struct model_spec s = { "gpt2", .n_embd = 57, .n_head = 3, .seed = 9 };
    float mapped[MODELS_N_VOCAB], copied[MODELS_N_VOCAB];

    models_write(&s, scratch_path());
    is(whole_run(mapped), GG_OK, "weights on 32-byte boundaries");
    s.spoil = alignment_8;
    models_write(&s, scratch_path());
    ok(whole_run(copied) == GG_OK && !memcmp(mapped, copied, sizeof(mapped)),
       "and on others: the same bytes");
}

int
main(void)
{
    check_alignment();
    check_metadata();
    check_tensors();
    check_no_rows();
    check_strangers();
    check_devices();
    check_huge_context();
    check_allocation();
    return tap_done();
}
