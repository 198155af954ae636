/* keys.c - keys as a file has them, and compared by their hashes */
#include <config.h>

#include "gg-serve/keys.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "gg-serve/lines.h"

#ifdef HAVE_NETTLE

#include <nettle/sha2.h>

static void
hash_key(const char *key, size_t n, uint8_t hash[32])
{
    struct sha256_ctx c;

    sha256_init(&c);
    sha256_update(&c, n, (const uint8_t *)key);
    sha256_digest(&c, 32, hash);
}

static enum gg_status
add_key_line(void *context, const char *line, size_t n, struct gg_error *err)
{
    struct keys *keys = context;
    const char *tab = memchr(line, '\t', n);
    const char *key = tab ? tab + 1 : line;
    size_t n_key = n - (size_t)(key - line);
    size_t n_name = tab ? (size_t)(tab - line) : 0;
    struct key *k;

    if (n_key == 0 || n_key > KEY_MAX || memchr(key, ' ', n_key))
        return cli_error(err, GG_ERR_FORMAT,
                         "a key has 1 to %d bytes, and no blank", KEY_MAX);
    if (n_name >= KEY_MAX_NAME || keys->n == KEYS_MAX)
        return cli_error(err, GG_ERR_FORMAT, "%s",
                         keys->n == KEYS_MAX ? "there are too many keys"
                                             : "the name is too long");
    keys->of = cli_alloc(keys->of, (size_t)keys->n + 1, sizeof(*keys->of));
    k = &keys->of[keys->n++];
    *k = (struct key){ 0 };
    if (tab)
        memcpy(k->name, line, n_name);
    else
        snprintf(k->name, sizeof(k->name), "%d", keys->n);
    hash_key(key, n_key, k->hash);
    return GG_OK;
}

enum gg_status
keys_read(const char *path, struct keys *keys, struct gg_error *err)
{
    struct keys new = { 0 };
    enum gg_status st = owner_lines_read(path, true, add_key_line, &new, err);

    free(st == GG_OK ? keys->of : new.of);
    if (st == GG_OK)
        *keys = new;
    return st;
}

/* No branch of it depends on a hash. */
static bool
hash_is(const uint8_t *a, const uint8_t *b)
{
    unsigned differs = 0;

    for (int i = 0; i < 32; i++)
        differs |= a[i] ^ b[i];
    return differs == 0;
}

int
keys_find(const struct keys *keys, const char *key)
{
    uint8_t hash[32];
    int found = -1;

    hash_key(key, strnlen(key, KEY_MAX + 1), hash);
    for (int i = 0; i < keys->n; i++)
        if (hash_is(keys->of[i].hash, hash))
            found = i;
    return found;
}

#else

enum gg_status
keys_read(const char *path, struct keys *keys, struct gg_error *err)
{
    (void)path;
    (void)keys;
    return cli_error(err, GG_ERR_UNSUPPORTED,
                     "gg was built without Nettle, which hashes keys");
}

int
keys_find(const struct keys *keys, const char *key)
{
    (void)keys;
    (void)key;
    return -1;
}

#endif
