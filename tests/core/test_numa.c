/* test_numa.c - the plan of threads, rows and pages over nodes of memory, on
 * machines that are not there, and a thread on the processor that it says */
#include <config.h>

#include <sched.h>
#include <stdlib.h>

#include "core/numa.h"
#include "harness/tap.h"

enum {
    PAGE = 4096,
};

/* Nodes with counts[i] processors each, up to a 0: node 2 i has the processors
 * from 100 i on. */
static struct numa_machine
machine_of(const int *counts)
{
    struct numa_machine m = { 0 };

    for (int i = 0; counts[i]; i++) {
        int cpus[64];

        for (int k = 0; k < counts[i]; k++)
            cpus[k] = 100 * i + k;
        if (!numa_plan_add(&m, 2 * i, cpus, counts[i]))
            exit(99);
    }
    return m;
}

/* ---- threads ---- */

/* In the order of nodes, as many on each as it has of all processors, give or
 * take one. */
static bool
threads_fit(const struct numa_machine *m, int n)
{
    int before = 0, count[8] = { 0 };
    bool fit = true;

    for (int i = 0; i < n; i++) {
        int node = numa_plan_node_of(m, i, n);

        fit = fit && node >= before && node < m->n_nodes;
        before = node;
        count[node]++;
    }
    for (int i = 0; i < m->n_nodes; i++) {
        double want = (double)n * m->nodes[i].n_cpus / m->n_cpus;

        fit = fit && count[i] > want - 1.0001 && count[i] < want + 1.0001;
    }
    return fit;
}

/* ---- rows ---- */

static int
node_of_row(const struct numa_machine *m, int64_t row, int64_t n)
{
    int node = 0;

    while (numa_plan_first_row(m, node + 1, n) <= row)
        node++;
    return node;
}

/* Rows that lie on another node than the thread which has them in its share, as
 * cpu_pool_first() parts them, are at most one for each border. */
static bool
rows_fit(const struct numa_machine *m, int64_t n, int n_threads)
{
    int64_t away = 0;

    for (int i = 0; i < n_threads; i++)
        for (int64_t r = n * i / n_threads; r < n * (i + 1) / n_threads; r++)
            away += node_of_row(m, r, n) != numa_plan_node_of(m, i, n_threads);
    return away < m->n_nodes && numa_plan_first_row(m, 0, n) == 0 &&
           numa_plan_first_row(m, m->n_nodes, n) == n;
}

/* ---- pages ---- */

/* Each page that begins in the matrix belongs to one span: that of the node of
 * the row which the page begins in; the last one, where it ends after the
 * matrix, to none. */
static bool
pages_fit(const struct numa_machine *m, uintptr_t base, size_t row, int64_t n)
{
    size_t size = row * (size_t)n;
    uintptr_t at = (base + PAGE - 1) / PAGE * PAGE;
    bool fit = true;

    for (; at < base + size && fit; at += PAGE) {
        int want = node_of_row(m, (int64_t)((at - base) / row), n), found = 0;

        for (int i = 0; i < m->n_nodes; i++) {
            struct numa_span s =
                numa_plan_pages(m, i, (void *)base, size, n, PAGE);
            uintptr_t p = (uintptr_t)s.p;

            fit = fit && p % PAGE == 0 && s.size % PAGE == 0 &&
                  (s.size == 0 || (p >= base && p + s.size <= base + size));
            if (at >= p && at < p + s.size)
                found += i == want ? 1 : 100;
        }
        fit = fit && found == (at + PAGE <= base + size);
    }
    return fit;
}

static void
test_plans(void)
{
    static const int counts[][9] = { { 1 },          { 8 },
                                     { 4, 4 },       { 3, 5 },
                                     { 1, 1, 1 },    { 2, 7, 1, 4 },
                                     { 4, 4, 4, 4 }, { 16, 16 } };
    bool threads = true, rows = true, pages = true;

    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        struct numa_machine m = machine_of(counts[c]);

        for (int n = 1; n <= 70; n++)
            threads = threads && threads_fit(&m, n);
        for (int64_t n = 1; n <= 300; n += n < 70 ? 1 : 37)
            for (int k = 1; k <= 3; k++)
                rows = rows && rows_fit(&m, n, k * m.n_cpus);
        for (int i = 0; i < 200; i++)
            pages = pages && pages_fit(&m, 0x10000 + 32 * (uintptr_t)i * 7,
                                       (size_t)(1 + i * 37), 1 + i % 67);
        numa_plan_clear(&m);
    }
    ok(threads, "threads go over nodes in order, by processors");
    ok(rows, "rows lie where their threads are");
    ok(pages, "pages lie where the row is that they begin in");
}

