/* test_model_keys.c - what of a file counts: no tensor is passed over unseen,
 * no key obeyed that its family does not have */
#include <math.h>

#include "graph/arch.h"
#include "harness/session_test.h"

enum {
    N = 40, /* beyond the windows */
};

static void
write_model(struct model_spec spec, void (*spoil)(struct gguf_context *))
{
    spec.spoil = spoil;
    if (!models_write(&spec, scratch_path()))
        exit(99);
}

static struct model_spec
named(const char *name)
{
    struct model_spec spec;

    if (!models_named(name, &spec))
        exit(99);
    return spec;
}

static enum gg_status
logits_of(float logits[V])
{
    struct gg_session_params params = { .cache_type = GG_CACHE_F32 };
    struct gg_model *m = NULL;
    struct gg_session *s;
    int32_t ids[N];
    enum gg_status st = gg_model_open(scratch_path(), NULL, &m, &err);

    if (st != GG_OK)
        return st;
    fill_ids(ids, N);
    s = new_session(m, params);
    eval_ids(s, 0, ids, 0, N, logits);
    gg_session_free(s);
    gg_model_free(m);
    return st;
}

/* The spoiled model's logits are those of the model as it is. */
static void
unchanged(struct model_spec spec, void (*spoil)(struct gguf_context *),
          const char *title)
{
    float plain[V], spoiled[V];
    enum gg_status st;

    write_model(spec, NULL);
    st = logits_of(plain);
    write_model(spec, spoil);
    if (st == GG_OK)
        st = logits_of(spoiled);
    ok(st == GG_OK && same(plain, spoiled), title);
    if (st != GG_OK)
        printf("# %s\n", err.message);
}

/* Or they are others. */
static void
changes(struct model_spec spec, void (*spoil)(struct gguf_context *),
        const char *title)
{
    float plain[V], spoiled[V];
    bool both;

    write_model(spec, NULL);
    both = logits_of(plain) == GG_OK;
    write_model(spec, spoil);
    both = both && logits_of(spoiled) == GG_OK;
    ok(both && !same(plain, spoiled), title);
}

static void
refused(struct model_spec spec, void (*spoil)(struct gguf_context *),
        const char *word1, const char *word2, const char *title)
{
    float logits[V];

    memset(&err, 0, sizeof(err));
    write_model(spec, spoil);
    ok(logits_of(logits) != GG_OK && strstr(err.message, word1) &&
           strstr(err.message, word2),
       title);
    printf("# %s\n", err.message);
}

/* ---- tensors ------------------------------------------------------------- */

static void
check_unread(void)
{
    static const char *const unread[] = {
        "blk.1.attn_gate.weight",
        "blk.0.attn_q.lora_a",
        "blk.0.attn_q.scale", /* three values are no scale */
        "blk.0.attn_q.scales",
        "blk.0.attn_q.weight.scale",
        "blk.0.attn_q.input_scale",
        "blk.0.ffn_norm.scale",
        "token_embd.scale",
        "blk.0.nextn.eh_proj.weight",
        "blk.2.attn_norm.weight",
        "blk.-1.attn_norm.weight",
        "vision.weight",
        "rope_freqs.bias",
        "output_scale",
        "cls",
        "llama.weight",
    };
    struct model_spec spec = named("llama-f32");

    for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++) {
        spec.extra = unread[i];
        refused(spec, NULL, unread[i], "llama reads no such tensor",
                "a tensor that nobody reads");
    }
}

static void
check_ignorable(void)
{
    static const char *const ignorable[] = {
        "v.patch_embd.weight",
        "mm.0.weight",
        "a.blk.0.attn_q.weight",
        "cls.output.bias",
    };
    struct model_spec spec = named("llama-f32");

    for (size_t i = 0; i < sizeof(ignorable) / sizeof(ignorable[0]); i++) {
        spec.extra = ignorable[i];
        unchanged(spec, NULL, ignorable[i]);
    }
    spec = named("granite4-f32");
    spec.extra = "rope_freqs.weight";
    unchanged(spec, NULL, "divisors of angles where nothing turns");
    spec = named("olmo3-f32");
    spec.extra = "rope_freqs.weight";
    unchanged(spec, NULL, "divisors of angles beside YaRN's");
}

