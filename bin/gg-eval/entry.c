/* entry.c - a line that is evaluated with others, and what it becomes */
#include <config.h>

#include "gg-eval/entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
entry_free_room(struct entry *entry)
{
    free(entry->logits);
    free(entry->best.ids);
}

void
entry_clear_room(struct entry *entry)
{
    entry->logits = NULL;
    entry->best = (struct gg_best){ 0 };
}

void
entry_fail(struct entry *entry, const char *message)
{
    entry->message = cli_alloc(NULL, strlen(message) + 1, 1);
    strcpy(entry->message, message);
}

static void
write_failure(struct evaluate *e, struct entry *entry)
{
    output_error(e->output, &entry->line, entry->message);
    e->failed = true;
    free(entry->message);
}

/* The sum of the log-probabilities of the line's ids, but for the sequence's
 * first, which nothing foretells; *n gets their number. */
static double
sum_logprobs(const struct entry *entry, size_t *n)
{
    size_t known, from = entry->begin ? entry->begin : 1;
    const float *logprobs = gg_sequence_logprobs(entry->sequence->its, &known);
    double sum = 0;

    *n = 0;
    for (size_t i = from; i < entry->begin + entry->line.n_ids; i++, ++*n)
        sum += (double)logprobs[i];
    return sum;
}

static void
fail_not_numbers(struct evaluate *e, struct entry *entry)
{
    entry_fail(entry, "the logits are not numbers");
    write_failure(e, entry);
}

static void
write_score(struct evaluate *e, struct entry *entry)
{
    size_t n;
    double sum = sum_logprobs(entry, &n);

    if (isfinite(sum)) {
        output_score(e->output, &entry->line, entry->chunk, n, sum);
        e->n_records++;
    } else {
        fail_not_numbers(e, entry);
    }
}

/* The first record of a sequence that was loaded says what it held. */
static void
write_logits(struct evaluate *e, struct entry *entry)
{
    struct sequence *q = entry->sequence;
    size_t n;
    const int32_t *ids = gg_sequence_ids(q->its, &n);

    if (q->loaded)
        output_past(e->output, ids, entry->begin,
                    q->has_mirostat ? &q->mirostat : NULL);
    q->loaded = q->has_mirostat = false;
    entry->line.ids = ids + entry->begin;
    if (output_logits(e->output, &entry->line, entry->position, entry->logits,
                      &entry->best))
        e->n_records++;
    else
        fail_not_numbers(e, entry);
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
