/* test_gguf_shards.c - a model in several files: joined, or refused by name */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "gguf/context.h"
#include "gguf/reader.h"
#include "fixtures/split.h"
#include "harness/scratch.h"
#include "harness/tap.h"

enum {
    N_TENSORS = 7,
    N_SHARDS = 3,
};

static char whole[SCRATCH_PATH], stem[SCRATCH_PATH];
static struct gg_error err;

static const char *
shard(int no)
{
    static char buf[SCRATCH_PATH];

    return split_shard_name(buf, sizeof(buf), stem, no, N_SHARDS);
}

/* Tensors of different sizes whose bytes tell which they are. */
static bool
write_whole(void)
{
    static float data[N_TENSORS][64];
    struct ggml_init_params params = { .mem_size = 65536, .no_alloc = true };
    struct ggml_context *pool = ggml_init(params);
    struct gguf_context *g = gguf_init_empty();
    bool done;

    gguf_set_val_str(g, "general.architecture", "llama");
    for (int i = 0; i < N_TENSORS; i++) {
        struct ggml_tensor *t =
            ggml_new_tensor_1d(pool, GGML_TYPE_F32, 9 * i + 1);

        ggml_format_name(t, "t%d", i);
        for (int k = 0; k < 64; k++)
            data[i][k] = (float)(100 * i + k);
        t->data = data[i];
        gguf_add_tensor(g, t);
    }
    done = gguf_write_to_file(g, whole, false);
    gguf_free(g);
    ggml_free(pool);
    return done;
}

static bool
right_tensor(const struct gguf_context *g, int i)
{
    char name[16];
    const struct gguf_tensor *t;
    float first, last;

    snprintf(name, sizeof(name), "t%d", i);
    t = gguf_tensor_named(g, name);
    if (!t || t->size != (size_t)(9 * i + 1) * sizeof(float))
        return false;
    memcpy(&first, t->data, sizeof(first));
    memcpy(&last, (const char *)t->data + t->size - sizeof(last), sizeof(last));
    return first == 100 * i && last == 100 * i + 9 * i;
}

/* Each tensor's data lies where gguf.h says, in the file that it names. */
static bool
right_place(const struct gguf_context *g, int64_t i)
{
    int64_t from = gguf_get_tensor_shard(g, i);
    FILE *f = fopen(gguf_get_shard_name(g, from), "rb");
    float first = -1;
    int n;

    if (!f)
        return false;
    if (fseek(f, (long)gguf_get_tensor_place(g, i), SEEK_SET) == 0 &&
        fread(&first, sizeof(first), 1, f) == 1)
        n = atoi(gguf_get_tensor_name(g, i) + 1);
    else
        n = -1;
    fclose(f);
    return first == 100 * n;
}

static void
check_joined(bool bare_first, unsigned flags, const char *name)
{
    struct gguf_file file;
    bool right = split_file(whole, stem, N_SHARDS, bare_first, NULL) &&
                 gguf_file_open(shard(0), flags, &file, &err) == GG_OK;

    ok(right && file.n_maps == N_SHARDS &&
           gguf_get_n_tensors(file.gguf) == N_TENSORS,
       name);
    ok(right && file.gguf->indexed, "names are looked up by their hash");
    for (int i = 0; i < N_TENSORS; i++)
        right = right && right_tensor(file.gguf, i);
    ok(right, "every tensor is there, with its own bytes");
    for (int i = 0; i < N_TENSORS; i++)
        right = right && right_place(file.gguf, i);
    ok(right, "and in the file where it is said to be");
    if (right)
        gguf_file_close(&file);
}

