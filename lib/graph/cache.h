/* cache.h - the KV cache: what each layer of a session keeps, as graphs see it
 *
 * A session makes and moves these rows (session/cache.h); graphs write and read
 * them.
 *
 * A layer has a kind, which says which keys and values it keeps: of all
 * positions or of a window of them; it may keep a recurrent state in addition,
 * or instead (recurrent.h).
 *
 * Layers that see all keys keep all of them; layers that see a window keep
 * little more than that. What a windowed slot holds lies in order of position,
 * too, from a base on that is a multiple of CACHE_BLOCK and rises as the slot
 * fills: so keys meet in the same blocks as if all had been kept, and sums
 * have the same bits.
 *
 * A head's rows are side by side, as attention reads one head after the other:
 * so they come from memory in one stream. */
#ifndef GRAPH_CACHE_H
#define GRAPH_CACHE_H

#include "graph/model.h"

/* Attention covers the cache in whole blocks of CACHE_BLOCK positions, so that
 * one graph serves for as many ids. */
enum {
    CACHE_BLOCK = 256,
};

enum cache_kind {
    CACHE_ALL,    /* layers that see all keys, */
    CACHE_WINDOW, /* and those that see hp.window of them */
    CACHE_KINDS,
};

/* Homes of layers: the model's, and one for those of other processes, which has
 * no memory. */
enum {
    CACHE_MAX_HOMES = MODEL_MAX_HOMES + 1,
};

/* The tensors of a layer; those of one home have the layout of their part. */
enum cache_tensor {
    CACHE_K,
    CACHE_V,
    CACHE_INDEX, /* keys of an indexer, which chooses what attention reads */
    CACHE_COMPRESSED,       /* rows that stand for blocks of keys, */
    CACHE_COMPRESSED_INDEX, /* and for an indexer's keys */
    CACHE_TENSORS,
};

/* Length of a head's row of the tensor; 0: the layer keeps none. */
static inline int32_t
graph_cache_width(const struct model_hparams *hp, int32_t layer,
                  enum cache_tensor of)
{
    const struct model_layer_hparams *l = &hp->layers[layer];
    bool keeps = graph_keeps(hp, layer);

    switch (of) {
    case CACHE_K:
        return keeps ? l->d_key : 0;
    case CACHE_V:
        return keeps && !l->values_in_keys ? l->d_value : 0;
    case CACHE_INDEX:
        return l->d_index;
    case CACHE_COMPRESSED:
        return l->d_compressed;
    default:
        return l->d_compressed_index;
    }
}

/* Heads with a row each. */
static inline int32_t
graph_cache_heads(const struct model_hparams *hp, int32_t layer,
                  enum cache_tensor of)
{
    return of == CACHE_K || of == CACHE_V ? hp->layers[layer].n_head_kv : 1;
}

/* The parts of a cache: of each kind, and of rows that stand for blocks. */
enum {
    CACHE_PARTS = CACHE_KINDS + MODEL_MAX_COMPRESSIONS,
};

static inline int
graph_compressed_part(int32_t i) /* from 0 */
{
    return CACHE_KINDS + i;
}

/* Types of keys and values, and whether they are kept rotated: each head's, in
 * blocks of a power of two, times the matrix of Hadamard, as graph_rotate()
 * does it. Queries are rotated as keys are, and what attention gives back as
 * values are. So no value of a head is much larger than the others, and blocks
 * of few bits lose less. */
struct cache_form {
    enum ggml_type types[CACHE_TENSORS];
    bool rotated[CACHE_TENSORS];
};

/* Matrices of a rotation: of 32, 64, .. 1024 values. */
enum {
    CACHE_ROTATED_LEAST = 32, /* values of a block of types below 8 bits */
    CACHE_ROTATIONS = 6,
};

/* Which of them heads of d values take, a multiple of CACHE_ROTATED_LEAST: the
 * largest whose size divides d. */
static inline int
graph_rotation_of(int64_t d)
{
    int i = 0;

    while (i < CACHE_ROTATIONS - 1 && d % (2 * CACHE_ROTATED_LEAST << i) == 0)
        i++;
    return i;
}

/* The tensors of a layer with a recurrence: a row a slot. */
enum cache_recurrent_tensor {
    CACHE_CONV,  /* d_conv - 1 columns x n_channels, time first */
    CACHE_STATE, /* n_state */
    CACHE_APART, /* n_apart: columns of graph_apart_conv(), channels first */
    CACHE_RECURRENT,
};

struct cache_layer {
    enum cache_kind kind;
    int compressed; /* the part of its rows for blocks; if it has any */
    int home;       /* of the model's, or the one after them: elsewhere */
    /* width of a head x its part's rows x n_head_kv, or 1 of rows for blocks;
     * NULL where the layer has no attention or reads another's keys and values;
     * no values where they are part of the keys: of latent attention, whose
     * rows are keys */
    struct ggml_tensor *t[CACHE_TENSORS];
    struct ggml_tensor *states[CACHE_RECURRENT]; /* NULL where it keeps none */
};

/* A row of all states, as it was after the first n ids of a slot. */
struct cache_snapshot {
    int32_t slot; /* -1: none */
    int32_t n;
    bool brief;
    uint64_t used; /* when it was last */
};

struct cache_recurrent {
    int32_t n_layer; /* that keep a state; 0: there is nothing else here */
    const struct model_layer_hparams *hp;
    bool *written; /* a slot: its row ever was */
    int32_t *at;   /* a slot: its row is that after N ids; -1: unknown */
    struct cache_snapshot *snapshots;
    int32_t n_snapshots;
    uint64_t clock;
    struct cache_rows {
        struct ggml_tensor *rows[CACHE_RECURRENT];
    } * layers; /* the snapshots' rows; NULL before the first is made */
    struct {
        struct ggml_context *ctx;
        ggml_backend_buffer_t buffer;
    } homes[CACHE_MAX_HOMES]; /* of these */
};

