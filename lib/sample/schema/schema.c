/* schema.c - a JSON schema becomes a grammar for what it describes */
#include <config.h>

#include "sample/schema/schema.h"

#include <stdarg.h>
#include <stdio.h>

#ifdef HAVE_JANSSON

#include <math.h>

#include "core/mem.h"
#include "sample/schema/parts.h"

enum {
    MAX_TEXT = 1 << 20, /* bytes of the schema, and of the grammar */
    MAX_WORK = 1 << 26, /* bytes of texts that are looked up */
    MAX_PASSES = 64,
};

/* Rules that every grammar begins with. */
static const char basis[] =
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

/* ---- messages ---- */

size_t
sample_schema_step(struct schema *s, const char *step, const char *name)
{
    size_t len = strlen(s->path);

    snprintf(s->path + len, sizeof(s->path) - len, "/%.60s%s%.60s", step,
             name ? "/" : "", name ? name : "");
    return len;
}

__attribute__((format(printf, 4, 0))) static void
say(const struct schema *s, char *out, size_t size, const char *fmt, va_list ap)
{
    char what[200], shown[200];

    vsnprintf(what, sizeof(what), fmt, ap);
    escape_bytes(shown, sizeof(shown), s->path, strlen(s->path));
    snprintf(out, size, "%s: %s", shown, what);
}

const char *
sample_schema_show(char *buf, const char *name)
{
    return escape_bytes(buf, SCHEMA_SHOWN, name, strlen(name));
}

void
sample_schema_refuse(struct schema *s, const char *fmt, ...)
{
    va_list ap;

    if (s->failed)
        return;
    va_start(ap, fmt);
    say(s, s->why->message, sizeof(s->why->message), fmt, ap);
    va_end(ap);
    s->failed = true;
}

bool
sample_schema_nothing(struct schema *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (!s->reason[0])
        say(s, s->reason, sizeof(s->reason), fmt, ap);
    va_end(ap);
    return false;
}

/* ---- what is written ---- */

