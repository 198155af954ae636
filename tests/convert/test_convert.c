/* test_convert.c - files of older formats give the logits and the ids of the
 * GGUF files that they were made from */
#include <unistd.h>

#include "convert/blocks.h"
#include "core/mem.h"
#include "core/order.h"
#include "harness/encode.h"
#include "fixtures/old.h"
#include "harness/session_test.h"

enum {
    N = 20,
};

static const char *
old_file(void)
{
    static char path[SCRATCH_PATH];

    if (!path[0])
        strcpy(path, scratch_file("old.bin"));
    return path;
}

/* ---- logits ------------------------------------------------------------- */

static void
logits_of(const char *path, float *out)
{
    struct gg_session_params params = { .cache_type = GG_CACHE_F16 };
    struct gg_model *m;
    int32_t ids[N];

    fill_ids(ids, N);
    must(gg_model_open(path, NULL, &m, &err));
    in_steps(m, params, ids, N, N, out);
    gg_model_free(m);
}

static const struct {
    const char *format, *arch;
    enum ggml_type types[6]; /* F32 ends them, and is one */
    float eps;
} logit_cases[] = {
    { "ggml", "gpt2", { GGML_TYPE_Q4_0, GGML_TYPE_Q8_0, GGML_TYPE_F16 }, 0 },
    { "ggml-0",
      "gpt2",
      { GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1,
        GGML_TYPE_Q8_0 },
      0 },
    { "ggml-1", "gpt2", { GGML_TYPE_Q4_1, GGML_TYPE_Q8_0 }, 0 },
    { "ggml", "llama", { GGML_TYPE_F16 }, 1e-6f },
    { "ggmf", "llama", { GGML_TYPE_Q4_0, GGML_TYPE_Q4_1 }, 1e-6f },
    { "ggjt-1",
      "llama",
      { GGML_TYPE_Q4_0, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1, GGML_TYPE_Q8_0 },
      1e-6f },
    { "ggjt-2",
      "llama",
      { GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_1, GGML_TYPE_Q8_0 },
      1e-6f },
    { "ggjt-3",
      "llama",
      { GGML_TYPE_Q4_0, GGML_TYPE_Q8_0, GGML_TYPE_F16 },
      1e-6f },
    { "llama2c-0", "llama", { GGML_TYPE_F32 }, 1e-5f },
    { "llama2c-1", "llama", { GGML_TYPE_F32 }, 1e-5f },
    { "llama2c-2", "llama", { GGML_TYPE_Q8_0 }, 1e-5f },
};

/* llama2.c's second version has all matrices in groups, and nothing else. */
static void
test_logits(void)
{
    static float want[V], got[V];
    char name[96];

    for (size_t i = 0; i < sizeof(logit_cases) / sizeof(logit_cases[0]); i++)
        for (size_t k = 0; k < 6; k++) {
            enum ggml_type type = logit_cases[i].types[k];
            struct model_spec spec = {
                .arch = logit_cases[i].arch,
                .type = type,
                .eps = logit_cases[i].eps,
                .n_embd = 64,
                .n_ff = strcmp(logit_cases[i].arch, "gpt2") ? 96 : 256,
                .n_head = 2,
                .untied = k % 2 == 1,
            };

            if (type == GGML_TYPE_F32 && strstr(logit_cases[i].format, "c-2"))
                break;
            models_write(&spec, scratch_path());
            logits_of(scratch_path(), want);
            old_write(logit_cases[i].format, scratch_path(), scratch_path(),
                      old_file());
            logits_of(old_file(), got);
            snprintf(name, sizeof(name), "%s %s %s: the same logits",
                     logit_cases[i].format, spec.arch, ggml_type_name(type));
            ok(same(want, got), name);
            if (type == GGML_TYPE_F32)
                break;
        }
}

/* ---- blocks -------------------------------------------------------------- */

