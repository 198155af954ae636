/* payload.h - what the records of a logit stream hold */
#ifndef STREAM_PAYLOAD_H
#define STREAM_PAYLOAD_H

#include <gg-stream.h>

#include "core/error.h"

/* Data that outlive a payload, or have no room in it. */
struct payload {
    struct gg_logit_head head; /* the last one, which tells the vectors' form */
    int32_t *eog_ids, *suppressed;
    char *writer, *message, *sampling;
    float *wide; /* half precision, widened */
    size_t wide_cap;
    struct past {
        bool there; /* the last record was one */
        uint64_t sequence;
        bool has_mirostat;
        double mirostat;
        int32_t *ids; /* copied */
        size_t n, cap;
    } past;
};

void
stream_payload_clear(struct payload *p);

/* The longest payload that a record of the kind can have after the head
 * (`body`) or in its place; 0: there can be no such record. */
uint64_t
stream_payload_longest(const struct payload *p, uint32_t kind, bool body);
uint64_t
stream_payload_shortest(uint32_t kind);

/* Fills in all but out->head. The payload, on a multiple of 8 bytes and of a
 * length between the above, has the right CRC; what it says is not trusted.
 * `out` points into it. *count gets what an end record says. */
enum gg_status
stream_payload_parse(struct payload *p, uint32_t kind, const void *payload,
                     size_t length, struct gg_logit_record *out,
                     uint64_t *count, struct gg_error *err);

#endif
