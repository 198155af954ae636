/* test_gguf_order.c - files of the other byte order */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gguf/context.h"
#include "quant/types.h"
#include "fixtures/gguf_cases.h"
#include "harness/scratch.h"
#include "harness/tap.h"

#define OTHER_ORDER (CORE_BIG_ENDIAN ? GGUF_LITTLE_ENDIAN : GGUF_BIG_ENDIAN)

static char path[SCRATCH_PATH];

/* A copy in memory of exactly its size. */
static enum gg_status
parse(const struct bytes *b, size_t size, unsigned flags, struct gg_error *err)
{
    void *copy = malloc(size ? size : 1);
    struct gguf_context *ctx = NULL;
    enum gg_status st;

    if (size)
        memcpy(copy, b->data, size);
    st = gguf_parse_some(copy, size, "file", flags, &ctx, err);
    if (st == GG_OK)
        gguf_swap_data(ctx);
    gguf_free(ctx);
    free(copy);
    return st;
}

/* Good and hostile ones: what is said of them is the same. */
static void
test_cases(void)
{
    const struct gguf_case *c;

    for (size_t i = 0; (c = gguf_case(i)) != NULL; i++) {
        struct bytes b = { .big = !CORE_BIG_ENDIAN };
        struct gg_error err = { "" };
        enum gg_status st;

        c->build(&b);
        st = parse(&b, b.n, GGUF_PARSE_SWAPPED, &err);
        ok(st == c->status && strstr(err.message, c->message), c->name);
        if (st != c->status || !strstr(err.message, c->message))
            printf("# status %d: %s\n", st, err.message);
        free(b.data);
    }
}

static void
test_cut_and_flipped(void)
{
    struct bytes b = { .big = !CORE_BIG_ENDIAN };
    struct gg_error err = { "" };
    bool refused = true, sane = true;
    enum gg_status st;

    put_small_file(&b);
    for (size_t n = 0; n < b.n; n++)
        refused &= parse(&b, n, GGUF_PARSE_SWAPPED, &err) != GG_OK;
    ok(refused, "a file that is cut anywhere is refused");
    for (size_t i = 0; i < b.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            b.data[i] ^= (uint8_t)(1 << bit);
            st = parse(&b, b.n, GGUF_PARSE_SWAPPED, &err);
            sane &= st == GG_OK || st == GG_ERR_FORMAT ||
                    st == GG_ERR_UNSUPPORTED || st == GG_ERR_TRUNCATED;
            b.data[i] ^= (uint8_t)(1 << bit);
        }
    ok(sane, "any bit may be another");
    ok(parse(&b, b.n, 0, &err) == GG_ERR_UNSUPPORTED &&
           strstr(err.message, "of the other byte order"),
       "who cannot change its data is told so");
    free(b.data);
}

/* Every allocation fails once: an error, and nothing leaks. */
static void
test_no_memory(void)
{
    struct bytes b = { .big = !CORE_BIG_ENDIAN };
    enum gg_status st = GG_ERR_NOMEM;
    struct gg_error err;
    long n = 0;

    put_small_file(&b);
    for (; st == GG_ERR_NOMEM && n < 1000; n++) {
        mem_fail_after(n);
        st = parse(&b, b.n, GGUF_PARSE_SWAPPED, &err);
        mem_fail_after(-1);
    }
    ok(st == GG_OK && n > 10, "allocations that fail are an error");
    free(b.data);
}

/* ---- every type ---------------------------------------------------------- */

/* The numbers of 16 bits in a block, as the format describes it: n from `at`.
 */