static void
one_behind(struct gguf_context *g)
{
    gguf_set_val_u32(g, "llama.block_count", 3);
    gguf_set_val_u32(g, "llama.nextn_predict_layers", 1);
}

static void
all_behind(struct gguf_context *g)
{
    gguf_set_val_u32(g, "llama.nextn_predict_layers", 2);
}

static void
check_behind(void)
{
    struct model_spec spec = named("llama-f32");

    unchanged(spec, one_behind, "a layer behind the last");
    spec.extra = "blk.2.nextn.eh_proj.weight";
    write_model(spec, one_behind);
    is(logits_of((float[V]){ 0 }), GG_OK, "and a tensor of it");
    spec.extra = "blk.3.nextn.eh_proj.weight";
    refused(spec, one_behind, spec.extra, "no such tensor",
            "but none of one behind that");
    spec.extra = NULL;
    refused(spec, all_behind, "nextn_predict_layers", "2 is not in 0..1",
            "no layer is left");
}

/* ---- keys ---------------------------------------------------------------- */

static void
zeros(struct gguf_context *g)
{
    gguf_set_val_f32(g, "llama.rope.scaling.factor", 0);
    gguf_set_val_f32(g, "llama.rope.scale_linear", 0);
    gguf_set_val_u32(g, "llama.rope.scaling.original_context_length", 0);
    gguf_set_val_u32(g, "llama.expert_feed_forward_length", 0);
    gguf_set_val_u32(g, "llama.expert_shared_feed_forward_length", 0);
    gguf_set_val_u32(g, "llama.nextn_predict_layers", 0);
    gguf_set_val_u32(g, "llama.attention.sliding_window", 0);
    gguf_set_val_bool(g, "llama.attention.causal", true);
}

static void
foreign_gemma3(struct gguf_context *g)
{
    gguf_set_val_f32(g, "gemma3.attn_logit_softcapping", 50);
    gguf_set_val_f32(g, "gemma3.final_logit_softcapping", 0);
    gguf_set_val_f32(g, "gemma3.attention.scale", 3);
}

static void
foreign_qwen3(struct gguf_context *g)
{
    gguf_set_val_u32(g, "qwen3.attention.sliding_window", 16);
    gguf_set_val_u32(g, "qwen3.attention.sliding_window_pattern", 2);
    gguf_set_val_bool(g, "qwen3.rope.scaling.finetuned", false);
    gguf_set_val_f32(g, "qwen3.rope.freq_base_swa", 100);
    gguf_set_val_f32(g, "qwen3.logit_scale", 3);
    gguf_set_val_f32(g, "qwen3.residual_scale", 3);
    gguf_set_val_f32(g, "qwen3.embedding_scale", 3);
    gguf_set_val_f32(g, "qwen3.attention.scale", 3);
    gguf_set_val_f32(g, "qwen3.final_logit_softcapping", 1);
    gguf_set_val_bool(g, "qwen3.use_parallel_residual", false);
}

static void
foreign_granite(struct gguf_context *g)
{
    gguf_set_val_u32(g, "granite.attention.sliding_window", 16);
    gguf_set_val_f32(g, "granite.final_logit_softcapping", 1);
}

static void
foreign_olmo2(struct gguf_context *g)
{
    gguf_set_val_bool(g, "olmo2.rope.scaling.finetuned", false);
    gguf_set_val_u32(g, "olmo2.attention.sliding_window_pattern", 2);
}

static void
check_same(void)
{
    unchanged(named("mixtral-f32"), zeros, "0 where a number is not known");
    unchanged(named("gemma3-f32"), foreign_gemma3, "keys that gemma3 has not");
    unchanged(named("qwen3-f32"), foreign_qwen3, "keys that qwen3 has not");
    unchanged(named("granite-f32"), foreign_granite,
              "keys that granite has not");
    unchanged(named("olmo2-f32"), foreign_olmo2, "a pattern without a window");
}

static void
whole_magnitude(struct gguf_context *g)
{
    gguf_set_val_f32(g, "olmo2.rope.scaling.yarn_attn_factor",
                     2 * (1 + 0.1f * logf(8)));
}

static void
usual_magnitude(struct gguf_context *g)
{
    gguf_set_val_f32(g, "olmo2.rope.scaling.yarn_attn_factor",
                     1 + 0.1f * logf(8));
}

