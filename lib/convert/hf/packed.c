/* packed.c - finds weights that are quantised already, and their parts */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/packed.h"
#include "core/mem.h"

enum {
    NAME = 600,
    MAX_SIZE = 1 << 30,
    MAX_BITS = 8,
};

/* ---- the forms ----------------------------------------------------------- */

static const struct hf_packed_form forms[] = {
    /* gpt-oss: E x rows x blocks x 16 */
    { .methods = "mxfp4",
      .suffix = "_blocks",
      .name = "_blocks",
      .dtypes = "U8",
      .scales = "_scales",
      .dims = { 4, 4 },
      .fit = convert_hf_fit_fp4,
      .codes = convert_hf_codes_fp4 },
    /* compressed-tensors: E2M1; ints */
    { .methods = "compressed-tensors",
      .suffix = "_packed",
      .name = "",
      .dtypes = "U8",
      .scales = "_scale",
      .whole = "_global_scale",
      .dims = { 2, 3 },
      .fit = convert_hf_fit_fp4,
      .codes = convert_hf_codes_fp4 },
    { .methods = "compressed-tensors",
      .suffix = "_packed",
      .name = "",
      .dtypes = "I32",
      .scales = "_scale",
      .zeros = "_zero_point",
      .order = "_g_idx",
      .shape = "_shape",
      .dims = { 2, 2 },
      .fit = convert_hf_fit_rows,
      .codes = convert_hf_codes_rows,
      .zero = convert_hf_zero_rows },
    { .methods = "gptq|auto-round:gptq",
      .suffix = ".qweight",
      .name = ".weight",
      .dtypes = "I32",
      .scales = ".scales",
      .zeros = ".qzeros",
      .order = ".g_idx",
      .dims = { 2, 2 },
      .fit = convert_hf_fit_gptq,
      .codes = convert_hf_codes_gptq,
      .zero = convert_hf_zero_gptq },
    { .methods = "awq|auto-round:awq",
      .suffix = ".qweight",
      .name = ".weight",
      .dtypes = "I32",
      .scales = ".scales",
      .zeros = ".qzeros",
      .dims = { 2, 2 },
      .fit = convert_hf_fit_awq,
      .codes = convert_hf_codes_awq,
      .zero = convert_hf_zero_awq },
    /* DeepSeek V4 as it was published */
    { .methods = "fp8",
      .suffix = ".weight",
      .name = ".weight",
      .dtypes = "I8",
      .scales = ".scale",
      .optional = true,
      .dims = { 2, 2 },
      .fit = convert_hf_fit_fp4,
      .codes = convert_hf_codes_fp4 },
    { .methods = "fp8",
      .suffix = ".weight",
      .name = ".weight",
      .dtypes = "F8_E4M3",
      .scales = ".scale",
      .optional = true,
      .dims = { 2, 2 },
      .fit = convert_hf_fit_bytes,
      .codes = convert_hf_codes_bytes },
    /* ModelOpt, Quark: E2M1 under the weight's own name */
    { .methods = "modelopt|quark",
      .suffix = "",
      .name = "",
      .dtypes = "U8",
      .scales = "_scale",
      .whole = "_scale_2",
      .optional = true,
      .dims = { 2, 3 },
      .fit = convert_hf_fit_fp4,
      .codes = convert_hf_codes_fp4 },
    /* Bytes: FP8, ints */
    { .methods = "fp8|fbgemm_fp8|compressed-tensors|modelopt|quark",
      .suffix = "",
      .name = "",
      .dtypes = "F8_E4M3|F8_E5M2|I8",
      .scales = "_scale_inv|_scale",
      .zeros = "_zero_point",
      .optional = true,
      .dims = { 2, 3 },
      .fit = convert_hf_fit_bytes,
      .codes = convert_hf_codes_bytes,
      .zero = convert_hf_zero_bytes },
};

/* True if it is one of the words of "a|b". */
static bool
is_one_of(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = words; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, word, n) == 0 && (at[n] == '\0' || at[n] == '|'))
            return true;
    }
    return false;
}

static bool
ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    return n > k && strcmp(name + n - k, end) == 0;
}

/* ---- parts --------------------------------------------------------------- */

struct packed_name {
    const char *name;
    size_t stem; /* bytes in front of the form's suffix */
};

