/* test_eagle3_folder.c - folders of EAGLE-3 drafters become the files that they
 * were made of */
#include <config.h>

#include <stdio.h>

#include "core/mem.h"
#include "fixtures/drafters.h"
#include "fixtures/folder_eagle3.h"
#include "gguf/reader.h"
#include "harness/session_test.h"
#include "session/session.h"

#ifdef HAVE_JANSSON

enum {
    PAST = 40,
};

static int32_t ids[PAST + 1];
static char file[SCRATCH_PATH], folder[SCRATCH_PATH], target[SCRATCH_PATH];

#define LLAMA3                                                                 \
    ",\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8.0,"              \
    "\"low_freq_factor\":1.0,\"high_freq_factor\":4.0,"                        \
    "\"original_max_position_embeddings\":128}"

static const struct kind {
    const char *name, *target;
    struct drafter_spec drafter;
    struct folder_eagle3 how;
} kinds[] = {
    { "usual", "llama-f32", { .n_target = 64 }, { 0 } },
    { "few ids, I64", "llama-f32", { .n_drafted = 100 }, { 0 } },
    { "tables of its own, norms, a layer of a speculator",
      "llama-f32",
      { .s = { .n_embd = 32, .n_head = 4, .n_head_kv = 2, .d_key = 16 },
        .layers = { 0, 1, 2 },
        .norm_before_fc = true,
        .norm_before_residual = true,
        .own_embd = true,
        .own_output = true },
      { .class = "Eagle3Speculator", .layer = "layers.0.", .inside = true } },
    { "whole names, F16, biases",
      "qwen2-f32",
      { .s = { .biases = true, .type = GGML_TYPE_F16 }, .n_drafted = 64 },
      { .layer = "model.layers.0.", .outside = "model." } },
    { "the class of its model, divisors",
      "gemma2-f32",
      { .s = { .llama3_n_ctx = 128 }, .n_drafted = 100 },
      { .class = "LlamaForCausalLM", .more = LLAMA3 } },
    { "layers that follow from the model's number",
      "qwen35trunk-f32",
      { .layers = { 2, 2, 1 }, .own_output = true },
      { .unlisted = true, .more = ",\"eagle_config\":{}" } },
};

/* ---- what is converted --------------------------------------------------- */

static bool
same_tensor(const struct gguf_tensor *x, const struct gg_file *made)
{
    const struct gguf_context *gguf = gg_file_gguf(made);
    int64_t i = gguf_find_tensor(gguf, x->name);
    const struct gguf_tensor *y = i < 0 ? NULL : gguf_tensor(gguf, i);
    uint8_t *data = malloc(x->size);
    bool same = y && x->type == y->type && x->size == y->size &&
                !memcmp(x->ne, y->ne, sizeof(x->ne));

    if (!data)
        exit(99);
    if (same)
        gg_file_read(made, i, data);
    same = same && !memcmp(x->data, data, x->size);
    free(data);
    if (!same)
        printf("# %s differs\n", x->name);
    return same;
}

static bool
same_tensors(const struct gg_file *from, const struct gg_file *made)
{
    const struct gguf_context *a = gg_file_gguf(from);
    bool same = gguf_get_n_tensors(a) == gguf_get_n_tensors(gg_file_gguf(made));

    for (int64_t i = 0; i < gguf_get_n_tensors(a); i++)
        same = same_tensor(gguf_tensor(a, i), made) && same;
    return same;
}

/* The drafter's own numbers, and the model's tokens. */
static bool
same_keys(const struct gguf_context *a, const struct gguf_context *b)
{
    static const char *const numbers[] = {
        "block_count",        "embedding_length",     "feed_forward_length",
        "target_hidden_size", "attention.head_count", "attention.head_count_kv",
    };
    struct gguf_array x, y, tokens;
    char key[64];
    uint64_t n, m;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        snprintf(key, sizeof(key), "eagle3.%s", numbers[i]);
        must(gguf_get_u64(a, key, &n, &err));
        must(gguf_get_u64(b, key, &m, &err));
        if (n != m)
            return false;
    }
    must(gguf_get_array(a, "eagle3.target_layers", GGUF_TYPE_INT32, &x, &err));
    must(gguf_get_array(b, "eagle3.target_layers", GGUF_TYPE_INT32, &y, &err));
    must(gguf_get_array(b, "tokenizer.ggml.tokens", GGUF_TYPE_STRING, &tokens,
                        &err));
    for (size_t i = 0; i < 3; i++)
        if (gguf_array_u32(&x, i) != gguf_array_u32(&y, i))
            return false;
    return tokens.n == V;
}

static void
draft(const char *drafter, float out[V])
{
    const struct gg_model_params params = { .mtp = true, .mtp_path = drafter };
    struct model_guess q = {
        .past = PAST, .ids = ids + PAST, .n = 1, .logits = out
    };
    struct gg_session *s;
    struct gg_model *m;
    float last[V];

    must(gg_model_open(target, &params, &m, &err));
    s = new_session(m, (struct gg_session_params){ 0 });
    eval_ids(s, 0, ids, 0, PAST, last);
    must(session_mtp_guess(s, &q, 1, &err));
    gg_session_free(s);
    gg_model_free(m);
}

