/* output.c - the trained model, or an adapter, as a GGUF file */
#include <errno.h>
#include <string.h>

#include "gguf/adapter.h"
#include "train/train.h"

/* Keys that tell of what the file was before. */
static bool
is_stale(const char *key)
{
    return strncmp(key, "split.", 6) == 0 ||
           strncmp(key, "quantize.", 9) == 0 ||
           strcmp(key, "general.file_type") == 0 ||
           strcmp(key, "general.quantization_version") == 0;
}

static void
copy_keys(struct gguf_context *to, const struct gguf_context *from)
{
    for (int64_t i = 0; i < gguf_get_n_kv(from); i++)
        if (!is_stale(gguf_get_key(from, i)))
            gguf_copy_kv(to, from, i);
    gguf_set_val_u32(to, "general.file_type", 0); /* all F32 */
}

static const struct train_param *
param_named(const struct train_params *params, const char *name)
{
    for (size_t i = 0; i < params->n; i++)
        if (strcmp(params->p[i].weight->name, name) == 0)
            return &params->p[i];
    return NULL;
}

/* In the file's order; what was not trained, as it is. */
static void
add_tensors(struct gguf_context *to, const struct train_run *t)
{
    const struct gguf_context *from = t->model->file->gguf;

    for (int64_t i = 0; i < gguf_get_n_tensors(from); i++) {
        const struct gguf_tensor *g = gguf_tensor(from, i);
        const struct train_param *p = param_named(&t->params, g->name);
        struct ggml_tensor as_is = { .type = g->type, .data = (void *)g->data };

        memcpy(as_is.ne, g->ne, sizeof(as_is.ne));
        ggml_set_name(&as_is, g->name);
        gguf_add_tensor(to, p ? p->weight : &as_is);
    }
}

static void
describe_model(struct gguf_context *g, const struct train_run *t)
{
    copy_keys(g, t->model->file->gguf);
    add_tensors(g, t);
}

static void
describe_adapter(struct gguf_context *g, const struct train_run *t)
{
    gguf_adapter_set_lora(g, t->model->arch->name, (float)t->o.alpha);
    for (size_t i = 0; i < t->params.n; i++)
        gguf_add_tensor(g, t->params.p[i].weight);
}

enum gg_status
train_run_write(const struct train_run *t, FILE *file, struct gg_error *err)
{
    struct gguf_context *g = gguf_init_empty();
    enum gg_status st;

    if (!g)
        return error_nomem(err);
    if (t->o.rank > 0)
        describe_adapter(g, t);
    else
        describe_model(g, t);
    st = gguf_finish(g, "what was trained", err);
    errno = 0;
    if (st == GG_OK && !gguf_write_to_file_ptr(g, file, false))
        st = ferror(file) ? error_set(err, GG_ERR_IO, "%s",
                                      errno ? strerror(errno) : "write error")
                          : error_nomem(err);
    gguf_free(g);
    return st;
}
