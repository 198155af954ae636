/* record_source.c - records from a file of any form */
#include <config.h>

#include "gg-logits/record_source.h"

#include <stdlib.h>

#include "common/cli.h"
#include "gg-logits/rows.h"

struct record_source {
    enum form form;
    struct input in;
    struct gg_logit_reader *stream;
    struct lines_reader text;
    struct jsonl_reader json;
    struct rows_reader *rows;
};

static enum gg_status
open_stream(struct record_source *s, struct gg_error *err)
{
    enum gg_status st =
        gg_logit_reader_new(s->in.fd, s->in.name, &s->stream, err);

    return st == GG_OK
               ? gg_logit_reader_begin(s->stream, s->in.data + s->in.start,
                                       input_left(&s->in), err)
               : st;
}

/* The form; input that begins as no known form is left to the library's error.
 */
static enum form
form_of(const uint8_t *p, size_t n)
{
    size_t mark = cli_mark((const char *)p, n);
    int c = n > mark ? p[mark] : -1;

    return c == 'h'    ? FORM_TEXT
           : c == '{'  ? FORM_JSONL
           : c == 0x93 ? FORM_NPY
           : c == 'P'  ? FORM_NPZ
                       : FORM_STREAM;
}

static enum gg_status
open_form(struct record_source *s, struct gg_error *err)
{
    struct input *in = &s->in;
    enum gg_status st = input_fill(in, 1, err);

    if (st == GG_OK && input_left(in) && in->data[in->start] == 0xef)
        st = input_fill(in, 4, err); /* a mark and what follows */
    if (st != GG_OK)
        return st;
    s->form = FORM_STREAM;
    if (input_left(in))
        s->form = form_of(in->data + in->start, input_left(in));
    if (s->form == FORM_TEXT || s->form == FORM_JSONL)
        in->start +=
            cli_mark((const char *)in->data + in->start, input_left(in));
    switch (s->form) {
    case FORM_STREAM:
        return open_stream(s, err);
    case FORM_NPY:
        return rows_open(&s->rows, in, err);
    case FORM_NPZ:
        return cli_error(
            err, GG_ERR_UNSUPPORTED,
            "%s: an archive of NumPy (.npz), which is written but not "
            "read; .npy has rows",
            in->name);
    default:
        return GG_OK;
    }
}

enum gg_status
record_source_open(struct record_source **out, int fd, const char *name,
                   struct gg_error *err)
{
    struct record_source *s = calloc(1, sizeof(*s));
    enum gg_status st;

    if (!s)
        return cli_error(err, GG_ERR_NOMEM, "out of memory");
    s->in = (struct input){ .fd = fd, .name = name };
    st = open_form(s, err);
    if (st == GG_OK)
        *out = s;
    else
        record_source_close(s);
    return st;
}

void
record_source_close(struct record_source *s)
{
    if (!s)
        return;
    gg_logit_reader_free(s->stream);
    record_builder_clear(&s->text.builder);
    record_builder_clear(&s->json.builder);
    rows_close(s->rows);
    input_clear(&s->in);
    free(s);
}

static enum gg_status
read_stream(struct record_source *s, struct gg_logit_record *record,
            struct gg_error *err)
{
    enum gg_status st = gg_logit_read(s->stream, record, err);

    if (st != GG_OK || record->kind != GG_RECORD_HEAD ||
        record->head.n_vocab > 0)
        return st;
    st = gg_logit_read(s->stream, record, err); /* or what else it is */
    if (st != GG_OK && st != GG_EOF)
        return st;
    return cli_error(err, GG_ERR_UNSUPPORTED,
                     "%s: the text of gg-eval --top, which lacks a head; "
                     "--to text has one",
                     s->in.name);
}

enum gg_status
record_source_read(struct record_source *s, struct gg_logit_record *record,
                   struct gg_error *err)
{
    switch (s->form) {
    case FORM_STREAM:
        return read_stream(s, record, err);
    case FORM_TEXT:
        return lines_read(&s->text, &s->in, record, err);
    case FORM_JSONL:
        return jsonl_read(&s->json, &s->in, record, err);
    default:
        return rows_read(s->rows, record, err);
    }
}

enum form
record_source_form(const struct record_source *s)
{
    return s->form;
}
