/* prefix_cache.h - the folder of --cache: what gg-eval and gg-generate evaluate
 * of prompts is kept there for later runs
 *
 *     DIR/models/DEVICE-INODE   the hash of a file of a model, which counts as
 *                               long as size, mtime and ctime are the same
 *     DIR/HASH/PIECE            a piece: gg-stream(5). HASH is of the model's
 *                               files and of options
 *
 * Before the sandbox is entered, files of models are hashed, as bytes, and the
 * subfolder is made: only that is granted. All subfolders together are bounded;
 * what was used least recently goes, by the process of outside.h. */
#ifndef COMMON_PREFIX_CACHE_H
#define COMMON_PREFIX_CACHE_H

#include <gg-engine.h>

#include "common/options.h"

struct engine_options;

struct prefix_options {
    const char *folder; /* NULL: $GG_CACHE; "": none */
    uint64_t bytes;     /* that it may have */
};

enum {
    PREFIX_CACHE_GIB = 8, /* by default */
};

/* Their rows, whose fields are in struct prefix_options. */
extern const struct cli_option prefix_rows[];

struct prefix_cache;

/* For struct cli_tool, before the sandbox is entered: makes what is not there,
 * hashes the files of the model and its adapters, and grants the subfolder.
 * Ends the tool where the folder is not its user's alone. */
void
prefix_cache_prepare(const struct engine_options *o);

/* The cache that was prepared, for the first engine; NULL: there is none. */
struct prefix_cache *
prefix_cache_take(void);

/* The engine has it from now on; not, where files of the model are not those
 * that were hashed. */
void
prefix_cache_open(struct prefix_cache *c, struct gg_engine *engine);

/* For -v. */
void
prefix_cache_describe(const struct prefix_cache *c,
                      const struct gg_engine *engine);

void
prefix_cache_free(struct prefix_cache *c); /* takes NULL */

#endif
