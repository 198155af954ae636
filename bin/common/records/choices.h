/* choices.h - texts of which one is to follow the prompt */
#ifndef RECORDS_CHOICES_H
#define RECORDS_CHOICES_H

#include <stdbool.h>
#include <stddef.h>

#include <gg-engine.h>

#include "common/buffer.h"

struct choice {
    char *text;
    size_t len;
};

/* All zero: none. */
struct choices {
    struct choice *list;
    size_t n;
};

enum {
    CHOICES_AT_ONCE = 8, /* that are evaluated together, of one prompt */
};

/* Adds one; GG_ERR_ARG: it is empty. */
enum gg_status
choices_add(struct choices *c, const char *text, size_t len,
            struct gg_error *err);

/* Adds what commas part; \, \\ \n and \t are what a comma, a backslash, a
 * newline and a tab are written as. */
enum gg_status
choices_add_list(struct choices *c, const char *list, struct gg_error *err);

void
choices_clear(struct choices *c);

/* The text of a choice whose data is the struct choice that it was made of. */
static inline const struct choice *
choices_text(const struct gg_choice *c)
{
    return c->data;
}

/* Adds "SCORE<TAB>NUMBER<TAB>CHOICE<TAB>PROBABILITY" for each choice of a
 * scoring that was decided, `between` two of them. */
void
choices_add_scores(const struct gg_choices *c, char between,
                   struct buffer *out);

#endif
