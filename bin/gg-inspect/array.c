/* array.c - a tensor as NumPy's file format, version 1.0
 *
 * The format: numpy.lib.format's documentation. Dimensions are written in
 * NumPy's order, the one whose neighbours lie side by side last. */
#include <config.h>

#include "common/cli.h"
#include "common/npy.h"
#include "gg-inspect/tensor_source.h"

#include <stdlib.h>

enum {
    PIECE = 1 << 18, /* bytes at a time */
};

static void
write_raw(struct inspected *f, int64_t tensor)
{
    char *piece = cli_alloc(NULL, PIECE, 1);
    struct tensor_source from;

    tensor_source_open(&from, f, tensor);
    for (size_t at = 0, n; at < from.size; at += n) {
        n = from.size - at < PIECE ? from.size - at : PIECE;
        tensor_source_read(&from, piece, n, at);
        fwrite(piece, 1, n, stdout);
    }
    tensor_source_close(&from);
    free(piece);
}

static void
write_floats(struct inspected *f, int64_t tensor)
{
    struct values v;

    values_open(&v, f, tensor);
    for (size_t n; (n = values_next(&v));)
        fwrite(v.floats, sizeof(float), n, stdout);
    values_close(&v);
}

int
npy_show(struct inspected *f, const struct inspect_options *o)
{
    int64_t n, *tensors = select_tensors(f, o, &n), tensor = tensors[0];
    enum ggml_type type = gguf_get_tensor_type(f->gguf, tensor);
    const char *raw = npy_type(type);

    free(tensors);
    if (n > 1)
        cli_die("%s: %s: %lld tensors have such a name, and --npy writes one",
                f->path, o->tensor, (long long)n);
    if (!raw && !values_known(type))
        cli_die("%s: values of type %s cannot be read yet", f->path,
                ggml_type_name(type));
    npy_head(stdout, raw ? raw : "<f4", gguf_get_tensor_ne(f->gguf, tensor),
             totals_dims(f->gguf, tensor));
    if (raw)
        write_raw(f, tensor);
    else
        write_floats(f, tensor);
    return EXIT_SUCCESS;
}
