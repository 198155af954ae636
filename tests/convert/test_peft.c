/* test_peft.c - folders of Hugging Face's PEFT: against PEFT in float64, and
 * what is refused
 *
 * The figures are those of tests/fixtures/golden_peft.py: PEFT 0.21.2,
 * transformers 5.24, torch 2.15, in float64; cached floats leave NMSE 1e-9. */
#include <config.h>

#include <inttypes.h>
#include <sys/stat.h>

#include "fixtures/folder.h"
#include "harness/session_test.h"

#ifdef HAVE_JANSSON

enum {
    N = 12,
    RANK = 4,
    MOST = 64, /* tensors */
};

static const int shown[] = { 0, 42, 85, 128, 171, 214, 257, 299 };
static const double golden[] = { 0.16581711322024553,  -0.93240631138864238,
                                 -0.95461354118286246, 0.6321563449706874,
                                 0.72021059809988874,  -0.5406078100023608,
                                 1.114730031052523,    0.75522631778620208 };

static const char settings[] =
    "\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":6,\"use_rslora\":true,"
    "\"rank_pattern\":{\"k_proj\":3},"
    "\"alpha_pattern\":{\"layers.1.mlp.up_proj\":9},"
    "\"modules_to_save\":[\"input_layernorm\"],\"bias\":\"none\","
    "\"target_modules\":[\"q_proj\"],\"fan_in_fan_out\":false,"
    "\"loftq_config\":{},\"megatron_core\":\"x\"";

static char base[SCRATCH_PATH], adapter[SCRATCH_PATH];

/* ---- an adapter ---------------------------------------------------------- */

static void
write_config(const char *more)
{
    char path[SCRATCH_PATH + 32];
    FILE *f;

    snprintf(path, sizeof(path), "%s/adapter_config.json", adapter);
    f = fopen(path, "w");
    fprintf(f, "{%s%s}", settings, more);
    fclose(f);
}

/* Of a layer, in the order of their names. */
static const struct {
    const char *name;
    int rows, columns; /* columns 0: a vector */
} parts[] = {
    { "input_layernorm.weight", 64, 0 },
    { "mlp.down_proj.lora_A.weight", RANK, 256 },
    { "mlp.down_proj.lora_B.weight", 64, RANK },
    { "mlp.up_proj.lora_A.weight", RANK, 64 },
    { "mlp.up_proj.lora_B.weight", 256, RANK },
    { "self_attn.k_proj.lora_A.weight", 3, 64 },
    { "self_attn.k_proj.lora_B.weight", 32, 3 },
    { "self_attn.q_proj.lora_A.weight", RANK, 64 },
    { "self_attn.q_proj.lora_B.weight", 64, RANK },
    { "self_attn.v_proj.lora_A.weight", RANK, 64 },
    { "self_attn.v_proj.lora_B.weight", 32, RANK },
};

enum {
    PARTS = sizeof(parts) / sizeof(parts[0]),
};

static int
count_of(int part)
{
    return parts[part].rows * (parts[part].columns ? parts[part].columns : 1);
}

static void
put_data(FILE *f)
{
    for (int k = 0; k < 2 * PARTS; k++)
        for (int i = 0, n = count_of(k % PARTS); i < n; i++) {
            double x = ((i * 37 + k * 101) % 41 - 20) / 100.0;
            float value = (float)x + (parts[k % PARTS].columns ? 0 : 1);

            fwrite(&value, sizeof(value), 1, f);
        }
}

/* `rename`: the name of the first one, in place of its own. */
static void
write_weights(const char *rename)
{
    char path[SCRATCH_PATH + 32], head[8192], shape[32];
    int used = 0, at = 0;
    uint64_t size;
    FILE *f;

    for (int k = 0; k < 2 * PARTS; k++) {
        int part = k % PARTS, n = count_of(part) * (int)sizeof(float);

        snprintf(shape, sizeof(shape), parts[part].columns ? "%d,%d" : "%d",
                 parts[part].rows, parts[part].columns);
        used += snprintf(
            head + used, sizeof(head) - (size_t)used,
            "%s\"base_model.model.model.layers.%d.%s\":{\"dtype\":\"F32\","
            "\"shape\":[%s],\"data_offsets\":[%d,%d]}",
            k ? "," : "{", k / PARTS,
            rename && k == 1 ? rename : parts[part].name, shape, at, at + n);
        at += n;
    }
    used += snprintf(head + used, sizeof(head) - (size_t)used, "}");
    snprintf(path, sizeof(path), "%s/adapter_model.safetensors", adapter);
    f = fopen(path, "wb");
    size = (uint64_t)used;
    fwrite(&size, sizeof(size), 1, f);
    fwrite(head, 1, (size_t)used, f);
    put_data(f);
    fclose(f);
}

