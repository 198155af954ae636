/* state_media.c - media whose rows stand in a state: a table says which id is
 * which row, and what is loaded has the ids that the session gives it */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "session/state_open.h"

enum {
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

static bool
reserve(struct state_head *h, size_t n)
{
    h->own.digits = mem_array(n, DIGITS);
    h->own.hashes = mem_array(n, sizeof(*h->own.hashes));
    h->own.first = mem_array(n, sizeof(*h->own.first));
    h->own.count = mem_array(n, sizeof(*h->own.count));
    return h->own.digits && h->own.hashes && h->own.first && h->own.count;
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
        h->own.count[n++] = m->list[i].n;
    }
    if (n == 0)
        return;
    h->version = STATE_VERSION;
    h->hashes = (struct gguf_array){ GGUF_TYPE_STRING, n, NULL, h->own.hashes };
    h->first = (struct gguf_array){ GGUF_TYPE_INT32, n, h->own.first, NULL };
    h->count = (struct gguf_array){ GGUF_TYPE_INT32, n, h->own.count, NULL };
}

bool
session_state_head_set_media(struct state_head *h, const struct gg_session *s,
                             const struct gg_state *state)
{
    const struct media *m = &s->media;
    bool *used = m->n ? mem_array(m->n, sizeof(*used)) : NULL;

    if (m->n == 0)
        return true;
    if (!used || !reserve(h, m->n)) {
        mem_free(used);
        return false;
    }
    for (size_t i = 0; i < state->n_sequences; i++)
        mark_used(m, &state->sequences[i], used);
    set_media(h, m, used);
    mem_free(used);
    return true;
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

/* Row i of the table; `end`: its ids begin there or after. */
static enum gg_status
read_medium(struct opener *o, size_t i, int32_t end)
{
    const struct state_head *its = &o->its;
    struct state_medium *x = &o->media[i];
    const struct medium *m;
    uint8_t hash[GG_MEDIUM_HASH];

    x->first = gguf_array_i32(&its->first, i);
    x->n = gguf_array_i32(&its->count, i);
    if (!read_hash(&its->hashes.strings[i], hash) || x->first < end ||
        x->n < 1 || x->n > INT32_MAX - x->first)
        return refuse_table(o);
    m = session_media_find(&o->session->media, hash);
    if (!m || m->n != x->n)
        return session_state_refuse(
            o, GG_ERR_UNSUPPORTED,
            "the state holds rows of a medium that is not here: SHA-256 %.*s",
            (int)DIGITS, its->hashes.strings[i].s);
    x->to = m->first;
    return GG_OK;
}

enum gg_status
session_state_read_media(struct opener *o)
{
    const struct state_head *its = &o->its;
    size_t n = its->hashes.n;
    int32_t end = o->session->media.n_vocab;
    enum gg_status st = GG_OK;

    if (its->first.n != n || its->count.n != n)
        return refuse_table(o);
    o->media = mem_array(n, sizeof(*o->media));
    if (!o->media)
        return error_nomem(o->err);
    for (size_t i = 0; i < n && st == GG_OK; i++) {
        st = read_medium(o, i, end);
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
