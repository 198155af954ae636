/* media.c - rows that are no tokens' */
#include "session/media.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"

enum {
    PLACES = 3,             /* of a position: time, height, width */
    MAX_POSITION = 1 << 20, /* of a row in its medium */
};

void
session_media_init(struct media *m, int32_t n_vocab, int32_t width)
{
    *m = (struct media){ .n_vocab = n_vocab,
                         .n_ids = n_vocab,
                         .width = (size_t)width };
}

static void
clear_medium(struct medium *m)
{
    mem_free(m->rows);
    mem_free(m->deeper);
    mem_free(m->positions);
    mem_free(m->blocks);
}

void
session_media_clear(struct media *m)
{
    for (size_t i = 0; i < m->n; i++)
        clear_medium(&m->list[i]);
    mem_free(m->list);
    mem_free(m->zeros);
    *m = (struct media){ 0 };
}

/* ---- looking up ---------------------------------------------------------- */

const struct medium *
session_media_of(const struct media *m, int32_t id)
{
    size_t low = 0, high = m->n;

    if (!session_media_has_row(m, id))
        return NULL;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (m->list[middle].first <= id)
            low = middle;
        else
            high = middle;
    }
    return &m->list[low];
}

const struct medium *
session_media_find(const struct media *m, const uint8_t *hash)
{
    for (size_t i = 0; i < m->n; i++)
        if (memcmp(m->list[i].hash, hash, GG_MEDIUM_HASH) == 0)
            return &m->list[i];
    return NULL;
}

const float *
session_media_row(const struct media *m, int32_t id, size_t deeper)
{
    const struct medium *x = session_media_of(m, id);
    size_t row = x ? (size_t)(id - x->first) : 0;

    if (!x || !x->rows || deeper > x->n_deeper)
        return NULL;
    if (deeper == 0)
        return x->rows + row * m->width;
    return x->deeper + ((deeper - 1) * (size_t)x->n + row) * m->width;
}

static void
add_numbers(struct sha256 *h, const void *values, size_t size)
{
    sha256_add_u64(h, values ? size + 1 : 0);
    if (values)
        sha256_add(h, values, size);
}

static void
set_key(struct medium *x, size_t width)
{
    size_t n = (size_t)x->n, size = n * width * sizeof(*x->rows);
    struct sha256 h;

    sha256_start(&h);
    sha256_add(&h, x->hash, sizeof(x->hash));
    sha256_add_u64(&h, n);
    add_numbers(&h, x->rows, size);
    add_numbers(&h, x->deeper, x->n_deeper * size);
    add_numbers(&h, x->positions, PLACES * n * sizeof(*x->positions));
    add_numbers(&h, x->blocks, n * sizeof(*x->blocks));
    sha256_end(&h, x->key);
    x->has_key = true;
}

const struct medium *
session_media_keyed(struct media *m, int32_t id)
{
    const struct medium *known = session_media_of(m, id);
    struct medium *x = known ? &m->list[known - m->list] : NULL;

    if (x && !x->has_key && x->rows)
        set_key(x, m->width);
    return x && x->has_key ? x : NULL;
}

const struct medium *
session_media_find_key(struct media *m, const uint8_t *key)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct medium *x = session_media_keyed(m, m->list[i].first);

        if (x && memcmp(x->key, key, SHA256_BYTES) == 0)
            return x;
    }
    return NULL;
}

bool
session_media_block(const struct media *m, int32_t id,
                    struct medium_block *block)
{
    const struct medium *x = session_media_of(m, id);
    const struct medium_block *b =
        x && x->blocks ? &x->blocks[id - x->first] : NULL;

    if (!b || b->end - b->first < 2)
        return false;
    *block = (struct medium_block){ x->first + b->first, x->first + b->end };
    return true;
}

size_t
session_media_stray(const struct media *m, const int32_t *ids, size_t n)
{
    size_t i = 0;

    while (i < n && ids[i] >= 0 && ids[i] < m->n_ids)
        i++;
    return i;
}

size_t
session_media_missing(const struct media *m, const int32_t *ids, size_t n)
{
    size_t i = 0;

    for (; i < n && m->n > 0; i++) {
        const struct medium *x = session_media_of(m, ids[i]);

        if (x && !x->rows)
            return i;
    }
    return n;
}

size_t
session_media_edge(const struct media *m, const int32_t *ids, size_t n)
{
    struct medium_block b;
    size_t before;

    if (n == 0 || !session_media_block(m, ids[n - 1], &b) ||
        ids[n - 1] == b.end - 1)
        return n;
    before = (size_t)(ids[n - 1] - b.first) + 1;
    return before < n ? n - before : 0;
}

