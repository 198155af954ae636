/* choice.h - texts of which one is to follow the prompt */
#ifndef GENERATE_CHOICE_H
#define GENERATE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include <gg.h>

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

struct gg_choices;

/* Adds "SCORE<TAB>NUMBER<TAB>CHOICE<TAB>PROBABILITY" for each choice of a
 * contest that was decided, `between` two of them. */
void
choices_add_scores(const struct gg_choices *c, char between,
                   struct buffer *out);

#endif
