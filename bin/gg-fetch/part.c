/* part.c - one file on its way: resumed, verified */
#include <config.h>

#include "gg-fetch/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/files.h"
#include "common/outside.h"
#include "gg-fetch/hash.h"
#include "gg-fetch/http.h"

enum {
    MAGIC = 9,       /* bytes by which a model is known */
    PIECE = 1 << 18, /* bytes read at a time */
};

/* A part while it is written. */
struct writer {
    struct part *part;
    int fd;
    uint64_t at; /* bytes that are there */
    struct file_hash *hash;
    char head[MAGIC];
    char etag[160]; /* of the first reply */
    bool answered;  /* this reply was looked at */
};

CLI_NORETURN static void
fail_file(const char *path)
{
    cli_die("%s: %s", path, strerror(errno));
}

/* Removes the bytes that came: they are no part of the file wanted. */
static void
remove_part(const struct writer *w)
{
    (void)outside_do(OUTSIDE_REMOVE, w->part->path, 0);
}

/* ---- what a model begins with -------------------------------------------- */

/* GGUF, an older format of ggml, or safetensors: the length of its header and
 * then a brace. */
static bool
is_magic(const char *head)
{
    static const char *const known[] = { "GGUF", "lmgg", "fmgg", "tjgg",
                                         "algg" };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (memcmp(head, known[i], 4) == 0)
            return true;
    return head[5] == 0 && head[6] == 0 && head[7] == 0 && head[8] == '{';
}

CLI_NORETURN static void
refuse_magic(const struct writer *w)
{
    remove_part(w);
    cli_die("%s: no model: neither GGUF, nor an older format, nor safetensors",
            w->part->name);
}

/* The first bytes, in whatever pieces they come. */
static void
look_at_head(struct writer *w, const char *piece, size_t n)
{
    if (w->at >= MAGIC || !w->part->is_model)
        return;
    memcpy(w->head + w->at, piece, n < MAGIC - w->at ? n : MAGIC - w->at);
    if (w->at + n >= MAGIC && !is_magic(w->head))
        refuse_magic(w);
}

/* ---- the file ------------------------------------------------------------ */

static void
add_bytes(struct writer *w, const char *piece, size_t n)
{
    look_at_head(w, piece, n);
    file_hash_add(w->hash, piece, n);
    w->at += n;
}

static void
write_bytes(int fd, const char *path, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno != EINTR)
            fail_file(path);
        if (done > 0) {
            p += done;
            n -= (size_t)done;
        }
    }
}

/* read(), but for signals; ends the tool where it fails. */
static size_t
read_piece(int fd, const char *path, char *piece)
{
    ssize_t n;

    do
        n = read(fd, piece, PIECE);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        fail_file(path);
    return (size_t)n;
}

static void
start_anew(struct writer *w)
{
    const struct part *p = w->part;

    if (ftruncate(w->fd, 0) || lseek(w->fd, 0, SEEK_SET) < 0)
        fail_file(p->path);
    free(w->hash);
    w->hash = file_hash_new(p->sum.kind, p->size);
    w->at = 0;
}

/* Takes what an earlier run has left. What nothing verifies may be of another
 * file: it is fetched anew. */
static void
take_rest(struct writer *w)
{
    const struct part *p = w->part;
    char *piece = cli_alloc(NULL, PIECE, 1);
    struct stat st;
    size_t n;

    if (fstat(w->fd, &st))
        fail_file(p->path);
    if (p->sum.kind == SUM_NONE || (uint64_t)st.st_size > p->size)
        start_anew(w);
    else
        w->hash = file_hash_new(p->sum.kind, p->size);
    while ((n = read_piece(w->fd, p->path, piece)) > 0)
        add_bytes(w, piece, n);
    free(piece);
}

/* ---- what comes ---------------------------------------------------------- */

/* The length that the reply has, with what is there already, is the one that
 * is wanted. */
static void
check_length(struct writer *w, const struct http_reply *r)
{
    struct part *p = w->part;
    uint64_t all;

    if (!r->has_length && !p->has_size)
        cli_die("%s: the server does not say how long it is", p->name);
    if (!r->has_length)
        return;
    if (__builtin_add_overflow(w->at, r->length, &all))
        all = UINT64_MAX;
    if (p->has_size && all != p->size)
        cli_die("%s: the server has %llu bytes, and it should be %llu", p->name,
                (unsigned long long)all, (unsigned long long)p->size);
    p->size = all;
    p->has_size = true;
}

static void
check_space(const struct writer *w)
{
    const struct part *p = w->part;
    struct statvfs fs;
    uint64_t want = p->size - w->at;

    if (p->has_size && fstatvfs(w->fd, &fs) == 0 && fs.f_frsize &&
        want / fs.f_frsize > fs.f_bavail)
        cli_die("%s: %llu MB are missing, and there is room for %llu MB",
                p->final, (unsigned long long)(want / 1000000),
                (unsigned long long)((uint64_t)fs.f_bavail * fs.f_frsize /
                                     1000000));
}

