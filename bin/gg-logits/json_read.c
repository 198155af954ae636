/* json_read.c - records from JSON lines
 *
 *     {"head": {"kind", "n_vocab", "fingerprint", "encoding", "numbered",
 *               "eog"[, "suppressed"][, "sampling"], "writer"}}
 *     {"sequence", "position", "ids", "logits"[, "logit_ids", "log_sum_exp"]}
 *     {"sequence", "error"}
 *     {"sequence", "closed": true}
 *     {"end": true}
 *
 * "sequence" is there where sequences are numbered. Members of other names are
 * not looked at. */
#include <config.h>

#include "gg-logits/forms.h"

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

#include "common/json.h"

struct line {
    const struct input *in;
    struct gg_error *err;
};

static enum gg_status
bad_line(const struct line *l, const char *what)
{
    return cli_error(l->err, GG_ERR_FORMAT, "%s: line %llu: %s", l->in->name,
                     (unsigned long long)l->in->line, what);
}

static enum gg_status
no_memory(const struct line *l)
{
    return cli_error(l->err, GG_ERR_NOMEM, "out of memory");
}

/* ---- values ---- */

/* A whole number, or a string of digits: other programs' numbers may end at
 * 2^53. */
static bool
get_u64(const json_t *v, uint64_t max, uint64_t *out)
{
    const char *s = cli_json_text(v), *end;

    if (s)
        return parse_u64(s, max, out, &end) && !*end;
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return false;
    *out = (uint64_t)json_integer_value(v);
    return *out <= max;
}

/* null is what JSON makes of minus infinity in other programs. */
static bool
get_double(const json_t *v, double *out)
{
    const char *s = cli_json_text(v);

    if (s)
        return parse_double(s, out);
    if (json_is_null(v))
        *out = -INFINITY;
    else if (json_is_number(v))
        *out = json_number_value(v);
    return json_is_null(v) || json_is_number(v);
}

static bool
get_float(const json_t *v, float *out)
{
    double x;

    if (!get_double(v, &x) || (isfinite(x) && fabs(x) >= 3.4028235677973366e38))
        return false;
    *out = (float)x;
    return true;
}

static enum gg_status
get_sequence(const struct line *l, const json_t *v, struct record_builder *d)
{
    const json_t *sequence = json_object_get(v, "sequence");

    if (!d->record.head.numbered)
        return sequence ? bad_line(l, "a sequence, but they are not numbered")
                        : GG_OK;
    if (!get_u64(sequence, UINT64_MAX, &d->record.sequence))
        return bad_line(l, "no sequence");
    return GG_OK;
}

static enum gg_status
get_ids(const struct line *l, const json_t *v, uint64_t max, size_t limit,
        bool (*add)(struct record_builder *, int32_t), struct record_builder *d)
{
    size_t n = json_array_size(v);

    if (!json_is_array(v) || n > limit)
        return bad_line(l, "no array of token ids");
    for (size_t i = 0; i < n; i++) {
        uint64_t id;

        if (!get_u64(json_array_get(v, i), max, &id))
            return bad_line(l, "an id that is none");
        if (!add(d, (int32_t)id))
            return no_memory(l);
    }
    return GG_OK;
}

/* ---- records ---- */

