/* shards.c - the files of a split model become one context */
#include "gguf/shards.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/escape.h"
#include "core/mem.h"

#define KEY_NO      "split.no"
#define KEY_COUNT   "split.count"
#define KEY_TENSORS "split.tensors.count"

enum {
    SUFFIX = 48, /* "-00001-of-00003.gguf" with any numbers */
};

enum gg_status
gguf_get_shards(const struct gguf_context *ctx, struct gguf_shards *out,
                struct gg_error *err)
{
    struct gguf_shards s = { .n_tensors = UINT64_MAX };
    enum gg_status st = gguf_opt_u32(ctx, KEY_COUNT, &s.count, err);

    if (st == GG_OK && s.count > GGUF_MAX_SHARDS)
        st = gguf_bad_value(ctx, KEY_COUNT, err,
                            "%" PRIu32 " files, but %d can be read at most",
                            s.count, GGUF_MAX_SHARDS);
    if (st == GG_OK && s.count <= 1) { /* 0: it was split and merged again */
        *out = (struct gguf_shards){ 0, 1, UINT64_MAX };
        return GG_OK;
    }
    if (st == GG_OK)
        st = gguf_get_u32(ctx, KEY_NO, &s.no, err);
    if (st == GG_OK && s.no >= s.count)
        st = gguf_bad_value(ctx, KEY_NO, err,
                            "%" PRIu32 ", but there are %" PRIu32 " files",
                            s.no, s.count);
    if (st == GG_OK)
        st = gguf_opt_u64(ctx, KEY_TENSORS, &s.n_tensors, err);
    if (st == GG_OK)
        *out = s;
    return st;
}

/* ---- names --------------------------------------------------------------- */

static void
suffix(char buf[SUFFIX], uint32_t no, uint32_t count)
{
    snprintf(buf, SUFFIX, "-%05" PRIu32 "-of-%05" PRIu32 ".gguf", no + 1,
             count);
}

/* Bytes before the suffix; -1 where the path does not end in it. */
static ptrdiff_t
stem(const char *path, const struct gguf_shards *of)
{
    char end[SUFFIX];
    size_t n = strlen(path), m;

    suffix(end, of->no, of->count);
    m = strlen(end);
    return n >= m && memcmp(path + n - m, end, m) == 0 ? (ptrdiff_t)(n - m)
                                                       : -1;
}

char *
gguf_shard_path(const char *first, const struct gguf_shards *of, uint32_t no)
{
    ptrdiff_t n = stem(first, of);
    char *path = n < 0 ? NULL : mem_alloc((size_t)n + SUFFIX);

    if (!path)
        return NULL;
    memcpy(path, first, (size_t)n);
    suffix(path + n, no, of->count);
    return path;
}

/* A link may be called as it likes; then its target has the name. */
static enum gg_status
find_name(const struct gguf_context *ctx, const struct gguf_shards *of,
          char **out, struct gg_error *err)
{
    char *name = ctx->name ? mem_strndup(ctx->name, strlen(ctx->name)) : NULL;

    if (ctx->name && !name)
        return error_nomem(err);
    if (name && stem(name, of) < 0) {
        mem_free(name);
        name = realpath(ctx->name, NULL);
        if (!name && errno == ENOMEM)
            return error_nomem(err);
    }
    if (name && stem(name, of) < 0) {
        mem_free(name);
        name = NULL;
    }
    *out = name;
    return GG_OK;
}

enum gg_status
gguf_find_name(const struct gguf_context *first, const struct gguf_shards *of,
               char **out, struct gg_error *err)
{
    char end[SUFFIX];
    enum gg_status st = find_name(first, of, out, err);

    if (st != GG_OK || *out)
        return st;
    suffix(end, of->no, of->count);
    return gguf_bad_value(first, KEY_COUNT, err,
                          "%" PRIu32 " files, but the name of this one does "
                          "not end in %s",
                          of->count, end);
}

