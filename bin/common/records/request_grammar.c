/* request_grammar.c - the grammar of a request, and what stands for one */
#include <config.h>

#include <string.h>

#include "common/records/request_parts.h"

enum gg_status
request_take_grammar(struct requests *all, struct request *r, const char *text,
                     size_t len, struct gg_error *err)
{
    enum gg_status st = grammars_take(&all->grammars, all->vocab, false, text,
                                      len, &r->grammar.entry, err);

    if (st == GG_OK)
        r->sampling.params.grammar = grammars_get(r->grammar.entry);
    return st;
}

#ifdef HAVE_JANSSON

static enum gg_status
take_grammar(const struct request_member *m, bool schema, const char *text,
             size_t len, struct gg_error *err)
{
    struct request_grammar *own = &m->r->grammar;
    struct gg_error why;
    enum gg_status st = GG_OK;

    if (m->all->vocab)
        st = grammars_take(&m->all->grammars, m->all->vocab, schema, text, len,
                           &own->entry, &why);
    own->is_json = schema && st == GG_OK;
    if (st == GG_OK)
        return st;
    cli_error(err, GG_ERR_FORMAT, "%s: %.*s",
              schema ? "json_schema" : "grammar", (int)sizeof(why.message) - 20,
              why.message);
    return st;
}

static enum gg_status
take_no_grammar(const struct request_member *m)
{
    m->r->sampling.params.grammar = NULL;
    return GG_OK;
}

/* The text itself, "" for none. */
static enum gg_status
set_text(const struct request_member *m, struct gg_error *err)
{
    if (!json_is_string(m->value.json))
        return cli_error(err, GG_ERR_FORMAT,
                         "grammar: not a string with a grammar in it");
    if (json_string_length(m->value.json) == 0)
        return take_no_grammar(m);
    return take_grammar(m, false, json_string_value(m->value.json),
                        json_string_length(m->value.json), err);
}

/* The schema as it was written: the order of members counts. */
static enum gg_status
take_schema(const struct request_member *m, const struct record_value *schema,
            struct gg_error *err)
{
    if (!json_is_object(schema->json) && !json_is_boolean(schema->json))
        return cli_error(err, GG_ERR_FORMAT,
                         "json_schema: neither an object nor true or false");
    return take_grammar(m, true, schema->text, schema->len, err);
}

/* {"type": "json_schema", "json_schema": {"schema": ...}}, as OpenAI has it; or
 * with the schema next to the type, as servers of others do. */
static enum gg_status
set_format(const struct request_member *m, struct gg_error *err)
{
    static const char any[] = "{\"type\":\"object\"}";
    const char *type =
        json_string_value(json_object_get(m->value.json, "type"));
    struct record_value inner, schema;

    if (!record_value_find(&m->value, "json_schema", &inner))
        inner = m->value;
    record_value_find(&inner, "schema", &schema);
    if (!type || (strcmp(type, "text") && strcmp(type, "json_object") &&
                  strcmp(type, "json_schema")))
        return cli_error(err, GG_ERR_FORMAT,
                         "response_format: a type that is none of "
                         "text, json_object, json_schema");
    if (strcmp(type, "text") == 0)
        return take_no_grammar(m);
    if (!schema.json && strcmp(type, "json_object") == 0)
        return take_grammar(m, true, any, strlen(any), err);
    if (!schema.json)
        return cli_error(err, GG_ERR_FORMAT, "response_format: no schema");
    return take_schema(m, &schema, err);
}

enum gg_status
request_set_grammar(const struct request_member *m, struct gg_error *err)
{
    struct request *r = m->r;
    enum gg_status st;

    if (r->grammar.entry)
        return cli_error(err, GG_ERR_FORMAT,
                         "two of grammar, json_schema and response_format");
    if (*m->key == 'g')
        st = set_text(m, err);
    else if (*m->key == 'r')
        st = set_format(m, err);
    else
        st = take_schema(m, &m->value, err);
    if (st == GG_OK && r->grammar.entry)
        r->sampling.params.grammar = grammars_get(r->grammar.entry);
    return st;
}

#endif
