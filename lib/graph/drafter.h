/* drafter.h - drafters: files of their own that draft for another model, their
 * target, whose inside they read
 *
 * A drafter is opened as a part of its target. session_adopt_mtp() takes its
 * tensors to the target's, by names that begin with DRAFTER_PREFIX. Its numbers
 * and tensors are a struct model, target->drafter, whose homes are the
 * target's. Its layers have the numbers after the target's n_layer, so that
 * caches and graphs know both models' layers by one number. While a part of it
 * is recorded, g->model is the drafter.
 *
 * Two parts are recorded. In each evaluation of the target the drafter is fed:
 * it gets features of all ids, which are hidden vectors of the target, and
 * keeps keys and values of its own layers, and a row of each of the last ids,
 * graph_keep_last_hidden(). Later it drafts, of ids and of kept rows: one id
 * after another, or a block of them at once. */
#ifndef GRAPH_DRAFTER_H
#define GRAPH_DRAFTER_H

#include "graph/graph.h"
#include "graph/keys.h"
#include "graph/loader.h"

#define DRAFTER_PREFIX "drafter."

/* Ways in which drafters differ. Its struct model_arch has the rest: hparams,
 * which sees the file's keys alone and fills in hp.drafting; layer; and head,
 * for all tensors outside of the layers: of token_embd and output, without one
 * in the file, graph_drafter_borrow(). */
struct model_drafter {
    /* Fits them to the target's: hp's layers have their numbers now, and
     * kv_layer of each is its own. Fails through keys. */
    void (*join)(struct model_keys *keys, const struct model_hparams *target,
                 struct model_hparams *hp);
    /* Records what is kept of all ids; features: hp.drafting.d_features x ids,
     * or NULL, if it reads none. */
    void (*feed)(struct graph *g, struct ggml_tensor *features);
    /* Records a step of drafts: of g->ids at g->positions, and rows g->mtp_from
     * of g->cache->mtp.rows. Returns logits of the wanted rows, hp.n_vocab or
     * model.n_drafted of each, whose rows are kept: graph_keep_hidden(). */
    struct ggml_tensor *(*draft)(struct graph *g);
    /* It reads the target's keys and values, those of ids that are evaluated:
     * all ids of a draft stand where the first does, and none sees itself. */
    bool reads_keys;
    bool block; /* a draft is one step, of as many rows as ids are wanted: after
                   the last id, which is given, stand hp.pad */
};

/* Whether the file is a drafter. */
bool
graph_is_drafter(const struct gguf_context *gguf);

/* Whether a tensor's name is that of a drafter's. */
bool
graph_is_drafters(const char *name);

/* Reads the drafter's numbers, which fit the target's: *out is to be freed by
 * graph_drafter_free(), also on failure. */
enum gg_status
graph_drafter_read(const struct gguf_context *gguf, const struct model *target,
                   struct model **out, struct gg_error *err);
void
graph_drafter_free(struct model *drafter); /* takes NULL */

/* Its layers' numbers become m's, of which it is to be a part. */
enum gg_status
graph_drafter_count(const struct gguf_context *gguf, struct model *m,
                    struct gg_error *err);

/* Finds the drafter of l->model, after all its own tensors. */
void
graph_drafter_find(struct model_loader *l);

/* For its hparams: target_layers, features that it reads. */
void
graph_keys_features(struct model_keys *keys, struct model_hparams *hp);

/* For its join: the features are the target's, each of its length; so
 * d_features follows. */
void
graph_features_join(struct model_keys *keys, const struct model_hparams *target,
                    struct model_hparams *hp);

/* For its head: token_embd, n_embd x n_vocab, and output, n_embd x n_drafted;
 * where the file has none, the target's, if these have that shape. */
void
graph_drafter_borrow(struct model_loader *l);

/* For its head: d2t, the ids of its logits, where there are fewer than the
 * target's. */
void
graph_drafter_find_ids(struct model_loader *l);

/* x is what layer `layer` of the target reads. */
void
graph_note_feature(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* x: after the last layer, of all ids; feeds the drafter, and returns the
 * wanted rows of x. */
struct ggml_tensor *
graph_inform_drafter(struct graph *g, struct ggml_tensor *x);

/* The drafter's draft. */
struct ggml_tensor *
graph_draft(struct graph *g);

#endif
