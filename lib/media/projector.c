/* projector.c - projector files: which encoders they have */
#include "media/projector.h"

#include <stdio.h>
#include <string.h>

#include "core/escape.h"
#include "core/mem.h"
#include "core/sha256.h"
#include "core/thread.h"

enum {
    MAX_TYPE = 64,
};

static const char *const kind_words[MEDIA_KINDS] = { "vision", "audio" };

/* ---- which types --------------------------------------------------------- */

/* Files of clip.cpp have both towers of CLIP, and name no type. */
static bool
is_old_clip(const struct gguf_context *gguf)
{
    return gguf_find_key(gguf, "clip.projector_type") < 0 &&
           gguf_find_tensor(gguf, "visual_projection.weight") >= 0;
}

/* clip.vision.projector_type, or clip.projector_type, into `name`. */
static enum gg_status
read_type(const struct gguf_context *gguf, int kind, char name[MAX_TYPE],
          struct gg_error *err)
{
    struct gguf_str s = { NULL, 0 };
    char key[MAX_TYPE];
    enum gg_status st;

    snprintf(key, sizeof(key), "clip.%s.projector_type", kind_words[kind]);
    st = gguf_opt_str(gguf, key, &s, err);
    if (st == GG_OK && !s.s && is_old_clip(gguf))
        s = (struct gguf_str){ "clip", 4 };
    if (st == GG_OK && !s.s) {
        snprintf(key, sizeof(key), "clip.projector_type");
        st = gguf_get_str(gguf, key, &s, err);
    }
    if (st != GG_OK)
        return st;
    if (s.n >= MAX_TYPE || memchr(s.s, '\0', s.n))
        return gguf_bad_value(gguf, key, err, "no projector has such a name");
    memcpy(name, s.s, s.n);
    name[s.n] = '\0';
    return GG_OK;
}

static enum gg_status
find_type(const struct gguf_context *gguf, int kind,
          const struct media_type **type, struct gg_error *err)
{
    char name[MAX_TYPE], key[MAX_TYPE];
    enum gg_status st = read_type(gguf, kind, name, err);

    if (st != GG_OK)
        return st;
    *type = media_type_find(name, (enum gg_media_kind)kind);
    if (*type)
        return GG_OK;
    snprintf(key, sizeof(key), "clip.projector_type");
    gguf_bad_value(
        gguf, key, err,
        "%s is not a projector of %s that is known here (gg-encode(1) "
        "lists those that are)",
        name, kind == GG_MEDIA_IMAGE ? "images" : "sounds");
    return GG_ERR_UNSUPPORTED;
}

/* Files from before there was audio may lack the key. */
static enum gg_status
has_kind(const struct gguf_context *gguf, int kind, bool *has,
         struct gg_error *err)
{
    char key[MAX_TYPE];

    *has = false;
    snprintf(key, sizeof(key), "clip.has_%s_encoder", kind_words[kind]);
    return gguf_opt_bool(gguf, key, has, err);
}

/* ---- the file ------------------------------------------------------------ */

static enum gg_status
check_architecture(const struct gguf_context *gguf, struct gg_error *err)
{
    struct gguf_str arch;
    enum gg_status st = gguf_get_str(gguf, "general.architecture", &arch, err);

    if (st != GG_OK || (arch.n == 4 && !memcmp(arch.s, "clip", 4)))
        return st;
    gguf_bad_value(gguf, "general.architecture", err,
                   "no projector (mmproj) of images or sounds, whose "
                   "architecture is clip");
    return GG_ERR_UNSUPPORTED;
}

/* A tensor that no encoder has found. */
static enum gg_status
check_tensors(const struct gguf_context *gguf, const bool *taken,
              struct gg_error *err)
{
    int64_t n = gguf_get_n_tensors(gguf);

    for (int64_t i = 0; i < n; i++)
        if (!taken[i]) {
            gguf_bad_value(gguf, gguf_tensor(gguf, i)->name, err,
                           "projectors of this type have no such tensor");
            return GG_ERR_UNSUPPORTED;
        }
    return GG_OK;
}

static enum gg_status
check_widths(const struct gg_projector *p, struct gg_error *err)
{
    const struct media_encoder *a = p->encoders[0], *b = p->encoders[1];

    if (a && b && a->hp.width != b->hp.width)
        return gguf_bad_value(p->file.gguf, "clip.audio.projection_dim", err,
                              "%d is not that of images, %d", (int)b->hp.width,
                              (int)a->hp.width);
    if (!a && !b)
        return gguf_bad_value(p->file.gguf, "clip.has_vision_encoder", err,
                              "the file has no encoder");
    return GG_OK;
}

