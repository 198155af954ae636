/* translate_responses.h - what the files of OpenAI's Responses share */
#ifndef SERVE_TRANSLATE_RESPONSES_H
#define SERVE_TRANSLATE_RESPONSES_H

#include "gg-serve/translate_impl.h"

/* The argument of a function that stands for a tool of text. */
#define RESPONSES_ARGUMENT "input"

void
responses_read(struct translation *t, const struct record_object *body);

/* The engine's name of a tool in a namespace; "": in none. For free(). */
char *
responses_flat(const char *space, const char *name);

/* Tools, and which of them is to be called. responses_tools.c */
void
responses_read_tools(struct translation *t, const struct record_value *v);
void
responses_read_choice(struct translation *t, const struct record_value *v);

/* All items of the input, after what `instructions` (or NULL) says.
 * responses_input.c */
void
responses_read_input(struct translation *t, const struct record_value *input,
                     const struct record_value *instructions);

#endif
