/* draws.c - records of a stream to ids, and what is remembered of sequences */
#include <config.h>

#include "gg-sample/draws.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
put_sampled(const struct gg_line *line)
{
    struct gg_error err;
    enum gg_status st = gg_line_write(STDOUT_FILENO, line, &err);

    if (st != GG_OK)
        cli_die("standard output: %s", err.message);
}

static bool
is_end_of_generation(const struct gg_logit_head *head, int32_t id)
{
    for (size_t i = 0; i < head->n_eog; i++)
        if (head->eog_ids[i] == id)
            return true;
    return false;
}

/* ---- what is written of draws -------------------------------------------- */

/* Logs the log-probability that the model itself gave the token. */
static void
log_draw(const struct run *r, uint64_t sequence, const struct back_row *row)
{
    double sum =
        row->ids ? row->log_sum_exp : gg_log_sum_exp(row->logits, row->n);

    if (r->sampling->logprobs >= 0)
        sampling_log(
            r->sampling, r->numbered, sequence, row->position, &row->drawn,
            sampling_logit(row->logits, row->ids, row->n, row->drawn.id) - sum);
}

/* All draws stay but the last `open` ones. */
static void
settle(const struct run *r, uint64_t sequence, struct back *b, size_t open)
{
    size_t n = b ? b->n - open : 0;

    for (size_t i = 0; i < n; i++)
        log_draw(r, sequence, &b->rows[i]);
    if (n)
        back_drop(b, n);
}

/* ---- what is remembered of sequences ------------------------------------- */

/* That of the sequence, new where there is none. */
static struct count *
count_of(struct run *r, uint64_t sequence)
{
    struct count *c = sequence_table_find(&r->sequences, sequence);

    if (c)
        return c;
    c = cli_alloc(NULL, 1, sizeof(*c));
    *c = (struct count){ .key.number = sequence };
    sequence_table_add(&r->sequences, &c->key);
    return c;
}

static void
forget_count(struct run *r, uint64_t sequence)
{
    struct count *c = sequence_table_find(&r->sequences, sequence);

    if (!c)
        return;
    sequence_table_forget(&r->sequences, &c->key);
    sequence_table_unlink(&r->sequences, &c->key);
    settle(r, sequence, c->back, 0);
    back_free(c->back);
    gg_history_free(c->history);
    free(c);
}

void
draws_forget(struct run *r)
{
    while (r->sequences.oldest)
        forget_count(r, r->sequences.oldest->number);
    sequence_table_clear(&r->sequences);
    number_set_clear(&r->ended_here);
    number_set_clear(&r->passed);
}

/* ---- records ------------------------------------------------------------- */

/* The sequence is over: `line` is the last of it. */
static void
end_sequence(struct run *r, struct gg_line *line)
{
    if (r->numbered) {
        forget_count(r, line->sequence);
        number_set_add(&r->ended_here, line->sequence);
        line->last = line->kind == GG_LINE_IDS;
        put_sampled(line);
        return;
    }
    r->ended = true;
    if (r->input_waits)
        news_tell();
    put_sampled(line);
    if (r->input_waits) {
        cli_close_output();
        r->closed = true;
    }
}

static bool
has_ended(const struct run *r, uint64_t sequence)
{
    return r->numbered ? number_set_has(&r->ended_here, sequence) : r->ended;
}

/* The counts of the sequence; a stream without numbers has one, 0. NULL: the
 * limit is 1 or none, and no other option needs to know the sequence. */
static struct count *
sequence_of(struct run *r, uint64_t sequence)
{
    struct count *c;
    struct gg_error err;

    number_set_remove(&r->passed, sequence);
    if (r->sampling->count <= 1 && !r->remembers && !r->sampling->ban &&
        !r->sampling->min_ids)
        return NULL;
    c = count_of(r, sequence);
    if (r->remembers && !c->history)
        cli_check(gg_history_new(r->sampler, &c->history, &err), &err);
    if (r->sampling->ban && !c->back)
        c->back = back_new(r->vocab, r->sampling->ban);
    return c;
}

/* True if the id that it gets is its last by -n. */
static bool
count_draws(struct run *r, struct count *c)
{
    uint64_t n = r->sampling->count;

    if (c)
        c->n++;
    return n == 1 || (n && c->n == n);
}

