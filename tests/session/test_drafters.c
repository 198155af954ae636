/* test_drafters.c - EAGLE-3: the logits of the formula in double precision,
 * however ids came; and the model's own, which do not change */
#include "fixtures/drafters.h"
#include "session/caches_test.h"
#include "session/draft_test.h"

/* The target, and its drafter; n_drafted is of another length than all. */
static const struct pair {
    const char *name, *target;
    struct drafter_spec drafter;
} pairs[] = {
    { "EAGLE-3 that borrows", "llama-f32", { .n_target = 64 } },
    { "EAGLE-3 of its own tables",
      "llama-f32",
      { .s = { .n_embd = 32, .n_head = 4, .n_head_kv = 2, .d_key = 16 },
        .layers = { 0, 1, 2 },
        .norm_before_fc = true,
        .norm_before_residual = true,
        .own_embd = true,
        .own_output = true } },
    { "EAGLE-3 of few ids, with divisors",
      "gemma2-f32",
      { .s = { .llama3_n_ctx = 128, .n_ff = 96, .biases = true },
        .norm_before_fc = true,
        .n_drafted = 100 } },
    { "EAGLE-3 of few ids, I32",
      "gptneox-f32",
      { .norm_before_residual = true, .n_drafted = 299, .narrow = true } },
    { "EAGLE-3 of all ids in another order",
      "gpt2-f32",
      { .n_drafted = MODELS_N_VOCAB } },
    { "EAGLE-3 of a recurrent model",
      "qwen35trunk-f32",
      { .layers = { 1, 2, 4 }, .own_output = true } },
    { "EAGLE-3 of YaRN",
      "qwen2-f32",
      { .s = { .keys = { { "rope.scaling.type", 's', 0, "yarn" },
                         { "rope.scaling.factor", 'f', 4, NULL },
                         { "rope.scaling.original_context_length", 'u', 64,
                           NULL } } } } },
};

static void
write_pair(const char *target, const struct drafter_spec *drafter)
{
    struct model_spec spec;

    if (!models_named(target, &spec) || !models_write(&spec, scratch_path()) ||
        !drafters_write(drafter, scratch_file("drafter.gguf")))
        exit(99);
}

/* The likeliest of a guess are those of its logits. */
static void
check_best(const struct gg_model *m)
{
    struct gg_session *s = new_slots(m, 1);
    int32_t best_ids[V];
    float best_logits[V], all[V], out[V];
    struct gg_best best = { .k = V, .ids = best_ids, .logits = best_logits };
    struct model_guess q = { .past = PAST, .ids = ids + PAST, .n = 1 };
    bool right = true;

    eval_ids(s, 0, ids, 0, PAST, out);
    q.logits = all;
    must(session_mtp_guess(s, &q, 1, &err));
    q.best = &best;
    must(session_mtp_guess(s, &q, 1, &err));
    for (size_t i = 0; i < best.n; i++)
        right = right && best_ids[i] >= 0 && best_ids[i] < V &&
                best_logits[i] == all[best_ids[i]] &&
                (i == 0 || best_logits[i] <= best_logits[i - 1]);
    okn(right && best.k == V && best.n > 0, "and the likeliest ids");
    gg_session_free(s);
}

static void
check_pair(const struct pair *p)
{
    struct reference *r, *d;
    struct gg_model *m;

    name = p->name;
    write_pair(p->target, &p->drafter);
    r = reference_open(scratch_path());
    d = reference_open(scratch_file("drafter.gguf"));
    okn(r && d, "the reference knows both");
    truth = malloc(sizeof(*truth) * STEPS * V);
    reference_eagle3(r, d, ids, PAST, STEPS, truth);
    m = open_model(scratch_path(), scratch_file("drafter.gguf"));
    okn(!strcmp(gg_model_drafter(m), "eagle3"), "its name is known");
    check_chunks(m);
    check_rejected(m);
    check_accepted(m);
    check_slots(m);
    check_prefix(m);
    check_bytes(m);
    check_best(m);
    check_memory(m, 1);
    check_state(m);
    gg_model_free(m);
    reference_free(r);
    reference_free(d);
    free(truth);
}

/* ---- files --------------------------------------------------------------- */

