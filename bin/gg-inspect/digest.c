/* digest.c - SHA-256 of tensors, of keys, and of a whole model */
#include <config.h>

#include "common/cli.h"
#include "common/gguf.h"
#include "gg-inspect/digest.h"
#include "gg-inspect/tensor_source.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_NETTLE

#include <nettle/sha2.h>

enum {
    PIECE = 1 << 18, /* bytes at a time */
};

static void
hash_bytes_of(struct sha256_ctx *c, const void *data, size_t size)
{
    sha256_update(c, size, data);
}

/* Digests are of numbers as a little-endian file has them. */
static struct gguf_context *
new_order(void)
{
    struct gguf_context *order = gguf_init_empty();

    gguf_check_memory(order);
    gguf_set_byte_order(order, GGUF_LITTLE_ENDIAN);
    return order;
}

static void
finish_digest(struct sha256_ctx *c, struct digest *d)
{
    unsigned char bytes[SHA256_DIGEST_SIZE];

    sha256_digest(c, sizeof(bytes), bytes);
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(d->hex + 2 * i, 3, "%02x", bytes[i]);
}

void
digests_tensor(struct digests *d, int64_t i)
{
    const struct gguf_context *ctx = d->f->gguf;
    char head[160], shape[96], *piece = cli_alloc(NULL, PIECE, 1);
    enum ggml_type type = gguf_get_tensor_type(ctx, i);
    size_t most;
    struct gguf_context *order = new_order();
    struct sha256_ctx c;
    struct tensor_source from;

    snprintf(head, sizeof(head), "%s %s\n", ggml_type_name(type),
             select_shape(shape, ctx, i));
    sha256_init(&c);
    hash_bytes_of(&c, head, strlen(head));
    tensor_source_open(&from, d->f, i);
    most = tensor_source_whole(&from, PIECE);
    for (size_t at = 0, n; at < from.size; at += n) {
        n = from.size - at < most ? from.size - at : most;
        tensor_source_read(&from, piece, n, at);
        gguf_order_data(order, type, piece, n);
        hash_bytes_of(&c, piece, n);
    }
    tensor_source_close(&from);
    free(piece);
    gguf_free(order);
    finish_digest(&c, &d->tensors[i]);
}

static void
add_strings(struct sha256_ctx *c, const struct gguf_context *ctx, int64_t key)
{
    for (size_t i = 0; i < value_count(ctx, key); i++) {
        size_t len;
        const char *s = value_string(ctx, key, i, &len);
        uint8_t n[8];

        for (int k = 0; k < 8; k++)
            n[k] = (uint8_t)((uint64_t)len >> 8 * k);
        if (gguf_get_kv_type(ctx, key) == GGUF_TYPE_ARRAY)
            hash_bytes_of(c, n, sizeof(n));
        hash_bytes_of(c, s, len);
    }
}

static void
add_numbers(struct sha256_ctx *c, const struct gguf_context *ctx, int64_t key,
            size_t size)
{
    static const enum ggml_type types[] = {
        [1] = GGML_TYPE_I8,
        [2] = GGML_TYPE_I16,
        [4] = GGML_TYPE_I32,
        [8] = GGML_TYPE_I64,
    };
    size_t n = value_count(ctx, key), all = n * size;
    struct gguf_context *order;
    void *copy;

    if (n == 0)
        return;
    order = new_order();
    copy = cli_alloc(NULL, n, size);
    memcpy(copy, value_at(ctx, key, 0), all);
    gguf_order_data(order, types[size], copy, all);
    hash_bytes_of(c, copy, all);
    free(copy);
    gguf_free(order);
}

static void
hash_key(const struct gguf_context *ctx, int64_t key, struct digest *d)
{
    enum gguf_type type = value_element_type(ctx, key);
    char text[48];
    struct sha256_ctx c;

    sha256_init(&c);
    value_type(text, ctx, key);
    hash_bytes_of(&c, text, strlen(text));
    hash_bytes_of(&c, "\n", 1);
    if (type == GGUF_TYPE_STRING)
        add_strings(&c, ctx, key);
    else
        add_numbers(&c, ctx, key, value_size(type));
    finish_digest(&c, d);
}

