/* peft.c - folders of Hugging Face's PEFT: LoRA adapters, which become those of
 * gguf/adapter.h by the base model's names and orders
 *
 * y = W x + s B A x, where s is alpha / rank, or alpha / sqrt(rank). Rows of B
 * change places as those of W do, columns of A as W's columns. */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/peft.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "convert/hf/layout.h"
#include "core/mem.h"
#include "gguf/adapter.h"

#define CONFIG       "adapter_config.json"
#define MODEL_CONFIG "config.json"
#define WEIGHTS      "adapter_model.safetensors"
#define ROOT         "base_model.model."

enum {
    NAME = 256,
    FULL = NAME + 64, /* with what comes after it */
    MAX_RANK = 1 << 16,
    MAX_STEPS = 200000000, /* some seconds */
    /* Flags of names that adapters may have. */
    FLAGS = HF_F32 | HF_OPTIONAL | HF_OR_NEXT | HF_PLUS_1,
};

static bool
is_in_folder(const char *folder, const char *name)
{
    char path[4096];

    return snprintf(path, sizeof(path), "%s/%s", folder, name) <
               (int)sizeof(path) &&
           access(path, F_OK) == 0;
}

bool
convert_hf_is_peft(const char *folder)
{
    return is_in_folder(folder, CONFIG) && !is_in_folder(folder, MODEL_CONFIG);
}

bool
convert_hf_is_model(const char *folder)
{
    return is_in_folder(folder, MODEL_CONFIG) && !is_in_folder(folder, CONFIG);
}

/* ---- settings ------------------------------------------------------------ */

/* Settings that are read, or say only how an adapter was trained. */
static const char *const known[] = {
    "peft_type",
    "r",
    "lora_alpha",
    "use_rslora",
    "rank_pattern",
    "alpha_pattern",
    "fan_in_fan_out",
    "modules_to_save",
    "bias",
    "init_lora_weights",
    "task_type",
    "auto_mapping",
    "peft_version",
    "base_model_name_or_path",
    "revision",
    "inference_mode",
    "target_modules",
    "target_parameters",
    "exclude_modules",
    "lora_dropout",
    "layers_to_transform",
    "layers_pattern",
    "megatron_core",
    "loftq_config",
    "eva_config",
    "qalora_group_size",
    "runtime_config",
};

/* Whether a setting says no more than that there is nothing. */
static bool
is_nothing(const json_t *v)
{
    return !v || json_is_null(v) || json_is_false(v) ||
           (json_is_object(v) && json_object_size(v) == 0) ||
           (json_is_array(v) && json_array_size(v) == 0);
}

static bool
is_known(const char *name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(name, known[i]) == 0)
            return true;
    return false;
}

/* Ways to begin that change the model's own weights, too. */
static bool
changes_base(const char *init)
{
    static const char *const ways[] = { "pissa", "olora", "loftq", "corda",
                                        "lora_ga" };

    for (size_t i = 0; init && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strncmp(init, ways[i], strlen(ways[i])) == 0)
            return true;
    return false;
}

static void
check_settings(struct core_json_keys *k)
{
    const char *type = core_json_text(k, "peft_type", "");
    const char *init =
        json_string_value(core_json_find(k, "init_lora_weights"));
    const char *name;
    json_t *value;

    if (k->status == GG_OK && strcmp(type, "LORA") != 0)
        core_json_bad(k, GG_ERR_UNSUPPORTED, "peft_type: '%.60s' is no LORA",
                      type);
    if (k->status == GG_OK && changes_base(init))
        core_json_bad(k, GG_ERR_UNSUPPORTED,
                      "init_lora_weights: %.60s has changed the model's own "
                      "weights, too",
                      init);
    json_object_foreach((json_t *)(uintptr_t)k->object, name, value)
    {
        if (k->status == GG_OK && !is_known(name) && !is_nothing(value))
            core_json_bad(k, GG_ERR_UNSUPPORTED,
                          "%.80s: is not known, and may change what the "
                          "adapter computes",
                          name);
    }
}

/* ---- the base model ------------------------------------------------------ */

enum gg_status
convert_hf_peft_base(const char *folder, const char *base, char *out,
                     size_t size, struct gg_error *err)
{
    struct core_json_keys k = { .err = err };
    json_t *document = NULL;
    char path[4096];
    const char *name;

    if (snprintf(path, sizeof(path), "%s/" CONFIG, folder) >= (int)sizeof(path))
        return error_set(err, GG_ERR_IO, "%s: the name is too long", folder);
    k.path = path;
    k.status = core_json_read(path, true, &document, err);
    k.object = document;
    name = core_json_text(&k, "base_model_name_or_path", "");
    if (k.status == GG_OK && base)
        snprintf(out, size, "%s", base);
    else if (k.status == GG_OK && *name && *name != '/' &&
             snprintf(out, size, "%s/%s", folder, name) < (int)size &&
             is_in_folder(out, MODEL_CONFIG))
        ;
    else if (k.status == GG_OK && *name && is_in_folder(name, MODEL_CONFIG))
        snprintf(out, size, "%s", name);
    else
        core_json_bad(&k, GG_ERR_UNSUPPORTED,
                      "base_model_name_or_path: '%.200s' is no folder with a "
                      "model: name the folder of the base model",
                      name);
    json_decref(document);
    return k.status;
}

