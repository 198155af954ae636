/* digest.h - SHA-256 of tensors, of keys, and of a whole model
 *
 * A tensor: of a line "TYPE NE0xNE1\n", then of its data. A key: of a line with
 * its type, "str\n" or "u32[3]\n", then of the value: numbers little-endian,
 * strings as they are, each string of an array after its length (u64). All
 * tensors, or all keys: of their lines "HASH  NAME\n" in the order of bytes.
 * A model: of the two lines of these. Names are escaped; one of a tensor that
 * begins with '*' begins with "\x2a". Keys that say how a model was split are
 * left out. */
#ifndef INSPECT_DIGEST_H
#define INSPECT_DIGEST_H

#include "gg-inspect/inspect.h"

enum {
    DIGEST_HEX = 65, /* with the NUL */
    DIGEST_NAME = 4 * GGML_MAX_NAME + 8,
};

struct digest {
    char hex[DIGEST_HEX]; /* "": not known */
    char *name;           /* as it stands in a list */
};

/* Digests of the tensors and keys of a file: all the names, and no hashes yet.
 * Ends the tool where it was built without the library. */
struct digests {
    struct inspected *f;
    struct digest *tensors, *keys;
    int64_t n_tensors, n_keys;
    struct digest all_tensors, all_keys, model;
};

void
digests_init(struct digests *d, struct inspected *f);
void
digests_clear(struct digests *d);

/* Fills in one; several threads may. */
void
digests_tensor(struct digests *d, int64_t i);

/* Fills in that of all keys, and theirs. */
void
digests_keys(struct digests *d);

/* Fills in that of all tensors, whose own are there, and, if that of the keys
 * is there, that of the model. */
void
digests_whole(struct digests *d);

#endif
