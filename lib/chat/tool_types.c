/* tool_types.c - which types of JSON an argument may have */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_types.h"

#include <string.h>

#include "chat/tool_form.h"

enum {
    SCHEMA_DEPTH = 8,
};

static unsigned
type_bit(const char *type)
{
    static const struct {
        const char *name;
        unsigned bit;
    } types[] = {
        { "string", TOOL_STRING },  { "number", TOOL_NUMBER },
        { "integer", TOOL_NUMBER }, { "boolean", TOOL_BOOLEAN },
        { "null", TOOL_NULL },      { "array", TOOL_ARRAY },
        { "object", TOOL_DICT },
    };

    for (size_t i = 0; type && i < sizeof(types) / sizeof(*types); i++)
        if (strcmp(type, types[i].name) == 0)
            return types[i].bit;
    return TOOL_ANY;
}

static unsigned
bit_of_value(const json_t *v)
{
    static const unsigned bits[] = {
        [JSON_OBJECT] = TOOL_DICT,   [JSON_ARRAY] = TOOL_ARRAY,
        [JSON_STRING] = TOOL_STRING, [JSON_INTEGER] = TOOL_NUMBER,
        [JSON_REAL] = TOOL_NUMBER,   [JSON_TRUE] = TOOL_BOOLEAN,
        [JSON_FALSE] = TOOL_BOOLEAN, [JSON_NULL] = TOOL_NULL,
    };

    return core_json_large(v) ? TOOL_NUMBER : bits[json_typeof(v)];
}

static unsigned
types_of_schema(const json_t *schema, int depth);

/* Types of any of the items, which are schemas, values or names of types. */
static unsigned
types_of_any(const json_t *list, int what, int depth)
{
    unsigned all = 0;
    size_t i;
    json_t *v;

    json_array_foreach((json_t *)list, i, v)
    {
        all |= what == 's'   ? types_of_schema(v, depth)
               : what == 'v' ? bit_of_value(v)
                             : type_bit(json_string_value(v));
    }
    return all ? all : TOOL_ANY;
}

static unsigned
types_of_schema(const json_t *schema, int depth)
{
    const json_t *v;

    if (depth == 0)
        return TOOL_ANY;
    if ((v = json_object_get(schema, "type")))
        return json_is_array(v) ? types_of_any(v, 't', 0)
                                : type_bit(json_string_value(v));
    if ((v = json_object_get(schema, "enum")))
        return types_of_any(v, 'v', 0);
    if ((v = json_object_get(schema, "const")))
        return bit_of_value(v);
    if ((v = json_object_get(schema, "anyOf")) ||
        (v = json_object_get(schema, "oneOf")))
        return types_of_any(v, 's', depth - 1);
    return TOOL_ANY;
}

unsigned
chat_tool_types(const json_t *schema)
{
    return types_of_schema(schema, SCHEMA_DEPTH);
}

static bool
is_called(const json_t *name, const char *s, size_t n)
{
    return json_is_string(name) && json_string_length(name) == n &&
           memcmp(json_string_value(name), s, n) == 0;
}

/* The tool of the name, or NULL. */
static const json_t *
tool_of(const json_t *tools, const char *name, size_t len)
{
    size_t i;
    json_t *tool;

    json_array_foreach((json_t *)tools, i, tool)
    {
        json_t *f = json_object_get(tool, "function");

        f = f ? f : tool;
        if (is_called(json_object_get(f, "name"), name, len))
            return f;
    }
    return NULL;
}

bool
chat_tool_is_there(const json_t *tools, const char *name, size_t len)
{
    return tool_of(tools, name, len) != NULL;
}

static json_t *
properties_of(const json_t *tool)
{
    return json_object_get(json_object_get(tool, "parameters"), "properties");
}

/* The schema of a property, or NULL. */
static const json_t *
property_of(const json_t *tool, const char *key, size_t len)
{
    const char *name;
    json_t *schema;

    json_object_foreach(properties_of(tool), name, schema)
    {
        if (strlen(name) == len && memcmp(name, key, len) == 0)
            return schema;
    }
    return NULL;
}

const json_t *
chat_tool_parameters(const json_t *tools, const char *tool_name,
                     size_t tool_name_len)
{
    return json_object_get(tool_of(tools, tool_name, tool_name_len),
                           "parameters");
}

unsigned
chat_tool_types_of(const json_t *tools, const char *tool_name,
                   size_t tool_name_len, const char *key, size_t len)
{
    const json_t *schema =
        property_of(tool_of(tools, tool_name, tool_name_len), key, len);

    return schema ? chat_tool_types(schema) : TOOL_ANY;
}

/* ---- schemas in schemas ---- */

/* The schema that a name of definitions, as "#/$defs/name", stands for. */
static const json_t *
definition(const json_t *root, const char *name)
{
    static const char *const keys[] = { "$defs", "definitions" };

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        size_t n = strlen(keys[i]);

        if (strncmp(name, "#/", 2) == 0 && strncmp(name + 2, keys[i], n) == 0 &&
            name[2 + n] == '/')
            return json_object_get(json_object_get(root, keys[i]),
                                   name + 3 + n);
    }
    return NULL;
}

const json_t *
chat_tool_referred(const json_t *root, const json_t *schema)
{
    for (int i = 0; i < SCHEMA_DEPTH; i++) {
        const char *name = json_string_value(json_object_get(schema, "$ref"));

        if (!name)
            return schema;
        schema = definition(root, name);
    }
    return NULL;
}

/* The first of a list of schemas that tells of members, or of items. */
static const json_t *
schema_with(const json_t *root, const json_t *list, const char *what)
{
    size_t i;
    json_t *one;

    json_array_foreach((json_t *)list, i, one)
    {
        const json_t *schema = chat_tool_referred(root, one);

        if (json_object_get(schema, what))
            return schema;
    }
    return NULL;
}

const json_t *
chat_tool_inner_schema(const json_t *root, const json_t *schema,
                       const char *key, size_t len)
{
    const char *what = key ? "properties" : "items", *name;
    const json_t *s = chat_tool_referred(root, schema), *other = NULL;
    json_t *inner, *member;

    if (s && !json_object_get(s, what))
        other = schema_with(root, json_object_get(s, "anyOf"), what);
    if (s && !json_object_get(s, what) && !other)
        other = schema_with(root, json_object_get(s, "oneOf"), what);
    inner = json_object_get(other ? other : s, what);
    if (!key)
        return chat_tool_referred(root, inner);
    json_object_foreach(inner, name, member)
    {
        if (strlen(name) == len && memcmp(name, key, len) == 0)
            return chat_tool_referred(root, member);
    }
    return NULL;
}

bool
chat_tool_has_argument(const json_t *tools, const char *tool_name,
                       size_t tool_name_len, const char *key, size_t len)
{
    const json_t *tool = tool_of(tools, tool_name, tool_name_len);

    return json_object_size(properties_of(tool)) == 0 ||
           property_of(tool, key, len);
}

unsigned
chat_tool_type_by_look(const char *s, size_t n)
{
    char c = n ? *s : '\0';

    if (c == '{')
        return TOOL_DICT;
    if (c == '[' || c == '(')
        return TOOL_ARRAY;
    if (c == 't' || c == 'f' || c == 'T' || c == 'F')
        return TOOL_BOOLEAN;
    if (c == 'n' || c == 'N')
        return TOOL_NULL;
    return c == '-' || (c >= '0' && c <= '9') ? TOOL_NUMBER : TOOL_STRING;
}

#endif
