/* schema_object.c - objects and arrays */
#include <config.h>

#ifdef HAVE_JANSSON

#include "common/schema_parts.h"

/* ---- arrays ---- */

/* a, b, b, or nothing: items of an array, with commas between them. */
static void
add_items(struct buffer *b, int item, long min, long max)
{
    if (max == 0)
        return;
    schema_add(b,
               min > 0 ? " r%d (\",\" blank r%d)" : " (r%d (\",\" blank r%d)",
               item, item);
    schema_add_count(b, min > 0 ? min - 1 : 0, max > 0 ? max - 1 : -1);
    if (min == 0)
        schema_add(b, ")?");
}

/* Behind n others. */
static void
add_more(struct buffer *b, int item, long n, long min, long max)
{
    schema_add(b, " (\",\" blank r%d)", item);
    schema_add_count(b, min > n ? min - n : 0, max < 0 ? -1 : max - n);
}

/* The first ones, each with a schema of its own; all of them are written. */
static long
add_first(struct schema *s, struct buffer *b, const json_t *first, long max)
{
    long n = (long)json_array_size(first);
    char step[24];

    if (n == 0)
        schema_refuse(s, "prefixItems is no list of schemas");
    n = max >= 0 && max < n ? max : n;
    for (long i = 0; i < n && !s->failed; i++) {
        snprintf(step, sizeof(step), "%ld", i);
        schema_add(b, "%s r%d", i ? " \",\" blank" : "",
                   schema_rule_at(s, json_array_get(first, (size_t)i),
                                  SCHEMA_INSIDE, "prefixItems", step));
    }
    return n;
}

void
schema_array(struct schema *s, struct buffer *b, json_t *schema)
{
    json_t *items = json_object_get(schema, "items");
    const json_t *first = json_object_get(schema, "prefixItems");
    long min = schema_limit(s, schema, "minItems", 0);
    long max = schema_limit(s, schema, "maxItems", -1), n = 0;

    if (json_is_array(items))
        schema_refuse(s, "items as a list: since 2020 that is prefixItems");
    if (max >= 0 && max < min)
        schema_refuse(s, "maxItems is below minItems");
    schema_add(b, "\"[\"");
    if (first)
        n = add_first(s, b, first, max);
    if (json_is_false(items)) /* nothing behind the first ones */
        max = n;
    else if (first && !items) /* nor more than there must be */
        max = min > n ? min : n;
    if (max >= 0 && max < min)
        schema_refuse(s, "items is false, and minItems wants some");
    if (max != n) {
        int item = schema_rule_at(s, items ? items : json_true(),
                                  SCHEMA_INSIDE | (min > n ? 0 : SCHEMA_MAYBE),
                                  "items", NULL);

        if (n)
            add_more(b, item, n, min, max);
        else
            add_items(b, item, min, max);
    }
    schema_add(b, " \"]\"");
}

/* ---- names of members ---- */

/* One as JSON writes it, with its quotation marks. */
static void
add_name(struct schema *s, struct buffer *b, const char *name)
{
    json_t *key = json_string(name);

    schema_add_value(s, b, key);
    json_decref(key);
}

