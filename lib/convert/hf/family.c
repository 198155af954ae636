/* family.c - settings of a family, or the usual ones */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "convert/hf/families.h"

const char *
convert_hf_layers(const struct hf_family *family)
{
    return family->layers ? family->layers : "model.layers.";
}

const char *
convert_hf_layers_to(const struct hf_family *family)
{
    return family->to ? family->to : "blk.";
}

const struct hf_name *
convert_hf_whole(const struct hf_family *family)
{
    return family->whole ? family->whole : convert_hf_usual;
}

const char *
convert_hf_activations(const struct hf_family *family)
{
    return family->activations ? family->activations : "silu";
}

bool
convert_hf_is_windowed(const struct hf *h, int32_t layer, bool other)
{
    const json_t *list = core_json_find(&h->config, "layer_types");
    const char *type = json_string_value(json_array_get(list, (size_t)layer));

    return type ? !strcmp(type, "sliding_attention") : other;
}

#endif
