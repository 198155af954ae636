/* test_adapter_files.c - LoRA adapters and control vectors: states that were
 * made with them, and files that fit nothing */
#include "adapter_test.h"

/* ---- states -------------------------------------------------------------- */

static void
save_state(const struct gg_model *m, const char *path)
{
    struct gg_session *s = new_session(m, (struct gg_session_params){ 0 });
    struct gg_chunk c = { .ids = ids, .n = 9 };
    struct gg_state_sequence q = { .ids = ids, .n_ids = 9, .n_held = 9 };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };

    must(gg_session_eval(s, &c, 1, &err));
    must(gg_session_save(s, &state, path, &err));
    gg_session_free(s);
}

static enum gg_status
open_state(const struct gg_model *m, const char *path)
{
    struct gg_session *s = new_session(m, (struct gg_session_params){ 0 });
    struct gg_state_file *f = NULL;
    enum gg_status st = gg_state_open(path, s, &f, &err);
    struct gg_chunk c = { .ids = ids + 9, .n = 1 };

    if (st == GG_OK) {
        ok(gg_session_load(s, 0, f, 0) == 9, "a state is loaded");
        ok(gg_session_eval(s, &c, 1, &err) == GG_OK, "and goes on");
    }
    gg_state_close(f);
    gg_session_free(s);
    return st;
}

static void
check_refused(const struct gg_adapter *adapters, size_t n, const char *path,
              const char *why, const char *title)
{
    struct gg_model *m = open_with(adapters, n, NULL);

    ok(open_state(m, path) == GG_ERR_UNSUPPORTED && strstr(err.message, why),
       title);
    gg_model_free(m);
}

static void
check_states(void)
{
    struct adapter_spec a = { .seed = 5 }, b = { .seed = 6 };
    struct model_spec spec = spec_named("llama-f32");
    struct gg_adapter use[2] = { { .path = lora_path, .scale = 1 },
                                 { .path = other_path } };
    char with[SCRATCH_PATH], without[SCRATCH_PATH];
    struct gg_model *m;

    strcpy(with, scratch_file("with.gguf"));
    strcpy(without, scratch_file("without.gguf"));
    write_model(&spec);
    write_lora(&a, lora_path);
    write_lora(&b, other_path);
    m = open_with(use, 2, NULL);
    save_state(m, with);
    ok(open_state(m, with) == GG_OK, "the same adapters");
    gg_model_free(m);
    m = open_with(use, 1, NULL);
    ok(open_state(m, with) == GG_OK, "one that does not count is none");
    gg_model_free(m);
    m = open_with(NULL, 0, NULL);
    save_state(m, without);
    ok(open_state(m, without) == GG_OK, "a state without adapters");
    gg_model_free(m);
    check_refused(NULL, 0, with, "lora.gguf at the scale 1",
                  "a state that was made with an adapter");
    check_refused(use, 1, without, "without the adapter",
                  "a state that was made without");
    use[0].scale = 0.5f;
    check_refused(use, 1, with, "at the scale 1", "with another scale");
    use[1].scale = 1;
    check_refused(use + 1, 1, with, "lora.gguf", "with another adapter");
    use[0].scale = 1;
    check_refused(use, 2, with, "without the adapter", "with one more");
}

/* ---- files that fit nothing ---------------------------------------------- */

static void
other_family(struct gguf_context *g)
{
    gguf_set_val_str(g, "general.architecture", "gpt2");
}

static void
other_kind(struct gguf_context *g)
{
    gguf_set_val_str(g, "adapter.type", "ia3");
}

static void
no_alpha(struct gguf_context *g)
{
    gguf_set_val_f32(g, "adapter.lora.alpha", NAN);
}

