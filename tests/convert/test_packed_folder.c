/* test_packed_folder.c - folders whose weights are quantised already: each
 * tensor against the values that the codes stand for, exactly where its type
 * holds them, and folders that are damaged */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "core/half.h"
#include "fixtures/folder.h"
#include "fixtures/models.h"
#include "gguf/reader.h"
#include "harness/session_test.h"

static const struct form {
    const char *model, *kind;
    enum ggml_type type;
    bool noted; /* something is rounded, or left out */
} forms[] = {
    { "llama-bf16", "w4", GGML_TYPE_Q4_0, false },
    { "llama-bf16", "w4-asym", GGML_TYPE_Q5_0, false },
    { "llama-bf16", "w4-order", GGML_TYPE_F16, false },
    { "llama-bf16", "w8", GGML_TYPE_Q8_0, false },
    { "llama-bf16", "w3", GGML_TYPE_Q4_0, false },
    { "llama-bf16", "w4-f32", GGML_TYPE_BF16, true },
    { "llama-bf16", "gptq4", GGML_TYPE_Q4_0, false },
    { "llama-bf16", "gptq4-asym", GGML_TYPE_Q5_0, false },
    { "llama-bf16", "gptq4-v2", GGML_TYPE_Q5_0, false },
    { "llama-bf16", "gptq4-order", GGML_TYPE_F16, true },
    { "llama-bf16", "gptq2", GGML_TYPE_Q4_0, false },
    { "llama-bf16", "gptq3", GGML_TYPE_Q4_0, false },
    { "llama-bf16", "gptq8", GGML_TYPE_Q8_0, false },
    { "llama-bf16", "awq", GGML_TYPE_Q5_0, false },
    { "llama-bf16", "e4m3-tensor", GGML_TYPE_BF16, true },
    { "llama-bf16", "e4m3-channel", GGML_TYPE_BF16, true },
    { "llama-bf16", "mxfp8", GGML_TYPE_BF16, false },
    { "llama-bf16", "nvfp4", GGML_TYPE_NVFP4, true },
    { "llama-bf16", "nvfp4-ct", GGML_TYPE_NVFP4, true },
    { "llama-bf16", "e2m1-ct", GGML_TYPE_MXFP4, false },
    { "qwen3moe-bf16", "w4", GGML_TYPE_Q4_0, false },
    { "qwen3moe-bf16", "awq", GGML_TYPE_Q5_0, false },
    { "qwen3moe-bf16", "nvfp4", GGML_TYPE_NVFP4, true },
    { "qwen3moe-bf16", "e2m1-ct", GGML_TYPE_MXFP4, false },
    { "qwen3moe-bf16", "e4m3-channel", GGML_TYPE_BF16, true },
    { "gpt-oss-bf16", "e4m3-channel", GGML_TYPE_BF16, true },
    { "gpt-oss-bf16", "mxfp8", GGML_TYPE_BF16, false },
    { "mixtral-bf16", "gptq4-asym", GGML_TYPE_Q5_0, false },
};

enum {
    N_FORMS = sizeof(forms) / sizeof(forms[0])
};

static struct gg_file *
open_kind(const struct form *f, const char *end, int n_files)
{
    struct model_spec spec;
    char kind[64], folder[100];
    struct gg_file *file;

    snprintf(kind, sizeof(kind), "%s%s", f->kind, end);
    snprintf(folder, sizeof(folder), "%s-%s-%d", f->model, kind, n_files);
    if (!models_named(f->model, &spec) || !models_write(&spec, scratch_path()))
        exit(99);
    folder_write(f->model, scratch_path(), scratch_file(folder), n_files, kind);
    must(gg_file_open(scratch_file(folder), &file, &err));
    return file;
}

