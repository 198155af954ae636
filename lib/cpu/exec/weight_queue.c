/* weight_queue.c - units in turn */
#include "cpu/exec/weight_queue.h"

#include "core/mem.h"

void
cpu_queue_push(struct weight_queue *q, int unit)
{
    q->list[(q->first + q->n++) % q->cap] = unit;
}

int
cpu_queue_pop(struct weight_queue *q)
{
    int unit = q->list[q->first];

    q->first = (q->first + 1) % q->cap;
    q->n--;
    return unit;
}

bool
cpu_queue_grow(struct weight_queue *q, size_t cap)
{
    int *list;

    if (cap <= q->cap)
        return true;
    list = mem_array(cap, sizeof(*list));
    if (!list)
        return false;
    for (size_t i = 0; i < q->n; i++)
        list[i] = q->list[(q->first + i) % q->cap];
    mem_free(q->list);
    q->list = list;
    q->first = 0;
    q->cap = cap;
    return true;
}

void
cpu_queue_clear(struct weight_queue *q)
{
    mem_free(q->list);
    *q = (struct weight_queue){ 0 };
}
