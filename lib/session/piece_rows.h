/* piece_rows.h - where the rows of a piece are in its file */
#ifndef SESSION_PIECE_ROWS_H
#define SESSION_PIECE_ROWS_H

#include "session/impl.h"
#include "session/piece.h"

/* Rows of a layer's tensor, or its state. */
struct piece_part {
    int32_t layer; /* the cache's n_layer: there are no more */
    int k;         /* enum cache_tensor; recurrent: cache_recurrent_tensor */
    bool recurrent, windowed;
    int32_t ratio;    /* positions of a row */
    int32_t first, n; /* rows; of a state 0, 1 */
    enum ggml_type type;
    size_t size; /* bytes of a row */
    size_t at;   /* bytes before them */
};

/* The first part, and the one after it: parts may be without rows. */
void
session_piece_begin(const struct gg_session *s, const struct piece *p,
                    struct piece_part *part);
void
session_piece_next(const struct gg_session *s, const struct piece *p,
                   struct piece_part *part);

#endif
