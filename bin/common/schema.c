/* schema.c - a JSON schema becomes a grammar for what it describes */
#include <config.h>

#include "common/schema.h"

#include <stdarg.h>
#include <stdio.h>

#ifdef HAVE_JANSSON

#include "common/schema_parts.h"

enum {
    MAX_TEXT = 1 << 20, /* bytes of the schema, and of the grammar */
    MAX_WORK = 1 << 26, /* bytes of texts that are looked up */
    MAX_CHOICES = 8,    /* in each other, of which one may allow nothing */
};

/* What every grammar begins with. */
static const char basis[] =
    "root ::= r0\n"
    "blank ::= \" \"?\n"
    "character ::= [^\"\\\\\\x00-\\x1f\\x7f] | \"\\\\\" ([\"\\\\/bfnrt] | "
    "\"u\" code)\n"
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

/* ---- words ---- */

void
schema_refuse(struct schema *s, const char *fmt, ...)
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

void
schema_add(struct buffer *b, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    buffer_add(b, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

void
schema_add_literal(struct buffer *b, const char *text, size_t len)
{
    buffer_char(b, '"');
    for (size_t i = 0; i < len; i++)
        if (text[i] == '"' || text[i] == '\\')
            schema_add(b, "\\%c", text[i]);
        else if ((unsigned char)text[i] < 0x20)
            schema_add(b, "\\x%02x", (unsigned)text[i]);
        else
            buffer_char(b, text[i]);
    buffer_char(b, '"');
}

void
schema_add_value(struct schema *s, struct buffer *b, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    if (text)
        schema_add_literal(b, text, strlen(text));
    else
        schema_refuse(s, "a value that cannot be written");
    free(text);
}

long
schema_limit(struct schema *s, const json_t *schema, const char *key,
             long other)
{
    const json_t *v = json_object_get(schema, key);
    double x = v ? json_number_value(v) : 0;

    if (!v)
        return other;
    if (!json_is_number(v) || x < 0 || x > SCHEMA_MAX_LENGTH ||
        x != (double)(long)x) {
        schema_refuse(s, "%s is not in 0..%d", key, SCHEMA_MAX_LENGTH);
        return other;
    }
    return (long)x;
}

void
schema_add_count(struct buffer *b, long min, long max)
{
    if (max >= 0)
        schema_add(b, "{%ld,%ld}", min, max);
    else if (min > 0)
        schema_add(b, "{%ld,}", min);
    else
        schema_add(b, "*");
}

/* ---- rules ---- */

int
schema_new_rules(struct schema *s, int n)
{
    int first = s->n_rules;

    if (n > SCHEMA_MAX_RULES - first) {
        schema_refuse(s, "the schema is too large");
        return 0;
    }
    s->n_rules += n;
    return first;
}

/* A rule's body is made apart, for rules within it come before. */
void
schema_put_rule(struct schema *s, int rule, const struct buffer *body)
{
    if (s->out->len + body->len > MAX_TEXT)
        schema_refuse(s, "the schema is too large");
    if (s->failed)
        return;
    schema_add(s->out, "r%d ::= ", rule);
    buffer_add(s->out, body->p, body->len);
    buffer_char(s->out, '\n');
}

/* ---- a schema ---- */

/* What limits values, and is not kept to here. */
static void
check_known(struct schema *s, const json_t *schema)
{
    static const char *const refused[] = {
        "contains",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "if",
        "minContains",
        "multipleOf",
        "not",
        "patternProperties",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
        "$dynamicRef",
        "additionalItems",
    };

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (json_object_get(schema, refused[i]))
            schema_refuse(s, "%s is not supported", refused[i]);
    if (json_is_true(json_object_get(schema, "uniqueItems")))
        schema_refuse(s, "uniqueItems is not supported");
}

static const char *
guess_type(const json_t *schema)
{
    static const struct {
        const char *key, *type;
    } guesses[] = {
        { "properties", "object" },       { "additionalProperties", "object" },
        { "required", "object" },         { "minProperties", "object" },
        { "maxProperties", "object" },    { "items", "array" },
        { "prefixItems", "array" },       { "minItems", "array" },
        { "maxItems", "array" },          { "minLength", "string" },
        { "maxLength", "string" },        { "pattern", "string" },
        { "format", "string" },           { "minimum", "number" },
        { "maximum", "number" },          { "exclusiveMinimum", "number" },
        { "exclusiveMaximum", "number" },
    };

    for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++)
        if (json_object_get(schema, guesses[i].key))
            return guesses[i].type;
    return NULL;
}

static void
add_type(struct schema *s, struct buffer *b, json_t *schema, const char *type)
{
    type = type ? type : "";
    if (!strcmp(type, "object"))
        schema_object(s, b, schema);
    else if (!strcmp(type, "array"))
        schema_array(s, b, schema);
    else if (!strcmp(type, "string"))
        schema_string(s, b, schema);
    else if (!strcmp(type, "number") || !strcmp(type, "integer"))
        schema_number(s, b, schema, *type == 'i');
    else if (!strcmp(type, "boolean") || !strcmp(type, "null"))
        schema_add(b, "%s", type);
    else
        schema_refuse(s, "a type that is none of JSON's");
}

static void
add_types(struct schema *s, struct buffer *b, json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    const char *guess = guess_type(schema);

    if (!type && !guess) {
        schema_add(b, "value");
    } else if (!json_is_array(type)) {
        add_type(s, b, schema, type ? json_string_value(type) : guess);
    } else {
        if (json_array_size(type) == 0 || json_array_size(type) > 7)
            schema_refuse(s, "a type that is none of JSON's");
        for (size_t i = 0; i < json_array_size(type) && !s->failed; i++) {
            schema_add(b, i ? " | " : "");
            add_type(s, b, schema, json_string_value(json_array_get(type, i)));
        }
    }
}

static void
add_values(struct schema *s, struct buffer *b, const json_t *schema)
{
    const json_t *list = json_object_get(schema, "enum");
    bool some = false;

    for (size_t i = 0; i < json_array_size(list) && !s->failed; i++) {
        const json_t *v = json_array_get(list, i);

        if (!schema_fits(s, schema, v))
            continue;
        schema_add(b, some ? " | " : "");
        schema_add_value(s, b, v);
        some = true;
    }
    if (!some)
        schema_refuse(s, json_array_size(list) ? "no value of enum or const "
                                                 "is allowed by the rest"
                                               : "enum is no list of values");
}

/* One of the alternatives, with all else that is said. The caller's; NULL:
 * refused. */
static json_t *
alternative(struct schema *s, json_t *schema, const char *key, size_t i)
{
    json_t *rest = json_copy(schema), *both, *flat;
    json_t *alone = json_array_get(json_object_get(schema, key), i);

    json_object_del(rest, key);
    both =
        json_object_size(rest) ? schema_both(rest, alone) : json_incref(alone);
    flat = schema_flatten(s, both);
    json_decref(rest);
    json_decref(both);
    return flat;
}

static const char *
choice_of(const json_t *schema)
{
    return json_object_get(schema, "anyOf")   ? "anyOf"
           : json_object_get(schema, "oneOf") ? "oneOf"
                                              : NULL;
}

/* Whether it is seen, without looking at parts, that no value is allowed. */
static bool
is_nothing(struct schema *s, json_t *flat, int depth)
{
    const char *key = choice_of(flat);
    const json_t *list = json_object_get(flat, key ? key : "enum");
    bool nothing = list != NULL;

    if (json_is_false(flat))
        return true;
    if (depth == MAX_CHOICES)
        return false;
    for (size_t i = 0; i < json_array_size(list) && nothing; i++) {
        json_t *one = key ? alternative(s, flat, key, i) : NULL;

        nothing = key ? one && is_nothing(s, one, depth + 1)
                      : !schema_fits(s, flat, json_array_get(list, i));
        json_decref(one);
    }
    return nothing;
}

/* The alternatives of `key`; one that allows nothing is left out. */
static void
add_choice(struct schema *s, struct buffer *b, json_t *schema, const char *key)
{
    size_t n = json_array_size(json_object_get(schema, key));
    bool some = false;

    if (n == 0)
        schema_refuse(s, "%s is no list of schemas", key);
    for (size_t i = 0; i < n && !s->failed; i++) {
        json_t *one = alternative(s, schema, key, i);
        char step[24];

        snprintf(step, sizeof(step), "%zu", i);
        if (one && !is_nothing(s, one, 0)) {
            schema_add(b, some ? " | " : "");
            schema_add(
                b, "r%d",
                schema_rule_at(s, one, n > 1 ? SCHEMA_MAYBE : 0, key, step));
            some = true;
        }
        json_decref(one);
    }
    if (!some)
        schema_refuse(s, "nothing is allowed here");
}

static void
add_schema(struct schema *s, struct buffer *b, json_t *schema)
{
    if (json_is_true(schema)) {
        schema_add(b, "value");
        return;
    }
    if (json_is_false(schema)) {
        schema_refuse(s, "nothing is allowed here");
        return;
    }
    check_known(s, schema);
    if (choice_of(schema))
        add_choice(s, b, schema, choice_of(schema));
    else if (json_object_get(schema, "enum"))
        add_values(s, b, schema);
    else
        add_types(s, b, schema);
}

/* One that is open and is come to again with nothing written would begin with
 * itself; with nothing that may be missing it would have no end. */
static void
check_open(struct schema *s, const struct schema_rule *rule)
{
    if (rule->open && rule->level == s->level)
        schema_refuse(s, "a value that consists of itself");
    else if (rule->open && rule->maybe == s->maybe)
        schema_refuse(s, "a value that has no end");
}

/* The rule for the text of a schema; new where it is not known: *made. */
static int
find_rule(struct schema *s, const json_t *schema, bool *made)
{
    char *text = json_dumps(schema, JSON_COMPACT | JSON_ENCODE_ANY);
    const json_t *known = text ? json_object_get(s->known, text) : NULL;
    int rule = (int)json_integer_value(known);

    *made = !known;
    s->work += text ? strlen(text) : MAX_WORK;
    if (s->work >= MAX_WORK)
        schema_refuse(s, "the schema is too large");
    else if (!known && !s->failed) {
        rule = schema_new_rules(s, 1);
        json_object_set_new(s->known, text, json_integer(rule));
    } else {
        check_open(s, &s->rules[rule]);
    }
    free(text);
    return rule;
}

/* The number of the rule for such values. */
static int
rule_of(struct schema *s, json_t *schema)
{
    json_t *flat = s->failed ? NULL : schema_flatten(s, schema);
    struct buffer body = { 0 };
    bool made = false;
    int rule = flat ? find_rule(s, flat, &made) : 0;

    if (s->depth == SCHEMA_MAX_DEPTH)
        schema_refuse(s, "more than %d levels", SCHEMA_MAX_DEPTH);
    if (made && !s->failed) {
        s->rules[rule] = (struct schema_rule){ s->level, s->maybe, true };
        s->depth++;
        add_schema(s, &body, flat);
        s->depth--;
        schema_put_rule(s, rule, &body);
        s->rules[rule].open = false;
    }
    buffer_clear(&body);
    json_decref(flat);
    return rule;
}

int
schema_rule_at(struct schema *s, json_t *schema, unsigned how, const char *step,
               const char *name)
{
    int inside = (how & SCHEMA_INSIDE) != 0, maybe = (how & SCHEMA_MAYBE) != 0;
    size_t len = strlen(s->path);
    int rule;

    snprintf(s->path + len, sizeof(s->path) - len, "/%.60s%s%.60s", step,
             name ? "/" : "", name ? name : "");
    s->level += inside;
    s->maybe += maybe;
    rule = rule_of(s, schema);
    s->level -= inside;
    s->maybe -= maybe;
    if (!s->failed)
        s->path[len] = '\0';
    return rule;
}

bool
schema_to_grammar(const char *text, size_t len, struct buffer *out,
                  struct gg_error *why)
{
    struct schema *s = cli_alloc(NULL, 1, sizeof(*s));
    json_error_t err;
    bool done = false;

    *s = (struct schema){ .out = out, .why = why, .path = "#" };
    if (len > MAX_TEXT)
        schema_refuse(s, "the schema is too large: more than %d bytes",
                      MAX_TEXT);
    else
        s->root = json_loadb(text, len,
                             JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &err);
    if (s->root) {
        s->known = json_object();
        buffer_add(out, basis, sizeof(basis) - 1);
        rule_of(s, s->root);
        json_decref(s->known);
        json_decref(s->root);
        done = !s->failed;
    } else if (!s->failed) {
        snprintf(why->message, sizeof(why->message), "line %d: %s", err.line,
                 err.text);
    }
    free(s);
    return done;
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