static float *
floats_of(const struct gg_file *file, int64_t i)
{
    const struct gguf_context *g = gg_file_gguf(file);
    enum ggml_type type = gguf_get_tensor_type(g, i);
    size_t size = gguf_get_tensor_size(g, i);
    int64_t n = (int64_t)(size / ggml_type_size(type)) * ggml_blck_size(type);
    uint8_t *data = malloc(size);
    float *out = malloc((size_t)n * sizeof(*out));

    gg_file_read(file, i, data);
    if (type == GGML_TYPE_F32)
        memcpy(out, data, size);
    else
        ggml_get_type_traits(type)->to_float(data, out, n);
    free(data);
    return out;
}

/* The number of the tensor's matrix i; 1: it has none. */
static double
whole_of(const struct gg_file *file, const char *name, int64_t i)
{
    const struct gguf_context *g = gg_file_gguf(file);
    char scale[GGML_MAX_NAME];
    float x[64];
    int64_t id;

    snprintf(scale, sizeof(scale), "%.*s.scale",
             (int)(strlen(name) - strlen(".weight")), name);
    id = gguf_find_tensor(g, scale);
    if (id < 0)
        return 1;
    gg_file_read(file, id, x);
    return (double)x[i];
}

static float
rounded(float x, enum ggml_type type)
{
    return type == GGML_TYPE_BF16  ? core_bf16_to_float(core_bf16_from_float(x))
           : type == GGML_TYPE_F16 ? half_to_float(half_from_float(x))
                                   : x;
}

/* Values that differ; a number for the whole is that of the tensor's. */
static size_t
count_wrong(const struct gg_file *packed, const struct gg_file *plain,
            int64_t i, int64_t k)
{
    const struct gguf_context *g = gg_file_gguf(packed);
    const char *name = gguf_get_tensor_name(g, i);
    enum ggml_type type = gguf_get_tensor_type(g, i);
    float *x = floats_of(packed, i), *y = floats_of(plain, k);
    size_t n = gguf_get_tensor_size(g, i) / ggml_type_size(type) *
               (size_t)ggml_blck_size(type),
           wrong = 0;
    size_t each = n / (size_t)gguf_tensor(g, i)->ne[2];

    for (size_t j = 0; j < n; j++) {
        double by = type == GGML_TYPE_NVFP4
                        ? whole_of(packed, name, (int64_t)(j / each))
                        : 1;
        double want = (double)rounded(y[j], type), got = (double)x[j] * by;

        wrong += type == GGML_TYPE_NVFP4
                     ? fabs(got - want) > 1.2e-7 * fabs(want)
                     : got != want;
    }
    free(x);
    free(y);
    return wrong;
}

static void
check_form(const struct form *f)
{
    struct gg_file *packed = open_kind(f, "", 3);
    struct gg_file *plain = open_kind(f, "-plain", 1);
    const struct gguf_context *g = gg_file_gguf(packed);
    size_t wrong = 0, n = 0;
    bool types = true, there = true;
    char title[160];

    for (int64_t i = 0; i < gguf_get_n_tensors(gg_file_gguf(plain)); i++) {
        const char *name = gguf_get_tensor_name(gg_file_gguf(plain), i);
        int64_t at = gguf_find_tensor(g, name);

        there = there && at >= 0;
        if (at < 0 || gguf_get_tensor_type(gg_file_gguf(plain), i) ==
                          gguf_get_tensor_type(g, at))
            continue;
        types =
            types && gguf_get_tensor_type(g, at) ==
                         (gguf_tensor(g, at)->ne[0] % ggml_blck_size(f->type)
                              ? GGML_TYPE_BF16
                              : f->type);
        wrong += count_wrong(packed, plain, at, i);
        n++;
    }
    snprintf(title, sizeof(title), "%s of %s: values, %zu wrong in %zu tensors",
             f->kind, f->model, wrong, n);
    ok(wrong == 0 && n > 6 && there, title);
    snprintf(title, sizeof(title), "%s of %s: types, note: %s", f->kind,
             f->model, gg_file_note(packed) ? gg_file_note(packed) : "none");
    ok(types && (gg_file_note(packed) != NULL) == f->noted, title);
    gg_file_close(packed);
    gg_file_close(plain);
}

/* ---- ModelOpt's own file ------------------------------------------------- */

