/* gg-media.h - images and sounds, and the rows that a model takes for them
 *
 *     gg_media_decode(bytes, size, &limits, &medium, &err);
 *     gg_projector_open("mmproj.gguf", &params, &projector, &err);
 *     gg_projector_plan(projector, medium, &plan, &err);
 *     gg_projector_encode(projector, plan, &rows, &err);
 *     gg_session_add_rows(session, &rows->medium, &first, &err);
 *
 * A program that holds a model decodes nothing: it lets another process decode,
 * and checks by gg_decoded_check() the result that it gets.
 *
 * As in gg.h, every function that can fail returns enum gg_status and sets its
 * results on success only. One thread at a time a handle.
 */
#ifndef GG_MEDIA_H
#define GG_MEDIA_H

#include "gg.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Decoding ------------------------------------------------------------ */

enum gg_media_kind {
    GG_MEDIA_IMAGE = 0,
    GG_MEDIA_SOUND = 1,
};

/* An image as 8-bit RGB, or a sound as one channel of samples. */
struct gg_decoded {
    enum gg_media_kind kind;
    /* SHA-256 of the kind, the sizes and the pixels or samples: equal content
     * has equal hashes, whatever the format of its file. */
    uint8_t hash[GG_MEDIUM_HASH];
    uint32_t width, height; /* image: in pixels, upright */
    uint8_t *rgb;           /* width * height * 3, rows from the top */
    uint32_t rate;          /* sound: samples a second */
    size_t n_samples;
    float *samples; /* -1 to 1 */
};

/* Bounds that hold before memory is allocated; 0 is the default, in brackets.
 */
struct gg_decode_limits {
    uint64_t pixels;   /* [2^26] */
    uint64_t samples;  /* after mixing and resampling [16,000 * 3,600 * 4] */
    uint32_t rate;     /* wanted of sounds [16,000] */
    uint32_t raw_rate; /* 0: the bytes are a file. Else they are samples of that
                          rate, 16 bits each, little-endian, one channel */
    uintptr_t reserved[4];
};

/* Decodes PNG, JPEG, WebP (turned upright by EXIF, alpha over white), PPM;
 * WAV, FLAC, Ogg, MP3 (mixed to one channel, resampled). GG_ERR_UNSUPPORTED:
 * another format, or one whose library this build lacks; the sentence names a
 * command that converts it. GG_ERR_FORMAT: damaged. GG_ERR_NOMEM: larger than
 * the limits.
 */
GG_API GG_MUST_CHECK enum gg_status
gg_media_decode(const void *bytes, size_t size,
                const struct gg_decode_limits *limits, struct gg_decoded **out,
                struct gg_error *err);

/* Names of the formats that gg_media_decode() reads here: "PPM, WAV, PNG, ...".
 * Loads the module with the decoders, as a process does before it confines
 * itself. A static string. */
GG_API const char *
gg_media_formats(void);

/* Memory for a medium that another process decodes: the kind and the sizes of
 * `sizes`, whose pointers do not count, all values 0. GG_ERR_NOMEM: larger than
 * the limits, which are the defaults if NULL. */
GG_API GG_MUST_CHECK enum gg_status
gg_decoded_new(const struct gg_decoded *sizes,
               const struct gg_decode_limits *limits, struct gg_decoded **out,
               struct gg_error *err);

/* Checks sizes and values that another process gave, and computes the hash
 * anew. GG_ERR_FORMAT: they contradict each other, or a sample is no number. */
GG_API GG_MUST_CHECK enum gg_status
gg_decoded_check(struct gg_decoded *medium, struct gg_error *err);

GG_API void
gg_decoded_free(struct gg_decoded *medium);

/* ---- Projectors ---------------------------------------------------------- */

struct gg_projector;

struct gg_projector_params {
    const char *device; /* as gg_session_params [the CPU] */
    int32_t n_threads;  /* [as sessions have] */
    int32_t min_tokens; /* rows of an image, at least [as its maker says] */
    int32_t max_tokens; /* and at most */
    uintptr_t reserved[4];
};

/* Opens a projector file (GGUF, general.architecture "clip").
 * GG_ERR_UNSUPPORTED: a type that is not known, by name. GG_ERR_FORMAT: a key
 * or a tensor that the type lacks or does not define, by name. */
GG_API GG_MUST_CHECK enum gg_status
gg_projector_open(const char *path, const struct gg_projector_params *params,
                  struct gg_projector **out, struct gg_error *err);
