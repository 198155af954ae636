/* piece_rows.h - where the rows of a piece are in its file */
#ifndef SESSION_PIECE_ROWS_H
#define SESSION_PIECE_ROWS_H

#include "session/impl.h"
#include "session/piece.h"

/* A row of the table of media, as it is in the file. */
struct piece_medium {
    uint8_t key[SHA256_BYTES];
    int32_t first, n;
};

/* Returns how many media the rows among the ids are of. All of them have keys.
 */
int32_t
session_piece_list_media(struct gg_session *s, const struct piece *p,
                         struct piece_medium table[PIECE_IDS]);

/* Gives ids of rows, which have the table's numbers, those of the session, or
 * -1. False: an id, or the table, makes no sense. */
bool
session_piece_number(struct gg_session *s, struct piece *p,
                     const struct piece_medium *table);

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
