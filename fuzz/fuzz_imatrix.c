/* fuzz_imatrix.c - importance matrices: a word at most, and weights that make
 * sound blocks of any type */
#include <gg.h>
#include <gguf.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "common/quantize/importance.h"
#include "fixtures/importance_cases.h"
#include "harness/scratch.h"

const char fuzz_name[] = "imatrix";

static const enum ggml_type types[] = {
    GGML_TYPE_Q4_0,    GGML_TYPE_Q4_1,   GGML_TYPE_Q5_0,   GGML_TYPE_Q5_1,
    GGML_TYPE_Q2_K,    GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K,   GGML_TYPE_Q5_K,
    GGML_TYPE_Q6_K,    GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS, GGML_TYPE_IQ3_S,
    GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ2_S,  GGML_TYPE_IQ2_XS, GGML_TYPE_IQ2_XXS,
    GGML_TYPE_IQ1_S,   GGML_TYPE_IQ1_M,
};

enum {
    N_TYPES = sizeof(types) / sizeof(types[0])
};

static struct gguf_context *model;

static void
check(bool right)
{
    if (!right)
        abort();
}

static void
end(void)
{
    gguf_free(model);
    ggml_quantize_free();
}

static void
start(void)
{
    if (model)
        return;
    model = importance_model();
    atexit(end);
}

/* A row like those of models, with one large value. */
static void
quantize(enum ggml_type type, const float *weights)
{
    float x[IMPORTANCE_COLUMNS], y[IMPORTANCE_COLUMNS];
    size_t size = ggml_row_size(type, IMPORTANCE_COLUMNS);
    void *block = malloc(size);

    check(block != NULL);
    for (int i = 0; i < IMPORTANCE_COLUMNS; i++)
        x[i] = 0.05f * sinf((float)i) + (i == 77);
    check(ggml_quantize_chunk(type, x, block, 0, 1, IMPORTANCE_COLUMNS,
                              weights) == size);
    ggml_get_type_traits(type)->to_float(block, y, IMPORTANCE_COLUMNS);
    for (int i = 0; i < IMPORTANCE_COLUMNS; i++)
        check(isfinite(y[i]) && fabsf(y[i]) < 16);
    free(block);
}

static void
use(const struct importance *m, enum ggml_type type)
{
    struct gg_error err = { "" };
    float *weights;
    int32_t n;

    for (int64_t i = 0; i < 2; i++) {
        if (importance_weights(m, model, i, &weights, &err) != GG_OK) {
            check(err.message[0] != '\0');
            continue;
        }
        for (int64_t k = 0; weights && k < (i ? IMPORTANCE_EXPERTS : 1); k++)
            quantize(type, weights + k * IMPORTANCE_COLUMNS);
        free(weights);
    }
    if (importance_count(m, model, &n, &err) == GG_OK) {
        struct gguf_context *to = gguf_init_empty();

        check(to && n > 0);
        importance_describe(m, to, n);
        gguf_free(to);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct importance m;
    struct gg_error err = { "" };
    unsigned sum = 0;

    start();
    fuzz_write(scratch_path(), data, size);
    for (size_t i = 0; i < size; i++)
        sum += data[i];
    if (importance_open(&m, scratch_path(), &err) == GG_OK) {
        use(&m, types[sum % N_TYPES]);
        importance_close(&m);
    } else {
        check(scratch_names(err.message, scratch_path()) && !m.file);
    }
    return 0;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    struct bytes b = { 0 };

    if (i >= n_importance_cases)
        return NULL;
    importance_build(&importance_cases[i], &b);
    *size = b.n;
    return b.data;
}
