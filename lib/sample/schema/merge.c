/* merge.c - several schemas for one value as one
 *
 * What is said of parts of the value (a member, items) is not looked into but
 * put next to each other, as an allOf of them. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>

#include "sample/schema/parts.h"

enum {
    MAX_MERGES = 10000,
    MAX_TOGETHER = 64, /* schemas for one value */
    MAX_CHAIN = 500,   /* $ref and allOf in each other */
};

/* ---- two for one part ---- */

static bool
is_only_all_of(const json_t *schema)
{
    return json_object_size(schema) == 1 && json_object_get(schema, "allOf");
}

static void
append(json_t *list, json_t *schema)
{
    json_t *all =
        is_only_all_of(schema) ? json_object_get(schema, "allOf") : NULL;
    size_t n = json_array_size(all);

    for (size_t i = 0; i < n; i++)
        append(list, json_array_get(all, i));
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_array_get(list, i) == schema)
            return;
    if (!all)
        json_array_append(list, schema);
}

json_t *
sample_schema_both(json_t *a, json_t *b)
{
    json_t *list;

    if (a == b || json_is_true(b) || json_is_false(a))
        return json_incref(a);
    if (json_is_true(a) || json_is_false(b))
        return json_incref(b);
    list = json_array();
    append(list, a);
    append(list, b);
    return json_pack("{s:o}", "allOf", list);
}

/* ---- the words of two schemas ---- */

/* Types as a list; "integer" is within "number". */
static bool
has_type(const json_t *types, const char *type)
{
    size_t n = json_is_array(types) ? json_array_size(types) : 1;

    for (size_t i = 0; i < n; i++) {
        const char *t = json_string_value(
            json_is_array(types) ? json_array_get(types, i) : types);

        if (t && (!strcmp(t, type) ||
                  (!strcmp(t, "number") && !strcmp(type, "integer"))))
            return true;
    }
    return false;
}

json_t *
sample_schema_common_types(const json_t *a, const json_t *b)
{
    static const char *const all[] = { "null",   "boolean", "integer", "number",
                                       "string", "array",   "object" };
    json_t *out = json_array();

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (has_type(a, all[i]) && has_type(b, all[i]))
            json_array_append_new(out, json_string(all[i]));
    if (has_type(out, "number")) /* an integer is one, too */
        for (size_t i = json_array_size(out); i-- > 0;)
            if (!strcmp(json_string_value(json_array_get(out, i)), "integer"))
                json_array_remove(out, i);
    return out;
}

static bool
equal(const json_t *a, const json_t *b)
{
    return core_json_is_number(a) && core_json_is_number(b)
               ? core_json_real(a) == core_json_real(b)
               : json_equal(a, b);
}

bool
sample_schema_is_listed(const json_t *list, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (equal(json_array_get(list, i), value))
            return true;
    return false;
}

/* Values in both of two lists, or in one of them. */
static json_t *
of_lists(const json_t *a, const json_t *b, bool both)
{
    json_t *out = both ? json_array() : json_copy((json_t *)a);

    for (size_t i = 0; i < json_array_size(b); i++)
        if (sample_schema_is_listed(a, json_array_get(b, i)) == both)
            json_array_append(out, json_array_get(b, i));
    return out;
}

/* Each alternative with the other list of them. */
static json_t *
distribute(json_t *a, const char *key, json_t *b)
{
    json_t *out = json_array();

    for (size_t i = 0; i < json_array_size(a); i++)
        json_array_append_new(out, json_pack("{s:[O,{s:O}]}", "allOf",
                                             json_array_get(a, i), key, b));
    return out;
}

/* ---- objects ---- */

/* To `out`: members of `from`, which has no others by the other schema's
 * words; those of both have both schemas. */
static void
merge_members(json_t *out, json_t *from, json_t *other, bool second)
{
    json_t *theirs = json_object_get(other, "properties"), *value;
    json_t *rest = json_object_get(other, "additionalProperties");
    const char *name;

    json_object_foreach(json_object_get(from, "properties"), name, value)
    {
        json_t *more = json_object_get(theirs, name);

        if (more && second)
            continue;
        more = more ? more : rest;
        json_object_set_new(out, name,
                            more ? sample_schema_both(value, more)
                                 : json_incref(value));
    }
}

