/* target.c - the model that a folder's drafter drafts for */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/target.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "convert/convert.h"
#include "convert/hf/families.h"

void
convert_hf_open_target(struct hf *h, const char *path)
{
    struct gg_error *err = h->here.err;
    struct stat st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        h->here.status = convert_open_folder(path, 0, &h->target, NULL, err);
    else
        h->here.status = gguf_file_open(path, 0, &h->target, err);
}

/* A number of the model's; 0: it has no such key. */
static uint64_t
number_of(struct hf *h, const char *arch, const char *name)
{
    const struct gguf_context *gguf = h->target.gguf;
    uint64_t n = 0;
    char key[160];

    snprintf(key, sizeof(key), "%.64s.%s", arch, name);
    if (gguf_find_key(gguf, key) >= 0 && convert_hf_good(h))
        h->here.status = gguf_get_u64(gguf, key, &n, h->here.err);
    return n;
}

int32_t
convert_hf_target_layers(struct hf *h)
{
    static const char key[] = "general.architecture";
    const struct gguf_context *gguf = h->target.gguf;
    int64_t i = gguf ? gguf_find_key(gguf, key) : -1;
    const char *arch;
    uint64_t n, mtp;

    if (i < 0 || gguf_get_kv_type(gguf, i) != GGUF_TYPE_STRING)
        return 0;
    arch = gguf_get_val_str(gguf, i);
    n = number_of(h, arch, "block_count");
    mtp = number_of(h, arch, "nextn_predict_layers");
    return n <= HF_MAX_CTX && mtp < n ? (int32_t)(n - mtp) : 0;
}

void
convert_hf_take_target_tokens(struct hf *h)
{
    static const char prefix[] = "tokenizer.";
    const struct gguf_context *from = h->target.gguf;

    for (int64_t i = 0; from && i < gguf_get_n_kv(from); i++) {
        const char *key = gguf_get_key(from, i);

        if (strncmp(key, prefix, sizeof(prefix) - 1) == 0 &&
            gguf_find_key(h->gguf, key) < 0)
            gguf_copy_kv(h->gguf, from, i);
    }
}

#endif
