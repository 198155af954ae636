/* projector.h - folders of models that see or hear, as projector files
 *
 * A folder of Hugging Face's has the encoders of images and sounds next to the
 * model of text. gg-convert --mmproj makes a projector file (mmproj) of them,
 * which lib/media reads; names and keys are those that llama.cpp's
 * convert_hf_to_gguf.py --mmproj writes (gguf-py's tables of tensors and keys).
 *
 * projectors/NAME.c has convert_hf_projector_NAME, rows of encoders, ended by
 * one without a type. Its line in convert/Makefile.inc declares it. A folder
 * has all encoders of its class whose configuration is there: one of images,
 * one of sounds, or both.
 *
 * A row is a struct hf_family, whose `arch` is the prefix of its keys, with
 * what projectors have besides:
 *   .layers, .layer    where layers are, and lists of a layer's tensors, which
 *                      get "v.blk.N." or "a.blk.N." in front;
 *   .whole             all others, by complete names;
 *   .keys              special keys; it may change numbers of h, which are set
 *                      after it;
 *   .activations       those that the graph has;
 *   .epsilon           unless the configuration names one.
 * Names are the longest that there are: `parts` lists what some versions of
 * transformers leave out of them ("model.", "vision_model.").
 *
 * To add one: the file, its line, a case in tests/fixtures/golden_projectors.py
 * (which writes tests/fixtures/projector_cases/NAME.case; tests/convert/
 * test_projector_folders.c finds it there). */
#ifndef CONVERT_HF_PROJECTOR_H
#define CONVERT_HF_PROJECTOR_H

#include "convert/hf/families.h"

/* Defaults of the library, where a configuration has none; 0: no default. */
struct hf_projector_numbers {
    int32_t n_embd, n_ff, n_layer, n_head, image_size, patch_size;
};

struct hf_projector {
    const char *type;         /* clip.projector_type */
    const char *config;       /* its part of config.json: "vision_config" */
    const char *use;          /* key of the activation, "use_gelu"; or NULL */
    const char *const *parts; /* ended by NULL; or NULL */
    struct hf_family names;
    void (*tensors)(struct hf *h); /* adds those that no list names; or NULL */
    const char *model_type;        /* that this part has; NULL: any */
    const char *width; /* a matrix whose rows are the model's values; NULL: its
                          configuration says how many */
    const struct hf_projector_numbers *others; /* or NULL */
};

/* The arch of a row. */
#define HF_VISION "clip.vision"
#define HF_AUDIO  "clip.audio"

/* Adds keys and tensors of all encoders to a model in the making, whose
 * configuration is read. */
void
convert_hf_read_projector(struct hf *h);

/* ---- for .keys ----------------------------------------------------------- */

/* Sets clip.vision.KEY from the first of `names` that the encoder's
 * configuration has; below 0, `other` is no value. */
void
convert_hf_copy_u32(struct hf *h, const char *key, const char *names,
                    int64_t max, int64_t other);
/* Fails where the number of h->config or h->input is there, and another one. */
void
convert_hf_fix_number(struct hf *h, struct core_json_keys *in, const char *name,
                      double value);
/* Bounds of an image's pixels, which min_pixels and max_pixels, or the edges of
 * `size`, give as squares of sides: image_min_pixels, image_max_pixels. */
void
convert_hf_set_pixel_bounds(struct hf *h);

/* ---- require.c -------------------------------------------------------------
 */

/* A setting of h->config, h->top or h->input must have, or default to, one
 * value. */
void
convert_hf_require_int(struct core_json_keys *k, const char *name,
                       int64_t value);
void
convert_hf_require_text(struct core_json_keys *k, const char *name,
                        const char *value);
void
convert_hf_require_bool(struct core_json_keys *k, const char *name, bool value,
                        bool other);
/* A number, or a list of two that are the same. */
int64_t
convert_hf_side(struct core_json_keys *k, const char *name, int64_t max,
                int64_t other);
/* h->input's OBJECT.longest_edge. */
int64_t
convert_hf_input_edge(struct hf *h, const char *object, int64_t max,
                      int64_t other);

/* ---- for .tensors ---------------------------------------------------------
 */

/* token_row.c: the row of an added token in the table of embeddings. */
void
convert_hf_take_token_row(struct hf *h, const char *text, const char *to);

/* Layers of SigLIP. */
extern const struct hf_name convert_hf_siglip[];

#endif
