/* prefix_save.c - what was evaluated gets into a prefix cache
 *
 * A prompt's pieces are written after its evaluation. Where layers give up rows
 * it is evaluated in parts, and these are written one after the other; where
 * they are recurrent, at places that another sequence may well share: in
 * steps, near the end of the prompt, and where it differs from one before. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/prefix.h"

enum {
    STEP = 1024, /* ids between two states */
};

/* ---- one piece ----------------------------------------------------------- */

/* Under a temporary name, which is locked as long as somebody writes. */
static enum gg_status
write_piece(struct gg_sequence *q, struct piece *p, const char *temporary,
            int fd, const char *path, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        st = error_set(err, GG_ERR_IO, "%s", strerror(errno));
    if (st == GG_OK)
        st = session_piece_write(q->engine->session, q->slot, p, fd, err);
    if (st == GG_OK && rename(temporary, path))
        st = error_set(err, GG_ERR_IO, "%s", strerror(errno));
    return st;
}

static enum gg_status
create_piece(struct gg_sequence *q, struct piece *p, const char *path,
             struct gg_error *err)
{
    char *temporary = engine_prefix_path(q->engine->prefixes, "new-XXXXXX");
    int fd = temporary ? mkostemp(temporary, O_CLOEXEC) : -1;
    enum gg_status st = temporary ? GG_OK : error_nomem(err);

    if (temporary && fd < 0)
        st = error_set(err, GG_ERR_IO, "%s", strerror(errno));
    if (fd >= 0) {
        st = write_piece(q, p, temporary, fd, path, err);
        if (st != GG_OK)
            unlink(temporary);
        close(fd);
    }
    mem_free(temporary);
    return st;
}

/* The file's path; NULL: no memory. */
static char *
name_piece(const struct gg_sequence *q, struct prefix_hash *h, struct piece *p)
{
    uint8_t digest[SHA256_BYTES];
    char name[PREFIX_NAME], match[PREFIX_HEX + 1], whole[PREFIX_HEX + 1];

    engine_prefix_digest(h, p->first, p->key);
    engine_prefix_digest(h, p->first + PREFIX_MATCH, digest);
    engine_prefix_hex(digest, match);
    engine_prefix_digest(h, p->first + p->n, digest);
    engine_prefix_hex(digest, whole);
    snprintf(name, sizeof(name), "%08x-%03x-%s-%s",
             (unsigned)p->first & 0x3fffffff, (unsigned)p->n & 0xfff, match,
             whole);
    return engine_prefix_path(q->engine->prefixes, name);
}

/* Writes ids first..first + n - 1, with the states if there are some and these
 * are the slot's last ids. */
static enum gg_status
store_piece(struct gg_sequence *q, struct prefix_hash *h, int32_t first,
            int32_t n, bool last, struct gg_error *err)
{
    struct engine_prefixes *c = q->engine->prefixes;
    struct piece p = { .first = first, .n = n, .ids = q->ids + first };
    struct gg_session *s = q->engine->session;
    char *path = name_piece(q, h, &p);
    enum gg_status st = path ? GG_OK : error_nomem(err);

    p.state = last && session_piece_recurs(s);
    if (st == GG_OK)
        st = create_piece(q, &p, path, err);
    if (st == GG_OK && c->params.stored)
        c->params.stored(c->params.data, session_piece_size(s, &p), NULL);
    mem_free(path);
    return st;
}

/* In pieces of about the same length. */
static enum gg_status
store_pieces(struct gg_sequence *q, int32_t first, int32_t end,
             struct gg_error *err)
{
    int32_t left = (end - first + PIECE_IDS - 1) / PIECE_IDS, n;
    struct prefix_hash h;
    enum gg_status st = engine_prefix_hash(q, &h) ? GG_OK : error_nomem(err);

    for (; first < end && st == GG_OK; first += n, left--) {
        n = (end - first) / left;
        /* the next begins where this one ends, and its hash with it */
        st = store_piece(q, &h, first, n, first + n == end, err);
    }
    return st;
}

/* ---- what is to be written ----------------------------------------------- */

/* How many ids are worth being written: where rows are given up, no more than
 * are evaluated before. */
static size_t
least_new(const struct gg_engine *e)
{
    size_t step = (size_t)session_piece_step(e->session);

    if (step == 0 || step > PREFIX_LEAST)
        return PREFIX_LEAST;
    return step > PREFIX_MATCH ? step : PREFIX_MATCH;
}

/* The first id of what is to be written, so that sequences can go on after the
 * first n; n: nothing. */
static int32_t
begin_of_new(const struct gg_sequence *q, int32_t n)
{
    const struct prefix_plan *plan = &q->engine->prefixes->plan;

    if (!session_piece_recurs(q->engine->session))
        return n - plan->covered < (int32_t)least_new(q->engine)
                   ? n
                   : plan->covered;
    if (plan->n == n || n < PREFIX_MATCH)
        return n;
    return n - plan->covered < PREFIX_MATCH ? n - PREFIX_MATCH : plan->covered;
}

static void
stop_saving(struct engine_prefixes *c, const char *why)
{
    c->fails = true;
    if (c->params.stored)
        c->params.stored(c->params.data, 0, why);
}

