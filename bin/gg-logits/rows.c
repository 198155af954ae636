/* rows.c - records from one array: a row of values for each, and nothing else
 * is known of it */
#include <config.h>

#include "gg-logits/rows.h"

#include <stdlib.h>

#include "common/npy.h"
#include "gg-logits/forms.h"

struct rows_reader {
    const char *name;
    struct npy array;
    struct record_builder builder;
    bool begun, ended;
    uint64_t row, n_rows;
};

static enum gg_status
bad_rows(const struct rows_reader *r, const char *why, struct gg_error *err)
{
    return cli_error(err, GG_ERR_FORMAT, "%s: %s", r->name, why);
}

static enum gg_status
no_memory(struct gg_error *err)
{
    return cli_error(err, GG_ERR_NOMEM, "out of memory");
}

static enum gg_status
take_bytes(void *from, void *out, size_t n, struct gg_error *err)
{
    return input_take(from, out, n, err);
}

enum gg_status
rows_open(struct rows_reader **out, struct input *in, struct gg_error *err)
{
    struct rows_reader *r = calloc(1, sizeof(*r));

    if (!r)
        return no_memory(err);
    r->name = in->name;
    r->array = (struct npy){ .read = take_bytes, .from = in, .name = in->name };
    *out = r;
    return GG_OK;
}

void
rows_close(struct rows_reader *r)
{
    if (!r)
        return;
    record_builder_clear(&r->builder);
    free(r);
}

/* Takes number and length of the vectors from the array's shape. */
static enum gg_status
measure_rows(struct rows_reader *r, struct gg_error *err)
{
    struct gg_logit_head *h = &r->builder.record.head;
    const struct npy *a = &r->array;
    uint64_t n = a->n_dims > 1 ? a->shape[1] : a->shape[0];

    h->encoding = a->size == 2 ? GG_ENCODING_F16 : GG_ENCODING_F32;
    if (a->n_dims < 1 || a->n_dims > 2 || n < 1 || n > LIMIT_VOCAB)
        return bad_rows(r, "the logits are not rows of values", err);
    r->n_rows = a->n_dims == 2 ? a->shape[0] : 1;
    h->n_vocab = (uint32_t)n;
    return GG_OK;
}

static enum gg_status
read_head(struct rows_reader *r, struct gg_error *err)
{
    enum gg_status st;

    record_builder_begin(&r->builder, GG_RECORD_HEAD);
    st = npy_open(&r->array, err);
    if (st == GG_OK)
        st = measure_rows(r, err);
    if (st == GG_OK && !record_builder_set_writer(&r->builder, "", 0))
        st = no_memory(err);
    if (st == GG_OK && record_builder_check_head(&r->builder))
        st = bad_rows(r, record_builder_check_head(&r->builder), err);
    return st;
}

static enum gg_status
read_row(struct rows_reader *r, struct gg_error *err)
{
    struct record_builder *d = &r->builder;
    size_t n = d->record.head.n_vocab;

    record_builder_begin(d, GG_RECORD_LOGITS);
    if (!record_builder_room(d, n))
        return no_memory(err);
    d->record.position = ++r->row;
    d->record.logits = d->logits;
    d->record.n_logits = n;
    return npy_floats(&r->array, d->logits, n, err);
}

enum gg_status
rows_read(struct rows_reader *r, struct gg_logit_record *out,
          struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (r->ended)
        return GG_EOF;
    if (!r->begun) {
        st = read_head(r, err);
        r->begun = true;
    } else if (r->row < r->n_rows) {
        st = read_row(r, err);
    } else {
        record_builder_begin(&r->builder, GG_RECORD_END);
        r->ended = true;
    }
    if (st == GG_OK)
        *out = r->builder.record;
    return st;
}
