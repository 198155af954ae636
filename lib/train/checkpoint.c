/* checkpoint.c - weights and moments, written to a new file and renamed */
#include "train/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/plant.h"
#include "gguf/reader.h"

enum {
    VERSION = 1,
};

static const char type_name[] = "gg.checkpoint";

struct key {
    const char *name;
    size_t at;
};

#define KEY(field) "gg.train." #field, offsetof(struct train_place, field)

static const struct key keys[] = {
    { KEY(step) },      { KEY(epoch) },       { KEY(row) },
    { KEY(n_targets) }, { KEY(fingerprint) },
};

enum {
    N_KEYS = sizeof(keys) / sizeof(keys[0]),
};

static uint64_t *
field(struct train_place *place, const struct key *key)
{
    return (uint64_t *)((char *)place + key->at);
}

/* Tensors of a parameter that are kept: the weight and its moments; NULL: it
 * has none such. */
static struct ggml_tensor *
kept(const struct train_param *p, int i)
{
    return i == 0 ? p->weight : p->moments[i - 1];
}

static struct gguf_context *
describe(const struct train_params *params, const struct train_place *place)
{
    struct train_place copy = *place;
    struct gguf_context *g = gguf_init_empty();

    if (!g)
        return NULL;
    gguf_set_val_str(g, "general.type", type_name);
    gguf_set_val_u32(g, "gg.train.version", VERSION);
    for (int i = 0; i < N_KEYS; i++)
        gguf_set_val_u64(g, keys[i].name, *field(&copy, &keys[i]));
    for (size_t i = 0; i < params->n; i++)
        for (int k = 0; k <= TRAIN_MOMENTS; k++)
            if (kept(&params->p[i], k))
                gguf_add_tensor(g, kept(&params->p[i], k));
    return g;
}

enum gg_status
train_checkpoint_save(const struct train_params *params,
                      const struct train_place *place, const char *path,
                      struct gg_error *err)
{
    struct gguf_context *g = describe(params, place);
    enum gg_status st = g ? gguf_finish(g, path, err) : error_nomem(err);

    if (st == GG_OK)
        st = gguf_save(g, path, false, err);
    gguf_free(g);
    return st;
}

enum gg_status
train_checkpoint_write(const struct train_params *params,
                       const struct train_place *place, FILE *file,
                       struct gg_error *err)
{
    struct gguf_context *g = describe(params, place);
    enum gg_status st =
        g ? gguf_finish(g, "the checkpoint", err) : error_nomem(err);

    errno = 0;
    if (st == GG_OK && !gguf_write_to_file_ptr(g, file, false))
        st = ferror(file) ? error_set(err, GG_ERR_IO, "%s",
                                      errno ? strerror(errno) : "write error")
                          : error_nomem(err);
    gguf_free(g);
    return st;
}

/* ---- reading ------------------------------------------------------------- */

static enum gg_status
check_kind(const struct gguf_context *g, struct gg_error *err)
{
    struct gguf_str type = { "", 0 };
    uint32_t version = 0;
    enum gg_status st = gguf_opt_str(g, "general.type", &type, err);

    if (st == GG_OK &&
        (type.n != strlen(type_name) || memcmp(type.s, type_name, type.n) != 0))
        return gguf_bad_value(g, "general.type", err,
                              "this is no checkpoint of gg-train");
    if (st == GG_OK)
        st = gguf_get_u32(g, "gg.train.version", &version, err);
    if (st == GG_OK && version != VERSION)
        st = gguf_bad_value(g, "gg.train.version", err, "%u is not %d",
                            (unsigned)version, VERSION);
    return st;
}

static enum gg_status
read_place(const struct gguf_context *g, struct train_place *place,
           struct gg_error *err)
{
    uint64_t fingerprint = place->fingerprint;
    enum gg_status st = check_kind(g, err);

    for (int i = 0; i < N_KEYS && st == GG_OK; i++)
        st = gguf_get_u64(g, keys[i].name, field(place, &keys[i]), err);
    if (st == GG_OK && place->fingerprint != fingerprint)
        st = gguf_bad_value(g, "gg.train.fingerprint", err,
                            "the checkpoint is of another model, other "
                            "sequences or other options");
    return st;
}

static enum gg_status
check_tensor(const struct gguf_context *g, const struct ggml_tensor *to,
             struct gg_error *err)
{
    const struct gguf_tensor *t = gguf_tensor_named(g, to->name);

    if (!t)
        return gguf_bad_value(g, to->name, err, "there is no such tensor");
    if (t->type != GGML_TYPE_F32 || memcmp(t->ne, to->ne, sizeof(t->ne)) != 0)
        return gguf_bad_value(g, to->name, err, "has another type or shape");
    return GG_OK;
}

static void
take_tensor(const struct gguf_context *g, struct ggml_tensor *to)
{
    const struct gguf_tensor *t = gguf_tensor_named(g, to->name);

    memcpy(to->data, t->data, t->size);
}

static enum gg_status
read_tensors(const struct gguf_context *g, struct train_params *params,
             struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < params->n; i++)
            for (int k = 0; k <= TRAIN_MOMENTS && st == GG_OK; k++) {
                struct ggml_tensor *t = kept(&params->p[i], k);

                if (t && pass == 0)
                    st = check_tensor(g, t, err);
                else if (t)
                    take_tensor(g, t);
            }
    return st;
}

enum gg_status
train_checkpoint_load(struct train_params *params, struct train_place *place,
                      const char *path, struct gg_error *err)
{
    struct train_place read = *place;
    struct gguf_file file;
    enum gg_status st = gguf_file_open(path, 0, &file, err);

    if (st != GG_OK)
        return st;
    st = read_place(file.gguf, &read, err);
    gg_plant("checkpoint");
    if (st == GG_OK)
        st = read_tensors(file.gguf, params, err);
    if (st == GG_OK)
        *place = read;
    gguf_file_close(&file);
    return st;
}
