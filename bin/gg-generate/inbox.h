/* inbox.h - records that were read and wait for a slot, and records that are
 * answered at once */
#ifndef GENERATE_INBOX_H
#define GENERATE_INBOX_H

#include "common/records/record_input.h"

/* A line of the input. */
struct inbox_item {
    struct inbox_item *next;
    char *text;
    size_t len;
    uint64_t number; /* of the record */
    bool too_long;   /* the line was, and is not here */
    bool no_memory;  /* for it: here is its beginning, if anything */
    int64_t came;    /* microseconds */
};

struct inbox_list {
    struct inbox_item *first, **end;
};

struct inbox {
    struct record_input *in;
    struct inbox_list waiting, controls;
    size_t n, bytes; /* of those that wait */
    bool ended;      /* the input */
};

void
inbox_init(struct inbox *b, struct record_input *in);
void
inbox_clear(struct inbox *b);

/* Reads the lines that are there, as long as not too many wait already. Where
 * there is none, waits `ms` milliseconds for one at most. */
void
inbox_read(struct inbox *b, int ms);

/* Takes the first of a list; NULL: it is empty. The caller frees it. */
struct inbox_item *
inbox_take(struct inbox *b, struct inbox_list *list);

/* Takes the one away that `*at` points to. */
struct inbox_item *
inbox_take_at(struct inbox *b, struct inbox_list *list, struct inbox_item **at);

void
inbox_item_free(struct inbox_item *item); /* takes NULL */

#endif
