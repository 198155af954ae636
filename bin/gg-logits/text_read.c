/* text_read.c - records from lines of text
 *
 *     head<TAB>KIND<TAB>SIZE<TAB>FINGERPRINT<TAB>ENCODING<TAB>numbered or -
 *         <TAB>IDS that end a generation<TAB>WRITER
 *     record<TAB>SEQUENCE<TAB>POSITION<TAB>IDS[<TAB>LOG-SUM-EXP]
 *     ID<TAB>LOGIT ...
 *     failed<TAB>SEQUENCE<TAB>MESSAGE
 *     closed<TAB>SEQUENCE
 *     end
 *
 * and an empty line after each of these. */
#include <config.h>

#include "gg-logits/forms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_FIELDS = 10, /* of a head; */
    FIELDS = 8,      /* of the others */
};

static enum gg_status
no_memory(struct gg_error *err)
{
    return cli_error(err, GG_ERR_NOMEM, "out of memory");
}

/* Cuts the line at its tabs; the last field has the rest. */
static int
split_fields(char *s, char **fields, int max)
{
    int n = 0;

    for (;;) {
        char *tab = n + 1 < max ? strchr(s, '\t') : NULL;

        fields[n++] = s;
        if (!tab)
            return n;
        *tab = '\0';
        s = tab + 1;
    }
}

/* The reverse of gg_escape(), in place; returns the length, or -1. */
static long
unescape(char *s)
{
    static const char names[] = "n\nr\rt\t\\\\";
    char *to = s;

    for (const char *p = s; *p; p++) {
        const char *name;
        unsigned byte;

        if (*p != '\\') {
            *to++ = *p;
            continue;
        }
        p++;
        if (*p == 'x' && p[1] && p[2] &&
            strspn(p + 1, "0123456789abcdefABCDEF") >= 2) {
            char digits[3] = { p[1], p[2], '\0' };
            int used = 0;

            if (sscanf(digits, "%2x%n", &byte, &used) != 1 || byte == 0)
                return -1;
            *to++ = (char)byte;
            p += 2;
            continue;
        }
        for (name = names; *name && *name != *p; name += 2)
            ;
        if (!*p || !*name)
            return -1;
        *to++ = name[1];
    }
    *to = '\0';
    return (long)(to - s);
}

/* ---- fields ---- */

static enum gg_status
parse_ids(const char *s, uint64_t max, size_t limit,
          bool (*add)(struct record_builder *, int32_t),
          struct record_builder *d, const struct input *in,
          struct gg_error *err)
{
    size_t n = 0;

    for (const char *p = s; *p; n++) {
        uint64_t id;

        if (!parse_u64(p, max, &id, &p) || (*p && *p != ' ') || n == limit)
            return fail_line(in, s, "are no token ids", err);
        if (!add(d, (int32_t)id))
            return no_memory(err);
        while (*p == ' ')
            p++;
    }
    return GG_OK;
}

static enum gg_status
parse_sequence(const char *s, struct record_builder *d, const struct input *in,
               struct gg_error *err)
{
    const char *end;

    if (!d->record.head.numbered) {
        if (strcmp(s, "-") != 0)
            return fail_line(in, s, "is a sequence, but they are not numbered",
                             err);
        return GG_OK;
    }
    if (!parse_u64(s, UINT64_MAX, &d->record.sequence, &end) || *end)
        return fail_line(in, s, "is no sequence", err);
    return GG_OK;
}

static enum gg_status
parse_head(struct record_builder *d, char **f, int n, const struct input *in,
           struct gg_error *err)
{
    struct gg_logit_head *h = &d->record.head;
    enum gg_status st;
    bool fits = n >= 8 && n <= 10;
    int kind = fits ? parse_name(f[1], kind_names) : -1;
    int encoding = fits ? parse_name(f[4], encoding_names) : -1;
    uint64_t n_vocab;
    const char *end;
    long len;

