/* safetensors.c - the tensors of a model as a file of safetensors
 *
 * Names and orders stay those of GGUF; what is quantised becomes F32. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/cli.h"
#include "gg-convert/convert.h"

static const struct {
    enum ggml_type type;
    const char *name;
} dtypes[] = {
    { GGML_TYPE_F64, "F64" },   { GGML_TYPE_I64, "I64" },
    { GGML_TYPE_F32, "F32" },   { GGML_TYPE_I32, "I32" },
    { GGML_TYPE_BF16, "BF16" }, { GGML_TYPE_F16, "F16" },
    { GGML_TYPE_I16, "I16" },   { GGML_TYPE_I8, "I8" },
};

enum {
    N_DTYPES = sizeof(dtypes) / sizeof(dtypes[0])
};

/* Calls back with each tensor: long elements first, so that all are aligned. */
typedef void (*tensor_fn)(const struct gguf_context *gguf, int64_t i,
                          const char *dtype, void *data);

static void
each_tensor(const struct gguf_context *gguf, tensor_fn call, void *data)
{
    for (int k = 0; k < N_DTYPES; k++)
        for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++)
            if (gguf_get_tensor_type(gguf, i) == dtypes[k].type)
                call(gguf, i, dtypes[k].name, data);
}

/* ---- the header ---------------------------------------------------------- */

struct header {
    FILE *f;
    size_t at; /* of the next tensor's data */
};

static void
put_name(FILE *f, const char *s)
{
    putc('"', f);
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if ((unsigned char)*s < 0x20)
            fprintf(f, "\\u%04x", (unsigned)*s);
        else
            putc(*s, f);
    putc('"', f);
}

static void
put_entry(const struct gguf_context *gguf, int64_t i, const char *dtype,
          void *data)
{
    const int64_t *ne = gguf_get_tensor_ne(gguf, i);
    struct header *h = data;
    int n = GGML_MAX_DIMS;

    while (n > 1 && ne[n - 1] == 1)
        n--;
    putc(',', h->f);
    put_name(h->f, gguf_get_tensor_name(gguf, i));
    fprintf(h->f, ":{\"dtype\":\"%s\",\"shape\":[", dtype);
    while (n-- > 0)
        fprintf(h->f, "%lld%s", (long long)ne[n], n ? "," : "");
    fprintf(h->f, "],\"data_offsets\":[%zu,", h->at);
    h->at += gguf_get_tensor_size(gguf, i);
    fprintf(h->f, "%zu]}", h->at);
}

static void
write_header(const struct gguf_context *gguf)
{
    struct buffer text = { 0 };
    struct header h = { .f = buffer_stream(&text) };
    uint64_t length;

    fputs("{\"__metadata__\":{\"format\":\"gguf\"}", h.f);
    each_tensor(gguf, put_entry, &h);
    putc('}', h.f);
    fclose(h.f);
    while (text.len % 8)
        buffer_char(&text, ' ');
    length = text.len;
    for (int i = 0; i < 8; i++)
        putchar((int)(length >> 8 * i & 255));
    fwrite(text.p, 1, text.len, stdout);
    buffer_clear(&text);
}

/* ---- data ---------------------------------------------------------------- */

static void
put_data(const struct gguf_context *gguf, int64_t i, const char *dtype,
         void *writing)
{
    (void)gguf;
    (void)dtype;
    if (!ferror(stdout))
        write_tensor(writing, i);
}

void
write_safetensors(struct writing *w)
{
    write_header(w->to);
    each_tensor(w->to, put_data, w);
}
