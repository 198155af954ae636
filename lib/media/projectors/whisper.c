/* whisper.c - encoders of sounds that begin as Whisper's (Radford et al. 2022)
 *
 * A log-mel spectrogram of 30 s; two convolutions over time, the second of
 * which halves it; x + positions; layers; norm. Then rows:
 * voxtral:  down(gelu(up(stack(x))))
 * ultravox: down(rms(silu(b) * a)), a and b of W rms(stack(x))
 * qwen2a:   W norm(mean of two neighbours)
 * qwen2.5o: as qwen2a, of as many frames as there are, in chunks of 2 s, each
 *           of which begins anew, and sees itself alone
 */
#include <string.h>

#include "core/mem.h"
#include "media/graph.h"
#include "media/mel.h"
#include "media/plan.h"

enum {
    SECONDS = 30,
    SAMPLES = SECONDS * MEDIA_RATE,
    FRAMES = 3000,
    PLACES = FRAMES / 2,
    TAPS = 3,    /* of a convolution */
    CHUNK = 200, /* frames; of Qwen2.5-Omni */
    CHUNK_PLACES = CHUNK / 2,
};

static const char *const stack_keys[] = { "projector.stack_factor", NULL };

static void
hparams(struct media_loader *l)
{
    l->e->model->hp.activation = MODEL_GELU_ERF;
    if (l->keys.status == GG_OK && l->e->hp.n_mel > MEDIA_MEL_MOST)
        graph_key_mismatch(&l->keys, "num_mel_bins", "exceeds", l->e->hp.n_mel,
                           MEDIA_MEL_MOST);
}

static void
hparams_stack(struct media_loader *l)
{
    hparams(l);
    l->e->hp.stack =
        graph_key_int(&l->keys, "projector.stack_factor", 1, 64, -1);
}

static void
find_encoder(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd;
    int64_t first[GGML_MAX_DIMS] = { TAPS, e->hp.n_mel, n, 1 };
    int64_t second[GGML_MAX_DIMS] = { TAPS, n, n, 1 };

    e->filters[0] = graph_find_filters(&l->l, "a.conv1d.1.weight", first);
    e->filters[1] = graph_find_filters(&l->l, "a.conv1d.2.weight", second);
    e->filter_bias[0] =
        graph_find_numbers(&l->l, "a.conv1d.1.bias", 1, n, true);
    e->filter_bias[1] =
        graph_find_numbers(&l->l, "a.conv1d.2.bias", 1, n, true);
    media_find_positions(l, PLACES, 1);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS | MEDIA_KEY_UNBIASED);
    e->post_norm = graph_find_norm(&l->l, "a.post_ln", n, MODEL_REQUIRED);
}

static void
find_map(struct media_loader *l, struct model_linear *to, const char *name,
         int64_t n_in, int64_t n_out)
{
    to->weight = graph_find_matrix(&l->l, name, n_in, n_out, MODEL_REQUIRED);
    to->scale = 1;
}

/* ---- what sounds become -------------------------------------------------- */

/* Frames from `first` on of a spectrogram of `all` frames. */
static float *
cut_frames(struct media_planner *p, const float *mel, size_t all, size_t first)
{
    size_t n_mel = (size_t)p->e->hp.n_mel;
    float *to = media_plan_new_mel(p, FRAMES, n_mel);

    for (size_t i = 0; i < n_mel && to; i++)
        memcpy(to + i * FRAMES, mel + i * all + first, FRAMES * sizeof(*to));
    return to;
}

/* Runs of 30 s each, the last of them filled with silence. */
static void
plan_runs(struct media_planner *p, size_t n_rows)
{
    size_t n = p->plan->n_samples;
    size_t n_runs = (n + SAMPLES - 1) / SAMPLES, all;
    float *mel;

    p->status =
        media_mel_compute(&media_mel_whisper, (uint32_t)p->e->hp.n_mel,
                          p->plan->samples, n, n_runs * SAMPLES, &mel, p->err);
    if (p->status != GG_OK)
        return;
    all = media_mel_frames(&media_mel_whisper, n_runs * SAMPLES);
    for (size_t i = 0; i < n_runs && p->status == GG_OK; i++)
        media_plan_sound(p, cut_frames(p, mel, all, i * FRAMES), FRAMES,
                         n_rows);
    mem_free(mel);
}

/* ---- what is computed ---------------------------------------------------- */

/* A convolution of x, time x channels x n: channels x time x n. */
static struct ggml_tensor *
convolve(struct media_graph *m, struct ggml_tensor *x, int i, int stride)
{
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *w = m->e->filters[i], *b = m->e->filter_bias[i];

    x = ggml_im2col(ctx, w, x, stride, 0, 1, 0, 1, 0, false, GGML_TYPE_F32);
    w = ggml_reshape_2d(ctx, w, w->ne[0] * w->ne[1], w->ne[2]);
    x = ggml_mul_mat(ctx, w, x);
    x = ggml_add(ctx, x, ggml_reshape_1d(ctx, b, b->ne[1]));
    return ggml_gelu_erf(ctx, x);
}

