/* pair.h - a query and a document; prompts of sentence-transformers */
#ifndef TOKENIZE_PAIR_H
#define TOKENIZE_PAIR_H

#include "common/buffer.h"
#include "common/cli.h"

/* All zero is empty. */
struct pair {
    struct buffer query, document;
};

/* Reads a line: a query, TAB, a document; or, where it begins with a brace,
 * JSON: {"query": ..., "document": ...}. */
enum gg_status
ranked_pair_read(struct pair *pair, const char *line, size_t len,
                 struct gg_error *err);
void
ranked_pair_clear(struct pair *pair);

/* Adds the text to `out`, with {query} and {document} replaced. */
void
ranked_pair_expand(const struct pair *pair, const char *text, size_t len,
                   struct buffer *out);

/* The prompt of that name in config_sentence_transformers.json of the folder
 * that the model is or lies in, for free(). Ends the tool where there is none.
 */
char *
prompt_read(const char *model, const char *name);

#endif
