/* choice.h - which of several texts is likeliest to follow the prompt
 *
 * The ids of a choice are those of prompt and choice as one text, so that it
 * makes no difference whether a blank between them ends the one or begins the
 * other. From the first id on at which some choice's text has others than the
 * prompt alone, the logarithms of the ids' probabilities are added up; what is
 * before that is evaluated once. */
#ifndef GENERATE_CHOICE_H
#define GENERATE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

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
    CHOICES_AT_ONCE = 8, /* that are evaluated together */
};

/* Adds what commas part; \, \\ \n and \t are what a comma, a backslash, a
 * newline and a tab are written as. What is none ends the tool. */
void
choices_add(struct choices *c, const char *list);
void
choices_clear(struct choices *c);

struct generate;

/* Reads the prompt and writes the likeliest choice. */
void
generate_choice(struct generate *g);

#endif
