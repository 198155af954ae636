/* payload.c - what the records of a logit stream hold */
#include <config.h>

#include "stream/payload.h"

#include <math.h>
#include <string.h>

#include "core/cursor.h"
#include "core/escape.h"
#include "core/half.h"
#include "core/line.h"
#include "core/mem.h"
#include "stream/format.h"

void
stream_payload_clear(struct payload *p)
{
    mem_free(p->eog_ids);
    mem_free(p->suppressed);
    mem_free(p->writer);
    mem_free(p->sampling);
    mem_free(p->wide);
    mem_free(p->message);
    mem_free(p->past.ids);
    *p = (struct payload){ 0 };
}

uint64_t
stream_payload_longest(const struct payload *p, uint32_t kind, bool body)
{
    switch (kind) {
    case KIND_HEAD:
        return body ? 0
                    : FORMAT_HEAD + 4 * (uint64_t)FORMAT_EOG_MAX +
                          FORMAT_WRITER_MAX;
    case KIND_VECT:
        return body ? stream_format_vector(p->head.encoding, FORMAT_IDS_MAX,
                                           p->head.n_vocab)
                    : 0;
    case KIND_FAIL:
        return body ? FORMAT_FAIL + FORMAT_MESSAGE_MAX : 0;
    case KIND_PAST:
        return body ? FORMAT_PAST + 4 * (uint64_t)FORMAT_IDS_MAX : 0;
    case KIND_SUPP:
        return body ? FORMAT_SUPPRESSED + 4 * (uint64_t)FORMAT_VOCAB_MAX : 0;
    case KIND_SAMP:
        return body ? FORMAT_SAMPLING + CORE_LINE_MAX : 0;
    case KIND_CLOS:
        return body ? FORMAT_CLOSE : 0;
    case KIND_DONE:
        return body ? FORMAT_DONE : 0;
    default:
        return KIND_IS_OPTIONAL(kind) && body ? FORMAT_OPTIONAL_MAX : 0;
    }
}

uint64_t
stream_payload_shortest(uint32_t kind)
{
    return kind == KIND_HEAD   ? FORMAT_HEAD
           : kind == KIND_VECT ? FORMAT_VECTOR
           : kind == KIND_FAIL ? FORMAT_FAIL
           : kind == KIND_PAST ? FORMAT_PAST
           : kind == KIND_SUPP ? FORMAT_SUPPRESSED
           : kind == KIND_SAMP ? FORMAT_SAMPLING
           : kind == KIND_CLOS ? FORMAT_CLOSE
           : kind == KIND_DONE ? FORMAT_DONE
                               : 0;
}

/* n numbers of a payload, which is the reader's own, in the machine's order. */
static void *
take_numbers(struct cursor *c, size_t n, size_t size, size_t bytes)
{
    void *p = (void *)(uintptr_t)cursor_take(c, bytes);

    if (p)
        core_le_array(p, n, size);
    return p;
}

static enum gg_status
misfit(struct gg_error *err)
{
    return error_set(err, GG_ERR_FORMAT, "its length does not fit its content");
}

static enum gg_status
parse_head(struct payload *p, struct cursor *c, struct gg_error *err)
{
    struct gg_logit_head h = { 0 };
    uint32_t flags, n_eog, n_writer;
    const void *eog, *writer;

    h.fingerprint = cursor_u64(c);
    h.n_vocab = cursor_u32(c);
    h.kind = (enum gg_vector_kind)cursor_u32(c);
    h.encoding = (enum gg_vector_encoding)cursor_u32(c);
    flags = cursor_u32(c);
    h.n_eog = n_eog = cursor_u32(c);
    n_writer = cursor_u32(c);
    eog = take_numbers(c, n_eog, 4, 4 * (size_t)n_eog);
    writer = cursor_take(c, n_writer);
    if (c->bad || cursor_left(c) >= 8)
        return misfit(err);
    if (flags & ~(uint32_t)FORMAT_NUMBERED)
        return error_set(err, GG_ERR_UNSUPPORTED, "unknown flags 0x%lx",
                         (unsigned long)flags);
    if (memchr(writer, '\0', n_writer))
        return error_set(err, GG_ERR_FORMAT, "a NUL in the writer's name");
    mem_free(p->eog_ids);
    mem_free(p->writer);
    p->eog_ids = mem_dup(eog, 4 * (size_t)n_eog);
    p->writer = mem_strndup(writer, n_writer);
    if (!p->eog_ids || !p->writer)
        return error_nomem(err);
    h.numbered = flags & FORMAT_NUMBERED;
    h.eog_ids = p->eog_ids;
    h.writer = p->writer;
    p->head = h;
    return stream_format_check_head(&h, GG_ERR_FORMAT, err);
}

