/* folder.c - opens a folder of Hugging Face's as if it were a GGUF file */
#include <config.h>

#include "convert/convert.h"

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "convert/hf/families.h"
#include "convert/hf/layout.h"
#include "convert/hf/packed.h"
#include "convert/hf/peft.h"
#include "convert/hf/projector.h"
#include "convert/hf/target.h"
#include "convert/hf/tokens.h"
#include "core/mem.h"

struct convert_folder {
    struct hf_weights weights;
    struct hf_rows *rows;
    int64_t n;
};

static void
free_rows(struct hf_rows *rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        mem_free(rows[i].from);
        mem_free((void *)(uintptr_t)rows[i].made);
    }
    mem_free(rows);
}

void
convert_hf_add_defaults(struct hf *h)
{
    json_t *object = (json_t *)(uintptr_t)h->config.object, *defaults;

    if (!h->family || !h->family->defaults)
        return;
    defaults = json_loads(h->family->defaults, 0, NULL);
    if (!defaults || json_object_update_missing(object, defaults))
        h->here.status = error_nomem(h->here.err);
    json_decref(defaults);
}

/* The settings of a speculator's layers are in an object, and hold. */
static void
join_layer_settings(struct hf *h)
{
    json_t *object = (json_t *)(uintptr_t)h->config.object;
    const json_t *layer =
        core_json_object_of(&h->config, "transformer_layer_config");

    if (layer && h->family && h->family->drafts &&
        json_object_update(object, (json_t *)(uintptr_t)layer))
        h->here.status = error_nomem(h->here.err);
}

#define QUANTIZED "quantization_config|compression_config"

static void
choose_family(struct hf *h)
{
    const json_t *list = core_json_array_of(&h->config, "architectures");
    const char *name = json_string_value(json_array_get(list, 0));

    if (!name) {
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "architectures: names no model");
        return;
    }
    h->family = convert_hf_family_find(name, &h->config, h->class);
    if (!h->family)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "architectures: '%.60s' is not known here", name);
    h->quantized = core_json_find(&h->config, QUANTIZED);
    if (core_json_object_of(&h->config, "text_config"))
        h->config.object = core_json_find(&h->config, "text_config");
    if (!h->quantized)
        h->quantized = core_json_find(&h->config, QUANTIZED);
    join_layer_settings(h);
    convert_hf_add_defaults(h);
}

/* The type of most matrices, of blocks where there are any, as a number of
 * llama.cpp's enum llama_ftype. */
static void
set_file_type(struct hf *h)
{
    static const struct {
        enum ggml_type type;
        uint32_t number;
    } types[] = {
        { GGML_TYPE_F32, 0 },  { GGML_TYPE_F16, 1 },    { GGML_TYPE_BF16, 32 },
        { GGML_TYPE_Q8_0, 7 }, { GGML_TYPE_Q5_0, 8 },   { GGML_TYPE_Q4_1, 3 },
        { GGML_TYPE_Q4_0, 2 }, { GGML_TYPE_NVFP4, 39 }, { GGML_TYPE_MXFP4, 38 },
    };
    size_t best = 0, n = sizeof(types) / sizeof(types[0]);

    for (int64_t i = 0; i < gguf_get_n_tensors(h->gguf); i++)
        for (size_t k = best + 1; k < n; k++)
            if (gguf_get_tensor_type(h->gguf, i) == types[k].type)
                best = k;
    gguf_set_val_u32(h->gguf, "general.file_type", types[best].number);
}

/* Weights that are quantised already, as the configuration says, or a file of
 * ModelOpt's. */
static void
find_packed(struct hf *h)
{
    char path[4096];
    struct core_json_keys keys = { .path = path, .err = h->config.err };
    const json_t *how;

    if (!h->quantized)
        h->quantized = core_json_find(&h->config, QUANTIZED);
    if (!h->quantized && snprintf(path, sizeof(path), "%s/hf_quant_config.json",
                                  h->path) < (int)sizeof(path)) {
        h->here.status =
            core_json_read(path, false, &h->quant_document, h->here.err);
        keys.object = h->quant_document;
        how = core_json_object_of(&keys, "quantization");
        if (convert_hf_good(h))
            h->here.status = keys.status;
        h->quantized = how;
        if (how && json_object_set_new((json_t *)(uintptr_t)how, "quant_method",
                                       json_string("modelopt")))
            h->here.status = error_nomem(h->here.err);
    }
    if (convert_hf_good(h) && h->quantized)
        convert_hf_find_packed(h, h->quantized);
}

