/* input.c - bytes and lines of an input that may be hostile */
#include <config.h>

#include "gg-logits/input.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIRST_CAPACITY = 1 << 16,
};

enum gg_status
fail_line(const struct input *in, const char *what, const char *why,
          struct gg_error *err)
{
    char shown[80];

    gg_escape(shown, sizeof(shown), what, strnlen(what, 60));
    return cli_error(err, GG_ERR_FORMAT, "%s: line %llu: \"%s\" %s", in->name,
                     (unsigned long long)in->line, shown, why);
}

bool
grow(void *p, size_t *cap, size_t n, size_t size)
{
    size_t wanted = n > *cap + *cap / 2 ? n : *cap + *cap / 2, bytes;
    void *at;

    memcpy(&at, p, sizeof(at));
    if (n <= *cap && at)
        return true;
    wanted += wanted == 0;
    if (__builtin_mul_overflow(wanted, size, &bytes) ||
        !(at = realloc(at, bytes)))
        return false;
    memcpy(p, &at, sizeof(at));
    *cap = wanted;
    return true;
}

void
input_clear(struct input *in)
{
    free(in->data);
    *in = (struct input){ .fd = -1 };
}

/* Room for one read() at least, and a NUL after it. */
static bool
make_room_to_read(struct input *in)
{
    if (in->start == in->end)
        in->start = in->end = 0;
    if (in->end + 1 < in->cap)
        return true;
    if (in->start > 0 && in->start >= in->cap / 2) {
        memmove(in->data, in->data + in->start, input_left(in));
        in->end -= in->start;
        in->start = 0;
        return true;
    }
    return grow(&in->data, &in->cap, in->cap ? 2 * in->cap : FIRST_CAPACITY, 1);
}

static enum gg_status
read_once(struct input *in, struct gg_error *err)
{
    struct pollfd p = { .fd = in->fd, .events = POLLIN };
    ssize_t n;

    if (!make_room_to_read(in))
        return cli_error(err, GG_ERR_NOMEM, "out of memory");
    n = read(in->fd, in->data + in->end, in->cap - in->end - 1);
    if (n > 0)
        in->end += (size_t)n;
    else if (n == 0)
        in->at_end = true;
    else if (errno == EAGAIN)
        poll(&p, 1, -1);
    else if (errno != EINTR)
        return cli_error(err, GG_ERR_IO, "%s: %s", in->name, strerror(errno));
    return GG_OK;
}

enum gg_status
input_fill(struct input *in, size_t n, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    while (st == GG_OK && input_left(in) < n && !in->at_end)
        st = read_once(in, err);
    return st;
}

enum gg_status
input_take(struct input *in, void *out, size_t n, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    uint8_t *to = out;

    while (n > 0) {
        size_t part;

        st = input_fill(in, 1, err);
        if (st != GG_OK)
            return st;
        if (input_left(in) == 0)
            return cli_error(err, GG_ERR_TRUNCATED, "%s: cut off", in->name);
        part = input_left(in) < n ? input_left(in) : n;
        memcpy(to, in->data + in->start, part);
        in->start += part;
        to += part;
        n -= part;
    }
    return st;
}

enum gg_status
input_line(struct input *in, size_t limit, char **line, size_t *len,
           struct gg_error *err)
{
    uint8_t *newline = NULL;
    size_t seen = 0;

    for (;;) {
        size_t left = input_left(in);
        enum gg_status st;

        if (left > seen)
            newline = memchr(in->data + in->start + seen, '\n', left - seen);
        seen = left;
        if (newline || in->at_end)
            break;
        if (seen > limit) {
            in->line++;
            return fail_line(in, "...", "is too long", err);
        }
        if ((st = input_fill(in, seen + 1, err)) != GG_OK)
            return st;
    }
    if (!newline && seen == 0)
        return GG_EOF;
    in->line++;
    *line = (char *)in->data + in->start;
    *len = newline ? (size_t)(newline - in->data) - in->start : seen;
    in->start += *len + (newline != NULL);
    *len -= *len > 0 && (*line)[*len - 1] == '\r';
    (*line)[*len] = '\0';
    if (memchr(*line, '\0', *len))
        return fail_line(in, *line, "is followed by a NUL", err);
    return GG_OK;
}
