/* model.c - from a parsed file to weights where the device wants them */
#include "session/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "graph/arch.h"
#include "graph/mtp.h"
#include "session/move.h"
#include "session/needs.h"
#include "session/offload.h"
#include "session/pipeline.h"
#include "session/place.h"
#include "session/adapters.h"
#include "graph/rope.h"

static enum gg_status
check_same_model(const struct gguf_context *mtp, const struct model *a,
                 const struct model *b, struct gg_error *err)
{
    if (a->arch != b->arch || a->hp.n_embd != b->hp.n_embd ||
        a->hp.n_vocab != b->hp.n_vocab || a->hp.n_layer != b->hp.n_layer)
        return gguf_bad_value(mtp, "general.architecture", err,
                              "MTP layers of another model: %s of %d layers, "
                              "%d values, %d tokens, not %s of %d, %d, %d",
                              b->arch->name, (int)b->hp.n_layer,
                              (int)b->hp.n_embd, (int)b->hp.n_vocab,
                              a->arch->name, (int)a->hp.n_layer,
                              (int)a->hp.n_embd, (int)a->hp.n_vocab);
    return GG_OK;
}

/* MTP layers, and what merges their streams, which the first of them has then.
 */
static const char *
name_after(const char *name, const void *n_layer, char *buf)
{
    int32_t n = *(const int32_t *)n_layer;
    char *end;
    long layer;

    if (strncmp(name, "output_hc_", 10) == 0) {
        snprintf(buf, GGML_MAX_NAME, "blk.%d.%.40s", (int)n, name);
        return buf;
    }
    if (strncmp(name, "blk.", 4) != 0)
        return NULL;
    layer = strtol(name + 4, &end, 10);
    return *end == '.' && layer >= n ? name : NULL;
}

static const char *
name_of_drafter(const char *name, const void *data, char *buf)
{
    (void)data;
    snprintf(buf, GGML_MAX_NAME, DRAFTER_PREFIX "%.48s", name);
    return buf;
}

/* Texts of two files' vocabularies, but for ids that nobody uses. */
static bool
same_token(const struct gguf_array *a, const struct gguf_array *b, size_t i)
{
    return a->strings[i].n == b->strings[i].n &&
           !memcmp(a->strings[i].s, b->strings[i].s, a->strings[i].n);
}

static enum gg_status
check_same_tokens(const struct gguf_context *drafter,
                  const struct gguf_context *of, struct gg_error *err)
{
    static const char key[] = "tokenizer.ggml.tokens";
    struct gguf_array a = { 0 }, b = { 0 };
    enum gg_status st = GG_OK;

    if (gguf_find_key(drafter, key) < 0 || gguf_find_key(of, key) < 0)
        return GG_OK;
    st = gguf_get_array(drafter, key, GGUF_TYPE_STRING, &a, err);
    if (st == GG_OK)
        st = gguf_get_array(of, key, GGUF_TYPE_STRING, &b, err);
    if (st == GG_OK && a.n != b.n)
        return gguf_bad_value(drafter, key, err,
                              "%zu tokens, and the model has %zu", a.n, b.n);
    for (size_t i = 0; st == GG_OK && i < a.n; i++)
        if (!same_token(&a, &b, i))
            return gguf_bad_value(drafter, key, err,
                                  "token %zu is another one than the model's",
                                  i);
    return st;
}

/* A drafter that reads the model's inside. */
static enum gg_status
adopt_drafter(struct gguf_file *file, struct gguf_file *mtp,
              struct gg_error *err)
{
    struct model *m = NULL, *d = NULL;
    enum gg_status st = graph_read_keys(file->gguf, &m, err);

    if (st == GG_OK)
        st = graph_drafter_read(mtp->gguf, m, &d, err);
    if (st == GG_OK)
        st = check_same_tokens(mtp->gguf, file->gguf, err);
    if (st == GG_OK)
        st = gguf_file_take(file, mtp, name_of_drafter, NULL, err);
    graph_drafter_free(d);
    mem_free(m);
    return st;
}

enum gg_status
session_adopt_mtp(struct gguf_file *file, struct gguf_file *mtp,
                  struct gg_error *err)
{
    struct model *a = NULL, *b = NULL;
    enum gg_status st;

