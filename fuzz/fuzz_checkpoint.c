/* fuzz_checkpoint.c - checkpoints of training: whatever a file says, a word at
 * most; from what is accepted a run goes on */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixtures/models.h"
#include "fuzz.h"
#include "gguf/reader.h"
#include "harness/scratch.h"
#include "session/model.h"
#include "train/train.h"

const char fuzz_name[] = "checkpoint";

enum {
    N_VOCAB = 5,
    STEPS = 3,
};

static void
check(bool right)
{
    if (!right)
        abort();
}

/* ---- a run ----------------------------------------------------------------
 */

static struct gguf_file base;
static struct model *model;
static struct train_run *run;
static struct gg_error err;

static void
end(void)
{
    train_run_free(run);
    session_free_model(model);
    gguf_file_close(&base);
}

/* An adapter of rank 1; it serves all inputs. */
static void
start(void)
{
    static const int32_t ids[] = { 0, 1, 2, 3, 4, 3, 2, 1 };
    static const struct gg_model_params plain;
    const struct gg_train_params params = {
        .rank = 1, .n_ctx = 8, .batch = 1, .n_steps = STEPS, .n_threads = 1
    };
    const struct model_spec spec = {
        "llama",   .n_embd = 4, .n_layer = 1,       .n_head = 2,
        .n_ff = 4, .n_ctx = 16, .n_vocab = N_VOCAB, .no_vocab = true
    };
    const char *path = scratch_file("base");
    ggml_backend_dev_t cpu =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);

    if (run)
        return;
    check(models_write(&spec, path));
    check(gguf_file_open(path, GGUF_OPEN_ALL, &base, &err) == GG_OK);
    check(session_load_model(&(struct model_files){ .file = &base },
                             &(struct model_devices){ { cpu }, 1 }, &plain,
                             &model, &err) == GG_OK);
    atexit(end);
    check(train_run_new(model, &params, &run, &err) == GG_OK);
    check(train_run_add(run, GG_TRAIN_SET, ids, NULL, 8, &err) == GG_OK);
    check(train_run_start(run, &err) == GG_OK);
}

/* ---- an input -------------------------------------------------------------
 */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = scratch_path();
    struct gg_train_report report;

    start();
    fuzz_write(path, data, size);
    /* Weights may be such that a gradient is not finite. */
    if (train_run_load(run, path, &err) == GG_OK &&
        run->place.step < (uint64_t)run->n_steps &&
        train_run_step(run, &report, &err) != GG_OK)
        check(strstr(err.message, "not finite") != NULL);
    return 0;
}

/* ---- the corpus: a run's checkpoints, made before any input changes it ------
 */

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    static bool made;
    struct gg_train_report report;
    char name[32];

    if (i >= STEPS)
        return NULL;
    start();
    for (int k = 0; k < STEPS && !made; k++) {
        snprintf(name, sizeof(name), "checkpoint-%d", k);
        check(train_run_save(run, scratch_file(name), &err) == GG_OK);
        check(train_run_step(run, &report, &err) == GG_OK);
    }
    made = true;
    snprintf(name, sizeof(name), "checkpoint-%zu", i);
    return fuzz_file(scratch_file(name), 0, size);
}