static const struct {
    enum ggml_type type;
    struct {
        int at, n;
    } numbers[2];
} layouts[] = {
    { GGML_TYPE_Q4_0, { { 0, 1 } } },
    { GGML_TYPE_Q4_1, { { 0, 2 } } },
    { GGML_TYPE_Q5_0, { { 0, 1 } } },
    { GGML_TYPE_Q5_1, { { 0, 2 } } },
    { GGML_TYPE_Q8_0, { { 0, 1 } } },
    { GGML_TYPE_Q8_1, { { 0, 2 } } },
    { GGML_TYPE_Q2_K, { { 16 + 64, 2 } } },
    { GGML_TYPE_Q3_K, { { 32 + 64 + 12, 1 } } },
    { GGML_TYPE_Q4_K, { { 0, 2 } } },
    { GGML_TYPE_Q5_K, { { 0, 2 } } },
    { GGML_TYPE_Q6_K, { { 128 + 64 + 16, 1 } } },
    { GGML_TYPE_IQ1_S, { { 0, 1 }, { 2 + 32, 8 } } },
    { GGML_TYPE_IQ1_M, { { 0 } } },
    { GGML_TYPE_IQ2_XXS, { { 0, 1 + 32 } } },
    { GGML_TYPE_IQ2_XS, { { 0, 1 + 32 } } },
    { GGML_TYPE_IQ2_S, { { 0, 1 } } },
    { GGML_TYPE_IQ3_XXS, { { 0, 1 } } },
    { GGML_TYPE_IQ3_S, { { 0, 1 } } },
    { GGML_TYPE_IQ4_NL, { { 0, 1 } } },
    { GGML_TYPE_IQ4_XS, { { 0, 2 } } },
    { GGML_TYPE_TQ1_0, { { 48 + 4, 1 } } },
    { GGML_TYPE_TQ2_0, { { 64, 1 } } },
    { GGML_TYPE_MXFP4, { { 0 } } },
    { GGML_TYPE_NVFP4, { { 0 } } },
    { GGML_TYPE_Q1_0, { { 0, 1 } } },
    { GGML_TYPE_Q2_0, { { 0, 1 } } },
};

enum {
    N_LAYOUTS = sizeof(layouts) / sizeof(layouts[0]),
    N_BLOCKS = 3,
};

static void
turn(uint8_t *p, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        uint8_t first = p[i];

        p[i] = p[size - 1 - i];
        p[size - 1 - i] = first;
    }
}

/* The numbers of a block in the other byte order, by the table above. */
static void
turn_block(enum ggml_type type, uint8_t *block)
{
    for (size_t i = 0; i < N_LAYOUTS; i++)
        for (int k = 0; layouts[i].type == type && k < 2; k++)
            for (int j = 0; j < layouts[i].numbers[k].n; j++)
                turn(block + layouts[i].numbers[k].at + 2 * j, 2);
    if (type == GGML_TYPE_Q8_K) {
        turn(block, 4);
        for (int j = 0; j < 16; j++)
            turn(block + 4 + 256 + 2 * j, 2);
    }
    if (!ggml_is_quantized(type))
        turn(block, ggml_type_size(type));
}

static void
fill(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(i * 7 + i / 5 + 1);
}

/* One type, written in the other byte order, and read in every way. */
static void
test_type(enum ggml_type type)
{
    size_t size = N_BLOCKS * ggml_type_size(type);
    uint8_t *data = malloc(size), *turned = malloc(size);
    struct ggml_tensor t = { .type = type,
                             .data = data,
                             .ne = { ggml_blck_size(type), N_BLOCKS, 1, 1 } };
    struct gguf_context *g = gguf_init_empty(), *back;
    struct ggml_context *pool = NULL;
    struct gguf_init_params params = { .ctx = &pool };
    struct gguf_file file = { 0 };
    struct file_map map = { 0 };
    bool right;

    fill(data, size);
    fill(turned, size);
    for (int i = 0; i < N_BLOCKS; i++)
        turn_block(type, turned + (size_t)i * ggml_type_size(type));
    snprintf(t.name, sizeof(t.name), "t");
    gguf_add_tensor(g, &t);
    gguf_set_byte_order(g, OTHER_ORDER);
    right = gguf_write_to_file(g, path, false) &&
            file_map(path, &map, NULL) == GG_OK &&
            memcmp((char *)map.data + gguf_get_meta_size(g), turned, size) == 0;
    back = gguf_init_from_file(path, params);
    right = right && back && gguf_get_byte_order(back) == OTHER_ORDER &&
            memcmp(ggml_get_tensor(pool, "t")->data, data, size) == 0;
    right = right && gguf_file_open(path, 0, &file, NULL) == GG_OK &&
            memcmp(gguf_tensor(file.gguf, 0)->data, data, size) == 0;
    gguf_order_data(g, type, data, size);
    ok(right && memcmp(data, turned, size) == 0, ggml_type_name(type));
    file_unmap(&map);
    gguf_file_close(&file);
    gguf_free(back);
    ggml_free(pool);
    gguf_free(g);
    free(turned);
    free(data);
}

