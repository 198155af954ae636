/* weight_queue.h - units in turn */
#ifndef CPU_EXEC_WEIGHT_QUEUE_H
#define CPU_EXEC_WEIGHT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

/* All zero: none, and no room. */
struct weight_queue {
    int *list;
    size_t first, n, cap;
};

void
cpu_queue_push(struct weight_queue *q, int unit);
int
cpu_queue_pop(struct weight_queue *q);

/* Makes room for as many. False: no memory, and nothing is lost. */
bool
cpu_queue_grow(struct weight_queue *q, size_t cap);
void
cpu_queue_clear(struct weight_queue *q);

#endif
