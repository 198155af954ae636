/* record_builder.c - makes records: heads, ids, values, messages */
#include <config.h>

#include "gg-logits/forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const kind_names[] = { "logits", "embeddings", NULL };
const char *const encoding_names[] = { "f32", "f16", "sparse", NULL };

void
record_builder_clear(struct record_builder *d)
{
    free(d->eog);
    free(d->suppressed);
    free(d->ids);
    free(d->logit_ids);
    free(d->logits);
    free(d->writer);
    free(d->sampling);
    free(d->message);
    free(d->seen);
    *d = (struct record_builder){ 0 };
}

void
record_builder_begin(struct record_builder *d, enum gg_record_kind kind)
{
    struct gg_logit_head head = d->record.head;

    if (kind == GG_RECORD_HEAD)
        head = (struct gg_logit_head){ 0 };
    d->record = (struct gg_logit_record){ .kind = kind, .head = head };
}

bool
record_builder_add_eog(struct record_builder *d, int32_t id)
{
    struct gg_logit_head *h = &d->record.head;

    if (!grow(&d->eog, &d->eog_cap, h->n_eog + 1, sizeof(*d->eog)))
        return false;
    d->eog[h->n_eog++] = id;
    h->eog_ids = d->eog;
    return true;
}

bool
record_builder_add_suppressed(struct record_builder *d, int32_t id)
{
    struct gg_logit_head *h = &d->record.head;

    if (!grow(&d->suppressed, &d->suppressed_cap, h->n_suppressed + 1,
              sizeof(*d->suppressed)))
        return false;
    d->suppressed[h->n_suppressed++] = id;
    h->suppressed = d->suppressed;
    return true;
}

bool
record_builder_add_id(struct record_builder *d, int32_t id)
{
    struct gg_logit_record *r = &d->record;

    if (!grow(&d->ids, &d->ids_cap, r->n_ids + 1, sizeof(*d->ids)))
        return false;
    d->ids[r->n_ids++] = id;
    r->ids = d->ids;
    return true;
}

bool
record_builder_set_writer(struct record_builder *d, const char *s, size_t len)
{
    if (!grow(&d->writer, &d->writer_cap, len + 1, 1))
        return false;
    memcpy(d->writer, s, len);
    d->writer[len] = '\0';
    d->record.head.writer = d->writer;
    return true;
}

bool
record_builder_set_sampling(struct record_builder *d, const char *s, size_t len)
{
    if (len == 0)
        return true;
    if (!grow(&d->sampling, &d->sampling_cap, len + 1, 1))
        return false;
    memcpy(d->sampling, s, len);
    d->sampling[len] = '\0';
    d->record.head.sampling = d->sampling;
    return true;
}

bool
record_builder_set_message(struct record_builder *d, const char *s, size_t len)
{
    if (len > LIMIT_MESSAGE)
        len = LIMIT_MESSAGE;
    if (!grow(&d->message, &d->message_cap, len + 1, 1))
        return false;
    if (len > 0)
        memcpy(d->message, s, len);
    d->message[len] = '\0';
    d->record.message = d->message;
    return true;
}

bool
record_builder_room(struct record_builder *d, size_t n)
{
    size_t bytes = n / 8 + 1;

    if (!grow(&d->logits, &d->logits_cap, n, sizeof(*d->logits)) ||
        !grow(&d->logit_ids, &d->logit_ids_cap, n, sizeof(*d->logit_ids)) ||
        !grow(&d->seen, &d->seen_cap, bytes, 1))
        return false;
    memset(d->seen, 0, bytes);
    return true;
}

bool
record_builder_mark(struct record_builder *d, int32_t id)
{
    uint8_t bit = (uint8_t)(1 << (id & 7));

    if (d->seen[id / 8] & bit)
        return false;
    d->seen[id / 8] |= bit;
    return true;
}

