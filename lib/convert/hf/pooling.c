/* pooling.c - what sentence-transformers makes of the vectors of a text
 *
 * modules.json lists the steps: the model itself; Pooling, whose folder says
 * how; Dense, a matrix that the vector is multiplied with; Normalize, which
 * whoever reads the vectors does with --normalize or its like. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"

enum {
    MAX_PATH_LENGTH = 4096,
    MAX_FEATURES = 1 << 20,
};

/* The numbers are llama.cpp's enum llama_pooling_type. */
static const struct {
    const char *setting, *name; /* of older files, of newer ones */
    int type;                   /* -1: not known here */
} ways[] = {
    { "pooling_mode_mean_tokens", "mean", 1 },
    { "pooling_mode_cls_token", "cls", 2 },
    { "pooling_mode_lasttoken", "lasttoken", 3 },
    { "pooling_mode_max_tokens", "max", -1 },
    { "pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", -1 },
    { "pooling_mode_weightedmean_tokens", "weightedmean", -1 },
};

enum {
    N_WAYS = sizeof(ways) / sizeof(ways[0])
};

static void
set_way(struct hf *h, struct core_json_keys *k)
{
    const char *name = core_json_text(k, "pooling_mode", NULL);
    int found = 0, which = -1;

    for (int i = 0; i < N_WAYS; i++)
        if (name ? !strcmp(name, ways[i].name)
                 : core_json_bool(k, ways[i].setting, false)) {
            found++;
            which = i;
        }
    if (found != 1 || ways[which].type < 0)
        core_json_bad(k, GG_ERR_UNSUPPORTED,
                      "pooling: must be one of mean, cls and lasttoken here");
    else
        convert_hf_set_u32(h, "pooling_type", ways[which].type);
}

/* Reads the configuration of a step. */
static void
read_step(struct hf *h, const char *folder,
          void (*read)(struct hf *h, struct core_json_keys *k))
{
    char path[MAX_PATH_LENGTH];
    json_t *document = NULL;
    struct core_json_keys k = { path, NULL, GG_OK, h->here.err };

    if (!convert_hf_is_plain(folder)) {
        core_json_bad(&h->here, GG_ERR_FORMAT,
                      "modules.json: '%.60s' is no folder in this one", folder);
        return;
    }
    snprintf(path, sizeof(path), "%s/%s/config.json", h->path, folder);
    k.status = core_json_read(path, true, &document, k.err);
    k.object = document;
    if (k.status == GG_OK)
        read(h, &k);
    if (k.status != GG_OK)
        h->here.status = k.status;
    json_decref(document);
}

/* ---- Dense --------------------------------------------------------------- */

/* "dense_2", "dense_3": the model and its pooling are steps 0 and 1. */
static void
step_name(char out[64], int step, const char *rest)
{
    snprintf(out, 64, "dense_%d%s", step + 2, rest);
}

static void
set_features(struct hf *h, struct core_json_keys *k)
{
    const char *act = core_json_text(k, "activation_function", "Identity");
    int64_t in = core_json_int(k, "in_features", 1, MAX_FEATURES, 0);
    int64_t out = core_json_int(k, "out_features", 1, MAX_FEATURES, 0);
    const char *dot = strrchr(act, '.');
    char name[64];

    if (h->n_steps == HF_STEPS)
        core_json_bad(k, GG_ERR_UNSUPPORTED, "more than %d such steps",
                      HF_STEPS);
    if (strcmp(dot ? dot + 1 : act, "Identity") != 0)
        core_json_bad(k, GG_ERR_UNSUPPORTED,
                      "activation_function: '%.60s' is not done here", act);
    if (k->status == GG_OK && in != (h->n_steps ? h->n_dense : h->n_embd))
        core_json_bad(k, GG_ERR_FORMAT,
                      "in_features: is not what the step before gives");
    if (k->status != GG_OK)
        return;
    step_name(name, h->n_steps, "_feat_in");
    convert_hf_set_u32(h, name, in);
    step_name(name, h->n_steps++, "_feat_out");
    convert_hf_set_u32(h, name, out);
    h->n_dense = (int32_t)out;
}

static void
add_dense(struct hf *h, const struct safetensors *file)
{
    char name[64];

    for (size_t i = 0; i < file->n && convert_hf_good(h); i++) {
        const struct safetensors_tensor *t = &file->tensors[i];
        bool weight = !strcmp(t->name, "linear.weight");
        bool fits = weight ? t->n_dims == 2 && t->shape[0] == h->n_dense
                           : !strcmp(t->name, "linear.bias") &&
                                 t->n_dims == 1 && t->shape[0] == h->n_dense;

        step_name(name, h->n_steps - 1, weight ? ".weight" : ".bias");
        if (fits)
            convert_hf_add_from(h, name, t);
        else
            core_json_bad(&h->here, GG_ERR_FORMAT,
                          "%s: no tensor of such a step, or of another shape",
                          t->name);
    }
    step_name(name, h->n_steps - 1, ".weight");
    if (convert_hf_good(h) && gguf_find_tensor(h->gguf, name) < 0)
        core_json_bad(&h->here, GG_ERR_FORMAT,
                      "modules.json: a Dense has no linear.weight");
}

static void
read_dense(struct hf *h, const char *folder)
{
    struct safetensors *file = &h->weights.steps[h->weights.n_steps];
    char path[MAX_PATH_LENGTH];

    read_step(h, folder, set_features);
    if (!convert_hf_good(h) || !h->weighed)
        return;
    snprintf(path, sizeof(path), "%s/%s/model.safetensors", h->path, folder);
    h->here.status = convert_safetensors_open(path, file, h->here.err);
    if (!convert_hf_good(h))
        return;
    h->weights.n_steps++;
    add_dense(h, file);
}

/* ---- the steps ----------------------------------------------------------- */

/* The class of a step, without the module that it is in. */
static const char *
class_of(const json_t *step)
{
    const char *type = json_string_value(json_object_get(step, "type"));
    const char *dot = type ? strrchr(type, '.') : NULL;

    return dot ? dot + 1 : type ? type : "";
}

void
convert_hf_read_pooling(struct hf *h)
{
    char path[MAX_PATH_LENGTH];
    json_t *list = NULL;
    const json_t *step;
    size_t i;

    snprintf(path, sizeof(path), "%s/modules.json", h->path);
    if (core_json_read_list(path, &list, h->here.err) != GG_OK)
        h->here.status = GG_ERR_FORMAT;
    json_array_foreach(list, i, step)
    {
        const char *class = class_of(step);
        const char *folder = json_string_value(json_object_get(step, "path"));

        if (!convert_hf_good(h))
            break;
        if (!strcmp(class, "Pooling"))
            read_step(h, folder ? folder : "", set_way);
        else if (!strcmp(class, "Dense"))
            read_dense(h, folder ? folder : "");
        else if (strcmp(class, "Transformer") && strcmp(class, "Normalize"))
            core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                          "modules.json: the step '%.60s' is not done here",
                          class);
    }
    json_decref(list);
}

#endif