/* The tensor with the first of these endings that is there. */
static struct safetensors_tensor *
find_part(struct hf *h, const struct packed_name *of, const char *ends)
{
    struct safetensors_tensor *t = NULL;
    char name[NAME];

    for (const char *at = ends; !t && at; at = strchr(at, '|')) {
        at += *at == '|';
        snprintf(name, sizeof(name), "%.*s%.*s", (int)of->stem, of->name,
                 (int)strcspn(at, "|"), at);
        t = convert_hf_weights_exact(&h->weights, name);
    }
    return t;
}

static bool
is_of_form(const struct hf_packed_form *f, const char *method,
           const struct safetensors_tensor *t)
{
    return is_one_of(f->methods, method) && is_one_of(f->dtypes, t->dtype) &&
           (!*f->suffix || ends_with(t->name, f->suffix));
}

static struct packed_name
name_of(const struct hf_packed_form *f, const struct safetensors_tensor *t)
{
    return (struct packed_name){ t->name, strlen(t->name) - strlen(f->suffix) };
}

/* The first form of the tensor, with scales where these tell it from what is
 * none; NULL: it is as it is, or who wants it says that it cannot be read. */
static const struct hf_packed_form *
form_of(const struct hf_packing *how, const struct safetensors_tensor *t)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const struct hf_packed_form *f = &forms[i];
        struct packed_name of;

        if (!is_of_form(f, how->method, t))
            continue;
        of = name_of(f, t);
        if (!f->optional || find_part(how->h, &of, f->scales))
            return f;
    }
    return NULL;
}

static void
check_parts(const struct hf_packing *how, struct hf_packed *p,
            const struct safetensors_tensor *t)
{
    const struct safetensors_tensor *s = p->scales;

    p->scale_at = convert_hf_number_at(s);
    if (t->n == 0 || t->n_dims < p->form->dims[0] ||
        t->n_dims > p->form->dims[1] || s->n == 0)
        core_json_bad(&how->h->here, GG_ERR_FORMAT,
                      "%s: has a shape that fits nothing",
                      s->n ? t->name : s->name);
    else if (!p->scale_at)
        core_json_bad(&how->h->here, GG_ERR_UNSUPPORTED,
                      "%s: scales of type %s are not read", s->name, s->dtype);
}

/* Now it has the name and the shape of the weight. */
static void
become_weight(struct hf *h, struct safetensors_tensor *t, struct hf_packed *p,
              uint32_t index)
{
    t->packed = p;
    t->n = p->n_matrices * p->rows * p->columns;
    t->n_dims = t->n_dims > 2 ? 3 : 2;
    t->shape[0] = (int64_t)p->n_matrices;
    t->shape[t->n_dims - 2] = (int64_t)p->rows;
    t->shape[t->n_dims - 1] = (int64_t)p->columns;
    if (!p->name)
        return;
    t->name = p->name;
    if (hash_map_add(&h->weights.names, p->name, strlen(p->name), index) !=
        index)
        core_json_bad(&h->here, GG_ERR_FORMAT,
                      "%s: is there as it is, and quantised", p->name);
}

static bool
give_name(struct hf *h, struct hf_packed *p, const struct packed_name *of)
{
    char name[NAME];

    if (!strcmp(p->form->name, p->form->suffix))
        return true;
    snprintf(name, sizeof(name), "%.*s%s", (int)of->stem, of->name,
             p->form->name);
    p->name = mem_strndup(name, strlen(name));
    if (!p->name)
        h->here.status = error_nomem(h->here.err);
    return p->name != NULL;
}

/* Tensor `index` is one of codes; *p becomes what it has. */
static void
link_parts(const struct hf_packing *how, const struct hf_packed_form *f,
           uint32_t index, struct hf_packed *p)
{
    struct hf *h = how->h;
    struct safetensors_tensor *t = h->weights.tensors[index];
    struct packed_name of = name_of(f, t);

    *p = (struct hf_packed){
        .form = f,
        .how = how,
        .data = t->data,
        .n_matrices = 1,
        .divides = f->whole && !strcmp(f->whole, "_global_scale"),
        .scales = find_part(h, &of, f->scales),
    };
    if (!p->scales) {
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: has no scales", t->name);
        return;
    }
    p->zeros = find_part(h, &of, f->zeros);
    p->order = find_part(h, &of, f->order);
    p->whole = find_part(h, &of, f->whole);
    p->shape = find_part(h, &of, f->shape);
    check_parts(how, p, t);
    if (convert_hf_good(h))
        f->fit(p, t);
    if (!convert_hf_good(h) || !give_name(h, p, &of))
        return;
    convert_hf_packed_judge(p);
    p->how = NULL;
    become_weight(h, t, p, index);
}

