/* words.c - the keywords of JSON Schema, drafts 4 to 2020-12
 *
 * What a value must be is the specifications'. What is not in the table says
 * nothing, as there: titles, examples, a program's own words. */
#include <config.h>

#ifdef HAVE_JANSSON

#include "sample/schema/parts.h"

enum value {
    ANY,
    BOOLEAN,
    STRING,
    COUNT,    /* a whole number of 0 or more */
    NUMBER,   /* a finite one */
    POSITIVE, /* one above 0 */
    BOUND,    /* a number; in draft 4 a boolean that goes with another */
    LIST,
    NAMES, /* a list of strings */
    TYPE,
    SCHEMA,
    SCHEMAS, /* a list of some */
    ITEMS,   /* a schema, or such a list */
    BY_NAME, /* schemas in an object */
    NAMES_BY_NAME,
    EITHER_BY_NAME, /* a schema or names */
};

enum use {
    KEPT,    /* or refused by the code for its type, with a reason */
    PLACE,   /* where something is; says nothing of values */
    REFUSED, /* unless it limits nothing */
};

static const struct word {
    const char *key;
    enum value value;
    enum use use;
    const char *type; /* that it is about; first of all counts */
} words[] = {
    { "properties", BY_NAME, KEPT, "object" },
    { "patternProperties", BY_NAME, KEPT, "object" },
    { "additionalProperties", SCHEMA, KEPT, "object" },
    { "required", NAMES, KEPT, "object" },
    { "minProperties", COUNT, KEPT, "object" },
    { "maxProperties", COUNT, KEPT, "object" },
    { "propertyNames", SCHEMA, REFUSED, "object" },
    { "dependencies", EITHER_BY_NAME, REFUSED, "object" },
    { "dependentRequired", NAMES_BY_NAME, REFUSED, "object" },
    { "dependentSchemas", BY_NAME, REFUSED, "object" },
    { "unevaluatedProperties", SCHEMA, REFUSED, "object" },
    { "items", ITEMS, KEPT, "array" },
    { "prefixItems", SCHEMAS, KEPT, "array" },
    { "additionalItems", SCHEMA, KEPT, NULL },
    { "minItems", COUNT, KEPT, "array" },
    { "maxItems", COUNT, KEPT, "array" },
    { "uniqueItems", BOOLEAN, REFUSED, "array" },
    { "contains", SCHEMA, REFUSED, "array" },
    { "minContains", COUNT, REFUSED, NULL },
    { "maxContains", COUNT, REFUSED, NULL },
    { "unevaluatedItems", SCHEMA, REFUSED, "array" },
    { "minLength", COUNT, KEPT, "string" },
    { "maxLength", COUNT, KEPT, "string" },
    { "pattern", STRING, KEPT, "string" },
    { "format", STRING, KEPT, "string" },
    { "minimum", NUMBER, KEPT, "number" },
    { "maximum", NUMBER, KEPT, "number" },
    { "exclusiveMinimum", BOUND, KEPT, "number" },
    { "exclusiveMaximum", BOUND, KEPT, "number" },
    { "multipleOf", POSITIVE, KEPT, "number" },
    { "type", TYPE, KEPT, NULL },
    { "enum", LIST, KEPT, NULL },
    { "const", ANY, KEPT, NULL },
    { "allOf", SCHEMAS, KEPT, NULL },
    { "anyOf", SCHEMAS, KEPT, NULL },
    { "oneOf", SCHEMAS, KEPT, NULL },
    { "not", SCHEMA, REFUSED, NULL },
    { "if", SCHEMA, REFUSED, NULL },
    { "then", SCHEMA, REFUSED, NULL },
    { "else", SCHEMA, REFUSED, NULL },
    { "$ref", STRING, KEPT, NULL },
    { "$dynamicRef", STRING, REFUSED, NULL },
    { "$recursiveRef", STRING, REFUSED, NULL },
    { "$id", STRING, PLACE, NULL },
    { "$anchor", STRING, PLACE, NULL },
    { "$dynamicAnchor", STRING, PLACE, NULL },
    { "$recursiveAnchor", BOOLEAN, PLACE, NULL },
    { "$schema", STRING, PLACE, NULL },
    { "$defs", BY_NAME, PLACE, NULL },
    { "definitions", BY_NAME, PLACE, NULL },
};

enum {
    N_WORDS = sizeof(words) / sizeof(words[0]),
};

/* ---- types of values ---- */

static bool
is_schema(const json_t *v)
{
    return json_is_object(v) || json_is_boolean(v);
}

