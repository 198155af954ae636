/* tool_nested.c - grammars of arguments whose values stand between tags of
 * their keys, as do values in them */
#include "engine/tool_writer.h"

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/tool_types.h"
#include "core/mem.h"

enum {
    ELEMENTS = 4096, /* of a tool, at most */
};

/* A value between its tags: rule "eI-N" of tool I. Schemas that refer to
 * themselves have one for each key, too. */
struct element {
    const char *key;
    const json_t *schema; /* or NULL: any */
};

struct nested_writer {
    struct tool_writer *w;
    const char *tool;
    const json_t *root;
    struct element *elements;
    size_t n, cap;
};

/* ---- elements ---- */

/* The number of an element's rule. */
static size_t
element_of(struct nested_writer *x, const char *key, const json_t *schema)
{
    size_t i = 0;

    while (i < x->n && (x->elements[i].schema != schema ||
                        strcmp(x->elements[i].key, key) != 0))
        i++;
    if (i < x->n)
        return i;
    if (x->n == ELEMENTS) {
        engine_tool_error(x->w, GG_ERR_UNSUPPORTED, x->tool,
                          "its schema has too many values in values");
        return 0;
    }
    if (!mem_grow(&x->elements, &x->cap, x->n + 1, sizeof(*x->elements))) {
        x->w->t.failed = true;
        return 0;
    }
    x->elements[x->n] = (struct element){ key, schema };
    return x->n++;
}

static void
put_element(struct nested_writer *x, const char *key, const json_t *schema)
{
    size_t i = element_of(x, key, chat_tool_referred(x->root, schema));

    engine_tool_put_name(x->w, " e%zu-%zu", x->w->tool, i);
}

/* ---- values ---- */

/* Text, up to what closes a value: where that is no token of its own, not to
 * where its first two characters stand. */
static void
put_characters(struct nested_writer *x, long least, long most)
{
    static const char any[] = " [^\\x00-\\x08\\x0b-\\x1f\\x7f";
    const char *closing = x->w->f->closing;
    bool control = engine_tool_is_control(x->w, closing);
    unsigned char a = (unsigned char)closing[0], b = (unsigned char)closing[1];

    if (control || least > 0 || most >= 0) {
        engine_tool_put(x->w, any);
        if (!control)
            engine_tool_put_name(x->w, "\\x%02x", a);
        engine_tool_put_name(x->w, "]{%ld,", least);
        if (most >= 0)
            engine_tool_put_name(x->w, "%ld", most);
        engine_tool_put(x->w, "}");
        return;
    }
    engine_tool_put(x->w, " (");
    engine_tool_put(x->w, any);
    engine_tool_put_name(x->w, "\\x%02x] | \"\\x%02x\"+", a, a);
    engine_tool_put(x->w, any);
    engine_tool_put_name(x->w, "\\x%02x\\x%02x])* \"\\x%02x\"*", a, b, a);
}

static void
put_plain_text(struct nested_writer *x, const json_t *schema)
{
    if (json_object_get(schema, "pattern"))
        engine_tool_error(
            x->w, GG_ERR_UNSUPPORTED, x->tool,
            "a pattern of a text that its calls write without quotation "
            "marks");
    put_characters(x, engine_tool_limit(schema, "minLength", 0),
                   engine_tool_limit(schema, "maxLength", -1));
}

/* One of the values of an enum; those that are no text are JSON. */
static void
put_exact(struct nested_writer *x, const json_t *value)
{
    char *json =
        json_is_string(value) ? NULL : core_json_dump(value, JSON_ENCODE_ANY);
    const char *s = json ? json : json_string_value(value);

    if (!s)
        x->w->t.failed = true;
    else if (!*s)
        engine_tool_put(x->w, " \"\"");
    else
        engine_tool_put_terminal(x->w, s, strlen(s));
    free(json);
}

