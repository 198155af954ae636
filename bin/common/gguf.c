/* gguf.c - metadata of GGUF files that are written */
#include <config.h>

#include "common/gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

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
gguf_write_blocks(const struct gguf_context *gguf, enum ggml_type type,
                  const void *data, size_t size)
{
    uint8_t piece[8192];
    size_t most = sizeof(piece) / ggml_type_size(type) * ggml_type_size(type);

    if (gguf_get_byte_order(gguf) == GGUF_MACHINE_ORDER) {
        fwrite(data, 1, size, stdout);
        return;
    }
    for (size_t at = 0, n; at < size && !ferror(stdout); at += n) {
        n = size - at < most ? size - at : most;
        memcpy(piece, (const char *)data + at, n);
        gguf_order_data(gguf, type, piece, n);
        fwrite(piece, 1, n, stdout);
    }
}

void
gguf_write_padding(const struct gguf_context *gguf, int64_t tensor)
{
    size_t align = gguf_get_alignment(gguf);
    size_t size = gguf_get_tensor_size(gguf, tensor);

    for (size_t n = (align - size % align) % align; n > 0; n--)
        putchar(0);
}