static void
save_new(struct gg_sequence *q, size_t n)
{
    struct engine_prefixes *c = q->engine->prefixes;
    struct gg_session *s = q->engine->session;
    struct gg_error err;
    int32_t first;

    if (c->fails || q->engine->score || (size_t)engine_prefix_known(q, n) < n)
        return;
    engine_prefix_look(q, n);
    first = begin_of_new(q, (int32_t)n);
    if (first < (int32_t)n &&
        session_piece_has(s, q->slot, first, (int32_t)n) &&
        store_pieces(q, first, (int32_t)n, &err) != GG_OK)
        stop_saving(c, err.message);
    q->stored = first < (int32_t)n ? n : (size_t)c->plan.covered;
}

void
engine_prefix_save(struct gg_sequence *q, size_t n)
{
    if (q->engine->prefixes && q->slot >= 0 &&
        n >= q->stored + least_new(q->engine))
        save_new(q, n);
}

/* ---- evaluations --------------------------------------------------------- */

/* Takes `at`, or the edge of a block before it, if it is the first after
 * `past`. */
static void
keep_least(const struct gg_sequence *q, size_t *best, size_t at, size_t past)
{
    if (at <= past || at >= q->n_ids)
        return;
    at = session_edge(q->engine->session, q->ids, at);
    if (at > past && at < *best)
        *best = at;
}

/* Whether the sequence has enough ids that are not written, or had before it
 * came to the first of its stops. */
static bool
is_worth_stops(struct gg_sequence *q)
{
    if (q->n_ids >= q->stored + PREFIX_LEAST)
        q->stops = q->n_ids;
    return q->stops == q->n_ids;
}

/* The next place after the first `past` ids where pieces are to be written. */
static size_t
next_stop(struct gg_sequence *q, size_t past)
{
    static const size_t before_end[] = { 256, 64, 1 };
    const struct gg_session *s = q->engine->session;
    size_t step = (size_t)session_piece_step(s), best = SIZE_MAX;

    if (!is_worth_stops(q) && q->split <= past)
        return best;
    if (step)
        keep_least(q, &best, past + step, past);
    if (!session_piece_recurs(s))
        return best;
    keep_least(q, &best, (past / STEP + 1) * STEP, past);
    keep_least(q, &best, q->split, past);
    for (size_t i = 0; i < sizeof(before_end) / sizeof(*before_end); i++)
        if (q->n_ids > before_end[i])
            keep_least(q, &best, q->n_ids - before_end[i], past);
    return best;
}

/* How many of the chunk's ids may be evaluated without its results. */
static size_t
count_free(const struct gg_chunk *c)
{
    size_t last = c->rows.n_last ? c->rows.n_last : 1;

    if (c->scores.logprobs || c->embed.values)
        return 0;
    return c->n > last ? c->n - last : 0;
}

/* Its first part, up to the next stop. */
static struct gg_chunk
first_part(struct gg_engine *e, const struct gg_chunk *c)
{
    struct gg_sequence *q = e->slots[c->slot].owner;
    size_t past = (size_t)gg_session_length(e->session, c->slot);
    size_t stop = q ? next_stop(q, past) : SIZE_MAX;
    struct gg_chunk part = *c;

    if (stop - past > count_free(c))
        return part;
    part.n = stop - past;
    part.rows = (struct gg_rows){ 0 };
    part.goes_on = true;
    return part;
}

/* Where recurrent layers are, at stops alone: pieces with states are large. */
static void
save_part(struct gg_engine *e, const struct gg_chunk *c, bool stops)
{
    struct gg_sequence *q = e->slots[c->slot].owner;
    size_t n = (size_t)gg_session_length(e->session, c->slot), sure;

    if (!q || n > q->n_ids)
        return;
    sure = q->n_ids - q->n_drafted;
    n = n < sure ? n : sure;
    if (stops && session_piece_recurs(e->session))
        save_new(q, n);
    else if (c->n >= PREFIX_MATCH && !session_piece_recurs(e->session))
        engine_prefix_save(q, n);
}

/* One part of each chunk; what is left of them moves up. */
static enum gg_status
run_parts(struct gg_engine *e, struct gg_chunk *left, struct gg_chunk *parts,
          size_t *n, struct gg_error *err)
{
    size_t more = 0;
    enum gg_status st;

    for (size_t i = 0; i < *n; i++)
        parts[i] = first_part(e, &left[i]);
    st = engine_run_chunks(e, parts, *n, NULL, err);
    for (size_t i = 0; i < *n && st == GG_OK; i++) {
        bool stops = parts[i].n < left[i].n;

        save_part(e, &parts[i], stops);
        if (!stops)
            continue;
        left[more] = left[i];
        left[more].ids += parts[i].n;
        left[more++].n -= parts[i].n;
    }
    *n = more;
    return st;
}

enum gg_status
engine_prefix_run(struct gg_engine *e, const struct gg_chunk *chunks, size_t n,
                  struct gg_error *err)
{
    struct gg_chunk *left = mem_dup(chunks, n * sizeof(*left));
    struct gg_chunk *parts = mem_array(n, sizeof(*parts));
    enum gg_status st = left && parts ? GG_OK : error_nomem(err);

    while (n > 0 && st == GG_OK)
        st = run_parts(e, left, parts, &n, err);
    mem_free(left);
    mem_free(parts);
    return st;
}
