/* test_gguf_write.c - what is written is byte for byte what the format says */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "gguf/reader.h"
#include "fixtures/gguf_bytes.h"
#include "harness/scratch.h"
#include "harness/tap.h"

static char path[SCRATCH_PATH];

static struct ggml_tensor
tensor(const char *name, enum ggml_type type, int64_t ne0, int64_t ne1,
       void *data)
{
    struct ggml_tensor t = { .type = type, .ne = { ne0, ne1, 1, 1 } };

    snprintf(t.name, sizeof(t.name), "%s", name);
    t.data = data;
    return t;
}

static float a_data[8];
static uint8_t b_data[34];

/* Through the setters, what put_small_file() writes by hand. */
static struct gguf_context *
small_file(void)
{
    struct gguf_context *g = gguf_init_empty();
    const char *tokens[] = { "one", "", "three" };
    struct ggml_tensor a = tensor("a.weight", GGML_TYPE_F32, 4, 2, a_data);
    struct ggml_tensor b = tensor("b.weight", GGML_TYPE_Q8_0, 32, 1, b_data);

    memcpy(b_data, (uint16_t[]){ 0x3c00 }, 2);
    for (int i = 0; i < 8; i++)
        a_data[i] = (float)i - 2;
    for (int i = 0; i < 32; i++)
        b_data[i + 2] = (uint8_t)i;
    gguf_set_val_str(g, "general.architecture", "test");
    gguf_set_val_u32(g, "test.block_count", 7);
    gguf_set_val_f32(g, "test.epsilon", 1e-5f);
    gguf_set_val_bool(g, "test.flag", true);
    gguf_set_arr_data(g, "test.ids", GGUF_TYPE_INT32, (int32_t[]){ -1, 0, 1 },
                      3);
    gguf_set_arr_str(g, "test.tokens", tokens, 3);
    gguf_add_tensor(g, &a);
    gguf_add_tensor(g, &b);
    return g;
}

static bool
file_equals(const void *data, size_t n)
{
    struct file_map map;
    bool same;

    if (file_map(path, &map, NULL) != GG_OK)
        return false;
    same = map.size == n && memcmp(map.data, data, n) == 0;
    file_unmap(&map);
    return same;
}

static void
test_bytes(enum gguf_byte_order order)
{
    struct gguf_context *g = small_file();
    struct bytes want = { .big = order == GGUF_BIG_ENDIAN };
    size_t meta;
    void *data;

    put_small_file(&want);
    gguf_set_byte_order(g, order);
    meta = gguf_get_meta_size(g);
    data = malloc(meta);
    gguf_get_meta_data(g, data);
    ok(meta % 32 == 0 && meta < want.n && memcmp(data, want.data, meta) == 0,
       "gguf_get_meta_data() gives the metadata and its padding");
    free(data);
    ok(gguf_write_to_file(g, path, true) && file_equals(want.data, meta),
       "only_meta writes as much");
    put_pad(&want, 32);
    ok(gguf_write_to_file(g, path, false) && file_equals(want.data, want.n),
       "a whole file is as written by hand");
    gguf_free(g);
    free(want.data);
}

static void
test_read_back(void)
{
    struct gguf_init_params params = { 0 };
    struct ggml_context *pool = NULL;
    struct gguf_context *g;
    struct ggml_tensor *a, *b;
    int64_t key;

    params.ctx = &pool;
    g = gguf_init_from_file(path, params);
    ok(g && pool, "gguf_init_from_file() with a context");
    if (!g)
        return;
    ok(gguf_get_version(g) == 3 && gguf_get_alignment(g) == 32 &&
           gguf_get_n_kv(g) == 6 && gguf_get_n_tensors(g) == 2,
       "version, alignment, counts");
    key = gguf_find_key(g, "test.tokens");
    ok(gguf_get_kv_type(g, key) == GGUF_TYPE_ARRAY &&
           gguf_get_arr_type(g, key) == GGUF_TYPE_STRING &&
           gguf_get_arr_n(g, key) == 3 &&
           strcmp(gguf_get_arr_str(g, key, 2), "three") == 0 &&
           strcmp(gguf_get_arr_str(g, key, 1), "") == 0,
       "an array of strings");
    key = gguf_find_key(g, "test.ids");
    ok(((const int32_t *)gguf_get_arr_data(g, key))[0] == -1 &&
           ((const int32_t *)gguf_get_arr_data(g, key))[2] == 1,
       "an array of numbers, aligned");
    ok(gguf_get_val_u32(g, gguf_find_key(g, "test.block_count")) == 7 &&
           gguf_get_val_f32(g, gguf_find_key(g, "test.epsilon")) == 1e-5f &&
           gguf_get_val_bool(g, gguf_find_key(g, "test.flag")),
       "numbers");
    ok(gguf_find_key(g, "test") == -1 && gguf_find_tensor(g, "a") == -1,
       "what is not there is not found");
    a = ggml_get_tensor(pool, "a.weight");
    b = ggml_get_tensor(pool, "b.weight");
    ok(a && a->ne[0] == 4 && a->ne[1] == 2 && a->type == GGML_TYPE_F32 &&
           memcmp(a->data, a_data, sizeof(a_data)) == 0,
       "a tensor with its data");
    ok(b && b->ne[0] == 32 && memcmp(b->data, b_data, sizeof(b_data)) == 0,
       "a quantised one");
    ok(gguf_get_tensor_offset(g, 1) == 32 && gguf_get_tensor_size(g, 1) == 34 &&
           gguf_get_tensor_ne(g, 1)[3] == 1,
       "offset, size, shape");
    ok(strcmp(ggml_get_first_tensor(pool)->name,
              "GGUF tensor data binary blob") == 0 &&
           ggml_get_next_tensor(pool, ggml_get_first_tensor(pool)) == a,
       "in front of them is one with all data, as upstream has it");
    ok(gguf_write_to_file(g, path, false), "it can be written again");
    gguf_free(g);
    ok(a->ne[1] == 2 && ((float *)a->data)[7] == 5,
       "the context outlives the file's description");
    ggml_free(pool);
}

