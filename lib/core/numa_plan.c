/* numa_plan.c - which threads run on which node, and which rows lie there */
#include "core/numa_plan.h"

#include <string.h>

#include "core/mem.h"

bool
numa_plan_add(struct numa_machine *m, int index, const int *cpus, int n)
{
    struct numa_node *nodes =
        mem_realloc(m->nodes, ((size_t)m->n_nodes + 1) * sizeof(*m->nodes));
    int *copy = mem_dup(cpus, (size_t)n * sizeof(*cpus));

    if (nodes)
        m->nodes = nodes;
    if (!nodes || !copy) {
        mem_free(copy);
        return false;
    }
    m->nodes[m->n_nodes++] = (struct numa_node){
        .index = index, .cpus = copy, .n_cpus = n, .before = m->n_cpus
    };
    m->n_cpus += n;
    return true;
}

void
numa_plan_clear(struct numa_machine *m)
{
    for (int i = 0; i < m->n_nodes; i++)
        mem_free(m->nodes[i].cpus);
    mem_free(m->nodes);
    *m = (struct numa_machine){ 0 };
}

/* ---- parts of a machine ---- */

/* Leaves nodes first..end. */
static void
keep_nodes(struct numa_machine *m, int first, int end)
{
    int n_cpus = 0;

    for (int i = 0; i < m->n_nodes; i++)
        if (i < first || i >= end)
            mem_free(m->nodes[i].cpus);
    m->n_nodes = end - first;
    memmove(m->nodes, m->nodes + first, (size_t)m->n_nodes * sizeof(*m->nodes));
    for (int i = 0; i < m->n_nodes; i++) {
        m->nodes[i].before = n_cpus;
        n_cpus += m->nodes[i].n_cpus;
    }
    m->n_cpus = n_cpus;
}

/* Keeps processors [first, end) of the one node. */
static void
keep_cpus(struct numa_machine *m, int first, int end)
{
    struct numa_node *node = m->nodes;

    node->n_cpus = m->n_cpus = end - first;
    memmove(node->cpus, node->cpus + first,
            (size_t)node->n_cpus * sizeof(*node->cpus));
}

/* Share i of n of `all`, from its first on. */
static int
first_of(int all, int i, int n)
{
    return (int)((int64_t)all * i / n);
}

void
numa_plan_take_share(struct numa_machine *m, int local, int n)
{
    int node, first, end, cpus;

    if (m->n_nodes == 0 || n <= 1)
        return;
    if (n <= m->n_nodes) {
        keep_nodes(m, first_of(m->n_nodes, local, n),
                   first_of(m->n_nodes, local + 1, n));
        return;
    }
    /* Processes first..end have this node. */
    node = first_of(m->n_nodes, local, n);
    for (first = local;
         first > 0 && first_of(m->n_nodes, first - 1, n) == node;)
        first--;
    for (end = local + 1; end < n && first_of(m->n_nodes, end, n) == node;)
        end++;
    keep_nodes(m, node, node + 1);
    cpus = m->n_cpus;
    if (end - first <= cpus)
        keep_cpus(m, first_of(cpus, local - first, end - first),
                  first_of(cpus, local - first + 1, end - first));
    else
        keep_cpus(m, (local - first) % cpus, (local - first) % cpus + 1);
}

static bool
has_cpu(const struct numa_node *node, int cpu)
{
    for (int i = 0; i < node->n_cpus; i++)
        if (node->cpus[i] == cpu)
            return true;
    return false;
}

void
numa_plan_take_node(struct numa_machine *m, int cpu)
{
    int node = 0;

    if (m->n_nodes == 0)
        return;
    for (int i = 0; i < m->n_nodes; i++)
        if (has_cpu(&m->nodes[i], cpu))
            node = i;
    keep_nodes(m, node, node + 1);
}

/* ---- threads and rows ---- */

int
numa_plan_node_of(const struct numa_machine *m, int i, int n)
{
    int node = m->n_nodes - 1;

    /* by the middle of the thread's share */
    while (node > 0 && (2 * (int64_t)i + 1) * m->n_cpus <
                           2 * (int64_t)n * m->nodes[node].before)
        node--;
    return node;
}

int64_t
numa_plan_first_row(const struct numa_machine *m, int node, int64_t n)
{
    int before = node < m->n_nodes ? m->nodes[node].before : m->n_cpus;

    /* no product that could overflow */
    return n / m->n_cpus * before + n % m->n_cpus * before / m->n_cpus;
}

/* The end of the pages that begin before `at`. */
static uintptr_t
page_after(uintptr_t at, size_t page)
{
    return (at + page - 1) / page * page;
}

struct numa_span
numa_plan_pages(const struct numa_machine *m, int node, void *data, size_t size,
                int64_t n, size_t page)
{
    size_t row = n > 0 ? size / (size_t)n : 0;
    uintptr_t base = (uintptr_t)data, last = (base + size) / page * page;
    uintptr_t first =
        page_after(base + row * (size_t)numa_plan_first_row(m, node, n), page);
    uintptr_t end = page_after(
        base + row * (size_t)numa_plan_first_row(m, node + 1, n), page);

    /* memory that shares its page with what follows stays where it is */
    end = end < last ? end : last;
    if (first >= end)
        return (struct numa_span){ NULL, 0 };
    return (struct numa_span){ (char *)data + (first - base), end - first };
}
