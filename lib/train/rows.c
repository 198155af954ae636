/* rows.c - sequences become pieces, and pieces rows */
#include "train/rows.h"

#include <string.h>

#include "core/mem.h"
#include "train/random.h"

enum {
    OPEN_ROWS = 64, /* that a piece is tried in, before the oldest is closed */
};

/* ---- sequences ----------------------------------------------------------- */

static bool
grow(struct train_set *s, size_t n, size_t n_pieces)
{
    return mem_grow(&s->ids, &s->cap_ids, s->n_ids + n, sizeof(*s->ids)) &&
           mem_grow(&s->counts, &s->cap_counts, s->n_ids + n,
                    sizeof(*s->counts)) &&
           mem_grow(&s->pieces, &s->cap_pieces, s->n_pieces + n_pieces,
                    sizeof(*s->pieces));
}

/* The targets that count among n ids from `first` on. */
static uint64_t
count_targets(const struct train_set *s, size_t first, size_t n)
{
    uint64_t count = 0;

    for (size_t i = 1; i < n; i++)
        count += s->counts[first + i];
    return count;
}

/* A piece without a target that counts is left out. */
static void
cut(struct train_set *s, size_t first, size_t n, int32_t length)
{
    for (size_t at = 0; at + 1 < n; at += (size_t)length) {
        size_t left = n - 1 - at;
        struct train_piece p = { first + at, left < (size_t)length
                                                 ? (int32_t)left
                                                 : length };
        uint64_t targets = count_targets(s, p.first, (size_t)p.n + 1);

        if (targets > 0)
            s->pieces[s->n_pieces++] = p;
        s->n_targets += targets;
    }
}

static enum gg_status
check_ids(const int32_t *ids, size_t n, int32_t n_vocab, struct gg_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= n_vocab)
            return error_set(err, GG_ERR_ARG, "id %d is none of the model's %d",
                             (int)ids[i], (int)n_vocab);
    return GG_OK;
}

enum gg_status
train_set_add(struct train_set *s, const int32_t *ids, const bool *counts,
              size_t n, int32_t length, int32_t n_vocab, struct gg_error *err)
{
    size_t first = s->n_ids;
    enum gg_status st = check_ids(ids, n, n_vocab, err);

    if (st != GG_OK || n < 2)
        return st;
    if (n > UINT32_MAX - s->n_ids)
        return error_set(err, GG_ERR_UNSUPPORTED, "more than 2^32 ids");
    if (!grow(s, n, n / (size_t)length + 1))
        return error_nomem(err);
    memcpy(s->ids + first, ids, n * sizeof(*ids));
    for (size_t i = 0; i < n; i++)
        s->counts[first + i] = counts ? counts[i] : true;
    s->n_ids += n;
    cut(s, first, n, length);
    return GG_OK;
}

void
train_set_clear(struct train_set *s)
{
    mem_free(s->ids);
    mem_free(s->counts);
    mem_free(s->pieces);
    *s = (struct train_set){ 0 };
}

/* ---- rows ---------------------------------------------------------------- */

/* Rows that still have room: the first that has enough takes a piece. */
struct open_rows {
    uint32_t row[OPEN_ROWS];
    int32_t room[OPEN_ROWS];
    size_t n;
};

static void
close_row(struct open_rows *o, size_t i)
{
    o->n--;
    memmove(o->row + i, o->row + i + 1, (o->n - i) * sizeof(*o->row));
    memmove(o->room + i, o->room + i + 1, (o->n - i) * sizeof(*o->room));
}

static uint32_t
row_for(struct open_rows *o, int32_t n, int32_t length, size_t *n_rows)
{
    size_t i = 0;
    uint32_t row;

    while (i < o->n && o->room[i] < n)
        i++;
    if (i == o->n) {
        if (o->n == OPEN_ROWS) {
            close_row(o, 0);
            i--;
        }
        o->row[i] = (uint32_t)(*n_rows)++;
        o->room[i] = length;
        o->n++;
    }
    row = o->row[i];
    o->room[i] -= n;
    if (o->room[i] == 0)
        close_row(o, i);
    return row;
}

static void
shuffle_order(uint32_t *order, size_t n, uint64_t seed, uint64_t epoch)
{
    struct train_random r = train_random_new(seed, ~epoch);

    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)train_random_below(&r, i);
        uint32_t t = order[i - 1];

        order[i - 1] = order[k];
        order[k] = t;
    }
}

/* Counts the pieces of each row, then puts each where its row begins. */
static void
sort_by_row(const uint32_t *from, const uint32_t *rows, size_t n,
            struct train_packed *out)
{
    memset(out->starts, 0, (out->n_rows + 1) * sizeof(*out->starts));
    for (size_t i = 0; i < n; i++)
        out->starts[rows[i] + 1]++;
    for (size_t r = 0; r < out->n_rows; r++)
        out->starts[r + 1] += out->starts[r];
    for (size_t i = 0; i < n; i++)
        out->order[out->starts[rows[i]]++] = from[i];
    for (size_t r = out->n_rows; r > 0; r--)
        out->starts[r] = out->starts[r - 1];
    out->starts[0] = 0;
}

enum gg_status
train_pack(const struct train_set *set, int32_t length, bool shuffle,
           uint64_t seed, uint64_t epoch, struct train_packed *out,
           struct gg_error *err)
{
    size_t n = set->n_pieces;
    uint32_t *order = mem_array(n + 1, sizeof(*order));
    uint32_t *rows = mem_array(n + 1, sizeof(*rows));
    struct open_rows open = { .n = 0 };
    bool done;

    *out = (struct train_packed){ .order = mem_array(n + 1, sizeof(*order)),
                                  .starts = mem_array(n + 2, sizeof(size_t)) };
    done = order && rows && out->order && out->starts;
    if (done) {
        for (size_t i = 0; i < n; i++)
            order[i] = (uint32_t)i;
        if (shuffle)
            shuffle_order(order, n, seed, epoch);
        for (size_t i = 0; i < n; i++)
            rows[i] =
                row_for(&open, set->pieces[order[i]].n, length, &out->n_rows);
        sort_by_row(order, rows, n, out);
    }
    mem_free(order);
    mem_free(rows);
    if (!done)
        train_packed_clear(out);
    return done ? GG_OK : error_nomem(err);
}

void
train_packed_clear(struct train_packed *p)
{
    mem_free(p->order);
    mem_free(p->starts);
    *p = (struct train_packed){ 0 };
}
