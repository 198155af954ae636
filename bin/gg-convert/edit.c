/* edit.c - changes the metadata of a file where it lies */
#include <config.h>

#include "common/cli.h"
#include "common/files.h"
#include "common/gguf.h"
#include "gg-convert/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE = 4096, /* a write within one is not torn by a signal */
    PIECE = 1 << 20,
};

/* Names, types, shapes and places of all tensors, without their data. */
static void
copy_table(struct gguf_context *to, const struct gguf_context *from)
{
    for (int64_t i = 0; i < gguf_get_n_tensors(from); i++) {
        gguf_add_like(to, from, i, gguf_get_tensor_type(from, i), NULL);
        if (gguf_get_tensor_offset(to, i) != gguf_get_tensor_offset(from, i))
            cli_die("%s: its data does not lie in the order of the table: "
                    "write a new file",
                    gguf_get_tensor_name(from, i));
    }
}

struct bytes {
    uint8_t *data;
    size_t size;
};

static void
read_at(int fd, const char *path, void *data, size_t size, off_t at)
{
    uint8_t *p = data;

    while (size) {
        ssize_t n = pread(fd, p, size, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            cli_die("%s: %s", path, n ? strerror(errno) : "was cut off");
        p += n;
        at += n;
        size -= (size_t)n;
    }
}

/* The stretch in which they differ; false: nowhere. */
static bool
differ(const struct bytes *a, const uint8_t *b, size_t *from, size_t *to)
{
    size_t i = 0, k = a->size;

    while (i < k && a->data[i] == b[i])
        i++;
    while (k > i && a->data[k - 1] == b[k - 1])
        k--;
    *from = i;
    *to = k;
    return i < k;
}

/* True: it was done, or nothing was to do. */
static bool
write_in_place(const char *path, int fd, const struct bytes *new)
{
    uint8_t *old = cli_alloc(NULL, new->size, 1);
    size_t from, to;
    bool done = true;

    read_at(fd, path, old, new->size, 0);
    if (differ(new, old, &from, &to)) {
        done = from / PAGE == (to - 1) / PAGE;
        if (done && (pwrite(fd, new->data + from, to - from, (off_t)from) !=
                         (ssize_t)(to - from) ||
                     fsync(fd)))
            cli_die("%s: %s", path, strerror(errno));
    }
    free(old);
    return done;
}

/* The metadata, then what the old file has from its data on. */
static void
write_new(const char *path, int fd, const struct bytes *new, size_t data,
          size_t size, bool quiet)
{
    uint8_t *piece = cli_alloc(NULL, PIECE, 1);
    struct ticker ticker;

    ticker_start(&ticker, quiet);
    cli_output(path);
    fwrite(new->data, 1, new->size, stdout);
    while (data < size && !ferror(stdout)) {
        size_t n = size - data < PIECE ? size - data : PIECE;

        ticker_show_part(&ticker, data, size, path);
        read_at(fd, path, piece, n, (off_t)data);
        fwrite(piece, 1, n, stdout);
        data += n;
    }
    ticker_end(&ticker);
    free(piece);
}

static size_t
file_size(int fd, const char *path)
{
    struct stat st;

    if (fstat(fd, &st))
        cli_die("%s: %s", path, strerror(errno));
    if (st.st_size == 0)
        cli_die("%s: file is empty", path);
    return (size_t)st.st_size;
}

/* The file's metadata, read while it is locked. */
static struct gg_file *
open_metadata(const char *path)
{
    struct gg_file *file;
    struct gg_error err;

    cli_check(gg_file_open_metadata(path, GG_FILE_ALONE, &file, &err), &err);
    if (strcmp(gg_file_format(file), "GGUF") != 0)
        cli_die("%s: not a GGUF file: it is %s", path, gg_file_format(file));
    return file;
}

void
edit_file(const char *path, struct key_changes *c, bool quiet)
{
    int fd = files_change(path, O_RDWR);
    size_t size = file_size(fd, path);
    struct gg_file *file = open_metadata(path);
    const struct gguf_context *old = gg_file_gguf(file);
    struct gguf_context *new = gguf_init_empty();
    struct bytes bytes;

    gguf_check_memory(new);
    gguf_set_byte_order(new, gguf_get_byte_order(old));
    if (gguf_find_key(old, GGUF_KEY_GENERAL_ALIGNMENT) >= 0)
        gguf_set_val_u32(new, GGUF_KEY_GENERAL_ALIGNMENT,
                         (uint32_t)gguf_get_alignment(old));
    keys_copy(new, old, c, false);
    copy_table(new, old);
    bytes.data = gguf_metadata_bytes(new, &bytes.size);
    if (bytes.size != gguf_get_data_offset(old) ||
        !write_in_place(path, fd, &bytes))
        write_new(path, fd, &bytes, gguf_get_data_offset(old), size, quiet);
    free(bytes.data);
    gguf_free(new);
    gg_file_close(file);
}
