/* batch.h - a batch: ids evaluated together, and inputs of the graph */
#ifndef SESSION_BATCH_H
#define SESSION_BATCH_H

#include "graph/graph.h"
#include "session/slots.h"

struct batch {
    int32_t max_tokens, max_segments, n_vocab;
    const struct model_hparams *hp; /* what ids see. Of an encoder no chunk is
                                       parted: all of its ids see each other */
    const struct slots *slots;      /* and which rows stand there */
    int32_t n_tokens, n_segments, n_outputs;
    struct graph_segment *segments; /* n_segments; masks are not set */
    const float *scales;            /* of adapters: all ids have the same */
    int32_t *ids;                   /* n_tokens each */
    int32_t *positions;             /* ids of the slot before each */
    int32_t *turns[3];  /* what rotary positions turn by: time, height, width */
    bool turned;        /* these differ */
    int32_t *switches;  /* adapters by which ids are evaluated */
    int32_t *ngrams;    /* hp->ngrams.n_heads each: rows of their table */
    int32_t *types;     /* kinds of text: graph_add_token_type() */
    float *temperature; /* graph_temper() multiplies by them */
    /* Rows of media among the ids, which then are the pad token's. */
    int32_t n_given;
    int32_t *given;            /* n_given: their ids, */
    int32_t *given_at;         /* and where they stand in the batch */
    int32_t *picks;            /* n_tokens: struct graph has it, too */
    struct medium_block *seen; /* n_tokens: positions of the block that each is
                                  in; empty: none */
    int64_t *cells[CACHE_KINDS];
    int32_t *rows;         /* n_outputs: rows of the batch that are wanted */
    float **logits;        /* n_outputs: where they go; NULL: none wants them */
    struct gg_best **best; /* n_outputs: what is wanted in their place */
    bool encodes;          /* ids are an encoder's, for a decoder */
    bool scored;           /* log-probabilities are wanted, too */
    const int32_t **next;  /* n_outputs: of which ids */
    size_t *n_next;        /* n_outputs: how many */
    float **logprobs;      /* n_outputs: where they go; NULL: not wanted */
    bool pooled;           /* hidden vectors are wanted, too */
    double **pools; /* n_outputs: what they are added to; NULL: to nothing */
    /* Members for a model with MTP layers in use: */
    enum graph_feed feed; /* what MTP layers get of it */
    int32_t mtp; /* which layer the batch is for, from 1; 0: the model */
    bool apart;  /* ids see those before them, which are the model's, and not
                    themselves */
    /* A drafter's batch: its numbers; NULL: of MTP layers */
    const struct model_hparams *drafter;
    bool block;        /* ids of a segment see those after them */
    int32_t *mtp_from; /* what struct graph has of the same names */
    int32_t *mtp_shift;
    int32_t *mtp_of;
    int64_t *mtp_to;
    uint16_t *mask; /* scratch for rows of a mask */
    size_t mask_cap;
    int32_t *buckets; /* and for a segment's buckets */
    size_t buckets_cap;
};

bool
session_batch_init(struct batch *b, int32_t max_tokens, int32_t max_segments,
                   const struct model_hparams *hp, const struct slots *slots);
void
session_batch_clear(struct batch *b); /* takes an empty one */

/* Empties it. */
void
session_batch_start(struct batch *b);

/* Adds a segment of as many ids of the chunk before `end`, but for the first
 * `done`, as there is room for, at position `past` of the slot, where the cache
 * makes room, and returns their number; 0: the batch is full. A block of rows
 * is whole; an empty batch takes one that is longer than max_tokens. What is
 * pooled of the chunk is added to pool[0..n_embd). */
int32_t
session_batch_add(struct batch *b, struct cache *cache,
                  const struct gg_chunk *chunk, size_t done, size_t end,
                  int32_t past, double *pool);

/* Adds a segment of all ids of the chunk for an MTP layer, at position `past`
 * of a slot, which does not count them. */
void
session_batch_add_draft(struct batch *b, struct cache *cache,
                        const struct gg_chunk *chunk, int32_t past);

/* Whether each id has an output: sequences go on, with or without drafts. */
bool
session_batch_decodes(const struct batch *b);

/* MTP layers get this of the batch, to which nothing is added any more. */
void
session_batch_feed(struct batch *b, struct cache *cache, enum graph_feed feed);

/* To be called when nothing more is added: a graph has at least one output. */
void
session_batch_finish(struct batch *b);

/* The buckets of a segment's distances, of each of its ids to all ids or
 * keys. NULL: no memory.
 * Lives until the next call. */
const int32_t *
session_batch_buckets(struct batch *b, int32_t i);

/* Rows [first, first + n) of a mask of segment i in f16: 0, or, with ALiBi, the
 * distance times -1, where an id sees a key and -infinity where it does not.
 * NULL: no memory. Lives until the next call. */
/* Rows of the mask of keys that an encoder has filled. */
const uint16_t *
session_batch_cross_mask(struct batch *b, int32_t i, int32_t first, int32_t n);

const uint16_t *
session_batch_mask(struct batch *b, const struct cache *cache,
                   enum cache_kind kind, int32_t i, int32_t first, int32_t n);

/* Likewise of a drafter's narrow layers. */
const uint16_t *
session_batch_narrow_mask(struct batch *b, const struct cache *cache, int32_t i,
                          int32_t first, int32_t n);

#endif
