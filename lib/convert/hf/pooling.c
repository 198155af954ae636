/* pooling.c - what sentence-transformers makes of the vectors of a text
 *
 * modules.json lists the steps: the model itself; Pooling, whose folder says
 * how; Normalize, which a reader does where it is asked for. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"

enum {
    MAX_PATH_LENGTH = 4096,
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

static void
read_pooling(struct hf *h, const char *folder)
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
        set_way(h, &k);
    if (k.status != GG_OK)
        h->here.status = k.status;
    json_decref(document);
}

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
            read_pooling(h, folder ? folder : "");
        else if (strcmp(class, "Transformer") && strcmp(class, "Normalize"))
            core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                          "modules.json: the step '%.60s' is not done here",
                          class);
    }
    json_decref(list);
}

#endif
