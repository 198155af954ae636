/* split.c - a model in several files, as llama.cpp's gguf-split names and marks
 * them */
#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/gguf.h"
#include "gg-convert/convert.h"

enum {
    MAX_FILES = 1024, /* what readers take */
};

uint64_t
split_size(const char *text)
{
    static const char units[] = "MG";
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    uint64_t each = unit ? (*unit == 'G' ? 1000000000u : 1000000u) : 1;

    if (*text < '1' || *text > '9' || (*end && (!unit || end[1])) ||
        n > UINT64_MAX / 4 / each)
        cli_misuse("--split: '%s' is no size such as 2G, 500M or 1000000",
                   text);
    return n * each;
}

/* Passes the tensors from *i on that fit into a file of `size` bytes of data,
 * at least one; *i gets the first that does not fit. */
static void
fill_part(const struct gguf_context *all, uint64_t size, int64_t *i)
{
    size_t align = gguf_get_alignment(all);
    int64_t first = *i;
    uint64_t used = 0;

    for (; *i < gguf_get_n_tensors(all); ++*i) {
        size_t n = gguf_get_tensor_size(all, *i);

        used += n + (align - n % align) % align;
        if (used > size && *i > first)
            return;
    }
}

static int
count_files(const struct gguf_context *all, uint64_t size)
{
    int64_t i = 0;
    int n = 0;

    do {
        fill_part(all, size, &i);
        n++;
    } while (i < gguf_get_n_tensors(all) && n <= MAX_FILES);
    if (n > MAX_FILES)
        cli_die("--split: more than %d files", MAX_FILES);
    return n;
}

/* "model.gguf" becomes "model-00001-of-00003.gguf". */
static void
set_path(char path[PATH_MAX], const char *out, int no, int n)
{
    static const char suffix[] = ".gguf";
    size_t len = strlen(out), end = strlen(suffix);

    if (len > end && strcmp(out + len - end, suffix) == 0)
        len -= end;
    if (snprintf(path, PATH_MAX, "%.*s-%05d-of-%05d%s", (int)len, out, no + 1,
                 n, suffix) >= PATH_MAX)
        cli_die("%s: the name is too long", out);
}

/* Keys and tensors of one file; the keys of the model are in the first. */
static struct gguf_context *
make_shard(const struct gguf_context *all, int64_t first, int64_t end, int no,
           int n)
{
    struct gguf_context *part = gguf_init_empty();

    gguf_check_memory(part);
    gguf_set_byte_order(part, gguf_get_byte_order(all));
    if (no == 0)
        gguf_set_kv(part, all);
    else if (gguf_find_key(all, GGUF_KEY_GENERAL_ALIGNMENT) >= 0)
        gguf_set_val_u32(part, GGUF_KEY_GENERAL_ALIGNMENT,
                         (uint32_t)gguf_get_alignment(all));
    gguf_set_val_u16(part, "split.no", (uint16_t)no);
    gguf_set_val_u16(part, "split.count", (uint16_t)n);
    gguf_set_val_i32(part, "split.tensors.count",
                     (int32_t)gguf_get_n_tensors(all));
    for (int64_t i = first; i < end; i++)
        gguf_add_like(part, all, i, gguf_get_tensor_type(all, i), NULL);
    return part;
}

void
write_split(struct writing *w, const char *out, uint64_t size)
{
    int n = count_files(w->to, size);
    int64_t first = 0, end = 0;
    char path[PATH_MAX];

    if (strcmp(out, "-") == 0)
        cli_misuse("several files cannot go to standard output");
    for (int no = 0; no < n; no++, first = end) {
        struct gguf_context *part;

        fill_part(w->to, size, &end);
        part = make_shard(w->to, first, end, no, n);
        set_path(path, out, no, n);
        cli_output_next(path);
        gguf_write_metadata(part);
        write_tensors(w, first, end);
        gguf_free(part);
    }
}
