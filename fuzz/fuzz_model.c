/* fuzz_model.c - models: whatever a file says of itself, a word at most; what
 * is accepted can be evaluated */
#include <gg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "session/model.h"
#include "session/session.h"
#include "fixtures/models.h"
#include "harness/scratch.h"

const char fuzz_name[] = "model";

static void
check(bool right)
{
    if (!right)
        abort();
}

/* Small, so that most bytes of a file say what it is. */
static const struct model_spec specs[] = {
    { "llama", .n_embd = 4, .n_layer = 1, .n_head = 2, .n_head_kv = 1,
      .n_ff = 4, .n_vocab = 5, .n_ctx = 16, .no_vocab = true },
    { "llama", .n_embd = 6, .n_layer = 2, .n_head = 1, .n_ff = 3, .n_vocab = 3,
      .n_ctx = 16, .d_key = 4, .n_rot = 2, .rope_factor = 2, .rope_freqs = true,
      .biases = true, .untied = true, .no_vocab = true },
    { "llama", GGML_TYPE_Q8_0, .n_embd = 32, .n_layer = 1, .n_head = 2,
      .n_ff = 32, .n_vocab = 2, .n_ctx = 8, .no_vocab = true },
    { "llama", .n_embd = 4, .n_layer = 2, .n_head = 1, .n_ff = 4, .n_vocab = 3,
      .n_ctx = 8, .d_key = 32, .no_vocab = true,
      .keys = { { "attention.sliding_window", 'u', 2, NULL } } },
    { "gpt2", .n_embd = 4, .n_layer = 1, .n_head = 2, .n_ff = 4, .n_vocab = 5,
      .n_ctx = 16, .no_vocab = true },
    { "gpt2", GGML_TYPE_F16, .n_embd = 6, .n_layer = 2, .n_head = 2, .n_ff = 5,
      .n_vocab = 3, .n_ctx = 8, .untied = true, .no_vocab = true },
    { "qwen35", .n_embd = 4, .n_layer = 2, .n_head = 2, .n_head_kv = 1,
      .n_ff = 4, .n_vocab = 3, .n_ctx = 8, .ssm = { 2, 2, 4, 2, 1 },
      .recurs = "10", .n_mtp = 1, .no_vocab = true,
      .keys = { { "full_attention_interval", 'u', 2, NULL } } },
    { "mimo2", .n_embd = 4, .n_layer = 1, .n_head = 2, .n_head_kv = 1,
      .n_ff = 4, .n_expert = 2, .n_expert_used = 1, .n_vocab = 3, .n_ctx = 8,
      .n_mtp = 2, .no_vocab = true },
    { "t5", .n_embd = 4, .n_layer = 2, .n_head = 2, .n_ff = 4, .n_vocab = 3,
      .n_ctx = 8, .no_vocab = true,
      .keys = { { "attention.relative_buckets_count", 'u', 8, NULL },
                { "decoder_block_count", 'u', 1, NULL },
                { "decoder_start_token_id", 'u', 1, NULL } } },
};

enum {
    N_SPECS = sizeof(specs) / sizeof(specs[0]),
    ALIGNMENT = 64,
};

/* Drafts with the MTP layers, if there are any, after one id. */
static void
guess(struct gg_session *s, float *logits)
{
    static const int32_t ids[] = { 0, 0 };
    struct model_guess g = { .past = gg_session_length(s, 0),
                             .ids = ids,
                             .logits = logits };
    struct gg_error err;

    if (!session_mtp_can(s, 0, g.past))
        return;
    for (g.n = 1; g.past + g.n <= 3 && g.n <= session_mtp(s); g.n++)
        check(session_mtp_guess(s, &g, 1, &err) == GG_OK);
}

/* Heads may be no whole blocks of the type. */
static void
evaluate(const struct model *m, enum gg_cache_type type)
{
    const int32_t other = m->hp.n_vocab > 1, ids[] = { 0, other, other };
    bool decodes = m->hp.n_encoder > 0;
    struct gg_session_params params = {
        .n_ctx = 3, .n_threads = 1, .n_encoder_ids = decodes, .cache_type = type
    };
    float *logits = malloc((size_t)m->hp.n_vocab * sizeof(*logits));
    struct gg_chunk chunk = { .ids = ids,
                              .n = m->hp.n_vocab > 1 || decodes ? 3 : 1,
                              .rows.logits = logits };
    struct gg_session *s = NULL;
    struct gg_memory homes[MODEL_MAX_HOMES];
    struct gg_error err;

    check(logits != NULL);
    if (session_new(m, &params, &s, &err) == GG_OK) {
        check(session_memory_at(m, &params, homes, &err) == GG_OK);
        check(gg_session_eval(s, &chunk, 1, &err) == GG_OK);
        gg_session_truncate(s, 0, 1);
        chunk.n = 1;
        check(gg_session_eval(s, &chunk, 1, &err) == GG_OK);
        guess(s, logits);
    }
    gg_session_free(s);
    free(logits);
}

static void
load(void *data, size_t size, bool mtp)
{
    const struct gg_model_params params = { .mtp = mtp };
    struct file_map map = { .data = data, .size = size };
    struct gguf_file file = { .maps = &map, .n_maps = 1 };
    struct model_files files = { .file = &file };
    struct model *m = NULL;
    struct gg_error err;
    ggml_backend_dev_t cpu =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);

    if (gguf_parse(data, size, "fuzz", &file.gguf, &err) == GG_OK &&
        session_load_model(&files, &(struct model_devices){ { cpu }, 1 },
                           &params, &m, &err) == GG_OK)
        for (int i = 0; i < 2; i++)
            evaluate(m, i ? GG_CACHE_Q8_0 : GG_CACHE_F32);
    session_free_model(m);
    gguf_free(file.gguf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *copy = NULL; /* begins as a mapped file does */

    check(posix_memalign(&copy, ALIGNMENT, size ? size : 1) == 0);
    if (size)
        memcpy(copy, data, size);
    load(copy, size, false);
    load(copy, size, true);
    free(copy);
    return 0;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    if (i >= N_SPECS)
        return NULL;
    check(models_write(&specs[i], scratch_path()));
    return fuzz_file(scratch_path(), 0, size);
}