static enum gg_status
open_encoders(struct gg_projector *p, ggml_backend_dev_t device,
              int32_t n_threads, bool *taken, struct gg_error *err)
{
    const struct gguf_context *gguf = p->file.gguf;
    enum gg_status st = check_architecture(gguf, err);
    const struct media_type *type;
    bool has;

    for (int i = 0; i < MEDIA_KINDS && st == GG_OK; i++) {
        st = has_kind(gguf, i, &has, err);
        if (st != GG_OK || !has)
            continue;
        st = find_type(gguf, i, &type, err);
        if (st == GG_OK)
            st = media_encoder_open(&p->file, type, device, n_threads, taken,
                                    &p->encoders[i], err);
    }
    if (st == GG_OK)
        st = check_widths(p, err);
    if (st == GG_OK)
        st = media_check_keys(gguf, p->encoders, err);
    return st == GG_OK ? check_tensors(gguf, taken, err) : st;
}

static enum gg_status
load_projector(struct gg_projector *p, ggml_backend_dev_t device,
               int32_t n_threads, struct gg_error *err)
{
    size_t n = (size_t)gguf_get_n_tensors(p->file.gguf);
    bool *taken = mem_array(n + 1, sizeof(*taken));
    enum gg_status st = taken ? open_encoders(p, device, n_threads, taken, err)
                              : error_nomem(err);

    mem_free(taken);
    return st;
}

static enum gg_status
check_params(const struct gg_projector_params *params, struct gg_error *err)
{
    if (params->min_tokens < 0 || params->max_tokens < 0)
        return error_set(err, GG_ERR_ARG, "rows of an image are below 0");
    if (params->max_tokens > 0 && params->min_tokens > params->max_tokens)
        return error_set(err, GG_ERR_ARG,
                         "an image has at least %d rows and at most %d",
                         (int)params->min_tokens, (int)params->max_tokens);
    if (params->n_threads < 0 || params->n_threads > GGML_MAX_N_THREADS)
        return error_set(err, GG_ERR_ARG, "threads: %d is not in 0..%d",
                         (int)params->n_threads, GGML_MAX_N_THREADS);
    return ERROR_RESERVED(params, err);
}

enum gg_status
media_projector_open(const char *path, const struct gg_projector_params *params,
                     ggml_backend_dev_t device, struct gg_projector **out,
                     struct gg_error *err)
{
    enum gg_status st = check_params(params, err);
    struct gg_projector *p;
    int32_t n_threads =
        params->n_threads ? params->n_threads : thread_count_default();

    if (st != GG_OK)
        return st;
    p = mem_zalloc(sizeof(*p));
    if (!p)
        return error_nomem(err);
    p->min_rows = params->min_tokens;
    p->max_rows = params->max_tokens;
    st = gguf_file_open(path, 0, &p->file, err);
    if (st == GG_OK)
        st = load_projector(p, device, n_threads, err);
    if (st == GG_OK)
        *out = p;
    else
        gg_projector_free(p);
    return st;
}

void
gg_projector_free(struct gg_projector *p)
{
    if (!p)
        return;
    for (int i = 0; i < MEDIA_KINDS; i++)
        media_encoder_free(p->encoders[i]);
    gguf_file_close(&p->file);
    mem_free(p);
}

/* ---- what it is ---------------------------------------------------------- */

const char *
gg_projector_type(const struct gg_projector *p, enum gg_media_kind kind)
{
    const struct media_encoder *e =
        kind == GG_MEDIA_IMAGE || kind == GG_MEDIA_SOUND ? p->encoders[kind]
                                                         : NULL;

    return e ? e->type->name : NULL;
}

static const struct media_encoder *
some_encoder(const struct gg_projector *p)
{
    return p->encoders[0] ? p->encoders[0] : p->encoders[1];
}

bool
gg_projector_embeds(const struct gg_projector *p)
{
    return some_encoder(p)->type->embeds;
}

size_t
gg_projector_width(const struct gg_projector *p)
{
    return (size_t)some_encoder(p)->hp.width;
}

size_t
gg_projector_n_deeper(const struct gg_projector *p)
{
    return (size_t)some_encoder(p)->hp.n_deeper;
}

/* All of the file is read for it, which only those pay who ask. */
void
gg_projector_hash(const struct gg_projector *p, uint8_t hash[GG_MEDIUM_HASH])
{
    struct sha256 h;

    sha256_start(&h);
    for (size_t i = 0; i < p->file.n_maps; i++)
        sha256_add(&h, p->file.maps[i].data, p->file.maps[i].size);
    sha256_end(&h, hash);
}
