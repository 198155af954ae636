/* sha256_file.c - the SHA-256 of bytes and files, for programs */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/mem.h"
#include "core/sha256.h"

enum {
    PIECE = 1 << 18, /* bytes that are read at a time */
};

enum gg_status
gg_sha256(const void *data, size_t n, uint8_t hash[GG_SHA256],
          struct gg_error *err)
{
    struct sha256 h;

    if ((!data && n) || !hash)
        return error_null(err);
    sha256_start(&h);
    if (n)
        sha256_add(&h, data, n);
    sha256_end(&h, hash);
    return GG_OK;
}

/* Returns whether there are no more bytes, without an error. */
static bool
hash_descriptor(struct sha256 *h, int fd, uint8_t *piece)
{
    off_t at = 0;
    ssize_t n;

    while ((n = pread(fd, piece, PIECE, at)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        sha256_add(h, piece, (size_t)n);
        at += n;
    }
    return n == 0;
}

enum gg_status
gg_sha256_file(int fd, uint8_t hash[GG_SHA256], struct gg_error *err)
{
    uint8_t *piece = hash ? mem_alloc(PIECE) : NULL;
    enum gg_status st = GG_OK;
    struct sha256 h;

    if (!hash)
        return error_null(err);
    if (!piece)
        return error_nomem(err);
    sha256_start(&h);
    if (hash_descriptor(&h, fd, piece))
        sha256_end(&h, hash);
    else
        st = error_set(err, GG_ERR_IO, "%s", strerror(errno));
    mem_free(piece);
    return st;
}
