/* object.c - objects
 *
 * Members stand in the schema's order. A rule is for member i and all that can
 * follow it, where c that are not required have been written: as many as
 * minProperties and maxProperties need to know of. */
#include <config.h>

#ifdef HAVE_JANSSON

#include "sample/schema/parts.h"

enum {
    MAX_MEMBERS = SCHEMA_MAX_RULES / 2,
    MAX_APART = 16, /* free names that must differ from each other */
};

/* A member that the schema names, or requires. */
struct member {
    const char *name;
    json_t *schema;
    int value; /* its rule */
    bool required;
};

struct object {
    struct schema *s;
    json_t *schema;
    struct member *p;
    size_t n;
    struct schema_names names;  /* all that are spoken of */
    json_t *others;             /* the schema of other members; or NULL */
    const json_t *patterns;     /* that their names match; or NULL */
    int other;                  /* the rule of one; or SCHEMA_NOTHING */
    long required, least, most; /* least, most: of those that are not */
    long cap;                   /* c is not counted further */
    int rule;                   /* of member 0, with c = 0 */
    int apart;                  /* of n_apart others that differ; 0: none yet */
    long n_apart;
};

/* ---- members ---- */

static bool
is_required(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!strcmp(json_string_value(json_array_get(list, i)), name))
            return true;
    return false;
}

/* The rule of its value; one that is not required may allow none, and is then
 * never written. */
static bool
add_member(struct object *o, const char *name, json_t *schema, bool required)
{
    int value = sample_schema_rule_at(o->s, schema, true, !required,
                                      "properties", name);

    o->names.p[o->names.n++] = name;
    if (value != SCHEMA_NOTHING)
        o->p[o->n++] = (struct member){ name, schema, value, required };
    o->required += required;
    return value != SCHEMA_NOTHING || !required;
}

static bool
has_property(const struct object *o, const char *name)
{
    for (size_t i = 0; i < o->names.n; i++)
        if (!strcmp(o->names.p[i], name))
            return true;
    return false;
}

/* Adds a required name; it may have no schema of its own. */
static bool
add_required(struct object *o, const char *name)
{
    json_t *others = json_object_get(o->schema, "additionalProperties");
    char shown[SCHEMA_SHOWN];

    if (has_property(o, name))
        return true;
    if (json_is_false(others))
        return sample_schema_nothing(o->s,
                                     "required: %s is none of the properties",
                                     sample_schema_show(shown, name));
    return add_member(o, name, others ? others : json_true(), true);
}

static bool
list_members(struct object *o)
{
    json_t *properties = json_object_get(o->schema, "properties"), *value;
    const json_t *required = json_object_get(o->schema, "required");
    size_t most = json_object_size(properties) + json_array_size(required);
    const char *name;
    bool some = true;

    if (most > MAX_MEMBERS) {
        sample_schema_refuse(o->s, "more than %d properties", MAX_MEMBERS);
        return false;
    }
    o->p = core_json_realloc(NULL, (most + 1) * sizeof(*o->p));
    o->names.p = core_json_realloc(NULL, (most + 1) * sizeof(*o->names.p));
    json_object_foreach(properties, name, value)
    {
        some = some && add_member(o, name, value, is_required(required, name));
    }
    for (size_t i = 0; some && i < json_array_size(required); i++)
        some = add_required(o, json_string_value(json_array_get(required, i)));
    return some;
}

/* ---- other members ---- */

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All patterns must say the same of the value: a name may match several. */
static void
check_patterns(struct object *o)
{
    json_t *others = json_object_get(o->schema, "additionalProperties"), *value;
    const char *pattern;

    if (o->n || o->names.n)
        sample_schema_refuse(o->s,
                             "patternProperties with properties or required "
                             "is not supported");
    if (others && !json_is_false(others))
        sample_schema_refuse(o->s,
                             "patternProperties with additionalProperties "
                             "that is not false is not supported");
    json_object_foreach((json_t *)o->patterns, pattern, value)
    {
        o->others = o->others ? o->others : value;
        if (!json_equal(value, o->others))
            sample_schema_refuse(o->s,
                                 "patternProperties with two different schemas "
                                 "are not supported");
    }
}

/* Where nothing is said of others they are written only if there must be some,
 * or if nothing is named at all. */
