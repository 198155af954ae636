/* schema.c - a JSON schema becomes a grammar for what it describes */
#include <config.h>

#include "common/schema.h"

#include <stdarg.h>
#include <stdio.h>

#ifdef HAVE_JANSSON

#include <jansson.h>

enum {
    MAX_DEPTH = 64,
    MAX_RULES = 4000,
    MAX_LENGTH = 2000, /* of what is counted: items, characters */
};

/* A part of the schema whose rule has been begun. */
struct known {
    const json_t *schema;
    int rule;
};

struct schema {
    json_t *root;
    struct buffer *out;
    struct known *known;
    size_t n_known, cap_known;
    int n_rules, depth;
    char path[300]; /* of what is looked at: "#/properties/name" */
    bool failed;
    struct gg_error *why;
};

/* What every grammar begins with. */
static const char basis[] =
    "root ::= r0\n"
    "blank ::= \" \"?\n"
    "character ::= [^\"\\\\\\x00-\\x1f\\x7f] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" code)\n"
    "code ::= [0-9a-ce-f] [0-9a-f]{3} | \"d\" [0-7] [0-9a-f]{2}\n"
    "string ::= \"\\\"\" character* \"\\\"\"\n"
    "integer ::= \"-\"? (\"0\" | [1-9] [0-9]{0,17})\n"
    "number ::= \"-\"? (\"0\" | [1-9] [0-9]{0,17}) (\".\" [0-9]{1,17})? "
    "([eE] [-+]? [0-9]{1,2})?\n"
    "boolean ::= \"true\" | \"false\"\n"
    "null ::= \"null\"\n"
    "member ::= string \":\" blank value\n"
    "object ::= \"{\" (member (\",\" blank member)*)? \"}\"\n"
    "array ::= \"[\" (value (\",\" blank value)*)? \"]\"\n"
    "value ::= object | array | string | number | boolean | null\n";

/* ---- words --------------------------------------------------------------- */

CLI_PRINTF(2, 3)
static void
refuse(struct schema *s, const char *fmt, ...)
{
    char what[160], shown[200];
    va_list ap;

    if (s->failed)
        return;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    gg_escape(shown, sizeof(shown), s->path, strlen(s->path));
    snprintf(s->why->message, sizeof(s->why->message), "%s: %s", shown, what);
    s->failed = true;
}