static enum gg_status
read_head(const struct line *l, const json_t *v, struct record_builder *d)
{
    struct gg_logit_head *h = &d->record.head;
    const char *kind = json_string_value(json_object_get(v, "kind"));
    const char *encoding = json_string_value(json_object_get(v, "encoding"));
    const char *print = json_string_value(json_object_get(v, "fingerprint"));
    const char *writer = cli_json_text(json_object_get(v, "writer"));
    const json_t *line = json_object_get(v, "sampling");
    const char *sampling = line ? cli_json_text(line) : "";
    uint64_t n_vocab;
    enum gg_status st;

    if (!kind || parse_name(kind, kind_names) < 0)
        return bad_line(
            l, "a head without \"kind\", \"logits\" or \"embeddings\"");
    if (!encoding || parse_name(encoding, encoding_names) < 0)
        return bad_line(l, "a head without \"encoding\"");
    if (!get_u64(json_object_get(v, "n_vocab"), LIMIT_VOCAB, &n_vocab))
        return bad_line(l, "a head without \"n_vocab\"");
    if (!print || !parse_fingerprint(print, &h->fingerprint))
        return bad_line(l, "a head without \"fingerprint\" of 16 digits");
    if (!writer)
        return bad_line(l, "a head without \"writer\"");
    if (!sampling)
        return bad_line(l, "\"sampling\" is no text");
    h->kind = (enum gg_vector_kind)parse_name(kind, kind_names);
    h->encoding = (enum gg_vector_encoding)parse_name(encoding, encoding_names);
    h->n_vocab = (uint32_t)n_vocab;
    h->numbered = json_is_true(json_object_get(v, "numbered"));
    st = get_ids(l, json_object_get(v, "eog"), INT32_MAX, LIMIT_EOG,
                 record_builder_add_eog, d);
    if (st == GG_OK && json_object_get(v, "suppressed"))
        st = get_ids(l, json_object_get(v, "suppressed"), INT32_MAX,
                     LIMIT_VOCAB, record_builder_add_suppressed, d);
    if (st != GG_OK)
        return st;
    if (!record_builder_set_writer(d, writer, strlen(writer)) ||
        !record_builder_set_sampling(d, sampling, strlen(sampling)))
        return no_memory(l);
    return record_builder_check_head(d)
               ? fail_line(l->in, "head", record_builder_check_head(d), l->err)
               : GG_OK;
}

static enum gg_status
read_sparse_ids(const struct line *l, const json_t *v, struct record_builder *d)
{
    const json_t *ids = json_object_get(v, "logit_ids");

    if (json_array_size(ids) != d->record.n_logits)
        return bad_line(l, "not as many \"logit_ids\" as \"logits\"");
    for (size_t i = 0; i < d->record.n_logits; i++) {
        uint64_t id;

        if (!get_u64(json_array_get(ids, i), d->record.head.n_vocab - 1, &id))
            return bad_line(l, "a logit's id that is not in the vocabulary");
        if (!record_builder_mark(d, (int32_t)id))
            return bad_line(l, "a logit's id that was there before");
        d->logit_ids[i] = (int32_t)id;
    }
    if (!get_double(json_object_get(v, "log_sum_exp"), &d->record.log_sum_exp))
        return bad_line(l, "no \"log_sum_exp\"");
    d->record.logit_ids = d->logit_ids;
    return GG_OK;
}

static enum gg_status
read_values(const struct line *l, const json_t *v, struct record_builder *d)
{
    const json_t *logits = json_object_get(v, "logits");
    struct gg_logit_record *r = &d->record;
    bool sparse = r->head.encoding == GG_ENCODING_SPARSE;
    size_t n = json_array_size(logits);

    if (!json_is_array(logits) || n > r->head.n_vocab ||
        (!sparse && n != r->head.n_vocab))
        return cli_error(l->err, GG_ERR_FORMAT,
                         "%s: line %llu: %zu logits, not %lu", l->in->name,
                         (unsigned long long)l->in->line, n,
                         (unsigned long)r->head.n_vocab);
    if (!record_builder_room(d, r->head.n_vocab))
        return no_memory(l);
    for (size_t i = 0; i < n; i++)
        if (!get_float(json_array_get(logits, i), &d->logits[i]))
            return bad_line(l, "a logit that is no number");
    r->logits = d->logits;
    r->n_logits = n;
    return sparse ? read_sparse_ids(l, v, d) : GG_OK;
}

static enum gg_status
read_json_record(const struct line *l, const json_t *v,
                 struct record_builder *d)
{
    enum gg_status st = get_sequence(l, v, d);

    if (st == GG_OK && !get_u64(json_object_get(v, "position"), UINT64_MAX,
                                &d->record.position))
        st = bad_line(l, "no position");
    if (st == GG_OK)
        st = get_ids(l, json_object_get(v, "ids"), INT32_MAX, LIMIT_IDS,
                     record_builder_add_id, d);
    return st == GG_OK ? read_values(l, v, d) : st;
}