/* -n ends the sequence: a grammar may want more. */
static void
say_cut(struct run *r, uint64_t sequence, const struct count *c)
{
    char text[128];

    if (!c || !c->history || gg_history_is_complete(c->history))
        return;
    sampling_say_cut(r->sampling, text, sizeof(text));
    if (r->numbered)
        cli_warn("sequence %" PRIu64 ": %s", sequence, text);
    else
        cli_warn("%s", text);
    r->cut = true;
}

void
draws_error(struct run *r, uint64_t sequence, const char *message)
{
    struct gg_line line = {
        .kind = GG_LINE_ERROR,
        .numbered = r->numbered,
        .sequence = sequence,
        .message = message,
    };

    r->failed = true;
    /* In a loop what was passed on comes again. */
    if (!has_ended(r, sequence))
        end_sequence(r, &line);
}

/* No end of generation is drawn after n ids. */
static bool
wants_no_end(const struct run *r, uint64_t n)
{
    return r->sampling->ignore_eog || n < (uint64_t)r->sampling->min_ids;
}

/* Logits that may be changed: the reader's where nobody needs them later. */
static float *
copy_logits(struct run *r, const float *logits, size_t n, bool kept)
{
    if (!kept)
        return gg_logit_reader_logits(r->reader);
    if (n > r->logits_cap) {
        r->logits = cli_alloc(r->logits, n, sizeof(*r->logits));
        r->logits_cap = n;
    }
    return memcpy(r->logits, logits, n * sizeof(*r->logits));
}

/* Logits of ids that are not to be drawn after n_drawn ids become -infinity. */
static void
exclude(const struct run *r, const struct gg_logit_head *head, uint64_t n_drawn,
        const int32_t *ids, float *logits, size_t n)
{
    sampling_exclude(logits, ids, n, head->suppressed, head->n_suppressed);
    if (wants_no_end(r, n_drawn))
        sampling_exclude(logits, ids, n, head->eog_ids, head->n_eog);
}

/* But for rows of images and sounds: ids that the model gives no logit of. */
static enum gg_status
add_history(struct gg_history *history, const struct gg_logit_head *head,
            const int32_t *ids, size_t n, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0, end; i < n && st == GG_OK; i = end + 1) {
        end = i;
        while (end < n &&
               (!head->n_vocab || (uint32_t)ids[end] < head->n_vocab))
            end++;
        st = gg_history_add(history, ids + i, end - i, err);
    }
    return st;
}

/* The sequence's ids, up to the draw. */
static enum gg_status
hear(const struct gg_logit_record *record, struct gg_history *history,
     struct gg_error *err)
{
    enum gg_status st;

    if (!history)
        return GG_OK;
    st = add_history(history, &record->head, record->past, record->n_past, err);
    if (record->mirostat)
        gg_history_set_mirostat(history, *record->mirostat);
    return st == GG_OK ? add_history(history, &record->head, record->ids,
                                     record->n_ids, err)
                       : st;
}

/* One draw, from a row. */
static enum gg_status
draw_row(struct run *r, const struct gg_logit_record *record,
         const struct back_row *row, const float *logits,
         struct gg_history *history, struct gg_draw *drawn,
         struct gg_error *err)
{
    return gg_sampler_next(r->sampler, history, row->ids, logits, row->n,
                           record->sequence, row->position, drawn, err);
}

static enum gg_status
sample_token(struct run *r, const struct gg_logit_record *record,
             const struct count *c, struct back_row *row, struct gg_error *err)
{
    struct gg_history *history = c ? c->history : NULL;
    uint64_t n = c ? c->n : 0;
    bool excludes = wants_no_end(r, n) || record->head.n_suppressed;
    const float *logits = row->logits;
    enum gg_status st = hear(record, history, err);

    if (excludes) {
        float *own =
            copy_logits(r, row->logits, row->n, r->sampling->logprobs >= 0);

        exclude(r, &record->head, n, row->ids, own, row->n);
        logits = own;
    }
    return st == GG_OK
               ? draw_row(r, record, row, logits, history, &row->drawn, err)
               : st;
}

/* Draws until no banned string is complete. *back gets how many ids that were
 * fed back are to be taken back. */
