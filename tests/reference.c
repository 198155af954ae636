/* reference.c - the logits of a model, computed plainly in double precision
 *
 * Shares nothing with the library but the reading of the file and of its
 * types: loops over the formulas of the papers (Radford et al. 2019; Touvron
 * et al. 2023; rotary positions: Su et al. 2021), one token after another. */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gguf.h>

struct reference {
    struct gguf_context *gguf;
    struct ggml_context *ctx;
    bool gpt2;
    int n_embd, n_layer, n_head, n_head_kv, n_ff, n_vocab, d, n_rot;
    double eps, rope_base, rope_scale;
};

/* What one evaluation holds: keys and values of every layer and position. */
struct state {
    const struct reference *r;
    double *keys, *values; /* [layer][position][n_head_kv * d] */
    int n;                 /* positions */
};

/* ---- the file ------------------------------------------------------------ */

static int64_t
find_key(const struct reference *r, const char *name)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", r->gpt2 ? "gpt2" : "llama", name);
    return gguf_find_key(r->gguf, key);
}

static int
int_key(const struct reference *r, const char *name, int other)
{
    int64_t i = find_key(r, name);

    return i < 0 ? other : (int)gguf_get_val_u32(r->gguf, i);
}

static double
float_key(const struct reference *r, const char *name, double other)
{
    int64_t i = find_key(r, name);

    return i < 0 ? other : (double)gguf_get_val_f32(r->gguf, i);
}

/* The tensor's values; NULL: there is none of that name. Free it. */
static double *
weights(const struct reference *r, const char *name)
{
    struct ggml_tensor *t = ggml_get_tensor(r->ctx, name);
    size_t n = t ? (size_t)ggml_nelements(t) : 0;
    double *x = t ? malloc(n * sizeof(*x)) : NULL;
    float *f = t ? malloc(n * sizeof(*f)) : NULL;

    if (t && t->type == GGML_TYPE_F32)
        memcpy(f, t->data, n * sizeof(*f));
    else if (t)
        ggml_get_type_traits(t->type)->to_float(t->data, f, (int64_t)n);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)f[i];
    free(f);
    return x;
}

static double *
layer_weights(const struct reference *r, int layer, const char *name,
              const char *suffix)
{
    char full[GGML_MAX_NAME];

    if (layer < 0)
        snprintf(full, sizeof(full), "%s.%s", name, suffix);
    else
        snprintf(full, sizeof(full), "blk.%d.%s.%s", layer, name, suffix);
    return weights(r, full);
}

struct reference *
reference_open(const char *path)
{
    struct reference *r = calloc(1, sizeof(*r));
    struct gguf_init_params params = { false, &r->ctx };
    int64_t arch;

    r->gguf = gguf_init_from_file(path, params);
    if (!r->gguf) {
        free(r);
        return NULL;
    }
    arch = gguf_find_key(r->gguf, "general.architecture");
    r->gpt2 = !strcmp(gguf_get_val_str(r->gguf, arch), "gpt2");
    r->n_embd = int_key(r, "embedding_length", 0);
    r->n_layer = int_key(r, "block_count", 0);
    r->n_head = int_key(r, "attention.head_count", 0);
    r->n_head_kv = int_key(r, "attention.head_count_kv", r->n_head);
    r->n_ff = int_key(r, "feed_forward_length", 0);
    r->d = int_key(r, "attention.key_length", r->n_embd / r->n_head);
    r->n_rot = int_key(r, "rope.dimension_count", r->d);
    r->n_vocab = (int)ggml_get_tensor(r->ctx, "token_embd.weight")->ne[1];
    r->rope_base = float_key(r, "rope.freq_base", 10000);
    r->rope_scale = 1 / float_key(r, "rope.scaling.factor", 1);
    r->eps = float_key(r,
                       r->gpt2 ? "attention.layer_norm_epsilon"
                               : "attention.layer_norm_rms_epsilon",
                       0);
    return r;
}

void
reference_free(struct reference *r)
{
    if (!r)
        return;
    gguf_free(r->gguf);
    ggml_free(r->ctx);
    free(r);
}

int
reference_n_vocab(const struct reference *r)
{
    return r->n_vocab;
}