/* No more than 200 bytes. */
CLI_PRINTF(2, 3)
static void
add(struct buffer *b, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    buffer_add(b, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* text[0..len) as a string of the grammar. */
static void
add_literal(struct buffer *b, const char *text, size_t len)
{
    buffer_add(b, "\"", 1);
    for (size_t i = 0; i < len; i++)
        if (text[i] == '"' || text[i] == '\\')
            add(b, "\\%c", text[i]);
        else if ((unsigned char)text[i] < 0x20)
            add(b, "\\x%02x", (unsigned)text[i]);
        else
            buffer_add(b, text + i, 1);
    buffer_add(b, "\"", 1);
}

/* The value as it is written. */
static void
add_value(struct schema *s, struct buffer *b, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    if (text)
        add_literal(b, text, strlen(text));
    else
        refuse(s, "a value that cannot be written");
    free(text);
}

/* A rule's body is made apart, for rules within it come before. */
static void
put_rule(struct schema *s, int rule, const struct buffer *body)
{
    add(s->out, "r%d ::= ", rule);
    buffer_add(s->out, body->p, body->len);
    add(s->out, "\n");
}

static int
new_rule(struct schema *s)
{
    if (s->n_rules == MAX_RULES)
        refuse(s, "the schema is too large");
    return s->n_rules++;
}

/* ---- the parts ----------------------------------------------------------- */

static int
rule_of(struct schema *s, const json_t *schema);

/* The same a step down the path. */
static int
rule_at(struct schema *s, const json_t *schema, const char *step,
        const char *name)
{
    size_t len = strlen(s->path);
    int rule;

    snprintf(s->path + len, sizeof(s->path) - len, "/%.60s%s%.60s", step,
             name ? "/" : "", name ? name : "");
    rule = rule_of(s, schema);
    if (!s->failed)
        s->path[len] = '\0';
    return rule;
}

/* The value of a limit; `other` where there is none. */
static long
limit_of(struct schema *s, const json_t *schema, const char *key, long other)
{
    const json_t *v = json_object_get(schema, key);
    double x = v ? json_number_value(v) : 0;

    if (!v)
        return other;
    if (!json_is_number(v) || x < 0 || x > MAX_LENGTH || x != (double)(long)x)
        refuse(s, "%s is not in 0..%d", key, MAX_LENGTH);
    return (long)x;
}

/* {m,n}, {m,} or * */
static void
add_count(struct buffer *b, long min, long max)
{
    if (max >= 0)
        add(b, "{%ld,%ld}", min, max);
    else if (min > 0)
        add(b, "{%ld,}", min);
    else
        add(b, "*");
}

static void
add_string(struct schema *s, struct buffer *b, const json_t *schema)
{
    static const struct {
        const char *name, *body;
    } formats[] = {
/* No month has fewer days than 28. */
#define DATE "[0-9]{4} \"-\" (\"0\" [1-9] | \"1\" [0-2]) \"-\" " \
             "(\"0\" [1-9] | \"1\" [0-9] | \"2\" [0-8])"
#define TIME "([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9] \":\" [0-5] [0-9] " \
             "(\".\" [0-9]{1,9})? (\"Z\" | [+-] ([01] [0-9] | \"2\" [0-3]) " \
             "\":\" [0-5] [0-9])"
        { "date", DATE },
        { "time", TIME },
        { "date-time", DATE " \"T\" " TIME },
        { "uuid", "[0-9a-f]{8} (\"-\" [0-9a-f]{4}){3} \"-\" [0-9a-f]{12}" },
    };
    const char *format = json_string_value(json_object_get(schema, "format"));
    long min = limit_of(s, schema, "minLength", 0);
    long max = limit_of(s, schema, "maxLength", -1);

    if (max >= 0 && max < min)
        refuse(s, "maxLength is below minLength");
    add(b, "\"\\\"\" ");
    for (size_t i = 0; format && i < sizeof(formats) / sizeof(formats[0]); i++)
        if (!strcmp(format, formats[i].name)) {
            if (min > 0 || max >= 0)
                refuse(s, "a length beside the format %s", formats[i].name);
            buffer_add(b, formats[i].body, strlen(formats[i].body));
            format = "";
        }
    if (!format || *format) { /* others say nothing that could be kept to */
        add(b, "character");
        add_count(b, min, max);
    }
    add(b, " \"\\\"\"");
}

/* a b b b, or nothing: items of an array, with commas between them. */
static void
add_items(struct buffer *b, int item, long min, long max)
{
    if (max == 0)
        return;
    add(b, min > 0 ? " r%d (\",\" blank r%d)" : " (r%d (\",\" blank r%d)", item,
        item);
    add_count(b, min > 0 ? min - 1 : 0, max > 0 ? max - 1 : -1);
    if (min == 0)
        add(b, ")?");
}

static void
add_array(struct schema *s, struct buffer *b, const json_t *schema)
{
    const json_t *items = json_object_get(schema, "items");
    const json_t *first = json_object_get(schema, "prefixItems");
    long min = limit_of(s, schema, "minItems", 0);
    long max = limit_of(s, schema, "maxItems", -1);
    size_t n = json_array_size(first);
    char step[24];

    if (max >= 0 && max < min)
        refuse(s, "maxItems is below minItems");
    add(b, "\"[\"");
    if (first) { /* all of them, and nothing behind them */
        if (n == 0 || min > (long)n || (max >= 0 && max < (long)n))
            refuse(s, "prefixItems that do not go with minItems or maxItems");
        for (size_t i = 0; i < n; i++) {
            snprintf(step, sizeof(step), "%zu", i);
            add(b, "%s r%d", i ? " \",\" blank" : "",
                rule_at(s, json_array_get(first, i), "prefixItems", step));
        }
    } else {
        add_items(b, rule_at(s, items ? items : json_true(), "items", NULL),
                  min, max);
    }
    add(b, " \"]\"");
}

static bool
is_required(const json_t *schema, const char *name)
{
    const json_t *list = json_object_get(schema, "required");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (!strcmp(json_string_value(json_array_get(list, i))
                        ? json_string_value(json_array_get(list, i))
                        : "",
                    name))
            return true;
    return false;
}

/* "name":value */
static void
add_member(struct schema *s, struct buffer *b, const char *name, int rule)
{
    json_t *key = json_string(name);

    add_value(s, b, key);
    add(b, " \":\" blank r%d", rule);
    json_decref(key);
}

static void
check_required(struct schema *s, const json_t *schema)
{
    const json_t *list = json_object_get(schema, "required");
    const json_t *properties = json_object_get(schema, "properties");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));

        if (!name || !json_object_get(properties, name))
            refuse(s, "required: %.60s is none of the properties",
                   name ? name : "a name that is no string");
    }
}

