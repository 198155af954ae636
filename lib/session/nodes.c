/* nodes.c - rows of weights go to the nodes of memory of their threads */
#include "core/mem.h"
#include "core/numa.h"
#include "session/place.h"

struct matrices {
    struct numa_matrix *list;
    size_t n, cap;
};

/* Adds the matrices of a tensor, of which each thread has some rows. */
static bool
add_matrices(struct matrices *all, const struct ggml_tensor *t)
{
    int64_t n = t->ne[2] * t->ne[3];

    if (!t->buffer || !ggml_backend_buffer_is_host(t->buffer))
        return true;
    if (!mem_grow(&all->list, &all->cap, all->n + (size_t)n,
                  sizeof(*all->list)))
        return false;
    for (int64_t i = 0; i < n; i++)
        all->list[all->n++] =
            (struct numa_matrix){ .data =
                                      (char *)t->data + (size_t)i * t->nb[2],
                                  .size = t->nb[2],
                                  .n_rows = t->ne[1] };
    return true;
}

void
session_spread_over_nodes(const struct model *m)
{
    const struct numa_machine *machine = numa_chosen();
    struct matrices all = { 0 };
    bool done = machine && machine->n_nodes > 1;

    for (int i = 0; done && i < m->n_homes; i++)
        for (struct ggml_tensor *t = ggml_get_first_tensor(m->homes[i].ctx);
             t && done; t = ggml_get_next_tensor(m->homes[i].ctx, t))
            done = add_matrices(&all, t);
    if (done)
        numa_place(all.list, all.n);
    mem_free(all.list);
}
