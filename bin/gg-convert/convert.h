/* convert.h - the parts of gg-convert */
#ifndef CONVERT_H
#define CONVERT_H

#include <gg.h>
#include <gguf.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/ticker.h"
#include "gg-convert/merge.h"
#include "common/quantize/plan.h"

/* One --set or --unset, in the order of the command line. */
struct key_change {
    char *key;
    const char *value; /* "7", "u64:7", "text"; NULL: the key goes */
    bool used;
};

struct key_changes {
    struct key_change *list;
    size_t n;
};

/* ---- keys.c ---- */

/* KEY=VALUE, or for --unset KEY. Ends the tool where it is neither. */
void
keys_add(struct key_changes *c, const char *argument, bool unset);
void
keys_clear(struct key_changes *c);

/* Adds the keys of `from` to the empty `to`, each in its place, as the changes
 * say; keys that are new go last. `drop_split`: those of a file that is one of
 * several are left out. Ends the tool where a key that goes is not there. */
void
keys_copy(struct gguf_context *to, const struct gguf_context *from,
          struct key_changes *c, bool drop_split);

/* ---- edit.c ---- */

/* Changes keys of a GGUF file: in place where what changes lies in one page of
 * the file, else by a new file in its place. It is locked until the end. */
void
edit_file(const char *path, struct key_changes *c, bool quiet);

/* ---- write.c ---- */

struct conversion {
    struct key_changes changes;
    const struct mixture *mixture;   /* of the matrices; NULL: as they are */
    uint64_t split;                  /* bytes of data in a file; 0: in one */
    int safetensors;                 /* 1: not GGUF; without keys */
    int order;                       /* enum gguf_byte_order */
    struct adapter_options adapters; /* that become part of the weights */
    const char *base; /* folder of the model of an adapter of PEFT; or NULL */
    bool mmproj;      /* the folder's encoders of images and sounds */
    bool in_place;    /* what is lost of `in` may be replaced by `out` */
    bool quiet;       /* no progress */
    bool verbose;     /* what the sandbox lacks is told */
    int n_threads;
};

/* Tensors that are written to standard output, in the types that `to` has. */
struct writing {
    const struct gg_file *file;
    const struct gguf_context *to;
    struct merge *merge; /* or NULL */
    int n_threads;
    uint64_t done, all; /* bytes */
    struct ticker ticker;
};

/* Writes the model `in` as GGUF to `out`. One tensor at a time is in memory. */
void
write_gguf(const char *in, const char *out, struct conversion *c);

/* Parts of that: tensors, each filled up to its alignment. */
void
write_tensors(struct writing *w, int64_t first, int64_t end);

/* The data of one tensor alone. */
void
write_tensor(struct writing *w, int64_t i);

/* ---- safetensors.c ---- */

/* Writes all tensors, none of which becomes a quantised one. */
void
write_safetensors(struct writing *w);

/* ---- split.c ---- */

/* "2G", "500M", or bytes. Ends the tool where it is none. */
uint64_t
split_size(const char *text);

/* Writes a model in several files, none with more data than `size`, unless it
 * is that of one tensor. */
void
write_split(struct writing *w, const char *out, uint64_t size);

#endif
