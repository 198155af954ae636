/* work.c - what a token takes of a model: bytes that are read, arithmetic */
#include <config.h>

#include <ggml.h>
#include <gguf.h>
#include <string.h>

#include "gg-bench/bench.h"

static double
read_key(const struct gguf_context *g, const char *name, double otherwise)
{
    int64_t arch = gguf_find_key(g, "general.architecture"), key;
    char full[128];

    if (arch < 0 || gguf_get_kv_type(g, arch) != GGUF_TYPE_STRING)
        return otherwise;
    snprintf(full, sizeof(full), "%s.%s", gguf_get_val_str(g, arch), name);
    key = gguf_find_key(g, full);
    if (key < 0 || gguf_get_kv_type(g, key) != GGUF_TYPE_UINT32)
        return otherwise;
    return gguf_get_val_u32(g, key);
}

/* A token takes some of a mixture's experts. */
static double
used_part(const struct gguf_context *g, const char *name)
{
    double all = read_key(g, "expert_count", 0);

    if (!strstr(name, "_exps.") || all < 1)
        return 1;
    return read_key(g, "expert_used_count", all) / all;
}

/* A table of embeddings is looked up, and where there is no output it is the
 * output as well, which a prompt takes once. */
static void
add_tensor(const struct gguf_context *g, int64_t i, struct bench_work *w,
           double by_type[GGML_TYPE_COUNT])
{
    const char *name = gguf_get_tensor_name(g, i);
    const int64_t *ne = gguf_get_tensor_ne(g, i);
    double part = used_part(g, name),
           bytes = part * (double)gguf_get_tensor_size(g, i),
           n = part * (double)ne[0] * (double)ne[1] * (double)ne[2] *
               (double)ne[3];
    bool table = !strcmp(name, "token_embd.weight"),
         output = table ? gguf_find_tensor(g, "output.weight") < 0
                        : !strcmp(name, "output.weight");

    if ((table && !output) || !strcmp(name, "position_embd.weight") ||
        !strcmp(name, "per_layer_token_embd.weight"))
        return;
    w->bytes += bytes;
    by_type[gguf_get_tensor_type(g, i)] += bytes;
    if (ne[1] * ne[2] * ne[3] > 1)
        *(output ? &w->output_ops : &w->ops) += 2 * n;
}

void
bench_work(const char *path, struct bench_work *work)
{
    double by_type[GGML_TYPE_COUNT] = { 0 };
    const struct gguf_context *g;
    struct gg_file *file;
    struct gg_error err;
    int most = 0;

    *work = (struct bench_work){ 0 };
    cli_check(gg_file_open(path, &file, &err), &err);
    g = gg_file_gguf(file);
    for (int64_t i = 0; i < gguf_get_n_tensors(g); i++)
        add_tensor(g, i, work, by_type);
    for (int i = 0; i < GGML_TYPE_COUNT; i++)
        most = by_type[i] > by_type[most] ? i : most;
    work->type = (enum ggml_type)most;
    gg_file_close(file);
}
