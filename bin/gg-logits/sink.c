/* sink.c - records to standard output in any form */
#include <config.h>

#include "gg-logits/sink.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/cli.h"

struct sink {
    enum form form;
    struct gg_logit_writer *writer;
    struct npz_writer *npz;
};

struct sink *
sink_new(enum form form, int level)
{
    struct sink *s = cli_alloc(NULL, 1, sizeof(*s));

    *s = (struct sink){ .form = form };
    if (form == FORM_NPY || form == FORM_NPZ)
        s->npz = npz_writer_new(form == FORM_NPZ, level);
    return s;
}

static void
put_stream(struct sink *s, const struct gg_logit_record *record)
{
    struct gg_error err;
    enum gg_status st;

    if (record->kind == GG_RECORD_HEAD) {
        gg_logit_writer_free(s->writer);
        s->writer = NULL;
        st =
            gg_logit_writer_new(STDOUT_FILENO, &record->head, &s->writer, &err);
    } else {
        st = gg_logit_write(s->writer, record, &err);
    }
    if (st != GG_OK)
        cli_die("standard output: %s", err.message);
}

void
sink_put(struct sink *s, const struct gg_logit_record *record)
{
    switch (s->form) {
    case FORM_STREAM:
        put_stream(s, record);
        break;
    case FORM_TEXT:
        text_put(record);
        cli_flush();
        break;
    case FORM_JSONL:
        jsonl_put(record);
        cli_flush();
        break;
    default:
        npz_writer_put(s->npz, record);
    }
}

void
sink_finish(struct sink *s)
{
    if (s->npz)
        npz_writer_finish(s->npz);
}

void
sink_free(struct sink *s)
{
    gg_logit_writer_free(s->writer);
    npz_writer_free(s->npz);
    free(s);
}