    if (graph_is_drafter(mtp->gguf))
        return adopt_drafter(file, mtp, err);
    st = graph_read_keys(file->gguf, &a, err);
    if (st == GG_OK)
        st = graph_read_keys(mtp->gguf, &b, err);
    if (st == GG_OK)
        st = check_same_model(mtp->gguf, a, b, err);
    if (st == GG_OK)
        st = gguf_file_take(file, mtp, name_after, &a->hp.n_layer, err);
    mem_free(a);
    mem_free(b);
    return st;
}

/* A home for each of the devices, without layers. */
static void
start_homes(struct model *m, const struct model_devices *devices)
{
    ggml_backend_dev_t first = devices->list[0];

    m->n_homes = 1;
    if (ggml_backend_dev_type(first) == GGML_BACKEND_DEVICE_TYPE_CPU) {
        m->homes[0].device = first;
        return;
    }
    m->homes[0].device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    for (int i = 0; i < devices->n; i++)
        m->homes[m->n_homes++].device = devices->list[i];
}

/* The number of layers that an option gives is not made less where there is too
 * little memory for them on a device that was named. */
static bool
is_wanted_so(const struct gg_model_params *params, const struct model *m)
{
    return m->named && (params->gpu_layers > 0 || params->n_device_layers > 0);
}

/* Where devices fail, as err says, the others' turn comes. */
static enum gg_status
load_weights(const struct gg_model_params *params, struct model **m,
             struct gg_error *err)
{
    model_home_set failed;
    struct model *from = *m, *other;
    enum gg_status st = session_take_weights(params, NULL, from, &failed, err);

    st = from->pipeline->call->agree(from->pipeline, st, err);
    if (st == GG_OK || !session_can_move(from, st) ||
        (st == GG_ERR_NOMEM && is_wanted_so(params, from)))
        return st;
    failed |= session_find_lost(from);
    if (!failed)
        failed = session_devices_of(from);
    if (session_move_model(from, &failed,
                           session_needs_positions(from, params->n_ctx), &other,
                           NULL) != GG_OK)
        return st;
    session_move_words(from, failed, other, err->message, other->note,
                       sizeof(other->note));
    other->before = from;
    *m = other;
    return GG_OK;
}

/* All but the weights: what it is, and where its layers are to be. */
static enum gg_status
plan_model(const struct gg_model_params *params, struct model *m,
           struct gg_error *err)
{
    const struct gguf_context *gguf = m->file->gguf;
    enum gg_status st = graph_read_model(m, err);

    if (st == GG_OK && params->mtp)
        st = graph_mtp_use(m->files.mtp ? m->files.mtp : gguf, m, err);
    else if (st == GG_OK && params->mtp_if_able)
        m->mtp_if_able = graph_mtp_use(gguf, m, NULL) == GG_OK;
    if (st == GG_OK)
        st = graph_rope_override(&m->hp.rope, params, err);
    if (st == GG_OK && params->pipeline && m->hp.n_drafter > 0)
        st = error_set(err, GG_ERR_UNSUPPORTED,
                       "a drafter that reads the model's inside drafts in one "
                       "process, not in several");
    if (st == GG_OK && params->pipeline)
        st = params->pipeline->call->divide(params->pipeline, m, err);
    return st == GG_OK ? session_offload_layers(params, m, err) : st;
}

enum gg_status
session_load_model(const struct model_files *files,
                   const struct model_devices *devices,
                   const struct gg_model_params *params, struct model **out,
                   struct gg_error *err)
{
    struct model *m = mem_zalloc(sizeof(*m));
    struct gg_error own;
    enum gg_status st;

    err = err ? err : &own;
    if (!m)
        return error_nomem(err);
    m->file = files->file;
    m->files = *files;
    m->pipeline = &session_alone;
    start_homes(m, devices);
    st = plan_model(params, m, err);
    if (st == GG_OK)
        st = load_weights(params, &m, err);
    if (st == GG_OK && !m->pipeline->planned)
        session_spread_over_nodes(m);
    if (st == GG_OK)
        *out = m;
    else
        session_free_model(m);
    return st;
}

uint64_t
session_home_weights(const struct model *m, int home)
{
    struct ggml_context *ctx = m->homes[home].ctx;
    struct ggml_tensor *t = ggml_get_first_tensor(ctx);
    uint64_t n = graph_adapters_size_at(m, home);

    for (; t; t = ggml_get_next_tensor(ctx, t))
        n += ggml_nbytes(t);
    return n;
}