/* ---- the formulas -------------------------------------------------------- */

/* y = W x + b */
static void
linear(const struct reference *r, int layer, const char *name, int n_in,
       int n_out, const double *x, double *y)
{
    double *w = layer_weights(r, layer, name, "weight");
    double *b = layer_weights(r, layer, name, "bias");

    for (int i = 0; i < n_out; i++) {
        y[i] = b ? b[i] : 0;
        for (int j = 0; j < n_in; j++)
            y[i] += w[(size_t)i * (size_t)n_in + (size_t)j] * x[j];
    }
    free(w);
    free(b);
}

/* gpt2: (x - mean) / sqrt(variance + eps); llama: x / sqrt(mean square + eps)
 */
static void
norm(const struct reference *r, int layer, const char *name, const double *x,
     double *y)
{
    double *w = layer_weights(r, layer, name, "weight");
    double *b = layer_weights(r, layer, name, "bias");
    double mean = 0, square = 0;

    for (int i = 0; i < r->n_embd && r->gpt2; i++)
        mean += x[i] / r->n_embd;
    for (int i = 0; i < r->n_embd; i++)
        square += (x[i] - mean) * (x[i] - mean) / r->n_embd;
    for (int i = 0; i < r->n_embd; i++)
        y[i] = (x[i] - mean) / sqrt(square + r->eps) * w[i] + (b ? b[i] : 0);
    free(w);
    free(b);
}

/* Each pair (x[2i], x[2i + 1]) of a head turns by position * base^(-2i/n). */
static void
rotate(const struct reference *r, double *x, int n_head, int position)
{
    double *divisors = weights(r, "rope_freqs.weight");

    for (int h = 0; h < n_head; h++)
        for (int i = 0; i < r->n_rot / 2; i++) {
            double *p = x + h * r->d + 2 * i, a = p[0], b = p[1];
            double angle = position * r->rope_scale *
                           pow(r->rope_base, -2.0 * i / r->n_rot) /
                           (divisors ? divisors[i] : 1);

            p[0] = a * cos(angle) - b * sin(angle);
            p[1] = a * sin(angle) + b * cos(angle);
        }
    free(divisors);
}

/* y = softmax(q k^T / sqrt(d)) v over positions 0..position, for one head */
static void
attend(const struct reference *r, const double *q, const double *keys,
       const double *values, int position, double *y)
{
    size_t stride = (size_t)(r->n_head_kv * r->d);
    double *p = malloc(((size_t)position + 1) * sizeof(*p));
    double max = -INFINITY, sum = 0;

    for (int t = 0; t <= position; t++) {
        p[t] = 0;
        for (int i = 0; i < r->d; i++)
            p[t] += q[i] * keys[(size_t)t * stride + (size_t)i] / sqrt(r->d);
        max = fmax(max, p[t]);
    }
    for (int t = 0; t <= position; t++)
        sum += p[t] = exp(p[t] - max);
    for (int i = 0; i < r->d; i++) {
        y[i] = 0;
        for (int t = 0; t <= position; t++)
            y[i] += p[t] / sum * values[(size_t)t * stride + (size_t)i];
    }
    free(p);
}

static void
project(const struct reference *r, int layer, int position, const double *x,
        double *q, double *k, double *v)
{
    int n_q = r->n_head * r->d, n_kv = r->n_head_kv * r->d;

    if (r->gpt2) {
        double *qkv = malloc((size_t)(n_q + 2 * n_kv) * sizeof(*qkv));

        linear(r, layer, "attn_qkv", r->n_embd, n_q + 2 * n_kv, x, qkv);
        memcpy(q, qkv, (size_t)n_q * sizeof(*q));
        memcpy(k, qkv + n_q, (size_t)n_kv * sizeof(*k));
        memcpy(v, qkv + n_q + n_kv, (size_t)n_kv * sizeof(*v));
        free(qkv);
        return;
    }
    linear(r, layer, "attn_q", r->n_embd, n_q, x, q);
    linear(r, layer, "attn_k", r->n_embd, n_kv, x, k);
    linear(r, layer, "attn_v", r->n_embd, n_kv, x, v);
    rotate(r, q, r->n_head, position);
    rotate(r, k, r->n_head_kv, position);
}