static void
unknown_magnitude(struct gguf_context *g)
{
    gguf_set_val_f32(g, "olmo2.rope.scaling.yarn_attn_factor", 1);
}

static void
twofold_magnitude(struct gguf_context *g)
{
    gguf_set_val_f32(g, "olmo2.rope.scaling.attn_factor", 2);
}

static void
check_magnitude(void)
{
    struct model_spec spec = named("olmo3-f32");
    float a[V], b[V];

    unchanged(spec, usual_magnitude, "YaRN's usual magnitude");
    unchanged(spec, unknown_magnitude, "one that is not known");
    changes(spec, whole_magnitude, "another");
    logits_of(a);
    write_model(spec, twofold_magnitude);
    logits_of(b);
    ok(same(a, b), "and by what the usual one is multiplied");
}

static void
lost_length(struct gguf_context *g)
{
    gguf_remove_key(g, "qwen2moe.expert_feed_forward_length");
}

/* Experts that are used have the length of a block together. */
static void
check_expert_length(void)
{
    struct model_spec spec = named("qwen2moescaled-f32");

    unchanged(spec, lost_length, "experts of no length share one");
}

/* ---- layers' own --------------------------------------------------------- */

static void
set_array(struct gguf_context *g, const char *key, enum gguf_type type, int a,
          int b)
{
    int32_t wide[] = { a, b };
    int8_t narrow[] = { (int8_t)a, (int8_t)b };

    if (type == GGUF_TYPE_INT32 || type == GGUF_TYPE_UINT32)
        gguf_set_arr_data(g, key, type, wide, 2);
    else
        gguf_set_arr_data(g, key, type, narrow, 2);
}

#define SPOIL(name, call)                                                      \
    static void name(struct gguf_context *g)                                   \
    {                                                                          \
        call;                                                                  \
    }
#define KV    "llama.attention.head_count_kv"
#define SIZES "llama.feed_forward_length"
#define TURNS "gemma2.attention.sliding_window_pattern"

SPOIL(equal_signed, set_array(g, KV, GGUF_TYPE_INT32, 2, 2))
SPOIL(equal_unsigned, set_array(g, KV, GGUF_TYPE_UINT32, 2, 2))
SPOIL(other_heads, set_array(g, KV, GGUF_TYPE_INT32, 2, 4))
SPOIL(no_heads, set_array(g, KV, GGUF_TYPE_INT32, 0, 0))
SPOIL(negative, set_array(g, SIZES, GGUF_TYPE_INT32, -1, -1))
SPOIL(few_heads, gguf_set_arr_data(g, KV, GGUF_TYPE_INT32, "\2\0\0", 1))
SPOIL(empty, gguf_set_arr_data(g, KV, GGUF_TYPE_INT32, "", 0))
SPOIL(floats, gguf_set_arr_data(g, KV, GGUF_TYPE_FLOAT32, "1234567", 2))
SPOIL(layers, set_array(g, "llama.block_count", GGUF_TYPE_INT32, 2, 2))
SPOIL(early, set_array(g, "llama.embedding_length", GGUF_TYPE_INT32, 64, 64))
SPOIL(bidirectional, gguf_set_val_bool(g, "llama.attention.causal", false))
SPOIL(other_base, gguf_set_val_f32(g, "gemma2.rope.freq_base_swa", 100))
SPOIL(small_factor, gguf_set_val_f32(g, "llama.rope.scaling.factor", 1e-9f))

static void
check_arrays(void)
{
    struct model_spec llama = named("llama-f32");

    unchanged(llama, equal_signed, "an array of equal numbers");
    unchanged(llama, equal_unsigned, "of unsigned ones");
    refused(llama, other_heads, "blk.1.attn_k.weight", "shape",
            "numbers that the layer's tensors have not");
    refused(llama, no_heads, KV, "0 in layer 0", "a layer without heads");
    refused(llama, negative, SIZES, "-1 of layer 0 is not in 0..",
            "negative ones");
    refused(llama, few_heads, KV, "", "one number for two layers");
    refused(llama, empty, KV, "", "none");
    refused(llama, floats, KV, "an array of f32", "floats");
    refused(llama, layers, "block_count", "", "an array of layer counts");
    refused(llama, early, "embedding_length", "", "an array of lengths");
    refused(llama, bidirectional, "attention.causal", "false",
            "ids that see those behind them");
    refused(named("gemma2-f32"), other_base, "freq_base_swa", "100",
            "windowed layers that turn otherwise");
    refused(llama, small_factor, "rope.scaling.factor", "1e-09",
            "a factor next to nothing");
}

