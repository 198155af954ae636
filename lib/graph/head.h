/* head.h - what follows the pooling: a few dense layers of one vector
 *
 * They are small and computed once a text: by the CPU, in double precision,
 * from the file's mapping, wherever the layers before are. */
#ifndef GRAPH_HEAD_H
#define GRAPH_HEAD_H

#include "graph/loader.h"

/* dense_2 and dense_3, of embeddings; cls, cls.norm and cls.output, of
 * rerankers. A shape that does not follow from the one before fails. */
void
graph_head_find(struct model_loader *l);

/* Values of x when all is done, never more than graph_head_room(). */
int32_t
graph_head_length(const struct model_head *head, int32_t n_embd);
/* Values of the longest vector on the way. */
int32_t
graph_head_room(const struct model_head *head, int32_t n_embd);

/* Applies the layers to x, n_embd values at first; x and scratch have
 * graph_head_room() values each, row as many floats. */
void
graph_head_apply(const struct model_head *head, float eps, double *x,
                 double *scratch, float *row);

#endif