static enum gg_status
sample_allowed(struct run *r, const struct gg_logit_record *record,
               struct count *c, size_t *back, struct gg_error *err)
{
    struct gg_ban *ban = c->back->ban;
    size_t open, found = 1, n;
    enum gg_status st = hear(record, c->history, err);

    back_add(c->back, record, r->loops);
    open = gg_ban_open(ban);
    while (st == GG_OK && found) {
        struct back_row *row = back_row(c->back);
        uint64_t n_drawn = c->n - (open - gg_ban_open(ban));
        const int32_t *forbidden = gg_ban_forbidden(ban, &n);
        float *logits = copy_logits(r, row->logits, row->n, true);

        exclude(r, &record->head, n_drawn, row->ids, logits, row->n);
        sampling_exclude(logits, row->ids, row->n, forbidden, n);
        *back = open - gg_ban_open(ban);
        st = gg_ban_before(ban, c->history, err);
        if (st == GG_OK)
            st = draw_row(r, record, row, logits, c->history, &row->drawn, err);
        if (st == GG_OK)
            st = gg_ban_after(ban, row->drawn.id, c->history, &found, err);
        c->back->last = row->drawn.id;
    }
    c->n -= *back;
    c->back->n = open - *back + 1;
    return st;
}

/* To row->drawn; *back as in sample_allowed(). */
static enum gg_status
sample_any(struct run *r, const struct gg_logit_record *record, struct count *c,
           struct back_row *row, size_t *back, struct gg_error *err)
{
    enum gg_status st;

    if (!c || !c->back)
        return sample_token(r, record, c, row, err);
    st = sample_allowed(r, record, c, back, err);
    row->drawn = c->back->rows[c->back->n - 1].drawn;
    return st;
}

static void
fail_draw(struct run *r, const struct gg_logit_record *record,
          const struct gg_error *err)
{
    cli_warn("sequence %" PRIu64 ", position %" PRIu64 ": %s", record->sequence,
             record->position, err->message);
    draws_error(r, record->sequence, err->message);
}

/* The line that it becomes. */
static void
put_drawn(struct run *r, const struct gg_logit_record *record, struct count *c,
          struct gg_line *line)
{
    bool eog = is_end_of_generation(&record->head, line->ids[0]);
    bool last = count_draws(r, c);
    size_t open = c && c->back && !eog && !last ? gg_ban_open(c->back->ban) : 0;

    if (c)
        settle(r, record->sequence, c->back, open);
    if (last && !eog)
        say_cut(r, record->sequence, c);
    line->open = r->loops && open > 0;
    if (last || eog)
        end_sequence(r, line);
    else
        put_sampled(line);
}

void
draws_record(struct run *r, const struct gg_logit_record *record)
{
    struct gg_line line = {
        .kind = GG_LINE_IDS,
        .numbered = r->numbered,
        .sequence = record->sequence,
        .n_ids = 1,
    };
    struct back_row row = { .position = record->position,
                            .logits = (float *)record->logits,
                            .ids = (int32_t *)record->logit_ids,
                            .n = record->n_logits,
                            .log_sum_exp = record->log_sum_exp };
    struct count *c;
    struct gg_error err;
    enum gg_status st;
    size_t back = 0;

    if (has_ended(r, record->sequence))
        return;
    c = sequence_of(r, record->sequence);
    st = sample_any(r, record, c, &row, &back, &err);
    if (st == GG_ERR_NOMEM)
        cli_check(st, &err);
    if (st != GG_OK) {
        fail_draw(r, record, &err);
        return;
    }
    if (!c || !c->back)
        log_draw(r, record->sequence, &row);
    line.ids = &row.drawn.id;
    line.back = back;
    put_drawn(r, record, c, &line);
}

void
draws_close(struct run *r, uint64_t sequence)
{
    struct gg_line line = { GG_LINE_END, true, .sequence = sequence };

    if (!r->numbered)
        return;
    if (number_set_has(&r->ended_here, sequence)) {
        number_set_remove(&r->ended_here, sequence);
    } else if (number_set_has(&r->passed, sequence)) {
        number_set_remove(&r->passed, sequence);
    } else {
        forget_count(r, sequence);
        number_set_add(&r->passed, sequence);
        put_sampled(&line);
    }
}
