/* prefix.h - the prefix cache: what sequences have evaluated, as pieces in the
 * files of a folder, from which other sequences, also of other processes, begin
 *
 * A file's name says how many ids stand before its own, how many these are, and
 * hashes: of what all depends on and the ids up to the PREFIX_MATCH-th of its
 * own, and up to the last one. So who knows a sequence's ids knows the names
 * that may be of use. Files appear whole, by a rename, and are replaced by such
 * of the same rows alone; whoever finds a damaged one removes it. */
#ifndef ENGINE_PREFIX_H
#define ENGINE_PREFIX_H

#include "engine/engine.h"
#include "session/piece.h"

enum {
    PREFIX_MATCH = 16,  /* ids that a piece and a sequence have in common */
    PREFIX_LEAST = 128, /* ids that are worth being written */
    PREFIX_HEX = 32,    /* digits of a hash in a name */
    PREFIX_NAME = 8 + 1 + 3 + 2 * (1 + PREFIX_HEX) + 1,
};

struct prefix_name {
    int32_t first, n;
    char text[PREFIX_NAME];
};

/* A piece that begins as the sequence goes on there. */
struct prefix_use {
    struct prefix_name name;
    int32_t n;  /* ids that are the sequence's */
    bool state; /* these are all, and there are states after them */
};

struct prefix_plan {
    struct prefix_use *uses;
    size_t n_uses, cap;
    int32_t covered; /* the first ids of the sequence that pieces have, */
    int32_t n;       /* and of these those after which it can go on */
};

struct engine_prefixes {
    struct gg_prefix_params params; /* with copies of these: */
    char *folder;
    uint8_t *key;
    struct prefix_plan plan; /* of the sequence looked at last */
    bool fails;              /* nothing is written any more */
    uint64_t n_cached;       /* ids that slots got from files */
};

/* ---- hashes and names: prefix_names.c ---- */

/* A hash of a sequence's first `at` ids, and all that they depend on. */
struct prefix_hash {
    struct sha256 hash;
    struct gg_session *session;
    const int32_t *ids;
    int32_t at;
};

/* False: no memory. */
bool
engine_prefix_hash(const struct gg_sequence *q, struct prefix_hash *h);

/* How many of the sequence's first n ids have hashes: all, or those before the
 * first row of a medium whose values are not known. */
int32_t
engine_prefix_known(const struct gg_sequence *q, size_t n);

/* The hash of the first n ids, all of which have hashes; not fewer than were
 * hashed before. */
void
engine_prefix_digest(struct prefix_hash *h, int32_t n,
                     uint8_t digest[SHA256_BYTES]);

void
engine_prefix_hex(const uint8_t digest[SHA256_BYTES], char hex[PREFIX_HEX + 1]);

/* All names of the folder, by the number of ids before the piece; mem_free()
 * them. False: no memory. */
bool
engine_prefix_list(const struct engine_prefixes *p, struct prefix_name **names,
                   size_t *n);

/* The path of a file of the folder; mem_free() it. NULL: no memory. */
char *
engine_prefix_path(const struct engine_prefixes *p, const char *name);

/* ---- pieces that are there: prefix_find.c, prefix_load.c ---- */

/* Makes the plan of what there is of the sequence's first ids, `most` at
 * most. */
void
engine_prefix_look(struct gg_sequence *q, size_t most);

/* Looks for a sequence that `shared` ids can be copied for: how many files
 * have; 0: not enough more to be worth reading. */
size_t
engine_prefix_find(struct gg_sequence *q, size_t most, size_t shared);

/* The slot, which is empty, gets what engine_prefix_find() has found. Returns
 * how many ids it holds: fewer, where files are damaged. */
size_t
engine_prefix_load(struct gg_sequence *q, int32_t slot);

/* ---- pieces that are written: prefix_save.c ---- */

/* The first n ids of the sequence, all that its slot holds, are written, as far
 * as they are not there, if they are enough. */
void
engine_prefix_save(struct gg_sequence *q, size_t n);

/* engine_run() with writing. */
enum gg_status
engine_prefix_run(struct gg_engine *e, const struct gg_chunk *chunks, size_t n,
                  struct gg_error *err);

void
engine_prefixes_free(struct engine_prefixes *p); /* takes NULL */

#endif