static void
test_types(void)
{
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        bool known = false;

        if (!quant_type((enum ggml_type)type))
            continue;
        for (size_t i = 0; i < N_LAYOUTS; i++)
            known |= layouts[i].type == (enum ggml_type)type;
        ok(known || type == GGML_TYPE_Q8_K ||
               !ggml_is_quantized((enum ggml_type)type),
           "a type whose layout the test knows");
        test_type((enum ggml_type)type);
    }
}

/* ---- every kind of value ------------------------------------------------- */

static const struct {
    enum gguf_type type;
    uint64_t bits; /* of an element; the second one has its complement */
    int size;
} numbers[] = {
    { GGUF_TYPE_UINT8, 0x12, 1 },
    { GGUF_TYPE_INT8, 0x85, 1 },
    { GGUF_TYPE_UINT16, 0x1234, 2 },
    { GGUF_TYPE_INT16, 0x8123, 2 },
    { GGUF_TYPE_UINT32, 0x12345678, 4 },
    { GGUF_TYPE_INT32, 0x81234567, 4 },
    { GGUF_TYPE_FLOAT32, 0x3fc01234, 4 },
    { GGUF_TYPE_UINT64, 0x123456789, 8 },
    { GGUF_TYPE_INT64, UINT64_C(0x8123456789abcdef), 8 },
    { GGUF_TYPE_FLOAT64, UINT64_C(0x3ff8123456789abc), 8 },
};

enum {
    N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]),
};

static void
put_bits(struct bytes *b, uint64_t bits, int size)
{
    for (int i = 0; i < size; i++)
        put_u8(b, (uint8_t)(bits >> 8 * (b->big ? size - 1 - i : i)));
}

static void
put_values(struct bytes *b)
{
    char key[] = "a";

    put_head(b, 3, 0, 2 * N_NUMBERS);
    for (size_t i = 0; i < N_NUMBERS; i++, key[0]++) {
        put_key(b, key, numbers[i].type);
        put_bits(b, numbers[i].bits, numbers[i].size);
    }
    for (size_t i = 0; i < N_NUMBERS; i++, key[0]++) {
        put_array(b, key, numbers[i].type, 2);
        put_bits(b, numbers[i].bits, numbers[i].size);
        put_bits(b, ~numbers[i].bits, numbers[i].size);
    }
}

static uint64_t
bits_at(const void *p, int size)
{
    uint8_t b[8];
    uint64_t bits = 0;

    memcpy(b, p, (size_t)size);
    for (int i = 0; i < size; i++)
        bits |= (uint64_t)b[CORE_BIG_ENDIAN ? size - 1 - i : i] << 8 * i;
    return bits;
}

static void
test_values(bool big)
{
    struct gguf_init_params params = { .no_alloc = true };
    struct bytes b = { .big = big };
    struct gguf_context *g;

    put_values(&b);
    g = gguf_init_from_buffer(b.data, b.n, params);
    ok(g != NULL, "keys of all types are read");
    for (int64_t i = 0; g && i < N_NUMBERS; i++) {
        int size = numbers[i].size;
        uint64_t mask = UINT64_MAX >> (64 - 8 * size);
        const char *array = gguf_get_arr_data(g, i + N_NUMBERS);

        ok(bits_at(gguf_get_val_data(g, i), size) == numbers[i].bits &&
               bits_at(array, size) == numbers[i].bits &&
               bits_at(array + size, size) == (~numbers[i].bits & mask),
           gguf_type_name(numbers[i].type));
    }
    gguf_free(g);
    free(b.data);
}

int
main(void)
{
    strcpy(path, scratch_file("order.gguf"));
    test_cases();
    test_cut_and_flipped();
    test_no_memory();
    test_types();
    test_values(false);
    test_values(true);
    return tap_done();
}
