/* draft_table.h - ids of texts that have ended, by their n-grams: what followed
 * them may follow again
 *
 * The last ids of all texts are kept, up to a bound; older ones go. A text with
 * a key is found by texts with the same key alone. */
#ifndef ENGINE_DRAFT_TABLE_H
#define ENGINE_DRAFT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TABLE_LEAST = 3,     /* ids that are the same, at least, */
    TABLE_LONGEST = 16,  /* and at most */
    TABLE_MOST = 1 << 18 /* ids that are kept */
};

struct draft_table; /* NULL: an empty one that never gets anything */

struct draft_table *
engine_table_new(void); /* NULL: no memory */
void
engine_table_free(struct draft_table *table);

/* A text ends so; `key` is NULL or whose it is. Nothing is added for want of
 * memory, or where there are too many keys. */
void
engine_table_add(struct draft_table *table, const int32_t *ids, size_t n,
                 const char *key);

/* Adds a text that every other may find. */
void
engine_table_share(struct draft_table *table, const int32_t *ids, size_t n);

/* The ids of all texts without a key, the oldest first, -1 after each, to
 * out[0..TABLE_MOST); returns how many. */
size_t
engine_table_list(const struct draft_table *table, int32_t *out);

/* Where ids[0..n), or the longest end of them, stood last: the place after it;
 * returns its length, 0: nowhere, or less than TABLE_LEAST. */
size_t
engine_table_find(const struct draft_table *table, const int32_t *ids, size_t n,
                  const char *key, uint64_t *place);

/* The id at the place, or -1: the text has ended there. */
int32_t
engine_table_id(const struct draft_table *table, uint64_t place);

#endif