/* Shards that were joined can be written as one file. */
static void
check_merge(void)
{
    struct gguf_file file, again = { 0 };
    char *out = scratch_file("merged.gguf");
    bool right = gguf_file_open(shard(0), GGUF_OPEN_ALL, &file, &err) == GG_OK;

    if (right) {
        gguf_set_val_u16(file.gguf, "split.count", 0);
        right = gguf_save(file.gguf, out, false, &err) == GG_OK;
        gguf_file_close(&file);
    }
    right = right && gguf_file_open(out, GGUF_OPEN_ALL, &again, &err) == GG_OK;
    for (int i = 0; i < N_TENSORS; i++)
        right = right && right_tensor(again.gguf, i);
    ok(right && again.n_maps == 1, "what was joined is written as one file");
    gguf_file_close(&again);
    unlink(out);
}

static bool
says(const char *a, const char *b)
{
    if (strstr(err.message, a) && strstr(err.message, b))
        return true;
    printf("# said: %s\n", err.message);
    return false;
}

static void
refused(const char *path, unsigned flags, const char *a, const char *b,
        const char *name)
{
    struct gguf_file file;
    enum gg_status st;

    memset(&err, 0, sizeof(err));
    st = gguf_file_open(path, flags, &file, &err);
    ok(st != GG_OK && !file.gguf && !file.maps && says(a, b), name);
    gguf_file_close(&file);
}

static void
check_single(void)
{
    struct gguf_file file;
    enum gg_status st = gguf_file_open(shard(0), 0, &file, &err);

    ok(st == GG_OK && file.n_maps == 1 && gguf_get_n_tensors(file.gguf) == 2,
       "the first alone: its own tensors");
    gguf_file_close(&file);
    refused(shard(1), 0, "file 2 of 3", "/model-00001-of-00003.gguf",
            "a later one: the name of the first");
    unlink(shard(2));
    st = gguf_file_open(shard(0), 0, &file, &err);
    is(st, GG_OK, "alone, the others need not be there");
    gguf_file_close(&file);
    refused(shard(0), GGUF_OPEN_ALL,
            "model-00003-of-00003.gguf: ", "No such file",
            "a missing one is named");
}

#define SPOIL(name, shard, call)                                               \
    static void name(struct gguf_context *g, int no)                           \
    {                                                                          \
        if (no == shard)                                                       \
            call;                                                              \
    }

SPOIL(other_count, 0, gguf_set_val_u16(g, "split.count", 2))
SPOIL(huge_count, 0, gguf_set_val_u16(g, "split.count", 65535))
SPOIL(vast_count, 0, gguf_set_val_u64(g, "split.count", UINT64_MAX))
SPOIL(minus_count, 0, gguf_set_val_i32(g, "split.count", -3))
SPOIL(text_count, 0, gguf_set_val_str(g, "split.count", "3"))
SPOIL(huge_no, 0, gguf_set_val_u16(g, "split.no", 3))
SPOIL(lost_no, 0, gguf_remove_key(g, "split.no"))
SPOIL(later_no, 0, gguf_set_val_u16(g, "split.no", 1))
SPOIL(other_count_2, 1, gguf_set_val_u16(g, "split.count", 4))
SPOIL(lost_count_2, 1, gguf_remove_key(g, "split.count"))
SPOIL(other_no_2, 1, gguf_set_val_u16(g, "split.no", 2))
SPOIL(other_total_3, 2, gguf_set_val_i32(g, "split.tensors.count", 8))
SPOIL(minus_total, 0, gguf_set_val_i32(g, "split.tensors.count", -1))
#undef SPOIL

static void
wrong_total(struct gguf_context *g, int no)
{
    (void)no;
    gguf_set_val_i32(g, "split.tensors.count", 8);
}

static void
same_name(struct gguf_context *g, int no)
{
    static float x;
    struct ggml_tensor t = {
        .type = GGML_TYPE_F32, .ne = { 1, 1, 1, 1 }, .data = &x, .name = "t0"
    };

    if (no == 2)
        gguf_add_tensor(g, &t);
}

