/* state_out.h - the bytes of a state that is written: parts, each with its
 * CRC-32, on the alignment of a GGUF file */
#ifndef SESSION_STATE_OUT_H
#define SESSION_STATE_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct state_out {
    int fd;          /* set it before anything is put */
    uint8_t *buffer; /* `used` bytes of which wait to be written */
    size_t used, n_put;
    uint32_t *crc; /* n_crc of them are complete */
    size_t n_crc;
    struct gg_error *err;
};

/* For n parts before the sums. session_state_out_clear() it, on failure too.
 */
enum gg_status
session_state_out_init(struct state_out *o, size_t n, struct gg_error *err);
void
session_state_out_clear(struct state_out *o); /* takes one that is all zero */

/* Bytes of the part. */
enum gg_status
session_state_put(struct state_out *o, const void *data, size_t size);

/* The next part begins, after zeros that no CRC is about. */
enum gg_status
session_state_next_part(struct state_out *o);

/* The last part: CRCs of those before it. Then nothing waits any more. */
enum gg_status
session_state_put_sums(struct state_out *o);

#endif