enum gg_status
gguf_check_first(const struct gguf_context *ctx, struct gg_error *err)
{
    struct gguf_shards of;
    enum gg_status st = gguf_get_shards(ctx, &of, err);
    char *name = NULL, *first;

    if (st != GG_OK || of.no == 0)
        return st;
    st = find_name(ctx, &of, &name, err);
    if (st != GG_OK)
        return st;
    first = name ? gguf_shard_path(name, &of, 0) : NULL;
    mem_free(name);
    error_set(err, GG_ERR_UNSUPPORTED,
              "file %" PRIu32 " of %" PRIu32 " of a model: open %s", of.no + 1,
              of.count, first ? first : "the first one");
    mem_free(first);
    return gguf_in_file(ctx, GG_ERR_UNSUPPORTED, err);
}

/* ---- one context of many ------------------------------------------------- */

static enum gg_status
check_same_set(const struct gguf_context *next, uint32_t no,
               const struct gguf_shards *of, struct gg_error *err)
{
    struct gguf_shards s;
    enum gg_status st = gguf_get_shards(next, &s, err);

    if (st != GG_OK)
        return st;
    if (s.count != of->count)
        return gguf_bad_value(next, KEY_COUNT, err,
                              "%" PRIu32 ", but %" PRIu32 " in the first file",
                              s.count, of->count);
    if (s.no != no)
        return gguf_bad_value(next, KEY_NO, err,
                              "is that of file %" PRIu32 ", but the name is "
                              "that of file %" PRIu32,
                              s.no + 1, no + 1);
    if (s.n_tensors != of->n_tensors)
        return gguf_bad_value(next, KEY_TENSORS, err,
                              "not the same number as in the first file");
    return GG_OK;
}

static bool
add_shard(struct gguf_context *ctx, const struct gguf_context *from)
{
    struct gguf_shard s = { .data_offset = from->data_offset };

    if (!mem_grow(&ctx->shards, &ctx->cap_shards, ctx->n_shards + 1, sizeof(s)))
        return false;
    if (from->name && !(s.name = mem_strndup(from->name, strlen(from->name))))
        return false;
    ctx->shards[ctx->n_shards++] = s;
    return true;
}

/* Their place is told before gguf_join_end() gives them other offsets. */
static void
set_places(struct gguf_context *ctx, size_t from)
{
    size_t shard = ctx->n_shards - 1;

    for (size_t i = from; i < ctx->n_tensors; i++) {
        struct gguf_tensor *t = &ctx->tensors[i];

        t->shard = (uint32_t)shard;
        t->place = ctx->shards[shard].data_offset + t->offset;
    }
}

static bool
move_tensors(struct gguf_context *to, struct gguf_context *from)
{
    size_t at = to->n_tensors;

    if (from->n_tensors > INT32_MAX - at ||
        !mem_grow(&to->tensors, &to->cap_tensors, at + from->n_tensors,
                  sizeof(*to->tensors)))
        return false;
    if (from->n_tensors)
        memcpy(to->tensors + at, from->tensors,
               from->n_tensors * sizeof(*to->tensors));
    to->n_tensors += from->n_tensors;
    from->n_tensors = 0; /* the names went, too */
    set_places(to, at);
    return true;
}

/* The first one is a shard, too. */
static bool
begin_shards(struct gguf_context *ctx)
{
    if (ctx->n_shards > 0)
        return true;
    if (!add_shard(ctx, ctx))
        return false;
    set_places(ctx, 0);
    return true;
}

enum gg_status
gguf_join(struct gguf_context *first, struct gguf_context *next, uint32_t no,
          const struct gguf_shards *of, struct gg_error *err)
{
    enum gg_status st = check_same_set(next, no, of, err);

    if (st != GG_OK)
        return st;
    first->indexed = false;
    if (!begin_shards(first))
        return error_nomem(err);
    if (!add_shard(first, next) || !move_tensors(first, next))
        return error_nomem(err);
    return GG_OK;
}

