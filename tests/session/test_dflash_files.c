/* test_dflash_files.c - files of drafters of blocks, none believed unseen */
#include <stdio.h>

#include "session/dflash_test.h"

static void
refused(struct dflash_spec draft, enum gg_status st, const char *says,
        const char *what)
{
    const struct gg_model_params params = { .mtp = true, .mtp_path = drafter };

    write_drafter(&draft);
    ok(opens_as(scratch_path(), &params, st, says), what);
}

static void
spoil_mask(struct gguf_context *gguf)
{
    gguf_set_val_u32(gguf, "tokenizer.ggml.mask_token_id", V);
}

static void
spoil_layers(struct gguf_context *gguf)
{
    static const int32_t none = 0;

    gguf_set_arr_data(gguf, "dflash.target_layers", GGUF_TYPE_INT32, &none, 0);
}

static void
check_numbers(void)
{
    struct dflash_spec spec = dflash_usual();

    spec.mask = 0;
    refused(spec, GG_ERR_FORMAT, "mask_token_id", "no mask");
    spec = dflash_usual();
    spec.s.spoil = spoil_mask;
    spec.mask = 0;
    refused(spec, GG_ERR_FORMAT, "mask_token_id",
            "a mask that is no id of the model's");
    spec = dflash_usual();
    spec.layers[1] = 3;
    refused(spec, GG_ERR_FORMAT, "target_layers",
            "a layer that the model has not");
    spec.layers[1] = -1;
    refused(spec, GG_ERR_FORMAT, "target_layers", "nor anybody");
    spec = dflash_usual();
    spec.s.spoil = spoil_layers;
    refused(spec, GG_ERR_FORMAT, "target_layers", "no layer at all");
    spec = dflash_usual();
    spec.block = 1;
    refused(spec, GG_ERR_FORMAT, "block_size", "a block of one id");
    spec.block = 1 << 20;
    refused(spec, GG_ERR_FORMAT, "block_size", "a block of too many");
    spec = dflash_usual();
    spec.s.n_embd = 32;
    refused(spec, GG_ERR_FORMAT, "embedding_length", "another width");
    refused(WITH({ "attention.sliding_window", 'u', 8, NULL }), GG_ERR_FORMAT,
            "sliding_window", "a window of no layer");
    refused(WITH({ "attention.sliding_window", 'u', 8, NULL },
                 { "attention.sliding_window_pattern", 'l', 0, "101" }),
            GG_ERR_FORMAT, "sliding_window_pattern", "or of too many");
    refused(WITH({ "hidden_activation", 's', 0, "relu" }), GG_ERR_UNSUPPORTED,
            "hidden_activation", "another activation");
    refused(WITH({ "logit_scale", 'f', -1, NULL }), GG_ERR_FORMAT,
            "logit_scale", "a scale below 0");
    refused(WITH({ "nextn_predict_layers", 'u', 1, NULL }), GG_OK, "",
            "it has no layers for further ids");
}

static void
check_names(void)
{
    struct dflash_spec spec = dflash_usual();

    refused(WITH({ "sample_from_anchor", 'b', 1, NULL }), GG_ERR_UNSUPPORTED,
            "DSpark", "DSpark");
    spec.s.extra = "markov_w1.weight";
    refused(spec, GG_ERR_UNSUPPORTED, "DSpark", "by its tensors");
    refused(WITH({ "hyper_connection.count", 'u', 4, NULL }),
            GG_ERR_UNSUPPORTED, "DSpark", "of another kind");
    refused(WITH({ "selector_rank", 'u', 4, NULL }), GG_ERR_UNSUPPORTED,
            "DFlash2", "DFlash2");
    spec.s.extra = "selector_hidden.weight";
    refused(spec, GG_ERR_UNSUPPORTED, "DFlash2", "by its tensors");
}

static void
check_damage(void)
{
    static const char *const needed[] = { "fc.weight", "enc.output_norm.weight",
                                          "output_norm.weight",
                                          "blk.1.attn_k_norm.weight",
                                          "blk.0.ffn_down.weight" };
    struct dflash_spec spec;

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        spec = dflash_usual();
        spec.s.skip = needed[i];
        refused(spec, GG_ERR_FORMAT, needed[i], "a tensor is missing");
        spec.s.skip = NULL;
        spec.s.shrink = needed[i];
        refused(spec, GG_ERR_FORMAT, needed[i], "or of another shape");
    }
    spec = dflash_usual();
    spec.s.skip = "blk.1.attn_v.weight";
    refused(spec, GG_ERR_FORMAT, "attn_v", "values in some layers");
    spec = dflash_usual();
    spec.s.extra = "blk.2.attn_q.weight";
    refused(spec, GG_ERR_UNSUPPORTED, "no such tensor",
            "a tensor that nobody reads");
}

static void
check_refused(void)
{
    struct dflash_spec draft = dflash_usual();
    struct gg_model *m = NULL;

    write_spec(named("llama-f32"), scratch_path());
    check_numbers();
    check_names();
    check_damage();
    write_drafter(&draft);
    is(gg_model_open(drafter, NULL, &m, &err), GG_ERR_UNSUPPORTED,
       "a drafter is no model");
    write_spec(named("rwkv7-f32"), scratch_path());
    refused(dflash_usual(), GG_ERR_UNSUPPORTED, "rwkv7",
            "a model whose hidden vectors are of another kind");
}

int
main(void)
{
    char path[SCRATCH_PATH];

    strcpy(path, scratch_file("dflash.gguf"));
    drafter = path;
    check_refused();
    return tap_done();
}
