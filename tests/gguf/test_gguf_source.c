/* test_gguf_source.c - by a callback no byte is read that is not wanted */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gguf/reader.h"
#include "fixtures/gguf_cases.h"
#include "harness/tap.h"

/* Files may claim more than there can be memory for. */
TAP_ASAN_OPTIONS("allocator_may_return_null=1")

/* A file whose reader is watched. */
struct watched {
    const struct bytes *file;
    uint64_t at;      /* of the next byte, where it is read in order */
    bool wild;        /* it was not, or beyond the end */
    size_t most;      /* that was requested at once */
    unsigned n_calls; /* of the callback */
};

static size_t
watch(void *userdata, void *output, uint64_t offset, size_t len)
{
    struct watched *w = userdata;
    size_t left = offset < w->file->n ? w->file->n - (size_t)offset : 0;
    size_t n = len < left ? len : left;

    w->wild |= offset != w->at || len > left;
    w->most = len > w->most ? len : w->most;
    w->n_calls++;
    if (n > 0)
        memcpy(output, w->file->data + offset, n);
    w->at = offset + n;
    return n;
}

static struct gguf_context *
open_watched(struct watched *w, const struct bytes *file, size_t chunk,
             uint64_t limit, bool no_alloc, struct ggml_context **pool)
{
    *w = (struct watched){ .file = file };
    *pool = NULL;
    return gguf_init_from_callback(watch, w, chunk, limit,
                                   (struct gguf_init_params){ no_alloc, pool });
}

/* The fewest bytes that can be read without data; all, where none can. */
static size_t
metadata_size(const struct bytes *b)
{
    struct gguf_init_params params = { .no_alloc = true };
    struct gguf_context *g = NULL;
    size_t n = 0;

    while (n < b->n && !(g = gguf_init_from_buffer(b->data, n, params)))
        n++;
    gguf_free(g);
    return n;
}

/* As it is read from memory; false: it differs. */
static bool
same_as_buffer(const struct gguf_context *g, const struct bytes *b, size_t size,
               bool no_alloc)
{
    struct ggml_context *pool = NULL;
    struct gguf_init_params params = { no_alloc, &pool };
    struct gguf_context *want = gguf_init_from_buffer(b->data, size, params);
    bool same = !g == !want;

    if (g && want)
        same = gguf_fingerprint(g) == gguf_fingerprint(want) &&
               gguf_get_n_kv(g) == gguf_get_n_kv(want) &&
               gguf_get_n_tensors(g) == gguf_get_n_tensors(want);
    gguf_free(want);
    ggml_free(pool);
    return same;
}

static bool
check_case(const struct bytes *b, size_t chunk, uint64_t limit, bool no_alloc)
{
    size_t size = no_alloc ? metadata_size(b) : b->n;
    struct watched w;
    struct ggml_context *pool;
    struct gguf_context *g = open_watched(&w, b, chunk, limit, no_alloc, &pool);
    bool right = same_as_buffer(g, b, size, no_alloc);

    right &= !chunk || w.most <= chunk;
    if (g)
        right &= !w.wild;
    if (g && no_alloc)
        right &= w.at == size;
    gguf_free(g);
    ggml_free(pool);
    return right;
}

static void
test_cases(void)
{
    const struct gguf_case *c;

    for (size_t i = 0; (c = gguf_case(i)) != NULL; i++) {
        struct bytes b = { 0 };
        bool right = true;

        c->build(&b);
        for (int no_alloc = 0; no_alloc < 2; no_alloc++) {
            right &= check_case(&b, 0, b.n, no_alloc);
            right &= check_case(&b, 0, UINT64_MAX, no_alloc);
            right &= check_case(&b, 3, b.n, no_alloc);
        }
        ok(right, c->name);
        free(b.data);
    }
}

static void
test_cut(void)
{
    struct bytes b = { 0 };
    struct watched w;
    struct ggml_context *pool;
    size_t whole;
    bool refused = true;

    put_small_file(&b);
    whole = b.n;
    for (; b.n > 0; b.n--)
        for (int limited = 0; limited < 2; limited++) {
            struct gguf_context *g = open_watched(
                &w, &b, 0, limited ? b.n : UINT64_MAX, false, &pool);

            refused &= !g == (b.n < whole) && !pool == !g;
            gguf_free(g);
            ggml_free(pool);
        }
    ok(refused, "a file that is cut anywhere is refused");
    free(b.data);
}

static void
test_allocation_failures(void)
{
    struct bytes b = { 0 };
    struct watched w;
    struct ggml_context *pool = NULL;
    struct gguf_context *g = NULL;
    bool clean = true;
    long n = 0;

    put_small_file(&b);
    for (; n < 1000 && !g; n++) {
        mem_fail_after(n);
        g = open_watched(&w, &b, 0, UINT64_MAX, false, &pool);
        mem_fail_after(-1);
        clean &= !g == !pool;
    }
    ok(g && n > 10 && clean, "memory may run out at any point");
    gguf_free(g);
    ggml_free(pool);
    free(b.data);
}

/* 200,000 strings are read in few calls, and none is read twice. */
static void
test_long(void)
{
    enum {
        N = 200000
    };
    struct bytes b = { 0 };
    struct watched w;
    struct ggml_context *pool;
    struct gguf_context *g;

    put_head(&b, 3, 0, 1);
    put_array(&b, "tokens", GGUF_TYPE_STRING, N);
    for (int i = 0; i < N; i++)
        put_str(&b, i % 7 ? "token" : "a longer token");
    g = open_watched(&w, &b, 0, UINT64_MAX, true, &pool);
    ok(g && !w.wild && w.n_calls < 100, "a vocabulary is read in large pieces");
    gguf_free(g);
    ggml_free(pool);
    free(b.data);
}

/* Elements of a type that none has are not waited for. */
static void
test_unknown_elements(void)
{
    static const uint32_t types[] = { GGUF_TYPE_ARRAY, GGUF_TYPE_COUNT, 99 };
    bool right = true;

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        struct bytes b = BYTES_HERE;
        struct watched w;
        struct ggml_context *pool;
        size_t head;

        put_head(&b, 3, 0, 1);
        put_array(&b, "a", types[i], 1000);
        head = b.n;
        for (int k = 0; k < 1000; k++)
            put_u64(&b, 0);
        right &= !open_watched(&w, &b, 0, b.n, true, &pool) && w.at <= head;
        free(b.data);
    }
    ok(right, "elements of an unknown type are not read");
}

int
main(void)
{
    test_cases();
    test_unknown_elements();
    test_cut();
    test_allocation_failures();
    test_long();
    return tap_done();
}
