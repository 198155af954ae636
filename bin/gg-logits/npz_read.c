/* npz_read.c - records from arrays
 *
 * One array has a row of values for each record, and nothing else is known of
 * it. An archive has arrays for the rest: gg-logits(1) lists them. Those that
 * are not there leave out what they would say. */
#include <config.h>

#include "gg-logits/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gg-logits/forms.h"
#include "gg-logits/npy.h"
#include "gg-logits/zip.h"

struct npz_reader {
    struct zip *zip;  /* NULL: a single array */
    struct input *in; /* which comes from here */
    const char *name;
    struct npy arrays[NPZ_N_ROWS]; /* not there: read is NULL */
    struct draft draft;
    bool begun, ended;
    uint64_t row, n_rows;
    uint64_t value, id, letter; /* how many elements were read so far */
    uint64_t event_row;         /* of the next one; UINT64_MAX: none is left */
};

static bool
have(const struct npz_reader *r, int array)
{
    return r->arrays[array].read != NULL;
}

static enum gg_status
bad(const struct npz_reader *r, const char *why, struct gg_error *err)
{
    return fail(err, GG_ERR_FORMAT, "%s: %s", r->name, why);
}

static enum gg_status
no_memory(struct gg_error *err)
{
    return fail(err, GG_ERR_NOMEM, "out of memory");
}

/* ---- opening ---- */

static enum gg_status
open_member(struct zip *zip, int array, struct npy *a, struct gg_error *err)
{
    struct zip_member *m = NULL;
    char name[64];
    enum gg_status st;

    snprintf(name, sizeof(name), "%s.npy", npz_arrays[array].name);
    st = zip_find(zip, name, &m, err);
    if (st != GG_OK || !m)
        return st;
    *a = (struct npy){ .read = zip_read, .from = m, .name = zip_name(m) };
    st = npy_open(a, err);
    if (st == GG_OK &&
        (zip_left(m) / a->size != a->left || zip_left(m) % a->size))
        return fail(err, GG_ERR_FORMAT, "%s: its length does not fit its shape",
                    a->name);
    return st;
}

/* A single number, if it is there. */
static enum gg_status
scalar(struct npz_reader *r, int array, uint64_t max, uint64_t *out,
       struct gg_error *err)
{
    struct npy a = { 0 };
    enum gg_status st = open_member(r->zip, array, &a, err);

    return st == GG_OK && a.read ? npy_numbers(&a, out, 1, max, err) : st;
}

static enum gg_status
read_eog(struct npz_reader *r, struct gg_error *err)
{
    struct npy a = { 0 };
    enum gg_status st = open_member(r->zip, NPZ_EOG, &a, err);

    if (st == GG_OK && a.read && a.left > LIMIT_EOG)
        return bad(r, "too many ids that end a generation", err);
    while (st == GG_OK && a.left > 0) {
        uint64_t id;

        st = npy_numbers(&a, &id, 1, INT32_MAX, err);
        if (st == GG_OK && !draft_add_eog(&r->draft, (int32_t)id))
            st = no_memory(err);
    }
    return st;
}

static enum gg_status
read_writer(struct npz_reader *r, struct gg_error *err)
{
    struct npy a = { 0 };
    enum gg_status st = open_member(r->zip, NPZ_WRITER, &a, err);
    uint64_t letters[LIMIT_WRITER];
    char text[LIMIT_WRITER];
    size_t n;

    if (st != GG_OK)
        return st;
    n = a.read ? (size_t)a.left : 0;
    if (n > LIMIT_WRITER)
        return bad(r, "the writer's name is too long", err);
    if (n > 0)
        st = npy_numbers(&a, letters, n, 255, err);
    for (size_t i = 0; st == GG_OK && i < n; i++) {
        text[i] = (char)letters[i];
        if (!text[i])
            return bad(r, "a NUL in the writer's name", err);
    }
    if (st == GG_OK && !draft_set_writer(&r->draft, n ? text : "", n))
        st = no_memory(err);
    return st;
}

