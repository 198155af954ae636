/* weight_prefetch.c - weights that a thread will read, prefetched
 *
 * Where a thread has nothing else to do it reads them: a processor drops
 * prefetches while it waits for too much already. */
#include "cpu/exec/weight_prefetch.h"

#include "cpu/exec/graph_jobs.h"
#include "cpu/exec/threadpool.h"
#include "cpu/prefetch.h"

/* Pieces that lie in a row are one, up to this many bytes. */
#define IN_A_ROW (256 * 1024)
/* Pieces that are asked about together. */
#define TOGETHER 8
#define PAGE     4096 /* the smallest that there is */

/* The bytes that `*count` pieces read, or fewer, as they lie in a row. */
static const char *
pieces_read(const struct cpu_weight_prefetch *a, int job, int piece, int *count,
            size_t *n)
{
    struct cpu_task t = { .ith = piece,
                          .count = a->jobs[job].contiguous ? *count : 1,
                          .nth = a->jobs[job].n_pieces,
                          .thread = a->thread,
                          .n_threads = a->n_threads };
    const char *p = cpu_job_reads(&a->jobs[job], &t, n);

    *count = t.count;
    return p;
}

static int
first_of(const struct cpu_weight_prefetch *a, int job, int thread)
{
    return cpu_pool_first(a->jobs[job].n_pieces, a->n_threads, thread);
}

/* The piece after that, of this or the next job that reads weights. */
static bool
next_piece(const struct cpu_weight_prefetch *a, int *job, int *piece)
{
    for (++*piece; *job < a->n_jobs; *piece = first_of(a, *job, a->thread)) {
        if (a->jobs[*job].needs > a->begun)
            return false;
        if (a->jobs[*job].streams && *piece < first_of(a, *job, a->thread + 1))
            return true;
        if (++*job == a->n_jobs)
            return false;
    }
    return false;
}

/* The next pieces, as far as they lie in a row. */
static bool
next_pieces(struct cpu_weight_prefetch *a)
{
    int job = a->job, piece = a->piece, count;
    const char *p;
    size_t n;

    while (a->left < IN_A_ROW && next_piece(a, &job, &piece)) {
        count = first_of(a, job, a->thread + 1) - piece;
        count = count < TOGETHER ? count : TOGETHER;
        p = pieces_read(a, job, piece, &count, &n);
        if (a->left && p != a->at + a->left)
            break;
        if (a->left == 0)
            a->at = a->found = p;
        a->left += n;
        a->job = job;
        a->piece = piece += count - 1;
    }
    return a->left > 0;
}

static void
go_to(struct cpu_weight_prefetch *a, int job, int piece)
{
    a->job = job;
    a->piece = piece - 1;
    a->left = a->outstanding = 0;
}

void
cpu_weight_prefetch_start(struct cpu_weight_prefetch *a)
{
    a->now = -1;
    a->begun = 0;
    go_to(a, 0, a->n_jobs ? first_of(a, 0, a->thread) : 0);
}

/* From that piece on to where the thread has got. */
static size_t
bytes_since(const struct cpu_weight_prefetch *a, int job, int piece)
{
    size_t sum = 0, n;

    for (;;) {
        int one = 1;

        pieces_read(a, job, piece, &one, &n);
        sum += a->jobs[job].streams ? n : 0;
        if ((job == a->job && piece >= a->piece) ||
            !next_piece(a, &job, &piece))
            return sum > a->left ? sum - a->left : 0;
    }
}

bool
cpu_weight_prefetch_piece(struct cpu_weight_prefetch *a,
                          const struct cpu_job *job, int piece)
{
    int now = (int)(job - a->jobs), end = first_of(a, now, a->thread + 1);
    bool own = piece >= first_of(a, now, a->thread) && piece < end;
    int from = own ? piece : end;

    if (a->now != now) {
        bool there = a->job > now || (a->job == now && a->piece >= from);

        if (!there)
            go_to(a, now, from);
        else if (own)
            a->outstanding = bytes_since(a, now, piece);
    }
    a->now = now;
    return own && job->streams;
}

void
cpu_weight_prefetch_begin(struct cpu_weight_prefetch *a)
{
    a->begun = a->now + 1;
}

void
cpu_prefetch_pages(const char *p, size_t n)
{
    for (size_t at = 0; at < n; at += PAGE)
        PREFETCH_L2(p + at);
}

/* Prefetches the pages of the next n bytes. */
static void
prefetch_pages(struct cpu_weight_prefetch *a, size_t n)
{
    for (; a->found < a->at + n; a->found += PAGE)
        cpu_prefetch_pages(a->found, PAGE);
}

size_t
cpu_weight_prefetch_more(struct cpu_weight_prefetch *a, size_t most)
{
    size_t n;

    if (a->left == 0 && !next_pieces(a))
        return 0;
    n = a->left < most ? a->left : most;
    if (a->found < a->at + n)
        prefetch_pages(a,
                       a->left < CPU_PAGES_BYTES ? a->left : CPU_PAGES_BYTES);
    for (size_t i = 0; i < n; i += CPU_LINE)
        (void)*(const volatile char *)(a->at + i);
    a->at += n;
    a->left -= n;
    a->outstanding += n;
    return n;
}

/* As many of n_rows as can be multiplied while the rest of a row of pieces is
 * prefetched; 0: so few that it is prefetched first. */
static int64_t
rows_for(const struct cpu_weight_prefetch *a, size_t stride, int64_t tile,
         int64_t n_rows)
{
    int64_t n = stride ? (int64_t)(a->left / stride) : n_rows;

    if (n >= n_rows)
        return n_rows;
    n = n / tile * tile;
    return n_rows - n < tile ? 0 : n;
}

const char *
cpu_weight_prefetch_take(struct cpu_weight_prefetch *a, size_t stride,
                         int64_t tile, int64_t *n_rows)
{
    size_t n = (size_t)*n_rows * stride;
    int64_t fit = 0;
    const char *p;

    while (a->outstanding < a->distance &&
           cpu_weight_prefetch_more(a, a->distance - a->outstanding) > 0)
        ;
    while (a->outstanding < a->distance + n && fit == 0) {
        if (a->left < n && !next_pieces(a))
            break;
        fit = rows_for(a, stride, tile, *n_rows);
        if (fit == 0)
            cpu_weight_prefetch_more(a, a->left);
    }
    if (fit == 0) {
        a->outstanding -= a->outstanding < n ? a->outstanding : n;
        return NULL;
    }
    *n_rows = fit;
    n = (size_t)fit * stride;
    prefetch_pages(a, n);
    p = a->at;
    a->at += n;
    a->left -= n;
    return p;
}
