/* prefix_names.c - hashes of sequences, and names of a prefix cache's files */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "engine/prefix.h"

/* ---- hashes -------------------------------------------------------------- */

bool
engine_prefix_hash(const struct gg_sequence *q, struct prefix_hash *h)
{
    const struct engine_prefixes *p = q->engine->prefixes;
    size_t n_key = p->params.n_key, n_user = q->key ? strlen(q->key) : 0;

    h->session = q->engine->session;
    h->ids = q->ids;
    h->at = 0;
    sha256_start(&h->hash);
    sha256_add_u64(&h->hash, n_key);
    sha256_add(&h->hash, p->key, n_key);
    sha256_add_u64(&h->hash, q->key ? n_user + 1 : 0);
    sha256_add(&h->hash, q->key, n_user);
    return session_piece_add_key(q->engine->session, q->scales, &h->hash,
                                 NULL) == GG_OK;
}

int32_t
engine_prefix_known(const struct gg_sequence *q, size_t n)
{
    struct piece_row row;
    size_t i = 0;

    while (i < n && session_piece_row(q->engine->session, q->ids[i], &row))
        i++;
    return (int32_t)i;
}

/* Rows by what no token has: -1, their medium, and their number in it. */
static void
add_id(struct prefix_hash *h, int32_t id)
{
    static const int32_t none = -1;
    struct piece_row row;

    if (!session_piece_row(h->session, id, &row) || !row.medium) {
        sha256_add(&h->hash, &id, sizeof(id));
        return;
    }
    sha256_add(&h->hash, &none, sizeof(none));
    sha256_add(&h->hash, row.medium, SHA256_BYTES);
    sha256_add(&h->hash, &row.row, sizeof(row.row));
}

void
engine_prefix_digest(struct prefix_hash *h, int32_t n,
                     uint8_t digest[SHA256_BYTES])
{
    struct sha256 copy;

    for (; h->at < n; h->at++)
        add_id(h, h->ids[h->at]);
    copy = h->hash;
    sha256_end(&copy, digest);
}

void
engine_prefix_hex(const uint8_t digest[SHA256_BYTES], char hex[PREFIX_HEX + 1])
{
    for (int i = 0; i < PREFIX_HEX / 2; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* ---- names --------------------------------------------------------------- */

static bool
is_hex(const char *p, size_t n)
{
    return strspn(p, "0123456789abcdef") >= n;
}

/* "00000000-100-HEX-HEX" */
static bool
read_piece_name(const char *text, struct prefix_name *out)
{
    const char *hex = text + 8 + 1 + 3 + 1;

    if (strlen(text) != PREFIX_NAME - 1 || !is_hex(text, 8) || text[8] != '-' ||
        !is_hex(text + 9, 3) || hex[-1] != '-' || !is_hex(hex, PREFIX_HEX) ||
        hex[PREFIX_HEX] != '-' || !is_hex(hex + PREFIX_HEX + 1, PREFIX_HEX) ||
        text[0] > '3')
        return false;
    out->first = (int32_t)strtol(text, NULL, 16);
    out->n = (int32_t)strtol(text + 9, NULL, 16);
    memcpy(out->text, text, PREFIX_NAME);
    return out->n >= PREFIX_MATCH && out->n <= PIECE_IDS;
}

static int
by_first(const void *a, const void *b)
{
    const struct prefix_name *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return strcmp(x->text, y->text);
}

bool
engine_prefix_list(const struct engine_prefixes *p, struct prefix_name **names,
                   size_t *n)
{
    DIR *d = opendir(p->folder);
    const struct dirent *e;
    size_t cap = 0;
    bool done = true;

    *names = NULL;
    *n = 0;
    while (d && done && (e = readdir(d))) {
        struct prefix_name name;

        if (!read_piece_name(e->d_name, &name))
            continue;
        done = mem_grow(names, &cap, *n + 1, sizeof(name));
        if (done)
            (*names)[(*n)++] = name;
    }
    if (d)
        closedir(d);
    if (done && *n)
        qsort(*names, *n, sizeof(**names), by_first);
    return done;
}

char *
engine_prefix_path(const struct engine_prefixes *p, const char *name)
{
    size_t size = strlen(p->folder) + strlen(name) + 2;
    char *path = mem_alloc(size);

    if (path)
        snprintf(path, size, "%s/%s", p->folder, name);
    return path;
}
