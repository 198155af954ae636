/* state_media.c - media whose rows stand in a state: a table says which id is
 * which row, and what is loaded has the ids that the session gives it */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "session/pipeline.h"
#include "session/state_open.h"

enum {
    PLACES = 3,                  /* of a position */
    DIGITS = 2 * GG_MEDIUM_HASH, /* of a hash in a file */
};

/* ---- writing ------------------------------------------------------------- */

static void
mark_used(const struct media *m, const struct gg_state_sequence *q, bool *used)
{
    for (size_t i = 0; i < q->n_ids && m->n > 0; i++) {
        const struct medium *x = session_media_of(m, q->ids[i]);

        if (x)
            used[x - m->list] = true;
    }
}

static void
write_hash(char *to, const uint8_t *hash)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < GG_MEDIUM_HASH; i++) {
        to[2 * i] = digits[hash[i] >> 4];
        to[2 * i + 1] = digits[hash[i] & 15];
    }
}

/* How many numbers the layouts of those in use have. */
static void
count_layouts(const struct media *m, const bool *used, size_t *positions,
              size_t *blocks)
{
    *positions = *blocks = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct medium *x = &m->list[i];

        *positions += used[i] && x->positions ? PLACES * (size_t)x->n : 0;
        *blocks += used[i] && x->blocks ? (size_t)x->n : 0;
    }
}

static bool
reserve_layouts(struct state_head *h, const struct media *m, const bool *used)
{
    size_t positions, blocks;

    count_layouts(m, used, &positions, &blocks);
    h->own.layout = mem_array(m->n, sizeof(*h->own.layout));
    h->own.positions = mem_array(positions, sizeof(*h->own.positions));
    h->own.blocks = mem_array(blocks, sizeof(*h->own.blocks));
    return h->own.layout && h->own.positions && h->own.blocks;
}

static bool
reserve(struct state_head *h, size_t n)
{
    h->own.digits = mem_array(n, DIGITS);
    h->own.hashes = mem_array(n, sizeof(*h->own.hashes));
    h->own.first = mem_array(n, sizeof(*h->own.first));
    h->own.count = mem_array(n, sizeof(*h->own.count));
    return h->own.digits && h->own.hashes && h->own.first && h->own.count;
}

static int32_t
set_layout(struct state_head *h, const struct medium *x)
{
    int32_t *positions = h->own.positions + h->positions.n;
    int32_t *blocks = h->own.blocks + h->blocks.n;

    if (x->positions) {
        memcpy(positions, x->positions,
               PLACES * (size_t)x->n * sizeof(*positions));
        h->positions.n += PLACES * (size_t)x->n;
    }
    for (int32_t i = 0; i < x->n && x->blocks; i++)
        blocks[i] = x->blocks[i].first;
    h->blocks.n += x->blocks ? (size_t)x->n : 0;
    return (x->positions ? STATE_ROWS_POSITIONS : 0) |
           (x->blocks ? STATE_ROWS_BLOCKS : 0);
}

static void
set_media(struct state_head *h, const struct media *m, const bool *used)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++) {
        char *digits = h->own.digits + n * DIGITS;

        if (!used[i])
            continue;
        write_hash(digits, m->list[i].hash);
        h->own.hashes[n] = (struct gguf_str){ digits, DIGITS };
        h->own.first[n] = m->list[i].first;
        h->own.layout[n] = set_layout(h, &m->list[i]);
        h->own.count[n++] = m->list[i].n;
    }
    if (n == 0)
        return;
    h->version = STATE_VERSION;
    h->hashes = (struct gguf_array){ GGUF_TYPE_STRING, n, NULL, h->own.hashes };
    h->first = (struct gguf_array){ GGUF_TYPE_INT32, n, h->own.first, NULL };
    h->count = (struct gguf_array){ GGUF_TYPE_INT32, n, h->own.count, NULL };
    h->layout = (struct gguf_array){ GGUF_TYPE_INT32, n, h->own.layout, NULL };
    h->positions = (struct gguf_array){ GGUF_TYPE_INT32, h->positions.n,
                                        h->own.positions, NULL };
    h->blocks = (struct gguf_array){ GGUF_TYPE_INT32, h->blocks.n,
                                     h->own.blocks, NULL };
}

bool
session_state_head_set_media(struct state_head *h, const struct gg_session *s,
                             const struct gg_state *state)
{
    const struct media *m = &s->media;
    bool *used = m->n ? mem_array(m->n, sizeof(*used)) : NULL;
    bool done;

    if (m->n == 0)
        return true;
    if (!used || !reserve(h, m->n)) {
        mem_free(used);
        return false;
    }
    for (size_t i = 0; i < state->n_sequences; i++)
        mark_used(m, &state->sequences[i], used);
    done = reserve_layouts(h, m, used);
    if (done)
        set_media(h, m, used);
    mem_free(used);
    return done;
}

