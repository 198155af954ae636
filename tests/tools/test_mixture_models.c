/* test_mixture_models.c - types of tensors where their place counts: what
 * llama-quantize of October 2026 chose (--dry-run) for models of these shapes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ggml.h>
#include <gguf.h>

#include "common/cli.h"
#include "common/quantize/matrices.h"
#include "common/quantize/mixture.h"
#include "harness/tap.h"

const char cli_name[] = "test_mixture_models";

enum {
    MAX_TENSORS = 512,
};

/* A table of tensors alone. */
struct table {
    struct ggml_context *ctx;
    struct gguf_context *gguf;
};

static void
add(struct table *t, const char *name, int layer, int64_t row, int64_t stacked)
{
    struct ggml_tensor *x =
        ggml_new_tensor_3d(t->ctx, GGML_TYPE_F16, row, 2, stacked);

    ggml_format_name(x, name, layer);
    gguf_add_tensor(t->gguf, x);
}

static struct table
new_table(void)
{
    struct ggml_init_params p = { MAX_TENSORS * ggml_tensor_overhead(), NULL,
                                  true };

    return (struct table){ ggml_init(p), gguf_init_empty() };
}

static void
free_table(struct table *t)
{
    gguf_free(t->gguf);
    ggml_free(t->ctx);
}

/* The layers of one name whose tensors have that type: "0 1 9". */
static void
list_layers(const struct table *t, const char *mixture,
            struct mixture_model model, const char *name, enum ggml_type type,
            char *list)
{
    int64_t n = gguf_get_n_tensors(t->gguf);
    int32_t numbers[MAX_TENSORS];

    model.n_values = matrices_number(t->gguf, numbers);
    for (int layer = 0; layer < model.n_layer; layer++)
        for (int64_t i = 0; i < n; i++) {
            char wanted[GGML_MAX_NAME];
            const int64_t *ne = gguf_get_tensor_ne(t->gguf, i);
            struct mixture_tensor x = { gguf_get_tensor_name(t->gguf, i), ne[0],
                                        numbers[i], ne[2] > 1 };
            bool fits;

            snprintf(wanted, sizeof(wanted), name, layer);
            if (strcmp(wanted, x.name) == 0 &&
                mixture_type(mixture_find(mixture), &model, &x, &fits) == type)
                list += sprintf(list, "%s%d", layer ? " " : "", layer);
        }
}

static void
check(const struct table *t, const char *mixture, struct mixture_model model,
      const char *name, enum ggml_type type, const char *want)
{
    char list[8 * MAX_TENSORS] = "", said[256];
    bool right;

    list_layers(t, mixture, model, name, type, list);
    right = strcmp(list + (list[0] == ' '), want) == 0;
    snprintf(said, sizeof(said), "%s: %s of type %s", mixture, name,
             ggml_type_name(type));
    ok(right, said);
    if (!right)
        printf("# got %s, not %s\n", list, want);
}

/* As Nemotron Super: layers without attention, layers without feed-forward. */
static void
test_layers_without(void)
{
    const struct mixture_model m = { .of_70b = true,
                                     .n_layer = 80,
                                     .n_gqa = 8 };
    struct table t = new_table();

    for (int i = m.n_layer - 1; i >= 0; i--) {
        if (i <= 40 || i >= 72 || i % 3 != 1)
            add(&t, "blk.%d.attn_v.weight", i, 8192, 1);
        if (i != 5 && i != 6 && i != 50)
            add(&t, "blk.%d.ffn_down.weight", i, 28672, 1);
    }
    check(&t, "Q4_K_M", m, "blk.%d.attn_v.weight", GGML_TYPE_Q6_K,
          "0 1 2 3 4 5 6 7 10 13 16 19 22 25 28 31 34 37 40 44 48 53 57 62 66 "
          "71 72 73 74 75 76 77 78 79");
    check(&t, "Q4_K_M", m, "blk.%d.attn_v.weight", GGML_TYPE_Q4_K, "");
    check(&t, "Q4_K_M", m, "blk.%d.ffn_down.weight", GGML_TYPE_Q6_K,
          "0 1 2 3 4 7 8 9 10 11 14 17 20 23 26 29 32 35 38 41 44 47 51 54 57 "
          "60 63 66 69 72 73 74 75 76 77 78 79");
    check(&t, "Q3_K_M", m, "blk.%d.ffn_down.weight", GGML_TYPE_Q5_K,
          "0 1 2 3 4");
    free_table(&t);
}

