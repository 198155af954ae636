/* fuzz_adapter.c - LoRA adapters and control vectors: whatever a file says, a
 * word at most; what fits the model can be evaluated */
#include <gg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixtures/adapters.h"
#include "fixtures/models.h"
#include "fuzz.h"
#include "harness/scratch.h"
#include "session/model.h"
#include "session/session.h"

const char fuzz_name[] = "adapter";

enum {
    N_EMBD = 4,
    N_VOCAB = 5,
    ALIGNMENT = 64,
};

static void
check(bool right)
{
    if (!right)
        abort();
}

/* ---- the model, which is always the same ----------------------------------
 */

static struct gguf_file base;

static void
end(void)
{
    gguf_file_close(&base);
}

static void
start(void)
{
    const struct model_spec spec = {
        "llama",        .n_embd = N_EMBD, .n_layer = 2,    .n_head = 2,
        .n_head_kv = 1, .n_ff = 4,        .n_ctx = 16,     .n_vocab = N_VOCAB,
        .biases = true, .untied = true,   .no_vocab = true
    };
    struct gg_error err;

    if (base.gguf)
        return;
    check(models_write(&spec, scratch_path()));
    check(gguf_file_open(scratch_path(), GGUF_OPEN_ALL, &base, &err) == GG_OK);
    atexit(end);
}

/* ---- an input -------------------------------------------------------------
 */

static void
evaluate(const struct model *m)
{
    static const int32_t ids[] = { 0, 1, 4 };
    struct gg_session_params params = { .n_ctx = 4, .n_threads = 1 };
    float logits[N_VOCAB];
    struct gg_chunk chunk = { .ids = ids, .n = 3, .rows.logits = logits };
    struct gg_session *s = NULL;
    struct gg_error err;

    if (session_new(m, &params, &s, &err) == GG_OK)
        check(gg_session_eval(s, &chunk, 1, &err) == GG_OK);
    gg_session_free(s);
}

static void
load(struct gguf_file *file)
{
    static const struct gg_model_params plain;
    const struct model_adapter_file adapter = { .path = "fuzz",
                                                .file = file,
                                                .scale = 1 };
    const struct model_files files = { .file = &base,
                                       .adapters = &adapter,
                                       .n_adapters = 1 };
    ggml_backend_dev_t cpu =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    struct model *m = NULL;
    struct gg_error err;

    if (session_load_model(&files, &(struct model_devices){ { cpu }, 1 },
                           &plain, &m, &err) == GG_OK)
        evaluate(m);
    session_free_model(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *copy = NULL; /* begins as a mapped file does */
    struct file_map map;
    struct gguf_file file = { .maps = &map, .n_maps = 1 };
    struct gg_error err;

    start();
    check(posix_memalign(&copy, ALIGNMENT, size ? size : 1) == 0);
    if (size)
        memcpy(copy, data, size);
    map = (struct file_map){ .data = copy, .size = size };
    if (gguf_parse(copy, size, "fuzz", &file.gguf, &err) == GG_OK)
        load(&file);
    gguf_free(file.gguf);
    free(copy);
    return 0;
}

/* ---- the corpus -----------------------------------------------------------
 */

static const struct adapter_spec specs[] = {
    { .rank = 1, .alpha = 2 },
    { .rank = 2, .whole = true },
    { .rank = 3, .partly = true, .type = GGML_TYPE_F16 },
};

enum {
    N_SPECS = sizeof(specs) / sizeof(specs[0]),
};

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    const char *path = scratch_file("adapter");

    start();
    if (i > N_SPECS)
        return NULL;
    check(i < N_SPECS
              ? adapters_write(&specs[i], scratch_path(), path)
              : adapters_write_control(scratch_path(), 1, 1, 1, path, NULL));
    return fuzz_file(path, 0, size);
}