static struct ggml_tensor *
spectrogram(struct media_graph *m)
{
    float *to;
    int64_t n_mel = m->e->hp.n_mel;
    struct ggml_tensor *t = media_input(m, GGML_TYPE_F32, m->nx, n_mel, &to);

    if (to)
        memcpy(to, m->mel, ggml_nbytes(t));
    return t;
}

static struct ggml_tensor *
encode(struct media_graph *m)
{
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *x = convolve(m, spectrogram(m), 0, 1);

    x = convolve(m, ggml_cont(ctx, ggml_transpose(ctx, x)), 1, 2);
    m->nx = m->n = (int32_t)x->ne[1];
    x = ggml_add(ctx, x, media_positions(m, MEDIA_AS_IS));
    return media_vit(m, x, &(struct media_vit){ 0 });
}

/* Neighbours in time as one; what is left over goes. */
static struct ggml_tensor *
stack(struct media_graph *m, struct ggml_tensor *x)
{
    int64_t n = m->e->hp.stack;

    return ggml_view_2d(m->g.ctx, x, x->ne[0] * n, x->ne[1] / n,
                        x->nb[1] * (size_t)n, 0);
}

static size_t
stacked_rows(const struct media_planner *p)
{
    return PLACES / (size_t)p->e->hp.stack;
}

/* ---- Voxtral ------------------------------------------------------------- */

static void
weights_voxtral(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd * (int64_t)e->hp.stack;
    int64_t ff = media_peek(l, "mm.a.mlp.1.weight", 1);

    find_encoder(l);
    find_map(l, &e->linears[0], "mm.a.mlp.1", n, ff);
    find_map(l, &e->linears[1], "mm.a.mlp.2", ff, e->hp.width);
}

static void
plan_voxtral(struct media_planner *p)
{
    media_plan_marker(p, "[BEGIN_AUDIO]");
    plan_runs(p, stacked_rows(p));
}

static struct ggml_tensor *
graph_voxtral(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x = graph_norm(&m->g, encode(m), &e->post_norm);

    return media_mlp(m, stack(m, x), &e->linears[0], &e->linears[1],
                     MODEL_GELU_ERF);
}

/* ---- Ultravox ------------------------------------------------------------ */

static void
weights_ultravox(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd * (int64_t)e->hp.stack;
    int64_t ff = media_peek(l, "mm.a.mlp.1.weight", 1);

    find_encoder(l);
    if (l->l.status == GG_OK && ff % 2)
        l->l.status =
            gguf_bad_value(l->l.gguf, "mm.a.mlp.1.weight", l->l.err,
                           "%lld values are no two halves", (long long)ff);
    e->norms[0].weight =
        graph_find_vector(&l->l, "mm.a.norm_pre", n, MODEL_REQUIRED);
    find_map(l, &e->linears[0], "mm.a.mlp.1", n, ff);
    e->norms[1].weight =
        graph_find_vector(&l->l, "mm.a.norm_mid", ff / 2, MODEL_REQUIRED);
    find_map(l, &e->linears[1], "mm.a.mlp.2", ff / 2, e->hp.width);
}

static void
plan_ultravox(struct media_planner *p)
{
    plan_runs(p, stacked_rows(p));
}

static struct ggml_tensor *
rms(struct media_graph *m, struct ggml_tensor *x, const struct model_norm *norm)
{
    return graph_scale_norm(&m->g, ggml_rms_norm(m->g.ctx, x, 1e-6f), norm);
}

static struct ggml_tensor *
graph_ultravox(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x = graph_norm(&m->g, encode(m), &e->post_norm);

    x = graph_linear(&m->g, rms(m, stack(m, x), &e->norms[0]), &e->linears[0]);
    x = rms(m, ggml_swiglu_swapped(m->g.ctx, x), &e->norms[1]);
    return graph_linear(&m->g, x, &e->linears[1]);
}

/* ---- Qwen2-Audio, Qwen2.5-Omni ------------------------------------------- */

static void
weights_qwen2a(struct media_loader *l)
{
    struct media_encoder *e = l->e;

    find_encoder(l);
    e->linears[0] = graph_find_linear(&l->l, "mm.a.fc", e->model->hp.n_embd,
                                      e->hp.width, MODEL_REQUIRED);
}

static void
plan_qwen2a(struct media_planner *p)
{
    media_plan_marker(p, "<|audio_bos|>");
    plan_runs(p, PLACES / 2);
    media_plan_marker(p, "<|audio_eos|>");
}

/* The mean of each two neighbours. */
static struct ggml_tensor *
halve(struct media_graph *m, struct ggml_tensor *x)
{
    size_t two = 2 * x->nb[1];
    struct ggml_tensor *a =
        ggml_view_2d(m->g.ctx, x, x->ne[0], x->ne[1] / 2, two, 0);
    struct ggml_tensor *b =
        ggml_view_2d(m->g.ctx, x, x->ne[0], x->ne[1] / 2, two, x->nb[1]);

    return ggml_scale(m->g.ctx, ggml_add(m->g.ctx, a, b), 0.5f);
}

