/* dflash_test.h - pairs of a model and a drafter of blocks */
#ifndef SESSION_DFLASH_TEST_H
#define SESSION_DFLASH_TEST_H

#include "fixtures/dflash.h"
#include "session/pair_test.h"

static const char *drafter; /* its file; the model's is scratch_path() */

static inline void
write_drafter(const struct dflash_spec *spec)
{
    if (!dflash_write(spec, drafter))
        exit(99);
}

static inline struct dflash_spec
with_keys(const struct model_key *keys, size_t n)
{
    struct dflash_spec spec = dflash_usual();

    memcpy(spec.s.keys, keys, n * sizeof(*keys));
    return spec;
}

#define WITH(...)                                                              \
    with_keys((const struct model_key[]){ __VA_ARGS__ },                       \
              sizeof((const struct model_key[]){ __VA_ARGS__ }) /              \
                  sizeof(struct model_key))

#endif
