/* piece_rows.c - the file of a piece: written, and read with mistrust */
#include "session/piece_rows.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/crc32.h"
#include "core/mem.h"
#include "session/pipeline.h"
#include "session/state.h"
#include "session/state_out.h"

enum {
    VERSION = 2,
    HAS_STATE = 1,
    MAGIC = 8,
    N_SUMS = 2,
};

static const uint8_t magic[MAGIC] = { 0x89, 'G',  'G',  'P',
                                      '\r', '\n', 0x1a, '\n' };

/* As it is in the file: no member needs a gap before it. */
struct head {
    uint8_t magic[MAGIC];
    uint32_t version, flags;
    int32_t first, n;
    uint64_t size;
    uint32_t n_media, zero;
    uint8_t key[SHA256_BYTES];
};

/* ---- parts --------------------------------------------------------------- */

static int32_t
ratio_of(const struct model *m, int part)
{
    return part < CACHE_KINDS ? 1
                              : m->hp.compressions[part - CACHE_KINDS].ratio;
}

static void
describe_rows(const struct gg_session *s, const struct piece *p,
              struct piece_part *part)
{
    const struct ggml_tensor *t = s->cache.layers[part->layer].t[part->k];
    int of = session_state_part(s->model, part->layer, part->k);

    part->windowed = of == CACHE_WINDOW;
    part->ratio = ratio_of(s->model, of);
    part->first = p->first / part->ratio;
    part->n = (p->first + p->n) / part->ratio - part->first;
    part->type = t->type;
    part->size = session_cache_row_size(t);
}

static void
describe_state(const struct gg_session *s, struct piece_part *part)
{
    const struct ggml_tensor *t = s->cache.layers[part->layer].states[part->k];

    part->windowed = false;
    part->ratio = part->n = 1;
    part->first = 0;
    part->type = t->type;
    part->size = t->nb[1];
}

/* To the first tensor that is there, from the present one on. */
static void
find_tensor(const struct gg_session *s, const struct piece *p,
            struct piece_part *part)
{
    for (; part->layer < s->cache.n_layer; part->layer++) {
        const struct cache_layer *l = &s->cache.layers[part->layer];

        for (; !part->recurrent && part->k < CACHE_TENSORS; part->k++)
            if (l->t[part->k]) {
                describe_rows(s, p, part);
                return;
            }
        part->k = part->recurrent ? part->k : 0;
        part->recurrent = true;
        for (; p->state && part->k < CACHE_RECURRENT; part->k++)
            if (l->states[part->k]) {
                describe_state(s, part);
                return;
            }
        part->k = 0;
        part->recurrent = false;
    }
}

void
session_piece_begin(const struct gg_session *s, const struct piece *p,
                    struct piece_part *part)
{
    *part = (struct piece_part){ 0 };
    find_tensor(s, p, part);
}

void
session_piece_next(const struct gg_session *s, const struct piece *p,
                   struct piece_part *part)
{
    part->at += (size_t)part->n * part->size;
    part->k++;
    find_tensor(s, p, part);
}

/* Bytes of all rows, and of the longest part. */
static size_t
count_row_bytes(const struct gg_session *s, const struct piece *p,
                size_t *longest)
{
    struct piece_part part;

    *longest = 1;
    for (session_piece_begin(s, p, &part); part.layer < s->cache.n_layer;
         session_piece_next(s, p, &part))
        if ((size_t)part.n * part.size > *longest)
            *longest = (size_t)part.n * part.size;
    return part.at;
}

/* ---- places in the file -------------------------------------------------- */

static uint64_t
aligned(uint64_t n)
{
    return (n + GGUF_DEFAULT_ALIGNMENT - 1) / GGUF_DEFAULT_ALIGNMENT *
           GGUF_DEFAULT_ALIGNMENT;
}

static size_t
ids_size(const struct piece *p)
{
    return (size_t)p->n * sizeof(*p->ids);
}

static size_t
table_size(const struct piece *p)
{
    return (size_t)p->n_media * sizeof(struct piece_medium);
}

static uint64_t
rows_at(const struct piece *p)
{
    return aligned(sizeof(struct head) + ids_size(p) + table_size(p));
}

static uint64_t
sums_at(const struct piece *p, uint64_t size)
{
    return aligned(rows_at(p) + size);
}

size_t
session_piece_size(const struct gg_session *s, const struct piece *p)
{
    size_t longest, size = count_row_bytes(s, p, &longest);

    return (size_t)aligned(sums_at(p, size) + N_SUMS * sizeof(uint32_t));
}

/* ---- writing ------------------------------------------------------------- */

/* Gets rows of a tensor, block by block: blocks may be other slots'. */
static enum gg_status
get_rows(struct gg_session *s, int32_t slot, const struct piece_part *part,
         char *to, struct gg_error *err)
{
    const struct cache *c = &s->cache;
    int of = graph_part_of(&c->layers[part->layer], part->k);
    int32_t row = part->first, end = part->first + part->n, n;
    enum gg_status st = GG_OK;

    for (; row < end && st == GG_OK; row += n, to += (size_t)n * part->size) {
        n = CACHE_BLOCK - row % CACHE_BLOCK;
        n = n < end - row ? n : end - row;
        st = session_get_rows(s, part->layer, part->k,
                              session_cache_row(c, of, slot, row * part->ratio),
                              n, to, err);
    }
    return st;
}

static enum gg_status
get_part(struct gg_session *s, int32_t slot, const struct piece *p,
         const struct piece_part *part, char *to, struct gg_error *err)
{
    return part->recurrent ? session_get_state(s, part->layer, part->k, slot,
                                               p->first + p->n, to, err)
                           : get_rows(s, slot, part, to, err);
}

