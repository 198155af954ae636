/* state_table.c - the sequences of a state, as its file says them */
#include "session/state_open.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* One whose length it says itself; 0: it is not there. */
static int64_t
length_of(const struct opener *o, const char *name, int dim)
{
    const struct gguf_tensor *t = gguf_tensor_named(o->gguf, name);

    return t ? t->ne[dim] : 0;
}

/* Ids from *at on, which moves past them. */
static enum gg_status
read_sequence(const struct opener *o, struct gg_state_sequence *q,
              const uint8_t *row, const int32_t *ids, uint64_t n_ids,
              uint64_t *at)
{
    uint64_t v[STATE_COLUMNS];

    memcpy(v, row, sizeof(v));
    if ((!o->f->state.numbered && v[0]) || v[1] >> STATE_MAX_DROPPED_LOG2 ||
        v[2] == 0 || v[2] > n_ids - *at || v[3] > v[2] || v[4] > v[2] - v[3] ||
        v[4] > INT32_MAX / 2)
        return session_state_refuse(
            o, GG_ERR_FORMAT, STATE_SEQUENCES ": a sequence makes no sense");
    *q = (struct gg_state_sequence){ .number = v[0],
                                     .n_dropped = v[1],
                                     .ids = ids + *at,
                                     .n_ids = (size_t)v[2],
                                     .n_pending = (size_t)v[3],
                                     .n_held = (size_t)v[4],
                                     .slot = -1 };
    *at += v[2];
    return GG_OK;
}

static int
by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* In numbers[0..n), sorted, none twice, and none in a range of others. */
static bool
are_apart(const uint64_t *numbers, size_t n, const struct gg_state *state)
{
    const struct gg_state_range *r = state->forgotten;
    size_t left = state->n_forgotten;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && numbers[i] == numbers[i - 1])
            return false;
        while (left && r->last < numbers[i])
            r++, left--;
        if (left && r->first <= numbers[i])
            return false;
    }
    return true;
}

static enum gg_status
check_numbers(const struct opener *o)
{
    const struct gg_state *state = &o->f->state;
    size_t n = state->n_sequences;
    uint64_t *numbers = mem_array(n, sizeof(*numbers));
    bool good;

    if (!numbers)
        return error_nomem(o->err);
    for (size_t i = 0; i < n; i++)
        numbers[i] = state->sequences[i].number;
    qsort(numbers, n, sizeof(*numbers), by_number);
    good = are_apart(numbers, n, state);
    mem_free(numbers);
    return good ? GG_OK
                : session_state_refuse(o, GG_ERR_FORMAT,
                                       STATE_SEQUENCES
                                       ": a number occurs twice");
}

static enum gg_status
check_ids(const struct opener *o, const int32_t *ids, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (session_state_number(o, ids[i]) < 0)
            return session_state_refuse(o, GG_ERR_FORMAT,
                                        STATE_IDS ": %" PRId32
                                                  " is not in 0..%" PRId32,
                                        ids[i], o->session->media.n_vocab - 1);
    return GG_OK;
}

/* Sequences get ids with the session's numbers of rows. */
static enum gg_status
number_rows(struct opener *o, const int32_t *ids, int64_t n)
{
    struct gg_state_file *f = o->f;

    f->ids = mem_array((size_t)n, sizeof(*f->ids));
    if (!f->ids)
        return error_nomem(o->err);
    for (int64_t i = 0; i < n; i++)
        f->ids[i] = session_state_number(o, ids[i]);
    for (size_t i = 0; i < f->state.n_sequences; i++)
        f->sequences[i].ids = f->ids + (f->sequences[i].ids - ids);
    return GG_OK;
}

static enum gg_status
read_sequences(struct opener *o)
{
    int64_t n = length_of(o, STATE_SEQUENCES, 1);
    int64_t n_ids = length_of(o, STATE_IDS, 0);
    const struct gguf_tensor *table, *ids;
    uint64_t at = 0;
    enum gg_status st = session_state_find(o, STATE_SEQUENCES, GGML_TYPE_I64,
                                           STATE_COLUMNS, n, &table);

    if (st == GG_OK)
        st = session_state_find(o, STATE_IDS, GGML_TYPE_I32, n_ids, 1, &ids);
    if (st != GG_OK)
        return st;
    o->f->state.sequences = o->f->sequences =
        mem_array((size_t)n, sizeof(*o->f->sequences));
    if (!o->f->sequences)
        return error_nomem(o->err);
    for (int64_t i = 0; i < n && st == GG_OK; i++)
        st = read_sequence(o, &o->f->sequences[i],
                           (const uint8_t *)table->data + i * 8 * STATE_COLUMNS,
                           ids ? ids->data : NULL, (uint64_t)n_ids, &at);
    o->f->state.n_sequences = (size_t)n;
    if (st == GG_OK && at != (uint64_t)n_ids)
        return session_state_refuse(o, GG_ERR_FORMAT,
                                    STATE_IDS ": some are no sequence's");
    if (st == GG_OK && ids)
        st = check_ids(o, ids->data, n_ids);
    return st == GG_OK && o->n_media > 0 ? number_rows(o, ids->data, n_ids)
                                         : st;
}

static enum gg_status
read_forgotten(struct opener *o)
{
    int64_t n = length_of(o, STATE_FORGOTTEN, 1);
    struct gg_state_range *list = mem_array((size_t)n, sizeof(*list));
    const struct gguf_tensor *t;
    enum gg_status st =
        session_state_find(o, STATE_FORGOTTEN, GGML_TYPE_I64, 2, n, &t);

    if (!list)
        return error_nomem(o->err);
    o->f->state.forgotten = o->f->forgotten = list;
    if (st != GG_OK || !t)
        return st;
    o->f->state.n_forgotten = (size_t)n;
    for (int64_t i = 0; i < n; i++) {
        memcpy(&list[i], (const uint8_t *)t->data + 16 * i, 16);
        if (list[i].last < list[i].first ||
            (i > 0 && (list[i - 1].last == UINT64_MAX ||
                       list[i].first <= list[i - 1].last + 1)))
            return session_state_refuse(o, GG_ERR_FORMAT,
                                        STATE_FORGOTTEN ": is not in order");
    }
    return GG_OK;
}

enum gg_status
session_state_read_table(struct opener *o)
{
    enum gg_status st = read_sequences(o);

    if (st == GG_OK)
        st = read_forgotten(o);
    return st == GG_OK ? check_numbers(o) : st;
}
