/* plan.h - what a medium becomes: pieces, and the input of each run of rows */
#ifndef MEDIA_PLAN_H
#define MEDIA_PLAN_H

#include "media/image.h"
#include "media/projector.h"

enum {
    MEDIA_MAX_FRAMES = 4,
    MEDIA_MAX_PIXELS = 1 << 26, /* of a frame */
    MEDIA_SOURCE = -1,          /* the image itself */
    MEDIA_RATE = 16000,         /* samples a second that encoders take */
};

struct media_size {
    uint32_t width, height;
};

/* An image that is made of another, when it is needed. */
struct media_frame {
    int from; /* a frame before, or MEDIA_SOURCE */
    uint32_t width, height;
    uint32_t inner_width, inner_height; /* of what is in its middle */
    uint8_t fill[MEDIA_CHANNELS];       /* around that */
    bool cornered; /* it is at the top left, and not in the middle */
    enum media_filter filter;
    struct media_image image; /* rgb NULL: not made yet */
};

/* Input of a run of rows: a window of a frame, or frames of a spectrogram. */
struct media_view {
    int frame;
    uint32_t x, y;
    struct media_size kept;   /* struct media_graph */
    struct media_image image; /* rgb NULL: not made yet */
    float *mel;               /* of a sound */
};

struct media_plan {
    struct gg_media_plan plan; /* the first member */
    const struct media_encoder *encoder;
    struct gg_piece *pieces;
    struct media_view *views; /* as many as pieces */
    size_t room, views_room;
    struct media_image source;
    struct media_frame frames[MEDIA_MAX_FRAMES];
    int n_frames;
    const float *samples; /* of a sound, while it is planned */
    size_t n_samples;
};

/* The first failure sticks. */
struct media_planner {
    const struct gg_projector *projector;
    const struct media_encoder *e;
    struct media_plan *plan;
    uint32_t width, height; /* of the image */
    enum gg_status status;
    struct gg_error *err;
};

/* The text is copied. */
void
media_plan_marker(struct media_planner *p, const char *text);
void
media_plan_text(struct media_planner *p, const char *text);
/* The number of the image, or sound, in the prompt. */
void
media_plan_ordinal(struct media_planner *p);
/* Number of a new frame. */
int
media_plan_frame(struct media_planner *p, int from, uint32_t width,
                 uint32_t height, enum media_filter filter);
/* As the function above, of the image as it is shaped, in the middle of a frame
 * of that colour. */
int
media_plan_padded(struct media_planner *p, uint32_t width, uint32_t height,
                  enum media_filter filter, const uint8_t fill[MEDIA_CHANNELS]);
/* As media_plan_frame(), of the image in the size `inner`, in the middle of a
 * black frame, or at the top left of it. */
int
media_plan_inner(struct media_planner *p, struct media_size inner,
                 uint32_t width, uint32_t height, enum media_filter filter,
                 bool cornered);
/* A run of rows: those of width x height pixels of a frame. */
void
media_plan_rows(struct media_planner *p, int frame, uint32_t x, uint32_t y,
                uint32_t width, uint32_t height, size_t n_rows, bool block);
/* As the function above, of a whole frame; n_rows follow from the encoder's
 * merge. */
void
media_plan_whole(struct media_planner *p, int frame, bool block);

/* The image in the size of media_size_rounded(), by bicubic weights, whose rows
 * are no block, between two markers. */
void
media_plan_rounded(struct media_planner *p, const char *begin, const char *end);
/* Zeros for n_frames of n_mel values; NULL: it fails. */
float *
media_plan_new_mel(struct media_planner *p, size_t n_frames, size_t n_mel);
/* A run of rows of a sound: `mel` has n_mel rows of n_frames values, which are
 * the plan's from now on. NULL: no memory. */
void
media_plan_sound(struct media_planner *p, float *mel, size_t n_frames,
                 size_t n_rows);
__attribute__((format(printf, 3, 4))) void
media_plan_refuse(struct media_planner *p, enum gg_status status,
                  const char *fmt, ...);

/* A copy with texts of its own; NULL: no memory. */
struct gg_piece *
media_pieces_copy(const struct gg_piece *pieces, size_t n);
void
media_pieces_free(struct gg_piece *pieces, size_t n); /* takes NULL */

/* ---- sizes, as makers choose them ---------------------------------------- */

/* The bounds that the user asks for, or else the maker's, in rows. */
struct media_bounds {
    int32_t min, max; /* 0: none */
};
struct media_bounds
media_bounds(const struct media_planner *p);

/* Sides rounded to multiples of the merged patch's side, and then shrunk or
 * grown, so that rows are within the bounds (Qwen2-VL's rule). */
struct media_size
media_size_rounded(struct media_planner *p);
/* The largest multiples that keep the shape in about `max` rows (Gemma 4). */
struct media_size
media_size_filling(struct media_planner *p, int32_t max);
/* Sides rounded up to multiples, after the longest was bounded (Pixtral). */
struct media_size
media_size_up(struct media_planner *p);

#endif
