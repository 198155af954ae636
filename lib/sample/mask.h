/* mask.h - which tokens can come next, for all of a vocabulary at once */
#ifndef SAMPLE_MASK_H
#define SAMPLE_MASK_H

#include "sample/automaton.h"
#include "sample/prefix.h"

/* Summary of all below a node of the trie that has much below it. */
struct below {
    uint64_t classes; /* of bytes; bit 63: some of the others */
    uint32_t height;  /* bytes of the longest */
};

struct masker {
    struct below *below;
    int32_t *path; /* states along a branch of the trie */
    size_t n_made;
};

enum gg_status
sample_mask_init(struct masker *m, const struct automaton *a,
                 const struct prefixes *trie, struct gg_error *err);
void
sample_mask_clear(struct masker *m); /* takes an empty one */

/* Makes the mask of a state that is not dead, unless it has one. */
enum gg_status
sample_mask_make(struct masker *m, struct automaton *a,
                 const struct prefixes *trie, int32_t state,
                 struct gg_error *err);

#endif
