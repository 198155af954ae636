/* pair.h - a query and a document; prompts of sentence-transformers */
#ifndef TOKENIZE_PAIR_H
#define TOKENIZE_PAIR_H

#include "common/ranked_pair.h"

/* Reads a line: a query, TAB, a document; or, where it begins with a brace,
 * JSON: {"query": ..., "document": ...}. */
enum gg_status
ranked_pair_read(struct pair *pair, const char *line, size_t len,
                 struct gg_error *err);

/* The prompt of that name in config_sentence_transformers.json of the folder
 * that the model is or lies in, for free(). Ends the tool where there is none.
 */
char *
prompt_read(const char *model, const char *name);

#endif
