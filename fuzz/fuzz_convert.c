/* fuzz_convert.c - files of older formats: a word at most, and all bytes that
 * a tensor is said to have are there */
#include <gg.h>
#include <gguf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "fixtures/models.h"
#include "fixtures/old.h"
#include "harness/scratch.h"

const char fuzz_name[] = "convert";

static void
check(bool right)
{
    if (!right)
        abort();
}

static char model[SCRATCH_PATH], old[SCRATCH_PATH], tokenizer[SCRATCH_PATH];

static void
make_folder(void)
{
    if (model[0])
        return;
    strcpy(model, scratch_file("model.gguf"));
    strcpy(old, scratch_file("old.bin"));
    strcpy(tokenizer, scratch_file("tokenizer.bin"));
}

static void
touch_all(const struct gg_file *f)
{
    const struct gguf_context *gguf = gg_file_gguf(f);
    unsigned sum = 0;

    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++) {
        const uint8_t *p = gg_file_data(f, i);

        for (size_t k = 0; k < gguf_get_tensor_size(gguf, i); k++)
            sum += p[k];
    }
    if (sum == 1) /* what was summed up must be used */
        putchar('#');
}

/* A file that was opened can be written, and that is a GGUF file. */
static void
write_gguf(const struct gg_file *f)
{
    const struct gguf_context *from = gg_file_gguf(f);
    struct gguf_context *to = gguf_init_empty();
    size_t size;
    void *bytes;
    struct gguf_context *back;
    struct gguf_init_params params = { .no_alloc = true };

    check(to != NULL);
    gguf_set_kv(to, from);
    size = gguf_get_meta_size(to);
    bytes = malloc(size);
    check(bytes != NULL);
    gguf_get_meta_data(to, bytes);
    back = gguf_init_from_buffer(bytes, size, params);
    check(back && gguf_get_n_kv(back) == gguf_get_n_kv(from));
    gguf_free(back);
    gguf_free(to);
    free(bytes);
}

/* The first byte says whether the rest is a model, or the tokenizer next to the
 * model of the corpus. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gg_vocab *v = NULL;
    struct gg_file *f = NULL;
    struct gg_error err;

    make_folder();
    if (size < 2)
        return 0;
    fuzz_write(data[0] % 4 == 3 ? tokenizer : old, data + 1, size - 1);
    if (gg_file_open(old, &f, &err) == GG_OK) {
        touch_all(f);
        write_gguf(f);
    }
    if (gg_vocab_open(old, &v, &err) == GG_OK)
        gg_vocab_free(v);
    gg_file_close(f);
    return 0;
}

static const struct {
    const char *format;
    struct model_spec spec;
} specs[] = {
    { "ggml-0",
      { "gpt2", GGML_TYPE_Q4_1, .n_embd = 32, .n_layer = 1, .n_head = 2,
        .n_ff = 32, .n_ctx = 2 } },
    { "ggml", { "llama", .n_embd = 4, .n_layer = 1, .n_head = 2, .n_ff = 4 } },
    { "ggjt-1",
      { "llama", GGML_TYPE_Q5_1, .n_embd = 32, .n_layer = 1, .n_head = 2,
        .n_head_kv = 1, .n_ff = 32 } },
    { "llama2c-0",
      { "llama", .n_embd = 4, .n_layer = 1, .n_head = 2, .n_ff = 4,
        .n_ctx = 4 } },
    { "llama2c-2",
      { "llama", GGML_TYPE_Q8_0, .n_embd = 32, .n_layer = 1, .n_head = 2,
        .n_ff = 32, .n_ctx = 4 } },
};

enum {
    N_SPECS = sizeof(specs) / sizeof(specs[0])
};

/* The bytes of the file after a first one, which says of which kind it is. */
static uint8_t *
input_of(const char *path, uint8_t first, size_t *size)
{
    uint8_t *data = fuzz_file(path, 1, size);

    data[0] = first;
    return data;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    make_folder();
    if (i > N_SPECS)
        return NULL;
    if (i == N_SPECS) /* after llama2.c's last */
        return input_of(tokenizer, 3, size);
    check(models_write(&specs[i].spec, model));
    old_write(specs[i].format, model, model, old);
    return input_of(old, 0, size);
}
