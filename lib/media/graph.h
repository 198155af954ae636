/* graph.h - what encoders share: the parts of a vision transformer */
#ifndef MEDIA_GRAPH_H
#define MEDIA_GRAPH_H

#include "media/plan.h"

enum {
    MEDIA_MAX_INPUTS = 16,
    MEDIA_WINDOW_KINDS = 4,
};

/* An input is set before a graph runs; `data` is the graph's. */
struct media_input {
    struct ggml_tensor *tensor;
    void *data;
};

/* Windows of as many patches each: those inside, and those that an edge cuts.
 */
struct media_windows {
    int32_t n, size;
};

struct media_graph {
    struct graph g; /* its ids are patches */
    const struct media_encoder *e;
    int32_t nx, ny;     /* patches of the image, or frames of a sound and 1 */
    int32_t n;          /* of all */
    int32_t *order;     /* n: the patch y * nx + x that stands in each place */
    const uint8_t *rgb; /* input: nx * patch pixels wide; or */
    const float *mel;   /* n_mel rows of nx values */
    struct media_size kept; /* patches in the middle that count, of tiles */
    struct ggml_tensor *at_y, *at_x, *at_sections; /* media_turn_*()'s */
    struct ggml_tensor *deeper[MEDIA_MAX_DEEPER];
    int32_t n_deeper;
    struct media_windows windows[MEDIA_WINDOW_KINDS]; /* in their order */
    struct media_input inputs[MEDIA_MAX_INPUTS];
    int32_t n_inputs;
    bool failed; /* no memory */
};

/* A new input, and in *data its memory, zeros; NULL: there is none. */
struct ggml_tensor *
media_input(struct media_graph *m, enum ggml_type type, int64_t n0, int64_t n1,
            void *data);

/* Patches in squares of `merge`, row by row, and so within the squares. */
void
media_order_squares(struct media_graph *m, int32_t merge);

/* ---- before the layers --------------------------------------------------- */

/* Pixels of patches, less the mean, by the deviation: patch * patch * 3 x n, as
 * filters have them. */
struct ggml_tensor *
media_pixels(struct media_graph *m);
/* Frames of a sound: n_mel x n_frames. */
struct ggml_tensor *
media_frames(struct media_graph *m);
/* The convolution of these: n_embd x n. */
struct ggml_tensor *
media_embed(struct media_graph *m);

enum media_positions {
    MEDIA_AS_IS,             /* one a patch, row by row */
    MEDIA_CORNERS,           /* bilinear, the corners in their places */
    MEDIA_BICUBIC_POSITIONS, /* bicubic, a = -0.75, at centres */
    MEDIA_SMOOTHED,    /* bilinear at centres, antialiased where it shrinks */
    MEDIA_CENTRES,     /* bilinear at centres, not antialiased */
    MEDIA_BY_AXES,     /* two tables, of x and of y, added */
    MEDIA_AFTER_CLASS, /* as it is, the first row being the class token's */
    MEDIA_BUCKETS,     /* floor(side * y / ny), the same of x */
};

/* The positions' table as patches find it: width x n. */
struct ggml_tensor *
media_positions(struct media_graph *m, enum media_positions how);
/* Row y * side + x of the table, resampled to nx x ny, at (x, y): *row gets it,
 * or adds it. */
void
media_position_row(const struct media_table *t, enum media_positions how,
                   int32_t nx, int32_t ny, int32_t x, int32_t y, float *row);

/* Rows 0 .. period - 1 of the table over and over, n of them. */
struct ggml_tensor *
media_repeated_positions(struct media_graph *m, int32_t n, int32_t period);

/* Filters of 3 x 3 over x, width x height x channels x n, which they halve:
 * channels x width x height x n. */
struct ggml_tensor *
media_convolve(struct media_graph *m, struct ggml_tensor *filters,
               struct ggml_tensor *x, struct ggml_tensor *bias);

/* x with the class token in front, and the table's rows added. */
struct ggml_tensor *
media_add_class(struct media_graph *m, struct ggml_tensor *x);
/* And without it, or with it after the patches. */
struct ggml_tensor *
media_drop_class(struct media_graph *m, struct ggml_tensor *x);
struct ggml_tensor *
media_append_class(struct media_graph *m, struct ggml_tensor *x);

/* ---- layers -------------------------------------------------------------- */

struct media_vit {
    /* Rotates heads by the places of their patches; NULL: nothing does. */
    struct ggml_tensor *(*turn)(struct media_graph *m, struct ggml_tensor *x);
    /* In place of media_attend(); or NULL. */
    struct ggml_tensor *(*attend)(struct media_graph *m, int32_t layer,
                                  const struct graph_heads *h);
    /* Looks at what a layer gives; or NULL. */
    void (*after)(struct media_graph *m, int32_t layer, struct ggml_tensor *x);
    int32_t first, n_layer; /* layers first .. n_layer - 1; 0: to the last */
};

/* x after the layers. */
struct ggml_tensor *
media_vit(struct media_graph *m, struct ggml_tensor *x,
          const struct media_vit *vit);

/* softmax(q k * scale) v: each patch sees all, or those of its batch. Heads: d
 * x heads x n; result: d * heads x n. */
struct ggml_tensor *
media_attend(struct media_graph *m, struct ggml_tensor *q,
             struct ggml_tensor *k, struct ggml_tensor *v);

/* As media_attend(), of the patches of each window; of any layer. */
struct ggml_tensor *
media_attend_windows(struct media_graph *m, int32_t layer,
                     const struct graph_heads *h);

/* Pairs (i, i + d / 2): the first half of them by y, the second by x. */
struct ggml_tensor *
media_turn_sections(struct media_graph *m, struct ggml_tensor *x);
/* The first half of a head by `first` (y or x), the other by the other, with
 * pairs of `mode` and frequencies of `base`; those of the second half are a
 * step on where they take turns. */
struct media_halves {
    int mode;
    float base;
    bool x_first, turns;
};
struct ggml_tensor *
media_turn_halves(struct media_graph *m, struct ggml_tensor *x,
                  const struct media_halves *h);

/* ---- after them ---------------------------------------------------------- */

/* Squares of `merge` neighbours as one, their vectors one after the other. */
struct ggml_tensor *
media_join(struct media_graph *m, struct ggml_tensor *x, int32_t merge);
/* As media_join(), in a convolution's order: of each value those of the square.
 */
struct ggml_tensor *
media_join_by_value(struct media_graph *m, struct ggml_tensor *x,
                    int32_t merge);
/* The mean of a square's values. */
struct ggml_tensor *
media_average(struct media_graph *m, struct ggml_tensor *x, int32_t merge);

/* LayerNorm of torch, with epsilon 1e-5. */
struct ggml_tensor *
media_layer_norm(struct media_graph *m, struct ggml_tensor *x,
                 const struct model_norm *norm);
/* down(act(up(x))) */
struct ggml_tensor *
media_mlp(struct media_graph *m, struct ggml_tensor *x,
          const struct model_linear *up, const struct model_linear *down,
          enum model_activation act);
/* Rows of x by an input of `n` numbers, in *rows, to be filled. */
struct ggml_tensor *
media_pick(struct media_graph *m, struct ggml_tensor *x, int64_t n,
           int32_t **rows);

/* ---- running ------------------------------------------------------------- */

/* Encodes one input: n_rows rows of width, and those for deeper layers, after
 * them in `out`, `stride` values apart. */
enum gg_status
media_run(struct media_encoder *e, const struct gg_piece *piece,
          struct media_size kept, const uint8_t *rgb, const float *mel,
          float *out, size_t stride, struct gg_error *err);

#endif
