/* test_peft.c - folders of Hugging Face's PEFT: against PEFT in float64, and
 * what is refused
 *
 * The figures are those of tests/fixtures/golden_peft.py: PEFT 0.21.2,
 * transformers 5.24, torch 2.15, in float64; cached floats leave NMSE 1e-9. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/order.h"
#include "fixtures/folder.h"
#include "fixtures/folder_case.h"
#include "harness/session_test.h"

#ifdef HAVE_JANSSON

enum {
    N = 12,
    RANK = 4,
    EXPERTS = 4,
    SHOWN = 8,
};

static const int shown[SHOWN] = { 0, 42, 85, 128, 171, 214, 257, 299 };

static char base[SCRATCH_PATH], adapter[SCRATCH_PATH], gguf[SCRATCH_PATH];

/* ---- adapters ------------------------------------------------------------ */

struct part {
    const char *name;  /* "%d": an expert */
    int rows, columns; /* columns 0: a vector */
};

/* An adapter of two layers, its parts in the order of their names. */
struct adapter {
    const char *title, *family, *settings;
    int n_each; /* experts with all of that */
    struct part parts[12];
    double golden[SHOWN];
};

/* clang-format off */
static const struct adapter modules = {
    "modules", "llama-f32",
    "\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":6,\"use_rslora\":true,"
    "\"rank_pattern\":{\"k_proj\":3},"
    "\"alpha_pattern\":{\"layers.1.mlp.up_proj\":9},"
    "\"modules_to_save\":[\"input_layernorm\"],\"bias\":\"none\","
    "\"target_modules\":[\"q_proj\"],\"fan_in_fan_out\":false,"
    "\"loftq_config\":{},\"megatron_core\":\"x\"",
    1,
    {
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
    },
    { 0.16581711322024553, -0.93240631138864238, -0.95461354118286246,
      0.6321563449706874, 0.72021059809988874, -0.5406078100023608,
      1.114730031052523, 0.75522631778620208 },
};

#define MIXTURE "\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":6"
#define FUSED MIXTURE \
    ",\"target_parameters\":[\"mlp.experts.down_proj\"," \
    "\"experts.gate_up_proj\"]"
#define ALL (RANK * EXPERTS)
static const struct adapter parameters = {
    "parameters of all experts", "mixtral-f32",
    FUSED ",\"alpha_pattern\":{\"layers.1.mlp.experts.down_proj\":9}", 1,
    {
        { "mlp.experts.base_layer.lora_A.weight", ALL, 64 },
        { "mlp.experts.base_layer.lora_B.weight", 192, ALL },
        { "mlp.experts.lora_A.weight", ALL, 96 },
        { "mlp.experts.lora_B.weight", 64, ALL },
    },
    { 1.0033897926689777, -1.2642227892722304, -0.81836643822865052,
      1.3782259481457404, -0.70228201704202864, 0.44064368086415084,
      0.97371554564236806, 1.0006347642305695 },
};
static const struct adapter turned = {
    "of an older PEFT", "mixtral-f32", FUSED, 1,
    {
        { "mlp.experts.base_layer.lora_A.weight", ALL, 192 },
        { "mlp.experts.base_layer.lora_B.weight", 64, ALL },
        { "mlp.experts.lora_A.weight", ALL, 64 },
        { "mlp.experts.lora_B.weight", 96, ALL },
    },
    { 0.91750503581116538, -1.4127723432371535, -1.4175340155742369,
      0.12554784366839708, -0.47362017931336092, 0.38351635187434757,
      0.64136153082581127, 0.70975630200407447 },
};
static const struct adapter experts = {
    "a module an expert", "mixtral-f32", MIXTURE, EXPERTS,
    {
        { "block_sparse_moe.experts.%d.w1.lora_A.weight", RANK, 64 },
        { "block_sparse_moe.experts.%d.w1.lora_B.weight", 96, RANK },
        { "block_sparse_moe.experts.%d.w2.lora_A.weight", RANK, 96 },
        { "block_sparse_moe.experts.%d.w2.lora_B.weight", 64, RANK },
        { "block_sparse_moe.experts.%d.w3.lora_A.weight", RANK, 64 },
        { "block_sparse_moe.experts.%d.w3.lora_B.weight", 96, RANK },
    },
    { 0.50936630495523816, -0.49506503335092567, -0.84604243500948584,
      1.1937063527813738, -0.60697350517590121, -0.36441541551136825,
      0.65789397024754981, 1.1271855400741562 },
};
/* clang-format on */