static enum gg_status
write_piece_rows(struct gg_session *s, int32_t slot, const struct piece *p,
                 char *rows, struct state_out *out, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    struct piece_part part;

    for (session_piece_begin(s, p, &part);
         part.layer < s->cache.n_layer && st == GG_OK;
         session_piece_next(s, p, &part)) {
        st = get_part(s, slot, p, &part, rows, err);
        if (st == GG_OK)
            st = session_state_put(out, rows, (size_t)part.n * part.size);
    }
    if (st == GG_OK) /* a device may have failed meanwhile */
        st = session_compute_status(s->compute.sched, GGML_STATUS_SUCCESS, err);
    return st;
}

static enum gg_status
write_piece_head(const struct piece *p, const struct piece_medium *table,
                 size_t size, struct state_out *out)
{
    struct head h = { .version = VERSION,
                      .flags = p->state ? HAS_STATE : 0,
                      .first = p->first,
                      .n = p->n,
                      .size = size,
                      .n_media = (uint32_t)p->n_media };
    enum gg_status st;

    memcpy(h.magic, magic, MAGIC);
    memcpy(h.key, p->key, sizeof(h.key));
    st = session_state_put(out, &h, sizeof(h));
    if (st == GG_OK)
        st = session_state_put(out, p->ids, ids_size(p));
    return st == GG_OK ? session_state_put(out, table, table_size(p)) : st;
}

enum gg_status
session_piece_write(struct gg_session *s, int32_t slot, struct piece *p, int fd,
                    struct gg_error *err)
{
    struct piece_medium table[PIECE_IDS];
    struct state_out out;
    size_t longest, size = count_row_bytes(s, p, &longest);
    char *rows = mem_alloc(longest);
    enum gg_status st = session_state_out_init(&out, N_SUMS, err);

    out.fd = fd;
    p->n_media = session_piece_list_media(s, p, table);
    if (st == GG_OK && !rows)
        st = error_nomem(err);
    if (st == GG_OK)
        st = write_piece_head(p, table, size, &out);
    if (st == GG_OK)
        st = session_state_next_part(&out);
    if (st == GG_OK)
        st = write_piece_rows(s, slot, p, rows, &out, err);
    if (st == GG_OK)
        st = session_state_put_sums(&out);
    session_state_out_clear(&out);
    mem_free(rows);
    return st;
}

/* ---- reading ------------------------------------------------------------- */

static bool
read_at(int fd, void *to, size_t n, uint64_t at)
{
    char *p = to;

    while (n > 0) {
        ssize_t got = pread(fd, p, n, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
        at += (uint64_t)got;
    }
    return true;
}

static bool
read_sums(int fd, const struct piece *p, uint64_t size, uint32_t sums[N_SUMS])
{
    return read_at(fd, sums, N_SUMS * sizeof(*sums), sums_at(p, size));
}

static bool
is_sound(const struct gg_session *s, const struct head *h)
{
    return memcmp(h->magic, magic, MAGIC) == 0 && h->version == VERSION &&
           (h->flags == 0 ||
            (h->flags == HAS_STATE && session_piece_recurs(s))) &&
           h->first >= 0 && h->n > 0 && h->n <= PIECE_IDS &&
           h->first <= INT32_MAX / 2 && h->n_media <= (uint32_t)h->n &&
           h->zero == 0;
}

static uint32_t
sum_head(const struct head *h, const struct piece *p,
         const struct piece_medium *table)
{
    uint32_t crc = crc32_bytes(0, h, sizeof(*h));

    crc = crc32_bytes(crc, p->ids, ids_size(p));
    return crc32_bytes(crc, table, table_size(p));
}

bool
session_piece_read(struct gg_session *s, int fd, struct piece *p)
{
    struct piece_medium table[PIECE_IDS];
    uint32_t sums[N_SUMS];
    size_t longest;
    struct stat st;
    struct head h;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
        !read_at(fd, &h, sizeof(h), 0) || !is_sound(s, &h))
        return false;
    memcpy(p->key, h.key, sizeof(h.key));
    p->first = h.first;
    p->n = h.n;
    p->state = h.flags & HAS_STATE;
    p->n_media = (int32_t)h.n_media;
    if (h.size != count_row_bytes(s, p, &longest) ||
        (uint64_t)st.st_size != session_piece_size(s, p) ||
        !read_at(fd, p->ids, ids_size(p), sizeof(h)) ||
        !read_at(fd, table, table_size(p), sizeof(h) + ids_size(p)) ||
        !read_sums(fd, p, h.size, sums))
        return false;
    return sum_head(&h, p, table) == sums[0] &&
           session_piece_number(s, p, table);
}

static bool
are_rows_finite(const struct gg_session *s, const struct piece *p,
                const char *rows)
{
    struct piece_part part;
    bool are = true;

    for (session_piece_begin(s, p, &part); part.layer < s->cache.n_layer && are;
         session_piece_next(s, p, &part))
        are = part.n == 0 || ggml_validate_row_data(part.type, rows + part.at,
                                                    (size_t)part.n * part.size);
    return are;
}

char *
session_piece_rows(const struct gg_session *s, int fd, const struct piece *p,
                   bool *nomem)
{
    size_t longest, size = count_row_bytes(s, p, &longest);
    char *rows = mem_alloc(size + 1);
    uint32_t sums[N_SUMS];

    *nomem = !rows;
    if (rows && read_at(fd, rows, size, rows_at(p)) &&
        read_sums(fd, p, size, sums) && crc32_bytes(0, rows, size) == sums[1] &&
        are_rows_finite(s, p, rows))
        return rows;
    mem_free(rows);
    return NULL;
}
