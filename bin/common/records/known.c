/* known.c - members of a record in JSON that are no options of ours */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdbool.h>
#include <string.h>

#include "common/records/jsonl.h"
#include "common/records/known.h"

/* Members that change nothing. */
static const char *const harmless[] = {
    "prompt",
    "messages",
    "id",
    JSONL_NUMBER,
    "custom_id",
    "name",
    "model",
    "user",
    "metadata",
    "store",
    "stream",
    "stream_options",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "cache_prompt",
    "id_slot",
    "timings_per_token",
    "return_tokens",
    "parallel_tool_calls",
    "prediction",
    "prompt_cache_retention",
    "priority",
    "request_id",
    "cache_salt",
    "cache_key",
};

/* Members that change an answer, and a value with which they do not, as null,
 * false, and what is empty do not; after '=' the only one. */
static const struct refused {
    const char *name, *harmless;
} refused[] = {
    { "functions", NULL },
    { "function_call", "\"none\"" },
    { "best_of", "1" },
    { "system", NULL },
    { "system_prompt", NULL },
    { "instructions", NULL },
    { "input", NULL },
    { "documents", NULL },
    { "images", NULL },
    { "image_data", NULL },
    { "audio", NULL },
    { "modalities", "[\"text\"]" },
    { "verbosity", "\"medium\"" },
    { "chat_template", NULL },
    { "add_generation_prompt", "=true" },
    { "continue_final_message", NULL },
    { "add_special_tokens", "=true" },
    { "skip_special_tokens", "=true" },
    { "include_stop_str_in_output", NULL },
    { "stop_token_ids", NULL },
    { "allowed_token_ids", NULL },
    { "truncate_prompt_tokens", NULL },
    { "guided_json", "=null" },
    { "guided_regex", NULL },
    { "guided_choice", NULL },
    { "guided_grammar", NULL },
    { "structured_outputs", NULL },
    { "use_beam_search", NULL },
    { "length_penalty", "1" },
    { "repetition_penalty", "1" },
    { "top_a", "0" },
    { "tfs_z", "1" },
    { "n_keep", "0" },
    { "t_max_predict_ms", "0" },
    { "grammar_lazy", NULL },
    { "grammar_triggers", NULL },
    { "grammar_type", NULL },
    { "input_prefix", NULL },
    { "input_suffix", NULL },
    { "input_extra", NULL },
    { "logits_processors", NULL },
    { "reasoning_format", "\"auto\"" },
    { "spaces_between_special_tokens", "=true" },
    { "videos", NULL },
    { "web_search_options", NULL },
};

static bool
is_empty(const json_t *value)
{
    return json_is_null(value) || json_is_false(value) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_string(value) && json_string_length(value) == 0);
}

static bool
is_value(const json_t *value, const char *text)
{
    json_t *other =
        text ? json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL)
             : NULL;
    bool same = other && json_equal(value, other);

    json_decref(other);
    return same;
}

static bool
is_harmless(const struct refused *r, const json_t *value)
{
    if (r->harmless && *r->harmless == '=')
        return is_value(value, r->harmless + 1);
    return is_empty(value) || is_value(value, r->harmless);
}

enum known
known_member(const char *key, const json_t *value)
{
    if (jsonl_is_written(key))
        return KNOWN_HARMLESS;
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (strcmp(key, harmless[i]) == 0)
            return KNOWN_HARMLESS;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (strcmp(key, refused[i].name) == 0)
            return is_harmless(&refused[i], value) ? KNOWN_HARMLESS
                                                   : KNOWN_REFUSED;
    return KNOWN_NOT;
}

#endif