static void
write_config(const struct adapter *a, const char *more)
{
    char path[SCRATCH_PATH + 32];
    FILE *f;

    snprintf(path, sizeof(path), "%s/adapter_config.json", adapter);
    f = fopen(path, "w");
    fprintf(f, "{%s%s}", a->settings, more);
    fclose(f);
}

static int
count_parts(const struct adapter *a)
{
    int n = 0;

    while (a->parts[n].name)
        n++;
    return n;
}

/* Tensor k of the file. */
static const struct part *
part_of(const struct adapter *a, int k)
{
    return &a->parts[k % count_parts(a)];
}

static int
count_values(const struct part *p)
{
    return p->rows * (p->columns ? p->columns : 1);
}

static void
put_data(const struct adapter *a, FILE *f)
{
    for (int k = 0; k < 2 * a->n_each * count_parts(a); k++)
        for (int i = 0, n = count_values(part_of(a, k)); i < n; i++) {
            double x = ((i * 37 + k * 101) % 41 - 20) / 100.0;
            float value = (float)x + (part_of(a, k)->columns ? 0 : 1);

            core_le_array(&value, 1, sizeof(value));
            fwrite(&value, sizeof(value), 1, f);
        }
}

static void
part_name(const struct adapter *a, int k, char out[128])
{
    const char *name = part_of(a, k)->name, *at = strstr(name, "%d");
    int each = count_parts(a), expert = k / each % a->n_each;

    if (at)
        snprintf(out, 128, "%.*s%d%s", (int)(at - name), name, expert, at + 2);
    else
        snprintf(out, 128, "%s", name);
}

/* `rename`: the name of number 1, in place of its own. */
static void
write_weights(const struct adapter *a, const char *rename)
{
    char path[SCRATCH_PATH + 32], head[16384], shape[32], name[128];
    int n_layer = a->n_each * count_parts(a), used = 0, at = 0;
    uint64_t size;
    FILE *f;

    for (int k = 0; k < 2 * n_layer; k++) {
        const struct part *p = part_of(a, k);
        int n = count_values(p) * (int)sizeof(float);

        part_name(a, k, name);
        snprintf(shape, sizeof(shape), p->columns ? "%d,%d" : "%d", p->rows,
                 p->columns);
        used += snprintf(
            head + used, sizeof(head) - (size_t)used,
            "%s\"base_model.model.model.layers.%d.%s\":{\"dtype\":\"F32\","
            "\"shape\":[%s],\"data_offsets\":[%d,%d]}",
            k ? "," : "{", k / n_layer, rename && k == 1 ? rename : name, shape,
            at, at + n);
        at += n;
    }
    used += snprintf(head + used, sizeof(head) - (size_t)used, "}");
    snprintf(path, sizeof(path), "%s/adapter_model.safetensors", adapter);
    f = fopen(path, "wb");
    size = core_le64((uint64_t)used);
    fwrite(&size, sizeof(size), 1, f);
    fwrite(head, 1, (size_t)used, f);
    put_data(a, f);
    fclose(f);
}

/* ---- truth --------------------------------------------------------------- */