/* ---- tensors ------------------------------------------------------------- */

/* As it stands in the file, of the first expert where there are some. */
static const struct safetensors_tensor *
find_part(struct hf *h, const char *from)
{
    const char *at = strstr(from, "%d");
    char name[FULL];

    if (!at)
        return convert_hf_weights_find(&h->weights, from);
    snprintf(name, FULL, "%.*s0%s", (int)(at - from), from, at + 2);
    return convert_hf_weights_find(&h->weights, name);
}

static void
take_part(struct hf *h, const char *from, const char *to, const char *suffix,
          unsigned how)
{
    char name[FULL];

    if (snprintf(name, FULL, "%s%s", to, suffix) >= GGML_MAX_NAME)
        core_json_bad(&h->here, GG_ERR_UNSUPPORTED, "%s: the name is too long",
                      from);
    else if (!convert_hf_take(h, from, name, how))
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is missing", from);
}

/* That of a module, or of one of each expert, which must be the same. */
static float
factor_of_pair(struct hf_peft *p, const char *from, int64_t rank)
{
    const char *at = strstr(from, "%d");
    double factor = convert_hf_peft_factor(p, from, rank), one;
    char name[FULL];

    for (int32_t i = 0; at && i < p->h->n_expert; i++) {
        snprintf(name, FULL, "%.*s%d%s", (int)(at - from), from, (int)i,
                 at + 2);
        one = convert_hf_peft_factor(p, name, rank);
        if (i > 0 && one != factor)
            core_json_bad(&p->config, GG_ERR_UNSUPPORTED,
                          "alpha_pattern: %s has another alpha than other "
                          "experts",
                          name);
        factor = one;
    }
    return (float)factor;
}

/* A and B of a module, if it has them. */
static bool
take_pair(struct hf_peft *p, const char *from, const char *to, unsigned how)
{
    struct hf *h = p->h;
    enum hf_side side = convert_hf_layout_side(how);
    const struct safetensors_tensor *b;
    char a_name[FULL], b_name[FULL];

    snprintf(a_name, FULL, "%s.lora_A.weight", from);
    snprintf(b_name, FULL, "%s.lora_B.weight", from);
    b = find_part(h, b_name);
    if (!b && !find_part(h, a_name))
        return false;
    if (side == HF_OF_ALL || how & ~(unsigned)(HF_LAYOUT | FLAGS))
        core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                      "%s: adapters of such a matrix are not converted",
                      b ? b->name : a_name);
    if (convert_hf_good(h) &&
        (!b || b->n_dims != 2 || b->shape[1] < 1 || b->shape[1] > MAX_RANK))
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: no matrix of a rank",
                      b_name);
    if (!convert_hf_good(h))
        return true;
    take_part(h, a_name, to, ".weight.lora_a",
              side == HF_OF_COLUMNS ? how & HF_LAYOUT : 0);
    h->times = factor_of_pair(p, from, b->shape[1]);
    take_part(h, b_name, to, ".weight.lora_b",
              side == HF_OF_ROWS ? how & HF_LAYOUT : 0);
    h->times = 0;
    return true;
}

/* An embedding's pair: rows are looked up in A, which lies the other way. */
static bool
take_embedding(struct hf_peft *p, const char *from, const char *to)
{
    struct hf *h = p->h;
    const struct safetensors_tensor *b;
    char name[FULL];

    snprintf(name, FULL, "%s.lora_embedding_B", from);
    b = convert_hf_weights_find(&h->weights, name);
    if (!b)
        return false;
    if (strcmp(to, "token_embd") != 0 || b->n_dims != 2 || b->shape[1] < 1)
        core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                      "%s: adapters of such an embedding are not converted",
                      b->name);
    if (!convert_hf_good(h))
        return true;
    h->times = factor_of_pair(p, from, b->shape[1]);
    take_part(h, name, to, ".weight.lora_b", 0);
    h->times = 0;
    snprintf(name, FULL, "%s.lora_embedding_A", from);
    take_part(h, name, to, ".weight.lora_a", HF_TRANSPOSE);
    return true;
}

