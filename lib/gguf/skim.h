/* skim.h - reads a file's metadata, and no byte more; for this module only */
#ifndef GGUF_SKIM_H
#define GGUF_SKIM_H

#include "gguf/context.h"

/* A file as its bytes come, one after the other. */
struct gguf_source {
    gguf_reader_callback_t callback;
    void *userdata;
    size_t chunk;   /* the most that is read at once; 0: any number */
    uint64_t limit; /* the most that is read altogether */
    uint64_t at;    /* what was read */
};

/* Reads up to `size` bytes; returns their number. Fewer: the file, or what may
 * be read of it, ends there. */
size_t
gguf_source_read(struct gguf_source *s, void *out, size_t size);

/* Reads header, pairs and table to *data, which the caller frees with
 * mem_free() in any case. Only lengths are looked at: where they make no sense,
 * or the file ends, what was read until then is for gguf_parse_some() to
 * refuse. Memory grows with what was read, whatever the file claims. */
enum gg_status
gguf_skim(struct gguf_source *s, uint8_t **data, size_t *size,
          struct gg_error *err);

#endif