    if (!fits)
        return fail_line(in, f[0], "has not eight fields", err);
    if (kind < 0)
        return fail_line(in, f[1], "is neither logits nor embeddings", err);
    if (!parse_u64(f[2], LIMIT_VOCAB, &n_vocab, &end) || *end)
        return fail_line(in, f[2], "is no size of a vocabulary", err);
    if (!parse_fingerprint(f[3], &h->fingerprint))
        return fail_line(in, f[3], "is no fingerprint", err);
    if (encoding < 0)
        return fail_line(in, f[4], "is none of f32, f16, sparse", err);
    if (strcmp(f[5], "numbered") && strcmp(f[5], "-"))
        return fail_line(in, f[5], "is neither \"numbered\" nor \"-\"", err);
    h->kind = (enum gg_vector_kind)kind;
    h->encoding = (enum gg_vector_encoding)encoding;
    h->n_vocab = (uint32_t)n_vocab;
    h->numbered = f[5][0] == 'n';
    st = parse_ids(f[6], INT32_MAX, LIMIT_EOG, record_builder_add_eog, d, in,
                   err);
    if (st == GG_OK && n >= 9)
        st = parse_ids(f[8], INT32_MAX, LIMIT_VOCAB,
                       record_builder_add_suppressed, d, in, err);
    if (st != GG_OK)
        return st;
    len = unescape(f[7]);
    if (len < 0)
        return fail_line(in, f[7], "is escaped wrongly", err);
    if (!record_builder_set_writer(d, f[7], (size_t)len) ||
        (n == 10 && !record_builder_set_sampling(d, f[9], strlen(f[9]))))
        return no_memory(err);
    if (record_builder_check_head(d))
        return fail_line(in, f[0], record_builder_check_head(d), err);
    return GG_OK;
}

static enum gg_status
parse_failure(struct record_builder *d, char **f, int n, const struct input *in,
              struct gg_error *err)
{
    enum gg_status st;
    long len;

    if (n != 3)
        return fail_line(in, f[0], "has not three fields", err);
    st = parse_sequence(f[1], d, in, err);
    len = unescape(f[2]);
    if (st == GG_OK && len < 0)
        return fail_line(in, f[2], "is escaped wrongly", err);
    if (st == GG_OK && !record_builder_set_message(d, f[2], (size_t)len))
        return no_memory(err);
    return st;
}

/* ---- values ---- */

static enum gg_status
parse_value(struct record_builder *d, char *line, const struct input *in,
            struct gg_error *err)
{
    struct gg_logit_record *r = &d->record;
    const char *end;
    uint64_t id;
    float value;

    if (!parse_u64(line, INT32_MAX, &id, &end) || *end != '\t' ||
        !parse_float(end + 1, &value))
        return fail_line(in, line, "is not an id and a logit", err);
    if (id >= r->head.n_vocab)
        return fail_line(in, line, "has an id beyond the vocabulary", err);
    if (!record_builder_mark(d, (int32_t)id))
        return fail_line(in, line, "has an id that was there before", err);
    if (r->head.encoding == GG_ENCODING_SPARSE) {
        d->logit_ids[r->n_logits] = (int32_t)id;
        d->logits[r->n_logits++] = value;
    } else {
        d->logits[id] = value;
    }
    return GG_OK;
}

/* An id without a line in a dense record is impossible; of an embedding every
 * value must be there. */
static enum gg_status
begin_values(struct record_builder *d, struct gg_error *err)
{
    struct gg_logit_record *r = &d->record;
    size_t n = r->head.n_vocab;

    if (!record_builder_room(d, n))
        return no_memory(err);
    r->logits = d->logits;
    if (r->head.encoding == GG_ENCODING_SPARSE) {
        r->logit_ids = d->logit_ids;
        return GG_OK;
    }
    r->n_logits = n;
    for (size_t i = 0; i < n; i++)
        d->logits[i] = -INFINITY;
    return GG_OK;
}

static enum gg_status
check_whole(const struct record_builder *d, size_t count,
            const struct input *in, struct gg_error *err)
{
    if (d->record.head.kind == GG_VECTOR_EMBEDDING &&
        d->record.head.encoding != GG_ENCODING_SPARSE &&
        count < d->record.n_logits)
        return cli_error(err, GG_ERR_FORMAT, "%s: line %llu: %zu values of %zu",
                         in->name, (unsigned long long)in->line, count,
                         d->record.n_logits);
    return GG_OK;
}

