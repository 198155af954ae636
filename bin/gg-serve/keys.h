/* keys.h - who may ask: the owner's file of keys, and what the front has of it
 *
 * A line of the file is KEY, or NAME, a tab, and KEY; empty lines and those
 * that begin with # are none. The front gets names and SHA-256 of keys alone.
 */
#ifndef SERVE_KEYS_H
#define SERVE_KEYS_H

#include <stdint.h>

#include <gg.h>

enum {
    KEY_MAX_NAME = 64,
    KEY_MAX = 512, /* bytes of a key */
    KEYS_MAX = 4096,
};

struct key {
    char name[KEY_MAX_NAME]; /* for the log; "1" for the first without one */
    uint8_t hash[32];
};

struct keys {
    struct key *of;
    int n;
};

/* Reads the file, which its owner alone may read. GG_ERR_IO, GG_ERR_FORMAT: a
 * sentence; *keys is as it was. */
enum gg_status
keys_read(const char *path, struct keys *keys, struct gg_error *err);

/* Which one it is; -1: none. As long for each that is none. */
int
keys_find(const struct keys *keys, const char *key);

#endif
