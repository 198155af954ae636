/* gguf.c - opens the metadata of a GGUF file */
#include <config.h>

#include "common/gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

/* The library's last word is the reason why a file was not opened. */
static void
keep_message(enum ggml_log_level level, const char *text, void *data)
{
    struct gg_error *err = data;

    (void)level;
    snprintf(err->message, sizeof(err->message), "%.*s",
             (int)strcspn(text, "\n"), text);
}

static const struct gguf_init_params without_data = { .no_alloc = true };

static void
begin(struct gg_error *err)
{
    snprintf(err->message, sizeof(err->message), "out of memory");
    ggml_log_set(keep_message, err);
}

struct gguf_context *
gguf_metadata(const char *path, bool shards, struct gg_error *err)
{
    struct gguf_context *ctx;

    begin(err);
    ctx = shards ? gguf_init_from_shards(path)
                 : gguf_init_from_file(path, without_data);
    ggml_log_set(NULL, NULL);
    return ctx;
}

struct gguf_context *
gguf_metadata_of(const void *data, size_t size, struct gg_error *err)
{
    struct gguf_context *ctx;

    begin(err);
    ctx = gguf_init_from_buffer(data, size, without_data);
    ggml_log_set(NULL, NULL);
    return ctx;
}

void
gguf_add_like(struct gguf_context *to, const struct gguf_context *from,
              int64_t tensor, enum ggml_type type, const void *data)
{
    struct ggml_tensor t = { .type = type, .data = (void *)(uintptr_t)data };

    memcpy(t.ne, gguf_get_tensor_ne(from, tensor), sizeof(t.ne));
    snprintf(t.name, sizeof(t.name), "%s", gguf_get_tensor_name(from, tensor));
    gguf_add_tensor(to, &t);
    gguf_check_memory(to);
}

void
gguf_check_memory(const struct gguf_context *gguf)
{
    if (!gguf || gguf_out_of_memory(gguf))
        cli_die("out of memory");
}

void *
gguf_metadata_bytes(const struct gguf_context *gguf, size_t *size)
{
    void *bytes;

    gguf_check_memory(gguf);
    *size = gguf_get_meta_size(gguf);
    bytes = cli_alloc(NULL, *size, 1);
    gguf_get_meta_data(gguf, bytes);
    return bytes;
}

void
gguf_write_metadata(const struct gguf_context *gguf)
{
    size_t size;
    void *bytes = gguf_metadata_bytes(gguf, &size);

    fwrite(bytes, 1, size, stdout);
    free(bytes);
}

void
gguf_write_padding(const struct gguf_context *gguf, int64_t tensor)
{
    size_t align = gguf_get_alignment(gguf);
    size_t size = gguf_get_tensor_size(gguf, tensor);

    for (size_t n = (align - size % align) % align; n > 0; n--)
        putchar(0);
}