static enum gg_status
read_failure(const struct line *l, const json_t *v, struct record_builder *d)
{
    const char *message = cli_json_text(json_object_get(v, "error"));
    enum gg_status st = get_sequence(l, v, d);

    if (st != GG_OK)
        return st;
    if (!message)
        return bad_line(l, "an error that is no string");
    return record_builder_set_message(d, message, strlen(message))
               ? GG_OK
               : no_memory(l);
}

static enum gg_status
read_value(const struct line *l, const json_t *v, enum gg_record_kind kind,
           struct record_builder *d)
{
    record_builder_begin(d, kind);
    switch (kind) {
    case GG_RECORD_HEAD:
        return read_head(l, json_object_get(v, "head"), d);
    case GG_RECORD_LOGITS:
        return read_json_record(l, v, d);
    case GG_RECORD_ERROR:
        return read_failure(l, v, d);
    case GG_RECORD_CLOSE:
        return get_sequence(l, v, d);
    default:
        return GG_OK;
    }
}

static bool
record_kind(const json_t *v, enum gg_record_kind *kind)
{
    static const char *const members[] = { "head", "logits", "error", "closed",
                                           "end" };

    for (int i = 0; i < 5; i++)
        if (json_object_get(v, members[i])) {
            *kind = (enum gg_record_kind)i;
            return true;
        }
    return false;
}

/* Python writes Infinity and -Infinity, which are not JSON: such words outside
 * of strings become strings of the same length at most. */
static void
quote_infinity(char *s)
{
    bool inside = false;

    for (; *s; s++) {
        if (*s == '\\' && s[1]) {
            s++;
        } else if (*s == '"') {
            inside = !inside;
        } else if (!inside && *s == '-' && strncmp(s, "-Infinity", 9) == 0) {
            memcpy(s, "\"-inf\"   ", 9);
            s += 8;
        } else if (!inside && *s == 'I' && strncmp(s, "Infinity", 8) == 0) {
            memcpy(s, "\"inf\"   ", 8);
            s += 7;
        }
    }
}

static enum gg_status
syntax(const struct line *l, const json_error_t *e)
{
    char why[CLI_JSON_WHY];

    return cli_error(l->err, GG_ERR_FORMAT, "%s: line %llu: not JSON: %s",
                     l->in->name, (unsigned long long)l->in->line,
                     cli_json_why(why, e));
}

static enum gg_status
parse_line(struct jsonl_reader *j, const struct line *l, char *text, size_t len,
           struct gg_logit_record *out)
{
    enum gg_record_kind kind = GG_RECORD_END;
    enum gg_status st;
    json_error_t e;
    json_t *v;

    quote_infinity(text);
    v = cli_json_load(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
    if (!v)
        return syntax(l, &e);
    if (!record_kind(v, &kind))
        st = bad_line(l, "an object without logits, or what else can be there");
    else
        st = reader_step(&j->state, kind, l->in, l->err);
    if (st == GG_OK)
        st = read_value(l, v, kind, &j->builder);
    json_decref(v);
    if (st == GG_OK)
        *out = j->builder.record;
    return st;
}

enum gg_status
jsonl_read(struct jsonl_reader *j, struct input *in,
           struct gg_logit_record *out, struct gg_error *err)
{
    struct line l = { in, err };
    enum gg_status st;
    char *text = NULL;
    size_t len = 0;

    do
        st = input_line(in, LINE_LIMIT, &text, &len, err);
    while (st == GG_OK && len == 0);
    if (st == GG_EOF)
        return reader_end(j->state, in, err);
    return st == GG_OK ? parse_line(j, &l, text, len, out) : st;
}

#else

enum gg_status
jsonl_read(struct jsonl_reader *j, struct input *in,
           struct gg_logit_record *out, struct gg_error *err)
{
    (void)j, (void)in, (void)out;
    return cli_error(
        err, GG_ERR_UNSUPPORTED,
        "this gg-logits was built without Jansson, and reads no JSON");
}

#endif