static void
find_others(struct object *o)
{
    json_t *others = json_object_get(o->schema, "additionalProperties");
    json_t *patterns = json_object_get(o->schema, "patternProperties");

    if (json_object_size(patterns)) {
        o->patterns = patterns;
        check_patterns(o);
    } else if (others) {
        o->others = others;
    } else if (!o->names.n || (long)o->n < o->required + o->least) {
        o->others = json_true();
    }
}

/* A name, with both of its quotation marks. */
static void
add_other_name(struct object *o, struct schema_text *b)
{
    json_t *value;
    const char *pattern;
    bool some = false;
    long min, max;

    if (!o->patterns) {
        sample_schema_add(b, "\"\\\"\" r%d",
                          sample_schema_rule_unlike(o->s, &o->names));
        return;
    }
    sample_schema_add(b, "\"\\\"\" (");
    json_object_foreach((json_t *)o->patterns, pattern, value)
    {
        sample_schema_add(b, some ? " | " : "");
        sample_schema_pattern(o->s, b, pattern, &min, &max);
        some = true;
    }
    sample_schema_add(b, ") \"\\\"\"");
}

static int
value_of_others(struct object *o)
{
    return sample_schema_rule_at(
        o->s, o->others, true, true,
        o->patterns ? "patternProperties" : "additionalProperties", NULL);
}

/* The rule for a member of any other name. */
static int
rule_of_others(struct object *o)
{
    struct schema_text body = { 0 };
    int value = o->others ? value_of_others(o) : SCHEMA_NOTHING, rule;

    if (value == SCHEMA_NOTHING)
        return SCHEMA_NOTHING;
    rule = sample_schema_new_rules(o->s, 1);
    add_other_name(o, &body);
    sample_schema_add(&body, " \":\" blank r%d", value);
    sample_schema_put_rule(o->s, rule, &body);
    sample_schema_text_clear(&body);
    return rule;
}

/* ---- other members that must be there ---- */