const char *
record_builder_check_head(const struct record_builder *d)
{
    const struct gg_logit_head *h = &d->record.head;

    if (h->n_vocab < 1 || h->n_vocab > LIMIT_VOCAB)
        return "is no head: its vocabulary";
    if (h->n_eog > LIMIT_EOG)
        return "is no head: too many ids that end a generation";
    for (size_t i = 0; i < h->n_eog; i++)
        if (h->eog_ids[i] < 0 || (uint32_t)h->eog_ids[i] >= h->n_vocab)
            return "is no head: an id is not in the vocabulary";
    for (size_t i = 0; i < h->n_suppressed; i++)
        if ((uint32_t)h->suppressed[i] >= h->n_vocab ||
            (i && h->suppressed[i] <= h->suppressed[i - 1]))
            return "is no head: a suppressed id is not in the vocabulary, or "
                   "out of order";
    for (const char *s = h->sampling; s && *s; s++)
        if (*s < ' ' || *s > '~' || s - h->sampling >= LIMIT_SAMPLING)
            return "is no head: what it says of sampling";
    if (!h->writer || strlen(h->writer) > LIMIT_WRITER)
        return "is no head: its writer";
    return NULL;
}

/* ---- numbers and words ---- */

bool
parse_u64(const char *s, uint64_t max, uint64_t *out, const char **end)
{
    uint64_t n = 0;
    const char *p = s;

    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');

        if (digit > max || n > (max - digit) / 10)
            return false;
        n = 10 * n + digit;
    }
    *out = n;
    *end = p;
    return p > s;
}

/* The words that are numbers; what strtod() takes beyond them and digits is
 * refused: blanks, hexadecimal. */
static bool
parse_word(const char *s, double *out)
{
    static const char *const names[] = { "inf",       "Infinity", "-inf",
                                         "-Infinity", "nan",      "NaN",
                                         "-nan",      "+inf",     "+nan",
                                         NULL };
    static const double values[] = { INFINITY,  INFINITY, -INFINITY,
                                     -INFINITY, NAN,      NAN,
                                     NAN,       INFINITY, NAN };
    int i = parse_name(s, names);

    if (i >= 0)
        *out = values[i];
    return i >= 0;
}

bool
parse_double(const char *s, double *out)
{
    char *end;

    if (parse_word(s, out))
        return true;
    if (!*s || s[strspn(s, "0123456789.eE+-")])
        return false;
    *out = strtod(s, &end); /* no tool calls setlocale() */
    return !*end && isfinite(*out);
}

bool
parse_float(const char *s, float *out)
{
    double word;
    char *end;

    if (parse_word(s, &word)) {
        *out = (float)word;
        return true;
    }
    if (!*s || s[strspn(s, "0123456789.eE+-")])
        return false;
    *out = strtof(s, &end);
    return !*end && isfinite(*out);
}

bool
parse_fingerprint(const char *s, uint64_t *out)
{
    if (strlen(s) != 16 || s[strspn(s, "0123456789abcdef")])
        return false;
    *out = strtoull(s, NULL, 16);
    return true;
}

int
parse_name(const char *s, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(s, names[i]) == 0)
            return i;
    return -1;
}

/* ---- the order of records ---- */

enum gg_status
reader_step(enum reader_state *state, enum gg_record_kind kind,
            const struct input *in, struct gg_error *err)
{
    if ((kind == GG_RECORD_HEAD) != (*state != WANT_RECORD))
        return cli_error(err, GG_ERR_FORMAT, "%s: line %llu: %s", in->name,
                         (unsigned long long)in->line,
                         *state == WANT_RECORD
                             ? "a head before the end of another"
                             : "a record without a head");
    *state = kind == GG_RECORD_END ? WANT_MEMBER : WANT_RECORD;
    return GG_OK;
}

enum gg_status
reader_end(enum reader_state state, const struct input *in,
           struct gg_error *err)
{
    if (state == WANT_MEMBER)
        return GG_EOF;
    return cli_error(err, GG_ERR_TRUNCATED, "%s: cut off: it has no end",
                     in->name);
}