/* Two rules a member: what can follow where none has been written yet, and
 * behind a comma. The last two are of nothing. */
static void
add_object(struct schema *s, struct buffer *b, const json_t *schema)
{
    json_t *properties = json_object_get(schema, "properties");
    int n = (int)json_object_size(properties), first, i = 0;
    const char *name;
    json_t *value;

    check_required(s, schema);
    if (n == 0) {
        value = json_object_get(schema, "additionalProperties");
        if (json_is_false(value))
            add(b, "\"{}\"");
        else if (json_is_object(value)) {
            i = rule_at(s, value, "additionalProperties", NULL);
            add(b, "\"{\" (string \":\" blank r%d (\",\" blank string \":\" "
                   "blank r%d)*)? \"}\"", i, i);
        } else
            add(b, "object");
        return;
    }
    if (s->n_rules > MAX_RULES - 2 * n - 2) {
        refuse(s, "the schema is too large");
        return;
    }
    first = s->n_rules;
    s->n_rules += 2 * n + 2;
    json_object_foreach(properties, name, value) {
        const char *maybe = is_required(schema, name) ? NULL : " | ";
        int rule = rule_at(s, value, "properties", name);

        for (int behind = 0; behind < 2 && !s->failed; behind++) {
            struct buffer body = { 0 };

            add(&body, behind ? "\",\" blank " : "");
            add_member(s, &body, name, rule);
            add(&body, " r%d", first + 2 * (i + 1) + 1);
            if (maybe)
                add(&body, "%sr%d", maybe, first + 2 * (i + 1) + behind);
            put_rule(s, first + 2 * i + behind, &body);
            buffer_clear(&body);
        }
        i++;
    }
    add(s->out, "r%d ::= \"\"\nr%d ::= \"\"\n", first + 2 * n,
        first + 2 * n + 1);
    add(b, "\"{\" r%d \"}\"", first);
}

static void
add_type(struct schema *s, struct buffer *b, const json_t *schema,
         const char *type)
{
    static const char *const plain[] = { "number", "integer", "boolean",
                                         "null" };

    if (type && !strcmp(type, "object")) {
        add_object(s, b, schema);
        return;
    }
    if (type && !strcmp(type, "array")) {
        add_array(s, b, schema);
        return;
    }
    if (type && !strcmp(type, "string")) {
        add_string(s, b, schema);
        return;
    }
    for (size_t i = 0; type && i < sizeof(plain) / sizeof(plain[0]); i++)
        if (!strcmp(type, plain[i])) {
            add(b, "%s", type);
            return;
        }
    refuse(s, "a type that is none of JSON's");
}

static void
add_choice(struct schema *s, struct buffer *b, const json_t *list,
           const char *key)
{
    char step[24];

    if (json_array_size(list) == 0)
        refuse(s, "%s is no list of values", key);
    for (size_t i = 0; i < json_array_size(list) && !s->failed; i++) {
        const json_t *v = json_array_get(list, i);

        add(b, i ? " | " : "");
        snprintf(step, sizeof(step), "%zu", i);
        if (strcmp(key, "enum"))
            add(b, "r%d", rule_at(s, v, key, step));
        else
            add_value(s, b, v);
    }
}

/* ---- a schema ------------------------------------------------------------ */

/* What limits values, and is not kept to here. */
static void
check_known(struct schema *s, const json_t *schema)
{
    static const char *const refused[] = {
        "allOf",         "contains",          "dependentRequired",
        "dependentSchemas", "else",           "exclusiveMaximum",
        "exclusiveMinimum", "if",             "maxProperties",
        "maximum",       "minProperties",     "minimum",
        "multipleOf",    "not",               "pattern",
        "patternProperties", "propertyNames", "then",
        "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
        "$dynamicRef",
    };

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (json_object_get(schema, refused[i]))
            refuse(s, "%s is not supported", refused[i]);
}

/* "#/$defs/name": what stands there; NULL: nothing. */
static const json_t *
resolve(const struct schema *s, const char *ref)
{
    const json_t *at = s->root;
    char name[200];

    if (*ref++ != '#')
        return NULL;
    while (at && *ref == '/') {
        size_t n = 0;

        for (ref++; *ref && *ref != '/' && n < sizeof(name) - 1; ref++)
            if (ref[0] == '~' && (ref[1] == '0' || ref[1] == '1'))
                name[n++] = *++ref == '0' ? '~' : '/';
            else
                name[n++] = *ref;
        name[n] = '\0';
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(name))
                               : json_object_get(at, name);
    }
    return *ref ? NULL : at;
}