static void
check_reply(struct writer *w, const struct http_reply *r)
{
    w->answered = true;
    if (r->status == 200 && w->at)
        start_anew(w); /* it does not know parts, or has another file */
    if (r->status == 206 && r->first != w->at)
        cli_die("%s: the server sends another part than was requested",
                w->part->name);
    check_length(w, r);
    check_space(w);
    if (!w->etag[0])
        snprintf(w->etag, sizeof(w->etag), "%s", r->etag);
}

static bool
take_piece(void *data, const struct http_reply *reply, const char *piece,
           size_t n)
{
    struct writer *w = data;
    struct part *p = w->part;

    if (!w->answered)
        check_reply(w, reply);
    if (n > p->size - w->at) {
        remove_part(w);
        cli_die("%s: longer than %llu bytes", p->name,
                (unsigned long long)p->size);
    }
    write_bytes(w->fd, p->path, piece, n);
    add_bytes(w, piece, n);
    if (p->sum.kind != SUM_NONE)
        cli_discard_too(NULL); /* the next run continues it */
    ticker_show_part(p->ticker, p->before + w->at, p->all ? p->all : p->size,
                     p->name);
    return true;
}

static uint64_t
from_here(void *data)
{
    struct writer *w = data;

    w->answered = false;
    return w->at;
}

/* ---- verified ------------------------------------------------------------ */

static void
verify(struct writer *w)
{
    const struct part *p = w->part;
    char hex[SUM_HEX];

    if (w->at != p->size)
        cli_die("%s: it ends after %llu of %llu bytes", p->name,
                (unsigned long long)w->at, (unsigned long long)p->size);
    if (p->is_model && p->size < MAGIC)
        refuse_magic(w);
    file_hash_hex(w->hash, hex);
    if (p->sum.kind == SUM_NONE || strcmp(hex, p->sum.hex) == 0)
        return;
    remove_part(w);
    cli_die("%s: its %s is %s, and should be %s", p->name,
            p->sum.kind == SUM_GIT ? "hash" : "SHA-256", hex, p->sum.hex);
}

/* True if the open file has the size and the hash. */
static bool
is_complete(const struct part *p, int fd, const char *path)
{
    struct file_hash *h;
    char *piece, hex[SUM_HEX];
    struct stat st;
    size_t n;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !p->has_size ||
        (uint64_t)st.st_size != p->size || p->sum.kind == SUM_NONE)
        return false;
    h = file_hash_new(p->sum.kind, p->size);
    piece = cli_alloc(NULL, PIECE, 1);
    while ((n = read_piece(fd, path, piece)) > 0)
        file_hash_add(h, piece, n);
    file_hash_hex(h, hex);
    free(piece);
    free(h);
    return strcmp(hex, p->sum.hex) == 0;
}

static bool
file_is_same(const struct part *p, const char *path)
{
    int fd = outside_open(path, O_RDONLY | O_NONBLOCK);
    bool same = fd >= 0 && is_complete(p, fd, path);

    if (fd >= 0)
        close(fd);
    return same;
}

bool
part_is_there(const struct part *p, bool replace)
{
    struct stat st;

    if (!files_are_there(p->final, &st))
        return false;
    if (file_is_same(p, p->final))
        return true;
    if (!replace || !S_ISREG(st.st_mode))
        cli_die("%s: is there, and is not the file that is wanted", p->final);
    return false;
}

/* ---- a copy that is there ------------------------------------------------ */

/* File systems that can, share the blocks of both. */
static void
copy_file(const struct part *p)
{
    int in = open(p->copy, O_RDONLY | O_CLOEXEC);
    int out = outside_open(p->path, O_WRONLY | O_CREAT | O_TRUNC);
    char *piece = cli_alloc(NULL, PIECE, 1);
    size_t n;

    if (in < 0 || out < 0)
        fail_file(in < 0 ? p->copy : p->path);
    while (copy_file_range(in, NULL, out, NULL, 1 << 30, 0) > 0)
        ;
    while ((n = read_piece(in, p->copy, piece)) > 0) /* what is left */
        write_bytes(out, p->path, piece, n);
    if (fsync(out))
        fail_file(p->path);
    free(piece);
    close(in);
    close(out);
}

/* Takes the file from the hub's cache: by a link, where that is in the same
 * file system. */
static bool
take_copy(const struct part *p)
{
    if (!p->copy || !file_is_same(p, p->copy))
        return false;
    copy_file(p);
    return true;
}

void
part_fetch(struct part *p)
{
    struct writer w = { .part = p };
    struct http_reply reply;
    struct http_request q = { .url = p->url,
                              .name = p->name,
                              .take = take_piece,
                              .from = from_here,
                              .data = &w,
                              .etag = w.etag };

    if (take_copy(p))
        return;
    w.fd = files_lock(p->path, O_RDWR | O_CREAT, false);
    take_rest(&w);
    if (w.at == 0)
        cli_discard_too(p->path);
    if (!p->has_size || w.at < p->size)
        (void)http_get(&q, &reply);
    verify(&w);
    if (fsync(w.fd))
        fail_file(p->path);
    cli_discard_too(NULL);
    close(w.fd);
    free(w.hash);
}
