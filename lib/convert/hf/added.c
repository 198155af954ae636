/* added.c - tokens that were added to those that were trained
 *
 * tokenizers does not read the ids of added tokens: a text that the vocabulary
 * has keeps its id there, any other gets the next one. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdlib.h>
#include <string.h>

#include "convert/hf/tokens.h"
#include "core/mem.h"

struct added {
    const char *text; /* NULL: none */
    size_t len;
    int64_t id; /* as written */
    size_t number;
    const json_t *flags; /* NULL: the file has none */
};

/* Whether an added token is a run of U+2581 that merges make, too: no text has
 * it before its blanks are marked. */
static bool
is_made(const struct hf_tokens *t, int64_t id, const struct added *a)
{
    static const char mark[] = "\xe2\x96\x81";
    const size_t n = strlen(mark);
    const char *text = a->text;
    size_t len = a->len;

    if (!t->kind->named || t->types[id] != GG_TOKEN_NORMAL)
        return false;
    while (len >= n && !memcmp(text, mark, n)) {
        text += n;
        len -= n;
    }
    return len == 0;
}

/* WordPiece drops white space, whatever takes it. */
static void
set_strips(struct hf_tokens *t, int64_t id, const json_t *flags)
{
    bool left = json_is_true(json_object_get(flags, "lstrip"));
    bool right = json_is_true(json_object_get(flags, "rstrip"));

    if (!t->kind->words)
        t->strips[id] = (uint8_t)((left ? HF_STRIPS_LEFT : 0) |
                                  (right ? HF_STRIPS_RIGHT : 0));
}

/* ---- ids ----------------------------------------------------------------- */

/* Where ids of the vocabulary have holes, the next one can be taken. Files
 * other than tokenizer.json mean the ids that they write. */
static int64_t
id_of_new(const struct hf_tokens *t, const struct added *a)
{
    bool taken = t->next < t->n && t->types[t->next];

    return t->file.object && !taken ? t->next : a->id;
}

/* The id; *known: a token has that text already. */
static int64_t
find_id(struct hf_tokens *t, const struct added *a, bool *known)
{
    uint32_t index;
    int64_t id;

    *known = hash_map_find(&t->ids, a->text, a->len, &index);
    id = *known ? (int64_t)index : id_of_new(t, a);
    if (!*known && id >= 0 && id <= INT32_MAX)
        hash_map_add(&t->ids, a->text, a->len, (uint32_t)id);
    if (id >= t->next && id <= INT32_MAX)
        t->next = id + 1;
    return id;
}

/* ---- one token ----------------------------------------------------------- */

static int32_t
type_of(const struct added *a)
{
    return json_is_true(json_object_get(a->flags, "special"))
               ? GG_TOKEN_CONTROL
               : GG_TOKEN_USER_DEFINED;
}

/* Whether a token that has the text already stays as it is. A file without
 * flags knows less than any other. */
static bool
stays(const struct hf_tokens *t, int64_t id, const struct added *a)
{
    int32_t type = t->types[id];

    return a->flags ? type == GG_TOKEN_UNKNOWN : type != GG_TOKEN_NORMAL;
}

/* The flags of the last file count, but what one calls a control token is one.
 */
static void
replace(struct hf_tokens *t, int64_t id, const struct added *a, bool later)
{
    if (stays(t, id, a))
        return;
    set_strips(t, id, a->flags);
    if (!later || t->types[id] != GG_TOKEN_CONTROL)
        t->types[id] = type_of(a);
}

/* Files other than tokenizer.json may name those that were trained anew. */
static void
put_new(struct hf_tokens *t, int64_t id, const struct added *a)
{
    bool within = id >= 0 && id < t->n;

    if (within && !t->file.object && a->flags) {
        if (t->types[id] == GG_TOKEN_UNKNOWN)
            return;
        t->types[id] = 0;
    }
    convert_hf_token_put(t, id, a->text, a->len, type_of(a));
    if (convert_hf_good(t->h))
        set_strips(t, id, a->flags);
}

/* One without a row in the table of embeddings is left out: no model can read
 * it. `later`: a file before has added tokens. */