static void
open_target(struct hf *h)
{
    if (!h->family->drafts)
        core_json_bad(&h->here, GG_ERR_ARG,
                      "is neither an adapter nor a drafter of another model");
    else
        convert_hf_open_target(h, h->target_path);
}

static void
read_folder(struct hf *h)
{
    choose_family(h);
    if (convert_hf_good(h) && h->target_path)
        open_target(h);
    if (convert_hf_good(h) && h->weighed)
        find_packed(h);
    if (convert_hf_good(h))
        convert_hf_read_keys(h);
    if (convert_hf_good(h) && h->weighed) {
        convert_hf_add_tensors(h);
        if (convert_hf_good(h))
            set_file_type(h);
    }
    if (convert_hf_good(h) && h->family->drafts)
        convert_hf_take_target_tokens(h);
    else if (convert_hf_good(h))
        convert_hf_read_tokens(h);
}

/* ---- as others see it ---------------------------------------------------- */

static enum gg_status
read_keys_and_tensors(struct hf *h, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (h->weighed)
        st = convert_hf_weights_open(h->path, &h->weights, err);
    if (st != GG_OK)
        return st;
    read_folder(h);
    st = convert_hf_status(h);
    return st == GG_OK ? gguf_finish(h->gguf, h->path, err) : st;
}

static void
read_encoders(struct hf *h)
{
    find_packed(h);
    if (convert_hf_good(h))
        convert_hf_read_projector(h);
    if (convert_hf_good(h))
        set_file_type(h);
}

/* Encoders of pictures and sounds, without the model. */
static enum gg_status
read_projector(struct hf *h, struct gg_error *err)
{
    enum gg_status st = convert_hf_weights_open(h->path, &h->weights, err);

    if (st != GG_OK)
        return st;
    read_encoders(h);
    st = convert_hf_status(h);
    return st == GG_OK ? gguf_finish(h->gguf, h->path, err) : st;
}

static void
make(const struct gguf_context *gguf, const struct hf_rows *rows, int64_t i,
     void *out)
{
    const struct hf_rows *r = &rows[i];

    convert_hf_rows_make(r, 0, r->n_rows * r->n_blocks - r->lacks,
                         gguf_tensor(gguf, i)->type, out);
}

/* All tensors in memory. */
static enum gg_status
make_all(const struct convert_folder *f, struct gguf_file *file,
         struct gg_error *err)
{
    const struct gguf_tensor *last;
    enum gg_status st;

    file->maps = mem_array(1, sizeof(*file->maps));
    if (!file->maps || f->n == 0)
        return error_nomem(err);
    last = gguf_tensor(file->gguf, f->n - 1);
    st = file_map_memory(last->offset + last->size, file->maps, err);
    if (st != GG_OK)
        return st;
    file->n_maps = 1;
    for (int64_t i = 0; i < f->n; i++) {
        const struct gguf_tensor *t = gguf_tensor(file->gguf, i);
        uint8_t *to = (uint8_t *)file->maps->data + t->offset;

        make(file->gguf, f->rows, i, to);
        convert_forget(f, i);
        gguf_set_tensor_data(file->gguf, t->name, to);
    }
    return GG_OK;
}

static enum gg_status
open_config(const char *folder, struct hf *h, char *path, size_t size,
            struct gg_error *err)
{
    enum gg_status st;

    if (snprintf(path, size, "%s/config.json", folder) >= (int)size)
        return error_set(err, GG_ERR_IO, "%s: the name is too long", folder);
    if (access(path, F_OK)) {
        st = error_set(err, GG_ERR_IO, "is a directory, without config.json");
        return error_prefix(err, st, "%s", folder);
    }
    st = core_json_read(path, true, &h->document, err);
    h->config = (struct core_json_keys){ path, h->document, GG_OK, err };
    h->here = (struct core_json_keys){ folder, NULL, GG_OK, err };
    return st;
}

/* The base model's keys, then the adapter's tensors. */
static enum gg_status
read_adapter(struct hf *h, const char *folder, struct gg_error *err)
{
    enum gg_status st;

    choose_family(h);
    if (convert_hf_good(h))
        convert_hf_read_keys(h);
    st = convert_hf_status(h);
    if (st == GG_OK)
        st = convert_hf_peft_read(h, folder, err);
    return st == GG_OK ? gguf_finish(h->gguf, folder, err) : st;
}

struct places {
    const char *path;
    const char *model;  /* where the configuration of a model is, which is
                           `path`, unless that has an adapter */
    const char *target; /* that a drafter is for; or NULL */
};