/* By hand: scale 0.5, nibbles 0 1 2 ... 15 0 1 ... in the order of values. */
static void
test_blocks(void)
{
    float scale = 0.5f, wide = 1e6f;
    uint8_t pairs[20], halves[20], out[18];
    uint16_t half;
    struct blocks b;
    bool right = true;

    core_le_array(&scale, 1, sizeof(scale));
    core_le_array(&wide, 1, sizeof(wide));
    memcpy(pairs, &scale, 4);
    memcpy(halves, &scale, 4);
    for (int i = 0; i < 16; i++) {
        pairs[4 + i] = (uint8_t)((2 * i) % 16 | ((2 * i + 1) % 16) << 4);
        halves[4 + i] = (uint8_t)(i % 16 | (i + 16) % 16 << 4);
    }
    ok(convert_blocks_find(BLOCKS_PAIRS, 2, &b) && b.size == 20 &&
           b.type == GGML_TYPE_Q4_0 && b.convert(pairs, out),
       "q4_0 of pairs is known");
    for (int i = 0; i < 16; i++)
        right = right && out[2 + i] == (i | i << 4);
    memcpy(&half, out, sizeof(half));
    ok(right && half == 0x3800, "and becomes halves");
    memset(out, 0, sizeof(out));
    ok(convert_blocks_find(BLOCKS_HALVES, 2, &b) && b.convert(halves, out) &&
           out[2] == 0 && out[17] == 0xff && memcmp(out, &half, 2) == 0,
       "halves with a wide scale get a narrow one");
    memcpy(halves, &wide, 4);
    ok(!b.convert(halves, out), "a scale of 1e6 does not fit");
    ok(convert_blocks_find(BLOCKS_TODAY, 2, &b) && b.size == 18 && !b.convert,
       "today's stays");
    ok(!convert_blocks_find(BLOCKS_PAIRS, 4, &b) &&
           !convert_blocks_find(BLOCKS_TODAY, 5, &b) &&
           !convert_blocks_find(BLOCKS_HALVES, 12, &b) &&
           !convert_blocks_find(BLOCKS_TODAY, 4000, &b),
       "types that were given up, came later, or never were");
}

/* ---- vocabularies -------------------------------------------------------- */

static size_t
slurp(const char *path, char **out)
{
    FILE *f = fopen(path, "rb");
    long n;

    if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0)
        exit(99);
    rewind(f);
    *out = malloc((size_t)n + 1);
    if (fread(*out, 1, (size_t)n, f) != (size_t)n)
        exit(99);
    fclose(f);
    return (size_t)n;
}

static size_t
encode(const char *path, const char *text, size_t len, int32_t **ids)
{
    struct gg_vocab *v;
    size_t n = 0;

    must(gg_vocab_open(path, &v, &err));
    *ids = malloc((len + 16) * sizeof(**ids));
    must(encode_ids(v, text, len, 0, *ids, len + 16, &n, &err));
    gg_vocab_free(v);
    return n;
}

/* The merges that the file does not have, and scores where it has none, give
 * the same ids. */
static void
test_vocab(const char *name, const char *format, const char *arch)
{
    const char *dir = getenv("GG_TEST_VOCAB");
    struct model_spec spec = { .arch = arch,
                               .type = GGML_TYPE_F32,
                               .n_embd = 32,
                               .n_head = 1,
                               .n_vocab = 32000, /* llama2.c's are counted */
                               .no_vocab = true };
    char vocab[4096], title[128], *text;
    int32_t *want, *got;
    size_t len, n, m;

    snprintf(title, sizeof(title), "%s in %s: the same ids", name, format);
    if (!dir) {
        printf("ok %d - %s # SKIP GG_TEST_VOCAB is not set\n", ++tap_n, title);
        return;
    }
    snprintf(vocab, sizeof(vocab), "%s/%s.inp", dir, name);
    len = slurp(vocab, &text);
    snprintf(vocab, sizeof(vocab), "%s/%s.gguf", dir, name);
    models_write(&spec, scratch_path());
    old_write(format, scratch_path(), vocab, old_file());
    n = encode(vocab, text, len, &want);
    m = encode(old_file(), text, len, &got);
    ok(n == m && n > 100 && !memcmp(want, got, n * sizeof(*want)), title);
    free(text);
    free(want);
    free(got);
}

/* ---- what is not believed ------------------------------------------------ */

static void
write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
        exit(99);
}