static json_t *
both_members(json_t *a, json_t *b)
{
    json_t *out = json_object();

    merge_members(out, a, b, false);
    merge_members(out, b, a, true);
    return out;
}

/* ---- keywords ---- */

static bool
is_one_of(const char *const *list, const char *key)
{
    for (; *list; list++)
        if (!strcmp(*list, key))
            return true;
    return false;
}

/* The least common multiple of p/q and x/y in lowest terms:
 * lcm(p, x) / gcd(q, y). */
static json_t *
common_multiple(struct schema *s, const json_t *a, const json_t *b)
{
    int64_t p, q, x, y;
    double m = 0;

    if (sample_schema_fraction(core_json_real(a), &p, &q) &&
        sample_schema_fraction(core_json_real(b), &x, &y))
        m = (double)(p / sample_schema_gcd(p, x)) * (double)x /
            (double)sample_schema_gcd(q, y);
    if (m <= 0 || m > 1e15)
        sample_schema_refuse(
            s, "two multipleOf for one value: not supported here");
    return json_real(m);
}

static json_t *
merge_word(struct schema *s, const char *key, json_t *a, json_t *b)
{
    static const char *const most[] = { "minimum",       "exclusiveMinimum",
                                        "minLength",     "minItems",
                                        "minProperties", NULL };
    static const char *const least[] = { "maximum",       "exclusiveMaximum",
                                         "maxLength",     "maxItems",
                                         "maxProperties", NULL };
    bool more = core_json_real(b) > core_json_real(a);

    if (is_one_of(most, key))
        return json_incref(more ? b : a);
    if (is_one_of(least, key))
        return json_incref(more ? a : b);
    if (!strcmp(key, "additionalProperties"))
        return sample_schema_both(a, b);
    if (!strcmp(key, "multipleOf"))
        return common_multiple(s, a, b);
    if (!strcmp(key, "type"))
        return sample_schema_common_types(a, b);
    if (!strcmp(key, "enum"))
        return of_lists(a, b, true);
    if (!strcmp(key, "required"))
        return of_lists(a, b, false);
    if (!strcmp(key, "anyOf") || !strcmp(key, "oneOf"))
        return distribute(a, key, b);
    if (!json_equal(a, b))
        sample_schema_refuse(
            s, "two different %.40s for one value are not supported", key);
    return json_incref(a);
}

/* ---- arrays ---- */

/* The schema of item i; NULL: any, but none that is written. */
static json_t *
item_of(const json_t *schema, size_t i)
{
    json_t *first = json_object_get(schema, "prefixItems");

    return i < json_array_size(first) ? json_array_get(first, i)
                                      : json_object_get(schema, "items");
}

static json_t *
both_items(const json_t *a, const json_t *b, size_t i)
{
    json_t *x = item_of(a, i), *y = item_of(b, i);

    return x && y ? sample_schema_both(x, y) : json_incref(x ? x : y);
}

/* As many first items as the longer list has. */
static void
merge_items(json_t *out, const json_t *a, const json_t *b)
{
    size_t n = json_array_size(json_object_get(a, "prefixItems"));
    size_t m = json_array_size(json_object_get(b, "prefixItems"));
    json_t *first = json_array();

    for (size_t i = 0; i < (n > m ? n : m); i++)
        json_array_append_new(first, both_items(a, b, i));
    if (json_array_size(first))
        json_object_set(out, "prefixItems", first);
    json_decref(first);
    if (item_of(a, SIZE_MAX) || item_of(b, SIZE_MAX))
        json_object_set_new(out, "items", both_items(a, b, SIZE_MAX));
}

/* ---- schemas ---- */

/* Names by a pattern are not told from those that another schema has. */
static void
check_patterns(struct schema *s, const json_t *a, const json_t *b)
{
    const json_t *patterns = json_object_get(a, "patternProperties");

    if (patterns &&
        !json_equal(patterns, json_object_get(b, "patternProperties")) &&
        (json_object_get(b, "patternProperties") ||
         json_object_get(b, "properties") ||
         json_object_get(b, "additionalProperties")))
        sample_schema_refuse(
            s, "patternProperties and another schema's properties "
               "are not supported");
}