static void
test_no_overflow(void)
{
    static const int counts[] = { 64, 64, 64, 64, 0 };
    struct numa_machine m = machine_of(counts);

    ok(numa_plan_first_row(&m, 3, INT64_MAX / 2) ==
           INT64_MAX / 2 / 256 * 192 + INT64_MAX / 2 % 256 * 192 / 256,
       "many rows");
    ok(numa_plan_pages(&m, 1, (void *)(uintptr_t)4096, 0, 0, PAGE).size == 0,
       "no rows, no pages");
    numa_plan_clear(&m);
}

/* ---- processes that share a machine ---- */

/* Each processor is one process's, if no node has fewer than n processors. */
static bool
shares_fit(const int *counts, int n)
{
    struct numa_machine all = machine_of(counts);
    int owners[900] = { 0 };
    bool fit = true;

    for (int i = 0; i < n; i++) {
        struct numa_machine m = machine_of(counts);

        numa_plan_take_share(&m, i, n);
        fit = fit && m.n_nodes > 0 && m.n_cpus > 0 && m.nodes[0].before == 0;
        fit = fit && (n < all.n_nodes || m.n_nodes == 1);
        for (int k = 0; k < m.n_nodes; k++)
            for (int c = 0; c < m.nodes[k].n_cpus; c++)
                owners[m.nodes[k].cpus[c]]++;
        numa_plan_clear(&m);
    }
    for (int k = 0; k < all.n_nodes; k++)
        for (int c = 0; c < all.nodes[k].n_cpus; c++) {
            int owned = owners[all.nodes[k].cpus[c]];

            fit = fit && owned == 1;
        }
    numa_plan_clear(&all);
    return fit;
}

static void
test_shares(void)
{
    static const int two[] = { 8, 8, 0 }, four[] = { 4, 4, 4, 4, 0 };
    static const int one[] = { 6, 0 };
    struct numa_machine m = machine_of(four);
    bool fit = true;

    for (int n = 1; n <= 16; n++)
        fit = fit && shares_fit(two, n) && shares_fit(four, n);
    for (int n = 1; n <= 6; n++)
        fit = fit && shares_fit(one, n);
    ok(fit, "processes have processors of their own");
    numa_plan_take_share(&m, 1, 2);
    ok(m.n_nodes == 2 && m.nodes[0].index == 4 && m.nodes[1].index == 6,
       "the second of two has the last two of four nodes");
    numa_plan_take_node(&m, 302);
    ok(m.n_nodes == 1 && m.nodes[0].index == 6 && m.n_cpus == 4,
       "the node of a processor");
    numa_plan_clear(&m);
    m = machine_of(two);
    numa_plan_take_share(&m, 3, 5); /* nodes 0 0 0 1 1 */
    ok(m.n_nodes == 1 && m.nodes[0].index == 2 && m.n_cpus == 4 &&
           m.nodes[0].cpus[0] == 100,
       "the fourth of five has half of the second node");
    numa_plan_take_share(&m, 8, 9);
    is(m.n_cpus, 1, "more processes than processors");
    numa_plan_clear(&m);
}

/* ---- what hwloc says ---- */

/* "0: 0 1 2 3; 1: 4 5 6 7" */
static const char *
describe(const char *synthetic, bool *bound)
{
    static char text[400];
    struct numa_machine m;
    struct gg_error err;
    size_t n = 0;

    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    if (numa_read(&m, bound, &err) != GG_OK)
        return err.message[0] ? "failed" : NULL;
    text[0] = '\0';
    for (int i = 0; i < m.n_nodes; i++) {
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "%s%d:", i ? "; " : "", m.nodes[i].index);
        for (int k = 0; k < m.nodes[i].n_cpus; k++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, " %d",
                                  m.nodes[i].cpus[k]);
    }
    numa_plan_clear(&m);
    unsetenv("HWLOC_SYNTHETIC");
    return text;
}

