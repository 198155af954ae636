/* evaluate.c - lines of ids, evaluated together, to records */
#include <config.h>

#include "gg-eval/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "common/shift.h"
#include "gg-eval/entry.h"
#include "gg-eval/score.h"

enum {
    FEW = 16,    /* ids: to evaluate them again costs next to nothing */
    MANY = 4096, /* lines that are scored together at most */
};

/* What adding a line means. */
struct plan {
    struct sequence *q;
    size_t kept, dropped; /* of its context: --shift */
    size_t n;             /* ids of the context, and the line's */
    int32_t from;         /* the slot that has a prefix of them, or -1 */
    size_t common;        /* how much of it */
};

void
evaluate_init(struct evaluate *e, const struct evaluate_options *o,
              const struct engine *engine, struct output *output)
{
    *e = (struct evaluate){ .o = o, .engine = engine, .output = output };
    e->sequences =
        sequences_new(engine->n_slots, (size_t)o->remember, o->score);
    e->chunks = cli_alloc(NULL, (size_t)o->n_lines, sizeof(*e->chunks));
}

void
evaluate_clear(struct evaluate *e)
{
    for (int32_t i = 0; i < e->cap; i++)
        entry_free_room(&e->entries[i]);
    free(e->entries);
    free(e->chunks);
    sequences_free(e->sequences);
}

/* ---- entries ------------------------------------------------------------ */

static struct entry *
add_entry(struct evaluate *e, const struct gg_line *line)
{
    struct entry *new;

    if (e->n == e->cap) {
        e->cap = 2 * e->cap + 1;
        e->entries = cli_alloc(e->entries, (size_t)e->cap, sizeof(*e->entries));
        for (int32_t i = e->n; i < e->cap; i++)
            entry_clear_room(&e->entries[i]);
    }
    new = &e->entries[e->n++];
    *new = (struct entry){ .line = *line,
                           .logits = new->logits,
                           .best = new->best };
    return new;
}

static void
add_failure(struct evaluate *e, const struct gg_line *line, const char *message,
            bool here)
{
    entry_fail(add_entry(e, line), message, here);
}

/* ---- what a line would need --------------------------------------------- */

/* True: the line cannot be evaluated; `text` says why. */
static bool
has_bad_id(const struct evaluate *e, const struct gg_line *line, char *text,
           size_t size)
{
    int32_t n_vocab = gg_model_n_vocab(e->engine->model);

    for (size_t i = 0; i < line->n_ids; i++)
        if (line->ids[i] >= n_vocab) {
            snprintf(text, size, "id %d is not in 0..%d", (int)line->ids[i],
                     (int)n_vocab - 1);
            return true;
        }
    return false;
}

/* The same; and finds what --shift has to drop. */
static bool
has_no_room(const struct evaluate *e, const struct gg_line *line,
            struct plan *p, char *text, size_t size)
{
    size_t n_ctx = (size_t)gg_session_n_ctx(e->engine->session);
    const struct sequence *q = p->q;

    p->n = q->n_ids + line->n_ids;
    if (p->n <= n_ctx)
        return false;
    if (e->engine->shift && q->n_ids) {
        p->kept =
            shift_kept(q->n_ids, q->ids[0], gg_vocab_bos(e->engine->vocab));
        p->dropped = shift_count(q->n_ids, p->kept, line->n_ids, n_ctx);
        p->n -= p->dropped;
    }
    if (p->n <= n_ctx)
        return false;
    engine_say_full(e->engine, q->n_ids, line->n_ids, text, size);
    return true;
}

/* ---- common prefixes ---------------------------------------------------- */

/* The added line that begins most like the planned one; *common gets how
 * much, without the last id of either. */
static struct sequence *
find_alike(const struct evaluate *e, const struct plan *p, size_t *common)
{
    struct sequence *found = NULL;

    *common = 0;
    for (int32_t i = 0; i < e->n; i++) {
        struct sequence *a = e->entries[i].sequence;
        size_t n = 0, most;

        if (!a)
            continue;
        most = (a->n_ids < p->n ? a->n_ids : p->n) - 1;
        while (n < most && a->ids[n] == p->q->ids[n])
            n++;
        if (n > *common) {
            *common = n;
            found = a;
        }
    }
    return found;
}