/* ---- reading ------------------------------------------------------------- */

static int
digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
read_hash(const struct gguf_str *s, uint8_t *hash)
{
    if (s->n != DIGITS)
        return false;
    for (size_t i = 0; i < GG_MEDIUM_HASH; i++) {
        int high = digit_of(s->s[2 * i]), low = digit_of(s->s[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        hash[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static enum gg_status
refuse_table(const struct opener *o)
{
    return session_state_refuse(o, GG_ERR_FORMAT,
                                STATE_KEY_ROWS ": makes no sense");
}

/* Numbers of the next medium, of an array in which *at were read. */
static bool
read_numbers(const struct gguf_array *a, size_t *at, size_t n, int32_t **out)
{
    if (n > a->n - *at)
        return false;
    *out = mem_array(n, sizeof(**out));
    for (size_t i = 0; i < n && *out; i++)
        (*out)[i] = gguf_array_i32(a, *at + i);
    *at += n;
    return *out;
}

/* The part of a layout that was read. */
struct layouts {
    size_t positions, blocks;
};

/* Without rows, the state of a medium is enough to go on after it. */
static enum gg_status
hold_medium(struct opener *o, const uint8_t *hash, int32_t n, int32_t layout,
            struct layouts *read, int32_t *first)
{
    const struct state_head *its = &o->its;
    struct gg_medium m = { .n = (size_t)n };
    int32_t *positions = NULL, *blocks = NULL;
    enum gg_status st = GG_OK;

    memcpy(m.hash, hash, sizeof(m.hash));
    if ((layout & ~STATE_ROWS_ALL) ||
        (layout & STATE_ROWS_POSITIONS &&
         !read_numbers(&its->positions, &read->positions, PLACES * m.n,
                       &positions)) ||
        (layout & STATE_ROWS_BLOCKS &&
         !read_numbers(&its->blocks, &read->blocks, m.n, &blocks)))
        st = refuse_table(o);
    m.positions = positions;
    m.blocks = blocks;
    if (st == GG_OK)
        st = session_media_add_held(&o->session->media, &m, first, o->err);
    mem_free(positions);
    mem_free(blocks);
    return st;
}

static enum gg_status
refuse_medium(const struct opener *o, size_t i)
{
    return session_state_refuse(
        o, GG_ERR_UNSUPPORTED,
        "the state holds rows of a medium that is not here: SHA-256 %.*s",
        (int)DIGITS, o->its.hashes.strings[i].s);
}

/* Row i of the table; `end`: its ids begin there or after. */
static enum gg_status
read_medium(struct opener *o, size_t i, int32_t end, struct layouts *read)
{
    const struct state_head *its = &o->its;
    struct state_medium *x = &o->media[i];
    uint8_t hash[GG_MEDIUM_HASH];
    const struct medium *m;
    enum gg_status st;

    x->first = gguf_array_i32(&its->first, i);
    x->n = gguf_array_i32(&its->count, i);
    if (!read_hash(&its->hashes.strings[i], hash) || x->first < end ||
        x->n < 1 || x->n > INT32_MAX - x->first)
        return refuse_table(o);
    m = session_media_find(&o->session->media, hash);
    if (!m && o->session->model->pipeline != &session_alone)
        return refuse_medium(o, i); /* other processes do not know of it */
    st = hold_medium(o, hash, x->n, gguf_array_i32(&its->layout, i), read,
                     &x->to);
    return st == GG_ERR_ARG ? refuse_medium(o, i) : st;
}

enum gg_status
session_state_read_media(struct opener *o)
{
    const struct state_head *its = &o->its;
    size_t n = its->hashes.n;
    int32_t end = o->session->media.n_vocab;
    struct layouts read = { 0, 0 };
    enum gg_status st = GG_OK;

    if (its->first.n != n || its->count.n != n || its->layout.n != n)
        return refuse_table(o);
    o->media = mem_array(n, sizeof(*o->media));
    if (!o->media)
        return error_nomem(o->err);
    for (size_t i = 0; i < n && st == GG_OK; i++) {
        st = read_medium(o, i, end, &read);
        end = o->media[i].first + o->media[i].n;
    }
    o->n_media = st == GG_OK ? n : 0;
    return st;
}

int32_t
session_state_number(const struct opener *o, int32_t id)
{
    if (id < o->session->media.n_vocab)
        return id;
    for (size_t i = 0; i < o->n_media; i++)
        if (id >= o->media[i].first && id - o->media[i].first < o->media[i].n)
            return o->media[i].to + (id - o->media[i].first);
    return -1;
}