/* T5's names have no layers that the rules know: 10 comes before 2. */
static void
test_encoder(void)
{
    const struct mixture_model m = { .tied = true, .n_layer = 24, .n_gqa = 1 };
    struct table t = new_table();

    for (int i = 0; i < m.n_layer; i++) {
        add(&t, "enc.blk.%d.attn_v.weight", i, 4096, 1);
        add(&t, "enc.blk.%d.ffn_down.weight", i, 10240, 1);
        add(&t, "enc.blk.%d.ffn_down.bias", i, 4096, 1);
    }
    check(&t, "Q4_K_M", m, "enc.blk.%d.attn_v.weight", GGML_TYPE_Q6_K,
          "0 1 3 6 7 8 9 10 13 16 19 21");
    check(&t, "IQ4_XS", m, "enc.blk.%d.ffn_down.weight", GGML_TYPE_Q5_K,
          "0 1 10");
    free_table(&t);
}

/* As Gemma 4 26B-A4B: experts next to a dense block, no values in the layers
 * that see all; rows of 2112 and 704 numbers. */
static void
test_experts_beside(void)
{
    const struct mixture_model m = {
        .tied = true, .n_layer = 30, .n_gqa = 2, .n_expert = 128
    };
    struct table t = new_table();

    for (int i = 0; i < m.n_layer; i++) {
        if (i % 6 != 5)
            add(&t, "blk.%d.attn_v.weight", i, 2816, 1);
        add(&t, "blk.%d.ffn_down.weight", i, 2112, 1);
        add(&t, "blk.%d.ffn_down_exps.weight", i, 704, 128);
    }
    check(&t, "Q4_K_M", m, "blk.%d.attn_v.weight", GGML_TYPE_Q6_K,
          "0 1 2 6 9 13 16 20 24 25 26 27 28");
    check(&t, "Q4_K_M", m, "blk.%d.ffn_down.weight", GGML_TYPE_Q8_0,
          "0 1 2 5 8 11 14 17 20 23 26 27 28 29");
    check(&t, "Q4_K_M", m, "blk.%d.ffn_down_exps.weight", GGML_TYPE_Q8_0,
          "0 1 2 5 8 11 14 17 20 23 26 27 28 29");
    free_table(&t);
}

/* With few bits it is matrices that are counted, not layers. */
static void
test_few_bits(void)
{
    const struct mixture_model m = { .n_layer = 48,
                                     .n_gqa = 5,
                                     .n_expert = 16 };
    struct table t = new_table();

    for (int i = 0; i < m.n_layer; i++)
        if (i % 2) {
            add(&t, "blk.%d.ffn_down_exps.weight", i, 8192, 16);
            add(&t, "blk.%d.ffn_down_shexp.weight", i, 8192, 1);
        } else {
            add(&t, "blk.%d.ffn_down.weight", i, 16384, 1);
        }
    check(&t, "IQ2_M", m, "blk.%d.ffn_down_exps.weight", GGML_TYPE_IQ3_S,
          "1 3");
    check(&t, "IQ2_M", m, "blk.%d.ffn_down_shexp.weight", GGML_TYPE_IQ3_S,
          "1 3");
    check(&t, "Q4_K_M", m, "blk.%d.ffn_down_shexp.weight", GGML_TYPE_Q6_K,
          "1 3 5 11 17 23 29 35 41 43 45 47");
    free_table(&t);
}

/* Models of eight experts; and of 70 billion parameters, of any family. */
static void
test_kinds_of_models(void)
{
    struct mixture_model m = { .n_layer = 32, .n_gqa = 4, .n_expert = 8 };
    struct table t = new_table();

    for (int i = 0; i < 68; i++) {
        add(&t, "blk.%d.attn_output.weight", i, 4096, 1);
        add(&t, "blk.%d.attn_v.weight", i, 7168, 1);
    }
    check(&t, "Q3_K_L", m, "blk.%d.attn_output.weight", GGML_TYPE_Q5_K, "");
    m = (struct mixture_model){ .of_70b = true, .n_layer = 68, .n_gqa = 1 };
    check(&t, "Q4_K_M", m, "blk.%d.attn_v.weight", GGML_TYPE_Q4_K, "");
    check(&t, "Q4_K_M", m, "blk.%d.attn_v.weight", GGML_TYPE_Q6_K,
          "0 1 2 3 4 5 6 7 10 13 16 19 22 25 28 31 34 37 40 43 46 49 52 55 58 "
          "59 60 61 62 63 64 65 66 67");
    free_table(&t);
}

int
main(void)
{
    test_layers_without();
    test_encoder();
    test_experts_beside();
    test_few_bits();
    test_kinds_of_models();
    return tap_done();
}