static enum gg_status
widen(struct payload *p, const uint16_t *half, size_t n, const float **out,
      struct gg_error *err)
{
    if (!mem_grow(&p->wide, &p->wide_cap, n, sizeof(*p->wide)))
        return error_nomem(err);
    for (size_t i = 0; i < n; i++)
        p->wide[i] = half_to_float(half[i]);
    *out = p->wide;
    return GG_OK;
}

static bool
ids_below(const int32_t *ids, size_t n, uint32_t limit)
{
    uint32_t bad = 0;

    for (size_t i = 0; i < n; i++)
        bad |= (uint32_t)ids[i] >= limit;
    return !bad;
}

/* The values, for which the payload is known to have room. */
static enum gg_status
parse_values(struct payload *p, struct cursor *c, struct gg_logit_record *out,
             struct gg_error *err)
{
    size_t n = out->n_logits;

    if (p->head.encoding == GG_ENCODING_F16)
        return widen(p, take_numbers(c, n, 2, 2 * n), n, &out->logits, err);
    if (p->head.encoding == GG_ENCODING_SPARSE) {
        out->logit_ids = take_numbers(c, n, 4, stream_format_padded(4 * n));
        if (!ids_below(out->logit_ids, n, p->head.n_vocab))
            return error_set(err, GG_ERR_FORMAT,
                             "an id that is not in the vocabulary");
    }
    out->logits = take_numbers(c, n, 4, 4 * n);
    return GG_OK;
}

static enum gg_status
parse_vector(struct payload *p, struct cursor *c, size_t length,
             struct gg_logit_record *out, struct gg_error *err)
{
    uint32_t n_ids, n;

    out->kind = GG_RECORD_LOGITS;
    out->sequence = cursor_u64(c);
    out->position = cursor_u64(c);
    n_ids = cursor_u32(c);
    n = cursor_u32(c);
    out->log_sum_exp = cursor_f64(c);
    if (n_ids > FORMAT_IDS_MAX || n > p->head.n_vocab ||
        (p->head.encoding != GG_ENCODING_SPARSE && n != p->head.n_vocab) ||
        length != stream_format_vector(p->head.encoding, n_ids, n))
        return misfit(err);
    out->n_ids = n_ids;
    out->n_logits = n;
    out->ids =
        take_numbers(c, n_ids, 4, stream_format_padded(4 * (size_t)n_ids));
    if (!ids_below(out->ids, n_ids, UINT32_C(1) << 31))
        return error_set(err, GG_ERR_FORMAT, "a negative token id");
    return parse_values(p, c, out, err);
}

/* It stays until the next record, which it belongs to. */
static enum gg_status
parse_past(struct payload *p, struct cursor *c, size_t length,
           struct gg_error *err)
{
    struct past *past = &p->past;
    uint32_t n, flags;
    const int32_t *ids;

    past->sequence = cursor_u64(c);
    past->mirostat = cursor_f64(c);
    n = cursor_u32(c);
    flags = cursor_u32(c);
    if (n > FORMAT_IDS_MAX || flags & ~(uint32_t)FORMAT_MIROSTAT ||
        length != FORMAT_PAST + stream_format_padded(4 * (size_t)n))
        return misfit(err);
    past->has_mirostat = flags & FORMAT_MIROSTAT;
    if (past->has_mirostat && !isfinite(past->mirostat))
        return error_set(err, GG_ERR_FORMAT, "Mirostat's value is no number");
    ids = take_numbers(c, n, 4, 4 * (size_t)n);
    if (!ids_below(ids, n, UINT32_C(1) << 31))
        return error_set(err, GG_ERR_FORMAT, "a negative token id");
    if (!mem_grow(&past->ids, &past->cap, n, sizeof(*ids)))
        return error_nomem(err);
    if (n)
        memcpy(past->ids, ids, n * sizeof(*ids));
    past->n = n;
    return GG_OK;
}

