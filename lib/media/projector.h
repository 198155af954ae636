/* projector.h - encoders of images and sounds: what a projector file holds
 *
 * A file has an encoder of images, one of sounds, or both. Its type is a row of
 * the table that projectors/Makefile.inc lists; a type says which keys and
 * tensors it has, how large an image becomes, and what is computed of it.
 *
 * Patches are the squares that an encoder cuts an image into. They stand in an
 * order of the encoder's choice, mostly so that those which become one row are
 * neighbours: what is computed of each knows its place, and not its neighbours.
 */
#ifndef MEDIA_PROJECTOR_H
#define MEDIA_PROJECTOR_H

#include <gg-media.h>

#include "core/file.h"
#include "graph/arch.h"
#include "media/image.h"
#include "session/compute.h"

struct media_graph;
struct media_planner;

enum {
    MEDIA_KINDS = 2,
    MEDIA_CHANNELS = 3,
    MEDIA_MAX_SIDE = 1 << 14,    /* of an encoder's input, in pixels */
    MEDIA_MAX_PATCHES = 1 << 18, /* of an input */
    MEDIA_MAX_DEEPER = 64,
    MEDIA_MAX_FEATURES = 8,
    MEDIA_MAX_GRIDS = 64,
    MEDIA_LINEARS = 8,
    MEDIA_NORMS = 4,
};

struct media_grid {
    int32_t nx, ny;
};

/* Every number is bounded, so that products of two of them fit 64 bits. */
struct media_hparams {
    int32_t image_size; /* pixels of a side, where that is fixed */
    int32_t patch;      /* pixels of a patch's side */
    int32_t merge;      /* patches of a side that become one row */
    int32_t width;      /* values of a row */
    float mean[MEDIA_CHANNELS], std[MEDIA_CHANNELS];
    int32_t min_rows, max_rows; /* of an image whose size is not fixed; 0: no
                                   such bound */
    int32_t longest;            /* side, in pixels; 0: any */
    int32_t min_tiles, max_tiles;
    int32_t max_side;         /* of an image, in tiles; 0: any */
    int32_t window_period;    /* the last of every N layers sees all patches; 0:
                                 all do */
    int32_t n_mel;            /* values of a frame */
    int32_t stack;            /* frames that become one row */
    int32_t n_query;          /* rows that a resampler gives */
    int32_t version;          /* of a type that has several */
    int32_t merge_layer;      /* the last one before patches are merged */
    enum media_filter filter; /* of a type whose files say it */
    int32_t n_deeper;         /* rows for deeper layers of the model */
    bool deepens[MODEL_MAX_LAYERS];       /* this layer gives such */
    int32_t features[MEDIA_MAX_FEATURES]; /* layers whose vectors are used */
    int32_t n_features;
    struct media_grid grids[MEDIA_MAX_GRIDS]; /* of tiles that there may be */
    int32_t n_grids;
};

/* Weights of a layer that model_layer has no member for. */
struct media_layer {
    struct ggml_tensor *attn_scale, *ffn_scale; /* n_embd each; or NULL */
    struct model_norm deep_norm;
    struct model_linear deep_up, deep_down;
};

/* A table of the file as floats, n rows. */
struct media_table {
    float *x;
    int64_t width, n;
};

struct media_encoder {
    const struct media_type *type;
    struct media_hparams hp;
    struct model *model; /* its numbers, its layers, where its weights are */
    struct media_layer *layers;
    struct media_table positions;
    struct ggml_tensor *patch, *patch_2, *patch_bias;
    struct ggml_tensor *class_embd, *row_break;
    struct model_norm pre_norm, post_norm; /* before and after the layers */
    struct model_norm norms[MEDIA_NORMS];  /* of the projector */
    struct model_linear linears[MEDIA_LINEARS];
    struct ggml_tensor *filters[3], *filter_bias[3]; /* of convolutions */
    struct ggml_tensor *std_bias, *std_scale, *query;
    float (*bounds)[4]; /* of linear maps: struct model_linear */
    size_t n_bounds;
    void *own; /* of the type's file alone, one piece of memory; or NULL */
    struct compute compute;
};

struct gg_projector {
    struct gguf_file file;
    int32_t min_rows, max_rows; /* that the user asks for; 0: the maker's */
    struct media_encoder *encoders[MEDIA_KINDS]; /* or NULL */
};

/* ---- loading ------------------------------------------------------------- */

/* The first failure sticks, in l.status. */
struct media_loader {
    struct media_encoder *e;
    struct model_loader l;
    struct model_keys keys; /* of "clip.vision" or "clip.audio" */
};