static void
write_files(const struct kind *k)
{
    struct model_spec spec;

    if (!models_named(k->target, &spec) || !models_write(&spec, target) ||
        !drafters_write(&k->drafter, file))
        exit(99);
    folder_eagle3_write(file, &k->how, folder);
}

static void
check_kind(const struct kind *k)
{
    struct gg_file *a, *b;
    float x[V], y[V];

    write_files(k);
    must(gg_file_open(file, &a, &err));
    must(gg_file_open_adapter(folder, target, &b, &err));
    ok(same_tensors(a, b) && same_keys(gg_file_gguf(a), gg_file_gguf(b)),
       k->name);
    gg_file_close(a);
    gg_file_close(b);
    if (k->how.unlisted)
        return;
    draft(file, x);
    draft(folder, y);
    ok(!memcmp(x, y, sizeof(x)), "it drafts the same");
}

/* ---- what is not --------------------------------------------------------- */

static void
check_refused(const struct folder_eagle3 *how, const char *base,
              const char *says, const char *what)
{
    struct gg_file *f = NULL;
    enum gg_status st;

    folder_eagle3_write(file, how, folder);
    st = base ? gg_file_open_adapter(folder, base, &f, &err)
              : gg_file_open(folder, &f, &err);
    if (st == GG_OK || !strstr(err.message, says))
        printf("# %d: %s\n", (int)st, st == GG_OK ? "" : err.message);
    ok(st != GG_OK && strstr(err.message, says), what);
    gg_file_close(f);
}

static void
check_damage(void)
{
    static const struct {
        struct folder_eagle3 how;
        const char *says;
    } damage[] = {
        { { .unlisted = true }, "name the model that it drafts for" },
        { { .unlisted = true,
            .more = ",\"eagle_aux_hidden_state_layer_ids\":[1,2]" },
          "names not 3 layers" },
        { { .unlisted = true,
            .more = ",\"eagle_config\":{\"eagle_aux_hidden_state_layer_ids\":"
                    "[1,2,-1]}" },
          "element 2 is no layer" },
        { { .unlisted = true, .more = ",\"eagle_config\":7" }, "eagle_config" },
        { { .skip = "draft_vocab_size", .more = ",\"draft_vocab_size\":99" },
          "d2t: is no list of 99" },
        { { .skip = "draft_vocab_size", .more = ",\"draft_vocab_size\":301" },
          "draft_vocab_size" },
        { { .skip = "d2t" }, "d2t: is no list of 100" },
        { { .d2t = "F64" }, "d2t: is no list of 100" },
        { { .first_id = 300 }, "d2t: number 0 leads to no id" },
        { { .first_id = -1 }, "d2t: number 0 leads to no id" },
        { { .first_id = INT64_MAX }, "d2t: number 0 leads to no id" },
        { { .first_id = 10 }, "d2t: two numbers lead to id 10" },
        { { .skip = "fc.weight" }, "fc.weight: is missing" },
        { { .skip = "blk.0.attn_norm_2.weight" },
          "midlayer.hidden_norm.weight: is missing" },
        { { .skip = "blk.0.attn_norm.weight" }, "is missing" },
        { { .layer = "layers.1." }, "is missing" },
        { { .skip = "norm_before_fc", .more = ",\"norm_before_fc\":true" },
          "input_norm.weight: is missing" },
        { { .skip = "num_hidden_layers", .more = ",\"num_hidden_layers\":2" },
          "num_hidden_layers: eagle3 has 1" },
        { { .more = ",\"transformer_layer_config\":1" },
          "transformer_layer_config" },
        { { .more = ",\"hidden_act\":\"relu\"" }, "relu" },
    };

    struct model_spec spec;

    if (!models_named("llama-f32", &spec) || !models_write(&spec, target) ||
        !drafters_write(&(struct drafter_spec){ .n_drafted = 100 }, file))
        exit(99);
    for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++)
        check_refused(&damage[i].how, NULL, damage[i].says, damage[i].says);
    check_refused(&(struct folder_eagle3){ .unlisted = true }, "/nowhere",
                  "/nowhere", "a model that is not there");
    check_refused(&(struct folder_eagle3){ .unlisted = true }, target,
                  "no model of 2 layers", "a model of too few layers");
    check_refused(&(struct folder_eagle3){ .class = "MistralForCausalLM" },
                  target, "neither an adapter nor a drafter",
                  "another model's folder");
}

static void
check_memory(void)
{
    enum gg_status st = GG_ERR_NOMEM;
    struct gg_file *f;
    long n = 0;

    folder_eagle3_write(file, NULL, folder);
    for (; st == GG_ERR_NOMEM && n < 100000; n++) {
        f = NULL;
        mem_fail_after(n);
        st = gg_file_open_adapter(folder, target, &f, &err);
        mem_fail_after(-1);
        gg_file_close(f);
    }
    printf("# %ld allocations\n", n);
    ok(st == GG_OK && n > 20, "an allocation that fails is reported");
}

int
main(void)
{
    strcpy(target, scratch_path());
    strcpy(file, scratch_file("drafter.gguf"));
    strcpy(folder, scratch_file("drafter"));
    fill_ids(ids, PAST + 1);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        check_kind(&kinds[i]);
    check_damage();
    check_memory();
    return tap_done();
}

#else

int
main(void)
{
    puts("1..0 # SKIP built without Jansson");
    return 0;
}

#endif