static const char initials[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                               "abcdefghijklmnopqrstuvwxyz";

enum {
    INITIALS = sizeof(initials) - 1,
};

/* The rest of a member, after the quotation mark, whose name begins with
 * initials[i] or one after it; and `left` more, that begin with those after
 * that. `rest`: of the name. */
static void
put_initial(struct object *o, int rule, int i, long left, int rest, int value)
{
    struct schema_text body = { 0 };

    if (left < INITIALS - i) {
        sample_schema_add(&body, "\"%c\" r%d \":\" blank r%d", initials[i],
                          rest, value);
        if (left)
            sample_schema_add(&body, " \",\" blank \"\\\"\" r%d",
                              rule + INITIALS + 1);
    }
    if (left + 1 < INITIALS - i)
        sample_schema_add(&body, " | r%d", rule + 1);
    if (body.len)
        sample_schema_put_rule(o->s, rule, &body);
    sample_schema_text_clear(&body);
}

/* The rules for n members and fewer, each with another name. */
static void
put_apart(struct object *o, long n)
{
    int value = value_of_others(o), rest[INITIALS];

    for (int i = 0; i < INITIALS; i++)
        rest[i] = sample_schema_rule_unlike_from(o->s, &o->names, initials[i]);
    o->n_apart = n;
    o->apart = sample_schema_new_rules(o->s, (int)n * INITIALS);
    for (int k = 0; k < n && !o->s->failed; k++)
        for (int i = 0; i < INITIALS; i++)
            put_initial(o, o->apart + k * INITIALS + i, i, n - 1 - k, rest[i],
                        value);
}

/* The rule for n of them, after the first quotation mark. */
static int
rule_of_apart(struct object *o, long n)
{
    if (!o->n_apart)
        put_apart(o, n);
    return o->apart + (int)(o->n_apart - n) * INITIALS;
}

/* From min to max others, after a comma or not; the same name twice is one. */
static void
add_others(struct object *o, struct schema_text *b, long min, long max,
           bool after)
{
    if (min > 1 && o->patterns)
        sample_schema_refuse(o->s,
                             "minProperties above 1 with patternProperties is "
                             "not supported");
    else if (min > MAX_APART)
        sample_schema_refuse(o->s,
                             "minProperties of more than %d names that are not "
                             "given is not supported",
                             MAX_APART);
    if (min > 1 && !o->s->failed) {
        sample_schema_add(b, "%s \"\\\"\" r%d", after ? "\",\" blank" : "",
                          rule_of_apart(o, min));
        sample_schema_add_more(o->s, b, o->other, 0, max < 0 ? -1 : max - min);
    } else if (after) {
        sample_schema_add_more(o->s, b, o->other, min, max);
    } else {
        sample_schema_add_items(o->s, b, o->other, min, max);
    }
}

/* ---- the rules ---- */

static long
max_of(long a, long b)
{
    return a > b ? a : b;
}

static int
rule_at(const struct object *o, size_t i, long c)
{
    return o->rule + (int)i * (int)(o->cap + 1) +
           (int)(c < o->cap ? c : o->cap);
}

/* Member i and what follows; `later`: how many after are not required. */
static void
put_member(struct object *o, size_t i, long c, long later, bool after)
{
    const struct member *m = &o->p[i];
    struct schema_text body = { 0 };
    bool write = m->required || o->most < 0 || c < o->most;

    if (write) {
        sample_schema_add(&body, after ? "\",\" blank " : "");
        sample_schema_add_name(o->s, &body, m->name);
        sample_schema_add(&body, " \":\" blank r%d r%d", m->value,
                          rule_at(o, i + 1, c + !m->required));
    }
    if (!m->required &&
        (c + later >= o->least || o->other != SCHEMA_NOTHING || !write))
        sample_schema_add(&body, "%sr%d", write ? " | " : "",
                          rule_at(o, i + 1, c));
    sample_schema_put_rule(o->s, rule_at(o, i, c), &body);
    sample_schema_text_clear(&body);
}

/* After all that are named. */
static void
put_last(struct object *o, long c)
{
    struct schema_text body = { 0 };

    sample_schema_add(&body, "\"\"");
    if (o->other != SCHEMA_NOTHING)
        add_others(o, &body, max_of(o->least - c, 0),
                   o->most < 0 ? -1 : o->most - c, c || o->required);
    sample_schema_put_rule(o->s, rule_at(o, o->n, c), &body);
    sample_schema_text_clear(&body);
}

static void
put_rules(struct object *o)
{
    long optional = (long)o->n - o->required, before = 0;
    bool after = false;

    o->cap = max_of(o->least < optional ? o->least : optional, 1);
    if (o->most >= 0 && (o->most < optional || o->other != SCHEMA_NOTHING))
        o->cap = o->most < optional ? o->most : optional;
    o->rule =
        sample_schema_new_rules(o->s, ((int)o->n + 1) * (int)(o->cap + 1));
    for (size_t i = 0; i < o->n && !o->s->failed; i++) {
        bool optional_one = !o->p[i].required;

        for (long c = 0; c <= o->cap && c <= before; c++)
            put_member(o, i, c, optional - before - optional_one, c || after);
        before += optional_one;
        after = after || o->p[i].required;
    }
    for (long c = 0; c <= o->cap && !o->s->failed; c++)
        put_last(o, c);
}

/* ---- all of it ---- */

static bool
add_object(struct object *o, struct schema_text *b)
{
    long min = sample_schema_least(o->s, o->schema, "minProperties");
    long max = sample_schema_most(o->schema, "maxProperties");

    if (!list_members(o))
        return false;
    qsort(o->names.p, o->names.n, sizeof(*o->names.p), by_text);
    o->least = max_of(min - o->required, 0);
    o->most = max < 0 ? -1 : max - o->required;
    find_others(o);
    o->other = rule_of_others(o);
    if (max >= 0 && (o->most < 0 || o->most < o->least))
        return sample_schema_nothing(o->s,
                                     "maxProperties is below what must be "
                                     "there");
    if (o->other == SCHEMA_NOTHING && (long)o->n < o->required + o->least)
        return sample_schema_nothing(
            o->s, "minProperties is above the number of names that are given");
    put_rules(o);
    sample_schema_add(b, "\"{\" r%d \"}\"", o->rule);
    return true;
}

bool
sample_schema_object(struct schema *s, struct schema_text *b, json_t *schema)
{
    struct object o = { .s = s, .schema = schema };
    bool some = add_object(&o, b);

    core_json_free(o.p);
    core_json_free(o.names.p);
    return some;
}

#endif
