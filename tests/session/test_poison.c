/* test_poison.c - a model with a tensor of NaN, or of infinities, answers
 * nothing: its logits are no numbers, or it is refused
 *
 * Each kind of tensor of each family, with the prompt at once and id by id,
 * with all types of caches. */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "api/model.h"
#include "harness/session_test.h"

enum {
    N = 24,       /* beyond a small batch of queries */
    ENCODED = 10, /* of an encoder, where there is one */
    NAME = 64,
};

static int32_t ids[N];

/* Kinds of tensors that logits need not depend on. */
struct exempt {
    const char *family; /* its first letters; NULL: any */
    const char *part;   /* of the tensor's name */
    bool infinite;      /* only if it is infinite */
    const char *why;
};

static const struct exempt exempts[] = {
    { NULL, "input_scale", false, "products have no use for it" },
    { NULL, "rope_factors_long", false, "the context is short" },
    { NULL, "rope_factors", true, "pairs are not rotated" },
    { NULL, "rope_freqs", true, "pairs are not rotated" },
    { "qwen35", "ssm_dt", true, "the state is forgotten" },
    { "gpt-oss", "exps.bias", true, "what comes of it is clamped" },
    { "kimi-linear", "ssm_dt", true, "the state is forgotten" },
    { "kimi-k3", "ssm_a", true, "its sigmoid is 0 or 1" },
    { "kimi-k3", "ssm_dt", true, "its sigmoid is 1" },
    { "bailingmoe3", "ssm_a", true, "its sigmoid is 0 or 1" },
    { "bailingmoe3", "ssm_dt", true, "its sigmoid is 1" },
    { "qwen3next", "ssm_dt", true, "the state is forgotten" },
    { "nemotron", "ffn_up", false, "RELU makes it 0" },
    { "arcee", "ffn_", false, "RELU makes it 0" },
    { "jais2", "ffn_", false, "RELU makes it 0" },
    { "plm", "ffn_up", false, "RELU makes it 0" },
    { "plm", "ffn_norm", false, "RELU makes it 0" },
    { "smallthinker", "ffn_norm", false, "RELU makes it 0" },
    { "smallthinker", "ffn_gate_exps", false, "RELU makes it 0" },
    { "rwkv", "channel_mix_key", false, "RELU makes it 0, as upstream's" },
    { "rwkv", "channel_mix_lerp_k", false, "RELU makes it 0" },
    { "rwkv7", "attn_norm_2", false, "RELU makes it 0" },
    { "rwkv6", "time_mix_decay.", true, "the state is forgotten" },
    { "rwkv7", "time_mix_w0", true, "its sigmoid is 1" },
    { "rwkv7", "time_mix_a0", true, "its sigmoid is 1" },
    { "rwkv7", "time_mix_v0", true, "its sigmoid is 1" },
    { "arwkv7", "time_mix_w0", true, "its sigmoid is 1" },
    { "arwkv7", "time_mix_a0", true, "its sigmoid is 1" },
    { "arwkv7", "time_mix_v0", true, "its sigmoid is 1" },
    { "t5", "ffn_", false, "RELU makes it 0" },
};

static bool
is_exempt(const char *family, const char *tensor, bool infinite)
{
    for (size_t i = 0; i < sizeof(exempts) / sizeof(exempts[0]); i++) {
        const struct exempt *e = &exempts[i];

        if ((!e->family || !strncmp(family, e->family, strlen(e->family))) &&
            strstr(tensor, e->part) && (infinite || !e->infinite))
            return true;
    }
    return false;
}

/* Whether it answers: with finite logits after N ids, `step` at a time. */
static bool
answers(const struct gg_model *m, enum gg_cache_type type, int step)
{
    int first = m->model->hp.n_encoder > 0 ? ENCODED : 0;
    struct gg_session_params params = { .cache_type = type,
                                        .n_ctx = 64,
                                        .n_encoder_ids = first,
                                        .n_threads = 1 + step % 3 };
    int32_t n_vocab = gg_model_n_vocab(m);
    float *logits = malloc(sizeof(*logits) * (size_t)n_vocab);
    struct gg_session *s;
    bool finite = true;
    int32_t own[N];

    for (int i = 0; i < N; i++)
        own[i] = ids[i] % n_vocab;
    if (gg_session_new(m, &params, &s, &err) != GG_OK) {
        free(logits);
        return false; /* of heads that are no whole blocks of the type */
    }
    for (int i = 0, end; i < N; i = end) {
        end = i + step > first ? i + step : first + 1;
        end = end < N ? end : N;
        eval_ids(s, 0, own, i, end, logits);
    }
    gg_session_free(s);
    for (int32_t i = 0; i < n_vocab; i++)
        finite = finite && isfinite(logits[i]);
    free(logits);
    return finite;
}

/* The model of `bytes` as a file; NULL: it is refused. */
static struct gg_model *
write_and_open(const char *bytes, size_t size)
{
    FILE *f = fopen(scratch_path(), "wb");
    struct gg_model *m;

    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
        exit(99);
    return gg_model_open(scratch_path(), NULL, &m, &err) == GG_OK ? m : NULL;
}

/* Size bytes at p become the value, as floats of the type. */
static void
fill_values(char *p, size_t size, enum ggml_type type, float value)
{
    uint16_t half = type == GGML_TYPE_BF16 ? ggml_fp32_to_bf16(value).bits
                                           : ggml_fp32_to_fp16(value);

    if (type == GGML_TYPE_F32)
        for (size_t i = 0; i < size; i += sizeof(value))
            memcpy(p + i, &value, sizeof(value));
    else
        for (size_t i = 0; i < size; i += sizeof(half))
            memcpy(p + i, &half, sizeof(half));
}

