/* llama.c - LLaMA as llama.cpp had it before GGUF */
#include "convert/old.h"

#include "convert/tokens.h"

static const struct old_name whole[] = {
    { "tok_embeddings.weight", "token_embd.weight", false },
    { "norm.weight", "output_norm.weight", false },
    { "output.weight", "output.weight", true },
};

static const struct old_name layer[] = {
    { "layers.%d.attention_norm.weight", "blk.%d.attn_norm.weight", false },
    { "layers.%d.attention.wq.weight", "blk.%d.attn_q.weight", false },
    { "layers.%d.attention.wk.weight", "blk.%d.attn_k.weight", false },
    { "layers.%d.attention.wv.weight", "blk.%d.attn_v.weight", false },
    { "layers.%d.attention.wo.weight", "blk.%d.attn_output.weight", false },
    { "layers.%d.ffn_norm.weight", "blk.%d.ffn_norm.weight", false },
    { "layers.%d.feed_forward.w1.weight", "blk.%d.ffn_gate.weight", false },
    { "layers.%d.feed_forward.w2.weight", "blk.%d.ffn_down.weight", false },
    { "layers.%d.feed_forward.w3.weight", "blk.%d.ffn_up.weight", false },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The file does not say these: LLaMA was trained on 2048 positions, and the
 * programs that read these files had 1e-6 in their norms. */
enum {
    LLAMA_CONTEXT = 2048,
};

static enum gg_status
bad_shape(const struct old_file *f, struct gg_error *err)
{
    return convert_bad(f->out, err,
                       "%u heads in an embedding of %u: the shapes of the "
                       "first layer do not go with that",
                       (unsigned)f->hp.llama.n_head,
                       (unsigned)f->hp.llama.n_embd);
}

/* The sizes that the header does not have are those of the first layer. */
static enum gg_status
set_keys(const struct old_file *f, struct gg_error *err)
{
    const struct old_llama *hp = &f->hp.llama;
    const struct old_tensor *wk =
        convert_old_find(f, "layers.0.attention.wk.weight");
    const struct old_tensor *w1 =
        convert_old_find(f, "layers.0.feed_forward.w1.weight");
    struct convert_shape shape = {
        .architecture = "llama",
        .n_ctx = LLAMA_CONTEXT,
        .n_embd = hp->n_embd,
        .n_head = hp->n_head,
        .n_layer = hp->n_layer,
        .eps_key = "attention.layer_norm_rms_epsilon",
        .eps = 1e-6f,
    };
    uint32_t d_head;

    if (!wk || !w1)
        return convert_bad(f->out, err,
                           "is a ggml file, but not of GPT-2 or LLaMA");
    if (hp->n_head == 0 || hp->n_embd == 0 || hp->n_embd % hp->n_head)
        return bad_shape(f, err);
    d_head = hp->n_embd / hp->n_head;
    if (wk->ne[1] % d_head || wk->ne[1] / d_head > hp->n_head)
        return bad_shape(f, err);
    shape.n_head_kv = (uint32_t)(wk->ne[1] / d_head);
    shape.n_ff = (uint32_t)w1->ne[1];
    convert_set_shape(f->out, &shape);
    gguf_set_val_u32(f->out->gguf, "llama.rope.dimension_count", hp->n_rot);
    return GG_OK;
}

enum gg_status
convert_old_take_llama(struct old_file *f, struct gg_error *err)
{
    uint32_t n_layer = f->hp.llama.n_layer;
    enum gg_status st;

    if (n_layer > OLD_MAX_LAYERS)
        return convert_bad(f->out, err, "%u layers, more than %d",
                           (unsigned)n_layer, OLD_MAX_LAYERS);
    st = set_keys(f, err);
    if (st == GG_OK)
        st = convert_old_take(f, whole, COUNT(whole), 0, err);
    for (uint32_t i = 0; i < n_layer && st == GG_OK; i++)
        st = convert_old_take(f, layer, COUNT(layer), i, err);
    return st == GG_OK ? convert_tokens_set_spm(f->out, f->tokens, f->scores,
                                                f->n_vocab, err)
                       : st;
}
