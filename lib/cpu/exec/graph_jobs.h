/* graph_jobs.h - which nodes of a graph a job of the thread pool computes
 *
 * One that is worth it; or products of the same columns that follow each other,
 * as those for queries, keys and values do, each with the sums and functions
 * of its elements that follow it, as those with biases: who computed some
 * elements goes on with them. Two products that are both sources of what
 * follows, as gate and up do, are a pair: their pieces come in turn, and who
 * ends the second of two goes on. Every element is computed as it is without.
 * A recurrence whose last state is copied next writes it there instead. */
#ifndef CPU_EXEC_GRAPH_JOBS_H
#define CPU_EXEC_GRAPH_JOBS_H

#include <stdatomic.h>

#include "cpu/exec/task.h"
#include "tensor/graph.h"

/* A node that takes one thread less than this, in nanoseconds, is its. */
#define CPU_WORTH_SHARING 5000

enum {
    JOB_MEMBERS = 4,
    JOB_AFTER = 4,
};

struct job_after {
    int n;
    struct ggml_tensor *nodes[JOB_AFTER];
};

struct job_member {
    struct ggml_tensor *node;
    const struct cpu_op *op;     /* the node's */
    int first_piece, n_pieces;   /* of a pair: of the first; of each */
    struct cpu_piece_shape tile; /* of a product of one matrix */
    struct job_after after;
    float *state; /* (or NULL) of a recurrence: see cpu_job_join_state() */
    /* Only the first of a pair has these: */
    struct job_after both;  /* what follows the pair; n 0: is none */
    atomic_uint *pair_done; /* of each two pieces, whether one is done */
};

struct cpu_job {
    int first, end; /* of the graph's nodes */
    int64_t cost;   /* of the first one */
    struct job_member members[JOB_MEMBERS];
    int n_members, n_pieces;
    bool prepared_here; /* by one thread, if at all */
    bool streams;       /* weights, for one column: see weight_prefetch.h */
    bool contiguous;    /* pieces that lie in a row are done together */
    int needs;          /* number of jobs that have begun when it is known
                           what it reads */
    int first_span;     /* of what is read before and as it begins */
};

/* About how many nanoseconds one thread takes. */
int64_t
cpu_cost(const struct ggml_tensor *node);

/* The job that begins with node `first`, by that alone or with others. */
void
cpu_job_find(struct cpu_job *job, const struct ggml_cgraph *graph, int first,
             bool alone, int n_threads, const struct cpu_kernels *k);

/* Lets the recurrence that the job consists of write its last state where the
 * next node copies it, if nothing else reads it from the result. */
void
cpu_job_join_state(struct cpu_job *job, const struct ggml_cgraph *graph);

/* The member that piece t->ith is of; `of` is for its op, with as many of the
 * pieces as can be done together. */
const struct job_member *
cpu_job_member(const struct cpu_job *job, const struct cpu_task *t,
               struct cpu_task *of);

/* Computes piece t->ith of the job. */
void
cpu_job_compute(const struct cpu_job *job, const struct cpu_task *t);

/* Prefetches what piece t->ith reads first: see cpu_op. */
void
cpu_job_prefetch(const struct cpu_job *job, const struct cpu_task *t);

/* The bytes that t->count pieces from t->ith on read from memory, or as many
 * pieces as lie in a row, which t->count becomes: see cpu_op. */
const char *
cpu_job_reads(const struct cpu_job *job, struct cpu_task *t, size_t *n);

/* The most that cpu_angles_size() says of a node. */
size_t
cpu_most_angles(const struct ggml_cgraph *graph);

/* Bytes in a row. */
struct cpu_span {
    const char *at;
    size_t n;
};

/* The jobs of a graph, in turn. All zero: of none. */
struct cpu_jobs {
    struct cpu_job *list;
    int n;
    size_t cap;
    /* of which graph, and for whom; serial 0: is not known to come again */
    uint64_t serial;
    int n_threads;
    bool alone, streamed;
    const struct cpu_kernels *k;
    struct cpu_weight_prefetch *prefetch; /* one a thread */
    atomic_uint *pair_done;               /* of all pairs */
    struct cpu_span
        *spans; /* what jobs read first, in turn: see node_prefetch.h */
    int n_spans;
    size_t spans_cap;
    size_t angles; /* bytes for those of a node: cpu_angles_size() */
};

/* Finds the jobs, if they are not those: `alone`: of one node each; `streamed`:
 * a job's weights may be missing before it begins. False: no memory. */
bool
cpu_jobs_find(struct cpu_jobs *jobs, const struct ggml_cgraph *graph,
              bool alone, bool streamed, int n_threads,
              const struct cpu_kernels *k);

void
cpu_jobs_clear(struct cpu_jobs *jobs);

#endif
