/* rows.h - sequences of ids, and rows of a fixed length that are packed with
 * them
 *
 * A sequence of n ids has n - 1 targets: the id after each but the last. What
 * is longer than a row is cut, so that each target is in one row; the pieces
 * are sequences of their own. */
#ifndef TRAIN_ROWS_H
#define TRAIN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/* A piece: its ids are ids[first] .. ids[first + n], of which the last is only
 * a target. */
struct train_piece {
    size_t first;
    int32_t n;
};

struct train_set {
    int32_t *ids; /* of all sequences, one after the other */
    bool *counts; /* of each id: it is a target that counts */
    size_t n_ids, cap_ids, cap_counts;
    struct train_piece *pieces;
    size_t n_pieces, cap_pieces;
    uint64_t n_targets; /* that count */
};

/* Appends a sequence, whose ids are checked; `counts` is NULL where all of them
 * count. One of less than two ids, or without a target that counts, adds
 * nothing. */
enum gg_status
train_set_add(struct train_set *set, const int32_t *ids, const bool *counts,
              size_t n, int32_t length, int32_t n_vocab, struct gg_error *err);
void
train_set_clear(struct train_set *set);

/* Pieces in the order in which they are packed: those of row r are
 * order[starts[r]] .. order[starts[r + 1] - 1]. */
struct train_packed {
    uint32_t *order;
    size_t *starts;
    size_t n_rows;
};

/* Packs all pieces; `shuffle`: in an order that the seed and the number of the
 * epoch give, else as they came. */
enum gg_status
train_pack(const struct train_set *set, int32_t length, bool shuffle,
           uint64_t seed, uint64_t epoch, struct train_packed *out,
           struct gg_error *err);
void
train_packed_clear(struct train_packed *packed);

#endif