static size_t
character_length(const char *p)
{
    size_t n = 1;

    while (((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* What can follow the first `at` bytes of names[0..n), all of which begin with
 * the same: what is none of them. The first character that makes it another
 * one is written as it is. */
static int
rule_unlike(struct schema *s, const char *const *names, size_t n, size_t at)
{
    struct buffer body = { 0 };
    struct buffer seen = { 0 };
    bool ends = false;
    int rule = schema_new_rules(s, 1);

    for (size_t i = 0; i < n; i++)
        ends = ends || names[i][at] == '\0';
    for (size_t i = 0, next; i < n && !s->failed; i = next) {
        const char *p = names[i] + at;
        size_t len = *p ? character_length(p) : 0;

        for (next = i + 1; next < n && !strncmp(names[next] + at, p, len) &&
                           (len || !names[next][at]);)
            next++;
        if (len == 0 || *p == '"' || *p == '\\' || (unsigned char)*p < 0x20)
            continue;
        schema_add_literal(&body, p, len);
        schema_add(&body, " r%d | ",
                   rule_unlike(s, names + i, next - i, at + len));
        if (strchr("]^-[", *p))
            buffer_add(&seen, "\\", 1);
        buffer_add(&seen, p, len);
    }
    if (!ends)
        schema_add(&body, "\"\\\"\" | ");
    schema_add(&body, "[^\"\\\\\\x00-\\x1f\\x7f");
    buffer_add(&body, seen.p, seen.len);
    schema_add(&body, "] character* \"\\\"\"");
    schema_put_rule(s, rule, &body);
    buffer_clear(&body);
    buffer_clear(&seen);
    return rule;
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- objects ---- */

/* A member that the schema names, or requires. */
struct member {
    const char *name;
    json_t *schema;
    bool required;
};

struct members {
    struct member *p;
    size_t n;
    json_t *others; /* additionalProperties; NULL: none are written */
};

static bool
is_required(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *r = json_string_value(json_array_get(list, i));

        if (r && !strcmp(r, name))
            return true;
    }
    return false;
}

static bool
is_member(const struct members *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (!strcmp(m->p[i].name, name))
            return true;
    return false;
}

static void
add_member(struct members *m, const char *name, json_t *schema, bool required)
{
    m->p = cli_alloc(m->p, m->n + 1, sizeof(*m->p));
    m->p[m->n++] = (struct member){ name, schema, required };
}

/* Those that must not be there are left out. */
static void
list_members(struct schema *s, json_t *schema, struct members *m)
{
    json_t *properties = json_object_get(schema, "properties"), *value;
    const json_t *required = json_object_get(schema, "required");
    const char *name;

    if (json_object_size(properties) + json_array_size(required) >
        SCHEMA_MAX_RULES / 2) {
        schema_refuse(s, "more than %d properties", SCHEMA_MAX_RULES / 2);
        return;
    }
    json_object_foreach(properties, name, value)
    {
        bool must = is_required(required, name);

        if (!json_is_false(value))
            add_member(m, name, value, must);
        else if (must)
            schema_refuse(s, "%.60s is required, and nothing is allowed there",
                          name);
    }
    for (size_t i = 0; i < json_array_size(required) && !s->failed; i++) {
        name = json_string_value(json_array_get(required, i));
        if (!name)
            schema_refuse(s, "required: a name that is no string");
        else if (is_member(m, name))
            continue;
        else if (json_is_false(json_object_get(schema, "additionalProperties")))
            schema_refuse(s, "required: %.60s is none of the properties", name);
        else
            add_member(m, name, m->others ? m->others : json_true(), true);
    }
}

/* What is said of their number must hold of itself. */
static void
check_number(struct schema *s, const json_t *schema, const struct members *m)
{
    long min = schema_limit(s, schema, "minProperties", 0);
    long max = schema_limit(s, schema, "maxProperties", -1);
    long required = 0;

    for (size_t i = 0; i < m->n; i++)
        required += m->p[i].required;
    if (min > required)
        schema_refuse(s, "minProperties above the number of those that are "
                         "required is not supported");
    if (max >= 0 && m->others)
        schema_refuse(s, "maxProperties where any other name is allowed is not "
                         "supported");
    else if (max >= 0 && (long)m->n > max)
        schema_refuse(s, "maxProperties below the number of properties is not "
                         "supported");
}

/* The rule for a member of any other name. */
static int
rule_of_others(struct schema *s, const struct members *m)
{
    const char **names = cli_alloc(NULL, m->n + 1, sizeof(*names));
    struct buffer body = { 0 };
    int unlike, rule = schema_new_rules(s, 1);

    for (size_t i = 0; i < m->n; i++)
        names[i] = m->p[i].name;
    qsort(names, m->n, sizeof(*names), by_text);
    unlike = rule_unlike(s, names, m->n, 0);
    free(names);
    schema_add(&body, "\"\\\"\" r%d \":\" blank r%d", unlike,
               schema_rule_at(s, m->others, SCHEMA_INSIDE | SCHEMA_MAYBE,
                              "additionalProperties", NULL));
    schema_put_rule(s, rule, &body);
    buffer_clear(&body);
    return rule;
}

/* Rule number `rule`: member i and all that can follow it; `behind` others, a
 * comma comes first. */
static void
put_member(struct schema *s, const struct member *m, int value, int rule,
           bool behind)
{
    struct buffer body = { 0 };
    int next = rule - behind + 2;

    schema_add(&body, behind ? "\",\" blank " : "");
    add_name(s, &body, m->name);
    schema_add(&body, " \":\" blank r%d r%d", value, next + 1);
    if (!m->required)
        schema_add(&body, " | r%d", next + behind);
    schema_put_rule(s, rule, &body);
    buffer_clear(&body);
}

/* Two rules a member: what can follow where none has been written yet, and
 * behind a comma. The last two are of what has other names. */
void
schema_object(struct schema *s, struct buffer *b, json_t *schema)
{
    json_t *others = json_object_get(schema, "additionalProperties");
    struct members m = { NULL, 0, json_is_false(others) ? NULL : others };
    struct buffer last = { 0 }, first = { 0 };
    int rule;

    if (!others && !json_object_size(json_object_get(schema, "properties")) &&
        !json_array_size(json_object_get(schema, "required")))
        m.others = json_true();
    list_members(s, schema, &m);
    check_number(s, schema, &m);
    rule = schema_new_rules(s, 2 * (int)m.n + 2);
    for (size_t i = 0; i < m.n && !s->failed; i++) {
        int value =
            schema_rule_at(s, m.p[i].schema,
                           SCHEMA_INSIDE | (m.p[i].required ? 0 : SCHEMA_MAYBE),
                           "properties", m.p[i].name);

        put_member(s, &m.p[i], value, rule + 2 * (int)i, false);
        put_member(s, &m.p[i], value, rule + 2 * (int)i + 1, true);
    }
    schema_add(&first, "\"\"");
    schema_add(&last, "\"\"");
    if (m.others && !s->failed) {
        int other = rule_of_others(s, &m);

        schema_add(&first, " | r%d r%d", other, rule + 2 * (int)m.n + 1);
        schema_add(&last, " | \",\" blank r%d r%d", other,
                   rule + 2 * (int)m.n + 1);
    }
    schema_put_rule(s, rule + 2 * (int)m.n, &first);
    schema_put_rule(s, rule + 2 * (int)m.n + 1, &last);
    schema_add(b, "\"{\" r%d \"}\"", rule);
    buffer_clear(&first);
    buffer_clear(&last);
    free(m.p);
}

#endif