/* A type of projector. */
struct media_type {
    const char *name; /* clip.projector_type */
    enum gg_media_kind kind;
    bool sections; /* positions of rows are those of M-RoPE */
    bool flat;     /* without layers, whose numbers are 0 */
    /* Its rows are the width, where old converters wrote another as
     * projection_dim; NULL: they wrote that. */
    const char *last;
    bool no_length; /* feed_forward_length may be 0, as they wrote it */
    bool embeds;    /* a medium becomes one row, of length 1 */
    /* Keys of its own, after "clip.vision." or "clip.audio.", or, with a dot in
     * front, after "clip"; ended by NULL. Those that all have are known. */
    const char *const *keys;
    /* Reads them; what all have has been read. */
    void (*hparams)(struct media_loader *l);
    /* Finds its tensors. */
    void (*weights)(struct media_loader *l);
    /* Says what a medium becomes: plan.h. */
    void (*plan)(struct media_planner *p);
    /* Records what is computed: rows, width x n. */
    struct ggml_tensor *(*graph)(struct media_graph *m);
};

/* NULL: no type of that name and kind. */
const struct media_type *
media_type_find(const char *name, enum gg_media_kind kind);
/* Name of number i; NULL after the last. */
const char *
media_type_name(size_t i);

/* An integer of clip.KEY, where NAME begins with a dot, or of the encoder's. */
int32_t
media_key_int(struct media_loader *l, const char *name, int32_t min,
              int32_t max, int32_t other);

/* Integers of an array, at most `most`; how many there are. */
int
media_key_ints(struct media_loader *l, const char *name, int32_t min,
               int32_t max, int32_t *out, int most);
/* The number of an array of one. */
int32_t
media_key_only(struct media_loader *l, const char *name, int32_t min,
               int32_t max);

/* Reads what all encoders of the kind have. */
void
media_read_hparams(struct media_loader *l);
/* "spatial_merge_size" or "projector.scale_factor", 1..16. */
void
media_read_merge(struct media_loader *l, const char *name, int32_t other);
/* Bounds of an image's rows from image_min_pixels and image_max_pixels; without
 * these keys `min` and `max`; below 0: they must be there; min 0: there is no
 * such bound, nor a key. */
void
media_read_bounds(struct media_loader *l, int32_t min, int32_t max);
/* Heads must have a length that `n` divides. */
void
media_check_heads(struct media_loader *l, int32_t n);
/* Fails: a clip.* key that neither all types nor these have. */
enum gg_status
media_check_keys(const struct gguf_context *gguf,
                 struct media_encoder *const encoders[MEDIA_KINDS],
                 struct gg_error *err);

/* Parts of transformer layers that most encoders have, the same in all layers.
 */
enum media_vit_parts {
    MEDIA_FUSED = 1,           /* attn_qkv; else attn_q, attn_k, attn_v */
    MEDIA_GATED = 2,           /* ffn_gate */
    MEDIA_BIASED = 4,          /* linear maps have biases */
    MEDIA_NORM_BIAS = 8,       /* norms have biases */
    MEDIA_LAYER_SCALE = 16,    /* ls1, ls2 */
    MEDIA_HEAD_NORMS = 32,     /* attn_q_norm, attn_k_norm */
    MEDIA_POST_NORMS = 64,     /* attn_post_norm, ffn_post_norm */
    MEDIA_KEY_UNBIASED = 128,  /* attn_k has no bias, though others do */
    MEDIA_WHOLE_NORMS = 512,   /* attn_q_norm, attn_k_norm of all heads */
    MEDIA_QKV_UNBIASED = 1024, /* attn_q, attn_k, attn_v have no biases */
    MEDIA_BOUNDS = 256,        /* linear maps may have .input_min and so on */
};
void
media_find_layers(struct media_loader *l, unsigned parts);
/* Room for the bounds of all linear maps of layers; false: no memory. */
bool
media_room_for_bounds(struct media_loader *l);
/* Finds the bounds of the current layer's map of that name, if the file has
 * some. */
void
media_find_bounds(struct media_loader *l, const char *name,
                  struct model_linear *linear);
/* v.patch_embd.weight, the second for video's frames where `two`, and
 * v.patch_embd.bias where `biased`. */
void
media_find_patches(struct media_loader *l, bool two, bool biased);
/* v.position_embd, n rows, or as many as there are, `tables` of them. */
void
media_find_positions(struct media_loader *l, int64_t n, int64_t tables);

/* Finds positions as a square of them: n_embd x side x side. */
void
media_find_square_positions(struct media_loader *l);

/* Dimension `dim` of a tensor that the file must have. */
int64_t
media_peek(struct media_loader *l, const char *name, int dim);

/* The tensor of that full name counts as found, if the file has it. */
void
media_pass_over(struct media_loader *l, const char *name);

/* Loads all that is there; on failure *e stays NULL. */
enum gg_status
media_encoder_open(const struct gguf_file *file, const struct media_type *type,
                   ggml_backend_dev_t device, int32_t n_threads, bool *taken,
                   struct media_encoder **e, struct gg_error *err);
void
media_encoder_free(struct media_encoder *e); /* takes NULL */

/* gg_projector_open() on a device. */
enum gg_status
media_projector_open(const char *path, const struct gg_projector_params *params,
                     ggml_backend_dev_t device, struct gg_projector **out,
                     struct gg_error *err);

#endif
