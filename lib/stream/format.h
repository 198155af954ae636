/* format.h - the byte layout of the binary streams, as gg-stream(5) tells it
 *
 * media.h has that of rows alone. A stream is one member or more; a member is a
 * preamble and records:
 *
 *     preamble   magic[8]  version u32  zero u32
 *     record     kind[4]   crc u32      length u64    payload[length]
 *
 * All numbers are little-endian, every length is a multiple of 8, and so
 * everything stands on a multiple of 8 from the start of the stream. The CRC
 * is over kind, length and payload. */
#ifndef STREAM_FORMAT_H
#define STREAM_FORMAT_H

#include <gg-stream.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/* As PNG's: no text begins so; a transfer that changes line ends, drops the
 * eighth bit or stops at ^Z is noticed at once. */
#define FORMAT_MAGIC "\x8bGGL\r\n\x1a\n"

enum {
    FORMAT_VERSION = 1,
    FORMAT_MAGIC_SIZE = 8,
    FORMAT_PREAMBLE = 16,
    FORMAT_HEADER = 16,    /* kind, crc, length */
    FORMAT_HEAD = 32,      /* fixed part of a head's payload */
    FORMAT_VECTOR = 32,    /* fixed part of a vector record's payload */
    FORMAT_FAIL = 16,      /* fixed part of a failure's payload */
    FORMAT_PAST = 24,      /* fixed part of what a sequence held before */
    FORMAT_SUPPRESSED = 8, /* fixed part of the ids that are not drawn */
    FORMAT_SAMPLING = 8,   /* fixed part of what the file says of sampling */
    FORMAT_CLOSE = 8,
    FORMAT_DONE = 8,

    FORMAT_VOCAB_MAX = 1 << 24,
    FORMAT_IDS_MAX = 1 << 24,
    FORMAT_EOG_MAX = 1 << 16,
    FORMAT_WRITER_MAX = 1 << 10,
    FORMAT_MESSAGE_MAX = 1 << 16,
    FORMAT_OPTIONAL_MAX = 1 << 27, /* payload of an unknown kind */

    FORMAT_NUMBERED = 1, /* flag of a head */
    FORMAT_MIROSTAT = 1, /* flag of a past: its value is there */
};

/* A kind is four letters; a small first one: who does not know the kind may
 * skip the record. */
#define FORMAT_KIND(a, b, c, d)                                                \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 |                \
     (uint32_t)(d) << 24)
#define KIND_HEAD              FORMAT_KIND('H', 'E', 'A', 'D')
#define KIND_VECT              FORMAT_KIND('V', 'E', 'C', 'T')
#define KIND_PAST              FORMAT_KIND('p', 'a', 's', 't')
#define KIND_SUPP              FORMAT_KIND('s', 'u', 'p', 'p')
#define KIND_SAMP              FORMAT_KIND('s', 'a', 'm', 'p')
#define KIND_FAIL              FORMAT_KIND('F', 'A', 'I', 'L')
#define KIND_CLOS              FORMAT_KIND('C', 'L', 'O', 'S')
#define KIND_DONE              FORMAT_KIND('D', 'O', 'N', 'E')
#define KIND_IS_OPTIONAL(kind) ((kind)&0x20)

static inline size_t
stream_format_padded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* Bytes of `n` values in the head's encoding: ids and logits where sparse,
 * each padded. */
static inline size_t
format_values(enum gg_vector_encoding encoding, size_t n)
{
    return encoding == GG_ENCODING_F32   ? stream_format_padded(4 * n)
           : encoding == GG_ENCODING_F16 ? stream_format_padded(2 * n)
                                         : 2 * stream_format_padded(4 * n);
}

/* The payload of a vector record. */
static inline size_t
stream_format_vector(enum gg_vector_encoding encoding, size_t n_ids, size_t n)
{
    return FORMAT_VECTOR + stream_format_padded(4 * n_ids) +
           format_values(encoding, n);
}

/* Is the head one that can be written, or was rightly read? */
enum gg_status
stream_format_check_head(const struct gg_logit_head *head, enum gg_status wrong,
                         struct gg_error *err);

/* Its suppressed ids alone. */
enum gg_status
stream_format_check_suppressed(const struct gg_logit_head *head,
                               enum gg_status wrong, struct gg_error *err);

/* The CRC of a record: parts of the payload are added with crc32_bytes(). */
uint32_t
stream_format_crc(uint32_t kind, uint64_t length);

#endif
