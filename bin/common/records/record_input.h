/* record_input.h - records with their numbers in the whole job, of which this
 * process may do a part */
#ifndef RECORDS_INPUT_H
#define RECORDS_INPUT_H

#include "common/shard.h"
#include "common/records/reader.h"

struct record_input {
    struct reader reader;
    struct shard shard;
    /* The number that a record says itself; false: it says none. NULL: a
     * record's number is its place in the input. */
    bool (*number)(const char *text, size_t len, uint64_t *number);
    uint64_t place; /* of the record that was read last, from 1 */
};

/* The next record that is this part's, as reader_next(), and its number: one
 * that says none, though it should, has that of its place. */
enum reader_state
record_input_next(struct record_input *in, bool wait, const char **text,
                  size_t *len, uint64_t *number);

#endif
