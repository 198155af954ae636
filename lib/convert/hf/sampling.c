/* sampling.c - what generation_config.json says of sampling
 *
 * Values are kept as they stand, in range or not; who draws warns of those that
 * are not. */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/tokens.h"

#define KEY(name) "general.sampling." name

static const struct {
    const char *member, *instead, *key;
    bool whole;
} members[] = {
    { "top_k", NULL, KEY("top_k"), true },
    { "top_p", NULL, KEY("top_p"), false },
    { "min_p", NULL, KEY("min_p"), false },
    { "xtc_probability", NULL, KEY("xtc_probability"), false },
    { "xtc_threshold", NULL, KEY("xtc_threshold"), false },
    { "temperature", NULL, KEY("temp"), false },
    { "penalty_last_n", NULL, KEY("penalty_last_n"), true },
    { "penalty_repeat", "repetition_penalty", KEY("penalty_repeat"), false },
    { "mirostat", NULL, KEY("mirostat"), true },
    { "mirostat_tau", NULL, KEY("mirostat_tau"), false },
    { "mirostat_eta", NULL, KEY("mirostat_eta"), false },
};

static void
set_number(struct hf *h, const char *key, bool whole, const json_t *value)
{
    double x = json_number_value(value);

    if (!json_is_number(value))
        return;
    if (whole && x >= INT32_MIN && x <= INT32_MAX && x == (int32_t)x)
        gguf_set_val_i32(h->gguf, key, (int32_t)x);
    else
        gguf_set_val_f32(h->gguf, key, (float)x);
}

void
convert_hf_sampling_set(struct hf *h, const json_t *document)
{
    const json_t *sequence = json_object_get(document, "sequence");

    if (json_is_string(sequence))
        gguf_set_val_str(h->gguf, KEY("sequence"), json_string_value(sequence));
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *value = json_object_get(document, members[i].member);

        if (!json_is_number(value) && members[i].instead)
            value = json_object_get(document, members[i].instead);
        set_number(h, members[i].key, members[i].whole, value);
    }
    /* The likeliest, whatever the temperature. */
    if (json_is_false(json_object_get(document, "do_sample")))
        gguf_set_val_f32(h->gguf, KEY("temp"), 0);
}

#endif