size_t
session_media_broken(const struct media *m, const int32_t *ids, size_t n)
{
    struct medium_block b;

    for (size_t i = 0; i < n && m->n > 0;) {
        size_t at = i++;

        if (!session_media_block(m, ids[at], &b))
            continue;
        if (ids[at] != b.first || (size_t)(b.end - b.first) > n - at)
            return at;
        for (int32_t id = b.first + 1; id < b.end; id++)
            if (ids[i++] != id)
                return at;
    }
    return n;
}

int32_t
session_media_extent(const struct media *m, int32_t first, int32_t n)
{
    const struct medium *x = session_media_of(m, first);
    const int32_t *p =
        x && x->positions ? x->positions + PLACES * (first - x->first) : NULL;
    int32_t most = 0;

    if (!p)
        return n;
    for (int32_t i = 0; i < PLACES * n; i++)
        most = p[i] > most ? p[i] : most;
    return most + 1;
}

size_t
session_media_end(const struct media *m, const int32_t *ids, size_t n,
                  size_t at)
{
    const struct medium *x = NULL;
    int32_t last = 0;
    size_t end = at;

    for (size_t i = at; i > 0 && !x; i--) {
        x = session_media_of(m, ids[i - 1]);
        last = ids[i - 1];
    }
    for (size_t i = at; i < n && x && last < x->first + x->n - 1; i++) {
        const struct medium *y = session_media_of(m, ids[i]);

        if (y && (y != x || ids[i] <= last))
            break; /* another, or the same once more */
        if (!y)
            continue;
        last = ids[i];
        end = i + 1;
    }
    return end;
}

/* ---- adding -------------------------------------------------------------- */

static enum gg_status
check_values(const float *x, size_t n, struct gg_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return error_set(err, GG_ERR_ARG, "a value of a row is not finite");
    return GG_OK;
}

static enum gg_status
check_positions(const struct gg_medium *g, struct gg_error *err)
{
    for (size_t i = 0; g->positions && i < PLACES * g->n; i++)
        if (g->positions[i] < 0 || g->positions[i] >= MAX_POSITION)
            return error_set(err, GG_ERR_ARG, "position %d of a row",
                             (int)g->positions[i]);
    return GG_OK;
}

static enum gg_status
check_medium(const struct media *m, const struct gg_medium *g,
             struct gg_error *err)
{
    size_t room = (size_t)(INT32_MAX - m->n_ids);
    enum gg_status st = ERROR_RESERVED(g, err);

    if (st != GG_OK)
        return st;
    if (!g->rows || (g->n_deeper && !g->deeper))
        return error_null(err);
    if (g->width != m->width)
        return error_set(err, GG_ERR_ARG,
                         "rows have %zu values; the model's embeddings have "
                         "%zu",
                         g->width, m->width);
    if (g->n == 0 || g->n > room || g->n > SIZE_MAX / 4 / g->width ||
        g->n_deeper > SIZE_MAX / 4 / g->width / g->n)
        return error_set(err, GG_ERR_ARG, "a medium of %zu rows", g->n);
    st = check_values(g->rows, g->n * g->width, err);
    if (st == GG_OK && g->n_deeper)
        st = check_values(g->deeper, g->n_deeper * g->n * g->width, err);
    return st == GG_OK ? check_positions(g, err) : st;
}

/* Rows of the same number next to each other. */
static struct medium_block *
new_blocks(const int32_t *numbers, size_t n)
{
    struct medium_block *blocks = mem_array(n, sizeof(*blocks));
    size_t first = 0;

    for (size_t i = 1; i <= n && blocks; i++) {
        if (i < n && numbers[i] >= 0 && numbers[i] == numbers[first])
            continue;
        for (size_t k = first; k < i; k++)
            blocks[k] = (struct medium_block){ (int32_t)first, (int32_t)i };
        first = i;
    }
    return blocks;
}

static bool
copy_medium(struct medium *x, const struct gg_medium *g)
{
    size_t size = g->n * g->width * sizeof(float);

    memcpy(x->hash, g->hash, sizeof(x->hash));
    x->n = (int32_t)g->n;
    x->n_deeper = g->n_deeper;
    if (g->rows)
        x->rows = mem_dup(g->rows, size);
    if (g->n_deeper)
        x->deeper = mem_dup(g->deeper, g->n_deeper * size);
    if (g->positions)
        x->positions =
            mem_dup(g->positions, PLACES * g->n * sizeof(*g->positions));
    if (g->blocks)
        x->blocks = new_blocks(g->blocks, g->n);
    return (x->rows || !g->rows) && (x->deeper || !g->n_deeper) &&
           (x->positions || !g->positions) && (x->blocks || !g->blocks);
}

