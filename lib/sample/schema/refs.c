/* refs.c - where each $ref leads: pointers, anchors, schemas with an $id
 *
 * All schemas in the schema are met once, with the URI that holds there. What
 * has one or an anchor is listed; then each $ref becomes a number of what it
 * leads to. */
#include <config.h>

#ifdef HAVE_JANSSON

#include "sample/schema/parts.h"

enum {
    MAX_NESTING = 500, /* of schemas in each other, used or not */
};

/* A schema with a $ref, and the URI that holds there. */
struct reference {
    json_t *schema;
    const char *base;
};

struct refs {
    struct schema *s;
    json_t *found; /* URI, "URI#anchor": a number in s->targets */
    json_t *met;   /* address of a schema that was met: its number, or true */
    struct reference *list;
    size_t n, cap;
    const char *base; /* that holds where we are */
    int depth;
    bool draft4; /* where $id was id */
    bool alone;  /* drafts up to 7: keywords next to a $ref do not count */
};

/* ---- targets ---- */

enum {
    ADDRESS = 32, /* bytes of one as text */
    NAME = 2 * SCHEMA_MAX_URI,
};

static bool
is_met(const struct refs *r, const json_t *schema)
{
    char address[ADDRESS];

    snprintf(address, sizeof(address), "%p", (const void *)schema);
    return json_object_get(r->met, address) != NULL;
}

static json_int_t
number_of(struct refs *r, json_t *schema)
{
    struct schema *s = r->s;
    const json_t *known;
    char address[ADDRESS];

    snprintf(address, sizeof(address), "%p", (const void *)schema);
    known = json_object_get(r->met, address);
    if (json_is_integer(known))
        return json_integer_value(known);
    if (s->n_targets == s->targets_cap) {
        s->targets_cap = 2 * s->targets_cap + 64;
        s->targets =
            core_json_realloc(s->targets, s->targets_cap * sizeof(*s->targets));
    }
    s->targets[s->n_targets] = schema;
    json_object_set_new(r->met, address,
                        json_integer((json_int_t)s->n_targets));
    return (json_int_t)s->n_targets++;
}

/* False: too long. */
static bool
put_together(char *name, const char *uri, const char *anchor)
{
    return snprintf(name, NAME, "%s%s%s", uri, anchor ? "#" : "",
                    anchor ? anchor : "") < NAME;
}

/* The first of a name counts. */
static void
list(struct refs *r, const char *uri, const char *anchor, json_t *schema)
{
    char name[NAME];

    if (put_together(name, uri, anchor) && !json_object_get(r->found, name))
        json_object_set_new(r->found, name, json_integer(number_of(r, schema)));
}

static json_t *
find_anchor(const struct refs *r, const char *uri, const char *anchor)
{
    const json_t *number = NULL;
    char name[NAME];

    if (put_together(name, uri, anchor))
        number = json_object_get(r->found, name);
    return number ? r->s->targets[json_integer_value(number)] : NULL;
}

/* A URI that is listed, as long as the list lives. */
static const char *
keep_uri(const struct refs *r, const char *uri)
{
    return json_object_iter_key(json_object_iter_at(r->found, uri));
}

/* ---- pointers ---- */

/* ~1 is a slash, ~0 a tilde; in place. */
static void
unescape(char *name)
{
    char *out = name;

    for (; *name; name++)
        if (name[0] == '~' && (name[1] == '0' || name[1] == '1'))
            *out++ = *++name == '0' ? '~' : '/';
        else
            *out++ = *name;
    *out = '\0';
}

static json_t *
element(const json_t *list, const char *name)
{
    size_t digits = strspn(name, "0123456789");

    if (!digits || name[digits] || digits > 9 || (*name == '0' && digits > 1))
        return NULL;
    return json_array_get(list, strtoul(name, NULL, 10));
}

/* The value at "/a/b" in a schema. The text is taken apart. */
static json_t *
follow(json_t *at, char *pointer)
{
    while (at && pointer) {
        char *name = pointer + 1;

        pointer = strchr(name, '/');
        if (pointer)
            *pointer = '\0';
        unescape(name);
        at = json_is_array(at) ? element(at, name) : json_object_get(at, name);
    }
    return at;
}

