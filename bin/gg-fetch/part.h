/* part.h - one file on its way: FILE.part next to it until it is whole */
#ifndef FETCH_PART_H
#define FETCH_PART_H

#include "common/ticker.h"
#include "gg-fetch/repository.h"

struct part {
    const char *url, *name;  /* `name`: what messages call it */
    char *final, *path;      /* what it is called at the end, and until then */
    char *copy;              /* a file that may be the same; or NULL */
    bool has_size, is_model; /* `is_model`: its magic is looked at */
    uint64_t size;
    struct checksum sum;
    uint64_t before, all; /* bytes of all parts before this one, and of all */
    struct ticker *ticker;
};

/* True if `final` is there and is what is wanted; what is there and is another
 * file ends the tool, unless it may be replaced. */
bool
part_is_there(const struct part *p, bool replace);

/* Brings `path` to its end, from what is there of it or of the copy, and
 * verifies it. What is no model is refused at its first bytes. */
void
part_fetch(struct part *p);

#endif