static char *
read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *data = malloc(1 << 24);

    if (!f)
        exit(99);
    *size = fread(data, 1, 1 << 24, f);
    fclose(f);
    return data;
}

static void
write_all(const char *path, const char *data, size_t size)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, size, f) != size || fclose(f))
        exit(99);
}

static size_t
replace_all(char *data, size_t size, const char *from, const char *to)
{
    size_t n = strlen(from), found = 0;

    for (size_t i = 0; i + n <= size; i++)
        if (!memcmp(data + i, from, n)) {
            memcpy(data + i, to, n);
            found++;
        }
    return found;
}

static void
write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");

    if (!f || fputs(text, f) < 0 || fclose(f))
        exit(99);
}

/* Where the configuration does not say it. */
static void
check_file(const char *text, const char *message, const char *title)
{
    struct form f = { "llama-bf16", "nvfp4", GGML_TYPE_NVFP4, true };
    char path[] = "llama-bf16-nvfp4-4/hf_quant_config.json";
    struct gg_file *file = open_kind(&f, "", 4);
    char *config;
    size_t size;

    gg_file_close(file);
    config = read_all(scratch_file("llama-bf16-nvfp4-4/config.json"), &size);
    replace_all(config, size, "quantization_config", "quantisation_config");
    write_all(scratch_file("llama-bf16-nvfp4-4/config.json"), config, size);
    free(config);
    write_text(scratch_file(path), text);
    err.message[0] = '\0';
    if (gg_file_open(scratch_file("llama-bf16-nvfp4-4"), &file, &err) ==
        GG_OK) {
        ok(!message &&
               gguf_find_tensor(gg_file_gguf(file), "blk.0.attn_q.scale") >= 0,
           title);
        gg_file_close(file);
    } else {
        ok(message && strstr(err.message, message), title);
    }
}

static void
check_files(void)
{
    check_file("{\"producer\":{\"name\":\"modelopt\"},\"quantization\":"
               "{\"quant_algo\":\"NVFP4\",\"group_size\":16}}",
               NULL, "hf_quant_config.json says it");
    check_file("{\"quantization\":[]}", "quantization",
               "hf_quant_config.json with another type");
    check_file("{\"quantization\":", "hf_quant_config.json",
               "hf_quant_config.json is cut");
    check_file("{}", "values of type U8 are not read",
               "hf_quant_config.json says nothing");
}

/* ---- damage -------------------------------------------------------------- */