/* What the arrays' shapes say of the vectors. */
static enum gg_status
measure(struct npz_reader *r, struct gg_error *err)
{
    struct gg_logit_head *h = &r->draft.record.head;
    struct npy *a = &r->arrays[NPZ_LOGITS];
    uint64_t n = a->n_dims > 1 ? a->shape[1] : a->shape[0];

    if (have(r, NPZ_LOGIT_IDS)) {
        h->encoding = GG_ENCODING_SPARSE;
        if (!have(r, NPZ_LOGITS_END) || !have(r, NPZ_LOG_SUM_EXP) ||
            a->n_dims != 1)
            return bad(r, "logit_ids without logits_end and log_sum_exp", err);
        r->n_rows = r->arrays[NPZ_LOGITS_END].left;
        return GG_OK;
    }
    h->encoding = a->size == 2 ? GG_ENCODING_F16 : GG_ENCODING_F32;
    if (a->n_dims < 1 || a->n_dims > 2 || n < 1 || n > LIMIT_VOCAB)
        return bad(r, "the logits are not rows of values", err);
    r->n_rows = a->n_dims == 2 ? a->shape[0] : 1;
    h->n_vocab = (uint32_t)n;
    return GG_OK;
}

static enum gg_status
check_rows(const struct npz_reader *r, struct gg_error *err)
{
    static const int rows[] = { NPZ_LOG_SUM_EXP, NPZ_SEQUENCE, NPZ_POSITION,
                                NPZ_IDS_END };
    static const int events[] = { NPZ_EVENT_KIND, NPZ_EVENT_SEQUENCE,
                                  NPZ_EVENT_MESSAGE_END };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (have(r, rows[i]) && r->arrays[rows[i]].left != r->n_rows)
            return fail(err, GG_ERR_FORMAT, "%s: not as long as the logits",
                        r->arrays[rows[i]].name);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        if (have(r, NPZ_EVENT_ROW) &&
            (!have(r, events[i]) ||
             r->arrays[events[i]].left != r->arrays[NPZ_EVENT_ROW].left))
            return bad(r, "event_row without its fellows, or of another length",
                       err);
    if (have(r, NPZ_IDS_END) && !have(r, NPZ_IDS))
        return bad(r, "ids_end without ids", err);
    return GG_OK;
}

static enum gg_status
read_head(struct npz_reader *r, struct gg_error *err)
{
    struct gg_logit_head *h = &r->draft.record.head;
    uint64_t n_vocab = 0, kind = 0, numbered = 0;
    enum gg_status st = scalar(r, NPZ_N_VOCAB, LIMIT_VOCAB, &n_vocab, err);

    if (st == GG_OK)
        st = scalar(r, NPZ_KIND, GG_VECTOR_EMBEDDING, &kind, err);
    if (st == GG_OK)
        st = scalar(r, NPZ_NUMBERED, 1, &numbered, err);
    if (st == GG_OK)
        st = scalar(r, NPZ_FINGERPRINT, UINT64_MAX, &h->fingerprint, err);
    if (st == GG_OK)
        st = read_eog(r, err);
    if (st == GG_OK)
        st = read_writer(r, err);
    h->kind = (enum gg_vector_kind)kind;
    h->numbered = numbered;
    if (h->encoding == GG_ENCODING_SPARSE)
        h->n_vocab = (uint32_t)n_vocab;
    else if (st == GG_OK && n_vocab && n_vocab != h->n_vocab)
        return bad(r, "rows of another length than n_vocab", err);
    return st;
}

static enum gg_status
open_arrays(struct npz_reader *r, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (int i = 0; st == GG_OK && i < NPZ_N_ROWS; i++)
        st = open_member(r->zip, i, &r->arrays[i], err);
    if (st == GG_OK && !have(r, NPZ_LOGITS))
        st = bad(r, "an archive without logits.npy", err);
    return st;
}

static enum gg_status
take(void *from, void *out, size_t n, struct gg_error *err)
{
    return input_take(from, out, n, err);
}

