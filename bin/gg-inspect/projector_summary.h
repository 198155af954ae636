/* projector_summary.h - what a projector of images or sounds makes of them */
#ifndef INSPECT_PROJECTOR_SUMMARY_H
#define INSPECT_PROJECTOR_SUMMARY_H

#include <gg-media.h>

#include "gg-inspect/metadata.h"

enum {
    PROJECTOR_KINDS = 2,
    PROJECTOR_SECONDS = 30, /* of the sound that figures are for */
};

/* Prints what becomes of a medium of that size. */
struct projector_plan {
    size_t n_rows, longest_block;
    int32_t n_positions;
    struct gg_projector_memory memory;
};

/* An encoder of the file. What the file does not say is 0. */
struct projector_part {
    bool is_there;
    struct text type;
    struct range layers, embedding, heads, feed_forward;
    struct range image_size, patch; /* of images, in pixels */
    struct range n_mel;             /* of sounds: values of a frame */
    uint64_t encoder, projection;   /* parameters */
    struct projector_plan plan;     /* n_rows 0: it is not known */
};

struct projector_summary {
    bool is_projector;
    bool opens;          /* gg-encode can use it */
    struct gg_error why; /* not */
    size_t width, n_deeper;
    uint32_t image_width, image_height;           /* that figures are for */
    struct projector_part parts[PROJECTOR_KINDS]; /* by enum gg_media_kind */
};

/* Whether the file is one, usable or not. */
bool
projector_summary_is(const struct gguf_context *ctx);

/* The file is opened as gg-encode does it, for what only that tells. */
void
projector_summary_make(const struct gguf_context *ctx,
                       const struct inspect_options *o,
                       struct projector_summary *out);

/* ---- projector_text.c ---------------------------------------------------- */

/* Aligned lines for people: what it is; of each encoder, what it does. */
void
projector_text_kind(const struct projector_summary *p);
void
projector_text_parts(const struct projector_summary *p);

/* A member "projector" of the summary. */
void
projector_text_json(const struct projector_summary *p);

/* "an image of 1024 x 768", "a sound of 30 s" */
const char *
projector_text_medium(const struct projector_summary *p,
                      enum gg_media_kind kind, char buf[64]);

#endif
