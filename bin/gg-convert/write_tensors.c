/* write_tensors.c - the data of a model's tensors, as they become */
#include <config.h>

#include <stdio.h>

#include "common/cli.h"
#include "common/gguf.h"
#include "common/quantize/work.h"
#include "gg-convert/convert.h"

/* A tensor that an adapter has changed becomes its type again. */
static void
check_type(const struct gguf_context *to, int64_t i)
{
    enum ggml_type type = gguf_get_tensor_type(to, i);

    if (ggml_quantize_requires_imatrix(type) ||
        (type != GGML_TYPE_F32 && !ggml_get_type_traits(type)->from_float_ref))
        cli_die("%s: what an adapter changes does not become %s: --type says "
                "another type",
                gguf_get_tensor_name(to, i), ggml_type_name(type));
}

void
write_tensor(struct writing *w, int64_t i)
{
    const char *name = gguf_get_tensor_name(w->to, i);
    struct work_change change = { merge_rows, w->merge };
    struct work_sums sums = { 0 };
    bool merged = w->merge && merge_begin(w->merge, i);

    ticker_show_part(&w->ticker, w->done, w->all, name);
    if (merged)
        check_type(w->to, i);
    work_write(w->file, i, w->to, NULL, merged ? &change : NULL, w->n_threads,
               &sums);
    w->done += gguf_get_tensor_size(w->to, i);
    if (!sums.odd)
        return;
    ticker_end(&w->ticker);
    cli_warn("%s: %llu values are not finite", name,
             (unsigned long long)sums.odd);
}

void
write_tensors(struct writing *w, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end && !ferror(stdout); i++) {
        write_tensor(w, i);
        gguf_write_padding(w->to, i);
    }
}