static enum gg_status
read_values(struct record_builder *d, struct input *in, struct gg_error *err)
{
    enum gg_status st = begin_values(d, err);
    size_t count = 0, len = 0;
    char *line;

    while (st == GG_OK) {
        st = input_line(in, LINE_LIMIT, &line, &len, err);
        if (st == GG_EOF)
            return cli_error(err, GG_ERR_TRUNCATED,
                             "%s: cut off in the middle of a record", in->name);
        if (st == GG_OK && len == 0)
            return check_whole(d, count, in, err);
        if (st == GG_OK)
            st = parse_value(d, line, in, err);
        count++;
    }
    return st;
}

static enum gg_status
parse_record(struct record_builder *d, char **f, int n, struct input *in,
             struct gg_error *err)
{
    struct gg_logit_record *r = &d->record;
    bool sparse = r->head.encoding == GG_ENCODING_SPARSE;
    const char *end;
    enum gg_status st;

    if (n != (sparse ? 5 : 4))
        return fail_line(in, f[0],
                         sparse ? "has not five fields" : "has not four fields",
                         err);
    st = parse_sequence(f[1], d, in, err);
    if (st != GG_OK)
        return st;
    if (!parse_u64(f[2], UINT64_MAX, &r->position, &end) || *end)
        return fail_line(in, f[2], "is no position", err);
    if (sparse && !parse_double(f[4], &r->log_sum_exp))
        return fail_line(in, f[4], "is no log-sum-exp", err);
    st = parse_ids(f[3], INT32_MAX, LIMIT_IDS, record_builder_add_id, d, in,
                   err);
    return st == GG_OK ? read_values(d, in, err) : st;
}

static enum gg_status
parse_text_line(struct record_builder *d, enum gg_record_kind kind, char *line,
                struct input *in, struct gg_error *err)
{
    char *f[MAX_FIELDS];
    int n = split_fields(line, f, kind == GG_RECORD_HEAD ? MAX_FIELDS : FIELDS);

    switch (kind) {
    case GG_RECORD_HEAD:
        return parse_head(d, f, n, in, err);
    case GG_RECORD_LOGITS:
        return parse_record(d, f, n, in, err);
    case GG_RECORD_ERROR:
        return parse_failure(d, f, n, in, err);
    case GG_RECORD_CLOSE:
        if (n != 2)
            return fail_line(in, f[0], "has not two fields", err);
        return parse_sequence(f[1], d, in, err);
    default:
        return n == 1 ? GG_OK : fail_line(in, f[1], "comes after the end", err);
    }
}

/* In the order of enum gg_record_kind. */
static int
line_kind(const char *line)
{
    static const char *const words[] = { "head",   "record", "failed",
                                         "closed", "end",    NULL };
    size_t len = strcspn(line, "\t");

    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == len && memcmp(words[i], line, len) == 0)
            return i;
    return -1;
}

enum gg_status
lines_read(struct lines_reader *t, struct input *in,
           struct gg_logit_record *out, struct gg_error *err)
{
    enum gg_status st;
    char *line = NULL;
    size_t len = 0;
    int kind;

    do
        st = input_line(in, LINE_LIMIT, &line, &len, err);
    while (st == GG_OK && len == 0);
    if (st == GG_EOF)
        return reader_end(t->state, in, err);
    if (st != GG_OK)
        return st;
    kind = line_kind(line);
    if (kind < 0)
        return fail_line(in, line, "begins no record", err);
    st = reader_step(&t->state, (enum gg_record_kind)kind, in, err);
    if (st != GG_OK)
        return st;
    record_builder_begin(&t->builder, (enum gg_record_kind)kind);
    st = parse_text_line(&t->builder, (enum gg_record_kind)kind, line, in, err);
    if (st == GG_OK)
        *out = t->builder.record;
    return st;
}
