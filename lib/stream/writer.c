/* writer.c - logit stream: records to bytes */
#include <config.h>

#include <gg-stream.h>
#include <string.h>

#include "core/half.h"
#include "core/mem.h"
#include "core/order.h"
#include "stream/format.h"
#include "stream/record.h"

struct gg_logit_writer {
    int fd;
    uint32_t n_vocab;
    enum gg_vector_encoding encoding;
    uint64_t count; /* records after the head */
    uint16_t *half; /* n_vocab of them, for GG_ENCODING_F16 */
};

static enum gg_status
write_head(int fd, const struct gg_logit_head *head, struct gg_error *err)
{
    const char *writer = head->writer ? head->writer : "";
    uint32_t fixed[FORMAT_HEAD / 4] = {
        (uint32_t)head->fingerprint,
        (uint32_t)(head->fingerprint >> 32),
        head->n_vocab,
        head->kind,
        head->encoding,
        head->numbered ? FORMAT_NUMBERED : 0,
        (uint32_t)head->n_eog,
        (uint32_t)strlen(writer),
    };
    struct stream_record r;
    enum gg_status st;

    stream_record_begin(&r, KIND_HEAD);
    stream_record_numbers(&r, fixed, FORMAT_HEAD / 4, 4);
    stream_record_numbers(&r, head->eog_ids, head->n_eog, 4);
    stream_record_add(&r, writer, strlen(writer));
    stream_record_pad(&r);
    st = stream_record_write_preamble(fd, FORMAT_MAGIC, FORMAT_VERSION, err);
    return st == GG_OK ? stream_record_send(fd, &r, err) : st;
}

/* After the head, for who draws. */
static enum gg_status
write_suppressed(struct gg_logit_writer *w, const struct gg_logit_head *head,
                 struct gg_error *err)
{
    uint32_t fixed[FORMAT_SUPPRESSED / 4] = { (uint32_t)head->n_suppressed };
    struct stream_record r;

    if (head->n_suppressed == 0)
        return GG_OK;
    stream_record_begin(&r, KIND_SUPP);
    stream_record_numbers(&r, fixed, FORMAT_SUPPRESSED / 4, 4);
    stream_record_numbers(&r, head->suppressed, head->n_suppressed, 4);
    stream_record_pad(&r);
    w->count++;
    return stream_record_send(w->fd, &r, err);
}

static enum gg_status
write_sampling(struct gg_logit_writer *w, const struct gg_logit_head *head,
               struct gg_error *err)
{
    size_t n = head->sampling ? strlen(head->sampling) : 0;
    uint32_t fixed[FORMAT_SAMPLING / 4] = { (uint32_t)n };
    struct stream_record r;

    if (n == 0)
        return GG_OK;
    stream_record_begin(&r, KIND_SAMP);
    stream_record_numbers(&r, fixed, FORMAT_SAMPLING / 4, 4);
    stream_record_add(&r, head->sampling, n);
    stream_record_pad(&r);
    w->count++;
    return stream_record_send(w->fd, &r, err);
}

enum gg_status
gg_logit_writer_new(int fd, const struct gg_logit_head *head,
                    struct gg_logit_writer **out, struct gg_error *err)
{
    struct gg_logit_writer *w;
    enum gg_status st;

    if (!head || !out || (!head->eog_ids && head->n_eog) ||
        (!head->suppressed && head->n_suppressed))
        return error_null(err);
    st = stream_format_check_head(head, GG_ERR_ARG, err);
    if (st != GG_OK)
        return st;
    w = mem_zalloc(sizeof(*w));
    if (w && head->encoding == GG_ENCODING_F16)
        w->half = mem_array(head->n_vocab, sizeof(*w->half));
    if (!w || (head->encoding == GG_ENCODING_F16 && !w->half)) {
        gg_logit_writer_free(w);
        return error_nomem(err);
    }
    w->fd = fd;
    w->n_vocab = head->n_vocab;
    w->encoding = head->encoding;
    stream_pipe_capacity(fd, 4096 + 4 * (size_t)head->n_vocab);
    st = write_head(fd, head, err);
    if (st == GG_OK)
        st = write_suppressed(w, head, err);
    if (st == GG_OK)
        st = write_sampling(w, head, err);
    if (st == GG_OK)
        *out = w;
    else
        gg_logit_writer_free(w);
    return st;
}

void
gg_logit_writer_free(struct gg_logit_writer *writer)
{
    if (!writer)
        return;
    mem_free(writer->half);
    mem_free(writer);
}

/* A logit that half precision does not reach becomes its largest, and not
 * infinite: what is finite stays something that can be drawn from. */
static uint16_t
to_half(float x)
{
    if (x > 65504 && x <= 3.4028235e38f)
        x = 65504;
    if (x < -65504 && x >= -3.4028235e38f)
        x = -65504;
    return half_from_float(x);
}

static void
add_logits(struct gg_logit_writer *w, struct stream_record *r,
           const struct gg_logit_record *record)
{
    size_t n = record->n_logits;

    if (w->encoding == GG_ENCODING_SPARSE) {
        stream_record_numbers(r, record->logit_ids, n, 4);
        stream_record_pad(r);
    }
    if (w->encoding == GG_ENCODING_F16) {
        for (size_t i = 0; i < n; i++)
            w->half[i] = to_half(record->logits[i]);
        stream_record_numbers(r, w->half, n, 2);
    } else {
        stream_record_numbers(r, record->logits, n, 4);
    }
    stream_record_pad(r);
}

