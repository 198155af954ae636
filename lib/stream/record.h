/* record.h - records of binary streams: kind, CRC, length, payload
 *
 * format.h has their layout. */
#ifndef STREAM_RECORD_H
#define STREAM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/error.h"
#include "stream/format.h"
#include "stream/io.h"

enum {
    RECORD_PARTS = 16,
    RECORD_COPIES = 8,
};

/* ---- Writing ------------------------------------------------------------- */

/* A record as parts to be written together. parts[0] is its header. */
struct stream_record {
    uint32_t kind, crc;
    uint64_t length;
    uint8_t header[FORMAT_HEADER];
    struct iovec parts[RECORD_PARTS];
    int n;
    void *copies[RECORD_COPIES]; /* of numbers, in the order of a stream */
    int n_copies;
    bool no_memory;
};

void
stream_record_begin(struct stream_record *r, uint32_t kind);

/* The bytes must stay until the record is sent. */
void
stream_record_add(struct stream_record *r, const void *data, size_t size);

/* Adds n numbers of `size` bytes. */
void
stream_record_numbers(struct stream_record *r, const void *data, size_t n,
                      size_t size);

/* Zeros to a multiple of 8. */
void
stream_record_pad(struct stream_record *r);

/* Writes it, and forgets the copies. */
enum gg_status
stream_record_send(int fd, struct stream_record *r, struct gg_error *err);

/* Writes a record that is one number. */
enum gg_status
stream_record_number(int fd, uint32_t kind, uint64_t number,
                     struct gg_error *err);

enum gg_status
stream_record_write_preamble(int fd, const char *magic, uint8_t version,
                             struct gg_error *err);

/* ---- Reading ------------------------------------------------------------- */

/* The bytes so far could become a preamble with this magic. */
bool
stream_record_begins(const struct stream_in *in, const char *magic);

/* Waits while that may be, until a preamble is there or the input ends. */
enum gg_status
stream_record_fill_preamble(struct stream_in *in, const char *magic,
                            struct gg_error *err);

/* Checks and uses up the preamble of a member that begins so; `what` names the
 * stream. */
enum gg_status
stream_record_preamble(struct stream_in *in, const char *what, uint64_t version,
                       struct gg_error *err);

/* Waits for a header, which stays in the input. */
enum gg_status
stream_record_header(struct stream_in *in, uint32_t *kind, uint64_t *length,
                     struct gg_error *err);

/* Is the length one that the kind can have? longest 0: the kind is unknown. */
enum gg_status
stream_record_check(uint32_t kind, uint64_t length, uint64_t shortest,
                    uint64_t longest, struct gg_error *err);

/* Waits for the payload of a record whose header is there, and checks the CRC.
 */
enum gg_status
stream_record_payload(struct stream_in *in, uint32_t kind, uint64_t length,
                      struct gg_error *err);

#endif