static void
link_all(const struct hf_packing *how)
{
    struct hf *h = how->h;
    struct hf_weights *w = &h->weights;

    w->packed = mem_array(w->n + 1, sizeof(*w->packed));
    if (!w->packed) {
        h->here.status = error_nomem(h->here.err);
        return;
    }
    for (size_t i = 0; i < w->n && convert_hf_good(h); i++) {
        const struct hf_packed_form *f = form_of(how, w->tensors[i]);

        if (f)
            link_parts(how, f, (uint32_t)i, &w->packed[w->n_packed++]);
    }
}

/* ---- the configuration --------------------------------------------------- */

static void
add_size(struct hf_packing *how, json_int_t rows, json_int_t columns)
{
    if (rows < 1 || rows > MAX_SIZE || columns < 1 || columns > MAX_SIZE) {
        core_json_bad(&how->h->config, GG_ERR_FORMAT,
                      "quantization_config: blocks of %lld x %lld values",
                      (long long)rows, (long long)columns);
        return;
    }
    if (how->n_sizes < HF_PACKED_CHOICES) {
        how->sizes[how->n_sizes][0] = (size_t)rows;
        how->sizes[how->n_sizes++][1] = (size_t)columns;
    }
}

static void
add_bits(struct hf_packing *how, const json_t *bits)
{
    json_int_t n = json_integer_value(bits);

    if (!json_is_integer(bits))
        return;
    if (n < 2 || n > MAX_BITS)
        core_json_bad(&how->h->config, GG_ERR_UNSUPPORTED,
                      "quantization_config: weights of %lld bits are not read",
                      (long long)n);
    else if (how->n_bits < HF_PACKED_CHOICES)
        how->bits[how->n_bits++] = (int)n;
}

/* Two numbers: rows and columns. */
static void
add_block(struct hf_packing *how, const json_t *list)
{
    const json_t *rows = json_array_get(list, 0);
    const json_t *columns = json_array_get(list, 1);

    if (!list || json_is_null(list))
        return;
    if (json_array_size(list) != 2 || !json_is_integer(rows) ||
        !json_is_integer(columns))
        core_json_bad(&how->h->config, GG_ERR_FORMAT,
                      "weight_block_size: is not two numbers");
    else
        add_size(how, json_integer_value(rows), json_integer_value(columns));
}

/* The widths and sizes of an object. */
static void
read_choices(struct hf_packing *how, const json_t *of)
{
    const json_t *group = json_object_get(of, "group_size");

    if (!group)
        group = json_object_get(of, "q_group_size");
    add_block(how, json_object_get(of, "weight_block_size"));
    add_block(how, json_object_get(of, "block_structure"));
    if (json_is_integer(group) && json_integer_value(group) > 0)
        add_size(how, 1, json_integer_value(group));
    add_bits(how, json_object_get(of, "bits"));
    add_bits(how, json_object_get(of, "w_bit"));
    add_bits(how, json_object_get(of, "num_bits"));
}

static void
read_groups(struct hf_packing *how, const json_t *config)
{
    const char *name;
    json_t *group;

    read_choices(how, config);
    json_object_foreach(json_object_get(config, "config_groups"), name, group)
    {
        read_choices(how, json_object_get(group, "weights"));
    }
    json_object_foreach(json_object_get(config, "quantized_layers"), name,
                        group)
    {
        if (how->n_sizes < HF_PACKED_CHOICES / 2)
            read_choices(how, group);
    }
}

static void
refuse_kind(struct hf_packing *how, const char *key, const char *value)
{
    core_json_bad(&how->h->config, GG_ERR_UNSUPPORTED,
                  "quantization_config: %s by %s '%.40s' is not read",
                  how->method, key, value);
}

static const char *
text_of(const json_t *config, const char *key, const char *other)
{
    const char *text = json_string_value(json_object_get(config, key));

    return text ? text : other;
}

/* Adds the widths that single modules may have instead. */
static void
add_widths(struct hf_packing *how)
{
    static const int others[] = { 4, 8, 2, 3 };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (how->n_bits < HF_PACKED_CHOICES)
            how->bits[how->n_bits++] = others[i];
}

/* Version 1 of the format has zeros less 1; modules may have other widths than
 * the configuration says. */
