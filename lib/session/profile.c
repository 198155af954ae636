/* profile.c - a session's profile: time by op and thread: rows */
#include "session/profile.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"

struct session_profile *
session_profile_new(int n_threads)
{
    struct session_profile *p = mem_zalloc(sizeof(*p));
    /* other, and total */
    size_t most =
        (size_t)n_threads * PROFILE_PHASES + PROFILE_KINDS + 2 * PROFILE_PHASES;

    if (!p)
        return NULL;
    p->counters = backend_profile_new(n_threads);
    p->rows = mem_array(most, sizeof(*p->rows));
    if (p->counters && p->rows)
        return p;
    session_profile_free(p);
    return NULL;
}

void
session_profile_free(struct session_profile *p)
{
    if (!p)
        return;
    backend_profile_free(p->counters);
    mem_free(p->rows);
    mem_free(p);
}

void
session_profile_start(struct session_profile *p, enum gg_profile_phase phase)
{
    if (!p)
        return;
    p->counters->phase = phase;
    p->start = ggml_cycles(); /* nanoseconds */
}

void
session_profile_stop(struct session_profile *p)
{
    if (!p)
        return;
    p->graphs[p->counters->phase]++;
    p->ns[p->counters->phase] += (uint64_t)(ggml_cycles() - p->start);
}

/* ---- rows --------------------------------------------------------------- */

/* "mul_mat q4_K", "mul_mat q4_K CUDA0" */
static void
name_kind(const struct profile_kind *kind, char *name, size_t size)
{
    const char *type =
        kind->type == GGML_TYPE_COUNT ? NULL : ggml_type_name(kind->type);

    if (!kind->name)
        snprintf(name, size, "more");
    else
        snprintf(name, size, "%s%s%s%s%s", kind->name, type ? " " : "",
                 type ? type : "", kind->device ? " " : "",
                 kind->device ? kind->device : "");
    for (char *c = name; *c && *c != ' '; c++)
        *c = (char)tolower((unsigned char)*c);
}

/* The threads' time that was neither busy nor waiting. */
static uint64_t
rest(uint64_t time, uint64_t busy, uint64_t waiting)
{
    return time > busy + waiting ? time - busy - waiting : 0;
}

static int
by_time(const void *a, const void *b)
{
    const struct gg_profile_row *x = a, *y = b;

    return (x->ns < y->ns) - (x->ns > y->ns);
}

static size_t
add_kinds(const struct session_profile *p, int phase,
          struct gg_profile_row *rows)
{
    const struct backend_profile *c = p->counters;
    size_t n = 0;

    for (int i = 0; i < c->n_kinds; i++) {
        const struct profile_kind *kind = &c->kinds[i];
        struct gg_profile_row *row = &rows[n];

        if (kind->phase != phase)
            continue;
        *row = (struct gg_profile_row){
            .calls = kind->calls,
            .ns = kind->ns,
            .busy = kind->busy,
            .waiting = kind->waiting,
            .idle = rest(kind->ns * (uint64_t)c->n_threads, kind->busy,
                         kind->waiting),
            .bytes = kind->bytes,
            .ops = kind->ops,
        };
        name_kind(kind, row->name, sizeof(row->name));
        n++;
    }
    qsort(rows, n, sizeof(*rows), by_time);
    return n;
}

static size_t
add_threads(const struct session_profile *p, int phase,
            struct gg_profile_row *rows)
{
    const struct backend_profile *c = p->counters;

    for (int i = 0; i < c->n_threads; i++) {
        const struct profile_thread *t = &c->threads[phase][i];

        rows[i] = (struct gg_profile_row){
            .calls = t->pieces,
            .ns = p->ns[phase],
            .busy = t->busy,
            .waiting = t->waiting,
            .idle = rest(p->ns[phase], t->busy, t->waiting),
        };
        snprintf(rows[i].name, sizeof(rows[i].name), "thread %d", i);
    }
    return (size_t)c->n_threads;
}

/* The sum of the first n rows, which are kinds; and what is not in them. */
static void
add_total(const struct session_profile *p, int phase,
          const struct gg_profile_row *rows, size_t n,
          struct gg_profile_row *other, struct gg_profile_row *total)
{
    uint64_t n_threads = (uint64_t)p->counters->n_threads, in_ops = 0;

    *total = (struct gg_profile_row){ .name = "total",
                                      .calls = p->graphs[phase],
                                      .ns = p->ns[phase] };
    for (size_t i = 0; i < n; i++) {
        in_ops += rows[i].ns;
        total->busy += rows[i].busy;
        total->waiting += rows[i].waiting;
        total->bytes += rows[i].bytes;
        total->ops += rows[i].ops;
    }
    total->idle = rest(total->ns * n_threads, total->busy, total->waiting);
    *other = (struct gg_profile_row){ .name = "other",
                                      .calls = p->graphs[phase],
                                      .ns = rest(total->ns, in_ops, 0) };
    other->idle = other->ns * n_threads;
}

static size_t
add_phase(const struct session_profile *p, int phase,
          struct gg_profile_row *rows)
{
    size_t kinds, n;

    if (p->graphs[phase] == 0)
        return 0;
    kinds = add_kinds(p, phase, rows);
    n = kinds + 1;
    n += add_threads(p, phase, rows + n);
    add_total(p, phase, rows, kinds, &rows[kinds], &rows[n]);
    n++;
    for (size_t i = 0; i < n; i++)
        rows[i].phase = (enum gg_profile_phase)phase;
    return n;
}

const struct gg_profile_row *
session_profile_rows(struct session_profile *p, size_t *n)
{
    *n = 0;
    for (int phase = 0; phase < PROFILE_PHASES; phase++)
        *n += add_phase(p, phase, p->rows + *n);
    return p->rows;
}
