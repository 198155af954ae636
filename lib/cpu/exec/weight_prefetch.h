/* weight_prefetch.h - weights that a thread will read, prefetched
 *
 * GEMV takes as long as its weights take to come from memory. So each thread
 * prefetches them at a distance from what it multiplies: its pieces of a job,
 * one after the other, then those of the next job that reads weights, so that
 * the end of a job is no pause; and further while it waits. Of a kernel that
 * prefetches by itself it does only that. */
#ifndef CPU_EXEC_WEIGHT_PREFETCH_H
#define CPU_EXEC_WEIGHT_PREFETCH_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes whose pages are found together. */
#define CPU_PAGES_BYTES (32 * 1024)

struct cpu_job;

/* Whose thread's, and how far it has got. */
struct cpu_weight_prefetch {
    alignas(64) const struct cpu_job *jobs; /* no two share a cache line */
    int n_jobs, thread, n_threads;
    int now;            /* job that the thread works at */
    int begun;          /* jobs before which all is computed */
    int job, piece;     /* that is prefetched up to `at` */
    const char *at;     /* what is prefetched next */
    size_t left;        /* bytes from there on, in a row */
    const char *found;  /* up to here pages were found */
    size_t outstanding; /* bytes that were prefetched, and not multiplied yet */
    size_t distance;    /* the prefetch distance: bytes that have to be
                           outstanding before those are multiplied */
};

/* Some bytes in a row, and nothing then. */
static inline struct cpu_weight_prefetch
cpu_weight_prefetch_of(const char *p, size_t n, size_t distance)
{
    return (struct cpu_weight_prefetch){
        .at = p, .left = n, .found = p, .distance = distance
    };
}

/* Translations that are not in the TLB hold up all that is prefetched after
 * what lies in their pages; a processor walks some pages at the same time:
 * those of n bytes. */
void
cpu_prefetch_pages(const char *p, size_t n);

/* Goes to the beginning of all jobs. */
void
cpu_weight_prefetch_start(struct cpu_weight_prefetch *a);

/* The thread begins with that piece. True if it is among what is prefetched
 * here; false: not one of weights, or of another's share, as none of its own
 * are left. */
bool
cpu_weight_prefetch_piece(struct cpu_weight_prefetch *a,
                          const struct cpu_job *job, int piece);

/* All is computed that the thread's job needs. */
void
cpu_weight_prefetch_begin(struct cpu_weight_prefetch *a);

/* Prefetches at most `most` bytes; returns how many. 0: there are no more. */
size_t
cpu_weight_prefetch_more(struct cpu_weight_prefetch *a, size_t most);

/* The thread is about to multiply rows, `stride` bytes each, *n_rows at most.
 * Returns from where as many bytes as *n_rows then have are to be prefetched
 * meanwhile, or NULL: nothing. Fewer rows are still a multiple of `tile`. */
const char *
cpu_weight_prefetch_take(struct cpu_weight_prefetch *a, size_t stride,
                         int64_t tile, int64_t *n_rows);

#endif
