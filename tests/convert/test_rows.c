/* test_rows.c - rows whose values change stay of their type */
#include "convert/hf/weights.h"
#include "core/half.h"
#include "core/order.h"
#include "harness/tap.h"

enum {
    ROWS = 2,
    LENGTH = 3,
    N = ROWS * LENGTH,
};

static const float values[N] = { 1, -2.5, 0.125, 3, 0.75, -64 };

static uint16_t
half_of(enum ggml_type type, float x)
{
    return type == GGML_TYPE_F16 ? ggml_fp32_to_fp16(x)
                                 : core_bf16_from_float(x);
}

/* Rows that are multiplied by a half and by two, exactly. */
static bool
is_multiplied(enum ggml_type type)
{
    uint16_t data[N], made[N];
    const struct safetensors_tensor t = { .type = type,
                                          .n_dims = 2,
                                          .shape = { ROWS, LENGTH },
                                          .n = N,
                                          .data = (const uint8_t *)data,
                                          .size = sizeof(data) };
    const struct safetensors_tensor *from = &t;
    const struct hf_rows rows = { .from = &from,
                                  .n_from = 1,
                                  .n_blocks = 1,
                                  .n_rows = ROWS,
                                  .length = LENGTH,
                                  .row = LENGTH,
                                  .step = 1,
                                  .bands = { { 1, 0.5f }, { 2, 2 } },
                                  .n_bands = 2 };
    bool is = true;

    for (int i = 0; i < N; i++)
        data[i] = core_le16(half_of(type, values[i])); /* as in files */
    convert_hf_rows_make(&rows, 0, ROWS, type, made);
    for (int i = 0; i < N; i++)
        is &= made[i] == half_of(type, values[i] * (i < LENGTH ? 0.5f : 2.0f));
    return is;
}

int
main(void)
{
    ok(is_multiplied(GGML_TYPE_F16), "rows of F16 that are multiplied");
    ok(is_multiplied(GGML_TYPE_BF16), "rows of BF16 that are multiplied");
    return tap_done();
}