static void
attention(struct state *s, int layer, int position, const double *x, double *y)
{
    const struct reference *r = s->r;
    int n_q = r->n_head * r->d, n_kv = r->n_head_kv * r->d;
    size_t start = (size_t)layer * (size_t)s->n * (size_t)n_kv;
    double *keys = s->keys + start, *values = s->values + start;
    double *q = malloc((size_t)n_q * sizeof(*q));
    double *out = malloc((size_t)n_q * sizeof(*out));

    project(r, layer, position, x, q, keys + (size_t)position * (size_t)n_kv,
            values + (size_t)position * (size_t)n_kv);
    for (int h = 0; h < r->n_head; h++) {
        int kv = h / (r->n_head / r->n_head_kv);

        attend(r, q + h * r->d, keys + kv * r->d, values + kv * r->d, position,
               out + h * r->d);
    }
    linear(r, layer, "attn_output", n_q, r->n_embd, out, y);
    free(q);
    free(out);
}

static double
gelu(double x)
{
    return x / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

static void
feed_forward(const struct reference *r, int layer, const double *x, double *y)
{
    double *up = malloc((size_t)r->n_ff * sizeof(*up));
    double *gate = malloc((size_t)r->n_ff * sizeof(*gate));

    linear(r, layer, "ffn_up", r->n_embd, r->n_ff, x, up);
    if (!r->gpt2)
        linear(r, layer, "ffn_gate", r->n_embd, r->n_ff, x, gate);
    for (int i = 0; i < r->n_ff; i++)
        up[i] = r->gpt2 ? gelu(up[i]) : gate[i] / (1 + exp(-gate[i])) * up[i];
    linear(r, layer, "ffn_down", r->n_ff, r->n_embd, up, y);
    free(up);
    free(gate);
}

static void
embed(const struct reference *r, int32_t id, int position, double *x)
{
    double *tokens = weights(r, "token_embd.weight");
    double *positions = weights(r, "position_embd.weight");

    for (int i = 0; i < r->n_embd; i++) {
        x[i] = tokens[(size_t)id * (size_t)r->n_embd + (size_t)i];
        if (positions)
            x[i] += positions[(size_t)position * (size_t)r->n_embd + (size_t)i];
    }
    free(tokens);
    free(positions);
}

static void
forward(struct state *s, int32_t id, int position, double *logits)
{
    const struct reference *r = s->r;
    size_t size = (size_t)r->n_embd * sizeof(double);
    double *x = malloc(size), *y = malloc(size), *z = malloc(size);
    bool tied = ggml_get_tensor(r->ctx, "output.weight") == NULL;

    embed(r, id, position, x);
    for (int l = 0; l < r->n_layer; l++) {
        norm(r, l, "attn_norm", x, y);
        attention(s, l, position, y, z);
        for (int i = 0; i < r->n_embd; i++)
            x[i] += z[i];
        norm(r, l, "ffn_norm", x, y);
        feed_forward(r, l, y, z);
        for (int i = 0; i < r->n_embd; i++)
            x[i] += z[i];
    }
    norm(r, -1, "output_norm", x, y);
    linear(r, -1, tied ? "token_embd" : "output", r->n_embd, r->n_vocab, y,
           logits);
    free(x);
    free(y);
    free(z);
}

void
reference_logits(const struct reference *r, const int32_t *ids, int n,
                 double *out)
{
    size_t cells = (size_t)(r->n_layer * n * r->n_head_kv * r->d);
    struct state s = {
        .r = r,
        .keys = malloc(cells * sizeof(double)),
        .values = malloc(cells * sizeof(double)),
        .n = n,
    };

    for (int i = 0; i < n; i++)
        forward(&s, ids[i], i, out + (size_t)i * (size_t)r->n_vocab);
    free(s.keys);
    free(s.values);
}

double
reference_nmse(const float *x, const double *truth, int n)
{
    double error = 0, power = 0;

    for (int i = 0; i < n; i++) {
        error += ((double)x[i] - truth[i]) * ((double)x[i] - truth[i]);
        power += truth[i] * truth[i];
    }
    return error / power;
}
