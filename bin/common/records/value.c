/* value.c - values of a record in JSON, each with the text that it was read
 * from */
#include <config.h>

#include "common/records/value.h"

#ifdef HAVE_JANSSON

#include <stdlib.h>
#include <string.h>

#include "common/json.h"

enum {
    FLAGS = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL,
};

/* ---- strings ---- */

/* Whether the quote at `end` is one of the string that begins at `p`. */
static bool
is_escaped(const char *p, const char *end)
{
    const char *first = end;

    while (first - 1 > p && first[-1] == '\\')
        first--;
    return (end - first) % 2 != 0;
}

/* ---- objects ---- */

enum gg_status
record_value_read(const char *line, size_t len, struct record_value *out,
                  struct gg_error *err)
{
    char why[CLI_JSON_WHY];
    json_error_t e;
    bool no_memory;
    json_t *json = cli_json_try_load(line, len, FLAGS, &e, &no_memory);

    *out = (struct record_value){ json, line, len };
    if (json_is_object(json))
        return GG_OK;
    *out = (struct record_value){ 0 };
    if (no_memory)
        return cli_error(err, GG_ERR_NOMEM, "out of memory");
    if (!json)
        return cli_error(err, GG_ERR_FORMAT, "not JSON: %s",
                         cli_json_why(why, &e));
    json_decref(json);
    return cli_error(err, GG_ERR_FORMAT, "not an object in JSON");
}

void
record_value_clear(struct record_value *v)
{
    json_decref(v->json);
    *v = (struct record_value){ 0 };
}

/* ---- places in a text that Jansson has read ---- */

static const char *
skip_space(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')
        p++;
    return p;
}

static const char *
skip_string(const char *p)
{
    const char *end = p;

    do
        end = strchr(end + 1, '"');
    while (is_escaped(p, end));
    return end + 1;
}

/* A value of an object: a comma, a brace or white space follows it. */
static const char *
skip_value(const char *p)
{
    size_t depth = 0;

    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        depth += *p == '[' || *p == '{';
        depth -= *p == ']' || *p == '}';
        p++;
    } while (depth || !strchr(",]} \t\r\n", *p));
    return p;
}

/* Reads the member whose place Jansson's iterator has, after a brace or a comma
 * in the text. */
static void
read_member(void *at, const char *begin, struct record_member *m)
{
    const char *colon = skip_space(skip_string(skip_space(begin)));

    m->begin = begin;
    m->key = json_object_iter_key(at);
    m->value.json = json_object_iter_value(at);
    m->value.text = skip_space(colon + 1);
    m->value.len = (size_t)(skip_value(m->value.text) - m->value.text);
}

/* Where the text goes on after a member, or an object's brace. */
static const char *
after_member(const struct record_member *m)
{
    return skip_space(m->value.text + m->value.len) + 1;
}

/* A number that Jansson has no type for is an object to it, and no text of one.
 */
static bool
is_of(const struct record_value *v, char bracket)
{
    return v->json && *skip_space(v->text) == bracket;
}

/* Jansson keeps the order of members, each of which is there once. */
void
record_object_open(const struct record_value *v, struct record_object *out)
{
    size_t n = is_of(v, '{') ? json_object_size(v->json) : 0;
    void *at = n ? json_object_iter(v->json) : NULL;
    const char *begin = n ? skip_space(v->text) + 1 : NULL;

    *out = (struct record_object){ .value = *v };
    out->members = cli_alloc(NULL, n, sizeof(*out->members));
    for (; at; at = json_object_iter_next(v->json, at)) {
        read_member(at, begin, &out->members[out->n]);
        begin = after_member(&out->members[out->n++]);
    }
}

void
record_object_close(struct record_object *o)
{
    free(o->members);
    *o = (struct record_object){ 0 };
}

const struct record_value *
record_object_find(const struct record_object *o, const char *name)
{
    for (size_t i = 0; i < o->n; i++)
        if (strcmp(o->members[i].key, name) == 0)
            return &o->members[i].value;
    return NULL;
}

bool
record_value_find(const struct record_value *object, const char *name,
                  struct record_value *out)
{
    struct record_member m;
    void *at = json_object_iter(object->json);
    const char *begin;

    *out = (struct record_value){ 0 };
    if (!json_object_get(object->json, name) || !is_of(object, '{'))
        return false;
    begin = skip_space(object->text) + 1;
    read_member(at, begin, &m);
    while (strcmp(m.key, name) != 0) {
        at = json_object_iter_next(object->json, at);
        read_member(at, after_member(&m), &m);
    }
    *out = m.value;
    return true;
}

void
record_items_open(const struct record_value *v, struct record_items *out)
{
    *out = (struct record_items){ .json = v->json };
    if (!is_of(v, '['))
        return;
    out->n = json_array_size(v->json);
    out->next = skip_space(v->text) + 1;
}

bool
record_items_next(struct record_items *it, struct record_value *out)
{
    *out = (struct record_value){ 0 };
    if (it->i == it->n)
        return false;
    out->json = json_array_get(it->json, it->i++);
    out->text = skip_space(it->next);
    out->len = (size_t)(skip_value(out->text) - out->text);
    it->next = skip_space(out->text + out->len) + 1;
    return true;
}

int64_t
record_value_date(const struct record_value *object, const char *name)
{
    const json_t *member = json_object_get(object->json, name);
    double date = json_number_value(member);

    if (!member)
        return 0;
    return date >= 1 && date < 1e15 ? (int64_t)date : -1;
}

#endif