static void
put_enum(struct nested_writer *x, const json_t *values)
{
    bool some = false;
    size_t i;
    json_t *value;

    engine_tool_put(x->w, " (");
    json_array_foreach((json_t *)values, i, value)
    {
        const char *s = json_string_value(value);

        if (json_is_object(value) || json_is_array(value) ||
            json_is_null(value) || (s && strstr(s, x->w->f->closing)))
            continue;
        engine_tool_put(x->w, some ? " |" : "");
        put_exact(x, value);
        some = true;
    }
    engine_tool_put(x->w, " )");
    if (!some)
        engine_tool_error(
            x->w, GG_ERR_UNSUPPORTED, x->tool,
            "none of the texts of an enum can be written in its calls");
}

/* Members in the schema's order; one that may be null may be missing. */
static void
put_members(struct nested_writer *x, const json_t *schema)
{
    json_t *properties = json_object_get(schema, "properties"), *property;
    const char *key;

    if (json_object_size(properties) == 0)
        engine_tool_put_name(x->w, " any%zu*", x->w->tool);
    json_object_foreach(properties, key, property)
    {
        const json_t *inner = chat_tool_referred(x->root, property);
        unsigned types = inner ? chat_tool_types(inner) : TOOL_ANY;

        put_element(x, key, property);
        if (!engine_tool_is_required(schema, key) ||
            (types != TOOL_ANY && types & TOOL_NULL))
            engine_tool_put(x->w, "?");
    }
}

static void
put_items(struct nested_writer *x, const json_t *schema)
{
    long least = engine_tool_limit(schema, "minItems", 0);
    long most = engine_tool_limit(schema, "maxItems", -1);

    put_element(x, x->w->f->item, json_object_get(schema, "items"));
    engine_tool_put_name(x->w, "{%ld,", least);
    if (most >= 0)
        engine_tool_put_name(x->w, "%ld", most);
    engine_tool_put(x->w, "}");
}

/* Rules of numbers and truths are written after the element's. */
static void
put_scalar(struct nested_writer *x, size_t i, unsigned type)
{
    engine_tool_put_name(x->w, " t%zue%zu%c-root", x->w->tool, i,
                         type == TOOL_NUMBER ? 'n' : 'b');
}

static const char *
name_of_number(const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type"), *one;
    const char *name = json_string_value(type);
    size_t i;

    json_array_foreach((json_t *)type, i, one)
    {
        const char *s = json_string_value(one);

        if (s && (strcmp(s, "number") == 0 || !name))
            name = strcmp(s, "number") == 0 || strcmp(s, "integer") == 0 ? s
                                                                         : name;
    }
    return name ? name : "number";
}

static void
put_scalar_rules(struct nested_writer *x, size_t i, unsigned type)
{
    json_t *schema = json_copy((json_t *)x->elements[i].schema);
    const char *name = type == TOOL_NUMBER ? name_of_number(schema) : "boolean";
    char prefix[60];

    snprintf(prefix, sizeof(prefix), "t%zue%zu%c-", x->w->tool, i,
             type == TOOL_NUMBER ? 'n' : 'b');
    if (schema && json_object_set_new(schema, "type", json_string(name)) == 0)
        engine_tool_put_schema(x->w, x->tool, schema, prefix);
    else
        x->w->t.failed = true;
    json_decref(schema);
}

/* A value of any of the types. */
static void
put_types(struct nested_writer *x, size_t i, const json_t *schema,
          unsigned types)
{
    static const unsigned order[] = { TOOL_STRING, TOOL_NUMBER, TOOL_BOOLEAN,
                                      TOOL_ARRAY, TOOL_DICT };
    bool some = false;

    engine_tool_put(x->w, " (");
    for (size_t j = 0; j < sizeof(order) / sizeof(*order); j++) {
        if (!(types & order[j]))
            continue;
        engine_tool_put(x->w, some ? " |" : "");
        some = true;
        if (order[j] == TOOL_STRING)
            put_plain_text(x, schema);
        else if (order[j] == TOOL_ARRAY)
            put_items(x, schema);
        else if (order[j] == TOOL_DICT)
            put_members(x, schema);
        else
            put_scalar(x, i, order[j]);
    }
    engine_tool_put(x->w, some ? " )" : " \"\" )");
}