static size_t
three_at_a_time(void *userdata, void *output, uint64_t offset, size_t len)
{
    const struct bytes *b = userdata;
    size_t n = offset < b->n ? b->n - (size_t)offset : 0;

    n = n < len ? n : len;
    n = n < 3 ? n : 3;
    memcpy(output, b->data + offset, n);
    return n;
}

static void
test_other_ways_in(void)
{
    struct bytes b = BYTES_HERE;
    struct gguf_init_params params = { 0 };
    struct ggml_context *pool = NULL;
    struct gguf_context *g;
    FILE *f = fopen(path, "rb");
    char command[SCRATCH_PATH + 10];
    float a[8];

    put_small_file(&b);
    g = gguf_init_from_buffer(b.data, b.n, params);
    ok(g && gguf_find_tensor(g, "b.weight") == 1, "from a buffer");
    gguf_free(g);
    g = gguf_init_from_file_ptr(f, params);
    ok(g && gguf_find_tensor(g, "b.weight") == 1 &&
           (size_t)ftell(f) == gguf_get_data_offset(g),
       "from a stream, which then stands at the data");
    gguf_free(g);
    fseek(f, 1, SEEK_SET);
    ok(!gguf_init_from_file_ptr(f, params), "and is read from where it stands");
    fclose(f);
    snprintf(command, sizeof(command), "cat '%s'", path);
    f = popen(command, "r");
    g = gguf_init_from_file_ptr(f, params);
    ok(g && gguf_find_tensor(g, "b.weight") == 1 &&
           fread(a, sizeof(a), 1, f) == 1 && memcmp(a, a_data, sizeof(a)) == 0,
       "from a pipe, which does, too");
    gguf_free(g);
    pclose(f);
    g = gguf_init_from_callback(three_at_a_time, &b, 3, 1 << 20, params);
    ok(g && gguf_find_tensor(g, "b.weight") == 1, "from a callback");
    gguf_free(g);
    g = gguf_init_from_callback(three_at_a_time, &b, 3, 100, params);
    ok(!g, "which may not give more than was expected");

    params = (struct gguf_init_params){ .no_alloc = true, .ctx = &pool };
    b.n = 0;
    put_small_file(&b);
    b.n -= 66; /* both tensors' data */
    g = gguf_init_from_buffer(b.data, b.n, params);
    ok(g && pool && ggml_get_tensor(pool, "a.weight") &&
           !ggml_get_tensor(pool, "a.weight")->data,
       "metadata alone, with no_alloc");
    gguf_free(g);
    ggml_free(pool);
    pool = NULL;
    params.no_alloc = false;
    ok(!gguf_init_from_buffer(b.data, b.n, params) && !pool,
       "but not where the data is wanted");
    b.n = 0;
    put_head(&b, 3, 0, 0);
    g = gguf_init_from_buffer(b.data, b.n, params);
    ok(g && pool && ggml_nbytes(ggml_get_first_tensor(pool)) == 0 &&
           !ggml_get_next_tensor(pool, ggml_get_first_tensor(pool)),
       "a file without tensors has no byte of data");
    gguf_free(g);
    ggml_free(pool);
    ok(!gguf_init_from_file("/no/such/file", params), "no such file");
    ok(!gguf_init_from_file(scratch_folder, params), "a folder");
    free(b.data);
}

/* The message that a program gets when a file is refused. */
static void
listen(enum ggml_log_level level, const char *text, void *data)
{
    if (level == GGML_LOG_LEVEL_ERROR)
        snprintf(data, 256, "%s", text);
}