static enum gg_status
twice(const struct gguf_context *ctx, const struct gguf_tensor *t,
      const struct gguf_tensor *u, struct gg_error *err)
{
    char shown[4 * GGML_MAX_NAME];
    const char *name = ctx->shards[u->shard].name;

    escape_bytes(shown, sizeof(shown), u->name, strlen(u->name));
    error_set(err, GG_ERR_FORMAT,
              "%s: the name occurs in file %" PRIu32 ", too", shown,
              t->shard + 1);
    return name ? error_prefix(err, GG_ERR_FORMAT, "%s", name) : GG_ERR_FORMAT;
}

static enum gg_status
index_names(struct gguf_context *ctx, struct gg_error *err)
{
    hash_map_clear(&ctx->names);
    if (!hash_map_init(&ctx->names, ctx->n_tensors))
        return error_nomem(err);
    for (uint32_t i = 0; i < ctx->n_tensors; i++) {
        const struct gguf_tensor *t = &ctx->tensors[i];
        uint32_t at = hash_map_add(&ctx->names, t->name, strlen(t->name), i);

        if (at != i)
            return twice(ctx, &ctx->tensors[at], t, err);
    }
    ctx->indexed = true;
    return GG_OK;
}

/* The sum is that of bytes in memory, but for files without data. */
static enum gg_status
lay_out_shards(struct gguf_context *ctx, struct gg_error *err)
{
    if (gguf_lay_out(ctx))
        return GG_OK;
    return gguf_in_file(ctx, error_set(err, GG_ERR_FORMAT, "too many bytes"),
                        err);
}

enum gg_status
gguf_join_end(struct gguf_context *first, const struct gguf_shards *of,
              struct gg_error *err)
{
    enum gg_status st = index_names(first, err);

    if (st == GG_OK && of->n_tensors != UINT64_MAX &&
        of->n_tensors != first->n_tensors)
        st = gguf_bad_value(first, KEY_TENSORS, err,
                            "%" PRIu64 ", but the files have %zu",
                            of->n_tensors, first->n_tensors);
    return st == GG_OK ? lay_out_shards(first, err) : st;
}

/* ---- some tensors of another file ---------------------------------------- */

static bool
add_shards(struct gguf_context *to, const struct gguf_context *from)
{
    struct gguf_shard s;

    if (from->n_shards == 0)
        return add_shard(to, from);
    for (size_t i = 0; i < from->n_shards; i++) {
        s = from->shards[i];
        if (!mem_grow(&to->shards, &to->cap_shards, to->n_shards + 1,
                      sizeof(s)))
            return false;
        if (s.name && !(s.name = mem_strndup(s.name, strlen(s.name))))
            return false;
        to->shards[to->n_shards++] = s;
    }
    return true;
}

static bool
add_taken(struct gguf_context *to, const struct gguf_context *from,
          const struct gguf_tensor *t, const char *name, uint32_t first)
{
    struct gguf_tensor copy = *t;

    if (!mem_grow(&to->tensors, &to->cap_tensors, to->n_tensors + 1,
                  sizeof(copy)))
        return false;
    copy.name = mem_strndup(name, strlen(name));
    if (!copy.name)
        return false;
    copy.taken = true;
    copy.shard = first + t->shard;
    if (from->n_shards == 0)
        copy.place = from->data_offset + t->offset;
    to->tensors[to->n_tensors++] = copy;
    return true;
}

enum gg_status
gguf_take_tensors(struct gguf_context *to, const struct gguf_context *from,
                  uint32_t first, gguf_take_fn named, const void *data,
                  struct gg_error *err)
{
    char buf[GGML_MAX_NAME];
    enum gg_status st;

    to->indexed = false;
    if (!begin_shards(to) || !add_shards(to, from))
        return error_nomem(err);
    for (size_t i = 0; i < from->n_tensors; i++) {
        const char *name = named(from->tensors[i].name, data, buf);

        if (name && !add_taken(to, from, &from->tensors[i], name, first))
            return error_nomem(err);
    }
    st = index_names(to, err);
    return st == GG_OK ? lay_out_shards(to, err) : st;
}
