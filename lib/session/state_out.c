/* state_out.c - the bytes of a state that is written: parts, each with its
 * CRC-32, on the alignment of a GGUF file */
#include "session/state_out.h"

#include <gguf.h>
#include <string.h>

#include "core/crc32.h"
#include "core/file.h"
#include "core/mem.h"

enum {
    PIECE = 1 << 16, /* bytes that are written at a time */
    LAST = 2,        /* parts after others: the sums, and an empty one */
};

enum gg_status
session_state_out_init(struct state_out *o, size_t n, struct gg_error *err)
{
    *o = (struct state_out){
        .buffer = mem_alloc(PIECE),
        .crc = mem_array(n + LAST, sizeof(*o->crc)),
        .err = err,
    };
    return o->buffer && o->crc ? GG_OK : error_nomem(err);
}

void
session_state_out_clear(struct state_out *o)
{
    mem_free(o->buffer);
    mem_free(o->crc);
}

static enum gg_status
flush(struct state_out *o)
{
    size_t n = o->used;

    o->used = 0;
    return file_write_all(o->fd, o->buffer, n, o->err);
}

enum gg_status
session_state_put(struct state_out *o, const void *data, size_t size)
{
    const uint8_t *p = data;
    enum gg_status st = GG_OK;

    for (size_t n; size && st == GG_OK; p += n, size -= n) {
        n = size < PIECE - o->used ? size : PIECE - o->used;
        memcpy(o->buffer + o->used, p, n);
        o->crc[o->n_crc] = crc32_bytes(o->crc[o->n_crc], p, n);
        o->used += n;
        o->n_put += n;
        if (o->used == PIECE)
            st = flush(o);
    }
    return st;
}

enum gg_status
session_state_next_part(struct state_out *o)
{
    static const uint8_t zeros[GGUF_DEFAULT_ALIGNMENT];
    size_t gap = (0 - o->n_put) % sizeof(zeros);
    enum gg_status st;

    o->n_crc++;
    st = session_state_put(o, zeros, gap);
    o->crc[o->n_crc] = 0;
    return st;
}

enum gg_status
session_state_put_sums(struct state_out *o)
{
    enum gg_status st = session_state_next_part(o);

    if (st == GG_OK)
        st = session_state_put(o, o->crc, o->n_crc * sizeof(*o->crc));
    if (st == GG_OK)
        st = session_state_next_part(o);
    return st == GG_OK ? flush(o) : st;
}