static void
check_truth(const struct adapter *a)
{
    struct gg_adapter use = { .path = adapter, .scale = 1 };
    struct gg_model_params params = { .adapters = &use, .n_adapters = 1 };
    struct gg_session_params p = { .cache_type = GG_CACHE_F32 };
    double error = 0, power = 0;
    int32_t ids[N];
    float out[V];
    struct gg_model *m;
    struct gg_session *s;

    write_weights(a, NULL);
    write_config(a, ",\"base_model_name_or_path\":\"../base\"");
    fill_ids(ids, N);
    must(gg_model_open(base, &params, &m, &err));
    s = new_session(m, p);
    eval_ids(s, 0, ids, 0, N, out);
    for (int i = 0; i < SHOWN; i++) {
        double d = (double)out[shown[i]] - a->golden[i];

        error += d * d;
        power += a->golden[i] * a->golden[i];
    }
    printf("# %s: NMSE %.1e\n", a->title, error / power);
    ok(error <= 1e-9 * power, a->title);
    gg_session_free(s);
    gg_model_free(m);
}

static void
check_file(void)
{
    struct gg_file *f;
    const struct gguf_context *g;
    int64_t b;

    write_config(&modules, "");
    must(gg_file_open_adapter(adapter, base, &f, &err));
    g = gg_file_gguf(f);
    is(gguf_get_n_tensors(g), 2 * count_parts(&modules), "all tensors");
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
check_refused(const struct adapter *a, const char *config, const char *why)
{
    struct gg_file *f;
    enum gg_status st;

    write_config(a, config);
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
        { ",\"something_new\":3", "something_new: is not known" },
        { ",\"init_lora_weights\":\"pissa_niter_4\"", "pissa_niter_4 has" },
        { ",\"layer_replication\":[[0,1]]", "layer_replication: is not known" },
    };

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        check_refused(&modules, refused[i][0], refused[i][1]);
}

static void
check_tensors(void)
{
    write_weights(&modules, "mlp.down_proj.lora_C.weight");
    check_refused(&modules, "", "down_proj.lora_A.weight: is missing");
    write_weights(&modules, "mlp.other.lora_A.weight");
    check_refused(&modules, "", "lora_A.weight: is missing");
    write_weights(&modules, "mlp.up_proj.lora_magnitude_vector");
    check_refused(&modules, "", "is missing");
    write_weights(&modules, NULL);
}

static void
check_base(void)
{
    struct gg_file *f;

    write_config(&modules,
                 ",\"base_model_name_or_path\":\"somebody/some-model\"");
    ok(gg_file_open(adapter, &f, &err) == GG_ERR_UNSUPPORTED &&
           strstr(err.message, "'somebody/some-model' is no folder"),
       "a model that is elsewhere");
}

/* The model that it is for, in `base`. */
static void
write_base(const struct adapter *a)
{
    static const char *const files[] = { "config.json", "model.safetensors" };
    char path[SCRATCH_PATH + 32];
    struct model_spec spec;

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", base, files[i]);
        remove(path);
    }
    if (!models_named(a->family, &spec) || !models_write(&spec, gguf))
        exit(99);
    folder_write(a->family, gguf, base, 1, NULL);
}

/* Shapes that fit nothing, or do not tell what is in and what is out. */
static void
check_shapes(void)
{
    struct adapter odd = parameters;
    struct gg_file *f;

    odd.parts[0].columns = 63;
    write_weights(&odd, NULL);
    check_refused(&odd, "", "its shape does not fit the model's");
    odd.parts[0].columns = odd.parts[1].rows = 64;
    write_weights(&odd, NULL);
    write_config(&odd, "");
    must(gg_file_open_adapter(adapter, base, &f, &err));
    gg_file_close(f);
    ok(true, "a square one beside another");
    odd.parts[2].columns = odd.parts[3].rows = 64;
    write_weights(&odd, NULL);
    check_refused(&odd, "",
                  "gate_up_proj: a square matrix: which of its sides");
    odd.parts[2].rows = 15;
    write_weights(&odd, NULL);
    check_refused(&odd, "", "its rows are not those of the experts");
}

