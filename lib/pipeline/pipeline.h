/* pipeline.h - processes that evaluate some layers each of one model
 *
 * Rank 0 has the first layers and, when what leaves the last rank's has come
 * back to it, the output: so it alone reads ids and finds logits, scores and
 * embeddings. It tells the other ranks what to do in commands; each does what a
 * session of one process does, in the same order, but for the layers of others,
 * and so knows without being told how many ids a slot holds, where its rows lie
 * and what a batch is.
 *
 * An evaluation that fails in one rank ends the pipeline: its batches are on
 * their way in all others. */
#ifndef PIPELINE_PIPELINE_H
#define PIPELINE_PIPELINE_H

#include "core/error.h"
#include "pipeline/transport.h"
#include "session/pipeline.h"

enum pipeline_op {
    PIPELINE_OPEN,     /* a model */
    PIPELINE_DIVIDE,   /* which rank has which layers */
    PIPELINE_CLOSE,    /* that model */
    PIPELINE_SESSION,  /* begin one; struct gg_session_params */
    PIPELINE_END,      /* of a session */
    PIPELINE_EVAL,     /* chunks: remote.c */
    PIPELINE_TRUNCATE, /* slot, n */
    PIPELINE_COPY,     /* to, from, n */
    PIPELINE_DRAFT,    /* slot, past, n: MTP layers are about to draft */
    PIPELINE_LOAD,     /* slot, n, ids: the slot's rows are about to come */
    PIPELINE_GET,      /* which rows; replies with their bytes */
    PIPELINE_SET,      /* the same, and their bytes */
    PIPELINE_ROWS,     /* of a medium: struct told_medium, and its arrays */
    PIPELINE_ASK, /* replies with a size, and as many bytes of the program */
    PIPELINE_LEAVE,
};

/* Bits of a session's args[4]. */
enum {
    PIPELINE_BF16 = 1,
    PIPELINE_NO_ROTATION = 2,
};

struct pipeline_command {
    int32_t op;      /* enum pipeline_op */
    int32_t session; /* by number */
    int64_t args[7];
    uint64_t size; /* bytes that follow */
};

/* Facts of a rank, and of what it has opened. */
struct pipeline_hello {
    uint64_t build;       /* of this library */
    uint64_t fingerprint; /* of the model */
    uint64_t extras;      /* of adapters, MTP layers and what options change */
    uint64_t available;   /* bytes of memory for its layers */
    char version[32];
    char kernels[96]; /* that the CPU computes with */
};

enum {
    PIPELINE_MAX_RANKS = 256,
    PIPELINE_MAX_SESSIONS = 16,
};

struct gg_session;

struct pipeline {
    struct gg_pipeline base; /* what sessions see of it */
    struct pipeline_transport *transport;
    int32_t *layers; /* n, of each rank; NULL: by free memory */
    int32_t *end;    /* n: the layer after a rank's last */
    bool opening;    /* of other ranks: rank 0 waits to hear of the file */
    bool failed;     /* nothing more can be done */
    bool broken;     /* of rank 0: an evaluation has failed */
    char why[400];   /* since this */
    char *command;   /* bytes that came with one */
    size_t cap_command;
    char *buffer; /* of what enters and leaves layers */
    size_t cap_buffer;
    struct gg_session *sessions[PIPELINE_MAX_SESSIONS]; /* by number */
    struct gg_session *flying; /* of rank 0: whose batches may be under way */
};

/* A pipeline of n processes; takes the transport. `layers` as of
 * gg_pipeline_join(). */
enum gg_status
pipeline_new(struct pipeline_transport *transport, const char *layers,
             struct pipeline **out, struct gg_error *err);
/* One that carries nothing: gg_pipeline_plan(). */
enum gg_status
pipeline_plan(int32_t rank, int32_t n, const char *layers,
              struct pipeline **out, struct gg_error *err);
void
pipeline_free(struct pipeline *p); /* takes NULL */

static inline struct pipeline *
pipeline_of(struct gg_pipeline *p)
{
    return (struct pipeline *)(void *)p;
}

/* The rank that evaluates a layer. */
int32_t
pipeline_rank_of(const struct pipeline *p, int32_t layer);

/* This process is rank 0, which alone gives commands. */
static inline bool
pipeline_leads(const struct pipeline *p)
{
    return p->base.rank == 0;
}

/* `st` is what became of this rank's model, with a sentence in err. Returns
 * that of the first rank where it failed, in all of them. */
enum gg_status
pipeline_agree(struct gg_pipeline *base, enum gg_status st,
               struct gg_error *err);

/* ---- rank 0's commands -------------------------------------------------- */

/* To one rank, or all others. Bytes of c->size are sent with it. */
enum gg_status
pipeline_tell(struct pipeline *p, int32_t rank,
              const struct pipeline_command *c, const void *bytes,
              struct gg_error *err);
enum gg_status
pipeline_tell_all(struct pipeline *p, const struct pipeline_command *c,
                  const void *bytes, struct gg_error *err);

/* Room for n bytes, at most as many as a command has, in p->command. */
bool
pipeline_room(struct pipeline *p, uint64_t n);

/* The bytes that a rank replies with. */
enum gg_status
pipeline_reply(struct pipeline *p, int32_t rank, void *bytes, size_t n,
               struct gg_error *err);

/* ---- what goes from rank to rank ---------------------------------------- */

/* The last rank's goes to rank 0. A status other than GG_OK goes in the place
 * of bytes, with its sentence. */
enum gg_status
pipeline_pass(struct pipeline *p, enum gg_status st, const void *bytes,
              size_t n, struct gg_error *err);

/* Rank 0 gives no more commands but to leave. */
void
pipeline_break(struct pipeline *p, const struct gg_error *why);

/* Waits for n bytes of the rank before (of rank 0: the last), or for why there
 * are none. */
enum gg_status
pipeline_take(struct pipeline *p, void *bytes, size_t n, struct gg_error *err);

/* ---- other ranks -------------------------------------------------------- */

/* Waits for a command, whose bytes *bytes gets: they live until the next call.
 */
enum gg_status
pipeline_next(struct pipeline *p, struct pipeline_command *c,
              const char **bytes, struct gg_error *err);

/* The reply to a command. */
enum gg_status
pipeline_answer(struct pipeline *p, const void *bytes, size_t n,
                struct gg_error *err);

/* Does what a command other than OPEN, CLOSE, ASK and LEAVE says. `serve`: of
 * sessions that it begins. */
enum gg_status
pipeline_do(struct pipeline *p, const struct model *m,
            const struct gg_serve_params *serve,
            const struct pipeline_command *c, const char *bytes,
            struct gg_error *err);

/* Sessions that rank 0 has not ended. */
void
pipeline_end_sessions(struct pipeline *p);

#endif
