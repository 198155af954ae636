/* like.c - rows of numbers take the places of another stream's logits */
#include <config.h>

#include "gg-logits/like.h"

#include "common/cli.h"

static void
next_row(struct like *l, struct gg_logit_record *row)
{
    struct gg_error err;
    enum gg_status st;

    do
        st = record_source_read(l->rows, row, &err);
    while (st == GG_OK && row->kind == GG_RECORD_HEAD);
    if (st != GG_EOF)
        cli_check(st, &err);
    if (st == GG_EOF || row->kind == GG_RECORD_END)
        row->kind = GG_RECORD_END;
    else if (row->kind != GG_RECORD_LOGITS || row->logit_ids)
        cli_die("--like is for rows of numbers, as --to npy writes them");
}

enum gg_status
like_read(void *like, struct gg_logit_record *out, struct gg_error *err)
{
    struct like *l = like;
    enum gg_status st = record_source_read(l->model, out, err);
    struct gg_logit_record row;

    if (st == GG_EOF) {
        next_row(l, &row);
        if (row.kind != GG_RECORD_END)
            cli_die("more rows than %s has records", l->path);
    }
    if (st == GG_OK && out->head.encoding == GG_ENCODING_SPARSE)
        cli_die("%s: sparse logits have no rows", l->path);
    if (st != GG_OK || out->kind != GG_RECORD_LOGITS)
        return st;
    next_row(l, &row);
    if (row.kind == GG_RECORD_END)
        cli_die("fewer rows than %s has records", l->path);
    if (row.n_logits != out->n_logits)
        cli_die("rows of %zu numbers; %s has vectors of %zu", row.n_logits,
                l->path, out->n_logits);
    out->logits = row.logits;
    return st;
}