static void
store_double(uint8_t *p, double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof(u));
    core_store_le64(p, u);
}

static enum gg_status
check_vector(const struct gg_logit_writer *w,
             const struct gg_logit_record *record, struct gg_error *err)
{
    bool sparse = w->encoding == GG_ENCODING_SPARSE;

    if ((!record->ids && record->n_ids) ||
        (!record->logits && record->n_logits) ||
        (!record->past && record->n_past))
        return error_null(err);
    if (record->n_ids > FORMAT_IDS_MAX)
        return error_set(err, GG_ERR_ARG, "a chunk of %zu ids", record->n_ids);
    if (sparse != (record->logit_ids != NULL))
        return error_set(err, GG_ERR_ARG, "the head says that vectors are %s",
                         sparse ? "sparse" : "dense");
    if (record->n_logits > w->n_vocab ||
        (!sparse && record->n_logits != w->n_vocab))
        return error_set(err, GG_ERR_ARG, "%zu values for a vocabulary of %lu",
                         record->n_logits, (unsigned long)w->n_vocab);
    for (size_t i = 0; sparse && i < record->n_logits; i++)
        if (record->logit_ids[i] < 0 ||
            (uint32_t)record->logit_ids[i] >= w->n_vocab)
            return error_set(err, GG_ERR_ARG, "id %ld is not in the vocabulary",
                             (long)record->logit_ids[i]);
    return GG_OK;
}

/* The ids before, for readers that keep a past; nothing where it began. */
static enum gg_status
write_past(struct gg_logit_writer *w, const struct gg_logit_record *record,
           struct gg_error *err)
{
    uint32_t n = (uint32_t)record->n_past;
    uint32_t flags = record->mirostat ? FORMAT_MIROSTAT : 0;
    uint8_t fixed[FORMAT_PAST] = { 0 };
    enum gg_status st;
    struct stream_record r;

    if (n == 0 && flags == 0)
        return GG_OK;
    if (record->n_past > FORMAT_IDS_MAX)
        return error_set(err, GG_ERR_ARG, "a past of %zu ids", record->n_past);
    core_store_le64(fixed, record->sequence);
    if (record->mirostat)
        store_double(fixed + 8, *record->mirostat);
    core_store_le32(fixed + 16, n);
    core_store_le32(fixed + 20, flags);
    stream_record_begin(&r, KIND_PAST);
    stream_record_add(&r, fixed, sizeof(fixed));
    stream_record_numbers(&r, record->past, record->n_past, 4);
    stream_record_pad(&r);
    st = stream_record_send(w->fd, &r, err);
    if (st == GG_OK)
        w->count++;
    return st;
}

static enum gg_status
write_vector(struct gg_logit_writer *w, const struct gg_logit_record *record,
             struct gg_error *err)
{
    uint8_t fixed[FORMAT_VECTOR];
    uint32_t n_ids = (uint32_t)record->n_ids;
    uint32_t n = (uint32_t)record->n_logits;
    enum gg_status st = check_vector(w, record, err);
    struct stream_record r;

    if (st == GG_OK)
        st = write_past(w, record, err);
    if (st != GG_OK)
        return st;
    core_store_le64(fixed, record->sequence);
    core_store_le64(fixed + 8, record->position);
    core_store_le32(fixed + 16, n_ids);
    core_store_le32(fixed + 20, n);
    store_double(fixed + 24, record->log_sum_exp);
    stream_record_begin(&r, KIND_VECT);
    stream_record_add(&r, fixed, sizeof(fixed));
    stream_record_numbers(&r, record->ids, record->n_ids, 4);
    stream_record_pad(&r);
    add_logits(w, &r, record);
    return stream_record_send(w->fd, &r, err);
}

static enum gg_status
write_failure(int fd, uint64_t sequence, const char *message,
              struct gg_error *err)
{
    uint8_t fixed[FORMAT_FAIL] = { 0 };
    uint32_t len = (uint32_t)strnlen(message, FORMAT_MESSAGE_MAX);
    struct stream_record r;

    core_store_le64(fixed, sequence);
    core_store_le32(fixed + 8, len);
    stream_record_begin(&r, KIND_FAIL);
    stream_record_add(&r, fixed, sizeof(fixed));
    stream_record_add(&r, message, len);
    stream_record_pad(&r);
    return stream_record_send(fd, &r, err);
}

enum gg_status
gg_logit_write(struct gg_logit_writer *writer,
               const struct gg_logit_record *record, struct gg_error *err)
{
    enum gg_status st;

    if (!writer || !record)
        return error_null(err);
    switch (record->kind) {
    case GG_RECORD_LOGITS:
        st = write_vector(writer, record, err);
        break;
    case GG_RECORD_ERROR:
        if (!record->message)
            return error_null(err);
        st = write_failure(writer->fd, record->sequence, record->message, err);
        break;
    case GG_RECORD_CLOSE:
        st = stream_record_number(writer->fd, KIND_CLOS, record->sequence, err);
        break;
    case GG_RECORD_END:
        return stream_record_number(writer->fd, KIND_DONE, writer->count, err);
    default:
        return error_set(err, GG_ERR_ARG, "a head is written by opening");
    }
    if (st == GG_OK)
        writer->count++;
    return st;
}