static enum gg_status
next_event(struct npz_reader *r, struct gg_error *err)
{
    struct npy *a = &r->arrays[NPZ_EVENT_ROW];
    uint64_t row;
    enum gg_status st;

    if (!have(r, NPZ_EVENT_ROW) || a->left == 0) {
        r->event_row = UINT64_MAX;
        return GG_OK;
    }
    st = npy_numbers(a, &row, 1, r->n_rows, err);
    if (st == GG_OK && row < r->event_row)
        st = bad(r, "event_row goes back", err);
    r->event_row = row;
    return st;
}

static enum gg_status
begin(struct npz_reader *r, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    draft_begin(&r->draft, GG_RECORD_HEAD);
    if (r->zip) {
        st = open_arrays(r, err);
    } else {
        r->arrays[NPZ_LOGITS] =
            (struct npy){ .read = take, .from = r->in, .name = r->name };
        st = npy_open(&r->arrays[NPZ_LOGITS], err);
    }
    if (st == GG_OK)
        st = measure(r, err);
    if (st == GG_OK && r->zip)
        st = read_head(r, err);
    else if (st == GG_OK && !draft_set_writer(&r->draft, "", 0))
        st = no_memory(err);
    if (st == GG_OK)
        st = check_rows(r, err);
    if (st == GG_OK && draft_check_head(&r->draft))
        st = bad(r, draft_check_head(&r->draft), err);
    return st == GG_OK ? next_event(r, err) : st;
}

enum gg_status
npz_open(struct npz_reader **out, struct input *in, int seekable,
         struct gg_error *err)
{
    struct npz_reader *r = calloc(1, sizeof(*r));
    enum gg_status st = GG_OK;

    if (!r)
        return no_memory(err);
    r->in = in;
    r->name = in->name;
    if (seekable >= 0)
        st = zip_open(&r->zip, seekable, in->name, err);
    if (st == GG_OK)
        *out = r;
    else
        npz_close(r);
    return st;
}

void
npz_close(struct npz_reader *r)
{
    if (!r)
        return;
    zip_close(r->zip);
    draft_clear(&r->draft);
    free(r);
}

/* ---- records ---- */

/* How many elements belong to a row that ends at the next number of `array`,
 * where *done were read before it. */
static enum gg_status
row_length(struct npz_reader *r, int array, uint64_t *done, uint64_t max,
           size_t *n, struct gg_error *err)
{
    uint64_t end;
    enum gg_status st = npy_numbers(&r->arrays[array], &end, 1, INT64_MAX, err);

    if (st == GG_OK && (end < *done || end - *done > max))
        return fail(err, GG_ERR_FORMAT, "%s: it goes back, or too far",
                    r->arrays[array].name);
    if (st == GG_OK) {
        *n = (size_t)(end - *done);
        *done = end;
    }
    return st;
}

static enum gg_status
read_ids(struct npz_reader *r, struct gg_error *err)
{
    enum gg_status st;
    size_t n = 0;

    if (!have(r, NPZ_IDS_END))
        return GG_OK;
    st = row_length(r, NPZ_IDS_END, &r->id, LIMIT_IDS, &n, err);
    while (st == GG_OK && n-- > 0) {
        uint64_t id;

        st = npy_numbers(&r->arrays[NPZ_IDS], &id, 1, INT32_MAX, err);
        if (st == GG_OK && !draft_add_id(&r->draft, (int32_t)id))
            st = no_memory(err);
    }
    return st;
}

static enum gg_status
read_sparse(struct npz_reader *r, size_t *n, struct gg_error *err)
{
    struct draft *d = &r->draft;
    uint32_t n_vocab = d->record.head.n_vocab;
    enum gg_status st =
        row_length(r, NPZ_LOGITS_END, &r->value, n_vocab, n, err);

    for (size_t i = 0; st == GG_OK && i < *n; i++) {
        uint64_t id;

        st = npy_numbers(&r->arrays[NPZ_LOGIT_IDS], &id, 1, n_vocab - 1, err);
        if (st == GG_OK && !draft_mark(d, (int32_t)id))
            return bad(r, "a logit's id that was there before", err);
        d->logit_ids[i] = (int32_t)id;
    }
    d->record.logit_ids = d->logit_ids;
    if (st == GG_OK)
        st = npy_doubles(&r->arrays[NPZ_LOG_SUM_EXP], &d->record.log_sum_exp, 1,
                         err);
    return st;
}