/* ---- truth --------------------------------------------------------------- */

static void
check_truth(const char *config, const char *title)
{
    struct gg_adapter use = { .path = adapter, .scale = 1 };
    struct gg_model_params params = { .adapters = &use, .n_adapters = 1 };
    struct gg_session_params p = { .cache_type = GG_CACHE_F32 };
    double error = 0, power = 0;
    int32_t ids[N];
    float out[V];
    struct gg_model *m;
    struct gg_session *s;

    write_config(config);
    fill_ids(ids, N);
    must(gg_model_open(base, &params, &m, &err));
    s = new_session(m, p);
    eval_ids(s, 0, ids, 0, N, out);
    for (int i = 0; i < 8; i++) {
        double d = (double)out[shown[i]] - golden[i];

        error += d * d;
        power += golden[i] * golden[i];
    }
    printf("# NMSE %.1e\n", error / power);
    ok(error <= 1e-9 * power, title);
    gg_session_free(s);
    gg_model_free(m);
}

static void
check_file(void)
{
    struct gg_file *f;
    const struct gguf_context *g;
    int64_t b;

    write_config("");
    must(gg_file_open_adapter(adapter, base, &f, &err));
    g = gg_file_gguf(f);
    is(gguf_get_n_tensors(g), 2 * PARTS, "all tensors");
    b = gguf_find_tensor(g, "blk.1.attn_k.weight.lora_b");
    ok(b >= 0 && gguf_get_tensor_ne(g, b)[0] == 3 &&
           gguf_get_tensor_ne(g, b)[1] == 32,
       "of other ranks");
    ok(gguf_find_tensor(g, "blk.0.attn_norm.weight") >= 0, "a whole one");
    gg_file_close(f);
    ok(gg_file_open_adapter(NULL, base, &f, &err) == GG_ERR_ARG, "no folder");
}

/* ---- what is refused ----------------------------------------------------- */

static void
check_refused(const char *config, const char *why)
{
    struct gg_file *f;
    enum gg_status st;

    write_config(config);
    st = gg_file_open_adapter(adapter, base, &f, &err);
    if (st == GG_OK || !strstr(err.message, why))
        printf("# %s\n", err.message);
    ok(st != GG_OK && strstr(err.message, why), why);
    if (st == GG_OK)
        gg_file_close(f);
}

static void
check_settings(void)
{
    static const char *const refused[][2] = {
        { ",\"use_dora\":true", "use_dora: is not known" },
        { ",\"use_qalora\":true", "use_qalora: is not known" },
        { ",\"lora_bias\":true", "lora_bias: is not known" },
        { ",\"target_parameters\":[\"x\"]", "target_parameters: is not known" },
        { ",\"something_new\":3", "something_new: is not known" },
        { ",\"init_lora_weights\":\"pissa_niter_4\"", "pissa_niter_4 has" },
        { ",\"layer_replication\":[[0,1]]", "layer_replication: is not known" },
    };

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        check_refused(refused[i][0], refused[i][1]);
}

static void
check_tensors(void)
{
    write_weights("mlp.down_proj.lora_C.weight");
    check_refused("", "down_proj.lora_A.weight: is missing");
    write_weights("mlp.other.lora_A.weight");
    check_refused("", "lora_A.weight: is missing");
    write_weights("mlp.up_proj.lora_magnitude_vector");
    check_refused("", "is missing");
    write_weights(NULL);
}

static void
check_base(void)
{
    struct gg_file *f;

    write_config(",\"base_model_name_or_path\":\"somebody/some-model\"");
    ok(gg_file_open(adapter, &f, &err) == GG_ERR_UNSUPPORTED &&
           strstr(err.message, "'somebody/some-model' is no folder"),
       "a model that is elsewhere");
}

int
main(void)
{
    char gguf[SCRATCH_PATH];
    struct model_spec spec;

    strcpy(gguf, scratch_file("model.gguf"));
    strcpy(base, scratch_file("base"));
    strcpy(adapter, scratch_file("adapter"));
    if (!models_named("llama-f32", &spec) || !models_write(&spec, gguf) ||
        mkdir(adapter, 0700))
        exit(99);
    folder_write("llama-f32", gguf, base, 1, NULL);
    write_weights(NULL);
    check_truth(",\"base_model_name_or_path\":\"../base\"",
                "the logits that PEFT has");
    check_file();
    check_settings();
    check_tensors();
    check_base();
    return tap_done();
}

#else

int
main(void)
{
    ok(true, "built without Jansson"); /* and reads no folders */
    return tap_done();
}

#endif