GG_API void
gg_projector_free(struct gg_projector *projector);

/* "gemma3", "qwen3vl_merger", ...; where a file has two encoders, that of the
 * kind. NULL: the projector has none for this kind. */
GG_API const char *
gg_projector_type(const struct gg_projector *projector,
                  enum gg_media_kind kind);
/* Whether a medium becomes one vector of length 1 to compare with those of
 * texts, as CLIP and SigLIP make them, and no rows for a model. */
GG_API bool
gg_projector_embeds(const struct gg_projector *projector);
/* Values of a row, and rows for deeper layers: struct gg_medium. */
GG_API size_t
gg_projector_width(const struct gg_projector *projector);
GG_API size_t
gg_projector_n_deeper(const struct gg_projector *projector);
/* SHA-256 of the file. */
GG_API void
gg_projector_hash(const struct gg_projector *projector,
                  uint8_t hash[GG_MEDIUM_HASH]);

/* Whether a tensor of a projector file, of that shape, may be made of blocks:
 * a matrix that rows are multiplied with. Filters of convolutions, positions,
 * norms and biases stay as they are. */
GG_API bool
gg_projector_quantizes(const char *tensor, const int64_t ne[4]);

enum gg_piece_kind {
    GG_PIECE_MARKER = 0, /* one control token, by its text */
    GG_PIECE_TEXT = 1,   /* text between markers, as "\n" */
    GG_PIECE_ROWS = 2,   /* a run of rows */
    /* As text the number of the medium among those of its kind before it in
     * the prompt, from 0; `text` is that of the first. */
    GG_PIECE_ORDINAL = 3,
};

/* A medium in a prompt is a sequence of pieces. */
struct gg_piece {
    enum gg_piece_kind kind;
    const char *text;       /* marker or text; NUL-ended; else NULL */
    size_t first, n;        /* rows of the medium */
    int32_t n_positions;    /* that the run takes */
    uint32_t width, height; /* input of the encoder, pixels; of sound: frames
                               and values of each */
    bool block;             /* rows of the run see each other */
};

/* A plan tells what encoding will give, before anything is computed. */
struct gg_media_plan {
    enum gg_media_kind kind;
    uint8_t hash[GG_MEDIUM_HASH];
    const struct gg_piece *pieces;
    size_t n_pieces;
    size_t n_rows;
    int32_t n_positions;
};

/* The plan lives until gg_media_plan_free() and keeps of the medium what it
 * needs. GG_ERR_UNSUPPORTED: the projector has no encoder for the kind. */
GG_API GG_MUST_CHECK enum gg_status
gg_projector_plan(struct gg_projector *projector,
                  const struct gg_decoded *medium, struct gg_media_plan **out,
                  struct gg_error *err);
GG_API void
gg_media_plan_free(struct gg_media_plan *plan);

/* Input of the encoder for the run of rows that is piece i: 8-bit RGB of
 * pieces[i].width x height before mean and deviation, or the mel spectrogram,
 * height values a frame for width frames ([height][width]). Exactly one of the
 * two is set. Lives as long as the plan. */
GG_API GG_MUST_CHECK enum gg_status
gg_media_plan_input(struct gg_media_plan *plan, size_t i, const uint8_t **rgb,
                    const float **mel, struct gg_error *err);

/* Bytes that encoding takes. */
struct gg_projector_memory {
    uint64_t weights; /* of all encoders */
    uint64_t compute; /* buffers and inputs of the largest run of rows */
    uint64_t rows;    /* of what comes out */
    uintptr_t reserved[4];
};

/* Computes nothing. plan NULL: weights alone. */
GG_API GG_MUST_CHECK enum gg_status
gg_projector_memory(struct gg_projector *projector, struct gg_media_plan *plan,
                    struct gg_projector_memory *out, struct gg_error *err);

/* Rows of a medium and the text around them. */
struct gg_media_rows {
    enum gg_media_kind kind;
    const struct gg_piece *pieces;
    size_t n_pieces;
    struct gg_medium medium; /* as gg_session_add_rows() takes it */
};

GG_API GG_MUST_CHECK enum gg_status
gg_projector_encode(struct gg_projector *projector, struct gg_media_plan *plan,
                    struct gg_media_rows **out, struct gg_error *err);
GG_API void
gg_media_rows_free(struct gg_media_rows *rows);

#ifdef __cplusplus
}
#endif

#endif
