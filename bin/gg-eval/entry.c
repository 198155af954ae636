/* entry.c - a line that is evaluated with others, and what it becomes */
#include <config.h>

#include "gg-eval/entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
entry_make_room(struct entry *entry, size_t n, size_t k)
{
    size_t rows = entry->n_rows;

    if (rows <= entry->cap)
        return;
    entry_free_room(entry);
    entry->cap = rows;
    entry->logits = cli_alloc(NULL, rows * n, sizeof(*entry->logits));
    entry->best = cli_alloc(NULL, rows, sizeof(*entry->best));
    for (size_t i = 0; i < rows; i++) {
        entry->best[i] = (struct gg_best){ .k = k };
        if (k == 0)
            continue;
        entry->best[i].logits = entry->logits + i * k;
        entry->best[i].ids = cli_alloc(NULL, k, sizeof(*entry->best->ids));
    }
}

void
entry_free_room(struct entry *entry)
{
    for (size_t i = 0; i < entry->cap; i++)
        free(entry->best[i].ids);
    free(entry->best);
    free(entry->logits);
    entry_clear_room(entry);
}

void
entry_clear_room(struct entry *entry)
{
    entry->logits = NULL;
    entry->best = NULL;
    entry->cap = 0;
}

void
entry_fail(struct entry *entry, const char *message)
{
    entry->message = cli_copy(message, strlen(message));
}

static void
write_failure(struct evaluate *e, struct entry *entry)
{
    output_error(e->output, &entry->line, entry->message);
    e->failed = true;
    free(entry->message);
}

static size_t
count_row_ids(const struct evaluate *e, const int32_t *ids, size_t n)
{
    size_t rows = 0;

    for (size_t i = 0; i < n; i++)
        rows += engine_is_row(e->engine, ids[i]);
    return rows;
}

/* The sum of the log-probabilities of the line's ids, but for rows and the
 * sequence's first, which nothing foretells; *n gets their number, and *greedy,
 * if that is wanted, whether each is the likeliest. */
static double
sum_logprobs(const struct evaluate *e, const struct entry *entry, size_t *n,
             bool *greedy)
{
    size_t known, from = entry->begin ? entry->begin : 1;
    const struct gg_sequence *its = entry->sequence->its;
    const int32_t *ids = gg_sequence_ids(its, &known);
    const float *logprobs = gg_sequence_logprobs(its, &known);
    size_t to = entry->begin + entry->line.n_ids;
    double sum = 0;

    *n = to - from - count_row_ids(e, ids + from, to - from);
    if (greedy) {
        *greedy = scores_add_up(&entry->sequence->scores, e->engine, ids, from,
                                to, &sum);
        return sum;
    }
    for (size_t i = from; i < to; i++)
        sum += (double)logprobs[i];
    return sum;
}

static void
fail_not_numbers(struct evaluate *e, const struct gg_line *line)
{
    output_error(e->output, line, "the logits are not numbers");
    e->failed = true;
}

static void
write_score(struct evaluate *e, struct entry *entry)
{
    bool greedy;
    size_t n;
    double sum = sum_logprobs(e, entry, &n, e->o->greedy ? &greedy : NULL);

    if (isfinite(sum)) {
        output_score(e->output, &entry->line, entry->chunk, n, sum,
                     e->o->greedy ? &greedy : NULL);
        e->n_records++;
    } else {
        fail_not_numbers(e, &entry->line);
    }
}

/* Row i, for the ids of `line`. */
static void
write_row(struct evaluate *e, const struct entry *entry, size_t i,
          const struct gg_line *line)
{
    const struct gg_best *best = &entry->best[i];
    size_t n_vocab = (size_t)gg_model_n_vocab(e->engine->model);
    const float *logits = best->k ? NULL : entry->logits + i * n_vocab;
    uint64_t position = entry->position - (entry->n_rows - 1 - i);

    if (output_logits(e->output, line, position, logits, best)) {
        e->n_records++;
    } else {
        fail_not_numbers(e, line);
    }
}

/* The first record of a sequence that was loaded says what it held. */
static void
write_logits(struct evaluate *e, struct entry *entry)
{
    size_t n_ids = entry->line.n_ids / entry->n_rows;
    struct sequence *q = entry->sequence;
    size_t n;
    const int32_t *ids = gg_sequence_ids(q->its, &n);

    if (q->loaded)
        output_past(e->output, ids, entry->begin,
                    q->has_mirostat ? &q->mirostat : NULL);
    q->loaded = q->has_mirostat = false;
    for (size_t i = 0; i < entry->n_rows; i++) {
        struct gg_line line = entry->line;

        line.ids = ids + entry->begin + i * n_ids;
        line.n_ids = n_ids;
        write_row(e, entry, i, &line);
    }
}

void
entry_write(struct evaluate *e, struct entry *entry)
{
    if (entry->message) {
        write_failure(e, entry);
    } else if (entry->sequence && e->o->score) {
        write_score(e, entry);
    } else if (entry->sequence) {
        write_logits(e, entry);
    } else {
        output_close(e->output, &entry->line);
    }
}
