/* evaluate.c - lines of ids, evaluated together, to records */
#include <config.h>

#include "gg-eval/evaluate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gg-eval/entry.h"
#include "gg-eval/lines.h"

enum {
    MANY = 4096,    /* lines that are scored together at most */
    ROOM = 1 << 25, /* logits of all lines that are evaluated together */
    MAX_ROWS = 512,
};

void
evaluate_init(struct evaluate *e, const struct evaluate_options *o,
              const struct engine *engine, struct output *output)
{
    size_t n = (size_t)o->n_lines;

    *e = (struct evaluate){ .o = o, .engine = engine, .output = output };
    sequences_init(&e->sequences, engine->gg, (size_t)o->remember);
    e->queries = cli_alloc(NULL, n, sizeof(*e->queries));
    e->pinned = cli_alloc(NULL, n, sizeof(*e->pinned));
}

void
evaluate_clear(struct evaluate *e)
{
    for (int32_t i = 0; i < e->cap; i++)
        entry_free_room(&e->entries[i]);
    free(e->entries);
    free(e->queries);
    free(e->pinned);
    sequences_clear(&e->sequences);
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
                           .n_rows = e->o->every ? line->n_ids : 1,
                           .logits = new->logits,
                           .best = new->best,
                           .cap = new->cap };
    return new;
}

static void
add_failure(struct evaluate *e, const struct gg_line *line, const char *message)
{
    entry_fail(add_entry(e, line), message);
}

/* ---- adding ------------------------------------------------------------- */

/* Better after those that were added: other sequences as far as there are
 * slots; scores are of ids, so that several chunks of a sequence go together;
 * but not where a context must be shifted in between. */
static bool
must_wait(const struct evaluate *e, const struct sequence *q,
          const struct gg_line *line)
{
    size_t n_ctx = (size_t)gg_session_n_ctx(e->engine->session);

    if (e->engine->shift && e->n_together > 0 &&
        engine_count_ids(q->its) + line->n_ids > n_ctx)
        return true;
    return q->pinned ? !e->o->score : e->n_pinned == (size_t)e->o->n_lines;
}

/* False: the ids are put and taken away again, as there are too many. */
static bool
fits_batch(const struct evaluate *e, const struct sequence *q, size_t more)
{
    size_t cost =
        q->pinned ? more : gg_sequence_cost(q->its, e->pinned, e->n_pinned);

    return e->n_together == 0 ||
           e->n_together + cost <= (size_t)e->engine->n_batch;
}

static void
say_dropped(const struct evaluate *e, const struct gg_line *line, uint64_t n)
{
    if (n == 0 || !e->engine->verbose)
        return;
    if (line->numbered)
        cli_warn("sequence %" PRIu64 ": the context is full: %" PRIu64
                 " ids dropped",
                 line->sequence, n);
    else
        cli_warn("the context is full: %" PRIu64 " ids dropped", n);
}

static void
pin(struct evaluate *e, struct sequence *q, size_t more)
{
    e->n_together +=
        q->pinned ? more : gg_sequence_cost(q->its, e->pinned, e->n_pinned);
    if (!q->pinned)
        e->pinned[e->n_pinned++] = q->its;
    q->pinned = true;
}

/* The line's ids are its sequence's now. */
static void
add_put(struct evaluate *e, const struct gg_line *line, struct sequence *q)
{
    struct entry *new = add_entry(e, line);
    size_t n = engine_count_ids(q->its);

    new->sequence = q;
    new->first = !q->pinned;
    new->begin = n - line->n_ids;
    new->chunk = ++q->n_chunks;
    new->position = gg_sequence_dropped(q->its) + n;
    pin(e, q, line->n_ids);
    sequences_changed(&e->sequences, q);
}

/* Why the ids could not be put. */
static void
add_refused(struct evaluate *e, const struct gg_line *line,
            const struct sequence *q, enum gg_status st,
            const struct gg_error *err)
{
    char text[256];

    if (st == GG_ERR_CONTEXT)
        engine_say_full(e->engine, engine_count_ids(q->its), line->n_ids, text,
                        sizeof(text));
    else if (st == GG_ERR_ARG)
        snprintf(text, sizeof(text), "%.255s", err->message);
    else
        cli_check(st, err);
    add_failure(e, line, text);
}

/* Nothing is evaluated meanwhile, so that the line fits now. False: there are
 * no more ids. */
static bool
take_back(struct sequence *q, uint64_t n)
{
    size_t has = engine_count_ids(q->its);

    if (n && n >= has)
        return false;
    gg_sequence_truncate(q->its, has - (size_t)n);
    return true;
}