static bool
is_apart(const char *key)
{
    static const char *const apart[] = { "properties", "items", "prefixItems",
                                         NULL };

    return is_one_of(apart, key);
}

static json_t *
merge(struct schema *s, json_t *a, json_t *b)
{
    json_t *out, *value;
    const char *key;

    if (json_is_false(a) || json_is_false(b))
        return json_false();
    if (json_is_true(a) || json_is_true(b))
        return json_incref(json_is_true(a) ? b : a);
    check_patterns(s, a, b);
    check_patterns(s, b, a);
    out = json_copy(a);
    json_object_foreach(b, key, value)
    {
        json_t *old = json_object_get(a, key);

        if (!old)
            json_object_set(out, key, value);
        else if (!is_apart(key))
            json_object_set_new(out, key, merge_word(s, key, old, value));
    }
    if (json_object_get(a, "properties") || json_object_get(b, "properties"))
        json_object_set_new(out, "properties", both_members(a, b));
    merge_items(out, a, b);
    for (int i = 0; i < 2; i++) {
        value = json_object_get(out, i ? "enum" : "type");
        if (json_is_array(value) && json_array_size(value) == 0) {
            json_decref(out);
            return json_false();
        }
    }
    return out;
}

/* ---- $ref, allOf, const ---- */

/* Schemas that are in each other. */
struct chain {
    const json_t *schema;
    const struct chain *outer; /* or NULL */
    int depth;
};

static json_t *
flatten(struct schema *s, json_t *schema, const struct chain *outer);

/* *all and the other one. */
static void
add_schema(struct schema *s, json_t **all, json_t *schema,
           const struct chain *outer)
{
    json_t *more = flatten(s, schema, outer), *merged = NULL;

    if (more && *all && !s->failed)
        merged = merge(s, *all, more);
    json_decref(more);
    json_decref(*all);
    *all = merged;
}

static void
add_reference(struct schema *s, json_t **all, const json_t *ref,
              const struct chain *outer)
{
    char shown[SCHEMA_SHOWN];

    if (json_is_integer(ref))
        add_schema(s, all, s->targets[json_integer_value(ref)], outer);
    else
        sample_schema_refuse(s, "$ref: there is no %s in the schema",
                             sample_schema_show(shown, json_string_value(ref)));
}

static void
add_const(struct schema *s, json_t **all, json_t *value)
{
    json_t *one = json_pack("{s:[O]}", "enum", value);
    json_t *merged = *all && one ? merge(s, *all, one) : NULL;

    json_decref(*all);
    json_decref(one);
    *all = merged;
}

static void
check_chain(struct schema *s, const struct chain *c)
{
    if (c->depth == MAX_CHAIN)
        sample_schema_refuse(s, "more than %d $ref and allOf in each other",
                             MAX_CHAIN);
    for (const struct chain *o = c->outer; o; o = o->outer)
        if (o->schema == c->schema)
            sample_schema_refuse(s, "$ref or allOf leads back to itself");
}

static json_t *
flatten(struct schema *s, json_t *schema, const struct chain *outer)
{
    struct chain own = { schema, outer, outer ? outer->depth + 1 : 0 };
    json_t *out, *list, *v;

    if (json_is_boolean(schema))
        return json_incref(schema);
    if (!json_is_object(schema)) {
        sample_schema_refuse(s, "it is no schema");
        return NULL;
    }
    check_chain(s, &own);
    if (++s->n_merges == MAX_MERGES)
        sample_schema_refuse(s, "the schema is too large");
    if (s->failed)
        return NULL;
    out = sample_schema_own_words(s, schema);
    if ((v = json_object_get(schema, "const")))
        add_const(s, &out, v);
    if ((v = json_object_get(schema, "$ref")))
        add_reference(s, &out, v, &own);
    list = json_object_get(schema, "allOf");
    if (json_array_size(list) > MAX_TOGETHER)
        sample_schema_refuse(s, "allOf of more than %d schemas", MAX_TOGETHER);
    for (size_t i = 0; i < json_array_size(list) && !s->failed; i++)
        add_schema(s, &out, json_array_get(list, i), &own);
    return out;
}