void
sample_schema_add(struct schema_text *b, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sample_schema_text_add(
        b, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

void
sample_schema_add_literal(struct schema_text *b, const char *text, size_t len)
{
    sample_schema_text_char(b, '"');
    for (size_t i = 0; i < len; i++)
        if (text[i] == '"' || text[i] == '\\')
            sample_schema_add(b, "\\%c", text[i]);
        else if ((unsigned char)text[i] < 0x20)
            sample_schema_add(b, "\\x%02x", (unsigned)text[i]);
        else
            sample_schema_text_char(b, text[i]);
    sample_schema_text_char(b, '"');
}

void
sample_schema_add_value(struct schema *s, struct schema_text *b,
                        const json_t *value)
{
    char *text = core_json_dump(value, JSON_COMPACT | JSON_ENCODE_ANY);

    if (text)
        sample_schema_add_literal(b, text, strlen(text));
    else
        sample_schema_refuse(s, "a value that cannot be written");
    core_json_free(text);
}

/* ---- rules ---- */

int
sample_schema_new_rules(struct schema *s, int n)
{
    int first = s->n_rules;

    if (n > SCHEMA_MAX_RULES - first) {
        sample_schema_refuse(s, "the schema is too large");
        return 0;
    }
    s->n_rules += n;
    return first;
}

/* A rule's body is made apart, for rules within it come before. */
void
sample_schema_put_rule(struct schema *s, int rule,
                       const struct schema_text *body)
{
    if (s->out->len + body->len > MAX_TEXT)
        sample_schema_refuse(s, "the schema is too large");
    if (s->failed)
        return;
    sample_schema_add(s->out, "r%d ::= ", rule);
    sample_schema_text_add(s->out, body->p, body->len);
    sample_schema_text_char(s->out, '\n');
}

/* ---- a schema ---- */

static bool
add_type(struct schema *s, struct schema_text *b, json_t *schema,
         const char *type)
{
    if (!strcmp(type, "object"))
        return sample_schema_object(s, b, schema);
    if (!strcmp(type, "array"))
        return sample_schema_array(s, b, schema);
    if (!strcmp(type, "string"))
        return sample_schema_string(s, b, schema);
    if (!strcmp(type, "number") || !strcmp(type, "integer"))
        return sample_schema_number(s, b, schema, *type == 'i');
    sample_schema_add(b, "%s", type);
    return true;
}

/* The list of what is possible, each in a place of its own. */
static bool
add_listed_types(struct schema *s, struct schema_text *b, json_t *schema,
                 const json_t *types)
{
    bool some = false;

    for (size_t i = 0; i < json_array_size(types) && !s->failed; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        size_t len = b->len;

        sample_schema_add(b, some ? " | " : "");
        if (add_type(s, b, schema, type))
            some = true;
        else
            b->len = len;
    }
    return some;
}

static bool
add_types(struct schema *s, struct schema_text *b, json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    const char *guess = sample_schema_guess_type(schema);
    const char *name = type ? json_string_value(type) : guess;

    if (json_is_array(type))
        return add_listed_types(s, b, schema, type);
    if (name)
        return add_type(s, b, schema, name);
    sample_schema_add(b, "value");
    return true;
}

/* Whether there is a number in it that may not be the one in the source. */
static bool
has_long_number(const json_t *v)
{
    const char *name;
    json_t *member;

    if (json_is_real(v))
        return fabs(json_real_value(v)) >= (double)SCHEMA_BEYOND;
    for (size_t i = 0; i < json_array_size(v); i++)
        if (has_long_number(json_array_get(v, i)))
            return true;
    json_object_foreach((json_t *)v, name, member)
    {
        if (has_long_number(member))
            return true;
    }
    return false;
}

static bool
add_enum_values(struct schema *s, struct schema_text *b, const json_t *schema)
{
    const json_t *list = json_object_get(schema, "enum");
    bool some = false;

    for (size_t i = 0; i < json_array_size(list) && !s->failed; i++) {
        const json_t *v = json_array_get(list, i);

        if (has_long_number(v))
            sample_schema_refuse(s,
                                 "a number of more than %d digits in enum or "
                                 "const is not supported",
                                 SCHEMA_MAX_DIGITS);
        if (!sample_schema_fits(s, schema, v))
            continue;
        sample_schema_add(b, some ? " | " : "");
        sample_schema_add_value(s, b, v);
        some = true;
    }
    return some ||
           sample_schema_nothing(s, "no value of enum or const is allowed by "
                                    "the rest");
}

json_t *
sample_schema_alternative(struct schema *s, json_t *schema, const char *key,
                          size_t i)
{
    json_t *rest = json_copy(schema), *both, *flat;
    json_t *alone = json_array_get(json_object_get(schema, key), i);

    json_object_del(rest, key);
    both = json_object_size(rest) ? sample_schema_both(rest, alone)
                                  : json_incref(alone);
    flat = sample_schema_flatten(s, both);
    json_decref(rest);
    json_decref(both);
    return flat;
}

/* The alternatives of `key`; one that allows nothing is left out. */
static bool
add_choice(struct schema *s, struct schema_text *b, json_t *schema,
           const char *key)
{
    size_t n = json_array_size(json_object_get(schema, key));
    bool some = false, had = s->reason[0] != '\0';

    for (size_t i = 0; i < n && !s->failed; i++) {
        json_t *one = sample_schema_alternative(s, schema, key, i);
        int rule = SCHEMA_NOTHING;
        char step[24];

        snprintf(step, sizeof(step), "%zu", i);
        if (one)
            rule = sample_schema_rule_at(s, one, false, false, key, step);
        if (rule != SCHEMA_NOTHING) {
            sample_schema_add(b, "%sr%d", some ? " | " : "", rule);
            some = true;
        }
        json_decref(one);
    }
    if (some && !had)
        s->reason[0] = '\0';
    return some;
}

static bool
add_schema(struct schema *s, struct schema_text *b, json_t *schema)
{
    if (json_is_true(schema)) {
        sample_schema_add(b, "value");
        return true;
    }
    if (json_is_false(schema))
        return sample_schema_nothing(s, "nothing is allowed here");
    sample_schema_check_supported(s, schema);
    if (json_object_get(schema, "anyOf"))
        return add_choice(s, b, schema, "anyOf");
    if (json_object_get(schema, "oneOf")) {
        sample_schema_check_apart(s, schema);
        return add_choice(s, b, schema, "oneOf");
    }
    if (json_object_get(schema, "enum"))
        return add_enum_values(s, b, schema);
    return add_types(s, b, schema);
}

/* ---- rules of schemas ---- */

/* One that is open and is come to again with nothing written would begin with
 * itself. Else it is as possible as the last pass has found: at first not at
 * all, so that what has no end is never taken for possible. */
static int
open_rule(struct schema *s, int rule, bool possible)
{
    if (s->rules[rule].level == s->level)
        sample_schema_refuse(s, "a value that consists of itself");
    if (possible)
        return rule;
    s->rules[rule].guessed = true;
    sample_schema_nothing(s, "a value that has no end");
    return SCHEMA_NOTHING;
}

static int
make_rule(struct schema *s, json_t *flat, const char *text)
{
    struct schema_text body = { 0 };
    int rule = sample_schema_new_rules(s, 1);
    struct schema_rule *r = &s->rules[rule];

    if (s->depth == SCHEMA_MAX_DEPTH)
        sample_schema_refuse(s, "more than %d levels", SCHEMA_MAX_DEPTH);
    if (s->failed)
        return SCHEMA_NOTHING;
    json_object_set_new(s->known, text, json_integer(rule));
    *r = (struct schema_rule){ .level = s->level, .open = true };
    s->depth++;
    r->possible = add_schema(s, &body, flat) && !s->failed;
    s->depth--;
    r->open = false;
    if (r->possible) {
        sample_schema_put_rule(s, rule, &body);
        json_object_set(s->possible, text, json_true());
        s->again = s->again || r->guessed;
    }
    sample_schema_text_clear(&body);
    return r->possible ? rule : SCHEMA_NOTHING;
}

static int
find_rule(struct schema *s, json_t *flat)
{
    char *text = json_dumps(flat, JSON_COMPACT | JSON_ENCODE_ANY);
    const json_t *known = text ? json_object_get(s->known, text) : NULL;
    int rule = (int)json_integer_value(known);

    s->work += text ? strlen(text) : MAX_WORK;
    if (s->work >= MAX_WORK)
        sample_schema_refuse(s, "the schema is too large");
    if (s->failed)
        rule = SCHEMA_NOTHING;
    else if (!known)
        rule = make_rule(s, flat, text);
    else if (s->rules[rule].open)
        rule = open_rule(s, rule, json_object_get(s->possible, text) != NULL);
    else if (!s->rules[rule].possible) {
        sample_schema_nothing(s, "nothing is allowed here");
        rule = SCHEMA_NOTHING;
    }
    core_json_free(text);
    return rule;
}

static int
rule_of(struct schema *s, json_t *schema)
{
    json_t *flat = s->failed ? NULL : sample_schema_flatten(s, schema);
    int rule = flat ? find_rule(s, flat) : SCHEMA_NOTHING;

    json_decref(flat);
    return rule;
}

int
sample_schema_rule_at(struct schema *s, json_t *schema, bool inside,
                      bool may_be_nothing, const char *step, const char *name)
{
    bool had = s->reason[0] != '\0';
    size_t len = sample_schema_step(s, step, name);
    int rule;

    s->level += inside;
    rule = rule_of(s, schema);
    s->level -= inside;
    if (!s->failed)
        s->path[len] = '\0';
    if (may_be_nothing && !had)
        s->reason[0] = '\0';
    return rule;
}

/* ---- all of it ---- */

/* Whether a guess was wrong, so that another pass is needed. */
static bool
pass(struct schema *s, size_t start)
{
    int root;

    s->out->len = start;
    s->n_rules = s->n_merges = 0;
    s->again = false;
    s->reason[0] = '\0';
    json_object_clear(s->known);
    sample_schema_text_add(s->out, basis, sizeof(basis) - 1);
    root = rule_of(s, s->root);
    if (root != SCHEMA_NOTHING)
        sample_schema_add(s->out, "root ::= r%d\n", root);
    if (root == SCHEMA_NOTHING && !s->again && !s->failed) {
        snprintf(s->why->message, sizeof(s->why->message), "%s", s->reason);
        s->failed = true;
    }
    return s->again && !s->failed;
}

static void
make_grammar(struct schema *s)
{
    size_t start = s->out->len;
    int n = 0;

    s->known = json_object();
    s->possible = json_object();
    if (!s->known || !s->possible)
        sample_schema_refuse(s, "no memory");
    sample_schema_find_refs(s);
    while (!s->failed && pass(s, start))
        if (++n == MAX_PASSES)
            sample_schema_refuse(s, "the schema is too large");
    json_decref(s->known);
    json_decref(s->possible);
    core_json_free(s->targets);
}

static void
read_source(struct schema *s, const char *text, size_t len)
{
    char shown[4 * JSON_ERROR_TEXT_LENGTH + 1];
    json_error_t e;

    s->root =
        core_json_load(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (!s->root) {
        escape_bytes(shown, sizeof(shown), e.text, strlen(e.text));
        error_set(s->why, GG_ERR_FORMAT, "line %d: %s", e.line, shown);
        s->failed = true;
    }
}

struct conversion {
    const char *text;
    size_t len;
    char *gbnf;
    size_t n;
    struct gg_error why; /* there is none */
    enum gg_status status;
};

/* The result, which lives on, is copied last. */
static void
hand_out(struct conversion *c, const struct schema *s)
{
    c->gbnf = s->failed ? NULL : mem_dup(s->out->p, s->out->len);
    c->n = s->out->len;
    c->status = s->failed ? GG_ERR_FORMAT : GG_OK;
    if (!s->failed && !c->gbnf)
        c->status = error_nomem(&c->why);
}

static void
convert(void *data)
{
    struct conversion *c = data;
    struct schema *s = core_json_realloc(NULL, sizeof(*s));
    struct schema_text out = { 0 };

    memset(s, 0, sizeof(*s)); /* too much for a stack */
    s->out = &out;
    s->why = &c->why;
    strcpy(s->path, "#");
    if (c->len > MAX_TEXT)
        sample_schema_refuse(s, "the schema is too large: more than %d bytes",
                             MAX_TEXT);
    else
        read_source(s, c->text, c->len);
    if (s->root)
        make_grammar(s);
    hand_out(c, s);
    json_decref(s->root);
}

enum gg_status
sample_schema_to_gbnf(const char *text, size_t len, char **out, size_t *n,
                      struct gg_error *err)
{
    struct conversion c = { .text = text, .len = len };
    enum gg_status st = core_json_work(convert, &c, err);

    if (st != GG_OK)
        return st;
    if (c.status != GG_OK)
        return error_set(err, c.status, "%s", c.why.message);
    *out = c.gbnf;
    *n = c.n;
    return GG_OK;
}

#else

enum gg_status
sample_schema_to_gbnf(const char *text, size_t len, char **out, size_t *n,
                      struct gg_error *err)
{
    (void)text, (void)len, (void)out, (void)n;
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "this build has no Jansson to read schemas with");
}

#endif
