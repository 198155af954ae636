/* reranker.h - whether a model says that it scores pairs */
#ifndef COMMON_RERANKER_H
#define COMMON_RERANKER_H

#include <gg.h>

#include <stdbool.h>

/* An error where the file at `path` has nothing that makes a model which
 * generates text a reranker: a classifier, a template of the name "rerank",
 * a pooling of the type rank. With `named`, a name with "rerank" in it will
 * do: it does not tell the form of a pair, but that there are scores.
 * Encoders pass. */
enum gg_status
reranker_look(const char *path, bool named, struct gg_error *err);
/* As reranker_look(), but an error ends the tool. */
void
reranker_check(const char *path, bool named);

#endif