json_t *
sample_schema_flatten(struct schema *s, json_t *schema)
{
    json_t *out = flatten(s, schema, NULL);

    if (!s->failed)
        return out;
    json_decref(out);
    return NULL;
}

/* ---- a value of an enum ---- */

static const char *
json_type_name(const json_t *v)
{
    if (core_json_large(v)) /* which have no fraction */
        return "integer";
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "object";
    case JSON_ARRAY:
        return "array";
    case JSON_STRING:
        return "string";
    case JSON_INTEGER:
        return "integer";
    case JSON_REAL:
        return json_real_value(v) == (double)(long long)json_real_value(v)
                   ? "integer"
                   : "number";
    case JSON_NULL:
        return "null";
    default:
        return "boolean";
    }
}

static long
count_characters(const char *p)
{
    long n = 0;

    for (; *p; p++)
        n += ((unsigned char)*p & 0xc0) != 0x80;
    return n;
}

static bool
is_within(const json_t *schema, const char *min, const char *max, double x)
{
    const json_t *low = json_object_get(schema, min);
    const json_t *high = json_object_get(schema, max);

    return (!low || x >= core_json_real(low)) &&
           (!high || x <= core_json_real(high));
}

static bool
is_between(const json_t *schema, double x)
{
    const json_t *low = json_object_get(schema, "exclusiveMinimum");
    const json_t *high = json_object_get(schema, "exclusiveMaximum");

    return is_within(schema, "minimum", "maximum", x) &&
           (!low || x > core_json_real(low)) &&
           (!high || x < core_json_real(high));
}

static bool
is_multiple(struct schema *s, const json_t *schema, double x)
{
    const json_t *of = json_object_get(schema, "multipleOf");
    int64_t p, q, v, w;

    if (!of)
        return true;
    if (x == 0)
        return true;
    if (!sample_schema_fraction(core_json_real(of), &p, &q) ||
        !sample_schema_fraction(fabs(x), &v, &w) || v > INT64_MAX / q) {
        sample_schema_refuse(s,
                             "enum or const with multipleOf: a number that is "
                             "not supported");
        return false;
    }
    return v * q % (w * p) == 0;
}

/* Refuses keywords of such values that would have to be looked into. */
static void
check_simple(struct schema *s, const json_t *schema, const json_t *value)
{
    static const char *const of_strings[] = { "pattern", NULL };
    static const char *const of_arrays[] = { "items", "prefixItems", NULL };
    static const char *const of_objects[] = { "properties", "required",
                                              "patternProperties",
                                              "additionalProperties", NULL };
    static const char *const nothing[] = { NULL };
    const char *const *words = json_is_string(value)    ? of_strings
                               : json_is_array(value)   ? of_arrays
                               : core_json_large(value) ? nothing
                               : json_is_object(value)  ? of_objects
                                                        : nothing;

    for (; *words; words++)
        if (json_object_get(schema, *words))
            sample_schema_refuse(s, "enum or const with %s is not supported",
                                 *words);
}

bool
sample_schema_fits(struct schema *s, const json_t *schema, const json_t *value)
{
    const json_t *types = json_object_get(schema, "type");

    if (types && !has_type(types, json_type_name(value)))
        return false;
    check_simple(s, schema, value);
    if (core_json_is_number(value))
        return is_between(schema, core_json_real(value)) &&
               is_multiple(s, schema, core_json_real(value));
    if (json_is_string(value))
        return is_within(schema, "minLength", "maxLength",
                         (double)count_characters(json_string_value(value)));
    if (json_is_array(value))
        return is_within(schema, "minItems", "maxItems",
                         (double)json_array_size(value));
    if (json_is_object(value))
        return is_within(schema, "minProperties", "maxProperties",
                         (double)json_object_size(value));
    return true;
}

#endif
