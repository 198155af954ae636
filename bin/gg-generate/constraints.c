/* constraints.c - the grammar of a record in JSON, and what stands for one */
#include <config.h>

#include "gg-generate/records.h"

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-generate/members.h"
#include "gg-generate/overrides.h"

static enum gg_status
take_grammar(const struct override *o, bool schema, const char *text,
             size_t len, struct gg_error *err)
{
    struct gg_error why;
    enum gg_status st = grammars_take(&o->g->grammars, o->g->engine.vocab,
                                      schema, text, len, &o->r->grammar, &why);

    if (st == GG_OK)
        return st;
    cli_error(err, GG_ERR_FORMAT, "%s: %.*s",
              schema ? "json_schema" : "grammar", (int)sizeof(why.message) - 20,
              why.message);
    return st;
}

static enum gg_status
take_no_grammar(const struct override *o)
{
    o->r->sampling.params.grammar = NULL;
    return GG_OK;
}

/* The text itself, "" for none. */
static enum gg_status
set_grammar(const struct override *o, struct gg_error *err)
{
    if (!json_is_string(o->value))
        return cli_error(err, GG_ERR_FORMAT,
                         "grammar: not a string with a grammar in it");
    if (json_string_length(o->value) == 0)
        return take_no_grammar(o);
    return take_grammar(o, false, json_string_value(o->value),
                        json_string_length(o->value), err);
}

/* The schema as it stands in the text of an object with `name`: the order of
 * members counts. */
static enum gg_status
take_schema(const struct override *o, const char *text, const char *name,
            const json_t *value, struct gg_error *err)
{
    struct member m;

    if (!json_is_object(value) && !json_is_boolean(value))
        return cli_error(err, GG_ERR_FORMAT,
                         "json_schema: neither an object nor true or false");
    if (!member_find(text, name, &m))
        return cli_error(err, GG_ERR_FORMAT,
                         "json_schema: written with escapes");
    return take_grammar(o, true, m.value, (size_t)(m.end - m.value), err);
}

/* {"type": "json_schema", "json_schema": {"schema": ...}}, as OpenAI has it; or
 * with the schema beside the type, as servers of others do. */
static enum gg_status
set_format(const struct override *o, struct gg_error *err)
{
    static const char any[] = "{\"type\":\"object\"}";
    const char *type = json_string_value(json_object_get(o->value, "type"));
    const json_t *inner = json_object_get(o->value, "json_schema");
    const json_t *schema = json_object_get(inner ? inner : o->value, "schema");
    struct member m;

    if (!type || (strcmp(type, "text") && strcmp(type, "json_object") &&
                  strcmp(type, "json_schema")))
        return cli_error(err, GG_ERR_FORMAT,
                         "response_format: a type that is none of "
                         "text, json_object, json_schema");
    if (strcmp(type, "text") == 0)
        return take_no_grammar(o);
    if (!schema && strcmp(type, "json_object") == 0)
        return take_grammar(o, true, any, strlen(any), err);
    if (!schema || !member_find(o->text, "response_format", &m) ||
        (inner && !member_find(m.value, "json_schema", &m)))
        return cli_error(err, GG_ERR_FORMAT, "response_format: no schema");
    return take_schema(o, m.value, "schema", schema, err);
}

enum gg_status
override_constraint(const struct override *o, struct gg_error *err)
{
    enum gg_status st;

    if (o->r->grammar)
        return cli_error(err, GG_ERR_FORMAT,
                         "two of grammar, json_schema and response_format");
    if (*o->key == 'g')
        st = set_grammar(o, err);
    else if (*o->key == 'r')
        st = set_format(o, err);
    else
        st = take_schema(o, o->text, o->key, o->value, err);
    if (st == GG_OK && o->r->grammar)
        o->r->sampling.params.grammar = grammars_get(o->r->grammar);
    o->r->is_json = o->r->grammar && *o->key != 'g';
    return st;
}

#endif
