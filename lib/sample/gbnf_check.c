/* gbnf_check.c - grammars in which a rule begins with itself are refused */
#include <config.h>

#include <string.h>

#include "core/mem.h"
#include "sample/gbnf.h"

struct edge {
    uint32_t from, to;
};

struct walk {
    struct gbnf *g;
    uint32_t *seen, stamp; /* seen[pc] == stamp: in this walk */
    int32_t *stack;
    struct edge *edges;
    size_t n_edges;
    bool collect;
};

static void
visit(struct walk *w, size_t *n, int32_t pc)
{
    if (w->seen[pc] == w->stamp)
        return;
    w->seen[pc] = w->stamp;
    w->stack[(*n)++] = pc;
}

/* All that can be reached from a rule's start without a byte. Returns whether
 * its end is. */
static bool
reach(struct walk *w, uint32_t rule)
{
    const struct gbnf *g = w->g;
    bool nullable = false;
    size_t n = 0;

    w->stamp++;
    visit(w, &n, g->rules[rule].start);
    while (n) {
        int32_t pc = w->stack[--n];
        const struct gbnf_code *c = &g->code[pc];

        if (c->op == GBNF_RET)
            nullable = true;
        if (c->op == GBNF_SPLIT || c->op == GBNF_JUMP)
            visit(w, &n, pc + c->a);
        if (c->op == GBNF_SPLIT)
            visit(w, &n, pc + c->b);
        if (c->op != GBNF_CALL)
            continue;
        if (w->collect)
            w->edges[w->n_edges++] = (struct edge){ rule, (uint32_t)c->a };
        if (g->rules[c->a].nullable)
            visit(w, &n, pc + 1);
    }
    return nullable;
}

/* In turn from the front and from the back, which settles chains at once. */
static void
find_nullable(struct walk *w)
{
    struct gbnf *g = w->g;
    bool changed = true;

    for (bool back = false; changed; back = !back) {
        changed = false;
        for (size_t i = 0; i < g->n_rules; i++) {
            size_t r = back ? g->n_rules - 1 - i : i;

            if (!g->rules[r].nullable && reach(w, (uint32_t)r))
                changed = g->rules[r].nullable = true;
        }
    }
}

/* Takes away, again and again, rules that none begins another with. What is
 * left then follows from a circle: going backwards leads into it. -1: none. */
static int32_t
find_circle(const struct walk *w, uint32_t *degree, uint32_t *before)
{
    size_t n = w->g->n_rules, left = n;
    bool changed = true;

    for (size_t e = 0; e < w->n_edges; e++)
        degree[w->edges[e].to]++;
    while (changed && left) {
        changed = false;
        for (size_t r = 0; r < n; r++) {
            if (degree[r] != 0)
                continue;
            degree[r] = UINT32_MAX;
            left--;
            changed = true;
            for (size_t e = 0; e < w->n_edges; e++)
                if (w->edges[e].from == r)
                    degree[w->edges[e].to]--;
        }
    }
    for (size_t e = 0; e < w->n_edges; e++)
        if (degree[w->edges[e].from] != UINT32_MAX)
            before[w->edges[e].to] = w->edges[e].from;
    for (size_t r = 0; left && r < n; r++)
        if (degree[r] != UINT32_MAX) {
            for (size_t i = 0; i < n; i++)
                r = before[r];
            return (int32_t)r;
        }
    return -1;
}

static enum gg_status
check_circles(struct walk *w, uint32_t *degree, uint32_t *before,
              struct gg_error *err)
{
    const struct gbnf_rule *rule;
    int32_t bad;

    find_nullable(w);
    w->collect = true;
    for (size_t r = 0; r < w->g->n_rules; r++)
        (void)reach(w, (uint32_t)r);
    bad = find_circle(w, degree, before);
    if (bad < 0)
        return GG_OK;
    rule = &w->g->rules[bad];
    return error_set(err, GG_ERR_FORMAT, "rule '%.*s' begins with itself",
                     (int)(rule->len < 99 ? rule->len : 99), rule->name);
}

enum gg_status
sample_gbnf_check(struct gbnf *g, struct gg_error *err)
{
    struct walk w = { .g = g };
    uint32_t *degree = mem_array(g->n_rules, sizeof(*degree));
    uint32_t *before = mem_array(g->n_rules, sizeof(*before));
    enum gg_status st;

    w.seen = mem_array(g->n, sizeof(*w.seen));
    w.stack = mem_array(g->n, sizeof(*w.stack));
    w.edges = mem_array(g->n, sizeof(*w.edges));
    st = degree && before && w.seen && w.stack && w.edges
             ? check_circles(&w, degree, before, err)
             : error_nomem(err);
    mem_free(degree);
    mem_free(before);
    mem_free(w.seen);
    mem_free(w.stack);
    mem_free(w.edges);
    return st;
}