static bool
is_string(const json_t *v)
{
    return json_is_string(v);
}

static bool
is_list(const json_t *v, bool (*is_element)(const json_t *))
{
    for (size_t i = 0; i < json_array_size(v); i++)
        if (!is_element(json_array_get(v, i)))
            return false;
    return json_is_array(v);
}

static bool
is_schemas(const json_t *v)
{
    return is_list(v, is_schema) && json_array_size(v) > 0;
}

static bool
is_names(const json_t *v)
{
    return is_list(v, is_string);
}

static bool
is_schema_or_names(const json_t *v)
{
    return is_schema(v) || is_names(v);
}

static bool
is_type(const json_t *v)
{
    static const char *const types[] = { "array",  "boolean", "integer", "null",
                                         "number", "object",  "string" };

    for (size_t i = 0; json_is_string(v) && i < 7; i++)
        if (!strcmp(json_string_value(v), types[i]))
            return true;
    return false;
}

static bool
is_types(const json_t *v)
{
    return is_type(v) || (is_list(v, is_type) && json_array_size(v) > 0);
}

static bool
by_name(const json_t *v, bool (*is_element)(const json_t *))
{
    const char *name;
    json_t *element;

    json_object_foreach((json_t *)v, name, element)
    {
        if (!is_element(element))
            return false;
    }
    return json_is_object(v);
}

static bool
is_count(const json_t *v)
{
    double x = core_json_real(v);

    return json_is_integer(v) ? json_integer_value(v) >= 0
                              : core_json_is_number(v) && x >= 0 &&
                                    (x >= 1e15 || x == (double)(long long)x);
}

static const char *
expected(const json_t *v, enum value value)
{
    switch (value) {
    case BOOLEAN:
        return json_is_boolean(v) ? NULL : "neither true nor false";
    case STRING:
        return json_is_string(v) ? NULL : "no string";
    case COUNT:
        return is_count(v) ? NULL : "no whole number of 0 or more";
    case NUMBER:
        return core_json_is_number(v) ? NULL : "no number";
    case POSITIVE:
        return core_json_real(v) > 0 ? NULL : "no number above 0";
    case BOUND:
        return core_json_is_number(v) || json_is_boolean(v) ? NULL
                                                            : "no number";
    case LIST:
        return json_is_array(v) ? NULL : "no list of values";
    case NAMES:
        return is_names(v) ? NULL : "no list of strings";
    case TYPE:
        return is_types(v) ? NULL : "none of JSON's types, nor a list of them";
    case SCHEMA:
        return is_schema(v) ? NULL : "no schema";
    case SCHEMAS:
        return is_schemas(v) ? NULL : "no list of one schema or more";
    case ITEMS:
        return is_schema(v) || is_schemas(v) ? NULL
                                             : "no schema, nor a list of some";
    case BY_NAME:
        return by_name(v, is_schema) ? NULL : "no object of schemas";
    case NAMES_BY_NAME:
        return by_name(v, is_names) ? NULL : "no object of lists of strings";
    case EITHER_BY_NAME:
        return by_name(v, is_schema_or_names)
                   ? NULL
                   : "no object of schemas or lists of strings";
    default:
        return NULL;
    }
}

void
sample_schema_check_words(struct schema *s, const json_t *schema)
{
    for (size_t i = 0; i < N_WORDS; i++) {
        const json_t *v = json_object_get(schema, words[i].key);
        const char *wrong = v ? expected(v, words[i].value) : NULL;

        if (wrong)
            sample_schema_refuse(s, "%s is %s", words[i].key, wrong);
    }
}

/* ---- what stands in a schema ---- */

struct visit {
    void (*call)(struct schema *s, json_t *schema, void *data);
    void *data;
};

static void
visit_one(struct schema *s, const struct visit *v, json_t *schema,
          const char *key, const char *name)
{
    size_t len = sample_schema_step(s, key, name);

    if (json_is_object(schema) && !s->failed)
        v->call(s, schema, v->data);
    if (!s->failed)
        s->path[len] = '\0';
}

static void
visit_list(struct schema *s, const struct visit *v, const json_t *list,
           const char *key)
{
    char step[24];

    for (size_t i = 0; i < json_array_size(list); i++) {
        snprintf(step, sizeof(step), "%zu", i);
        visit_one(s, v, json_array_get(list, i), key, step);
    }
}

