/* format.c - what reader and writer of the logit stream must agree on */
#include <config.h>

#include "stream/format.h"

#include <string.h>

#include "core/order.h"
#include "core/crc32.h"
#include "core/line.h"

static enum gg_status
check_eog(const struct gg_logit_head *head, enum gg_status wrong,
          struct gg_error *err)
{
    if (head->n_eog > FORMAT_EOG_MAX)
        return error_set(err, wrong, "%zu end-of-generation ids", head->n_eog);
    for (size_t i = 0; i < head->n_eog; i++)
        if (head->eog_ids[i] < 0 || (uint32_t)head->eog_ids[i] >= head->n_vocab)
            return error_set(err, wrong, "end-of-generation id %ld",
                             (long)head->eog_ids[i]);
    return GG_OK;
}

enum gg_status
stream_format_check_suppressed(const struct gg_logit_head *head,
                               enum gg_status wrong, struct gg_error *err)
{
    const int32_t *ids = head->suppressed;

    if (head->n_suppressed > head->n_vocab)
        return error_set(err, wrong, "%zu suppressed ids", head->n_suppressed);
    for (size_t i = 0; i < head->n_suppressed; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= head->n_vocab ||
            (i && ids[i] <= ids[i - 1]))
            return error_set(err, wrong,
                             "suppressed id %ld is not in the vocabulary, or "
                             "out of order",
                             (long)ids[i]);
    return GG_OK;
}

enum gg_status
stream_format_check_head(const struct gg_logit_head *head, enum gg_status wrong,
                         struct gg_error *err)
{
    if (head->n_vocab < 1 || head->n_vocab > FORMAT_VOCAB_MAX)
        return error_set(err, wrong, "vocabulary of %lu",
                         (unsigned long)head->n_vocab);
    if ((unsigned)head->kind > GG_VECTOR_EMBEDDING)
        return error_set(err, wrong, "vectors of kind %u",
                         (unsigned)head->kind);
    if ((unsigned)head->encoding > GG_ENCODING_SPARSE)
        return error_set(err, wrong, "encoding %u", (unsigned)head->encoding);
    if (head->writer && strlen(head->writer) > FORMAT_WRITER_MAX)
        return error_set(err, wrong, "the writer's name is too long");
    if (check_eog(head, wrong, err) != GG_OK)
        return wrong;
    if (head->sampling && !core_is_line(head->sampling, strlen(head->sampling)))
        return error_set(err, wrong, "what it says of sampling is no line");
    return stream_format_check_suppressed(head, wrong, err);
}

uint32_t
stream_format_crc(uint32_t kind, uint64_t length)
{
    kind = core_le32(kind);
    length = core_le64(length);
    return crc32_bytes(crc32_bytes(0, &kind, 4), &length, 8);
}