static const struct damage {
    const char *kind, *file;
    const char *from, *to; /* of one length; or a part's name, and a value */
    int size;              /* of the value, or 0 */
    int64_t value;
    const char *message;
} damages[] = {
#define CONFIG(kind, from, to, message)                                        \
    {                                                                          \
        kind, "config.json", from, to, 0, 0, message                           \
    }
#define HEADER(kind, from, to, message)                                        \
    {                                                                          \
        kind, "model.safetensors", from, to, 0, 0, message                     \
    }
#define VALUE(kind, part, size, value, message)                                \
    {                                                                          \
        kind, "model.safetensors", part, NULL, size, value, message            \
    }
    CONFIG("w4", "num_bits\":4", "num_bits\":8", "its shape is not that of"),
    CONFIG("w4", "num_bits\":4", "num_bits\":9", "weights of 9 bits"),
    CONFIG("w4", "num_bits\":4", "num_bits\":0", "weights of 0 bits"),
    CONFIG("w4", "compressed-tensors", "compressed-tensorz",
           "'compressed-tensorz' are not read"),
    HEADER("w4", "weight_shape", "weight_shapf", "no shape of its values"),
    HEADER("w4", "weight_scale", "weight_scald", "has no scales"),
    HEADER("w4", "BF16\",\"shape\":[64,2]", "BF16\",\"shape\":[2,64]",
           "its shape is not that of"),
    HEADER("w4", "k_proj.weight_packed", "q_proj.weightxpacked", "is missing"),
    VALUE("w4", "q_proj.weight_shape", 8, -64, "its shape is not that of"),
    VALUE("w4", "q_proj.weight_shape", 8, INT64_MAX,
          "its shape is not that of"),
    CONFIG("e2m1-ct", "mxfp4-pack", "mxfp6-pack",
           "by format 'mxfp6-pack-quantized' is not read"),
    CONFIG("w4-asym", "\"group_size\":64", "\"group_size\":16", NULL),
    HEADER("w4-asym", "I32\",\"shape\":[8,1]", "I32\",\"shape\":[1,8]",
           "its shape is not that of"),
    VALUE("w4-order", "q_proj.weight_g_idx", 4, 2, "1 columns are of no group"),
    VALUE("gptq4-order", "q_proj.g_idx", 4, 1000, "1 columns are of no group"),
    VALUE("gptq4-order", "q_proj.g_idx", 4, -1, "1 columns are of no group"),
    CONFIG("gptq4", "bits\":4", "bits\":3", "no codes of the width"),
    CONFIG("gptq4-v2", "gptq_v2", "gptq_v9", "'gptq_v9' is not read"),
    HEADER("gptq4", ".qzeros", ".qzeroz", "has no such tensor"),
    HEADER("gptq4", ".scales", ".scalez", "has no scales"),
    CONFIG("awq", "gemm", "gemv", "by version 'gemv' is not read"),
    CONFIG("awq", "bits\":4", "bits\":8", "awq of 8 bits"),
    HEADER("awq", "F16\",\"shape\":[1,64]", "F16\",\"shape\":[64,1]",
           "its shape is not that of"),
    HEADER("nvfp4", "F8_E4M3", "F8_E5M2", "scales of type F8_E5M2"),
    HEADER("nvfp4", "weight_scale_2", "weight_scale_3", "has no such tensor"),
    HEADER("e2m1-ct", "weight_scale", "weight_scald", "has no scales"),
    HEADER("e4m3-channel", "BF16\",\"shape\":[64,1]", "BF16\",\"shape\":[2,32]",
           "its shape is not that of"),
    CONFIG("e4m3-tensor", "modelopt", "modelopx", "'modelopx' are not read"),
};

/* The first value of the first tensor whose name has this part. */
static size_t
set_value(char *data, size_t size, const struct damage *d)
{
    uint64_t length, at;
    const char *place;

    memcpy(&length, data, sizeof(length));
    for (size_t i = 8; i + strlen(d->from) <= size; i++)
        if (!memcmp(data + i, d->from, strlen(d->from))) {
            place = strstr(data + i, "data_offsets");
            at = 8 + length + strtoull(strchr(place, '[') + 1, NULL, 10);
            memcpy(data + at, &d->value, (size_t)d->size);
            return 1;
        }
    return 0;
}

static void
check_damage(const struct damage *d)
{
    struct form f = { "llama-bf16", d->kind, GGML_TYPE_F32, false };
    struct gg_file *file = open_kind(&f, "", 1);
    char path[200], title[240];
    size_t size, n;
    char *data;

    gg_file_close(file);
    snprintf(path, sizeof(path), "%s-%s-1/%s", f.model, d->kind, d->file);
    data = read_all(scratch_file(path), &size);
    n = d->size ? set_value(data, size, d)
                : replace_all(data, size, d->from, d->to);
    write_all(scratch_file(path), data, size);
    free(data);
    snprintf(path, sizeof(path), "%s-%s-1", f.model, d->kind);
    err.message[0] = '\0';
    if (gg_file_open(scratch_file(path), &file, &err) == GG_OK)
        gg_file_close(file);
    snprintf(title, sizeof(title), "%s, %s: %.150s", d->kind, d->from,
             err.message);
    ok(n > 0 && (d->message ? strstr(err.message, d->message) != NULL
                            : !*err.message),
       title);
}

int
main(void)
{
#ifndef HAVE_JANSSON
    puts("1..0 # SKIP built without Jansson");
    return 0;
#endif
    for (int i = 0; i < N_FORMS; i++)
        check_form(&forms[i]);
    check_files();
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++)
        check_damage(&damages[i]);
    return tap_done();
}