static bool
is_same(const void *a, const void *b, size_t size)
{
    return !a || !b ? a == b : memcmp(a, b, size) == 0;
}

/* Where rows stand and which see each other. */
static bool
is_same_layout(const struct medium *a, const struct medium *b)
{
    size_t n = (size_t)a->n;

    return a->n == b->n &&
           is_same(a->positions, b->positions,
                   PLACES * n * sizeof(*a->positions)) &&
           is_same(a->blocks, b->blocks, n * sizeof(*a->blocks));
}

/* Whether they are the same, whose hashes are: as far as the first one is known
 * still, and the other one yet. */
static bool
is_same_medium(const struct media *m, const struct medium *a,
               const struct medium *b)
{
    size_t size = (size_t)a->n * m->width * sizeof(float);

    if (a->bare)
        return a->n == b->n;
    return is_same_layout(a, b) &&
           (!a->rows || !b->rows ||
            (a->n_deeper == b->n_deeper && is_same(a->rows, b->rows, size) &&
             is_same(a->deeper, b->deeper, a->n_deeper * size)));
}

static bool
reserve_medium(struct media *m, const struct medium *x, bool new)
{
    if (x->n_deeper && !m->zeros)
        m->zeros = mem_array(m->width, sizeof(*m->zeros));
    return (!x->n_deeper || m->zeros) &&
           (!new || mem_grow(&m->list, &m->cap, m->n + 1, sizeof(*m->list)));
}

/* Takes what is new. */
static enum gg_status
take_medium(struct media *m, struct medium *x, int32_t *first,
            struct gg_error *err)
{
    const struct medium *known = session_media_find(m, x->hash);
    size_t i = known ? (size_t)(known - m->list) : m->n;

    if (known && !is_same_medium(m, known, x))
        return error_set(err, GG_ERR_ARG, "other rows have the same hash");
    if (!reserve_medium(m, x, !known))
        return error_nomem(err);
    x->first = known ? known->first : m->n_ids;
    *first = x->first;
    if (known && (known->rows || (!x->rows && !known->bare))) {
        clear_medium(x);
        return GG_OK;
    }
    if (known)
        clear_medium(&m->list[i]);
    m->list[i] = *x;
    m->n_given += x->rows != NULL;
    m->n_ids += known ? 0 : x->n;
    m->n_deeper = x->n_deeper > m->n_deeper ? x->n_deeper : m->n_deeper;
    m->n += !known;
    return GG_OK;
}

void
session_media_cut(struct media *m, size_t n)
{
    while (m->n > n) {
        m->n_ids -= m->list[--m->n].n;
        clear_medium(&m->list[m->n]);
    }
}

void
session_media_forget(struct media *m, int32_t first, bool held)
{
    const struct medium *known = session_media_of(m, first);
    struct medium *x = known ? &m->list[known - m->list] : NULL;

    if (!x || x->first != first)
        return;
    mem_free(x->rows);
    mem_free(x->deeper);
    x->rows = x->deeper = NULL;
    x->n_deeper = 0;
    if (held)
        return;
    mem_free(x->positions);
    mem_free(x->blocks);
    x->positions = NULL;
    x->blocks = NULL;
    x->bare = true;
}

enum gg_status
session_media_add_held(struct media *m, const struct gg_medium *medium,
                       int32_t *first, struct gg_error *err)
{
    struct medium x = { .n = 0 };
    enum gg_status st = check_positions(medium, err);

    if (st == GG_OK && medium->n > (size_t)(INT32_MAX - m->n_ids))
        st = error_set(err, GG_ERR_ARG, "a medium of %zu rows", medium->n);
    if (st == GG_OK && !copy_medium(&x, medium))
        st = error_nomem(err);
    if (st == GG_OK)
        st = take_medium(m, &x, first, err);
    if (st != GG_OK)
        clear_medium(&x);
    return st;
}

enum gg_status
session_media_add(struct media *m, const struct gg_medium *medium,
                  int32_t *first, struct gg_error *err)
{
    struct medium x = { .n = 0 };
    enum gg_status st = check_medium(m, medium, err);

    if (st == GG_OK && !copy_medium(&x, medium))
        st = error_nomem(err);
    if (st == GG_OK)
        st = take_medium(m, &x, first, err);
    if (st != GG_OK)
        clear_medium(&x);
    return st;
}
