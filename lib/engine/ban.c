/* ban.c - banned strings: how far a text goes back where it has one
 *
 * Places are those of the last ids, as far as these may become a banned string,
 * and of the next one. Each keeps what drawing began with there. */
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/stop.h"
#include "sample/history.h"

struct ban_place {
    int32_t id;
    size_t begin;   /* where its bytes begin among all */
    size_t *states; /* of the strings, before it */
    struct gg_decode_state decode;
    struct gg_history history; /* its grammar has its address */
    int32_t *forbidden;
    size_t n_forbidden, cap;
};

struct gg_ban {
    const struct gg_vocab *vocab;
    const struct gg_stop *strings;
    struct ban_place **places; /* of n ids, and the next; there are n_places */
    size_t n, n_places, cap;
    size_t *states; /* after all ids */
    struct gg_decode_state decode;
    size_t len; /* bytes of all ids */
    char *piece;
    size_t cap_piece;
};

/* ---- places -------------------------------------------------------------- */

static void
free_place(struct ban_place *p)
{
    if (!p)
        return;
    mem_free(p->states);
    mem_free(p->forbidden);
    sample_history_clear(&p->history);
    mem_free(p);
}

static struct ban_place *
new_place(const struct gg_ban *b)
{
    struct ban_place *p = mem_zalloc(sizeof(*p));

    if (!p)
        return NULL;
    p->states = mem_array(engine_stop_count(b->strings), sizeof(*p->states));
    if (p->states)
        return p;
    free_place(p);
    return NULL;
}

/* That of the next id; NULL: no memory. */
static struct ban_place *
next_place(struct gg_ban *b)
{
    struct ban_place *p;

    if (b->n < b->n_places)
        return b->places[b->n];
    if (!mem_grow(&b->places, &b->cap, b->n + 1, sizeof(struct ban_place *)))
        return NULL;
    p = new_place(b);
    if (p)
        b->places[b->n_places++] = p;
    return p;
}

static void
copy_states(const struct gg_ban *b, size_t *to, const size_t *from)
{
    size_t n = engine_stop_count(b->strings);

    if (n)
        memcpy(to, from, n * sizeof(*to));
}

/* The first ids can be taken back no more; their places are used again. */
static void
settle(struct gg_ban *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        b->places[i]->n_forbidden = 0;
    for (size_t i = 0; count && i + count < b->n_places; i++) {
        struct ban_place *p = b->places[i];

        b->places[i] = b->places[i + count];
        b->places[i + count] = p;
    }
    b->n -= count;
}

/* ---- life ---------------------------------------------------------------- */

enum gg_status
gg_ban_new(const struct gg_vocab *vocab, const struct gg_stop *strings,
           struct gg_ban **out, struct gg_error *err)
{
    struct gg_ban *b;

    if (!vocab || !strings || !out)
        return error_null(err);
    b = mem_zalloc(sizeof(*b));
    if (!b)
        return error_nomem(err);
    b->vocab = vocab;
    b->strings = strings;
    b->states = mem_array(engine_stop_count(strings), sizeof(*b->states));
    if (!b->states) {
        gg_ban_free(b);
        return error_nomem(err);
    }
    gg_ban_restart(b);
    *out = b;
    return GG_OK;
}

void
gg_ban_free(struct gg_ban *ban)
{
    if (!ban)
        return;
    for (size_t i = 0; i < ban->n_places; i++)
        free_place(ban->places[i]);
    mem_free(ban->places);
    mem_free(ban->states);
    mem_free(ban->piece);
    mem_free(ban);
}

/* All ids are text that goes on: the first one keeps its blank. */
void
gg_ban_restart(struct gg_ban *ban)
{
    if (!ban)
        return;
    settle(ban, ban->n);
    if (ban->n_places)
        ban->places[0]->n_forbidden = 0;
    ban->len = 0;
    ban->decode = (struct gg_decode_state){ .started = true };
    for (size_t i = 0; i < engine_stop_count(ban->strings); i++)
        ban->states[i] = 0;
}

/* ---- draws --------------------------------------------------------------- */