/* Schemas of which any may be: the same key, between the same tags. */
static const json_t *
listed_schemas(const json_t *schema)
{
    const json_t *list = json_object_get(schema, "anyOf");

    return list ? list : json_object_get(schema, "oneOf");
}

static unsigned
types_of_element(const json_t *schema)
{
    return schema ? chat_tool_types(schema) : TOOL_ANY;
}

/* Writes what stands between the tags of element i. */
static void
put_between_tags(struct nested_writer *x, size_t i)
{
    const json_t *schema = x->elements[i].schema;
    const json_t *values = json_object_get(schema, "enum");
    const json_t *one = json_object_get(schema, "const");
    unsigned types = types_of_element(schema);

    if (values) {
        put_enum(x, values);
    } else if (one) {
        put_exact(x, one);
    } else if (types == TOOL_ANY) {
        engine_tool_put_name(x->w, " value%zu", x->w->tool);
    } else {
        put_types(x, i, schema, types);
    }
}

static void
put_tags(struct nested_writer *x, const char *key, const char *before,
         const char *after)
{
    engine_tool_put_text(x->w, before);
    if (key)
        engine_tool_put_terminal(x->w, key, strlen(key));
    else
        engine_tool_put(x->w, " [a-zA-Z0-9_.-]+");
    engine_tool_put_text(x->w, after);
}

/* Rule "eI-i", or those of its alternatives. */
static void
put_element_rules(struct nested_writer *x, size_t i)
{
    const struct tool_form *f = x->w->f;
    const char *key = x->elements[i].key;
    const json_t *schema = x->elements[i].schema,
                 *list = listed_schemas(schema);
    unsigned types = types_of_element(schema);
    bool some = false;
    size_t j;
    json_t *one;

    engine_tool_put_name(x->w, "e%zu-%zu ::=", x->w->tool, i);
    json_array_foreach((json_t *)list, j, one)
    {
        if (types_of_element(one) == TOOL_NULL && json_array_size(list) > 1)
            continue; /* the key may be missing */
        engine_tool_put(x->w, some ? " |" : "");
        some = true;
        put_element(x, key, one);
    }
    if (!json_array_size(list)) {
        put_tags(x, key, f->next, f->variants[0].before);
        put_between_tags(x, i);
        put_tags(x, key, f->closing, f->closed);
    }
    engine_tool_put(x->w, "\n");
    if (json_array_size(list) || json_object_get(schema, "enum") ||
        json_object_get(schema, "const") || types == TOOL_ANY)
        return;
    if (types & TOOL_NUMBER)
        put_scalar_rules(x, i, TOOL_NUMBER);
    if (types & TOOL_BOOLEAN)
        put_scalar_rules(x, i, TOOL_BOOLEAN);
}

/* Values that no schema tells of: "valueI", and "anyI" with tags of any key. */
static void
put_any_rules(struct nested_writer *x)
{
    const struct tool_form *f = x->w->f;

    engine_tool_put_name(x->w, "value%zu ::=", x->w->tool);
    put_characters(x, 0, -1);
    engine_tool_put_name(x->w, " | any%zu*\nany%zu ::=", x->w->tool,
                         x->w->tool);
    put_tags(x, NULL, f->next, f->variants[0].before);
    engine_tool_put_name(x->w, " value%zu", x->w->tool);
    put_tags(x, NULL, f->closing, f->closed);
    engine_tool_put(x->w, "\n");
}

void
engine_tool_put_nested(struct tool_writer *w, const char *tool,
                       const json_t *parameters)
{
    struct nested_writer x = { .w = w, .tool = tool, .root = parameters };
    const char *first = w->f->first;

    engine_tool_put_name(w, "none%zu-0 ::=", w->tool);
    engine_tool_put_literal(w, first, strlen(first) - strlen(w->f->next));
    if (json_object_size(json_object_get(parameters, "properties")))
        put_members(&x, parameters);
    engine_tool_put_text(w, w->f->close);
    engine_tool_put(w, "\n");
    for (size_t i = 0; i < x.n && w->st == GG_OK && !w->t.failed; i++)
        put_element_rules(&x, i);
    put_any_rules(&x);
    mem_free(x.elements);
}

#endif
