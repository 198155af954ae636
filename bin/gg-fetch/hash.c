/* hash.c - hashes by which a file is verified */
#include <config.h>

#include "gg-fetch/hash.h"

#include <stdio.h>

#include "common/cli.h"

#ifdef HAVE_NETTLE

#include <nettle/sha1.h>
#include <nettle/sha2.h>

struct file_hash {
    enum sum_kind kind;
    struct sha256_ctx sha256;
    struct sha1_ctx sha1;
};

struct file_hash *
file_hash_new(enum sum_kind kind, uint64_t size)
{
    struct file_hash *h = cli_alloc(NULL, 1, sizeof(*h));
    char head[40];
    int n = snprintf(head, sizeof(head), "blob %llu", (unsigned long long)size);

    h->kind = kind;
    sha256_init(&h->sha256);
    sha1_init(&h->sha1);
    if (kind == SUM_GIT)
        sha1_update(&h->sha1, (size_t)n + 1, (const uint8_t *)head);
    return h;
}

void
file_hash_add(struct file_hash *h, const void *p, size_t n)
{
    if (h->kind == SUM_SHA256)
        sha256_update(&h->sha256, n, p);
    else if (h->kind == SUM_GIT)
        sha1_update(&h->sha1, n, p);
}

void
file_hash_hex(struct file_hash *h, char hex[SUM_HEX])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    size_t n = 0;

    if (h->kind == SUM_SHA256)
        sha256_digest(&h->sha256, n = SHA256_DIGEST_SIZE, digest);
    else if (h->kind == SUM_GIT)
        sha1_digest(&h->sha1, n = SHA1_DIGEST_SIZE, digest);
    hex[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

#else

struct file_hash *
file_hash_new(enum sum_kind kind, uint64_t size)
{
    (void)kind, (void)size;
    cli_die("files are verified by the nettle library, and this gg-fetch was "
            "built without it");
}

void
file_hash_add(struct file_hash *h, const void *p, size_t n)
{
    (void)h, (void)p, (void)n;
}

void
file_hash_hex(struct file_hash *h, char hex[SUM_HEX])
{
    (void)h;
    hex[0] = '\0';
}

#endif