enum gg_status
gg_ban_before(struct gg_ban *ban, const struct gg_history *history,
              struct gg_error *err)
{
    struct ban_place *p;

    if (!ban)
        return error_null(err);
    p = next_place(ban);
    if (!p || (history && !sample_history_copy(&p->history, history)))
        return error_nomem(err);
    return GG_OK;
}

/* The bytes of the id, to b->piece. */
static enum gg_status
decode(struct gg_ban *b, int32_t id, size_t *n, struct gg_error *err)
{
    struct gg_decode_state next = b->decode;
    enum gg_status st =
        gg_vocab_decode(b->vocab, &next, id, 0, b->piece, b->cap_piece, n, err);

    if (st == GG_OK && *n > b->cap_piece) {
        if (!mem_grow(&b->piece, &b->cap_piece, *n, 1))
            return error_nomem(err);
        next = b->decode;
        st = gg_vocab_decode(b->vocab, &next, id, 0, b->piece, b->cap_piece, n,
                             err);
    }
    b->decode = st == GG_OK ? next : b->decode;
    return st;
}

/* Where a banned string begins that the bytes complete; false: they do not. */
static bool
complete(struct gg_ban *b, size_t n, size_t *begin)
{
    for (size_t i = 0; i < n; i++) {
        size_t longest = engine_stop_step(b->strings, b->states, b->piece[i]);

        if (longest) {
            *begin = b->len + i + 1 - longest;
            return true;
        }
    }
    return false;
}

/* Drawing is again at the place of the id that has the byte at `begin`, which
 * does not come there again. */
static enum gg_status
go_back(struct gg_ban *b, size_t begin, struct gg_history *history,
        size_t *back, struct gg_error *err)
{
    size_t i = b->n;
    struct ban_place *p;

    while (i > 0 && b->places[i]->begin > begin)
        i--;
    for (size_t k = i + 1; k <= b->n; k++)
        b->places[k]->n_forbidden = 0;
    p = b->places[i];
    if (!mem_grow(&p->forbidden, &p->cap, p->n_forbidden + 1,
                  sizeof(*p->forbidden)) ||
        (history && !sample_history_copy(history, &p->history)))
        return error_nomem(err);
    p->forbidden[p->n_forbidden++] = p->id;
    *back = b->n + 1 - i;
    b->n = i;
    b->len = p->begin;
    b->decode = p->decode;
    copy_states(b, b->states, p->states);
    return GG_OK;
}

/* Ids whose bytes are none of a string that may come are settled. */
static void
go_on(struct gg_ban *b, size_t n)
{
    size_t open, count = 0;

    b->len += n;
    b->n++;
    open = b->len - engine_stop_longest(b->strings, b->states);
    while (count < b->n &&
           (count + 1 < b->n ? b->places[count + 1]->begin : b->len) <= open)
        count++;
    settle(b, count);
    if (b->n < b->n_places)
        b->places[b->n]->n_forbidden = 0;
}

enum gg_status
gg_ban_after(struct gg_ban *ban, int32_t id, struct gg_history *history,
             size_t *back, struct gg_error *err)
{
    size_t n, begin;
    struct ban_place *p = ban && back ? next_place(ban) : NULL;
    enum gg_status st;

    if (!ban || !back)
        return error_null(err);
    if (!p)
        return error_nomem(err);
    *back = 0;
    p->id = id;
    p->begin = ban->len;
    p->decode = ban->decode;
    copy_states(ban, p->states, ban->states);
    st = decode(ban, id, &n, err);
    if (st != GG_OK)
        return st;
    if (complete(ban, n, &begin))
        return go_back(ban, begin, history, back, err);
    go_on(ban, n);
    return GG_OK;
}

const int32_t *
gg_ban_forbidden(const struct gg_ban *ban, size_t *n)
{
    bool some = ban && ban->n < ban->n_places;

    if (n)
        *n = some ? ban->places[ban->n]->n_forbidden : 0;
    return some ? ban->places[ban->n]->forbidden : NULL;
}

size_t
gg_ban_open(const struct gg_ban *ban)
{
    return ban ? ban->n : 0;
}