static void
read_gptq(struct hf_packing *how, const json_t *config)
{
    const char *format = text_of(config, "checkpoint_format", NULL);

    if (!format)
        format = text_of(config, "format", "gptq");
    how->less_one = !strcmp(format, "gptq");
    if (!how->less_one && strcmp(format, "gptq_v2"))
        refuse_kind(how, "checkpoint_format", format);
    if (json_object_size(json_object_get(config, "dynamic")))
        add_widths(how);
}

static void
read_awq(struct hf_packing *how, const json_t *config)
{
    const char *version = text_of(config, "version", NULL);

    if (!version)
        version = text_of(config, "format", "gemm");
    if (strcmp(version, "gemm") && strcmp(version, "GEMM"))
        refuse_kind(how, "version", version);
    if (how->n_bits && how->bits[0] != 4)
        core_json_bad(&how->h->config, GG_ERR_UNSUPPORTED,
                      "quantization_config: awq of %d bits is not read",
                      how->bits[0]);
}

/* AutoRound saves as one of the others. */
static void
read_auto_round(struct hf_packing *how, const json_t *config)
{
    const char *packing = text_of(config, "packing_format", "auto_gptq");

    if (json_object_size(json_object_get(config, "extra_config")))
        add_widths(how);
    if (strstr(packing, "awq")) {
        how->method = "auto-round:awq";
    } else if (strstr(packing, "auto_gptq")) {
        how->method = "auto-round:gptq";
        how->less_one = true;
    } else {
        refuse_kind(how, "packing_format", packing);
    }
}

/* Its formats have names; transforms would change what weights are multiplied
 * with. */
static void
read_compressed(struct hf_packing *how, const json_t *config)
{
    static const char formats[] =
        "dense|float-quantized|int-quantized|naive-quantized|pack-quantized|"
        "nvfp4-pack-quantized|mxfp4-pack-quantized|mxfp8-quantized|"
        "mixed-precision";
    const char *format = text_of(config, "format", "pack-quantized");

    if (!is_one_of(formats, format))
        refuse_kind(how, "format", format);
    if (json_object_size(json_object_get(
            json_object_get(config, "transform_config"), "config_groups")))
        core_json_bad(&how->h->config, GG_ERR_UNSUPPORTED,
                      "quantization_config: transform_config is not read");
}

static const struct {
    const char *method;
    void (*read)(struct hf_packing *how, const json_t *config);
} methods[] = {
    { "mxfp4", NULL },
    { "fp8", NULL },
    { "fbgemm_fp8", NULL },
    { "compressed-tensors", read_compressed },
    { "modelopt", NULL },
    { "quark", NULL },
    { "gptq", read_gptq },
    { "awq", read_awq },
    { "auto-round", read_auto_round },
};

static void
read_config(struct hf_packing *how, const json_t *config)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (!strcmp(how->method, methods[i].method)) {
            read_groups(how, config);
            if (convert_hf_good(how->h) && methods[i].read)
                methods[i].read(how, config);
            return;
        }
    core_json_bad(&how->h->config, GG_ERR_UNSUPPORTED,
                  "quantization_config: weights quantised by '%.40s' are not "
                  "read",
                  how->method);
}

/* ---- what is left out ---------------------------------------------------- */

/* By which a program would round activations, or keys and values of its cache:
 * no use here. */
static void
leave_out(struct hf *h)
{
    static const struct {
        const char *end;
        bool cache;
    } ends[] = {
        { ".input_scale", false },
        { ".activation_scale", false },
        { ".input_global_scale", false },
        { ".input_zero_point", false },
        { ".output_scale", false },
        { ".k_scale", true },
        { ".v_scale", true },
        { ".q_scale", true },
        { ".k_zero_point", true },
        { ".v_zero_point", true },
        { ".kv_scale", true },
    };

    for (size_t i = 0; i < h->weights.n; i++)
        for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
            if (ends_with(h->weights.tensors[i]->name, ends[k].end)) {
                h->weights.used[i] = true;
                h->cache_scales |= ends[k].cache;
            }
}

void
convert_hf_find_packed(struct hf *h, const json_t *config)
{
    struct hf_packing how = { .h = h,
                              .method = text_of(config, "quant_method", NULL) };

    if (!how.method) {
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "quantization_config: names no quant_method");
        return;
    }
    read_config(&how, config);
    if (convert_hf_good(h))
        link_all(&how);
    if (convert_hf_good(h))
        leave_out(h);
}

#endif
