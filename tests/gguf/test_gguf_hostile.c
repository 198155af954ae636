/* test_gguf_hostile.c - a damaged file is rejected with an error */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "gguf/reader.h"
#include "fixtures/gguf_cases.h"
#include "harness/tap.h"

/* A copy in memory of exactly its size, so that a sanitizer sees the first
 * byte that is read beyond it. */
static enum gg_status
parse(const void *data, size_t size, struct gg_error *err, bool touch)
{
    void *copy = malloc(size ? size : 1);
    struct gguf_context *ctx = NULL;
    enum gg_status st;
    unsigned sum = 0;

    if (size)
        memcpy(copy, data, size);
    st = gguf_parse(copy, size, "file", &ctx, err);
    for (int64_t i = 0; touch && ctx && i < gguf_get_n_tensors(ctx); i++) {
        const struct gguf_tensor *t = gguf_tensor(ctx, i);

        for (size_t k = 0; k < t->size; k++)
            sum += ((const unsigned char *)t->data)[k];
    }
    for (int64_t i = 0; touch && ctx && i < gguf_get_n_kv(ctx); i++) {
        struct gguf_array a;

        if (gguf_get_kv_type(ctx, i) != GGUF_TYPE_ARRAY ||
            gguf_get_array(ctx, gguf_get_key(ctx, i), GGUF_TYPE_STRING, &a,
                           NULL) != GG_OK)
            continue;
        for (size_t k = 0; k < a.n; k++)
            sum += a.strings[k].n ? (unsigned char)a.strings[k].s[0] : 0;
    }
    if (sum == 1) /* what was summed up must be used */
        puts("#");
    gguf_free(ctx);
    free(copy);
    return st;
}

static bool
printable(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            return false;
    return true;
}

static void
test_cases(void)
{
    const struct gguf_case *c;

    for (size_t i = 0; (c = gguf_case(i)) != NULL; i++) {
        struct bytes b = BYTES_HERE;
        struct gg_error err = { "" };
        enum gg_status st;

        c->build(&b);
        st = parse(b.data, b.n, &err, true);
        ok(st == c->status && strstr(err.message, c->message) &&
               printable(err.message),
           c->name);
        if (st != c->status || !strstr(err.message, c->message))
            printf("# status %d: %s\n", st, err.message);
        free(b.data);
    }
}

static void
test_no_sink_for_the_message(void)
{
    const struct gguf_case *c;
    bool same = true;

    for (size_t i = 0; (c = gguf_case(i)) != NULL; i++) {
        struct bytes b = BYTES_HERE;

        c->build(&b);
        same &= parse(b.data, b.n, NULL, false) == c->status;
        free(b.data);
    }
    ok(same, "the same statuses without a place for the message");
}

static void
test_truncation(void)
{
    struct bytes b = BYTES_HERE;
    bool refused = true;

    put_small_file(&b);
    for (size_t n = 0; n < b.n; n++) {
        enum gg_status st = parse(b.data, n, NULL, true);

        if (st != GG_ERR_TRUNCATED && st != GG_ERR_FORMAT) {
            printf("# cut to %zu bytes: status %d\n", n, st);
            refused = false;
        }
    }
    ok(refused, "a file that is cut anywhere is refused");
    free(b.data);
}

static void
test_flips(void)
{
    static const uint8_t flips[] = { 0x01, 0x80, 0xff, 0x10 };
    struct bytes b = BYTES_HERE;
    bool sane = true;

    put_small_file(&b);
    for (size_t i = 0; i < b.n; i++)
        for (size_t k = 0; k < sizeof(flips); k++) {
            struct gg_error err = { "" };
            enum gg_status st;

            b.data[i] ^= flips[k];
            st = parse(b.data, b.n, &err, true);
            b.data[i] ^= flips[k];
            sane &= st == GG_OK || (err.message[0] && printable(err.message));
        }
    ok(sane, "a file with any byte changed is read, or rejected with an error");
    free(b.data);
}

/* Every 8 bytes in turn become a number that arithmetic trips over. */
static void
test_numbers(void)
{
    static const uint64_t numbers[] = {
        0,          1,         UINT64_MAX,     UINT64_MAX - 7, UINT64_MAX / 2,
        INT32_MAX,  INT64_MIN, UINT64_MAX / 3, UINT32_MAX,     1ULL << 61,
        1ULL << 32, 33,
    };
    struct bytes b = BYTES_HERE;
    uint64_t saved;
    bool sane = true;

    put_small_file(&b);
    for (size_t i = 0; i + 8 <= b.n; i++)
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
            struct gg_error err = { "" };
            enum gg_status st;

            memcpy(&saved, b.data + i, 8);
            memcpy(b.data + i, &numbers[k], 8);
            st = parse(b.data, b.n, &err, true);
            memcpy(b.data + i, &saved, 8);
            sane &= st == GG_OK || err.message[0];
        }
    ok(sane, "large and odd numbers anywhere do no harm");
    free(b.data);
}

static void
test_allocation_failures(void)
{
    struct bytes b = BYTES_HERE;
    enum gg_status st = GG_ERR_NOMEM;
    struct gg_error err = { "" };
    long n = 0;

    put_small_file(&b);
    for (; n < 1000 && st == GG_ERR_NOMEM; n++) {
        struct gguf_context *ctx = NULL;

        mem_fail_after(n);
        st = gguf_parse(b.data, b.n, "file", &ctx, &err);
        mem_fail_after(-1);
        gguf_free(ctx);
    }
    printf("# %ld allocations\n", n - 1);
    ok(st == GG_OK && n > 5, "each allocation may fail");
    ok(strcmp(err.message, "file: out of memory") == 0 ||
           strcmp(err.message, "out of memory") == 0,
       "and the message says so");
    free(b.data);
}

/* With the public face, too: copies, and a pool with tensors and data. */
static void
test_allocation_failures_of_init(void)
{
    struct bytes b = BYTES_HERE;
    struct gguf_context *ctx = NULL;
    struct ggml_context *pool = NULL;
    struct gguf_init_params params = { .ctx = &pool };
    bool untouched = true;
    long n = 0;

    put_small_file(&b);
    for (; n < 1000 && !ctx; n++) {
        mem_fail_after(n);
        ctx = gguf_init_from_buffer(b.data, b.n, params);
        mem_fail_after(-1);
        untouched &= ctx || !pool;
    }
    ok(ctx && n > 5 && untouched, "so it is for gguf_init_from_buffer()");
    gguf_free(ctx);
    ggml_free(pool);
    free(b.data);
}

/* Quadratic search would take minutes here. */
static void
test_many_names(void)
{
    enum {
        N = 200000
    };
    struct bytes b = BYTES_HERE;
    char name[32];
    clock_t start;
    enum gg_status st;
    double seconds;

    put_head(&b, 3, N, N);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "some.key.%d", i);
        put_kv_u32(&b, name, 1);
    }
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "tensor.%d", i);
        put_tensor1(&b, name, 1, GGML_TYPE_F32, 32 * (uint64_t)i);
    }
    put_pad(&b, 32);
    for (int i = 0; i < 8 * N; i++)
        put_u32(&b, 0);
    start = clock();
    st = parse(b.data, b.n, NULL, false);
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("# %d keys and tensors in %.3f s\n", 2 * N, seconds);
    ok(st == GG_OK && seconds < 20, "many names take little time");
    free(b.data);
}

int
main(void)
{
    test_cases();
    test_no_sink_for_the_message();
    test_truncation();
    test_flips();
    test_numbers();
    test_allocation_failures();
    test_allocation_failures_of_init();
    test_many_names();
    return tap_done();
}
