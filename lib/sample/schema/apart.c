/* apart.c - whether alternatives of oneOf can be told apart
 *
 * What is drawn by one must not be valid under another. Members that a schema
 * does not name are not drawn, and so a name that the other one requires is
 * enough; what neither type, length, range, a list of values, nor a member or
 * an item that must be there tells apart counts as the same. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>

#include "sample/schema/parts.h"

enum {
    MAX_INSIDE = 8,       /* levels of parts that are looked into */
    MAX_LOOKS = 1 << 17,  /* at two schemas, and merges, for one oneOf */
    MAX_FIRST_ITEMS = 64, /* that are looked at */
};

struct looks {
    struct schema *s;
    int n, depth;
};

static bool
apart(struct looks *l, json_t *a, json_t *b);

/* ---- parts of values ----------------------------------------------------- */

/* Two schemas that are not flat. */
static bool
parts_apart(struct looks *l, json_t *a, json_t *b)
{
    json_t *x, *y;
    bool found;

    if (!a || !b || l->depth == MAX_INSIDE || l->s->failed)
        return false;
    l->depth++;
    x = sample_schema_flatten(l->s, a);
    y = sample_schema_flatten(l->s, b);
    found = x && y && apart(l, x, y);
    json_decref(x);
    json_decref(y);
    l->depth--;
    return found;
}

static bool requires(const json_t *schema, const char *name)
{
    const json_t *list = json_object_get(schema, "required");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (!strcmp(json_string_value(json_array_get(list, i)), name))
            return true;
    return false;
}

static json_t *
member_of(const json_t *schema, const char *name)
{
    return json_object_get(json_object_get(schema, "properties"), name);
}

/* No object that is drawn has the member. */
static bool
never_draws(const json_t *schema, const char *name)
{
    const json_t *more = json_object_get(schema, "additionalProperties");

    return !member_of(schema, name) && !requires(schema, name) &&
           (!more || json_is_false(more)) &&
           !json_object_get(schema, "patternProperties");
}

/* No object that is valid has the member. */
static bool
never_has(const json_t *schema, const char *name)
{
    return !member_of(schema, name) &&
           json_is_false(json_object_get(schema, "additionalProperties")) &&
           !json_object_get(schema, "patternProperties");
}

/* By members that one of them must have. */
static bool
members_apart(struct looks *l, json_t *a, json_t *b)
{
    const json_t *lists[] = { json_object_get(a, "required"),
                              json_object_get(b, "required") };

    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < json_array_size(lists[k]); i++) {
            const char *name = json_string_value(json_array_get(lists[k], i));

            if ((k ? never_draws(a, name) : never_has(b, name)) ||
                parts_apart(l, member_of(a, name), member_of(b, name)))
                return true;
        }
    return false;
}

static json_t *
item_at(const json_t *schema, size_t i)
{
    json_t *first = json_object_get(schema, "prefixItems");

    return i < json_array_size(first) ? json_array_get(first, i)
                                      : json_object_get(schema, "items");
}

/* By items that one of them must have. */
static bool
items_apart(struct looks *l, json_t *a, json_t *b)
{
    double x = core_json_real(json_object_get(a, "minItems"));
    double y = core_json_real(json_object_get(b, "minItems"));

    for (size_t i = 0; i < MAX_FIRST_ITEMS && (double)i < fmax(x, y); i++)
        if (parts_apart(l, item_at(a, i), item_at(b, i)))
            return true;
    return false;
}

/* ---- limits -------------------------------------------------------------- */

/* The `max` of one is below the `min` of the other. */
static bool
is_below(const json_t *one, const char *max, const json_t *other,
         const char *min, bool equal)
{
    const json_t *high = json_object_get(one, max);
    const json_t *low = json_object_get(other, min);

    return core_json_is_number(high) && core_json_is_number(low) &&
           (core_json_real(high) < core_json_real(low) ||
            (equal && core_json_real(high) == core_json_real(low)));
}

static bool
limits_apart(const json_t *a, const json_t *b, const char *min, const char *max)
{
    return is_below(a, max, b, min, false) || is_below(b, max, a, min, false);
}

static bool
range_is_below(const json_t *a, const json_t *b)
{
    return is_below(a, "maximum", b, "minimum", false) ||
           is_below(a, "maximum", b, "exclusiveMinimum", true) ||
           is_below(a, "exclusiveMaximum", b, "minimum", true) ||
           is_below(a, "exclusiveMaximum", b, "exclusiveMinimum", true);
}

/* ---- types and values ---------------------------------------------------- */

/* Values of this type, which both may have. */
static bool
type_apart(struct looks *l, const char *type, json_t *a, json_t *b)
{
    switch (*type) {
    case 'i':
    case 'n':
        return strcmp(type, "null") != 0 &&
               (range_is_below(a, b) || range_is_below(b, a));
    case 's':
        return limits_apart(a, b, "minLength", "maxLength");
    case 'a':
        return limits_apart(a, b, "minItems", "maxItems") ||
               items_apart(l, a, b);
    case 'o':
        return limits_apart(a, b, "minProperties", "maxProperties") ||
               members_apart(l, a, b);
    default:
        return false;
    }
}

