/* numa_hwloc.c - NUMA: threads on processors, memory on nodes of a plan */
#include "core/numa.h"

#include <hwloc.h>
#include <pthread.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/thread.h"

static struct {
    hwloc_topology_t topology; /* NULL: nothing was chosen */
    struct numa_machine machine;
    hwloc_bitmap_t cpus;   /* of the process */
    hwloc_bitmap_t *nodes; /* processors of each */
} chosen;

/* ---- the machine --------------------------------------------------------- */

/* The processors of `set`, in the order of cores. False: no memory. */
static bool
add_node(struct numa_machine *m, hwloc_topology_t t, int index,
         hwloc_const_bitmap_t set)
{
    int n = hwloc_get_nbobjs_inside_cpuset_by_type(t, set, HWLOC_OBJ_PU), i = 0;
    int *cpus = n > 0 ? mem_array((size_t)n, sizeof(*cpus)) : NULL;
    hwloc_obj_t pu = NULL;
    bool done = n <= 0;

    while (cpus && i < n &&
           (pu = hwloc_get_next_obj_inside_cpuset_by_type(t, set, HWLOC_OBJ_PU,
                                                          pu)))
        cpus[i++] = (int)pu->os_index;
    if (cpus && i > 0)
        done = numa_plan_add(m, index, cpus, i);
    mem_free(cpus);
    return done;
}

/* Further memory of processors that have some already is left alone. */
static bool
add_nodes(struct numa_machine *m, hwloc_topology_t t,
          hwloc_const_bitmap_t allowed)
{
    hwloc_bitmap_t left = hwloc_bitmap_dup(allowed), set = hwloc_bitmap_alloc();
    hwloc_obj_t node = NULL;
    bool done = left && set;

    while (done &&
           (node = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, node))) {
        hwloc_bitmap_and(set, node->cpuset, left);
        hwloc_bitmap_andnot(left, left, set);
        done = add_node(m, t, (int)node->os_index, set);
    }
    hwloc_bitmap_free(left);
    hwloc_bitmap_free(set);
    return done;
}

static enum gg_status
open_topology(hwloc_topology_t *t, struct gg_error *err)
{
    if (hwloc_topology_init(t))
        return error_nomem(err);
    hwloc_topology_set_all_types_filter(*t, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    if (hwloc_topology_load(*t) == 0)
        return GG_OK;
    hwloc_topology_destroy(*t);
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "hwloc cannot read what the machine consists of");
}

static enum gg_status
read_machine(hwloc_topology_t t, struct numa_machine *m, bool *bound,
             struct gg_error *err)
{
    hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(t);
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    enum gg_status st = GG_OK;

    *m = (struct numa_machine){ 0 };
    if (!own)
        return error_nomem(err);
    if (hwloc_get_cpubind(t, own, HWLOC_CPUBIND_THREAD))
        hwloc_bitmap_copy(own, all);
    hwloc_bitmap_and(own, own, all);
    *bound = !hwloc_bitmap_isequal(own, all);
    if (!add_nodes(m, t, own))
        st = error_nomem(err);
    else if (m->n_nodes == 0)
        st = error_set(err, GG_ERR_UNSUPPORTED,
                       "hwloc knows no node with a processor");
    hwloc_bitmap_free(own);
    if (st != GG_OK)
        numa_plan_clear(m);
    return st;
}

enum gg_status
numa_read(struct numa_machine *m, bool *bound, struct gg_error *err)
{
    hwloc_topology_t t;
    enum gg_status st = open_topology(&t, err);

    if (st != GG_OK)
        return st;
    st = read_machine(t, m, bound, err);
    hwloc_topology_destroy(t);
    return st;
}

/* ---- what was chosen ----------------------------------------------------- */

static int
cpu_now(hwloc_topology_t t)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    int cpu = -1;

    if (set && hwloc_get_last_cpu_location(t, set, HWLOC_CPUBIND_THREAD) == 0)
        cpu = hwloc_bitmap_first(set);
    hwloc_bitmap_free(set);
    return cpu;
}

/* False: no memory. */
static bool
make_sets(void)
{
    const struct numa_machine *m = &chosen.machine;

    chosen.cpus = hwloc_bitmap_alloc();
    chosen.nodes = mem_array((size_t)m->n_nodes, sizeof(hwloc_bitmap_t));
    for (int i = 0; chosen.cpus && chosen.nodes && i < m->n_nodes; i++) {
        chosen.nodes[i] = hwloc_bitmap_alloc();
        if (!chosen.nodes[i])
            return false;
        for (int k = 0; k < m->nodes[i].n_cpus; k++)
            hwloc_bitmap_set(chosen.nodes[i], (unsigned)m->nodes[i].cpus[k]);
        hwloc_bitmap_or(chosen.cpus, chosen.cpus, chosen.nodes[i]);
    }
    return chosen.cpus && chosen.nodes;
}