/* The head in force has none yet. */
static enum gg_status
parse_suppressed(struct payload *p, struct cursor *c, size_t length,
                 struct gg_error *err)
{
    uint32_t n = cursor_u32(c), zero = cursor_u32(c);
    const int32_t *ids;

    if (zero || n > p->head.n_vocab || p->head.n_suppressed ||
        length != FORMAT_SUPPRESSED + stream_format_padded(4 * (size_t)n))
        return misfit(err);
    ids = take_numbers(c, n, 4, 4 * (size_t)n);
    mem_free(p->suppressed);
    p->suppressed = mem_dup(ids, 4 * (size_t)n);
    if (!p->suppressed)
        return error_nomem(err);
    p->head.suppressed = p->suppressed;
    p->head.n_suppressed = n;
    return stream_format_check_suppressed(&p->head, GG_ERR_FORMAT, err);
}

/* Nor has it this. */
static enum gg_status
parse_sampling(struct payload *p, struct cursor *c, struct gg_error *err)
{
    uint32_t n = cursor_u32(c), zero = cursor_u32(c);
    const char *line = cursor_take(c, n);

    if (c->bad || zero || cursor_left(c) >= 8 || p->head.sampling)
        return misfit(err);
    if (!core_is_line(line, n))
        return error_set(err, GG_ERR_FORMAT, "it is no line of text");
    mem_free(p->sampling);
    p->head.sampling = p->sampling = mem_strndup(line, n);
    return p->sampling ? GG_OK : error_nomem(err);
}

/* Adds the past record, if it is of the same sequence. */
static void
add_past(const struct payload *p, struct gg_logit_record *out)
{
    const struct past *past = &p->past;

    if (!past->there || past->sequence != out->sequence)
        return;
    out->past = past->ids;
    out->n_past = past->n;
    out->mirostat = past->has_mirostat ? &past->mirostat : NULL;
}

static enum gg_status
payload_failure(struct payload *p, struct cursor *c,
                struct gg_logit_record *out, struct gg_error *err)
{
    uint32_t len, zero;
    const char *message;

    out->kind = GG_RECORD_ERROR;
    out->sequence = cursor_u64(c);
    len = cursor_u32(c);
    zero = cursor_u32(c);
    message = cursor_take(c, len);
    if (c->bad || zero || cursor_left(c) >= 8)
        return misfit(err);
    if (memchr(message, '\0', len))
        return error_set(err, GG_ERR_FORMAT, "a message with a NUL");
    mem_free(p->message);
    p->message = escape_copy(message, len);
    out->message = p->message;
    return p->message ? GG_OK : error_nomem(err);
}

enum gg_status
stream_payload_parse(struct payload *p, uint32_t kind, const void *payload,
                     size_t length, struct gg_logit_record *out,
                     uint64_t *count, struct gg_error *err)
{
    struct cursor c = cursor_over(payload, length);
    enum gg_status st = GG_OK;

    switch (kind) {
    case KIND_HEAD:
        out->kind = GG_RECORD_HEAD;
        st = parse_head(p, &c, err);
        break;
    case KIND_VECT:
        st = parse_vector(p, &c, length, out, err);
        add_past(p, out);
        break;
    case KIND_PAST:
        st = parse_past(p, &c, length, err);
        break;
    case KIND_SUPP:
        st = parse_suppressed(p, &c, length, err);
        break;
    case KIND_SAMP:
        st = parse_sampling(p, &c, err);
        break;
    case KIND_FAIL:
        st = payload_failure(p, &c, out, err);
        break;
    case KIND_CLOS:
        out->kind = GG_RECORD_CLOSE;
        out->sequence = cursor_u64(&c);
        break;
    case KIND_DONE:
        out->kind = GG_RECORD_END;
        *count = cursor_u64(&c);
        break;
    }
    p->past.there = kind == KIND_PAST && st == GG_OK;
    return st;
}
