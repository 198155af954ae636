/* test_dflash_folder.c - folders of DFlash drafters, as their makers save them:
 * what they draft is the formula */
#include <config.h>

#include <stdio.h>

#include "fixtures/folder_case.h"
#include "fixtures/reference.h"
#include "harness/session_test.h"
#include "session/session.h"

#ifdef HAVE_JANSSON

enum {
    PAST = 40,
    N_ROWS = 5,
};

static int32_t ids[PAST + 1];

#define MASK   "\"mask_token_id\":7"
#define LAYERS ",\"target_layer_ids\":[0,1]"
#define USUAL  MASK LAYERS

/* With settings of its own, and others. */
static const char config[] =
    "config {\"architectures\":[\"DFlashDraftModel\"],\"block_size\":8,"
    "\"dflash_config\":{%s},"
    "\"head_dim\":16,\"hidden_act\":\"silu\",\"hidden_size\":64,"
    "\"intermediate_size\":96,\"layer_types\":[\"full_attention\","
    "\"sliding_attention\"],\"max_position_embeddings\":512,"
    "\"model_type\":\"qwen3\",\"num_attention_heads\":4,"
    "\"num_hidden_layers\":2,\"num_key_value_heads\":2,"
    "\"rms_norm_eps\":1e-05,\"rope_theta\":10000.0,"
    "\"tie_word_embeddings\":false,\"vocab_size\":300%s}\n";

static const char tensors[] =
    "tensor fc.weight 0 0.15 64 128\n"
    "tensor hidden_norm.weight 1 0.25 64\n"
    "tensor norm.weight 1 0.25 64\n"
    "tensor layers.{0,1}.input_layernorm.weight 1 0.25 64\n"
    "tensor layers.{0,1}.mlp.down_proj.weight 0 0.1768 64 96\n"
    "tensor layers.{0,1}.mlp.gate_proj.weight 0 0.2165 96 64\n"
    "tensor layers.{0,1}.mlp.up_proj.weight 0 0.2165 96 64\n"
    "tensor layers.{0,1}.post_attention_layernorm.weight 1 0.25 64\n"
    "tensor layers.{0,1}.self_attn.k_norm.weight 1 0.25 16\n"
    "tensor layers.{0,1}.self_attn.k_proj.weight 0 0.2165 32 64\n"
    "tensor layers.{0,1}.self_attn.o_proj.weight 0 0.2165 64 64\n"
    "tensor layers.{0,1}.self_attn.q_norm.weight 1 0.25 16\n"
    "tensor layers.{0,1}.self_attn.q_proj.weight 0 0.2165 64 64\n"
    "tensor layers.{0,1}.self_attn.v_proj.weight 0 0.2165 32 64\n";

static void
write_folder(const char *own, const char *others, const char *to)
{
    FILE *f = fopen(scratch_file("dflash.case"), "w");
    struct folder_case c;

    if (!f)
        exit(99);
    fprintf(f, "# a drafter\n");
    fprintf(f, config, own, others);
    fputs(tensors, f);
    fclose(f);
    folder_case_write(scratch_file("dflash.case"), scratch_file("case.gguf"),
                      to, &c);
}

static void
draft(const char *drafter, float out[N_ROWS][V])
{
    const struct gg_model_params params = { .mtp = true, .mtp_path = drafter };
    struct model_guess q = { .past = PAST,
                             .ids = ids + PAST,
                             .n = 1,
                             .n_rows = N_ROWS,
                             .logits = out[0] };
    struct gg_session *s;
    struct gg_model *m;
    float last[V];

    must(gg_model_open(scratch_path(), &params, &m, &err));
    s = new_session(m,
                    (struct gg_session_params){ .cache_type = GG_CACHE_F32 });
    eval_ids(s, 0, ids, 0, PAST, last);
    must(session_mtp_guess(s, &q, 1, &err));
    gg_session_free(s);
    gg_model_free(m);
}

static void
check_folder(const char *own, const char *others, const char *what)
{
    char folder[SCRATCH_PATH], file[SCRATCH_PATH];
    float out[N_ROWS][V], as_file[N_ROWS][V];
    double truth[N_ROWS * V], e;
    struct reference *r = reference_open(scratch_path());

    strcpy(folder, scratch_file("drafter"));
    strcpy(file, scratch_file("drafter.gguf"));
    write_folder(own, others, folder);
    folder_case_gguf(folder, file);
    draft(folder, out);
    draft(file, as_file);
    reference_dflash(r, file, ids, PAST, N_ROWS, truth);
    e = reference_nmse(out[0], truth, N_ROWS * V);
    printf("# NMSE %.1e\n", e);
    ok(e < 1e-9 && !memcmp(out, as_file, sizeof(out)), what);
    reference_free(r);
}

static void
check_refused(const char *own, const char *others, const char *says,
              const char *what)
{
    const char *folder = scratch_file("drafter");
    const struct gg_model_params params = { .mtp = true, .mtp_path = folder };
    struct gg_model *m;
    enum gg_status st;

    write_folder(own, others, folder);
    st = gg_model_open(scratch_path(), &params, &m, &err);
    if (st == GG_OK || !strstr(err.message, says))
        printf("# %d: %s\n", (int)st, err.message);
    ok(st != GG_OK && strstr(err.message, says), what);
}

int
main(void)
{
    struct model_spec spec;

    if (!models_named("qwen3-f32", &spec) ||
        !models_write(&spec, scratch_path()))
        exit(99);
    fill_ids(ids, PAST + 1);
    check_folder(USUAL, "", "as it is saved");
    check_folder(USUAL
                 ",\"output_multiplier\":0.5,\"input_embedding_scale\":3,"
                 "\"final_logit_softcapping\":2,\"attention_value_scale\":0.5",
                 ",\"is_causal\":true", "with scales, one way");
    check_folder(USUAL, ",\"use_sliding_window\":true,\"sliding_window\":12",
                 "with a window in some layers");
    check_folder(USUAL ",\"use_swa\":true,\"swa_window_size\":9", "",
                 "and in all of them");
    check_refused(USUAL ",\"conv_kernel_size\":4", "", "DFlash2",
                  "DFlash2 is known by name");
    check_refused("\"mask_token_id\":300" LAYERS, "", "mask_token_id",
                  "a mask that is no token");
    check_refused(MASK ",\"target_layer_ids\":[]", "", "target_layer_ids",
                  "no layer that is read");
    check_refused(MASK ",\"target_layer_ids\":[2]", "", "target_layers",
                  "a layer that the model has not");
    check_refused(USUAL, ",\"rope_is_neox_style\":false", "rope_is_neox_style",
                  "pairs side by side");
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
