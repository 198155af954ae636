/* draft_table.c - ids of texts that have ended, by their n-grams
 *
 * A ring of ids, with an end after each text, and chains of the places whose
 * last TABLE_LEAST ids have the same hash, the latest first, as in LZ77. */
#include "engine/draft_table.h"

#include <string.h>

#include "core/mem.h"

enum {
    END = -1,    /* after a text */
    FIRST = 256, /* ids that there is room for at first */
    STEPS = 48,  /* of a chain */
    KEYS = 1000,
    EVERYONE = UINT16_MAX, /* the number of no key */
};

struct draft_table {
    int32_t *ids;
    uint16_t *keys;         /* of ids */
    uint32_t *last, *heads; /* places before, by hash; 0: none */
    uint64_t n;             /* ids that were added */
    size_t cap;             /* room; a power of 2 */
    char **names;           /* of keys, from 1 on */
    size_t n_names, names_cap;
};

struct draft_table *
engine_table_new(void)
{
    return mem_zalloc(sizeof(struct draft_table));
}

static void
free_arrays(struct draft_table *t)
{
    mem_free(t->ids);
    mem_free(t->keys);
    mem_free(t->last);
    mem_free(t->heads);
}

void
engine_table_free(struct draft_table *table)
{
    if (!table)
        return;
    free_arrays(table);
    for (size_t i = 0; i < table->n_names; i++)
        mem_free(table->names[i]);
    mem_free(table->names);
    mem_free(table);
}

/* ---- keys ---------------------------------------------------------------- */

/* The number of a key; 0: there is none, SIZE_MAX: it is not known. */
static size_t
key_number(const struct draft_table *t, const char *key)
{
    for (size_t i = 0; key && i < t->n_names; i++)
        if (!strcmp(t->names[i], key))
            return i + 1;
    return key ? SIZE_MAX : 0;
}

static bool
name_key(struct draft_table *t, const char *key)
{
    size_t n = strlen(key) + 1;
    char *copy;

    if (t->n_names == KEYS ||
        !mem_grow(&t->names, &t->names_cap, t->n_names + 1, sizeof(char *)))
        return false;
    copy = mem_array(n, 1);
    if (!copy)
        return false;
    memcpy(copy, key, n);
    t->names[t->n_names++] = copy;
    return true;
}

/* ---- places -------------------------------------------------------------- */

static int32_t *
ring_id(const struct draft_table *t, uint64_t place)
{
    return &t->ids[place & (t->cap - 1)];
}

static uint32_t *
head_of(const struct draft_table *t, const int32_t *last)
{
    uint64_t h = 0;

    for (int i = 0; i < TABLE_LEAST; i++)
        h = (h ^ (uint32_t)last[i]) * 0x9e3779b97f4a7c15u;
    return &t->heads[h >> 40 & (t->cap - 1)];
}

/* Whether the place and the ids before it are still there; a chain has the low
 * bits of places. */
static bool
is_kept(const struct draft_table *t, uint32_t low, uint64_t *place)
{
    uint32_t back = (uint32_t)t->n - low;

    *place = t->n - back;
    return low && back < t->n && back + (uint64_t)TABLE_LONGEST < t->cap;
}

static void
append_id(struct draft_table *t, int32_t id, size_t key)
{
    int32_t end[TABLE_LEAST];
    uint32_t *head;
    bool whole = t->n + 1 >= TABLE_LEAST;

    *ring_id(t, t->n) = id;
    t->keys[t->n & (t->cap - 1)] = (uint16_t)key;
    t->n++;
    for (size_t i = 0; i < TABLE_LEAST && whole; i++) {
        end[i] = *ring_id(t, t->n - TABLE_LEAST + i);
        whole = end[i] != END;
    }
    t->last[t->n & (t->cap - 1)] = 0;
    if (!whole)
        return;
    head = head_of(t, end);
    t->last[t->n & (t->cap - 1)] = *head;
    *head = (uint32_t)t->n;
}

/* ---- room ---------------------------------------------------------------- */

