/* pipeline.h - the processes that evaluate a model together, as a session sees
 * them
 *
 * Each has some of the layers. lib/pipeline fills in the functions for several
 * processes; session_alone is the one process of most models, whose functions
 * have nobody to speak to. A model has one or the other, so that no code of a
 * session asks which. */
#ifndef SESSION_PIPELINE_H
#define SESSION_PIPELINE_H

#include "graph/model.h"

/* Rows of a layer that lies in another process: of keys or values, or the state
 * of a slot after n ids. */
struct pipeline_rows {
    int32_t layer;
    int which;      /* enum cache_tensor, or cache_recurrent_tensor */
    bool recurrent; /* it is a state */
    int64_t first;  /* row; of a state: the slot */
    int64_t n;      /* rows; of a state: ids */
    size_t size;    /* bytes of all of them */
};

struct pipeline_calls {
    /* ---- a model -------------------------------------------------------- */

    /* Sets m->pipeline, m->first and m->end, once all processes have opened the
     * same file. */
    enum gg_status (*divide)(struct gg_pipeline *p, struct model *m,
                             struct gg_error *err);
    /* `st` is what became of this process's weights, with a sentence in err;
     * returns the first failure of all processes. */
    enum gg_status (*agree)(struct gg_pipeline *p, enum gg_status st,
                            struct gg_error *err);
    void (*close)(struct gg_pipeline *p);

    /* ---- a session ------------------------------------------------------ */

    /* The others begin one like it, whose memory is there. */
    enum gg_status (*begin)(struct gg_session *s, struct gg_error *err);
    /* Takes a session that has not begun. */
    void (*end)(struct gg_session *s);
    /* The others will evaluate the chunks of this call, too. */
    enum gg_status (*tell)(struct gg_session *s, const struct gg_chunk *chunks,
                           size_t n_chunks, struct gg_error *err);
    /* Evaluates the chunks whose adapters have these scales, after what their
     * slots hold. Results are there when wait() for s->ticket has returned. */
    enum gg_status (*eval)(struct gg_session *s, const struct gg_chunk *chunks,
                           size_t n_chunks, const float *scales,
                           struct gg_error *err);
    enum gg_status (*wait)(struct gg_session *s, uint64_t ticket,
                           struct gg_error *err);
    /* The others do the same with their slots. */
    void (*cut)(struct gg_session *s, int32_t slot, int32_t n);
    void (*copy)(struct gg_session *s, int32_t to, int32_t from, int32_t n);
    /* Layers of MTP are about to draft n ids at position `past`. */
    void (*draft)(struct gg_session *s, int32_t slot, int32_t past, int32_t n);
    /* The slot holds the chunk's ids, whose rows are about to come. */
    void (*hold)(struct gg_session *s, const struct gg_chunk *chunk);
    /* Get the rows that this session has got. */
    enum gg_status (*rows)(struct gg_session *s, const struct gg_medium *medium,
                           struct gg_error *err);
    enum gg_status (*save)(struct gg_session *s,
                           const struct pipeline_rows *rows, char *to,
                           struct gg_error *err);
    void (*load)(struct gg_session *s, const struct pipeline_rows *rows,
                 const char *from);
};

/* The base of each kind of pipeline; gg.h declares it. */
struct gg_pipeline {
    const struct pipeline_calls *call;
    int32_t rank;    /* of this process, */
    int32_t n;       /* and how many there are; */
    int32_t n_local; /* how many on this machine, */
    int32_t local;   /* of which this is one */
    bool divided;    /* the output is computed apart from the layers */
    bool planned;    /* no process but this, which evaluates nothing */
};

extern struct gg_pipeline session_alone;

/* ---- rows of a state, wherever their layer is ---------------------------- */

/* session_cache_get_rows() and session_cache_set_rows(); k: enum cache_tensor.
 */
enum gg_status
session_get_rows(struct gg_session *s, int32_t layer, int k, int64_t row,
                 int64_t n, char *to, struct gg_error *err);
void
session_set_rows(struct gg_session *s, int32_t layer, int k, int64_t row,
                 int64_t n, const char *from);

/* The row of a recurrent state after the first n ids of a slot, and that of the
 * slot; k: enum cache_recurrent_tensor. */
enum gg_status
session_get_state(struct gg_session *s, int32_t layer, int k, int32_t slot,
                  int32_t n, char *to, struct gg_error *err);
void
session_set_state(struct gg_session *s, int32_t layer, int k, int32_t slot,
                  const char *from);

/* The chunk's slot holds its ids, and nothing else, as if they had been
 * evaluated: the caller writes their rows. n may be 0. */
void
session_assume(struct gg_session *s, const struct gg_chunk *chunk);

#endif