static struct ggml_tensor *
graph_qwen2a(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x = halve(m, encode(m));

    return graph_linear(&m->g, graph_norm(&m->g, x, &e->post_norm),
                        &e->linears[0]);
}

/* ---- Qwen2.5-Omni -------------------------------------------------------- */

/* Places after the convolutions, a chunk's being those of its frames. */
static size_t
places_of(size_t n_frames)
{
    return n_frames / CHUNK * CHUNK_PLACES + (n_frames % CHUNK + 1) / 2;
}

/* Frames that begin within the sound. */
static void
plan_frames(struct media_planner *p)
{
    size_t n = p->plan->n_samples, n_mel = (size_t)p->e->hp.n_mel, all;
    size_t used = (n + media_mel_whisper.hop - 1) / media_mel_whisper.hop;
    size_t padded = n + media_mel_whisper.n_fft + media_mel_whisper.hop;
    float *mel, *to;

    p->status = media_mel_compute(&media_mel_whisper, (uint32_t)n_mel,
                                  p->plan->samples, n, padded, &mel, p->err);
    if (p->status != GG_OK)
        return;
    all = media_mel_frames(&media_mel_whisper, padded);
    to = media_plan_new_mel(p, used, n_mel);
    for (size_t i = 0; i < n_mel && to; i++)
        memcpy(to + i * used, mel + i * all, used * sizeof(*to));
    mem_free(mel);
    media_plan_sound(p, to, used, places_of(used) / 2);
}

static void
plan_qwen25o(struct media_planner *p)
{
    media_plan_marker(p, "<|audio_bos|>");
    if (p->status == GG_OK &&
        places_of(p->plan->n_samples / media_mel_whisper.hop) < 2)
        media_plan_refuse(p, GG_ERR_ARG, "the sound is shorter than a row");
    if (p->status == GG_OK)
        plan_frames(p);
    media_plan_marker(p, "<|audio_eos|>");
}

/* Chunks of n_frames frames, from `first` on: n_frames x n_mel x n. */
static struct ggml_tensor *
chunks(struct media_graph *m, int64_t first, int64_t n_frames, int64_t n)
{
    int64_t n_mel = m->e->hp.n_mel;
    float *to;
    struct ggml_tensor *t =
        media_input(m, GGML_TYPE_F32, n_frames, n_mel * n, &to);

    for (int64_t i = 0; i < n_mel * n && to; i++, to += n_frames)
        memcpy(to, m->mel + i % n_mel * m->nx + first + i / n_mel * n_frames,
               (size_t)n_frames * sizeof(*to));
    return ggml_reshape_3d(m->g.ctx, t, n_frames, n_mel, n);
}

/* n_embd x places of all chunks; counts them as windows. */
static struct ggml_tensor *
embed_chunks(struct media_graph *m, int64_t first, int64_t n_frames, int64_t n,
             struct media_windows *w)
{
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *x = convolve(m, chunks(m, first, n_frames, n), 0, 1);

    x = convolve(m, ggml_cont(ctx, ggml_permute(ctx, x, 1, 0, 2, 3)), 1, 2);
    *w = (struct media_windows){ .n = (int32_t)n, .size = (int32_t)x->ne[1] };
    return ggml_reshape_2d(ctx, x, x->ne[0], x->ne[1] * n);
}

static struct ggml_tensor *
graph_qwen25o(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_context *ctx = m->g.ctx;
    int64_t whole = m->nx / CHUNK, rest = m->nx % CHUNK;
    struct ggml_tensor *x = NULL, *last = NULL;

    if (whole > 0)
        x = embed_chunks(m, 0, CHUNK, whole, &m->windows[0]);
    if (rest > 0)
        last = embed_chunks(m, whole * CHUNK, rest, 1, &m->windows[1]);
    x = x && last ? ggml_concat(ctx, x, last, 1) : x ? x : last;
    x = ggml_add(ctx, x,
                 media_repeated_positions(m, (int32_t)x->ne[1], CHUNK_PLACES));
    x = media_vit(m, x, &(struct media_vit){ .attend = media_attend_windows });
    return graph_linear(&m->g, graph_norm(&m->g, halve(m, x), &e->post_norm),
                        &e->linears[0]);
}

const struct media_type media_projector_whisper[] = {
    { .name = "voxtral",
      .kind = GG_MEDIA_SOUND,
      .keys = stack_keys,
      .hparams = hparams_stack,
      .weights = weights_voxtral,
      .plan = plan_voxtral,
      .graph = graph_voxtral },
    { .name = "ultravox",
      .kind = GG_MEDIA_SOUND,
      .keys = stack_keys,
      .hparams = hparams_stack,
      .weights = weights_ultravox,
      .plan = plan_ultravox,
      .graph = graph_ultravox },
    { .name = "qwen2a",
      .kind = GG_MEDIA_SOUND,
      .hparams = hparams,
      .weights = weights_qwen2a,
      .plan = plan_qwen2a,
      .graph = graph_qwen2a },
    { .name = "qwen2.5o",
      .kind = GG_MEDIA_SOUND,
      .hparams = hparams,
      .weights = weights_qwen2a,
      .plan = plan_qwen25o,
      .graph = graph_qwen25o },
    { 0 },
};