static json_t *
find_fragment(const struct refs *r, const char *uri, const char *text)
{
    char *fragment = core_json_realloc(NULL, strlen(text) + 1);
    json_t *at;

    strcpy(fragment, text);
    sample_schema_percent_decode(fragment);
    if (*fragment == '/')
        at = follow(find_anchor(r, uri, NULL), fragment);
    else
        at = find_anchor(r, uri, *fragment ? fragment : NULL);
    core_json_free(fragment);
    return at;
}

/* ---- all schemas ---- */

static void
list_reference(struct refs *r, json_t *schema)
{
    if (!json_object_get(schema, "$ref"))
        return;
    if (r->n == r->cap)
        r->list = core_json_realloc(r->list, (r->cap = 2 * r->cap + 64) *
                                                 sizeof(*r->list));
    r->list[r->n++] = (struct reference){ schema, r->base };
}

/* Its own URI, or where that is a fragment alone, an anchor. */
static void
list_id(struct refs *r, json_t *schema)
{
    const char *id =
        json_string_value(json_object_get(schema, r->draft4 ? "id" : "$id"));
    char uri[SCHEMA_MAX_URI];

    if (!id ||
        (r->alone && schema != r->s->root && json_object_get(schema, "$ref")))
        return;
    if (*id == '#') {
        list(r, r->base, id[1] ? id + 1 : NULL, schema);
    } else if (!sample_schema_resolve_uri(r->base, id, uri, sizeof(uri))) {
        sample_schema_refuse(r->s, "$id is longer than %d bytes",
                             SCHEMA_MAX_URI);
    } else {
        list(r, uri, NULL, schema);
        r->base = keep_uri(r, uri);
    }
}

static void
list_anchor(struct refs *r, json_t *schema, const char *key)
{
    const char *name = json_string_value(json_object_get(schema, key));

    if (name)
        list(r, r->base, name, schema);
}

static void
meet(struct schema *s, json_t *schema, void *data)
{
    struct refs *r = data;
    const char *base = r->base;
    char address[ADDRESS];

    snprintf(address, sizeof(address), "%p", (const void *)schema);
    if (json_object_get(r->met, address) == NULL)
        json_object_set_new(r->met, address, json_true());
    if (++r->depth > MAX_NESTING)
        sample_schema_refuse(s, "more than %d levels", MAX_NESTING);
    sample_schema_check_words(s, schema);
    if (!s->failed) {
        list_id(r, schema);
        list_anchor(r, schema, "$anchor");
        list_anchor(r, schema, "$dynamicAnchor");
        list_reference(r, schema);
        sample_schema_each(s, schema, meet, r);
    }
    r->depth--;
    r->base = base;
}

/* ---- each $ref ---- */

/* A schema that is in none of the keywords, and is led to, is met now. */
static void
follow_reference(struct refs *r, const struct reference *from)
{
    const char *ref = json_string_value(json_object_get(from->schema, "$ref"));
    const char *mark = strchr(ref, '#');
    char uri[SCHEMA_MAX_URI];
    json_t *at = NULL;

    if (sample_schema_resolve_uri(from->base, ref, uri, sizeof(uri)))
        at = find_fragment(r, uri, mark ? mark + 1 : "");
    if (!at)
        return;
    if (json_is_object(at) && !is_met(r, at)) {
        r->base = keep_uri(r, uri);
        snprintf(r->s->path, sizeof(r->s->path), "%.200s", ref);
        meet(r->s, at, r);
        if (!r->s->failed)
            strcpy(r->s->path, "#");
    }
    json_object_set_new(from->schema, "$ref", json_integer(number_of(r, at)));
}

void
sample_schema_find_refs(struct schema *s)
{
    const char *draft = json_string_value(json_object_get(s->root, "$schema"));
    struct refs r = { .s = s, .found = json_object(), .met = json_object() };

    r.draft4 =
        draft && (strstr(draft, "draft-04") || strstr(draft, "draft-03"));
    r.alone =
        r.draft4 ||
        (draft && (strstr(draft, "draft-06") || strstr(draft, "draft-07")));
    if (!r.found || !r.met)
        sample_schema_refuse(s, "no memory");
    list(&r, "", NULL, s->root);
    r.base = keep_uri(&r, "");
    if (json_is_object(s->root) && !s->failed)
        meet(s, s->root, &r);
    for (size_t i = 0; i < r.n && !s->failed; i++) {
        struct reference from = r.list[i];

        follow_reference(&r, &from);
    }
    json_decref(r.found);
    json_decref(r.met);
    core_json_free(r.list);
}

#endif
