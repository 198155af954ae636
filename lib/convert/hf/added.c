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

    if (!t->kind->named || id < 0 || t->types[id] != GG_TOKEN_NORMAL)
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
    if (id < 0 || t->kind->words)
        return;
    if (json_is_true(json_object_get(flags, "lstrip")))
        t->strips[id] |= HF_STRIPS_LEFT;
    if (json_is_true(json_object_get(flags, "rstrip")))
        t->strips[id] |= HF_STRIPS_RIGHT;
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

/* Whether it says nothing of a token that has that text already: the first
 * file that adds it counts, and one without flags knows less than any. */
static bool
says_nothing(const struct hf_tokens *t, int64_t id, const struct added *a,
             bool later)
{
    int32_t type = t->types[id];

    if (later || !a->flags)
        return type != GG_TOKEN_NORMAL;
    return type == GG_TOKEN_UNKNOWN;
}

/* One without a row in the table of embeddings is left out: no model can read
 * it. `later`: a file before has added tokens. */
static void
put_added(struct hf_tokens *t, const struct added *a, bool later)
{
    bool known, free_id = !t->file.object;
    int64_t id;

    if (!a->text || !a->len) {
        core_json_bad(&t->h->here, GG_ERR_FORMAT,
                      "added token %lld has no text", (long long)a->id);
        return;
    }
    id = find_id(t, a, &known);
    if (id >= t->n && id <= INT32_MAX)
        return;
    if (id < t->n && type_of(a) != GG_TOKEN_CONTROL && is_made(t, id, a))
        return;
    if (id >= 0 && id < t->n) {
        if (known && says_nothing(t, id, a, later))
            return;
        set_strips(t, id, a->flags);
        if (!known && t->types[id] == GG_TOKEN_UNKNOWN)
            return;
        if (known || (free_id && a->flags))
            t->types[id] = 0;
    }
    convert_hf_token_put(t, id, a->text, a->len, type_of(a));
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
read_list(const json_t *list, struct added *all)
{
    size_t i;
    json_t *v;

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
put_all(struct hf_tokens *t, struct added *all, size_t n, bool later)
{
    if (n > 1)
        qsort(all, n, sizeof(*all), by_id);
    for (size_t i = 0; i < n && convert_hf_good(t->h); i++)
        put_added(t, &all[i], later);
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
        put_all(t, all, read_list(list, all), false);
        n = map ? read_map(map, all) : read_texts(t->added, all);
        put_all(t, all, n, t->file.object != NULL);
    } else {
        t->h->here.status = error_nomem(t->h->here.err);
    }
    hash_map_clear(&t->ids);
    mem_free(all);
}

#endif