static enum gg_status
open_folder(const struct places *at, unsigned flags, struct gguf_file *out,
            struct convert_folder **made, struct gg_error *err)
{
    bool all = flags & GGUF_OPEN_ALL, adapter = at->path != at->model;
    bool projector = flags & CONVERT_PROJECTOR;
    struct hf h = { .path = at->model,
                    .target_path = at->target,
                    .weighed = all && !adapter };
    struct convert_folder *f = mem_zalloc(sizeof(*f));
    char config[4096];
    enum gg_status st;

    *out = (struct gguf_file){ 0 };
    h.gguf = gguf_init_empty();
    st = f && h.gguf ? open_config(at->model, &h, config, sizeof(config), err)
                     : error_nomem(err);
    if (st == GG_OK)
        st = adapter     ? read_adapter(&h, at->path, err)
             : projector ? read_projector(&h, err)
                         : read_keys_and_tensors(&h, err);
    json_decref(h.document);
    json_decref(h.input_document);
    json_decref(h.quant_document);
    gguf_file_close(&h.target);
    if (f)
        *f = (struct convert_folder){ h.weights, h.rows,
                                      h.gguf ? gguf_get_n_tensors(h.gguf) : 0 };
    out->gguf = h.gguf;
    if (st == GG_OK) {
        out->note = convert_hf_packed_note(&h);
        st = convert_hf_status(&h);
    }
    if (st == GG_OK && !made && all)
        st = make_all(f, out, err);
    if (st == GG_OK && made) {
        *made = f;
        return GG_OK;
    }
    convert_close_folder(f);
    if (st != GG_OK)
        gguf_file_close(out);
    return st;
}

enum gg_status
convert_open_folder(const char *path, unsigned flags, struct gguf_file *out,
                    struct convert_folder **made, struct gg_error *err)
{
    return !(flags & CONVERT_PROJECTOR) && convert_hf_is_peft(path)
               ? convert_open_adapter(path, NULL, flags, out, made, err)
               : open_folder(&(struct places){ path, path, NULL }, flags, out,
                             made, err);
}

enum gg_status
convert_open_adapter(const char *path, const char *base, unsigned flags,
                     struct gguf_file *out, struct convert_folder **made,
                     struct gg_error *err)
{
    char model[4096];
    struct places at = { path, model, NULL };
    enum gg_status st;

    *out = (struct gguf_file){ 0 };
    if (base && convert_hf_is_model(path))
        return open_folder(&(struct places){ path, path, base }, flags, out,
                           made, err);
    st = convert_hf_peft_base(path, base, model, sizeof(model), err);
    return st == GG_OK ? open_folder(&at, flags, out, made, err) : st;
}

void
convert_close_folder(struct convert_folder *f)
{
    if (!f)
        return;
    convert_hf_weights_close(&f->weights);
    free_rows(f->rows, f->n);
    mem_free(f);
}

void
convert_make(const struct convert_folder *f, const struct gguf_context *gguf,
             int64_t tensor, void *out)
{
    make(gguf, f->rows, tensor, out);
}

void
convert_forget(const struct convert_folder *f, int64_t tensor)
{
    const struct hf_rows *r = &f->rows[tensor];

    for (size_t i = 0; i < r->n_from; i++) {
        const struct hf_packed *p = r->from[i]->packed;

        file_forget(r->from[i]->data, r->from[i]->size);
        if (p)
            file_forget(p->scales->data, p->scales->size);
        if (p && p->zeros)
            file_forget(p->zeros->data, p->zeros->size);
    }
}

#else /* without Jansson */

enum gg_status
convert_open_folder(const char *path, unsigned flags, struct gguf_file *out,
                    struct convert_folder **made, struct gg_error *err)
{
    (void)flags;
    (void)made;
    *out = (struct gguf_file){ 0 };
    error_set(err, GG_ERR_UNSUPPORTED,
              "is a directory; built without Jansson, this program reads none");
    return error_prefix(err, GG_ERR_UNSUPPORTED, "%s", path);
}

enum gg_status
convert_open_adapter(const char *path, const char *base, unsigned flags,
                     struct gguf_file *out, struct convert_folder **made,
                     struct gg_error *err)
{
    (void)base;
    return convert_open_folder(path, flags, out, made, err);
}

void
convert_close_folder(struct convert_folder *f)
{
    (void)f;
}

void
convert_forget(const struct convert_folder *f, int64_t tensor)
{
    (void)f;
    (void)tensor;
}

void
convert_make(const struct convert_folder *f, const struct gguf_context *gguf,
             int64_t tensor, void *out)
{
    (void)f;
    (void)gguf;
    (void)tensor;
    (void)out;
}

#endif