static void
set_pattern(struct gguf_context *g, enum gguf_type type, const char *key,
            const char *digits)
{
    int32_t wide[16];
    int8_t narrow[16];
    size_t n = strlen(digits);

    for (size_t i = 0; i < n; i++)
        wide[i] = narrow[i] = digits[i] == '1';
    gguf_set_arr_data(g, key, type,
                      type == GGUF_TYPE_BOOL ? (void *)narrow : wide, n);
}

#define OLMO    "olmo2.attention.sliding_window_pattern"
#define GPT_OSS "gpt-oss.attention.sliding_window_pattern"
#define GEMMA3  "gemma3.attention.sliding_window_pattern"
SPOIL(list_unsigned, set_pattern(g, GGUF_TYPE_UINT32, OLMO, "11010"))
SPOIL(list_other, set_pattern(g, GGUF_TYPE_BOOL, OLMO, "11110"))
SPOIL(list_short, set_pattern(g, GGUF_TYPE_BOOL, OLMO, "1101"))
SPOIL(period_2, gguf_set_val_u32(g, TURNS, 2))
SPOIL(period_3, gguf_set_val_u32(g, TURNS, 3))
SPOIL(list_gemma2, set_pattern(g, GGUF_TYPE_BOOL, TURNS, "101"))
SPOIL(list_oss, set_pattern(g, GGUF_TYPE_BOOL, GPT_OSS, "1010"))
SPOIL(others_oss, set_pattern(g, GGUF_TYPE_BOOL, GPT_OSS, "0101"))
SPOIL(period_6, gguf_set_val_u32(g, GEMMA3, 6))
SPOIL(period_1, gguf_set_val_u32(g, GEMMA3, 1))
SPOIL(long_window, gguf_remove_key(g, "gemma2.attention.sliding_window"))
SPOIL(default_window,
      gguf_set_val_u32(g, "gemma2.attention.sliding_window", 4096))

static void
check_patterns(void)
{
    float a[V], b[V];

    unchanged(named("olmo3-f32"), list_unsigned, "a list of unsigned numbers");
    changes(named("olmo3-f32"), list_other, "another list");
    refused(named("olmo3-f32"), list_short, OLMO, "", "a list too short");
    unchanged(named("gemma2-f32"), period_2, "the usual period");
    unchanged(named("gemma2-f32"), list_gemma2, "as a list");
    changes(named("gemma2-f32"), period_3, "another one");
    unchanged(named("gpt-oss-f32"), list_oss, "the usual list");
    changes(named("gpt-oss-f32"), others_oss, "the other layers");
    unchanged(named("gemma3-f32"), period_6, "five of six");
    changes(named("gemma3-f32"), period_1, "no layer");
    write_model(named("gemma2-f32"), long_window);
    logits_of(a);
    write_model(named("gemma2-f32"), default_window);
    logits_of(b);
    ok(same(a, b), "Gemma 2's window where its file is silent");
}

/* ---- architectures that are refused by name ------------------------------ */

static const char *renamed;

static void
rename_arch(struct gguf_context *g)
{
    gguf_set_val_str(g, "general.architecture", renamed);
}

static void
check_refused(void)
{
    bool good = graph_arch_refused(0) != NULL;

    for (size_t i = 0; graph_arch_refused(i); i++) {
        bool known;

        renamed = graph_arch_refused(i);
        write_model(named("llama-f32"), rename_arch);
        known = logits_of(NULL) == GG_ERR_UNSUPPORTED &&
                strstr(err.message, renamed) &&
                !strstr(err.message, "not a family that is known");
        if (!known || graph_arch_find(renamed)) {
            printf("# %s: %s\n", renamed, err.message);
            good = false;
        }
    }
    ok(good, "families that are not run are refused by their names");
}

int
main(void)
{
    check_unread();
    check_ignorable();
    check_behind();
    check_same();
    check_magnitude();
    check_expert_length();
    check_arrays();
    check_patterns();
    check_refused();
    return tap_done();
}