static int
by_line(const void *a, const void *b)
{
    const struct digest *const *x = a, *const *y = b;
    int order = strcmp((*x)->hex, (*y)->hex);

    return order ? order : strcmp((*x)->name, (*y)->name);
}

/* Hashes the lines of all whose hashes are known. */
static void
hash_lines(const struct digest *each, int64_t n, struct digest *out)
{
    const struct digest **sorted = cli_alloc(NULL, (size_t)n, sizeof(*sorted));
    size_t used = 0;
    struct sha256_ctx c;

    for (int64_t i = 0; i < n; i++)
        if (each[i].hex[0])
            sorted[used++] = &each[i];
    if (used)
        qsort(sorted, used, sizeof(*sorted), by_line);
    sha256_init(&c);
    for (size_t i = 0; i < used; i++) {
        hash_bytes_of(&c, sorted[i]->hex, DIGEST_HEX - 1);
        hash_bytes_of(&c, "  ", 2);
        hash_bytes_of(&c, sorted[i]->name, strlen(sorted[i]->name));
        hash_bytes_of(&c, "\n", 1);
    }
    finish_digest(&c, out);
    free(sorted);
}

static void
need_library(void)
{
}

#else

void
digests_tensor(struct digests *d, int64_t i)
{
    (void)d;
    (void)i;
}

static void
hash_key(const struct gguf_context *ctx, int64_t key, struct digest *d)
{
    (void)ctx;
    (void)key;
    (void)d;
}

static void
hash_lines(const struct digest *each, int64_t n, struct digest *out)
{
    (void)each;
    (void)n;
    (void)out;
}

static void
need_library(void)
{
    cli_die("hashes need the nettle library, and this gg-inspect was built "
            "without it");
}

#endif

static char *
listed(const char *before, const char *name, size_t skip)
{
    size_t len = strlen(before), size = len + 4 * strlen(name) + 1;
    char *out = cli_alloc(NULL, size, 1);

    memcpy(out, before, len);
    gg_escape(out + len, size - len, name + skip, strlen(name + skip));
    return out;
}

static char *
tensor_name(const char *name)
{
    return name[0] == '*' ? listed("\\x2a", name, 1) : listed("", name, 0);
}

void
digests_init(struct digests *d, struct inspected *f)
{
    need_library();
    *d = (struct digests){ .f = f,
                           .n_tensors = gguf_get_n_tensors(f->gguf),
                           .n_keys = gguf_get_n_kv(f->gguf) };
    d->tensors = cli_alloc(NULL, (size_t)d->n_tensors, sizeof(*d->tensors));
    for (int64_t i = 0; i < d->n_tensors; i++)
        d->tensors[i] = (struct digest){
            .name = tensor_name(gguf_get_tensor_name(f->gguf, i))
        };
    d->keys = cli_alloc(NULL, (size_t)d->n_keys, sizeof(*d->keys));
    for (int64_t i = 0; i < d->n_keys; i++)
        d->keys[i] =
            (struct digest){ .name =
                                 listed("*key:", gguf_get_key(f->gguf, i), 0) };
    d->all_tensors.name = listed("*tensors", "", 0);
    d->all_keys.name = listed("*metadata", "", 0);
    d->model.name = listed("*model", "", 0);
}

void
digests_clear(struct digests *d)
{
    for (int64_t i = 0; i < d->n_tensors; i++)
        free(d->tensors[i].name);
    for (int64_t i = 0; i < d->n_keys; i++)
        free(d->keys[i].name);
    free(d->tensors);
    free(d->keys);
    free(d->all_tensors.name);
    free(d->all_keys.name);
    free(d->model.name);
}

void
digests_keys(struct digests *d)
{
    for (int64_t i = 0; i < d->n_keys; i++)
        if (strncmp(gguf_get_key(d->f->gguf, i), "split.", 6) != 0)
            hash_key(d->f->gguf, i, &d->keys[i]);
    hash_lines(d->keys, d->n_keys, &d->all_keys);
}

void
digests_whole(struct digests *d)
{
    struct digest both[2];

    hash_lines(d->tensors, d->n_tensors, &d->all_tensors);
    both[0] = d->all_keys;
    both[1] = d->all_tensors;
    if (both[0].hex[0])
        hash_lines(both, 2, &d->model);
}
