/* require.c - settings of projectors: of the whole configuration, of what
 * prepares inputs; and those that must have one value, as files do not name
 * them */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/projector.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"

enum {
    MAX_VALUE = 1 << 24,
};

void
convert_hf_require_int(struct core_json_keys *k, const char *name,
                       int64_t value)
{
    int64_t v = core_json_int(k, name, -MAX_VALUE, MAX_VALUE, value);

    if (k->status == GG_OK && v != value)
        core_json_bad(k, GG_ERR_UNSUPPORTED,
                      "%s: is %d, where projector files have %d", name, (int)v,
                      (int)value);
}

void
convert_hf_require_bool(struct core_json_keys *k, const char *name, bool value,
                        bool other)
{
    static const char *const words[] = { "false", "true" };

    if (core_json_bool(k, name, other) != value)
        core_json_bad(k, GG_ERR_UNSUPPORTED,
                      "%s: is %s, where projector files have %s", name,
                      words[!value], words[value]);
}

void
convert_hf_require_text(struct core_json_keys *k, const char *name,
                        const char *value)
{
    const char *s = core_json_text(k, name, value);

    if (k->status == GG_OK && strcmp(s, value))
        core_json_bad(k, GG_ERR_UNSUPPORTED,
                      "%s: is %.40s, where projector files have %s", name, s,
                      value);
}

int64_t
convert_hf_side(struct core_json_keys *k, const char *name, int64_t max,
                int64_t other)
{
    const json_t *v = core_json_find(k, name), *first = json_array_get(v, 0);
    int64_t side = json_integer_value(first);

    if (!json_is_array(v))
        return core_json_int(k, name, 1, max, other);
    if (json_array_size(v) != 2 || !json_equal(first, json_array_get(v, 1)) ||
        side < 1 || side > max) {
        core_json_bad(k, GG_ERR_UNSUPPORTED,
                      "%s: is no side of a square, 1..%d", name, (int)max);
        return 1;
    }
    return side;
}

int64_t
convert_hf_input_edge(struct hf *h, const char *object, int64_t max,
                      int64_t other)
{
    struct core_json_keys inner = h->input;
    int64_t edge;

    inner.object = core_json_object_of(&h->input, object);
    edge = core_json_int(&inner, "longest_edge", 1, max, other);
    h->input.status = h->input.status == GG_OK ? inner.status : h->input.status;
    return edge;
}
#endif
