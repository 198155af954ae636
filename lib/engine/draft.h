/* draft.h - what drafts ids of texts; for this module */
#ifndef ENGINE_DRAFT_H
#define ENGINE_DRAFT_H

#include "engine/text.h"

struct engine_draft {
    bool forced; /* ids that must come are drafted, and no others; else */
    bool mtp;    /* the model's MTP layers draft; else */
    struct gg_engine
        *engine; /* that draws drafts; NULL: the text is searched */
    struct draft_table *table; /* searched, too; or NULL */
    struct gg_sampler *greedy;
    size_t most; /* ids a text */
    struct draft_length length;
    struct gg_draft_stats stats;
    /* For measurements: sets ids that were drafted for positions from `at` on.
     * NULL: they stay. */
    void (*replace)(void *data, size_t at, int32_t *ids, size_t n);
    void *data;
};

/* The sampler of a draft. Draws at the same place with the same seed are likely
 * to be the same; where they depend on more, the likeliest id must do. */
static inline struct gg_sampler *
engine_draft_sampler(const struct engine_draft *d, const struct gg_text *t)
{
    return gg_sampler_remembers(t->params.sampler) ? d->greedy
                                                   : t->params.sampler;
}

/* How many ids, `most` at most, a draft that is made at a cost is to have, with
 * those that it has. */
size_t
engine_draft_wanted(struct engine_draft *d, struct gg_text *t, size_t most);

/* Whether some ids of the text must come, or may have to. */
bool
engine_draft_has_forced(const struct gg_text *t);

/* Drafts such ids, `most` at most: others follow them. The evaluation is one of
 * a prompt, unless td->counts. */
void
engine_draft_forced(struct engine_draft *d, struct gg_text *t, size_t most);

/* The text has ended: others may have drafts by what it was. */
void
engine_draft_learn(struct engine_draft *d, const struct gg_text *t);

/* Goes on with the draft, up to `most` ids, by what followed its last ids
 * before. */
void
engine_draft_by_search(struct engine_draft *d, struct gg_text *t, size_t most);

/* Drafts wanted[i] ids of each text, or fewer. */
enum gg_status
engine_draft_by_model(struct engine_draft *d, struct gg_text *const *texts,
                      size_t n, size_t *wanted, struct gg_error *err);
enum gg_status
engine_draft_by_mtp(struct engine_draft *d, struct gg_text *const *texts,
                    size_t n, size_t *wanted, struct gg_error *err);

#endif
