/* qwen3a.c - Qwen3-Omni's and Qwen3-ASR's encoder of sounds (Qwen team 2025)
 *
 * A log-mel spectrogram in chunks of 100 frames, at most eight a run; three
 * convolutions in time and mel, which halve both; x = W x + positions, from
 * each chunk's begin; layers; norm; rows = down(gelu(up(x))).
 */
#include <string.h>

#include "core/mem.h"
#include "media/graph.h"
#include "media/mel.h"
#include "media/plan.h"

enum {
    CHUNK = 100, /* frames */
    MOST = 800,  /* of a run */
    CHUNK_ROWS = 13,
    CONVOLUTIONS = 3,
    SIDE = 3, /* of a filter */
};

static void
hparams(struct media_loader *l)
{
    l->e->model->hp.activation = MODEL_GELU_ERF;
    if (l->keys.status == GG_OK && l->e->hp.n_mel > MEDIA_MEL_MOST)
        graph_key_mismatch(&l->keys, "num_mel_bins", "exceeds", l->e->hp.n_mel,
                           MEDIA_MEL_MOST);
}

/* A side after a convolution. */
static int64_t
halved(int64_t n)
{
    return (n - 1) / 2 + 1;
}

static void
find_convolutions(struct media_loader *l)
{
    static const char *const weights[CONVOLUTIONS] = { "a.conv2d.1.weight",
                                                       "a.conv2d.2.weight",
                                                       "a.conv2d.3.weight" };
    static const char *const biases[CONVOLUTIONS] = { "a.conv2d.1",
                                                      "a.conv2d.2",
                                                      "a.conv2d.3" };
    const struct gguf_tensor *t = gguf_tensor_named(l->l.gguf, weights[0]);
    int64_t n = t && t->ne[3] > 0 ? t->ne[3] : 1, mel = l->e->hp.n_mel;

    for (int i = 0; i < CONVOLUTIONS; i++) {
        int64_t ne[GGML_MAX_DIMS] = { SIDE, SIDE, i ? n : 1, n };

        l->e->filters[i] = graph_find_filters(&l->l, weights[i], ne);
        l->e->filter_bias[i] =
            graph_find_bias(&l->l, biases[i], n, MODEL_REQUIRED);
        mel = halved(mel);
    }
    l->e->linears[2].weight = graph_find_matrix(
        &l->l, "a.conv_out", mel * n, l->e->model->hp.n_embd, MODEL_REQUIRED);
    l->e->linears[2].scale = 1;
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd;

    find_convolutions(l);
    media_find_positions(l, 0, 1);
    if (l->l.status == GG_OK && e->positions.n < CHUNK_ROWS)
        l->l.status = gguf_bad_value(l->l.gguf, "a.position_embd.weight",
                                     l->l.err, "less than %d rows", CHUNK_ROWS);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "a.post_ln", n, MODEL_REQUIRED);
    e->linears[0] =
        graph_find_linear(&l->l, "mm.a.mlp.1", n, n, MODEL_REQUIRED);
    e->linears[1] =
        graph_find_linear(&l->l, "mm.a.mlp.2", n, e->hp.width, MODEL_REQUIRED);
}

/* ---- what sounds become -------------------------------------------------- */

/* n frames from `first` on of a spectrogram of `all`, and zeros to whole
 * chunks. */
static void
plan_run(struct media_planner *p, const float *mel, size_t all, size_t first,
         size_t n)
{
    size_t n_mel = (size_t)p->e->hp.n_mel;
    size_t chunks = (n + CHUNK - 1) / CHUNK;
    float *to = media_plan_new_mel(p, chunks * CHUNK, n_mel);

    for (size_t i = 0; i < n_mel && to; i++)
        memcpy(to + i * chunks * CHUNK, mel + i * all + first, n * sizeof(*to));
    media_plan_sound(p, to, chunks * CHUNK, chunks * CHUNK_ROWS);
}

static void
plan(struct media_planner *p)
{
    size_t n = p->plan->n_samples;
    struct media_mel form = media_mel_whisper;
    float *mel = NULL;
    size_t all;

    form.keeps_last = true;
    all = media_mel_frames(&form, n);
    media_plan_marker(p, "<|audio_start|>");
    if (p->status == GG_OK)
        p->status = media_mel_compute(&form, (uint32_t)p->e->hp.n_mel,
                                      p->plan->samples, n, n, &mel, p->err);
    for (size_t i = 0; i < all && p->status == GG_OK; i += MOST)
        plan_run(p, mel, all, i, all - i < MOST ? all - i : MOST);
    mem_free(mel);
    media_plan_marker(p, "<|audio_end|>");
}

/* ---- what is computed ---------------------------------------------------- */

/* Chunks: CHUNK x n_mel x 1 x chunks. */
static struct ggml_tensor *
chunks(struct media_graph *m)
{
    size_t n = (size_t)m->nx / CHUNK, n_mel = (size_t)m->e->hp.n_mel;
    float *to;
    struct ggml_tensor *t =
        media_input(m, GGML_TYPE_F32, CHUNK, (int64_t)(n_mel * n), &to);

    for (size_t i = 0; i < n && to; i++)
        for (size_t k = 0; k < n_mel; k++, to += CHUNK)
            memcpy(to, m->mel + k * (size_t)m->nx + i * CHUNK,
                   CHUNK * sizeof(*to));
    return ggml_reshape_4d(m->g.ctx, t, CHUNK, (int64_t)n_mel, 1, (int64_t)n);
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *x = chunks(m);

    for (int i = 0; i < CONVOLUTIONS; i++) {
        x = media_convolve(m, e->filters[i], x, e->filter_bias[i]);
        x = ggml_gelu_erf(ctx, x);
        if (i + 1 < CONVOLUTIONS)
            x = ggml_cont(ctx, ggml_permute(ctx, x, 2, 0, 1, 3));
    }
    /* channels x time x mel x chunks: of each time all mel and channels */
    x = ggml_cont(ctx, ggml_permute(ctx, x, 1, 2, 0, 3));
    x = ggml_reshape_2d(ctx, x, x->ne[0] * x->ne[1], x->ne[2] * x->ne[3]);
    x = graph_linear(&m->g, x, &e->linears[2]);
    x = ggml_add(ctx, x,
                 media_repeated_positions(m, (int32_t)x->ne[1], CHUNK_ROWS));
    x = media_vit(m, x, &(struct media_vit){ 0 });
    x = graph_norm(&m->g, x, &e->post_norm);
    return media_mlp(m, x, &e->linears[0], &e->linears[1], MODEL_GELU_ERF);
}

const struct media_type media_projector_qwen3a[] = {
    { .name = "qwen3a",
      .kind = GG_MEDIA_SOUND,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