static void
check_hostile(void)
{
    static const struct {
        split_spoil_fn spoil;
        const char *a, *b, *name;
    } cases[] = {
        { other_count, "split.count: 2 files", "-00001-of-00002.gguf",
          "a count that contradicts the name" },
        { huge_count, "split.count: 65535 files", "1024", "65535 files" },
        { vast_count, "split.count", "", "2^64 - 1 files" },
        { minus_count, "split.count", "", "-3 files" },
        { text_count, "split.count", "", "a count of letters" },
        { huge_no, "split.no: 3", "3 files", "a number past the count" },
        { lost_no, "split.no", "no such key", "no number" },
        { later_no, "file 2 of 3", "open the first one",
          "a later one under the name of the first" },
        { other_count_2, "00002-of-00003.gguf: split.count: 4", "3",
          "a file of another set: count" },
        { lost_count_2, "00002-of-00003.gguf: split.count", "",
          "a file that was not split" },
        { other_no_2, "00002-of-00003.gguf: split.no", "file 3",
          "a file of another set: number" },
        { other_total_3, "00003-of-00003.gguf: split.tensors.count", "",
          "a file of another set: tensors" },
        { minus_total, "split.tensors.count", "", "-1 tensors" },
        { wrong_total, "split.tensors.count: 8", "7", "a tensor is missing" },
        { same_name, "00003-of-00003.gguf: t0", "file 1",
          "a name in two files" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!split_file(whole, stem, N_SHARDS, false, cases[i].spoil))
            exit(99);
        refused(shard(0), GGUF_OPEN_ALL, cases[i].a, cases[i].b, cases[i].name);
    }
}

/* Names come from the path that was given, whatever it is. */
static void
check_names(void)
{
    char *name = scratch_file("renamed.gguf");
    static char path[SCRATCH_PATH], here[SCRATCH_PATH];
    size_t n = strlen(shard(0));

    if (!split_file(whole, stem, N_SHARDS, false, NULL))
        exit(99);
    rename(shard(0), name);
    refused(name, GGUF_OPEN_ALL, "renamed.gguf: split.count: 3 files",
            "does not end in -00001-of-00003.gguf",
            "a name that tells nothing");
    rename(name, shard(0));
    truncate(shard(1), 100);
    refused(shard(0), GGUF_OPEN_ALL, "00002-of-00003.gguf: ", "",
            "a later one that was cut");
    unlink(shard(1));
    mkdir(shard(1), 0700);
    refused(shard(0), GGUF_OPEN_ALL, "00002-of-00003.gguf: is a directory", "",
            "a folder in its place");
    rmdir(shard(1));
    if (!getcwd(here, sizeof(here)) || chdir(scratch_folder))
        exit(99);
    refused("model-00001-of-00003.gguf", GGUF_OPEN_ALL,
            "model-00002-of-00003.gguf: No such", "",
            "a path without a folder");
    if (chdir(here))
        exit(99);
    memset(path, '/', sizeof(path));
    strcpy(path + sizeof(path) - n - 1, shard(0));
    refused(path, GGUF_OPEN_ALL, "model-00002-of-00003.gguf: No such", "...",
            "a path of 4 kB");
    memset(path, 'a', 300);
    refused(path, GGUF_OPEN_ALL, "00001-of-00003.gguf: File name too long", "",
            "a name that is too long");
}

/* Whichever allocation fails: a status, nothing lost. */
static void
check_memory(void)
{
    struct gguf_file file;
    enum gg_status st = GG_ERR_NOMEM;
    bool right = split_file(whole, stem, N_SHARDS, true, NULL);
    long n = 0;

    for (; right && st != GG_OK && n < 10000; n++) {
        mem_fail_after(n);
        st = gguf_file_open(shard(0), GGUF_OPEN_ALL, &file, &err);
        right = st == GG_OK || (st == GG_ERR_NOMEM && !file.gguf);
        mem_fail_after(-1);
        gguf_file_close(&file);
    }
    printf("# %ld allocations\n", n - 1);
    ok(right && st == GG_OK && n > 20, "every allocation may fail");
}