/* Whether a value may be one of the schema's, of which types are `types`, or
 * any where that is NULL. What would have to be looked into is left out. */
static bool
may_be(struct schema *s, const json_t *schema, const json_t *types,
       const json_t *value)
{
    static const char *const parts[] = {
        "pattern",           "items",      "prefixItems",
        "properties",        "required",   "additionalProperties",
        "patternProperties", "multipleOf", "type"
    };
    const json_t *list = json_object_get(schema, "enum");
    json_t *rest = json_copy((json_t *)schema);
    bool fits;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        json_object_del(rest, parts[i]);
    if (types)
        json_object_set(rest, "type", (json_t *)types);
    fits = sample_schema_fits(s, rest, value);
    json_decref(rest);
    return fits && (!list || sample_schema_is_listed(list, value));
}

/* Types that are drawn, or that are valid; NULL: all. The caller's. */
static json_t *
types_of(const json_t *schema, bool drawn)
{
    json_t *type = json_object_get(schema, "type");
    const char *guess = drawn ? sample_schema_guess_type(schema) : NULL;

    if (json_is_array(type))
        return json_incref(type);
    if (type)
        return json_pack("[O]", type);
    return guess ? json_pack("[s]", guess) : NULL;
}

/* No value of the list, which is one schema's, may be the other's. */
static bool
values_apart(struct schema *s, const json_t *list, const json_t *types,
             const json_t *other, const json_t *other_types)
{
    const json_t *none = NULL;
    json_t *own = types ? json_pack("{s:O}", "type", types) : json_object();
    bool found = true;

    for (size_t i = 0; i < json_array_size(list) && found; i++) {
        const json_t *value = json_array_get(list, i);

        found = !may_be(s, own, none, value) ||
                !may_be(s, other, other_types, value);
    }
    json_decref(own);
    return found;
}

static bool
types_apart(struct looks *l, json_t *a, json_t *b, const json_t *x,
            const json_t *y)
{
    json_t *common = x && y ? sample_schema_common_types(x, y)
                            : json_copy((json_t *)(x ? x : y));
    bool found = common != NULL;

    for (size_t i = 0; i < json_array_size(common) && found; i++)
        found =
            type_apart(l, json_string_value(json_array_get(common, i)), a, b);
    json_decref(common);
    return found;
}

/* ---- two schemas --------------------------------------------------------- */

/* All alternatives of `key` in one of them are apart from the other. */
static bool
choices_apart(struct looks *l, json_t *of, const char *key, json_t *other,
              bool first)
{
    size_t n = json_array_size(json_object_get(of, key));
    bool found = n > 0;

    for (size_t i = 0; i < n && found && !l->s->failed; i++) {
        json_t *one = sample_schema_alternative(l->s, of, key, i);

        found = one && (first ? apart(l, one, other) : apart(l, other, one));
        json_decref(one);
    }
    return found;
}

static bool
some_choice_apart(struct looks *l, json_t *a, json_t *b)
{
    static const char *const keys[] = { "anyOf", "oneOf" };
    bool found = false;

    if (l->depth == MAX_INSIDE)
        return false;
    l->depth++;
    for (int i = 0; i < 2 && !found; i++)
        found = choices_apart(l, a, keys[i], b, true) ||
                choices_apart(l, b, keys[i], a, false);
    l->depth--;
    return found;
}

/* No value that a draws is valid under b. */
static bool
apart(struct looks *l, json_t *a, json_t *b)
{
    const json_t *listed = json_object_get(a, "enum");
    const json_t *allowed = json_object_get(b, "enum");
    json_t *x, *y;
    bool found;

    if (json_is_boolean(a) || json_is_boolean(b))
        return json_is_false(a) || json_is_false(b);
    if (++l->n > MAX_LOOKS)
        sample_schema_refuse(l->s, "the schema is too large");
    if (l->s->failed)
        return false;
    x = types_of(a, !listed);
    y = types_of(b, false);
    found = types_apart(l, a, b, x, y) ||
            (listed && values_apart(l->s, listed, x, b, y)) ||
            (allowed && values_apart(l->s, allowed, y, a, x)) ||
            some_choice_apart(l, a, b);
    json_decref(x);
    json_decref(y);
    return found;
}

void
sample_schema_check_apart(struct schema *s, json_t *schema)
{
    size_t n = json_array_size(json_object_get(schema, "oneOf"));
    json_t **list = core_json_realloc(NULL, (n + 1) * sizeof(*list));
    struct looks l = { .s = s };
    int merges = s->n_merges;

    for (size_t i = 0; i < n; i++)
        list[i] = sample_schema_alternative(s, schema, "oneOf", i);
    for (size_t i = 0; i < n * n && !s->failed; i++) {
        l.n += s->n_merges - merges;
        s->n_merges = merges;
        if (i / n != i % n && !apart(&l, list[i / n], list[i % n]))
            sample_schema_refuse(s,
                                 "oneOf: what %zu draws may be valid under "
                                 "%zu, too: anyOf allows that",
                                 i / n, i % n);
    }
    for (size_t i = 0; i < n; i++)
        json_decref(list[i]);
    core_json_free(list);
    s->n_merges = merges;
}

#endif
