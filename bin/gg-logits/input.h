/* input.h - bytes and lines of an input that may be hostile */
#ifndef LOGITS_INPUT_H
#define LOGITS_INPUT_H

#include <gg-stream.h>

#include "common/cli.h"

/* Bytes that were read and not yet used are data[start .. end). */
struct input {
    int fd; /* the caller's */
    const char *name;
    uint8_t *data;
    size_t start, end, cap;
    bool at_end;
    uint64_t line; /* the last one given, from 1 */
};

void
input_clear(struct input *in);

static inline size_t
input_left(const struct input *in)
{
    return in->end - in->start;
}

/* Reads until `n` bytes are there or the input ends: compare with
 * input_left(). */
enum gg_status
input_fill(struct input *in, size_t n, struct gg_error *err);

/* The next `n` bytes; GG_ERR_TRUNCATED where there are less. */
enum gg_status
input_take(struct input *in, void *out, size_t n, struct gg_error *err);

/* The next line without its newline, NUL-ended, without a NUL in it; the
 * caller may change it, until the next call. GG_EOF: there is none. */
enum gg_status
input_line(struct input *in, size_t limit, char **line, size_t *len,
           struct gg_error *err);

/* `NAME: line N: "WHAT" WHY`, what is shown escaped and cut. */
enum gg_status
fail_line(const struct input *in, const char *what, const char *why,
          struct gg_error *err);

/* Makes room for n items of `size` bytes at *p, which has it for *cap. False:
 * there is no memory. */
bool
grow(void *p, size_t *cap, size_t n, size_t size);

#endif
