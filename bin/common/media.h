/* media.h - the media of a rows stream: what stands for them in a text, and the
 * rows that a session gets */
#ifndef COMMON_MEDIA_H
#define COMMON_MEDIA_H

#include <gg-stream.h>

#include "common/cli.h"

/* One of them. Equal media, by their hashes, have the same ids. */
struct media_item {
    struct gg_media_rows rows; /* medium.rows NULL: they were not kept */
    int32_t first;             /* id of its first row */
    bool again;                /* an equal one stands before it */
    char *failure;             /* why there is none; or NULL */
};

/* Where one stands in a conversation. */
struct media_place {
    enum gg_media_kind kind;
    size_t message; /* that has it */
    size_t item;    /* its number among the media of the job; `own`: among
                       those that messages have brought */
    bool own;
};

struct media {
    char *name;               /* of the stream, for messages */
    struct gg_rows_head head; /* writer is NULL */
    struct media_item *items; /* in the order of the stream */
    size_t n;
    uint8_t *hashes; /* of media whose rows have ids, in the order of these */
    size_t n_hashes;
    int32_t end; /* the id after the last row's */
};

/* None yet; who computes rows sets what the head of a stream would say, and
 * then appends one medium after another. */
struct media *
media_new(const char *name);
void
media_set_head(struct media *m, const struct gg_rows_head *head);
void
media_append(struct media *m, const struct gg_media_rows *rows, bool values);

/* Appends one that no other is equal to, without values: its ids begin at
 * `first`. */
void
media_append_first(struct media *m, const struct gg_media_rows *rows,
                   int32_t first);

/* The number of the one with that hash; m->n: there is none. */
size_t
media_find_hash(const struct media *m, const uint8_t hash[GG_MEDIUM_HASH]);

/* Reads the file, or ends the tool; media_free() it. Without `values` there are
 * pieces alone. */
struct media *
media_read(const char *path, bool values);
void
media_free(struct media *m); /* takes NULL */

/* The longest block of rows that see each other; 0: there is none. */
size_t
media_longest_block(const struct media *m);

/* A session gets the rows, which are freed. Ends the tool where the model has
 * no place for them. */
void
media_add(struct media *m, const struct gg_model *model,
          struct gg_session *session);

/* Tells a reader that the line that names media has to name these. NULL: rows
 * are refused. */
void
media_expect(const struct media *m, struct gg_line_reader *reader);

/* "image", "sound"; "an image", "a sound". */
const char *
media_kind_name(enum gg_media_kind kind);
const char *
media_a_kind(enum gg_media_kind kind);

/* The one that an id is a row of; NULL: it is no row's. */
const struct media_item *
media_find(const struct media *m, int32_t id);

/* For -v: how many there are, and the projector's hash. */
void
media_describe(const struct media *m);

#endif