static void
test_synthetic(void)
{
    bool bound;

    is(describe("numa:1 core:2 pu:1", &bound), "0: 0 1", "one node");
    is(describe("pack:2 [numa] core:2 pu:2", &bound), "0: 0 1 2 3; 1: 4 5 6 7",
       "a node a socket");
    ok(!bound, "all of it may be used");
    /* Threads of a core are numbered apart, as on many machines. */
    is(describe("pack:2 [numa] core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", &bound),
       "0: 0 4 1 5; 1: 2 6 3 7", "those of a core are neighbours");
    is(describe("pack:2 numa:2 core:1 pu:1", &bound), "0: 0; 1: 1; 2: 2; 3: 3",
       "two nodes a socket");
    is(describe("pack:2 [numa] [numa] core:2 pu:1", &bound), "0: 0 1; 2: 2 3",
       "memory beside other memory is left alone");
}

/* Two processors of this machine, as two nodes. */
static void
test_threads(void)
{
    struct gg_error err;
    cpu_set_t before, now;

    sched_getaffinity(0, sizeof(before), &before);
    if (!CPU_ISSET(0, &before) || !CPU_ISSET(1, &before)) {
        ok(1, "# SKIP processors 0 and 1 are not ours");
        return;
    }
    setenv("HWLOC_SYNTHETIC", "numa:2 core:1 pu:1", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    is(numa_init(NUMA_DISTRIBUTE, 0, 1, &err), GG_OK, "two nodes");
    for (int i = 0; i < 2; i++) {
        numa_enter(i, 2);
        sched_getaffinity(0, sizeof(now), &now);
        ok(CPU_COUNT(&now) == 1 && CPU_ISSET(i, &now),
           "a thread is where the plan has it");
    }
    numa_leave();
    sched_getaffinity(0, sizeof(now), &now);
    is(CPU_COUNT(&now), 2, "and then anywhere on the nodes");
    is(numa_init(NUMA_ISOLATE, 0, 1, &err), GG_OK, "one of them");
    sched_getaffinity(0, sizeof(now), &now);
    is(CPU_COUNT(&now), 1, "the process is on one");
    is(numa_chosen()->n_nodes, 1, "a node");
    sched_setaffinity(0, sizeof(before), &before);
    is(numa_init(NUMA_DISTRIBUTE, 1, 2, &err), GG_OK, "the second process");
    is(numa_chosen()->nodes[0].cpus[0], 1, "has the second node");
    numa_enter(0, 1);
    sched_getaffinity(0, sizeof(now), &now);
    ok(CPU_COUNT(&now) == 1 && CPU_ISSET(1, &now), "and computes there");
    /* A launcher has bound it to the first. */
    CPU_ZERO(&now);
    CPU_SET(0, &now);
    sched_setaffinity(0, sizeof(now), &now);
    is(numa_init(NUMA_DISTRIBUTE, 1, 2, &err), GG_OK, "one that is bound");
    is(numa_chosen()->nodes[0].cpus[0], 0, "stays where it is");
    is(numa_init(NUMA_OFF, 0, 1, &err), GG_OK, "nothing more");
    ok(!numa_chosen(), "is chosen");
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    sched_setaffinity(0, sizeof(before), &before);
}

/* Written bytes stay, wherever they are brought. */
static void
test_memory(void)
{
    static char data[64 * PAGE];
    struct numa_matrix x = { data, sizeof(data), 64 };
    struct gg_error err;
    bool same = true;

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char)(i * 7);
    setenv("HWLOC_SYNTHETIC", "numa:2 core:1 pu:1", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    is(numa_init(NUMA_DISTRIBUTE, 0, 1, &err), GG_OK, "two nodes");
    numa_interleave(data, sizeof(data));
    numa_place(&x, 1);
    for (size_t i = 0; i < sizeof(data); i++)
        same = same && data[i] == (char)(i * 7);
    ok(same, "memory is what it was");
    is(numa_init(NUMA_OFF, 0, 1, &err), GG_OK, "off");
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
}

int
main(void)
{
    struct numa_machine m;
    struct gg_error err;
    bool bound;

    test_plans();
    test_no_overflow();
    test_shares();
    if (numa_read(&m, &bound, &err) == GG_ERR_UNSUPPORTED) {
        printf("# %s\n", err.message);
        is(numa_init(NUMA_OFF, 0, 1, &err), GG_OK, "off needs no hwloc");
        return tap_done();
    }
    numa_plan_clear(&m);
    test_synthetic();
    test_threads();
    test_memory();
    return tap_done();
}