static void
refused(const char *path, const char *mtp_path, const char *says,
        const char *what)
{
    const struct gg_model_params params = { .mtp = true, .mtp_path = mtp_path };
    struct gg_model *m = NULL;
    enum gg_status st = gg_model_open(path, &params, &m, &err);

    if (st == GG_OK || !strstr(err.message, says))
        printf("# %d: %s\n", (int)st, st == GG_OK ? "" : err.message);
    ok(st != GG_OK && strstr(err.message, says), what);
    gg_model_free(m);
}

static void
drop_layers(struct gguf_context *gguf)
{
    gguf_remove_key(gguf, "eagle3.target_layers");
}

static void
two_features(struct gguf_context *gguf)
{
    const int32_t x[] = { 1, 2 };

    gguf_set_arr_data(gguf, "eagle3.target_layers", GGUF_TYPE_INT32, x, 2);
}

static void
other_width(struct gguf_context *gguf)
{
    gguf_set_val_u32(gguf, "eagle3.target_hidden_size", 65);
}

static void
two_layers(struct gguf_context *gguf)
{
    gguf_set_val_u32(gguf, "eagle3.block_count", 2);
}

static void
other_tokens(struct gguf_context *gguf)
{
    const char *tokens[V];

    for (int i = 0; i < V; i++)
        tokens[i] = "x";
    gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", tokens, V);
}

static void
few_tokens(struct gguf_context *gguf)
{
    const char *token = "x";

    gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", &token, 1);
}

static const struct bad {
    const char *what, *says;
    struct drafter_spec drafter;
} bad[] = {
    { "no layers are named", "target_layers", { .s.spoil = drop_layers } },
    { "two are", "reads three", { .s.spoil = two_features } },
    { "a layer that the model has not", "layer 3", { .layers = { 1, 2, 3 } } },
    { "a layer below 0", "layer -1", { .layers = { -5, 2, 1 } } },
    { "a model of another width",
      "target_hidden_size",
      { .s.spoil = other_width } },
    { "features of another width",
      "fc.weight",
      { .n_target = 64, .s.shrink = "fc.weight" } },
    { "two layers", "EAGLE-3 has one", { .s.spoil = two_layers } },
    { "no table, and another width", "token_embd", { .s.n_embd = 32 } },
    { "no output, and another width",
      "output",
      { .s.n_embd = 32, .own_embd = true } },
    { "a table of another vocabulary",
      "shape",
      { .s.n_vocab = V + 1, .own_embd = true } },
    { "an id beyond the vocabulary",
      "not the vocabulary's",
      { .n_drafted = 10, .first_id = V } },
    { "an id that wraps",
      "not the vocabulary's",
      { .n_drafted = 10, .first_id = (int64_t)1 << 32 | 5 } },
    { "an id below 0",
      "not the vocabulary's",
      { .n_drafted = 10, .first_id = -1, .narrow = true } },
    { "an id twice", "there twice", { .n_drafted = 10, .first_id = 10 } },
    { "a tensor that nobody reads",
      "no such tensor",
      { .s.extra = "blk.0.other.weight" } },
    { "a norm that is not there",
      "enc.output_norm",
      { .norm_before_fc = true, .s.skip = "enc.output_norm.weight" } },
    { "a matrix that is not there",
      "attn_q",
      { .s.skip = "blk.0.attn_q.weight" } },
    { "other tokens", "token 0", { .s.spoil = other_tokens } },
    { "fewer tokens", "1 tokens", { .s.spoil = few_tokens } },
};

static void
check_refused(void)
{
    const char *path = scratch_path();
    char drafter[SCRATCH_PATH];

    strcpy(drafter, scratch_file("drafter.gguf"));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        write_pair("llama-f32", &bad[i].drafter);
        refused(path, drafter, bad[i].says, bad[i].what);
    }
    write_pair("llama-f32", &pairs[0].drafter);
    refused(drafter, NULL, "drafts for another model", "a drafter is no model");
    write_pair("rwkv7-f32", &pairs[0].drafter);
    refused(path, drafter, "another kind", "a model of other hidden vectors");
}

static void
check_types(void)
{
    static const struct drafter_spec sure = { .layers = { 1, 2, 4 },
                                              .sure = true };
    struct gg_model *m;

    name = "an EAGLE-3 that is sure";
    write_pair("qwen35sure-f32", &sure);
    m = open_model(scratch_path(), scratch_file("drafter.gguf"));
    check_cache_types(m, ids, PAST);
    gg_model_free(m);
}

int
main(void)
{
    fill_ids(ids, PAST + MOST + 1);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        check_pair(&pairs[i]);
    check_types();
    check_refused();
    return tap_done();
}
