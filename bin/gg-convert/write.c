/* write.c - a model of any format becomes a GGUF file, tensor by tensor */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cli.h"
#include "common/files.h"
#include "common/gguf.h"
#include "gg-convert/convert.h"
#include "common/quantize/work.h"

/* ---- what will be written ------------------------------------------------ */

static enum ggml_type *
same_types(const struct gguf_context *from)
{
    int64_t n = gguf_get_n_tensors(from);
    enum ggml_type *types = cli_alloc(NULL, n ? (size_t)n : 1, sizeof(*types));

    for (int64_t i = 0; i < n; i++)
        types[i] = gguf_get_tensor_type(from, i);
    return types;
}

static bool
key_is_text(const struct gguf_context *gguf, const char *key, const char *text)
{
    int64_t id = gguf_find_key(gguf, key);

    return id >= 0 && gguf_get_kv_type(gguf, id) == GGUF_TYPE_STRING &&
           gguf_get_val_str_len(gguf, id) == strlen(text) &&
           !memcmp(gguf_get_val_str(gguf, id), text, strlen(text));
}

static void
warn_of_split(const struct gguf_context *gguf)
{
    if (key_is_text(gguf, "tokenizer.ggml.model", "gpt2") &&
        gguf_find_key(gguf, "tokenizer.ggml.pre") < 0)
        cli_warn("no known split rule is that of the tokenizer: ids can be "
                 "wrong; --set tokenizer.ggml.pre=NAME names the "
                 "nearest one");
}

static struct gguf_context *
new_gguf(const struct gguf_context *from, struct conversion *c)
{
    struct gguf_context *to = gguf_init_empty();
    struct type_choices choices = { 0 };
    struct importance none = { 0 };
    struct plan_counts counts = { 0 };
    enum ggml_type *types =
        c->mixture ? plan_types(from, c->mixture, &choices, &none, &counts)
                   : same_types(from);

    gguf_check_memory(to);
    gguf_set_byte_order(to, c->safetensors ? GGUF_LITTLE_ENDIAN
                                           : (enum gguf_byte_order)c->order);
    if (!c->quiet)
        plan_tell(&counts);
    keys_copy(to, from, &c->changes, true);
    if (c->mixture) {
        gguf_set_val_u32(to, "general.file_type",
                         (uint32_t)c->mixture->file_type);
        gguf_set_val_u32(to, "general.quantization_version", GGML_QNT_VERSION);
    }
    for (int64_t i = 0; i < gguf_get_n_tensors(from); i++) {
        bool plain = c->safetensors && ggml_is_quantized(types[i]);

        gguf_add_like(to, from, i, plain ? GGML_TYPE_F32 : types[i], NULL);
    }
    gguf_check_memory(to); /* a file without tensors has keys, too */
    free(types);
    return to;
}

/* ---- data ---------------------------------------------------------------- */

static void
write_all(struct writing *w, const char *out, const struct conversion *c)
{
    int64_t n = gguf_get_n_tensors(w->to);

    for (int64_t i = 0; i < n; i++)
        w->all += gguf_get_tensor_size(w->to, i);
    ticker_start(&w->ticker, c->quiet);
    if (c->split) {
        write_split(w, out, c->split);
    } else {
        cli_output(out);
        cli_refuse_terminal();
        if (c->safetensors) {
            write_safetensors(w);
        } else {
            gguf_write_metadata(w->to);
            write_tensors(w, 0, n);
        }
    }
    ticker_end(&w->ticker);
}

/* The folder of an adapter may have its model elsewhere. */
static enum gg_status
open_original(const char *in, const struct conversion *c, struct gg_file **out,
              struct gg_error *err)
{
    if (c->mmproj)
        return gg_file_open_projector(in, out, err);
    return c->base && c->adapters.n == 0
               ? gg_file_open_adapter(in, c->base, out, err)
               : gg_file_open(in, out, err);
}

/* PEFT's adapters were made for the model of a folder, if there is one. */
static const char *
base_of(const char *in, const struct conversion *c)
{
    struct stat st;

    if (c->base)
        return c->base;
    return stat(in, &st) == 0 && S_ISDIR(st.st_mode) ? in : NULL;
}

/* The new file has all keys and values of the old one. */
static bool
loses_nothing(const struct conversion *c)
{
    return !c->mixture && !c->safetensors && c->adapters.n == 0;
}

void
write_gguf(const char *in, const char *out, struct conversion *c)
{
    struct gg_file *file;
    struct gguf_context *to;
    struct merge *merge;
    struct gg_error err;

    if (!c->split)
        files_change_if_same(in, out, c->in_place || loses_nothing(c));
    cli_check(open_original(in, c, &file, &err), &err);
    if (gg_file_note(file) && !c->quiet)
        cli_warn("%s: %s", in, gg_file_note(file));
    to = new_gguf(gg_file_gguf(file), c);
    if (!c->safetensors)
        warn_of_split(to);
    merge = merge_open(&c->adapters, base_of(in, c), file);
    write_all(
        &(struct writing){
            .file = file, .to = to, .merge = merge, .n_threads = c->n_threads },
        out, c);
    merge_close(merge);
    gguf_free(to);
    gg_file_close(file);
}