/* Limits of what MTP layers keep for a slot, other than keys and values. */
enum {
    CACHE_MTP_KEPT = 32,    /* hidden vectors of the last positions, and */
    CACHE_MTP_DRAFTED = 16, /* of ids that are drafted after them */
    CACHE_MTP_HOLES = 8,
};

/* Data that an evaluation of ids leaves to MTP layers. */
enum graph_feed {
    GRAPH_FEED_ALL,    /* keys, values and hidden vectors */
    GRAPH_FEED_HIDDEN, /* these alone */
    GRAPH_FEED_NONE,
};

struct cache_mtp_slot {
    int32_t row, end; /* whose vectors are kept: of positions row..end - 1 */
    /* Keys are right from position `first` on, but for some: those whose
     * vector before was not kept, as of a prefix that was copied, and those
     * that were not computed. */
    int32_t first;
    struct cache_mtp_hole {
        int32_t from, end;    /* positions */
    } holes[CACHE_MTP_HOLES]; /* in ascending order */
    int n_holes;
};

struct cache_mtp {
    int32_t n;                /* layers; 0: there is nothing else here */
    bool keys_alone;          /* rows are of no use: keys are enough */
    struct ggml_tensor *rows; /* n_embd x slots' KEPT and DRAFTED rows */
    struct cache_mtp_slot *slots;
};

/* Layers of a kind, or with blocks of a length, have this in common. Each slot
 * has n_rows rows; row r of slot s is row s * n_rows + r of the tensors and is
 * for position base[s] + r, or for the block of these positions / ratio. Where
 * there are owners, block r / CACHE_BLOCK may be another slot's. */
struct cache_part {
    int32_t n_layer;
    int32_t ratio;  /* positions of a row: 1, but for blocks */
    int32_t n_rows; /* a multiple of CACHE_BLOCK */
    int32_t window; /* keys that an id sees; 0: all */
    int32_t *base;  /* a slot */
    int32_t *used;  /* a slot: rows that were ever written */
    /* Where slots refer to rows of others; NULL: each has its own. */
    int32_t *owners;  /* a block of a slot: the slot that has its rows */
    int32_t *written; /* and how many of its own rows were ever written */
    int32_t *lent;    /* a slot: others may refer to this many first blocks */
};

struct cache {
    struct cache_form form;
    int32_t n_slots;
    int32_t n_ctx; /* positions a slot */
    int32_t n_layer;
    int32_t n_all; /* and MTP layers */
    struct cache_part parts[CACHE_PARTS];
    struct cache_recurrent recurrent;
    struct cache_mtp mtp;
    struct cache_layer *layers; /* n_all */
    /* The model's homes: each layer's tensors are where its weights are. */
    struct cache_home {
        ggml_backend_dev_t device; /* NULL: there is none */
        struct ggml_context *ctx;
        ggml_backend_buffer_t buffer;
        size_t size; /* bytes */
        /* Bytes in use of each extent of the buffer that could be a large page;
         * none: n is 0. session/large_pages.h */
        struct cache_extents {
            char *base;
            size_t n;
            uint32_t *used;
            int n_refused; /* extents, since one became a large page */
        } extents;
        /* f32, n x n, symmetric and its own inverse; NULL: no layer here has
         * heads that are rotated so. */
        struct ggml_tensor *rotations[CACHE_ROTATIONS];
    } homes[CACHE_MAX_HOMES];
    int n_homes;
    struct ggml_context *views; /* scratch for views of rows */
    char *head;                 /* scratch for CACHE_BLOCK rows of a head */
};

/* The type of a layer's tensor. A drafter's keys are few, and blocks of few
 * bits would cost drafts. */
static inline enum ggml_type
graph_cache_type(const struct cache_form *form, const struct model_hparams *hp,
                 int32_t layer, enum cache_tensor of)
{
    enum ggml_type type = form->types[of];

    return layer >= hp->n_layer && hp->n_drafter > 0 && ggml_blck_size(type) > 1
               ? GGML_TYPE_F16
               : type;
}

static inline bool
graph_is_rotated(const struct cache *cache, const struct cache_layer *l,
                 enum cache_tensor of)
{
    return cache->form.rotated[of] && l->t[of]->type == cache->form.types[of];
}

/* The part that a tensor's rows are of. */
static inline int
graph_part_of(const struct cache_layer *l, int of)
{
    return of == CACHE_COMPRESSED || of == CACHE_COMPRESSED_INDEX
               ? l->compressed
               : (int)l->kind;
}

/* Rows of a slot's positions, in order: each run is of one slot, at the same
 * place there. */
enum {
    CACHE_RUNS = 4, /* at most */
};

struct cache_runs {
    int n;
    struct cache_run {
        int32_t slot;
        int32_t end; /* before which row it ends */
    } list[CACHE_RUNS];
};

/* Keys of a slot that attention reads for some of its ids. */
struct cache_range {
    int32_t row;   /* of the slot's: the first */
    int32_t start; /* its position: a multiple of CACHE_BLOCK */
    int32_t n;     /* rows: a multiple of CACHE_BLOCK */
};

/* Rows for blocks that n ids of a segment write: enough, wherever they begin.
 * The last may be of a block that they have no id of, or do not finish; it is
 * written again before anybody sees it. */
static inline int32_t
graph_blocks_written(const struct model_compression *p, int32_t n)
{
    return n / p->ratio + 1;
}

/* Hidden vectors that are kept of n ids of a segment. */
static inline int32_t
graph_mtp_kept(int32_t n)
{
    return n < CACHE_MTP_KEPT ? n : CACHE_MTP_KEPT;
}

#endif
