/* pair.c - several streams, read record by record together */
#include <config.h>

#include "gg-logits/pair.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"

void
pair_add(struct pair *p, const char *path, double weight)
{
    p->members = cli_alloc(p->members, p->n + 1, sizeof(*p->members));
    p->members[p->n++] =
        (struct member){ .path = path, .weight = weight, .fd = -1 };
}

/* All files before the first byte of any: who writes to a FIFO may wait. */
void
pair_open(struct pair *p)
{
    struct gg_error err;
    size_t standard = 0;

    for (size_t i = 0; i < p->n; i++) {
        p->members[i].fd = cli_open_input(p->members[i].path);
        standard += p->members[i].fd == STDIN_FILENO;
    }
    if (standard > 1)
        cli_misuse("standard input cannot be read twice");
    for (size_t i = 0; i < p->n; i++)
        cli_check(record_source_open(&p->members[i].source, p->members[i].fd,
                                     cli_input_name(p->members[i].path), &err),
                  &err);
}

void
pair_close(struct pair *p)
{
    for (size_t i = 0; i < p->n; i++) {
        record_source_close(p->members[i].source);
        if (p->members[i].fd > STDIN_FILENO)
            close(p->members[i].fd);
    }
    free(p->members);
}

static const char *
describe(const struct member *m, bool more, char *text, size_t size)
{
    const struct gg_logit_record *r = &m->record;
    static const char *const kinds[] = { "a head", "logits", "a failure",
                                         "an end of", "its end" };

    if (!more)
        snprintf(text, size, "%s ends", cli_input_name(m->path));
    else if (r->kind == GG_RECORD_HEAD || r->kind == GG_RECORD_END)
        snprintf(text, size, "%s has %s", cli_input_name(m->path),
                 kinds[r->kind]);
    else if (r->kind == GG_RECORD_LOGITS)
        snprintf(text, size, "%s has sequence %" PRIu64 " at position %" PRIu64,
                 cli_input_name(m->path), r->sequence, r->position);
    else
        snprintf(text, size, "%s has %s sequence %" PRIu64,
                 cli_input_name(m->path), kinds[r->kind], r->sequence);
    return text;
}

CLI_NORETURN static void
differ(const struct pair *p, size_t i, bool first, bool other)
{
    char a[256], b[256];

    cli_die("%s, but %s", describe(&p->members[0], first, a, sizeof(a)),
            describe(&p->members[i], other, b, sizeof(b)));
}

/* A fingerprint of 0 is not known: rows of numbers have none. */
static void
check_heads(const struct pair *p)
{
    const struct gg_logit_head *a = &p->members[0].record.head;

    for (size_t i = 1; i < p->n; i++) {
        const struct gg_logit_head *b = &p->members[i].record.head;
        const char *path = cli_input_name(p->members[i].path);

        if (a->kind != b->kind)
            cli_die("%s: %s, unlike %s", path,
                    b->kind == GG_VECTOR_LOGITS ? "logits" : "embeddings",
                    cli_input_name(p->members[0].path));
        if (a->n_vocab != b->n_vocab)
            cli_die("%s: a vocabulary of %" PRIu32 ", and of %" PRIu32
                    " in %s: another one",
                    path, b->n_vocab, a->n_vocab,
                    cli_input_name(p->members[0].path));
        if (a->fingerprint && b->fingerprint &&
            a->fingerprint != b->fingerprint)
            cli_die("%s: another vocabulary than that of %s, of the same size",
                    path, cli_input_name(p->members[0].path));
        if (a->numbered != b->numbered)
            cli_die("%s: sequences are %snumbered, unlike those of %s", path,
                    b->numbered ? "" : "not ",
                    cli_input_name(p->members[0].path));
    }
}

static bool
is_of_chunk(enum gg_record_kind kind)
{
    return kind == GG_RECORD_LOGITS || kind == GG_RECORD_ERROR;
}

static bool
same_ids(const struct gg_logit_record *a, const struct gg_logit_record *b)
{
    return a->n_ids == 0 || b->n_ids == 0 ||
           (a->n_ids == b->n_ids &&
            memcmp(a->ids, b->ids, a->n_ids * sizeof(*a->ids)) == 0);
}

static void
check_same(const struct pair *p, size_t i)
{
    const struct gg_logit_record *a = &p->members[0].record;
    const struct gg_logit_record *b = &p->members[i].record;

    if (a->kind != b->kind && !(is_of_chunk(a->kind) && is_of_chunk(b->kind)))
        differ(p, i, true, true);
    if (a->kind == GG_RECORD_HEAD || a->kind == GG_RECORD_END)
        return;
    if (a->sequence != b->sequence ||
        (a->kind == GG_RECORD_LOGITS && b->kind == GG_RECORD_LOGITS &&
         a->position != b->position))
        differ(p, i, true, true);
    if (!same_ids(a, b))
        cli_die("%s: other ids than in %s, in sequence %" PRIu64
                " at position %" PRIu64,
                cli_input_name(p->members[i].path),
                cli_input_name(p->members[0].path), b->sequence, b->position);
}

bool
pair_read(struct pair *p, enum gg_record_kind *kind,
          const struct gg_logit_record **failed)
{
    bool first = true;

    *failed = NULL;
    for (size_t i = 0; i < p->n; i++) {
        struct member *m = &p->members[i];
        struct gg_error err;
        enum gg_status st = record_source_read(m->source, &m->record, &err);

        if (st != GG_EOF)
            cli_check(st, &err);
        if (i == 0)
            first = st == GG_OK;
        else if (first != (st == GG_OK))
            differ(p, i, first, !first);
        else if (first)
            check_same(p, i);
        if (st == GG_OK && m->record.kind == GG_RECORD_ERROR && !*failed)
            *failed = &m->record;
    }
    if (!first)
        return false;
    *kind = *failed ? GG_RECORD_ERROR : p->members[0].record.kind;
    if (*kind == GG_RECORD_HEAD)
        check_heads(p);
    return true;
}
