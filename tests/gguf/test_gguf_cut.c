/* test_gguf_cut.c - files that are cut in their data, and small alignments, as
 * gguf_init_from_file() takes them */
#include <config.h>

#include <ggml.h>
#include <gguf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf/reader.h"
#include "harness/tap.h"

#define NAME "cut.gguf"
#define KEY  "general.alignment"

enum {
    N = 16,
    MAX = 4096
};

struct bytes {
    uint8_t p[MAX];
    size_t n;
};

/* A file of one tensor, 0 to N - 1, with an alignment of 8. */
static void
make_file(struct bytes *b)
{
    struct ggml_init_params params = { .mem_size = 1 << 16 };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    struct gguf_context *g = gguf_init_empty();
    FILE *f;

    for (int i = 0; i < N; i++)
        ((float *)t->data)[i] = (float)i;
    ggml_set_name(t, "weights");
    gguf_set_val_u32(g, KEY, 8);
    gguf_add_tensor(g, t);
    gguf_write_to_file(g, NAME, false);
    gguf_free(g);
    ggml_free(ctx);
    f = fopen(NAME, "rb");
    b->n = f ? fread(b->p, 1, MAX, f) : 0;
    if (f)
        fclose(f);
}

static void
write_file(const struct bytes *b, size_t n)
{
    FILE *f = fopen(NAME, "wb");

    if (!f || fwrite(b->p, 1, n, f) != n || fclose(f))
        printf("# no file\n");
}

static struct gguf_context *
open_file(bool no_alloc, struct ggml_context **data)
{
    struct gguf_init_params params = { no_alloc, data };

    *data = NULL;
    return gguf_init_from_file(NAME, params);
}

/* Like it, for callers that read the data where it lies. */
static bool
opens_in_place(unsigned flags)
{
    struct gguf_file file = { 0 };
    bool good = gguf_file_open(NAME, flags, &file, NULL) == GG_OK;
    const float *data = good ? gguf_tensor(file.gguf, 0)->data : NULL;

    good = data && (uintptr_t)data % 8 == 0;
    for (int i = 0; good && i < N; i++)
        good = data[i] == (float)i;
    gguf_file_close(&file);
    return good;
}

/* Whether it opens; `whole`: with its values. */
static bool
opens(bool no_alloc, bool whole)
{
    struct ggml_context *data;
    struct gguf_context *g = open_file(no_alloc, &data);
    const struct ggml_tensor *t = data ? ggml_get_tensor(data, "weights") : 0;
    bool good = g && t && gguf_get_n_tensors(g) == 1 && t->ne[0] == N;

    for (int i = 0; good && whole && i < N; i++)
        good = ((const float *)t->data)[i] == (float)i;
    ggml_free(data);
    gguf_free(g);
    return good;
}

static size_t
data_offset(void)
{
    struct gguf_init_params params = { true, NULL };
    struct gguf_context *g = gguf_init_from_file(NAME, params);
    size_t at = g ? gguf_get_data_offset(g) : 0;

    gguf_free(g);
    return at;
}

static void
test_cut(const struct bytes *b)
{
    size_t data = b->n - N * sizeof(float);
    int bare = 0, loaded = 0;
    struct gguf_file file = { 0 };

    ok(opens(true, false) && opens(false, true), "a whole file");
    for (size_t n = data; n < b->n; n++) {
        write_file(b, n);
        bare += opens(true, false);
        loaded += opens(false, false);
    }
    is(bare, N * (long)sizeof(float), "what is cut in its data has metadata");
    is(loaded, 0, "and no data");
    ok(gguf_file_open(NAME, 0, &file, NULL) == GG_ERR_TRUNCATED,
       "nor has it any for those who read it where it lies");
    gguf_file_close(&file);
    write_file(b, data - 9);
    ok(!opens(true, false), "what is cut before has none");
}

static void
test_alignment(const struct bytes *b)
{
    static const uint32_t good[] = { 1, 2, 4, 8 }, bad[] = { 0, 3, 5, 6, 12 };
    const uint8_t *key = memmem(b->p, b->n, KEY, strlen(KEY));
    size_t at = (size_t)(key - b->p) + strlen(KEY) + 4; /* after the type */
    size_t from = b->n - N * sizeof(float), to;
    struct bytes changed = *b;
    char what[64];

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        snprintf(what, sizeof(what), "alignment %u", (unsigned)good[i]);
        changed = *b;
        memcpy(changed.p + at, &good[i], 4);
        write_file(&changed, changed.n);
        to = data_offset(); /* there is less between the two */
        ok(to && to <= from && to % good[i] == 0, what);
        memmove(changed.p + to, changed.p + from, b->n - from);
        write_file(&changed, to + b->n - from);
        ok(opens(true, false) && opens(false, true), "its data");
        ok(opens_in_place(0) && opens_in_place(GGUF_OPEN_READ) &&
               opens_in_place(GGUF_OPEN_KEYS),
           "and where it lies");
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        snprintf(what, sizeof(what), "no alignment %u", (unsigned)bad[i]);
        changed = *b;
        memcpy(changed.p + at, &bad[i], 4);
        write_file(&changed, changed.n);
        ok(!opens(true, false) && !opens(false, false), what);
    }
}

int
main(void)
{
    struct bytes b;

    make_file(&b);
    test_cut(&b);
    make_file(&b);
    test_alignment(&b);
    remove(NAME);
    return tap_done();
}