static void
check_public(void)
{
    struct gguf_context *g = gguf_init_from_shards(shard(0));

    ok(g && gguf_get_n_shards(g) == N_SHARDS &&
           gguf_get_n_tensors(g) == N_TENSORS &&
           strcmp(gguf_get_shard_name(g, 2), shard(2)) == 0,
       "the public way: all of them");
    gguf_free(g);
    g = gguf_init_from_shards(whole);
    ok(g && gguf_get_n_shards(g) == 1 && !gguf_get_shard_name(g, 0) &&
           gguf_get_tensor_shard(g, 3) == 0 &&
           gguf_get_tensor_place(g, 3) ==
               gguf_get_data_offset(g) + gguf_get_tensor_offset(g, 3),
       "a file that was not split");
    gguf_free(g);
}

/* Whether the model opens by a symbolic link of that name. */
static bool
opens_by_link(const char *target, const char *name)
{
    struct gguf_file file;
    bool right = symlink(target, name) == 0 &&
                 gguf_file_open(name, GGUF_OPEN_ALL, &file, &err) == GG_OK;

    right = right && file.n_maps == N_SHARDS &&
            gguf_get_n_tensors(file.gguf) == N_TENSORS;
    for (int i = 0; i < N_TENSORS && right; i++)
        right = right_tensor(file.gguf, i) && right_place(file.gguf, i);
    if (right)
        gguf_file_close(&file);
    unlink(name);
    return right;
}

/* As the cache of a hub has them: names that fit are links to files whose
 * names are hashes. */
static bool
opens_by_links(void)
{
    char names[N_SHARDS][SCRATCH_PATH], hashes[N_SHARDS][SCRATCH_PATH];
    struct gguf_file file;
    bool right = true;

    for (int i = 0; i < N_SHARDS; i++) {
        strcpy(names[i], shard(i));
        strcpy(hashes[i], scratch_file((const char *[]){ "a", "b", "c" }[i]));
        right &= rename(names[i], hashes[i]) == 0 &&
                 symlink(hashes[i], names[i]) == 0;
    }
    right &= gguf_file_open(names[0], GGUF_OPEN_ALL, &file, &err) == GG_OK;
    if (right)
        gguf_file_close(&file);
    for (int i = 0; i < N_SHARDS; i++)
        right &= rename(hashes[i], names[i]) == 0;
    return right;
}

static void
check_links(void)
{
    char link[SCRATCH_PATH], middle[SCRATCH_PATH], last[SCRATCH_PATH];
    const char *first;
    bool right = split_file(whole, stem, N_SHARDS, false, NULL);

    strcpy(link, scratch_file("link.gguf"));
    strcpy(middle, scratch_file("middle"));
    ok(right && opens_by_link(shard(0), link),
       "a link of another name to the first file");
    ok(opens_by_link(strrchr(shard(0), '/') + 1, link), "a relative one");
    ok(symlink(shard(0), middle) == 0 && opens_by_link(middle, link),
       "a link to a link");
    unlink(middle);
    ok(opens_by_links(), "links of the right names to files of others");
    strcpy(last, shard(2));
    first = shard(0);
    ok(!opens_by_link(last, link) && strstr(err.message, "file 3 of 3") &&
           strstr(err.message, first),
       "one to a later file is answered with the name of the first");
    ok(rename(first, whole) == 0 && !opens_by_link(whole, link) &&
           strstr(err.message, "the name of this one does not end in"),
       "one to a file that has no such name either is refused");
}

int
main(void)
{
    strcpy(whole, scratch_file("whole.gguf"));
    strcpy(stem, scratch_file("model"));
    if (!write_whole())
        return 99;
    check_joined(true, GGUF_OPEN_ALL, "three files, no tensor in the first");
    check_joined(false, GGUF_OPEN_ALL | GGUF_OPEN_READ, "the same, read");
    check_merge();
    check_public();
    check_single();
    check_hostile();
    check_names();
    check_memory();
    check_links();
    return tap_done();
}
