/* back.c - draws of a sequence that may be taken back */
#include <config.h>

#include "gg-sample/back.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

struct back *
back_new(const struct gg_vocab *vocab, const struct gg_stop *strings)
{
    struct back *b = cli_alloc(NULL, 1, sizeof(*b));
    struct gg_error err;

    *b = (struct back){ .last = -1 };
    cli_check(gg_ban_new(vocab, strings, &b->ban, &err), &err);
    return b;
}

void
back_free(struct back *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n_rows; i++) {
        free(b->rows[i].logits);
        free(b->rows[i].ids);
    }
    free(b->rows);
    gg_ban_free(b->ban);
    free(b);
}

static bool
follows(const struct back *b, const struct gg_logit_record *record)
{
    return record->n_ids == 1 && record->ids[0] == b->last;
}

/* With room of its own. */
static struct back_row *
next_row(struct back *b)
{
    if (b->n == b->n_rows) {
        b->rows = cli_alloc(b->rows, b->n_rows + 1, sizeof(*b->rows));
        b->rows[b->n_rows++] = (struct back_row){ 0 };
    }
    return &b->rows[b->n++];
}

void
back_add(struct back *b, const struct gg_logit_record *record, bool goes_on)
{
    size_t n = record->n_logits;
    struct back_row *row;

    if (!goes_on || !follows(b, record)) {
        gg_ban_restart(b->ban);
        back_drop(b, b->n);
    }
    row = next_row(b);
    row->position = record->position;
    row->log_sum_exp = record->log_sum_exp;
    row->logits = cli_alloc(row->logits, n, sizeof(*row->logits));
    memcpy(row->logits, record->logits, n * sizeof(*row->logits));
    row->n = n;
    if (record->logit_ids) {
        row->ids = cli_alloc(row->ids, n, sizeof(*row->ids));
        memcpy(row->ids, record->logit_ids, n * sizeof(*row->ids));
    }
}

struct back_row *
back_row(const struct back *b)
{
    return &b->rows[gg_ban_open(b->ban)];
}

void
back_drop(struct back *b, size_t n)
{
    for (size_t i = 0; n && i + n < b->n_rows; i++) {
        struct back_row row = b->rows[i];

        b->rows[i] = b->rows[i + n];
        b->rows[i + n] = row;
    }
    b->n -= n;
}
