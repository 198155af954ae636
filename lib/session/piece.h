/* piece.h - pieces of what a slot holds, as the files of a prefix cache have
 * them: gg-stream(5)
 *
 * A piece is of some ids that follow others. It has the rows of their
 * positions in all layers, and, where layers are recurrent, may have the
 * states after the last of them. Pieces that follow each other make up a
 * prefix; the rows of a piece are of use up to any of its ids.
 *
 * A table says of which media the ids that are no tokens' are rows: each
 * session numbers its media anew.
 *
 * The file, in the byte order of the machine:
 *   magic    8 bytes
 *   version  u32
 *   flags    u32   1: it has states
 *   first    i32   ids before it
 *   n        i32   its ids
 *   size     u64   bytes of the rows and states
 *   media    u32   rows of the table
 *   zero     u32
 *   key      32 bytes: the hash of all that the bits depend on but for ids
 *   ids      i32 x n
 *   table    of each medium 32 bytes: session_media_keyed()'s hash; i32 x 2:
 *            the id of its first row, and how many it has; in the order of ids
 *   rows     of layer 0, 1, ...: of its tensors in the order of gg-state's,
 *            and its states after them
 *   sums     u32 x 2: CRC-32 of what stands before the rows, and of these
 * Rows and sums begin on multiples of 32 bytes, and so does the file's end. */
#ifndef SESSION_PIECE_H
#define SESSION_PIECE_H

#include "core/sha256.h"
#include "session/session.h"

enum {
    PIECE_IDS = 256, /* of a piece at most */
};

struct piece {
    uint8_t key[SHA256_BYTES];
    int32_t first, n;
    bool state;      /* it has states */
    int32_t n_media; /* that rows are of */
    int32_t *ids;    /* n; -1: of a row that the session does not have */
};

/* Whether sequences of the session can be kept in pieces. */
bool
session_piece_can(const struct gg_session *s);

/* Whether a sequence goes on only where a piece with states ends. */
bool
session_piece_recurs(const struct gg_session *s);

/* How many ids may be evaluated before rows are given up that are not written
 * yet; 0: none are. */
int32_t
session_piece_step(const struct gg_session *s);

/* Adds all that keys, values and states of the session depend on other than
 * ids and what is said by the files of the model: but not the context's size.
 * `scales`: of adapters; NULL: the model's. */
enum gg_status
session_piece_add_key(const struct gg_session *s, const float *scales,
                      struct sha256 *h, struct gg_error *err);

/* Which row of which medium it is, whatever number the session gives it. */
struct piece_row {
    const uint8_t *medium; /* SHA256_BYTES; NULL: it is a token's */
    int32_t row;
};

/* False: the id is of a row whose values are not known. */
bool
session_piece_row(struct gg_session *s, int32_t id, struct piece_row *row);

/* Whether the slot, which holds n ids, still has all rows from position `first`
 * on, and its states. */
bool
session_piece_has(const struct gg_session *s, int32_t slot, int32_t first,
                  int32_t n);

/* Bytes of the file. */
size_t
session_piece_size(const struct gg_session *s, const struct piece *p);

/* Writes the file from its beginning, and sets p->n_media. */
enum gg_status
session_piece_write(struct gg_session *s, int32_t slot, struct piece *p, int fd,
                    struct gg_error *err);

/* Reads what stands before the rows; p->ids has room for PIECE_IDS. False: it
 * is no such file, or damaged. */
bool
session_piece_read(struct gg_session *s, int fd, struct piece *p);

/* Rows and states of a piece that was read, all of them numbers: mem_free()
 * them. NULL: they are damaged, or there is no memory, and *nomem. */
char *
session_piece_rows(const struct gg_session *s, int fd, const struct piece *p,
                   bool *nomem);

/* The slot holds the ids, and nothing else, as if they had been evaluated: the
 * caller puts their rows and states. False: no memory; it holds nothing. */
bool
session_piece_assume(struct gg_session *s, int32_t slot, const int32_t *ids,
                     int32_t n, const float *scales);

/* Puts the piece's rows of positions from..to - 1 into the slot, which is to
 * hold n ids; and its states, if these are those after n ids. */
void
session_piece_put(struct gg_session *s, int32_t slot, const struct piece *p,
                  const char *rows, int32_t from, int32_t to, int32_t n);

#endif
