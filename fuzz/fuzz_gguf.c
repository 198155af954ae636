/* fuzz_gguf.c - the GGUF reader, in both byte orders: whatever a file holds, a
 * word at most */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gguf/context.h"
#include "gguf/shards.h"
#include "fixtures/gguf_cases.h"

const char fuzz_name[] = "gguf";
static volatile unsigned seen; /* what is read must be used */

static void
check(bool right)
{
    if (!right)
        abort();
}

/* An accepted file must hold what reader.h promises. */
static unsigned
walk_tensors(const struct gguf_context *g, const uint8_t *data, size_t size)
{
    unsigned sum = 0;

    for (int64_t i = 0; i < gguf_get_n_tensors(g); i++) {
        const struct gguf_tensor *t = gguf_tensor(g, i);
        const uint8_t *p = t->data;

        check(p >= data && t->size <= size &&
              (size_t)(p - data) <= size - t->size);
        check(t->n_dims >= 0 && t->n_dims <= GGML_MAX_DIMS);
        check(gguf_tensor_named(g, t->name) == t);
        if (t->size > 0)
            sum += p[0] + p[t->size - 1];
    }
    return sum;
}

static unsigned
walk_values(const struct gguf_context *g)
{
    unsigned sum = 0;

    for (int64_t i = 0; i < gguf_get_n_kv(g); i++) {
        const char *key = gguf_get_key(g, i);
        uint32_t u = 0;
        int32_t n = 0;
        float f = 0;
        bool b = false;
        struct gguf_str s = { 0 };
        struct gguf_array a = { 0 };

        check(gguf_find_key(g, key) == i);
        if (gguf_get_kv_type(g, i) == GGUF_TYPE_ARRAY)
            check(gguf_get_array(g, key, gguf_get_arr_type(g, i), &a, NULL) ==
                  GG_OK);
        for (size_t k = 0; k < a.n && a.strings; k++)
            if (a.strings[k].n)
                sum += (unsigned char)a.strings[k].s[a.strings[k].n - 1];
        sum += gguf_get_u32(g, key, &u, NULL) == GG_OK && u;
        sum += gguf_get_i32(g, key, &n, NULL) == GG_OK && n;
        sum += gguf_get_f32(g, key, &f, NULL) == GG_OK && f > 0;
        sum += gguf_get_bool(g, key, &b, NULL) == GG_OK && b;
        if (gguf_get_str(g, key, &s, NULL) == GG_OK && s.n)
            sum += (unsigned char)s.s[s.n - 1];
    }
    return sum;
}

/* Read, written and read again it says the same. */
static void
write_again(const struct gguf_context *g)
{
    size_t n = gguf_get_meta_size(g);
    void *data = malloc(n);
    struct gguf_init_params params = { .no_alloc = true };
    struct gguf_context *h;

    if (!data)
        return;
    gguf_get_meta_data(g, data);
    h = gguf_init_from_buffer(data, n, params);
    check(h && gguf_get_n_kv(h) == gguf_get_n_kv(g) &&
          gguf_get_n_tensors(h) == gguf_get_n_tensors(g) &&
          gguf_get_meta_size(h) == n);
    gguf_free(h);
    free(data);
}

static void
load(const uint8_t *data, size_t size)
{
    struct ggml_context *pool = NULL;
    struct gguf_init_params params = { .ctx = &pool };
    struct gguf_context *g = gguf_init_from_buffer(data, size, params);

    check(!g == !pool);
    gguf_free(g);
    ggml_free(pool);
}

/* The input as the last shard of a model whose first is the small file. */
static void
join(const uint8_t *data, size_t size)
{
    struct bytes b = { 0 };
    struct gguf_context *first = NULL, *next = NULL;
    struct gguf_shards of;
    struct gg_error err = { "" };
    int64_t n;

    put_small_file(&b);
    check(gguf_parse(b.data, b.n, "first", &first, NULL) == GG_OK &&
          gguf_parse_some(data, size, "input", GGUF_PARSE_SWAPPED, &next,
                          NULL) == GG_OK);
    n = gguf_get_n_tensors(first) + gguf_get_n_tensors(next);
    seen += gguf_check_first(next, &err) == GG_OK;
    if (gguf_get_shards(next, &of, &err) == GG_OK &&
        gguf_join(first, next, of.no, &of, &err) == GG_OK &&
        gguf_join_end(first, &of, &err) == GG_OK) {
        check(gguf_get_n_tensors(first) == n && gguf_get_n_shards(first) == 2);
        for (int64_t i = 0; i < n; i++)
            check(gguf_tensor_named(first, gguf_tensor(first, i)->name) ==
                  gguf_tensor(first, i));
        write_again(first);
    }
    gguf_free(next);
    gguf_free(first);
    free(b.data);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gguf_context *g = NULL;
    struct gg_error err = { "" };
    enum gg_status st =
        gguf_parse_some(data, size, "input", GGUF_PARSE_SWAPPED, &g, &err);

    check((st == GG_OK) == (g != NULL));
    check(st == GG_OK || strncmp(err.message, "input: ", 7) == 0);
    if (st != GG_OK)
        return 0;
    seen += walk_tensors(g, data, size) + walk_values(g);
    write_again(g);
    gguf_free(g);
    load(data, size);
    join(data, size);
    return 0;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    const struct gguf_case *c = gguf_case(i / 2);
    struct bytes b = { .big = i % 2 };

    if (!c)
        return NULL;
    c->build(&b);
    *size = b.n;
    return b.data ? b.data : malloc(1);
}
