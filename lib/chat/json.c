/* json.c - the variables of a template, from JSON */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/json.h"

#include <string.h>

static const struct chat_value absent = { .type = CHAT_ABSENT };

static struct chat_value
from_array(struct chat_arena *a, const json_t *json)
{
    struct chat_value list = chat_list(a, CHAT_LIST);
    bool ok = list.type != CHAT_ABSENT;

    for (size_t i = 0; ok && i < json_array_size(json); i++) {
        struct chat_value v = chat_from_json(a, json_array_get(json, i));

        ok = v.type != CHAT_ABSENT && chat_list_add(a, list.list, v);
    }
    return ok ? list : absent;
}

static struct chat_value
from_object(struct chat_arena *a, const json_t *json)
{
    struct chat_value dict = chat_dict(a, CHAT_DICT);
    bool ok = dict.type != CHAT_ABSENT;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)json, key, value)
    {
        ok = ok && chat_dict_put(a, dict.dict, key, chat_from_json(a, value));
        if (!ok)
            break;
    }
    return ok ? dict : absent;
}

struct chat_value
chat_from_json(struct chat_arena *a, const json_t *json)
{
    const char *large;

    switch (json_typeof(json)) {
    case JSON_OBJECT:
        large = core_json_large(json);
        return large ? chat_large(a, large) : from_object(a, json);
    case JSON_ARRAY:
        return from_array(a, json);
    case JSON_STRING:
        return chat_string_copy(a, json_string_value(json),
                                json_string_length(json), CHAT_TEXT);
    case JSON_INTEGER:
        return chat_int(json_integer_value(json));
    case JSON_REAL:
        return chat_float(json_real_value(json));
    case JSON_NULL:
        return CHAT_VALUE_NONE;
    default:
        return chat_bool(json_is_true(json));
    }
}

#endif
