/* reranker.c - whether a model says that it scores pairs */
#include <config.h>

#include "common/reranker.h"

#include <gguf.h>
#include <string.h>
#include <strings.h>

#include "common/cli.h"

enum {
    RANK = 4, /* llama.cpp's enum llama_pooling_type */
};

/* The key ARCH.name, or -1. */
static int64_t
find_own(const struct gguf_context *g, const char *name)
{
    int64_t arch = gguf_find_key(g, "general.architecture");
    char key[128];

    if (arch < 0 || gguf_get_kv_type(g, arch) != GGUF_TYPE_STRING)
        return -1;
    snprintf(key, sizeof(key), "%.64s.%s", gguf_get_val_str(g, arch), name);
    return gguf_find_key(g, key);
}

static bool
pools_by_rank(const struct gguf_context *g)
{
    int64_t id = find_own(g, "pooling_type");

    return id >= 0 && ((gguf_get_kv_type(g, id) == GGUF_TYPE_UINT32 &&
                        gguf_get_val_u32(g, id) == RANK) ||
                       (gguf_get_kv_type(g, id) == GGUF_TYPE_INT32 &&
                        gguf_get_val_i32(g, id) == RANK));
}

static bool
is_encoder(const struct gguf_context *g)
{
    int64_t id = find_own(g, "attention.causal");

    return id >= 0 && gguf_get_kv_type(g, id) == GGUF_TYPE_BOOL &&
           !gguf_get_val_bool(g, id);
}

static bool
has_classifier(const struct gguf_context *g)
{
    static const char *const names[] = { "cls.weight", "cls.output.weight" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (gguf_find_tensor(g, names[i]) >= 0)
            return true;
    return false;
}

static bool
is_named(const struct gguf_context *g)
{
    static const char word[] = "rerank";
    int64_t id = gguf_find_key(g, "general.name");
    const char *name;

    if (id < 0 || gguf_get_kv_type(g, id) != GGUF_TYPE_STRING)
        return false;
    for (name = gguf_get_val_str(g, id); *name; name++)
        if (!strncasecmp(name, word, strlen(word)))
            return true;
    return false;
}

enum gg_status
reranker_look(const char *path, bool named, struct gg_error *err)
{
    struct gg_file *file;
    const struct gguf_context *g;
    bool right;
    enum gg_status st = gg_file_open_metadata(path, 0, &file, err);

    if (st != GG_OK)
        return st;
    g = gg_file_gguf(file);
    right = is_encoder(g) || has_classifier(g) || pools_by_rank(g) ||
            gguf_find_key(g, "tokenizer.chat_template.rerank") >= 0 ||
            (named && is_named(g));
    gg_file_close(file);
    if (right)
        return GG_OK;
    return cli_error(
        err, GG_ERR_UNSUPPORTED,
        "%s: no reranker: the file has no classifier, no template "
        "'rerank' and no pooling of type rank; of one that lacks the "
        "key, gg-convert --set ARCHITECTURE.pooling_type=4 says so",
        path);
}

void
reranker_check(const char *path, bool named)
{
    struct gg_error err;

    cli_check(reranker_look(path, named, &err), &err);
}
