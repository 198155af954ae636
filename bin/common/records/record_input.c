/* record_input.c - records with their numbers in the whole job */
#include <config.h>

#include "common/records/record_input.h"

/* A record that is too long has but its end here. */
static uint64_t
number_of(const struct record_input *in, const char *text, size_t len)
{
    uint64_t number;

    return in->number && !in->reader.too_long && in->number(text, len, &number)
               ? number
               : in->place;
}

enum reader_state
record_input_next(struct record_input *in, bool wait, const char **text,
                  size_t *len, uint64_t *number)
{
    enum reader_state state;

    do {
        state = reader_next(&in->reader, wait, text, len);
        if (state != READER_RECORD)
            return state;
        in->place++;
        *number = number_of(in, *text, *len);
    } while (!shard_has(&in->shard, *number));
    return READER_RECORD;
}