static void
put_added(struct hf_tokens *t, const struct added *a, bool later)
{
    bool known;
    int64_t id;

    if (!a->text || !a->len) {
        core_json_bad(&t->h->here, GG_ERR_FORMAT,
                      "added token %lld has no text", (long long)a->id);
        return;
    }
    id = find_id(t, a, &known);
    if (id >= t->n && id <= INT32_MAX)
        return;
    if (!known)
        put_new(t, id, a);
    else if (type_of(a) == GG_TOKEN_CONTROL || !is_made(t, id, a))
        replace(t, id, a, later);
}

/* ---- files --------------------------------------------------------------- */

static int
by_id(const void *a, const void *b)
{
    const struct added *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static size_t
read_list(const struct hf_tokens *t, struct added *all)
{
    const json_t *list = json_object_get(t->file.object, "added_tokens"), *v;
    size_t i;

    json_array_foreach(list, i, v)
    {
        const json_t *text = json_object_get(v, "content");

        all[i] =
            (struct added){ json_string_value(text), json_string_length(text),
                            json_integer_value(json_object_get(v, "id")), i,
                            v };
    }
    return json_array_size(list);
}

/* By their ids, which are texts there. */
static size_t
read_map(json_t *map, struct added *all)
{
    size_t n = 0;
    const char *id;
    json_t *v;
    char *end;

    json_object_foreach(map, id, v)
    {
        const json_t *text = json_object_get(v, "content");
        long long number = strtoll(id, &end, 10);

        all[n] =
            (struct added){ json_string_value(text), json_string_length(text),
                            *end ? -1 : number, n, v };
        n++;
    }
    return n;
}

/* The file of older folders, where no flags are: {"text": id}. */
static size_t
read_texts(json_t *texts, struct added *all)
{
    size_t n = 0;
    const char *text;
    json_t *id;

    json_object_foreach(texts, text, id)
    {
        all[n] =
            (struct added){ text, strlen(text),
                            json_is_integer(id) ? json_integer_value(id) : -1,
                            n, NULL };
        n++;
    }
    return n;
}

static void
sort(struct added *all, size_t n)
{
    if (n > 1)
        qsort(all, n, sizeof(*all), by_id);
}

static void
put_file(struct hf_tokens *t, struct added *all)
{
    size_t n = read_list(t, all);

    sort(all, n);
    for (size_t i = 0; i < n && convert_hf_good(t->h); i++)
        put_added(t, &all[i], false);
}

/* transformers reads these by their ids: the last of an id counts, and before
 * those of the older file those of tokenizer.json do. */
static void
put_more(struct hf_tokens *t, json_t *map, struct added *all)
{
    size_t n = map ? read_map(map, all) : read_texts(t->added, all), first = n;

    if (!map)
        n += read_list(t, all + n);
    for (size_t i = first; i < n; i++)
        all[i].number = i;
    sort(all, n);
    for (size_t i = 0; i < n && convert_hf_good(t->h); i++)
        if (i + 1 == n || all[i + 1].id != all[i].id)
            put_added(t, &all[i], t->file.object != NULL);
}

/* The last of trained tokens that are written alike counts; the others get no
 * text. */
static void
index_trained(struct hf_tokens *t)
{
    t->next = 0;
    for (int32_t i = t->n - 1; i >= 0; i--) {
        if (!t->types[i])
            continue;
        t->next++;
        if (hash_map_add(&t->ids, t->text[i].s, t->text[i].n, (uint32_t)i) !=
            (uint32_t)i)
            t->types[i] = 0;
    }
}

void
convert_hf_add_tokens(struct hf_tokens *t)
{
    const json_t *list = core_json_array_of(&t->file, "added_tokens");
    json_t *map = (json_t *)(uintptr_t)core_json_object_of(
        &t->config, "added_tokens_decoder");
    size_t n = json_array_size(list) + json_object_size(map) +
               json_object_size(t->added);
    struct added *all = mem_array(n + 1, sizeof(*all));

    if (all && hash_map_init(&t->ids, (size_t)t->n + n)) {
        index_trained(t);
        put_file(t, all);
        put_more(t, map, all);
    } else {
        t->h->here.status = error_nomem(t->h->here.err);
    }
    hash_map_clear(&t->ids);
    mem_free(all);
}

#endif