static void
evaluate_chunks(struct evaluate *e, const struct gg_chunk *chunks, size_t n)
{
    struct gg_error err;

    if (n == 0)
        return;
    cli_check(gg_session_eval(e->engine->session, chunks, n, &err), &err);
    for (size_t i = 0; i < n; i++)
        e->n_evaluated += chunks[i].n;
    e->n_runs++;
}

/* What an added line and the planned one begin with is evaluated first, so
 * that it can be copied. */
static void
evaluate_prefix(struct evaluate *e, struct sequence *a, size_t common)
{
    struct gg_chunk chunk;

    if (e->o->score)
        score_chunk(a, common, &chunk);
    else
        chunk = (struct gg_chunk){ .slot = a->slot,
                                   .ids = a->ids + a->n_held,
                                   .n = common - a->n_held };
    evaluate_chunks(e, &chunk, 1);
    a->n_held += chunk.n;
    e->n_together -= chunk.n;
}

static void
find_prefix(struct evaluate *e, struct plan *p)
{
    size_t common;
    struct sequence *alike = find_alike(e, p, &common);

    p->from =
        sequences_find_prefix(e->sequences, p->q->ids, p->n - 1, &p->common);
    if (alike && common > p->common + FEW) {
        evaluate_prefix(e, alike, common);
        p->from = alike->slot;
        p->common = common;
    }
    if (p->common <= FEW)
        p->from = -1;
}

/* The sequence has a slot from now on, which holds what could be copied. */
static void
take_slot(struct evaluate *e, const struct plan *p)
{
    struct gg_session *session = e->engine->session;
    struct sequence *q = p->q;
    int32_t held = 0, n = (int32_t)p->common;

    if (p->from >= 0 && e->o->score) {
        sequences_copy_known(e->sequences, q, p->from, p->common);
        n -= q->n_known == p->common; /* what is behind it is not known */
    }
    sequences_take_slot(e->sequences, q);
    if (p->from < 0)
        gg_session_truncate(session, q->slot, 0);
    else if (p->from == q->slot)
        held = gg_session_truncate(session, q->slot, n);
    else
        held = gg_session_copy(session, q->slot, p->from, n);
    q->n_held = (size_t)held;
    e->n_copied += q->n_held;
}

/* ---- adding ------------------------------------------------------------- */

/* The line's ids stand behind its sequence's, and can be evaluated. False:
 * better after those that were added. */
static bool
make_plan(struct evaluate *e, struct plan *p)
{
    size_t cost = p->n;

    p->from = -1;
    if (p->q->pinned) {
        cost -= p->q->n_ids;
    } else if (p->dropped == 0 && p->q->slot >= 0) {
        cost -= p->q->n_held;
    } else if (p->dropped == 0) {
        find_prefix(e, p);
        cost -= p->from < 0 ? 0 : p->common;
    }
    return e->n_together == 0 ||
           e->n_together + cost <= (size_t)e->engine->n_batch;
}

static void
say_dropped(const struct evaluate *e, const struct gg_line *line, size_t n)
{
    if (e->engine->verbose && line->numbered)
        cli_warn("sequence %llu: the context is full: %zu ids dropped",
                 (unsigned long long)line->sequence, n);
    else if (e->engine->verbose)
        cli_warn("the context is full: %zu ids dropped", n);
}

static void
add_planned(struct evaluate *e, const struct gg_line *line,
            const struct plan *p)
{
    struct sequence *q = p->q;
    struct entry *new = add_entry(e, line);

    if (p->dropped) {
        say_dropped(e, line, p->dropped);
        sequences_shift(e->sequences, q, p->kept, p->dropped);
        sequences_put(e->sequences, q, line->ids, line->n_ids);
    }
    new->first = !q->pinned;
    if (p->dropped || q->slot < 0)
        take_slot(e, p);
    else
        sequences_take_slot(e->sequences, q);
    new->begin = q->n_ids;
    sequences_add(e->sequences, q, line->n_ids);
    new->sequence = q;
    new->chunk = ++q->n_chunks;
    new->position = q->n_dropped + q->n_ids;
    new->line.ids = q->ids + new->begin;
    e->n_pinned += new->first;
    e->n_together += new->first ? q->n_ids - q->n_held : line->n_ids;
}

/* Scores are of ids, so that several chunks of a sequence go together; but
 * not where the context must be shifted in between. */
static bool
goes_with_pinned(const struct evaluate *e, const struct gg_line *line,
                 const struct sequence *q)
{
    size_t n_ctx = (size_t)gg_session_n_ctx(e->engine->session);

    return e->o->score &&
           (!e->engine->shift || q->n_ids + line->n_ids <= n_ctx);
}

