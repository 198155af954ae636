/* imatrix_ranks.c - an importance matrix of several processes
 *
 * Each rank of a pipeline sees the products of its layers, and rank 0 the
 * output's, too: so each matrix is seen by one of them, row after row. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gg-eval/imatrix_entry.h"

/* In front of an entry's sums and counts. */
struct head {
    char name[GGML_MAX_NAME];
    int64_t n_columns, n_matrices;
};

enum {
    MOST = 1 << 28, /* columns of all matrices of one tensor */
};

static double *
zeros(int64_t n)
{
    double *p = cli_alloc(NULL, (size_t)n, sizeof(*p));

    memset(p, 0, (size_t)n * sizeof(*p));
    return p;
}

struct imatrix_entry *
imatrix_insert(struct imatrix *m, size_t at, const char *name,
               int64_t n_columns, int64_t n_matrices)
{
    struct imatrix_entry *e;

    m->entries = cli_alloc(m->entries, m->n + 1, sizeof(*m->entries));
    e = m->entries + at;
    memmove(e + 1, e, (m->n++ - at) * sizeof(*e));
    *e = (struct imatrix_entry){ .n_columns = n_columns,
                                 .n_matrices = n_matrices };
    strncpy(e->name, name, sizeof(e->name) - 1);
    e->sums = zeros(n_columns * n_matrices);
    e->counts = zeros(n_matrices);
    return e;
}

/* Bytes of its sums and of its counts. */
static size_t
size_of_sums(int64_t n_columns, int64_t n_matrices)
{
    return (size_t)(n_columns * n_matrices) * sizeof(double);
}

static size_t
size_of_counts(int64_t n_matrices)
{
    return (size_t)n_matrices * sizeof(double);
}

/* ---- another rank -------------------------------------------------------- */

static char *
append(char *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static char *
append_entry(char *to, const struct imatrix_entry *e)
{
    struct head h = { .n_columns = e->n_columns, .n_matrices = e->n_matrices };

    memcpy(h.name, e->name, sizeof(h.name));
    to = append(to, &h, sizeof(h));
    to = append(to, e->sums, size_of_sums(e->n_columns, e->n_matrices));
    return append(to, e->counts, size_of_counts(e->n_matrices));
}

const void *
imatrix_answer(void *matrix, size_t *n)
{
    struct imatrix *m = matrix;
    char *to;

    *n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct imatrix_entry *e = &m->entries[i];

        *n += sizeof(struct head) + size_of_counts(e->n_matrices) +
              size_of_sums(e->n_columns, e->n_matrices);
    }
    to = m->bytes = cli_alloc(m->bytes, *n + 1, 1);
    for (size_t i = 0; i < m->n; i++)
        to = append_entry(to, &m->entries[i]);
    return m->bytes;
}

/* ---- rank 0 -------------------------------------------------------------- */

/* The output's entry comes last, as in one process. */
static size_t
end_of_layers(const struct imatrix *m)
{
    size_t i = 0;

    while (i < m->n && imatrix_of_layer(m->entries[i].name))
        i++;
    return i;
}

bool
imatrix_add(struct imatrix *m, const void *bytes, size_t n)
{
    const char *from = bytes;
    struct head h;

    while (n >= sizeof(h)) {
        struct imatrix_entry *e;
        size_t sums, counts;

        memcpy(&h, from, sizeof(h));
        if (h.n_columns < 1 || h.n_matrices < 1 || h.n_columns > MOST ||
            h.n_matrices > MOST / h.n_columns)
            return false;
        h.name[sizeof(h.name) - 1] = '\0';
        sums = size_of_sums(h.n_columns, h.n_matrices);
        counts = size_of_counts(h.n_matrices);
        if (n - sizeof(h) < sums + counts)
            return false;
        e = imatrix_insert(m, end_of_layers(m), h.name, h.n_columns,
                           h.n_matrices);
        from += sizeof(h);
        memcpy(e->sums, from, sums);
        memcpy(e->counts, from + sums, counts);
        from += sums + counts;
        n -= sizeof(h) + sums + counts;
    }
    return n == 0;
}
