/* state.h - what files of states are made of: gg-stream(5)
 *
 * A file says what each layer keeps, by the numbers of enum state_layer, and
 * has the tensors of that kind for it: a row for each position that the next id
 * of a sequence may see, one sequence's rows after another's. A recurrent state
 * has a row for each sequence with n_held > 0, which is that after these ids: a
 * snapshot, from which a session goes on there and nowhere else. A reader that
 * does not know a kind refuses the file; a new kind is no new version.
 * Version 1 had no kinds: layers keep what they do by their model. Version 3
 * names the adapters that it was made with, by their fingerprints, and their
 * scales; without such a state is of version 2. Version 4 has ids of rows of
 * media, and a table which id is which row of what medium; a state without such
 * rows is of an older one.
 *
 * The tensors, in this order, but those without elements:
 *   sequences    i64  STATE_COLUMNS x sequences
 *   ids          i32  of all sequences, one after another
 *   forgotten    i64  2 x ranges of numbers
 *   cache_k.N    d_key * n_head_kv x rows, of layer N = 0, 1 ..., which keeps
 *   cache_v.N    d_value * n_head_kv x rows        keys and values; of latent
 *                                                  rows cache_k alone
 *   cache_index.N  d_index x rows                  of an indexer's keys
 *   cache_compressed.N        d_compressed x rows for blocks of positions
 *   cache_compressed_index.N  d_compressed_index x such rows
 *   cache_conv.N   f32  (d_conv - 1) * channels x sequences, of layer N, which
 *   cache_state.N  f32  n_state x sequences        keeps a recurrent state
 *   cache_apart.N  f32  n_apart x sequences, of a layer that keeps columns of
 *                                                  another convolution
 *   crc32        i32  of what stands before the data, and of each tensor above
 * Rows are one sequence's after another's, those of the positions that its
 * next id may see. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include "session/cache.h"
#include "session/impl.h"

#define STATE_TYPE "gg-state"

#define STATE_KEY_VERSION  "state.version"
#define STATE_KEY_LAYERS   "state.layers"
#define STATE_KEY_CHAT     "state.chat_template"
#define STATE_KEY_SAMPLING "state.sampling"
#define STATE_KEY_DATE     "state.date"
#define STATE_KEY_MIROSTAT "state.mirostat"
#define STATE_KEY_ROTATION "state.cache.rotation"
#define STATE_KEY_ADAPTERS "state.adapters"
#define STATE_KEY_ROWS     "state.rows.hashes"
#define STATE_SEQUENCES    "sequences"
#define STATE_IDS          "ids"
#define STATE_FORGOTTEN    "forgotten"
#define STATE_CRC          "crc32"

enum {
    STATE_VERSION = 4,
    STATE_ADAPTED = 3, /* of one without rows of media, */
    STATE_PLAIN = 2,   /* that was made without adapters */
    STATE_OLDEST = 1,  /* that is read */
    STATE_COLUMNS = 5, /* number, n_dropped, n_ids, n_pending, n_held */
    STATE_MAX_DROPPED_LOG2 = 62,
};

/* Kinds of a layer's contents: numbers of the file, appended to and never
 * changed. */
enum state_layer {
    STATE_KV = 0,        /* keys and values of all positions */
    STATE_KV_WINDOW = 1, /* of those in the model's window */
    STATE_NOTHING = 2,
    STATE_RECURRENT = 3,        /* a recurrent state */
    STATE_KV_AND_RECURRENT = 4, /* and keys and values of all positions */
    STATE_LATENT = 5,           /* latent rows of all positions */
    STATE_LATENT_INDEXED = 6,   /* and an indexer's keys */
    STATE_KV_INDEXED = 7,       /* keys and values of all, and such keys */
    STATE_LATENT_WINDOW = 8,    /* latent rows of the model's window */
    /* Added N times to one of these: and rows for blocks of the N-th of
     * hp.compressions, and columns of an unfinished one. */
    STATE_COMPRESSED = 16,
};

/* A file has as many rows of the parts of a cache as these say, and of
 * recurrent states. */
enum {
    STATE_OF_STATES = CACHE_PARTS,
    STATE_COUNTS,
};

/* The layer's kind without its compression. */
static inline enum state_layer
session_state_base(const struct model *m, int32_t layer)
{
    bool recurs = graph_recurs(&m->hp, layer);

    if (!graph_keeps(&m->hp, layer))
        return recurs ? STATE_RECURRENT : STATE_NOTHING;
    if (recurs)
        return STATE_KV_AND_RECURRENT;
    if (m->hp.layers[layer].d_index > 0)
        return m->hp.layers[layer].values_in_keys ? STATE_LATENT_INDEXED
                                                  : STATE_KV_INDEXED;
    if (m->hp.layers[layer].values_in_keys)
        return m->layers[layer].windowed ? STATE_LATENT_WINDOW : STATE_LATENT;
    return m->layers[layer].windowed ? STATE_KV_WINDOW : STATE_KV;
}

/* By the model, however long the context of a session is. */
static inline int32_t
session_state_kind(const struct model *m, int32_t layer)
{
    int32_t compression = m->hp.layers[layer].compression;

    return (int32_t)session_state_base(m, layer) +
           STATE_COMPRESSED * compression;
}

/* The part of the cache that the rows of a layer's tensor would be of, if no
 * window were as long as the context. */
static inline int
session_state_part(const struct model *m, int32_t layer, int of)
{
    if (of == CACHE_COMPRESSED || of == CACHE_COMPRESSED_INDEX)
        return graph_compressed_part(m->hp.layers[layer].compression - 1);
    return m->layers[layer].windowed ? CACHE_WINDOW : CACHE_ALL;
}

/* The first position of n ids that the part has a row for. */
static inline int32_t
session_state_first(const struct model *m, int part, int32_t n)
{
    return session_cache_first(part == CACHE_WINDOW ? m->hp.window : 0, n);
}

/* How many rows. */
static inline int32_t
session_state_rows(const struct model *m, int part, int32_t n)
{
    if (part >= CACHE_KINDS)
        return n / m->hp.compressions[part - CACHE_KINDS].ratio;
    return n - session_state_first(m, part, n);
}

/* Values of a row of a tensor of the cache. */
static inline int64_t
session_state_width(const struct ggml_tensor *t)
{
    return t->ne[0] * t->ne[2];
}

#endif