static bool
add_ids(struct evaluate *e, const struct gg_line *line)
{
    struct plan p = { .q = sequences_use(e->sequences, line->sequence) };
    char text[256];

    if (!p.q) {
        snprintf(text, sizeof(text),
                 "its ids were forgotten: --remember, now %lld, keeps more",
                 (long long)e->o->remember);
        add_failure(e, line, text, true);
        return true;
    }
    if (p.q->pinned ? !goes_with_pinned(e, line, p.q)
                    : e->n_pinned == e->o->n_lines)
        return false;
    if (has_bad_id(e, line, text, sizeof(text)) ||
        has_no_room(e, line, &p, text, sizeof(text))) {
        add_failure(e, line, text, true);
        return true;
    }
    sequences_put(e->sequences, p.q, line->ids, line->n_ids);
    if (!make_plan(e, &p))
        return false;
    add_planned(e, line, &p);
    return true;
}

bool
evaluate_add(struct evaluate *e, const struct gg_line *line)
{
    if (line->kind == GG_LINE_END) {
        sequences_close(e->sequences, line->sequence);
        add_entry(e, line);
    } else if (line->kind == GG_LINE_ERROR) {
        add_failure(e, line, line->message, false);
    } else if (line->n_ids == 0) {
        add_failure(e, line, "a chunk without ids", true);
    } else {
        return add_ids(e, line);
    }
    return true;
}

bool
evaluate_is_full(const struct evaluate *e)
{
    return e->n >= (e->o->score ? MANY : e->o->n_lines);
}

/* ---- evaluation --------------------------------------------------------- */

static void
need_room(const struct evaluate *e, struct entry *entry)
{
    size_t n_vocab = (size_t)gg_model_n_vocab(e->engine->model);
    size_t k = output_keeps(e->output);

    if (entry->logits)
        return;
    entry->logits = cli_alloc(NULL, n_vocab, sizeof(*entry->logits));
    if (k == 0)
        return;
    entry->best.ids = cli_alloc(NULL, k, sizeof(*entry->best.ids));
    entry->best.logits = cli_alloc(NULL, k, sizeof(*entry->best.logits));
    entry->best.k = k;
}

static size_t
make_chunks(struct evaluate *e)
{
    size_t n = 0;

    for (int32_t i = 0; i < e->n; i++) {
        struct entry *entry = &e->entries[i];
        const struct sequence *q = entry->sequence;

        if (!q)
            continue;
        need_room(e, entry);
        e->chunks[n++] = (struct gg_chunk){
            .slot = q->slot,
            .ids = q->ids + q->n_held,
            .n = q->n_ids - q->n_held,
            .logits = entry->logits,
            .best = entry->best.k ? &entry->best : NULL,
        };
    }
    return n;
}

/* What the slots lack, though its scores are known; then what is to be
 * scored. Returns the number of chunks. */
static size_t
make_scored(struct evaluate *e, bool known)
{
    size_t n = 0;

    for (int32_t i = 0; i < e->n; i++) {
        struct sequence *q = e->entries[i].sequence;
        struct gg_chunk *chunk = &e->chunks[n];

        if (!q || !e->entries[i].first)
            continue;
        n += known ? score_known(q, chunk) : score_chunk(q, q->n_ids, chunk);
    }
    return n;
}

static void
run_scored(struct evaluate *e)
{
    evaluate_chunks(e, e->chunks, make_scored(e, true));
    evaluate_chunks(e, e->chunks, make_scored(e, false));
}

void
evaluate_run(struct evaluate *e)
{
    if (e->o->score)
        run_scored(e);
    else
        evaluate_chunks(e, e->chunks, make_chunks(e));
    for (int32_t i = 0; i < e->n; i++)
        entry_write(e, &e->entries[i]);
    sequences_settle(e->sequences);
    e->n = e->n_pinned = 0;
    e->n_together = 0;
}

void
evaluate_describe(const struct evaluate *e, int64_t us)
{
    cli_warn("%zu ids evaluated, %zu copied, %zu records in %zu batches",
             e->n_evaluated, e->n_copied, e->n_records, e->n_runs);
    cli_warn("%.2f s: %.1f ids/s", (double)us / 1e6,
             us ? (double)e->n_evaluated * 1e6 / (double)us : 0);
}
