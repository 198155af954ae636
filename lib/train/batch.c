/* batch.c - rows of a step become ids, positions, masks and targets */
#include "train/batch.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"

/* ---- batches ------------------------------------------------------------- */

void
train_batch_start(struct train_batch *b)
{
    b->n = 0;
    b->n_rows = 0;
    b->n_targets = 0;
}

static uint64_t
targets_of(const struct train_set *set, const struct train_piece *p)
{
    uint64_t n = 0;

    for (int32_t i = 1; i <= p->n; i++)
        n += set->counts[p->first + (size_t)i];
    return n;
}

enum gg_status
train_batch_add(struct train_batch *b, const struct train_set *set,
                const struct train_packed *packed, size_t r,
                struct gg_error *err)
{
    size_t first = packed->starts[r], end = packed->starts[r + 1];
    int32_t at = 0;

    if (!mem_grow(&b->placed, &b->cap, b->n + (end - first),
                  sizeof(*b->placed)))
        return error_nomem(err);
    for (size_t i = first; i < end; i++) {
        const struct train_piece *p = &set->pieces[packed->order[i]];

        b->placed[b->n++] = (struct train_placed){ *p, b->n_rows, at };
        b->n_targets += targets_of(set, p);
        at += p->n;
    }
    b->n_rows++;
    return GG_OK;
}

void
train_batch_clear(struct train_batch *b)
{
    mem_free(b->placed);
    *b = (struct train_batch){ 0 };
}

/* ---- inputs -------------------------------------------------------------- */

enum gg_status
train_input_init(struct train_input *in, const struct graph *g,
                 struct gg_error *err)
{
    int32_t length = g->packing.length, n_rows = g->packing.n_rows;
    size_t n = (size_t)length * (size_t)n_rows;
    bool done;

    *in = (struct train_input){
        .model = g->model,
        .length = length,
        .n_rows = n_rows,
        .ids = mem_array(n, sizeof(*in->ids)),
        .positions = mem_array(n, sizeof(*in->positions)),
        .outputs = mem_array(n, sizeof(*in->outputs)),
        .targets = mem_array(n, sizeof(*in->targets)),
    };
    done = in->ids && in->positions && in->outputs && in->targets;
    for (int k = 0; k < CACHE_KINDS; k++)
        if (g->packing.masks[k]) {
            in->masks[k] = mem_array(n * (size_t)length, sizeof(float));
            done = done && in->masks[k];
        }
    if (!done)
        train_input_clear(in);
    return done ? GG_OK : error_nomem(err);
}

void
train_input_clear(struct train_input *in)
{
    mem_free(in->ids);
    mem_free(in->positions);
    mem_free(in->outputs);
    mem_free(in->targets);
    for (int k = 0; k < CACHE_KINDS; k++)
        mem_free(in->masks[k]);
    *in = (struct train_input){ 0 };
}

static void
hide_all(struct train_input *in)
{
    size_t n = (size_t)in->length * (size_t)in->n_rows, side;

    side = (size_t)in->length;
    for (int k = 0; k < CACHE_KINDS; k++) {
        float *m = in->masks[k];

        for (size_t i = 0; m && i < n * side; i++)
            m[i] = -INFINITY;
        for (size_t i = 0; m && i < n; i++)
            m[i * side + i % side] = 0;
    }
}

/* The first key of its sequence that position i sees. */
static int32_t
first_seen(const struct model_hparams *hp, enum cache_kind kind, int32_t i)
{
    int32_t first;

    if (kind != CACHE_WINDOW)
        return 0;
    first = hp->window_kind == MODEL_WINDOW_CHUNKED ? i - i % hp->window
                                                    : i - hp->window + 1;
    return first > 0 ? first : 0;
}

/* Row `at + i` of a mask sees its own sequence up to itself; with ALiBi, what
 * is added grows with the distance. */
static void
show(const struct train_input *in, enum cache_kind kind, float *row, int32_t at,
     int32_t i)
{
    const struct model_hparams *hp = &in->model->hp;

    for (int32_t k = first_seen(hp, kind, i); k <= i; k++)
        row[at + k] = hp->attn_max_bias > 0 ? (float)(k - i) : 0;
}

static void
place_row(struct train_input *in, const struct train_set *set,
          const struct train_placed *p, int32_t row)
{
    const int32_t *ids = set->ids + p->piece.first;
    const bool *counts = set->counts + p->piece.first;
    int32_t start = row * in->length + p->at;
    size_t side = (size_t)in->length;

    for (int32_t i = 0; i < p->piece.n; i++) {
        in->ids[start + i] = ids[i];
        in->positions[start + i] = i;
        for (int k = 0; k < CACHE_KINDS; k++)
            if (in->masks[k])
                show(in, (enum cache_kind)k,
                     in->masks[k] + (size_t)(start + i) * side, p->at, i);
        if (!counts[i + 1])
            continue;
        in->outputs[in->n_outputs] = start + i;
        in->targets[in->n_outputs++] = ids[i + 1];
    }
}

void
train_input_fill(struct train_input *in, const struct train_set *set,
                 const struct train_batch *b, int32_t first)
{
    size_t n = (size_t)in->length * (size_t)in->n_rows;

    memset(in->ids, 0, n * sizeof(*in->ids));
    memset(in->positions, 0, n * sizeof(*in->positions));
    hide_all(in);
    in->n_outputs = 0;
    for (size_t i = 0; i < b->n; i++) {
        int32_t row = b->placed[i].row - first;

        if (row >= 0 && row < in->n_rows)
            place_row(in, set, &b->placed[i], row);
    }
}