static void
visit_named(struct schema *s, const struct visit *v, json_t *object,
            const char *key)
{
    const char *name;
    json_t *schema;

    json_object_foreach(object, name, schema)
    {
        visit_one(s, v, schema, key, name);
    }
}

void
sample_schema_each(struct schema *s, json_t *schema,
                   void (*call)(struct schema *s, json_t *schema, void *data),
                   void *data)
{
    struct visit visit = { call, data };

    for (size_t i = 0; i < N_WORDS && !s->failed; i++) {
        json_t *v = json_object_get(schema, words[i].key);
        enum value value = words[i].value;

        if (value == SCHEMA || (value == ITEMS && json_is_object(v)))
            visit_one(s, &visit, v, words[i].key, NULL);
        else if (value == SCHEMAS || value == ITEMS)
            visit_list(s, &visit, v, words[i].key);
        else if (value == BY_NAME || value == EITHER_BY_NAME)
            visit_named(s, &visit, v, words[i].key);
    }
}

/* ---- what limits nothing ---- */

static bool
is_everything(const json_t *schema)
{
    return json_is_true(schema) ||
           (json_is_object(schema) && !json_object_size(schema));
}

/* Whether a keyword that is refused limits nothing. */
static bool
limits_nothing(const json_t *schema, const char *key, const json_t *v)
{
    static const struct {
        const char *key, *without[2];
    } alone[] = {
        { "if", { "then", "else" } },
        { "then", { "if", "if" } },
        { "else", { "if", "if" } },
        { "minContains", { "contains", "contains" } },
        { "maxContains", { "contains", "contains" } },
    };

    for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
        if (!strcmp(key, alone[i].key))
            return !json_object_get(schema, alone[i].without[0]) &&
                   !json_object_get(schema, alone[i].without[1]);
    if (!strcmp(key, "not") || !strcmp(key, "uniqueItems"))
        return json_is_false(v);
    return strcmp(key, "contains") && is_everything(v);
}

/* ---- the words of older drafts ---- */

/* Items that each have a schema were `items` and `additionalItems`. */
static void
rename_items(struct schema *s, json_t *own)
{
    json_t *items = json_object_get(own, "items");
    json_t *more = json_object_get(own, "additionalItems");

    if (json_is_array(items) && json_object_get(own, "prefixItems"))
        sample_schema_refuse(s, "items as a list with prefixItems");
    else if (json_is_array(items)) {
        json_object_set(own, "prefixItems", items);
        if (more)
            json_object_set(own, "items", more);
        else
            json_object_del(own, "items");
    }
    json_object_del(own, "additionalItems");
}

/* A boolean said that the other limit is not allowed itself. */
static void
rename_limit(struct schema *s, json_t *own, const char *exclusive,
             const char *inclusive)
{
    json_t *how = json_object_get(own, exclusive);
    json_t *limit = json_object_get(own, inclusive);

    if (!json_is_boolean(how))
        return;
    if (!limit)
        sample_schema_refuse(s, "%s is no number, and there is no %s",
                             exclusive, inclusive);
    else if (json_is_true(how)) {
        json_object_set(own, exclusive, limit);
        json_object_del(own, inclusive);
    } else
        json_object_del(own, exclusive);
}

json_t *
sample_schema_own_words(struct schema *s, const json_t *schema)
{
    static const char *const elsewhere[] = { "$ref", "allOf", "const" };
    json_t *out = json_object();

    for (size_t i = 0; i < N_WORDS; i++) {
        const struct word *w = &words[i];
        json_t *v = json_object_get(schema, w->key);

        if (v && w->use != PLACE &&
            !(w->use == REFUSED && limits_nothing(schema, w->key, v)))
            json_object_set(out, w->key, v);
    }
    for (size_t i = 0; i < 3; i++)
        json_object_del(out, elsewhere[i]);
    rename_items(s, out);
    rename_limit(s, out, "exclusiveMinimum", "minimum");
    rename_limit(s, out, "exclusiveMaximum", "maximum");
    return out;
}

/* ---- what is made of them ---- */

void
sample_schema_check_supported(struct schema *s, const json_t *schema)
{
    for (size_t i = 0; i < N_WORDS; i++)
        if (words[i].use == REFUSED && json_object_get(schema, words[i].key))
            sample_schema_refuse(s, "%s is not supported", words[i].key);
}

const char *
sample_schema_guess_type(const json_t *schema)
{
    for (size_t i = 0; i < N_WORDS; i++)
        if (words[i].type && json_object_get(schema, words[i].key))
            return words[i].type;
    return NULL;
}

#endif