static void
check_file(const struct adapter_spec *spec, const char *why)
{
    struct gg_adapter use = { .path = lora_path, .scale = 1 };
    struct gg_model_params params = { .adapters = &use, .n_adapters = 1 };
    struct gg_model *m = NULL;
    enum gg_status st;

    write_lora(spec, lora_path);
    st = gg_model_open(model_path, &params, &m, &err);
    if (!strstr(err.message, why))
        printf("# %s\n", err.message);
    ok(st != GG_OK && strstr(err.message, "lora.gguf: ") &&
           strstr(err.message, why),
       why);
    gg_model_free(m);
}

#define Q "blk.0.attn_q.weight"
static const struct {
    struct adapter_spec spec;
    const char *why;
} bad_files[] = {
    { { .spoil = other_family }, "not of the model's family, llama" },
    { { .spoil = other_kind }, "neither a LoRA adapter nor" },
    { { .alpha = 1, .spoil = no_alpha }, "adapter.lora.alpha" },
    { { .grow = Q ".lora_a" }, Q ".lora_a: with its lora_b its shape" },
    { { .grow = Q ".lora_b" }, Q ".lora_a: with its lora_b its shape" },
    { { .rename = Q ".lora_b", .to = "x.weight.lora_b" }, "no lora_b" },
    { { .rename = Q ".lora_a", .to = "x.weight.lora_a" }, "no lora_" },
    { { .rename = Q ".lora_a", .to = Q }, "its shape is not the model's" },
    { { .rename = Q ".lora_a", .to = "rope_freqs.weight" }, "no such tensor" },
    { { .rank = 70000, .only = Q }, "a rank of 70000" },
    { { .type = GGML_TYPE_F16,
        .whole = true,
        .rename = "output_norm.weight",
        .to = "blk.0.attn_q.bias" },
      "no such tensor" },
};

static void
check_bad_files(void)
{
    struct model_spec spec = spec_named("llama-f32");
    struct gg_adapter use = { .path = model_path, .scale = 1 };
    struct gg_model_params params = { .adapters = &use, .n_adapters = 1 };
    struct gg_model *m;

    write_model(&spec);
    for (size_t i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++)
        check_file(&bad_files[i].spec, bad_files[i].why);
    ok(gg_model_open(model_path, &params, &m, &err) == GG_ERR_FORMAT &&
           strstr(err.message, "neither a LoRA adapter"),
       "a model is no adapter");
    use.scale = INFINITY;
    ok(gg_model_open(model_path, &params, &m, &err) == GG_ERR_ARG,
       "a scale without end");
    ok(gg_model_open(lora_path, NULL, &m, &err) == GG_ERR_UNSUPPORTED,
       "an adapter is no model");
}

static void
check_bad_vectors(void)
{
    struct model_spec spec = spec_named("gpt2-f32"), longer = spec;
    struct gg_adapter use = { .path = lora_path, .scale = 1 };
    struct gg_model_params params = { .adapters = &use, .n_adapters = 1 };
    struct gg_model *m;

    longer.n_embd = 256;
    longer.n_layer = 9;
    write_model(&longer);
    adapters_write_control(model_path, 1, 1, 1, lora_path, NULL);
    adapters_write_control(model_path, 7, 8, 1, other_path, NULL);
    write_model(&spec);
    ok(gg_model_open(model_path, &params, &m, &err) == GG_ERR_FORMAT &&
           strstr(err.message, "direction.1: is no vector of"),
       "a vector of another length");
    use.path = other_path;
    ok(gg_model_open(model_path, &params, &m, &err) == GG_ERR_FORMAT &&
           strstr(err.message, "direction.7: names no layer"),
       "a layer that there is not");
    adapters_write_control(model_path, 0, 0, 1, other_path, NULL);
    ok(gg_model_open(model_path, &params, &m, &err) == GG_ERR_FORMAT &&
           strstr(err.message, "direction.0: names no layer"),
       "the first layer has none");
}

int
main(void)
{
    begin();
    check_states();
    check_bad_files();
    check_bad_vectors();
    return tap_done();
}