static bool
add_ids(struct evaluate *e, const struct gg_line *line)
{
    struct sequence *q = sequences_use(&e->sequences, line->sequence);
    struct gg_error err;
    uint64_t dropped;
    enum gg_status st;

    if (!q) {
        snprintf(err.message, sizeof(err.message),
                 "its ids were forgotten: --remember, now %" PRId64
                 ", keeps more",
                 e->o->remember);
        add_failure(e, line, err.message);
        return true;
    }
    if (must_wait(e, q, line) || (line->back && e->n_together))
        return false;
    if (e->engine->shift && (line->open || line->back)) {
        add_failure(e, line, "ids that are taken back do not go with --shift");
        return true;
    }
    if (!take_back(q, line->back)) {
        add_failure(e, line, "it takes more ids back than it has");
        return true;
    }
    dropped = gg_sequence_dropped(q->its);
    st = gg_sequence_put(q->its, line->ids, line->n_ids, &err);
    if (st != GG_OK) {
        add_refused(e, line, q, st, &err);
        return true;
    }
    if (!fits_batch(e, q, line->n_ids)) {
        gg_sequence_truncate(q->its, engine_count_ids(q->its) - line->n_ids);
        return false;
    }
    say_dropped(e, line, gg_sequence_dropped(q->its) - dropped);
    add_put(e, line, q);
    return true;
}

static bool
add_line(void *data, const struct gg_line *line)
{
    struct evaluate *e = data;

    if (line->kind == GG_LINE_END) {
        sequences_close(&e->sequences, line->sequence);
        add_entry(e, line);
    } else if (line->kind == GG_LINE_ERROR) {
        add_failure(e, line, line->message);
    } else if (line->n_ids == 0) {
        add_failure(e, line, "a chunk without ids");
    } else {
        return add_ids(e, line);
    }
    return true;
}

static bool
is_full(const void *data)
{
    const struct evaluate *e = data;

    return e->n >= (e->o->score ? MANY : e->o->n_lines);
}

/* ---- evaluation --------------------------------------------------------- */

/* Logits of a row that are kept. */
static size_t
row_size(const struct evaluate *e)
{
    size_t k = output_keeps(e->output);

    return k ? k : (size_t)gg_model_n_vocab(e->engine->model);
}

/* Ids of a line that are evaluated together where each has a record. */
static size_t
most_rows(const struct evaluate *e)
{
    size_t n = ROOM / (row_size(e) * (size_t)e->o->n_lines);

    return n > MAX_ROWS ? MAX_ROWS : n > 0 ? n : 1;
}

static void
ask_for_rows(const struct evaluate *e, struct entry *entry, struct gg_rows *out)
{
    entry_make_room(entry, row_size(e), output_keeps(e->output));
    out->n_last = entry->n_rows;
    if (entry->best->k)
        out->best = entry->best;
    else
        out->logits = entry->logits;
}

/* A sequence's scores are computed all at once. */
static size_t
make_queries(struct evaluate *e)
{
    size_t n = 0;

    for (int32_t i = 0; i < e->n; i++) {
        struct entry *entry = &e->entries[i];
        struct gg_query *query = &e->queries[n];

        if (!entry->sequence || !entry->first)
            continue;
        *query = (struct gg_query){ .sequence = entry->sequence->its };
        n++;
        if (e->o->greedy)
            scores_ask(&entry->sequence->scores, entry->begin,
                       engine_count_ids(entry->sequence->its), query);
        else if (!e->o->score)
            ask_for_rows(e, entry, &query->rows);
    }
    return n;
}

static void
answer_queries(void *data)
{
    struct evaluate *e = data;
    struct gg_error err;

    cli_check(gg_engine_eval(e->engine->gg, e->queries, make_queries(e), &err),
              &err);
    for (int32_t i = 0; i < e->n; i++)
        entry_write(e, &e->entries[i]);
    for (int32_t i = 0; i < e->n; i++)
        if (e->entries[i].sequence) {
            e->entries[i].sequence->pinned = false;
            scores_clear(&e->entries[i].sequence->scores);
        }
    sequences_settle(&e->sequences);
    e->n = 0;
    e->n_pinned = 0;
    e->n_together = 0;
}

/* ---- lines --------------------------------------------------------------- */

/* Nothing is written for a stream that holds nothing: readers must not take
 * a missing prompt for an answer. */
static void
begin_line(void *data, const struct gg_line *line)
{
    struct evaluate *e = data;

    if (line->kind == GG_LINE_IDS && line->n_ids == 0)
        cli_die("%s: the first line has no token ids", e->name);
    if (e->loaded && e->numbered != line->numbered)
        cli_die(line->numbered
                    ? "%s: its sequence has no number, but lines have"
                    : "%s: its sequences have numbers, but lines have none",
                e->loaded);
    e->numbered = line->numbered;
}

bool
evaluate_lines(struct evaluate *e, int fd, const char *name)
{
    const struct lines lines = { .name = name,
                                 .engine = e->engine,
                                 .begin = begin_line,
                                 .add = add_line,
                                 .is_full = is_full,
                                 .run = answer_queries,
                                 .most = e->o->every ? most_rows(e) : 0,
                                 .back = true,
                                 .output = e->output,
                                 .shard = &e->o->shard,
                                 .data = e };

    e->name = name;
    return lines_run(&lines, fd);
}

void
evaluate_describe(const struct evaluate *e, int64_t us)
{
    struct gg_engine_stats s = gg_engine_stats(e->engine->gg);

    cli_warn("%" PRIu64 " ids evaluated, %" PRIu64
             " copied, %zu records in %" PRIu64 " batches",
             s.n_evaluated, s.n_copied, e->n_records, s.n_runs);
    cli_warn("%.2f s: %.1f ids/s", (double)us / 1e6,
             us ? (double)s.n_evaluated * 1e6 / (double)us : 0);
}
