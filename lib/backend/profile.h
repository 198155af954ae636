/* profile.h - where the time of a back end goes: what it counts when asked to
 *
 * Who has graphs computed owns the counters, says which phase the next graph
 * belongs to, and reads them between graphs. A back end that fills them in
 * offers, by the name BACKEND_SET_PROFILE, a backend_set_profile_t; it reads
 * clocks only while counters are set. */
#ifndef BACKEND_PROFILE_H
#define BACKEND_PROFILE_H

#include <stdalign.h>
#include <stdint.h>
#include <ggml-backend.h>

#define BACKEND_SET_PROFILE "gg_backend_set_profile"

enum {
    PROFILE_PHASES = 2,
    PROFILE_KINDS = 64, /* of nodes, in all phases; the last takes the rest */
    PROFILE_LINE = 64,  /* no two threads share one */
};

/* Nodes that are alike: of one op, and for products of one type of weights. */
struct profile_kind {
    int phase;
    const char *name;    /* static; NULL: all others */
    const char *device;  /* static; NULL: the CPU, with threads that count */
    enum ggml_type type; /* GGML_TYPE_COUNT: of any */
    uint64_t calls;
    uint64_t ns;            /* from begin to end */
    uint64_t busy, waiting; /* ns of all threads together */
    uint64_t bytes, ops;    /* that had to be moved, to be done */
};

/* The record of one thread, in ns; only it writes the first line. */
struct profile_thread {
    alignas(PROFILE_LINE) uint64_t busy;
    uint64_t pieces;
    alignas(PROFILE_LINE) uint64_t waiting; /* for others to end a node */
    uint64_t before;                        /* busy, when the node began */
};

struct backend_profile {
    /* backend_profile_kind_on() and _count(), for modules. */
    struct profile_kind *(*kind)(struct backend_profile *profile,
                                 const struct ggml_tensor *node,
                                 const char *device);
    void (*count)(struct profile_kind *kind, const struct ggml_tensor *node);
    int phase; /* of the next graph */
    int n_threads;
    int n_kinds;
    struct profile_kind kinds[PROFILE_KINDS];
    struct profile_thread *threads[PROFILE_PHASES]; /* n_threads each */
};

/* NULL ends it. The counters must outlive the back end's use of them, and have
 * at least as many threads as it. */
typedef void (*backend_set_profile_t)(ggml_backend_t backend,
                                      struct backend_profile *profile);

/* NULL: no memory. */
struct backend_profile *
backend_profile_new(int n_threads);
void
backend_profile_free(struct backend_profile *profile);

/* The counters of nodes like this one, in the phase that is set. */
struct profile_kind *
backend_profile_kind(struct backend_profile *profile,
                     const struct ggml_tensor *node);

/* The counters of such nodes on a device other than the CPU. */
struct profile_kind *
backend_profile_kind_on(struct backend_profile *profile,
                        const struct ggml_tensor *node, const char *device);

/* Counts a node that was computed: what it moved and did by its shapes. */
void
backend_profile_count(struct profile_kind *kind,
                      const struct ggml_tensor *node);

#endif