/* Takes a weight or a bias that replaces the model's. */
static bool
take_whole(struct hf *h, const char *from, const char *to, unsigned how)
{
    static const char *const ends[][2] = { { ".weight", ".weight" },
                                           { ".bias", ".bias" },
                                           { ".base_layer.bias", ".bias" } };
    char name[FULL], own[FULL];
    bool found = false;

    if (how & HF_EXACT)
        return convert_hf_take(h, from, to, how);
    for (size_t i = 0; i < 3 && convert_hf_good(h); i++) {
        snprintf(name, FULL, "%s%s", from, ends[i][0]);
        snprintf(own, FULL, "%s%s", to, ends[i][1]);
        if (find_part(h, name))
            found = convert_hf_take(h, name, own,
                                    i ? how & ~(unsigned)HF_PLUS_1 : how);
    }
    return found;
}

static void
take_list(struct hf_peft *p, const char *prefix, const char *to_prefix,
          const struct hf_name *name)
{
    char from[NAME], to[NAME];

    for (; name && name->from && convert_hf_good(p->h); name++) {
        unsigned how = name->how & ~(unsigned)(HF_OPTIONAL | HF_OR_NEXT);
        bool found;

        snprintf(from, NAME, "%s%s", prefix, name->from);
        snprintf(to, NAME, "%s%s", to_prefix, name->to);
        found = take_whole(p->h, from, to, how);
        if (!(how & HF_EXACT) && convert_hf_good(p->h))
            found = take_pair(p, from, to, how) ||
                    take_embedding(p, from, to) || found;
        if (convert_hf_good(p->h))
            found = convert_hf_peft_take_experts(p, prefix, to_prefix, name) ||
                    found;
        if (found && name->how & HF_OR_NEXT)
            name++;
    }
}

/* The model's own weight, which PEFT saves with adapters of embeddings. */
static bool
is_base(const char *name)
{
    static const char ending[] = ".base_layer.weight";
    size_t n = strlen(name), end = sizeof(ending) - 1;

    return n > end && strcmp(name + n - end, ending) == 0;
}

static void
check_left(struct hf *h)
{
    for (size_t i = 0; i < h->weights.n && convert_hf_good(h); i++)
        if (!h->weights.used[i] && !is_base(h->weights.tensors[i]->name))
            core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                          "%s: %s has nothing here that it changes",
                          h->weights.tensors[i]->name, h->class);
    if (convert_hf_good(h) && gguf_get_n_tensors(h->gguf) == 0)
        core_json_bad(&h->here, GG_ERR_FORMAT, WEIGHTS ": has no tensors");
}

static void
add_tensors(struct hf_peft *p)
{
    struct hf *h = p->h;
    char from[NAME], to[64];

    take_list(p, "", "", convert_hf_whole(h->family));
    for (int32_t i = 0; i < h->n_layer && convert_hf_good(h); i++) {
        snprintf(from, NAME, "%s%d.", convert_hf_layers(h->family), (int)i);
        snprintf(to, sizeof(to), "%s%d.", convert_hf_layers_to(h->family),
                 (int)i);
        for (int k = 0; k < HF_LISTS; k++)
            take_list(p, from, to, h->family->layer[k]);
    }
    check_left(h);
}

/* ---- all of it ----------------------------------------------------------- */

static void
read_settings(struct hf_peft *p)
{
    struct core_json_keys *k = &p->config;

    check_settings(k);
    core_json_int(k, "r", 1, MAX_RANK, 8);
    p->alpha = core_json_number(k, "lora_alpha", 1e-6, 1e6, 8);
    p->sqrt_rank = core_json_bool(k, "use_rslora", false);
    p->parameters = core_json_array_of(k, "target_parameters");
}

enum gg_status
convert_hf_peft_read(struct hf *h, const char *folder, struct gg_error *err)
{
    struct hf_peft p = { .h = h, .steps = MAX_STEPS };
    json_t *document = NULL;
    char path[4096];
    enum gg_status st;

    h->path = h->here.path = folder;
    if (snprintf(path, sizeof(path), "%s/" CONFIG, folder) >= (int)sizeof(path))
        return error_set(err, GG_ERR_IO, "%s: the name is too long", folder);
    st = core_json_read(path, true, &document, err);
    p.config = (struct core_json_keys){ path, document, st, err };
    if (st == GG_OK)
        read_settings(&p);
    if (p.config.status == GG_OK)
        p.config.status = convert_hf_weights_open_file(folder, WEIGHTS, ROOT,
                                                       &h->weights, err);
    gguf_free(h->gguf); /* the model's keys are none of the adapter's */
    h->gguf = gguf_init_empty();
    if (!h->gguf && p.config.status == GG_OK)
        p.config.status = error_nomem(err);
    if (p.config.status == GG_OK) {
        gguf_adapter_set_lora(h->gguf, h->family->arch, (float)p.alpha);
        add_tensors(&p);
    }
    json_decref(document);
    if (p.config.status == GG_OK && !convert_hf_good(h))
        return h->config.status != GG_OK ? h->config.status : h->here.status;
    return p.config.status;
}

#endif
