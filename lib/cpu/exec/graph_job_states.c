/* graph_job_states.c - recurrences that write their state where it is kept */
#include "cpu/exec/graph_jobs.h"

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* The next node with work, at or after `i`; n_nodes: there is none. */
static int
next_node(const struct ggml_cgraph *graph, int i)
{
    while (i < graph->n_nodes && tensor_is_idle(graph->nodes[i]))
        i++;
    return i;
}

/* True if t is the state, or a part of it. */
static bool
has_state(const struct ggml_tensor *t, const struct ggml_tensor *node,
          const struct cpu_state *state)
{
    return t->view_src == node && t->view_offs + ggml_nbytes(t) > state->at;
}

/* True if one node alone, the copy, reads the state. */
static bool
is_read_once(const struct ggml_cgraph *graph, const struct ggml_tensor *copy,
             const struct ggml_tensor *node, const struct cpu_state *state)
{
    for (int i = 0; i < graph->n_nodes; i++) {
        const struct ggml_tensor *t = graph->nodes[i];

        if (t != copy->src[0] && has_state(t, node, state))
            return false;
        for (int j = 0; j < GGML_MAX_SRC; j++)
            if (t->src[j] == node
                    ? !tensor_is_view_op(t->op)
                    : t != copy && t->src[j] && !tensor_is_view_op(t->op) &&
                          has_state(t->src[j], node, state))
                return false;
    }
    return true;
}

static bool
is_apart(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const char *x = a->data, *y = b->data;

    return x + ggml_nbytes(a) <= y || y + ggml_nbytes(b) <= x;
}

/* True if the copy goes to one of the states that the recurrence reads, or to
 * bytes that it does not use. */
static bool
is_in_place(const struct ggml_tensor *copy, const struct ggml_tensor *node,
            const struct cpu_state *state)
{
    const char *to = copy->data;

    for (int i = 0; i < GGML_MAX_SRC && node->src[i]; i++) {
        const struct ggml_tensor *s = node->src[i];
        const char *from = s->data;

        if (!is_apart(copy, s) && (s != state->source || to < from ||
                                   (size_t)(to - from) % state->size))
            return false;
    }
    return is_apart(copy, node);
}

/* The copy of the whole last state, and of nothing else. */
static bool
copies_state(const struct ggml_tensor *copy, const struct ggml_tensor *node,
             const struct cpu_state *state)
{
    const struct ggml_tensor *from = copy->src[0];

    return copy->op == GGML_OP_CPY && from->view_src == node &&
           from->view_offs == state->at && ggml_nbytes(from) == state->size &&
           from->type == GGML_TYPE_F32 && ggml_is_contiguous(from) &&
           copy->type == GGML_TYPE_F32 && ggml_is_contiguous(copy);
}

void
cpu_job_join_state(struct cpu_job *job, const struct ggml_cgraph *graph)
{
    struct job_member *m = &job->members[0];
    int next = next_node(graph, job->end);
    const struct ggml_tensor *copy;
    struct cpu_state state;

    if (!graph->serial || job->n_members != 1 || next == graph->n_nodes ||
        !cpu_state_of(m->node, &state) ||
        (m->node->flags & GGML_TENSOR_FLAG_OUTPUT))
        return;
    copy = graph->nodes[next];
    if (!copies_state(copy, m->node, &state) ||
        !is_in_place(copy, m->node, &state) ||
        !is_read_once(graph, copy, m->node, &state))
        return;
    m->state = copy->data;
    job->end = next + 1;
}