static enum gg_status
read_row(struct npz_reader *r, struct gg_error *err)
{
    struct draft *d = &r->draft;
    struct gg_logit_record *out = &d->record;
    size_t n = out->head.n_vocab;
    enum gg_status st = GG_OK;

    draft_begin(d, GG_RECORD_LOGITS);
    if (!draft_room(d, n))
        return no_memory(err);
    out->position = r->row + 1;
    if (have(r, NPZ_SEQUENCE) && out->head.numbered)
        st = npy_numbers(&r->arrays[NPZ_SEQUENCE], &out->sequence, 1,
                         UINT64_MAX, err);
    if (st == GG_OK && have(r, NPZ_POSITION))
        st = npy_numbers(&r->arrays[NPZ_POSITION], &out->position, 1,
                         UINT64_MAX, err);
    if (st == GG_OK)
        st = read_ids(r, err);
    if (st == GG_OK && out->head.encoding == GG_ENCODING_SPARSE)
        st = read_sparse(r, &n, err);
    if (st == GG_OK)
        st = npy_floats(&r->arrays[NPZ_LOGITS], d->logits, n, err);
    out->logits = d->logits;
    out->n_logits = n;
    r->row++;
    return st;
}

static enum gg_status
read_message(struct npz_reader *r, bool failed, struct gg_error *err)
{
    uint64_t letters[256];
    char *text = NULL;
    size_t n = 0, cap = 0;
    enum gg_status st = row_length(r, NPZ_EVENT_MESSAGE_END, &r->letter,
                                   LIMIT_MESSAGE, &n, err);

    if (st == GG_OK && !grow(&text, &cap, n + 1, 1))
        st = no_memory(err);
    for (size_t i = 0, part; st == GG_OK && i < n; i += part) {
        part = n - i < 256 ? n - i : 256;
        st = have(r, NPZ_EVENT_MESSAGE)
                 ? npy_numbers(&r->arrays[NPZ_EVENT_MESSAGE], letters, part,
                               255, err)
                 : bad(r, "event_message is missing", err);
        for (size_t k = 0; st == GG_OK && k < part; k++)
            text[i + k] = (char)letters[k];
    }
    if (st == GG_OK && memchr(text, '\0', n))
        st = bad(r, "a message with a NUL", err);
    if (st == GG_OK && failed && !draft_set_message(&r->draft, text, n))
        st = no_memory(err);
    free(text);
    return st;
}

/* What stands between rows: 1, a chunk that failed; 2, a sequence's end. */
static enum gg_status
read_event(struct npz_reader *r, struct gg_error *err)
{
    uint64_t kind = 0, sequence = 0;
    enum gg_status st =
        npy_numbers(&r->arrays[NPZ_EVENT_KIND], &kind, 1, 2, err);

    if (st == GG_OK && kind == 0)
        return bad(r, "an event of no kind", err);
    draft_begin(&r->draft, kind == 1 ? GG_RECORD_ERROR : GG_RECORD_CLOSE);
    if (st == GG_OK)
        st = npy_numbers(&r->arrays[NPZ_EVENT_SEQUENCE], &sequence, 1,
                         UINT64_MAX, err);
    r->draft.record.sequence = sequence;
    if (st == GG_OK)
        st = read_message(r, kind == 1, err);
    return st == GG_OK ? next_event(r, err) : st;
}

enum gg_status
npz_read(struct npz_reader *r, struct gg_logit_record *out,
         struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (r->ended)
        return GG_EOF;
    if (!r->begun) {
        st = begin(r, err);
        r->begun = true;
    } else if (r->event_row <= r->row) {
        st = read_event(r, err);
    } else if (r->row < r->n_rows) {
        st = read_row(r, err);
    } else {
        draft_begin(&r->draft, GG_RECORD_END);
        r->ended = true;
    }
    if (st == GG_OK)
        *out = r->draft.record;
    return st;
}