static bool
enlarge(struct draft_table *t, size_t cap)
{
    struct draft_table old = *t;

    t->cap = cap;
    t->ids = mem_array(cap, sizeof(*t->ids));
    t->keys = mem_array(cap, sizeof(*t->keys));
    t->last = mem_array(cap, sizeof(*t->last));
    t->heads = mem_array(cap, sizeof(*t->heads));
    if (!t->ids || !t->keys || !t->last || !t->heads) {
        free_arrays(t);
        *t = old;
        return false;
    }
    memset(t->heads, 0, cap * sizeof(*t->heads));
    t->n = 0;
    for (uint64_t i = 0; i < old.n; i++)
        append_id(t, *ring_id(&old, i), old.keys[i & (old.cap - 1)]);
    free_arrays(&old);
    return true;
}

static bool
have_room(struct draft_table *t, size_t n)
{
    size_t cap = t->cap ? t->cap : FIRST;

    while (cap < TABLE_MOST && t->n + n > cap)
        cap *= 2;
    return cap == t->cap || enlarge(t, cap);
}

static void
append_text(struct draft_table *t, const int32_t *ids, size_t n, size_t key)
{
    if (n > TABLE_MOST / 2) {
        ids += n - TABLE_MOST / 2;
        n = TABLE_MOST / 2;
    }
    if (!have_room(t, n + 1))
        return;
    for (size_t i = 0; i < n; i++)
        append_id(t, ids[i], key);
    append_id(t, END, key);
}

void
engine_table_add(struct draft_table *table, const int32_t *ids, size_t n,
                 const char *key)
{
    size_t number;

    if (!table || n < TABLE_LEAST)
        return;
    number = key_number(table, key);
    if (number == SIZE_MAX && name_key(table, key))
        number = table->n_names;
    if (number != SIZE_MAX)
        append_text(table, ids, n, number);
}

void
engine_table_share(struct draft_table *table, const int32_t *ids, size_t n)
{
    if (table && n >= TABLE_LEAST)
        append_text(table, ids, n, EVERYONE);
}

size_t
engine_table_list(const struct draft_table *table, int32_t *out)
{
    const struct draft_table *t = table;
    uint64_t from = t && t->n > t->cap ? t->n - t->cap : 0;
    size_t n = 0;

    for (uint64_t i = from; t && i < t->n; i++) {
        size_t key = t->keys[i & (t->cap - 1)];

        if ((key == 0 || key == EVERYONE) &&
            (*ring_id(t, i) != END || (n > 0 && out[n - 1] != END)))
            out[n++] = *ring_id(t, i);
    }
    return n;
}

/* ---- what is found ------------------------------------------------------- */

/* How many ids before the place are the last ones of ids[0..n). */
static size_t
count_alike(const struct draft_table *t, uint64_t place, const int32_t *ids,
            size_t n)
{
    size_t k = 0;

    while (k < n && k < place && k < TABLE_LONGEST &&
           *ring_id(t, place - 1 - k) == ids[n - 1 - k])
        k++;
    return k;
}

static bool
key_may_see(const struct draft_table *t, uint64_t place, size_t key)
{
    size_t own = t->keys[place & (t->cap - 1)];

    return own == key || own == EVERYONE;
}

size_t
engine_table_find(const struct draft_table *table, const int32_t *ids, size_t n,
                  const char *key, uint64_t *place)
{
    const struct draft_table *t = table;
    size_t number = t ? key_number(t, key) : 0, best = 0, len;
    uint32_t low;
    uint64_t at;

    if (n < TABLE_LEAST || !t || t->cap == 0)
        return 0;
    low = *head_of(t, ids + n - TABLE_LEAST);
    for (int i = 0; i < STEPS && is_kept(t, low, &at); i++) {
        len = key_may_see(t, at - 1, number) ? count_alike(t, at, ids, n) : 0;
        if (len > best && engine_table_id(t, at) != END) {
            best = len;
            *place = at;
        }
        if (best == n || best == TABLE_LONGEST)
            break;
        low = t->last[at & (t->cap - 1)];
    }
    return best < TABLE_LEAST ? 0 : best;
}

int32_t
engine_table_id(const struct draft_table *table, uint64_t place)
{
    return place < table->n ? *ring_id(table, place) : END;
}