static void
clear_chosen(void)
{
    for (int i = 0; chosen.nodes && i < chosen.machine.n_nodes; i++)
        hwloc_bitmap_free(chosen.nodes[i]);
    mem_free(chosen.nodes);
    hwloc_bitmap_free(chosen.cpus);
    numa_plan_clear(&chosen.machine);
    if (chosen.topology)
        hwloc_topology_destroy(chosen.topology);
    chosen.topology = NULL;
    chosen.nodes = NULL;
    chosen.cpus = NULL;
}

static void
bind_thread(hwloc_const_bitmap_t set)
{
    (void)hwloc_set_cpubind(chosen.topology, set, HWLOC_CPUBIND_THREAD);
}

enum gg_status
numa_init(enum numa_mode mode, int local, int n_local, struct gg_error *err)
{
    hwloc_topology_t t;
    enum gg_status st;
    bool bound;

    clear_chosen();
    if (mode == NUMA_OFF)
        return GG_OK;
    st = open_topology(&t, err);
    if (st != GG_OK)
        return st;
    chosen.topology = t;
    st = read_machine(t, &chosen.machine, &bound, err);
    if (st == GG_OK) {
        if (!bound)
            numa_plan_take_share(&chosen.machine, local, n_local);
        if (mode == NUMA_ISOLATE)
            numa_plan_take_node(&chosen.machine, cpu_now(t));
        if (!make_sets())
            st = error_nomem(err);
    }
    if (st == GG_OK)
        bind_thread(chosen.cpus); /* and all that it will start */
    else
        clear_chosen();
    return st;
}

const struct numa_machine *
numa_chosen(void)
{
    return chosen.topology ? &chosen.machine : NULL;
}

/* ---- threads ------------------------------------------------------------- */

void
numa_enter(int i, int n)
{
    if (chosen.topology)
        bind_thread(chosen.nodes[numa_plan_node_of(&chosen.machine, i, n)]);
}

void
numa_leave(void)
{
    if (chosen.topology)
        bind_thread(chosen.cpus);
}

/* ---- memory -------------------------------------------------------------- */

/* A machine with one node has nothing to choose. */
static bool
has_nodes(void)
{
    return chosen.topology && chosen.machine.n_nodes > 1;
}

void
numa_interleave(void *p, size_t size)
{
    struct mem_pages pages = mem_pages(p, size);
    hwloc_bitmap_t set;

    if (!has_nodes() || pages.size == 0 || !(set = hwloc_bitmap_alloc()))
        return;
    for (int i = 0; i < chosen.machine.n_nodes; i++)
        hwloc_bitmap_set(set, (unsigned)chosen.machine.nodes[i].index);
    (void)hwloc_set_area_membind(chosen.topology, pages.p, pages.size, set,
                                 HWLOC_MEMBIND_INTERLEAVE,
                                 HWLOC_MEMBIND_BYNODESET);
    hwloc_bitmap_free(set);
}

/* The pages of one node, which a thread of its own brings there. */
struct mover {
    const struct numa_matrix *list;
    size_t n;
    int node;
    pthread_t thread;
    bool started;
};

/* Pages of a file that nobody has read come to the node of who reads them;
 * others are moved, where no other process has them. */
static void
move_pages_of(const struct numa_matrix *x, int node, hwloc_const_bitmap_t set)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct numa_span s = numa_plan_pages(&chosen.machine, node, x->data,
                                         x->size, x->n_rows, page);

    for (size_t i = 0; i < s.size; i += page)
        (void)((const volatile char *)s.p)[i];
    if (s.size)
        (void)hwloc_set_area_membind(
            chosen.topology, s.p, s.size, set, HWLOC_MEMBIND_BIND,
            HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_MIGRATE);
}

static void *
move(void *arg)
{
    const struct mover *w = arg;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();

    bind_thread(chosen.nodes[w->node]);
    if (set)
        hwloc_bitmap_only(set, (unsigned)chosen.machine.nodes[w->node].index);
    for (size_t i = 0; set && i < w->n; i++)
        move_pages_of(&w->list[i], w->node, set);
    hwloc_bitmap_free(set);
    return NULL;
}

void
numa_place(const struct numa_matrix *list, size_t n)
{
    struct mover *w;

    if (!has_nodes())
        return;
    w = mem_array((size_t)chosen.machine.n_nodes, sizeof(*w));
    for (int i = 0; w && i < chosen.machine.n_nodes; i++) {
        w[i] = (struct mover){ .list = list, .n = n, .node = i };
        w[i].started = thread_start(&w[i].thread, move, &w[i]) == 0;
    }
    for (int i = 0; w && i < chosen.machine.n_nodes; i++)
        if (w[i].started)
            pthread_join(w[i].thread, NULL);
    mem_free(w);
}