static void
test_log(void)
{
    char heard[256] = "";
    struct gguf_init_params params = { 0 };

    ggml_log_set(listen, heard);
    gguf_init_from_buffer("GGUF", 4, params);
    ggml_log_set(NULL, NULL);
    is(heard, "file ends in the middle\n", "a refusal is said through the log");
}

static void
test_set(void)
{
    struct gguf_context *g = gguf_init_empty(), *h = gguf_init_empty();

    gguf_set_val_u8(g, "k", 1);
    gguf_set_val_i64(g, "l", -5);
    gguf_set_val_str(g, "k", "again");
    ok(gguf_get_n_kv(g) == 2 && gguf_find_key(g, "k") == 1 &&
           strcmp(gguf_get_val_str(g, 1), "again") == 0,
       "a key that is set again moves to the back");
    gguf_set_bytes(g, "nul", "a\0b", 3);
    ok(gguf_get_val_str_len(g, 2) == 3 &&
           memcmp(gguf_get_val_str(g, 2), "a\0b", 4) == 0,
       "strings may hold NUL");
    ok(gguf_remove_key(g, "l") == 0 && gguf_remove_key(g, "l") == -1 &&
           gguf_get_n_kv(g) == 2,
       "a key is removed once");
    gguf_set_val_f64(h, "k", 2.5);
    gguf_set_arr_data(h, "empty", GGUF_TYPE_UINT16, NULL, 0);
    gguf_set_val_i8(h, "i8", -1);
    gguf_set_val_u16(h, "u16", 65535);
    gguf_set_val_i16(h, "i16", -2);
    gguf_set_val_i32(h, "i32", -3);
    gguf_set_val_u64(h, "u64", UINT64_MAX);
    gguf_set_kv(g, h);
    ok(gguf_get_n_kv(g) == 8 &&
           gguf_get_val_f64(g, gguf_find_key(g, "k")) == 2.5 &&
           gguf_get_arr_n(g, gguf_find_key(g, "empty")) == 0 &&
           gguf_get_val_i8(g, gguf_find_key(g, "i8")) == -1 &&
           gguf_get_val_u16(g, gguf_find_key(g, "u16")) == 65535 &&
           gguf_get_val_i16(g, gguf_find_key(g, "i16")) == -2 &&
           gguf_get_val_i32(g, gguf_find_key(g, "i32")) == -3 &&
           gguf_get_val_u64(g, gguf_find_key(g, "u64")) == UINT64_MAX,
       "gguf_set_kv() sets and overrides");
    gguf_free(g);
    gguf_free(h);
    gguf_free(NULL);
}

static void
test_offsets(void)
{
    struct gguf_context *g = small_file();

    is(gguf_get_tensor_offset(g, 1), 32, "offsets grow by padded sizes");
    gguf_set_val_u32(g, "general.alignment", 64);
    ok(gguf_get_alignment(g) == 64 && gguf_get_tensor_offset(g, 1) == 64,
       "a new alignment moves them");
    gguf_set_tensor_type(g, "a.weight", GGML_TYPE_F64);
    is(gguf_get_tensor_size(g, 0), 64, "a new type has a new size");
    gguf_set_val_u32(g, "general.alignment", 8);
    gguf_set_tensor_type(g, "a.weight", GGML_TYPE_BF16);
    is(gguf_get_tensor_offset(g, 1), 16, "and moves those behind it");
    gguf_remove_key(g, "general.alignment");
    ok(gguf_get_alignment(g) == 32 && gguf_get_tensor_offset(g, 1) == 32,
       "without the key the default returns");
    gguf_free(g);
}

/* Tensors that a table lists in no order keep their data when written. */
static void
test_out_of_order(void)
{
    struct bytes b = BYTES_HERE;
    struct gguf_context *g = NULL;
    struct gguf_file file;
    struct gg_error err;

    put_head(&b, 3, 2, 0);
    put_tensor1(&b, "last", 2, GGML_TYPE_F32, 128);
    put_tensor1(&b, "first", 2, GGML_TYPE_F32, 32);
    put_pad(&b, 32);
    for (int i = 0; i < 40; i++)
        put_f32(&b, (float)i);
    ok(gguf_parse(b.data, b.n, NULL, &g, &err) == GG_OK &&
           gguf_save(g, path, false, &err) == GG_OK &&
           gguf_file_open(path, 0, &file, &err) == GG_OK,
       "a file whose tensors lie in no order is copied");
    ok(*(const float *)gguf_tensor_named(file.gguf, "last")->data == 32 &&
           *(const float *)gguf_tensor_named(file.gguf, "first")->data == 8,
       "and each keeps its data");
    gguf_file_close(&file);
    gguf_file_close(&file);
    gguf_free(g);
    free(b.data);
}