/* A family's file in memory. */
struct file {
    const char *family;
    struct gguf_context *gguf;
    char *bytes;
    size_t size;
};

static void
check_tensor(struct file *f, int64_t i, float value)
{
    static const enum gg_cache_type types[] = { GG_CACHE_F16, GG_CACHE_F32,
                                                GG_CACHE_Q8_0, GG_CACHE_Q4_0 };
    size_t size = gguf_get_tensor_size(f->gguf, i);
    char *data = f->bytes + gguf_get_data_offset(f->gguf) +
                 gguf_get_tensor_offset(f->gguf, i);
    char *kept = malloc(size), title[200];
    struct gg_model *m;
    bool good = true;

    memcpy(kept, data, size);
    fill_values(data, size, gguf_get_tensor_type(f->gguf, i), value);
    m = write_and_open(f->bytes, f->size);
    for (int c = 0; m && c < 4; c++)
        good = good && !answers(m, types[c], N) && !answers(m, types[c], 1);
    gg_model_free(m);
    memcpy(data, kept, size);
    free(kept);
    snprintf(title, sizeof(title), "%s, %s %s", f->family,
             gguf_get_tensor_name(f->gguf, i),
             isnan(value) ? "NaN" : "infinite");
    ok(good, title);
}

/* A tensor's name without its layer's number. */
static void
kind_of(const char *name, char *kind)
{
    int layer = 0, n = 0;

    if (sscanf(name, "blk.%d.%n", &layer, &n) == 1 && n > 0)
        name += n;
    snprintf(kind, NAME, "%s", name);
}

/* The first layer of MTP, which nothing evaluates here. */
static int
first_mtp_layer(const struct gguf_context *g)
{
    const char *arch =
        gguf_get_val_str(g, gguf_find_key(g, "general.architecture"));
    char key[NAME];
    int64_t n, mtp;

    snprintf(key, sizeof(key), "%s.block_count", arch);
    n = gguf_find_key(g, key);
    snprintf(key, sizeof(key), "%s.nextn_predict_layers", arch);
    mtp = gguf_find_key(g, key);
    if (n < 0 || mtp < 0)
        return INT_MAX;
    return (int)gguf_get_val_u32(g, n) - (int)gguf_get_val_u32(g, mtp);
}

static bool
is_of_mtp(const struct gguf_context *g, int64_t i)
{
    int layer = -1;

    (void)sscanf(gguf_get_tensor_name(g, i), "blk.%d.", &layer);
    return layer >= first_mtp_layer(g);
}

/* Whether a tensor after it is of its kind, in a layer whose faults fewer
 * others repeat. */
static bool
is_repeated(const struct gguf_context *g, int64_t i)
{
    char kind[NAME], later[NAME];

    kind_of(gguf_get_tensor_name(g, i), kind);
    while (++i < gguf_get_n_tensors(g)) {
        kind_of(gguf_get_tensor_name(g, i), later);
        if (!strcmp(kind, later) && !is_of_mtp(g, i))
            return true;
    }
    return false;
}

static void
check_tensors(struct file *f)
{
    for (int64_t i = 0; i < 2 * gguf_get_n_tensors(f->gguf); i++) {
        enum ggml_type type = gguf_get_tensor_type(f->gguf, i / 2);
        const char *name = gguf_get_tensor_name(f->gguf, i / 2);

        if ((type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
             type == GGML_TYPE_BF16) &&
            !is_repeated(f->gguf, i / 2) && !is_of_mtp(f->gguf, i / 2) &&
            !is_exempt(f->family, name, i % 2))
            check_tensor(f, i / 2, i % 2 ? INFINITY : NAN);
    }
}

/* Each kind of tensor of the file, if the model without damage answers. */
static void
check_file(const char *family, const char *path)
{
    struct gguf_init_params params = { .no_alloc = true };
    struct file f = { .family = family };
    FILE *in = fopen(path, "rb");
    struct gg_model *m;

    if (!in || fseek(in, 0, SEEK_END))
        exit(99);
    f.size = (size_t)ftell(in);
    rewind(in);
    f.bytes = malloc(f.size);
    f.gguf = gguf_init_from_file(path, params);
    if (!f.gguf || fread(f.bytes, 1, f.size, in) != f.size)
        exit(99);
    fclose(in);
    m = write_and_open(f.bytes, f.size);
    if (!m || !answers(m, GG_CACHE_F32, N))
        printf("# %s has no logits\n", family);
    else
        check_tensors(&f);
    gg_model_free(m);
    gguf_free(f.gguf);
    free(f.bytes);
}

static void
check_made(const char *family)
{
    struct model_spec spec;
    char name[NAME];

    snprintf(name, sizeof(name), "%s-f32", family);
    if (!models_named(name, &spec))
        snprintf(name, sizeof(name), "%s-f16", family);
    if (strstr(family, "bert") || strstr(family, "embedding") ||
        strstr(family, "deep") || !models_named(name, &spec))
        return; /* without logits, or of many layers */
    if (!models_write(&spec, scratch_path()))
        exit(99);
    check_file(family, scratch_path());
}

/* Arguments: files, or names of families. */
int
main(int argc, char **argv)
{
    fill_ids(ids, N);
    for (int i = 1; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');

        if (slash)
            check_file(slash + 1, argv[i]);
        else
            check_made(argv[i]);
    }
    for (size_t i = 0; argc == 1 && models_any_family(i); i++)
        check_made(models_any_family(i));
    return tap_done();
}
