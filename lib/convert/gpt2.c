/* gpt2.c - GPT-2 as ggml's example has it */
#include "convert/old.h"

#include "convert/tokens.h"

static const struct old_name whole[] = {
    { "model/wte", "token_embd.weight", false },
    { "model/wpe", "position_embd.weight", false },
    { "model/ln_f/g", "output_norm.weight", false },
    { "model/ln_f/b", "output_norm.bias", false },
    { "model/lm_head", "output.weight", true }, /* else that of the tokens */
};

static const struct old_name layer[] = {
    { "model/h%d/ln_1/g", "blk.%d.attn_norm.weight", false },
    { "model/h%d/ln_1/b", "blk.%d.attn_norm.bias", false },
    { "model/h%d/attn/c_attn/w", "blk.%d.attn_qkv.weight", false },
    { "model/h%d/attn/c_attn/b", "blk.%d.attn_qkv.bias", false },
    { "model/h%d/attn/c_proj/w", "blk.%d.attn_output.weight", false },
    { "model/h%d/attn/c_proj/b", "blk.%d.attn_output.bias", false },
    { "model/h%d/ln_2/g", "blk.%d.ffn_norm.weight", false },
    { "model/h%d/ln_2/b", "blk.%d.ffn_norm.bias", false },
    { "model/h%d/mlp/c_fc/w", "blk.%d.ffn_up.weight", false },
    { "model/h%d/mlp/c_fc/b", "blk.%d.ffn_up.bias", false },
    { "model/h%d/mlp/c_proj/w", "blk.%d.ffn_down.weight", false },
    { "model/h%d/mlp/c_proj/b", "blk.%d.ffn_down.bias", false },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void
set_keys(const struct old_file *f)
{
    const struct old_gpt2 *hp = &f->hp.gpt2;
    struct convert_shape shape = {
        .architecture = "gpt2",
        .n_ctx = hp->n_ctx,
        .n_embd = hp->n_embd,
        .n_head = hp->n_head,
        .n_head_kv = hp->n_head,
        .n_layer = hp->n_layer,
        .n_ff = 4 * hp->n_embd,
        .eps_key = "attention.layer_norm_epsilon",
        .eps = 1e-5f,
    };

    convert_set_shape(f->out, &shape);
}

enum gg_status
convert_old_take_gpt2(struct old_file *f, struct gg_error *err)
{
    uint32_t n_layer = f->hp.gpt2.n_layer;
    enum gg_status st;

    if (n_layer > OLD_MAX_LAYERS)
        return convert_bad(f->out, err, "%u layers, more than %d",
                           (unsigned)n_layer, OLD_MAX_LAYERS);
    if (!convert_old_find(f, "model/wte"))
        return convert_bad(f->out, err,
                           "is a ggml file, but not of GPT-2 or LLaMA");
    set_keys(f);
    st = convert_old_take(f, whole, COUNT(whole), 0, err);
    for (uint32_t i = 0; i < n_layer && st == GG_OK; i++)
        st = convert_old_take(f, layer, COUNT(layer), i, err);
    return st == GG_OK
               ? convert_tokens_set_bpe(f->out, f->tokens, f->n_vocab, err)
               : st;
}