static void
add_reference(struct schema *s, struct buffer *b, const char *ref)
{
    const json_t *target = ref ? resolve(s, ref) : NULL;

    if (!target)
        refuse(s, "$ref: there is no %.80s in the schema", ref ? ref : "string");
    else
        add(b, "r%d", rule_of(s, target));
}

static const char *
guess_type(const json_t *schema)
{
    static const struct {
        const char *key, *type;
    } guesses[] = {
        { "properties", "object" }, { "additionalProperties", "object" },
        { "required", "object" },   { "items", "array" },
        { "prefixItems", "array" }, { "minItems", "array" },
        { "maxItems", "array" },    { "minLength", "string" },
        { "maxLength", "string" },  { "format", "string" },
    };

    for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++)
        if (json_object_get(schema, guesses[i].key))
            return guesses[i].type;
    return NULL;
}

static void
add_types(struct schema *s, struct buffer *b, const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    const char *guess = guess_type(schema);

    if (!type && !guess) {
        add(b, "value");
    } else if (!json_is_array(type)) {
        add_type(s, b, schema, type ? json_string_value(type) : guess);
    } else {
        if (json_array_size(type) == 0)
            refuse(s, "a type that is none of JSON's");
        for (size_t i = 0; i < json_array_size(type) && !s->failed; i++) {
            add(b, i ? " | " : "");
            add_type(s, b, schema, json_string_value(json_array_get(type, i)));
        }
    }
}

static void
add_schema(struct schema *s, struct buffer *b, const json_t *schema)
{
    static const char *const lists[] = { "anyOf", "oneOf", "enum" };
    const json_t *v;

    if (json_is_true(schema)) {
        add(b, "value");
        return;
    }
    if (!json_is_object(schema)) {
        refuse(s, json_is_false(schema) ? "nothing is allowed here"
                                        : "no schema");
        return;
    }
    check_known(s, schema);
    if ((v = json_object_get(schema, "const"))) {
        add_value(s, b, v);
        return;
    }
    for (int i = 2; i >= 0; i--)
        if ((v = json_object_get(schema, lists[i]))) {
            if (i < 2 && (guess_type(schema) || json_object_get(schema, "type")))
                refuse(s, "%s beside other limits is not supported", lists[i]);
            add_choice(s, b, v, lists[i]);
            return;
        }
    v = json_object_get(schema, "$ref");
    if (v && (guess_type(schema) || json_object_get(schema, "type")))
        refuse(s, "$ref beside other limits is not supported");
    else if (v)
        add_reference(s, b, json_string_value(v));
    else
        add_types(s, b, schema);
}

/* The number of the rule for such values; one that is being made is there. */
static int
rule_of(struct schema *s, const json_t *schema)
{
    struct buffer body = { 0 };
    int rule;

    for (size_t i = 0; i < s->n_known; i++)
        if (s->known[i].schema == schema && json_is_object(schema))
            return s->known[i].rule;
    if (s->depth == MAX_DEPTH)
        refuse(s, "more than %d levels", MAX_DEPTH);
    rule = new_rule(s);
    if (s->failed)
        return 0;
    if (s->n_known == s->cap_known) {
        s->cap_known = 2 * s->cap_known + 16;
        s->known = cli_alloc(s->known, s->cap_known, sizeof(*s->known));
    }
    s->known[s->n_known++] = (struct known){ schema, rule };
    s->depth++;
    add_schema(s, &body, schema);
    s->depth--;
    put_rule(s, rule, &body);
    buffer_clear(&body);
    return rule;
}

bool
schema_to_grammar(const char *text, size_t len, struct buffer *out,
                  struct gg_error *why)
{
    struct schema s = { .out = out, .why = why, .path = "#" };
    json_error_t err;

    s.root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
                        &err);
    if (!s.root) {
        snprintf(why->message, sizeof(why->message), "line %d: %s", err.line,
                 err.text);
        return false;
    }
    buffer_add(out, basis, sizeof(basis) - 1);
    rule_of(&s, s.root);
    json_decref(s.root);
    free(s.known);
    return !s.failed;
}

#else

bool
schema_to_grammar(const char *text, size_t len, struct buffer *out,
                  struct gg_error *why)
{
    (void)text, (void)len, (void)out;
    snprintf(why->message, sizeof(why->message),
             "this build has no Jansson to read schemas with");
    return false;
}

#endif