static int
files_in_folder(void)
{
    DIR *d = opendir(scratch_folder);
    int n = 0;

    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void
test_full_disk(void)
{
    struct gguf_context *g = small_file();
    struct gg_error err = { "" };
    struct rlimit old, limit;

    unlink(path);
    ok(gguf_save(g, "/dev/full", false, &err) == GG_ERR_IO &&
           strcmp(err.message, "/dev/full: No space left on device") == 0,
       "a full disk is an error");
    ok(access("/dev/full", W_OK) == 0 &&
           gguf_save(g, "/dev/null", false, &err) == GG_OK,
       "and a device is not replaced by a file");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = (struct rlimit){ 100, old.rlim_max };
    setrlimit(RLIMIT_FSIZE, &limit);
    is(gguf_save(g, path, false, &err), GG_ERR_IO, "so is a limit");
    setrlimit(RLIMIT_FSIZE, &old);
    is(files_in_folder(), 0, "which leaves nothing behind");
    ok(gguf_save(g, "/no/such/folder/x", false, &err) == GG_ERR_IO &&
           strncmp(err.message, "/no/such/folder/x: ", 19) == 0,
       "no such folder");
    gguf_set_tensor_data(g, "a.weight", NULL);
    ok(gguf_save(g, path, false, &err) == GG_ERR_ARG && files_in_folder() == 0,
       "a tensor without data cannot be written");
    gguf_free(g);
}

/* Every function with a context that lacks something. */
static void
check_lacking(const struct gguf_context *g)
{
    char byte = 7;

    ok(gguf_out_of_memory(g) && gguf_get_meta_size(g) == 0,
       "what lacks something has no bytes");
    gguf_get_meta_data(g, &byte);
    ok(byte == 7 && !gguf_write_to_file(g, path, true) &&
           !gguf_write_to_file_ptr(g, stdout, true) &&
           gguf_save(g, path, false, NULL) == GG_ERR_NOMEM &&
           files_in_folder() == 0,
       "and is not written by any function");
}

static void
test_out_of_memory(void)
{
    struct ggml_tensor a = tensor("a.weight", GGML_TYPE_F32, 4, 2, a_data);
    struct gguf_context *g = small_file(), *h = gguf_init_empty();
    const char *tokens[] = { "one" };

    ok(!gguf_out_of_memory(g), "there was memory");
    mem_fail_after(0);
    gguf_set_val_u32(h, "key", 7);
    mem_fail_after(-1);
    gguf_set_kv(g, h);
    ok(gguf_out_of_memory(g), "a failure is copied with the pairs");
    check_lacking(g);
    gguf_free(h);
    h = gguf_init_empty();
    mem_fail_after(0);
    gguf_add_tensor(h, &a);
    gguf_set_arr_str(h, "tokens", tokens, 1);
    gguf_set_arr_data(h, "ids", GGUF_TYPE_INT8, tokens[0], 3);
    gguf_set_val_str(h, "name", "x");
    gguf_copy_kv(h, g, 0);
    mem_fail_after(-1);
    gguf_set_tensor_data(h, "a.weight", a_data);
    gguf_set_tensor_type(h, "a.weight", GGML_TYPE_F16);
    ok(gguf_get_n_kv(h) == 0 && gguf_get_n_tensors(h) == 0,
       "a tensor that there was no memory for can be changed in vain");
    check_lacking(h);
    gguf_free(g);
    gguf_free(h);
}

static void
test_allocation_failures(void)
{
    struct bytes want = BYTES_HERE;
    bool honest = true;
    enum gg_status st = GG_ERR_NOMEM;
    long n = 0;

    put_small_file(&want);
    put_pad(&want, 32);
    for (; n < 1000 && st != GG_OK; n++) {
        struct gguf_context *g;

        mem_fail_after(n);
        g = gguf_init_empty();
        mem_fail_after(-1);
        gguf_free(g);
        if (!g)
            continue;
        mem_fail_after(n);
        g = small_file();
        st = gguf_save(g, path, false, NULL);
        mem_fail_after(-1);
        gguf_free(g);
        honest &= st != GG_OK || file_equals(want.data, want.n);
    }
    ok(st == GG_OK && n > 10 && honest && files_in_folder() == 1,
       "what is written is whole, or the writer says that it is not");
    unlink(path);
    free(want.data);
}

int
main(void)
{
    strcpy(path, scratch_file("small.gguf"));
    test_bytes(GGUF_BIG_ENDIAN);
    test_read_back();
    test_bytes(GGUF_LITTLE_ENDIAN);
    test_read_back();
    test_other_ways_in();
    test_log();
    test_set();
    test_offsets();
    test_out_of_order();
    test_full_disk();
    test_out_of_memory();
    test_allocation_failures();
    return tap_done();
}
