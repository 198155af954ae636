/* text.c - the candidates that `gg-eval --top K` writes, read as records
 *
 * A line is sequence, position, rank, id, logprob and perhaps more, separated
 * by TAB; the sequence of a stream that is not numbered is "-". A record ends
 * with an empty line; one that failed is `SEQUENCE<TAB>!message`. */
#include <config.h>

#include "stream/text.h"

#include <stdlib.h>
#include <string.h>

#include "core/escape.h"
#include "core/mem.h"
#include "stream/format.h"
#include "stream/kind.h"
#include "stream/number.h"

enum {
    LINE_MAX_BYTES = 1 << 20, /* a piece may be long */
    FIELDS = 5,
};

struct field {
    const char *s, *end;
};

void
stream_text_reader_clear(struct text_reader *t)
{
    mem_free(t->ids);
    mem_free(t->logits);
    mem_free(t->message);
    *t = (struct text_reader){ 0 };
}

static enum gg_status
refuse_field(const struct field *f, const char *why, struct gg_error *err)
{
    char shown[48];

    escape_bytes(shown, sizeof(shown), f->s, (size_t)(f->end - f->s));
    return error_set(err, GG_ERR_FORMAT, "\"%s\" %s", shown, why);
}

/* How many of the first `max` fields the line has; the last of them ends at
 * the next TAB, too. */
static int
split_fields(const char *s, size_t len, struct field *fields, int max)
{
    const char *end = s + len;
    int n = 0;

    while (n < max) {
        const char *tab = memchr(s, '\t', (size_t)(end - s));

        fields[n++] = (struct field){ s, tab ? tab : end };
        if (!tab)
            break;
        s = tab + 1;
    }
    return n;
}

static bool
whole_number(struct field f, uint64_t max, uint64_t *out)
{
    return stream_number(&f.s, f.end, max, out) && f.s == f.end;
}

/* A number as strtof() takes it, without blanks, "nan" and hexadecimal. */
static bool
log_probability(const struct field *f, float *out)
{
    char copy[64], *end;
    size_t len = (size_t)(f->end - f->s);

    if (len == 0 || len >= sizeof(copy))
        return false;
    memcpy(copy, f->s, len);
    copy[len] = '\0';
    if (strcmp(copy, "-inf") != 0 && copy[strspn(copy, "0123456789.eE+-")])
        return false;
    *out = strtof(copy, &end);
    return *end == '\0';
}

static enum gg_status
parse_sequence(struct text_reader *t, const struct field *f,
               struct gg_error *err)
{
    uint64_t sequence = 0;
    bool numbered = f->end - f->s != 1 || *f->s != '-';

    if (numbered && !whole_number(*f, UINT64_MAX, &sequence))
        return refuse_field(f, "is no sequence", err);
    if (t->started && numbered != t->numbered)
        return refuse_field(f, "is unlike the sequences before", err);
    if (t->n > 0 && sequence != t->sequence)
        return refuse_field(f, "is another sequence within a record", err);
    t->started = true;
    t->numbered = numbered;
    t->sequence = sequence;
    return GG_OK;
}

static enum gg_status
parse_candidate(struct text_reader *t, const struct field *f,
                struct gg_error *err)
{
    uint64_t position, rank, id;
    float logprob;

    if (!whole_number(f[1], UINT64_MAX, &position) ||
        (t->n > 0 && position != t->position))
        return refuse_field(&f[1], "is not the record's position", err);
    if (!whole_number(f[2], FORMAT_VOCAB_MAX, &rank) || rank != t->n + 1)
        return refuse_field(&f[2], "is not the next rank", err);
    if (!whole_number(f[3], INT32_MAX, &id))
        return refuse_field(&f[3], "is no token id", err);
    if (!log_probability(&f[4], &logprob))
        return refuse_field(&f[4], "is no log-probability", err);
    if (!mem_grow(&t->ids, &t->ids_cap, t->n + 1, sizeof(*t->ids)) ||
        !mem_grow(&t->logits, &t->logits_cap, t->n + 1, sizeof(*t->logits)))
        return error_nomem(err);
    t->position = position;
    t->ids[t->n] = (int32_t)id;
    t->logits[t->n++] = logprob;
    return GG_OK;
}

static enum gg_status
parse_failure(struct text_reader *t, const char *s, size_t len,
              struct gg_error *err)
{
    if (memchr(s, '\0', len))
        return error_set(err, GG_ERR_FORMAT, "a message with a NUL");
    mem_free(t->message);
    t->message = escape_copy(s, len);
    if (!t->message)
        return error_nomem(err);
    t->failed = true;
    return GG_OK;
}

static enum gg_status
parse_line(struct text_reader *t, const char *s, size_t len,
           struct gg_error *err)
{
    struct field f[FIELDS];
    int n = split_fields(s, len, f, FIELDS);
    enum gg_status st = parse_sequence(t, &f[0], err);

    if (st != GG_OK)
        return st;
    if (t->n == 0 && n > 1 && f[1].s < f[1].end && *f[1].s == '!')
        return parse_failure(t, f[1].s + 1, (size_t)(s + len - f[1].s - 1),
                             err);
    if (n < FIELDS)
        return refuse_field(&(struct field){ s, s + len },
                            "does not have the fields of a table of logits",
                            err);
    return parse_candidate(t, f, err);
}

/* Hands over what was gathered, and starts anew. */
static void
finish_record(struct text_reader *t, struct gg_logit_record *record)
{
    *record = (struct gg_logit_record){
        .kind = t->failed ? GG_RECORD_ERROR : GG_RECORD_LOGITS,
        .sequence = t->sequence,
        .position = t->position,
        .logits = t->logits,
        .logit_ids = t->ids,
        .n_logits = t->n,
        .message = t->message,
    };
    t->n = 0;
    t->failed = false;
}

static enum gg_status
next_line(struct text_reader *t, struct stream_in *in, const char **s,
          size_t *len, struct gg_error *err)
{
    bool cut;
    enum gg_status st = stream_in_line(in, LINE_MAX_BYTES, s, len, &cut, err);

    if (st == GG_OK || st == GG_ERR_FORMAT)
        t->line++;
    if (st == GG_OK)
        *len = stream_without_cr(*s, *len);
    if ((st == GG_EOF && t->n > 0) || (st == GG_OK && cut))
        return error_set(err, GG_ERR_TRUNCATED,
                         "cut off in the middle of a record");
    return st;
}

enum gg_status
stream_text_read(struct text_reader *t, struct stream_in *in,
                 struct gg_logit_record *record, struct gg_error *err)
{
    enum gg_status st;
    const char *s;
    size_t len;

    do {
        st = next_line(t, in, &s, &len, err);
        if (st == GG_OK && len > 0)
            st = parse_line(t, s, len, err);
        if (st == GG_ERR_FORMAT && t->line == 1 && len > 0)
            stream_add_kind(s, len, stream_kind_table, err);
    } while (st == GG_OK && !t->failed && (len > 0 || t->n == 0));
    if (st == GG_OK)
        finish_record(t, record);
    else if (st == GG_ERR_FORMAT || st == GG_ERR_TRUNCATED)
        error_prefix(err, st, "%s: line %llu", in->name,
                     (unsigned long long)t->line);
    return st;
}