static enum gg_status
try_open(const char *path)
{
    struct gg_file *f;
    enum gg_status st = gg_file_open(path, &f, &err);

    if (st == GG_OK)
        gg_file_close(f);
    return st;
}

/* A file that ends at any byte is refused, or ends with a tensor and misses
 * those after it. */
static void
test_cut(const char *format, const char *arch)
{
    struct model_spec spec = { .arch = arch,
                               .type = GGML_TYPE_F32,
                               .eps = 1e-6f };
    bool refused = true;
    char *bytes, name[96];
    size_t n;

    if (strcmp(format, "llama2c-2") == 0)
        spec.type = GGML_TYPE_Q8_0;
    models_write(&spec, scratch_path());
    old_write(format, scratch_path(), scratch_path(), old_file());
    n = slurp(old_file(), &bytes);
    free(bytes);
    for (size_t i = n - 1; i > 0; i -= i <= 8192 ? 1 : n / 200 + 1) {
        if (truncate(old_file(), (off_t)i) != 0)
            exit(99);
        if (try_open(old_file()) == GG_OK) {
            printf("# %zu of %zu bytes\n", i, n);
            refused = false;
        }
    }
    snprintf(name, sizeof(name), "%s %s: a file that was cut is refused",
             format, arch);
    ok(refused, name);
}

/* Four bytes at `at` become `v`; what is said about it has `word` in it. */
static void
test_lie(const char *format, const char *arch, size_t at, uint32_t v,
         const char *word)
{
    struct model_spec spec = { .arch = arch, .type = GGML_TYPE_F32 };
    char *bytes, name[160];
    uint32_t number = core_le32(v);
    size_t n;

    models_write(&spec, scratch_path());
    old_write(format, scratch_path(), scratch_path(), old_file());
    n = slurp(old_file(), &bytes);
    memcpy(bytes + at, &number, sizeof(number));
    write_bytes(old_file(), bytes, n);
    snprintf(name, sizeof(name), "%s %s: %u at byte %zu: %s", format, arch,
             (unsigned)v, at, word);
    ok(try_open(old_file()) != GG_OK && strstr(err.message, word), name);
    free(bytes);
}

static void
test_lies(void)
{
    test_lie("ggml", "gpt2", 4, 1u << 30, "hyper-parameter 0");
    test_lie("ggml", "gpt2", 28, 1u << 20, "old.bin: "); /* no GPT-2 then */
    test_lie("ggml", "gpt2", 20, 5000, "layers");
    test_lie("ggml", "gpt2", 24, 7000, "version");
    test_lie("ggml", "gpt2", 32, 0xffffffff, "bytes");
    test_lie("ggjt-3", "llama", 4, 9, "version");
    test_lie("ggjt-3", "llama", 20, 7, "heads");
    test_lie("ggjt-3", "llama", 20, 0, "heads");
    test_lie("llama2c-1", "llama", 4, 3, "version");
    test_lie("llama2c-1", "llama", 8, 0, "no sense");
    test_lie("llama2c-1", "llama", 28, 17, "");
}

static void
test_memory(void)
{
    struct model_spec spec = { .arch = "llama", .type = GGML_TYPE_Q4_0 };
    enum gg_status st = GG_ERR_NOMEM;
    long n = 0;

    models_write(&spec, scratch_path());
    old_write("ggjt-1", scratch_path(), scratch_path(), old_file());
    while (n < 100000) {
        mem_fail_after(n);
        st = try_open(old_file());
        mem_fail_after(-1);
        if (st != GG_ERR_NOMEM)
            break;
        n++;
    }
    printf("# %ld allocations\n", n);
    ok(st == GG_OK && n > 20, "an allocation that fails is reported");
}

int
main(void)
{
    test_blocks();
    test_logits();
    test_vocab("gpt-2", "ggml", "gpt2");
    test_vocab("llama-spm", "ggml", "llama");
    test_vocab("llama-spm", "ggjt-3", "llama");
    test_vocab("llama-spm", "llama2c-1", "llama");
    test_cut("ggml", "gpt2");
    test_cut("ggjt-3", "llama");
    test_cut("llama2c-0", "llama");
    test_cut("llama2c-2", "llama");
    test_lies();
    test_memory();
    return tap_done();
}