/* Adapters of experts, as modules and as parameters. */
static void
check_experts(void)
{
    write_weights(&experts, NULL);
    check_refused(&experts, ",\"alpha_pattern\":{\"1.w2\":3}",
                  "experts.1.w2 has another alpha");
    check_refused(&experts, ",\"alpha_pattern\":{\"(?!x)w2\":3}",
                  "no regular expression that is read here");
    write_weights(&experts, "block_sparse_moe.experts.0.w9.lora_B.weight");
    check_refused(&experts, "", "w1.lora_B.weight: no matrix");
    write_weights(&parameters, NULL);
    check_refused(&experts, "", "has nothing here that it changes");
    check_refused(
        &experts,
        ",\"target_parameters\":[\"experts.w1\",\"experts.down_proj\"]",
        "experts.w1: adapters of such a parameter are not");
    check_refused(&experts, ",\"target_parameters\":[\"experts.down_proj\"]",
                  "base_layer.lora_A.weight: MixtralForCausalLM has nothing");
    write_weights(&parameters, "mlp.experts.base_layer.lora_C.weight");
    check_refused(&parameters, "", "gate_up_proj: needs a lora_A and a lora_B");
}

/* Multipliers that are in the weights of files are in B, too. */
static void
check_multipliers(void)
{
    static const struct adapter keys = {
        .settings = MIXTURE,
        .n_each = 1,
        .parts = { { "self_attn.k_proj.lora_A.weight", RANK, 64 },
                   { "self_attn.k_proj.lora_B.weight", 32, RANK } },
    };
    struct folder_case made;
    char path[4096];
    struct gg_file *f;
    float a[RANK * 64], b[32 * RANK];
    const struct gguf_context *g;
    bool same = true;

    snprintf(path, sizeof(path), "%s/tests/fixtures/families/falcon-h1.case",
             getenv("top_srcdir"));
    strcpy(base, scratch_file("falcon"));
    folder_case_write(path, gguf, base, &made);
    write_weights(&keys, NULL);
    write_config(&keys, "");
    must(gg_file_open_adapter(adapter, base, &f, &err));
    g = gg_file_gguf(f);
    is(gguf_get_n_tensors(g), 4, "keys of two layers");
    gg_file_read(f, gguf_find_tensor(g, "blk.0.attn_k.weight.lora_a"), a);
    gg_file_read(f, gguf_find_tensor(g, "blk.0.attn_k.weight.lora_b"), b);
    for (int i = 0; i < RANK; i++) {
        double x = (i * 37 % 41 - 20) / 100.0;
        double y = ((i * 37 + 101) % 41 - 20) / 100.0 * 1.2 * 0.6;

        same = same && fabs((double)a[i] - x) < 1e-6 &&
               fabs((double)b[i] - y) < 1e-6;
    }
    ok(same, "multipliers of the weights are B's");
    gg_file_close(f);
}

/* A regular expression for the name that a plain one has above. */
static void
check_patterns(void)
{
    static const char first[] = "\"alpha_pattern\":{";
    struct adapter regular = modules;
    char settings[1024];
    const char *at = strstr(modules.settings, first) + sizeof(first) - 1;

    snprintf(settings, sizeof(settings), "%.*s%s%s",
             (int)(at - modules.settings), modules.settings,
             "\"layers\\\\.([1-9]\\\\d*)\\\\.mlp\\\\.up_.*\":9}",
             strchr(at, '}') + 1);
    regular.title = "a regular expression";
    regular.settings = settings;
    check_truth(&regular);
}

int
main(void)
{
    strcpy(gguf, scratch_file("model.gguf"));
    strcpy(base, scratch_file("base"));
    strcpy(adapter, scratch_file("adapter"));
    if (mkdir(adapter, 0700))
        exit(99);
    write_base(&modules);
    check_truth(&modules);
    check_patterns();
    check_file();
    check_settings();
    check_tensors();
    check_base();
    write_base(&experts);
    check_truth(&experts);
    check_truth(&parameters);
    check_truth(&turned);
    check_experts();
    check_shapes();
    check_multipliers();
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
