/* io.c - buffered input and whole writes on file descriptors */
#include <config.h>

#include "stream/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

enum {
    FIRST_CAPACITY = 1 << 16,
    PIPE_MAX = 1 << 20, /* what Linux grants without a privilege */
};

enum gg_status
stream_in_init(struct stream_in *in, int fd, const char *name,
               struct gg_error *err)
{
    *in = (struct stream_in){ .fd = fd, .watch = -1, .cap = FIRST_CAPACITY };
    in->name = mem_strndup(name, strlen(name));
    in->data = mem_alloc(in->cap);
    if (in->name && in->data)
        return GG_OK;
    stream_in_clear(in);
    return error_nomem(err);
}

void
stream_in_clear(struct stream_in *in)
{
    mem_free(in->name);
    mem_free(in->data);
    *in = (struct stream_in){ 0 };
}

enum gg_status
stream_in_begin(struct stream_in *in, const void *data, size_t n,
                struct gg_error *err)
{
    if (!mem_grow(&in->data, &in->cap, n, 1))
        return error_nomem(err);
    if (n > 0)
        memcpy(in->data, data, n);
    in->start = 0;
    in->end = n;
    return GG_OK;
}

void
stream_in_use(struct stream_in *in, size_t n)
{
    in->start += n;
    if (in->start == in->end)
        in->start = in->end = 0;
}

/* Room for one read() at least. */
static bool
grow_input(struct stream_in *in)
{
    if (in->end < in->cap)
        return true;
    if (in->start >= in->cap / 2) {
        memmove(in->data, stream_in_data(in), stream_in_left(in));
        in->end -= in->start;
        in->start = 0;
        return true;
    }
    return mem_grow(&in->data, &in->cap, in->cap + 1, 1);
}

static void
wait_for(int fd, short events)
{
    struct pollfd p = { .fd = fd, .events = events };

    poll(&p, 1, -1); /* whatever it says, the next call tells more */
}

/* Waits for input as long as somebody reads what comes of it. */
static enum gg_status
wait_watching(const struct stream_in *in, struct gg_error *err)
{
    struct pollfd p[] = { { in->fd, POLLIN, 0 }, { in->watch, 0, 0 } };

    if (poll(p, 2, -1) < 0)
        return error_set(err, GG_ERR_ABORTED, "%s: interrupted", in->name);
    if (p[1].revents & POLLERR)
        return error_set(err, GG_ERR_ABORTED, "nobody reads the output");
    return GG_OK;
}

/* One read(), which waits where nothing is there. */
static enum gg_status
read_once(struct stream_in *in, struct gg_error *err)
{
    ssize_t n;

    if (!grow_input(in))
        return error_nomem(err);
    n = read(in->fd, in->data + in->end, in->cap - in->end);
    if (n > 0)
        in->end += (size_t)n;
    else if (n == 0)
        in->at_end = true;
    else if (errno == EAGAIN)
        wait_for(in->fd, POLLIN);
    else if (errno == EINTR)
        return error_set(err, GG_ERR_ABORTED, "%s: interrupted", in->name);
    else
        return error_set(err, GG_ERR_IO, "%s: %s", in->name, strerror(errno));
    return GG_OK;
}

static enum gg_status
read_some(struct stream_in *in, struct gg_error *err)
{
    enum gg_status st = in->watch < 0 ? GG_OK : wait_watching(in, err);

    return st == GG_OK ? read_once(in, err) : st;
}

enum gg_status
stream_in_fill(struct stream_in *in, size_t n, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    while (st == GG_OK && stream_in_left(in) < n && !in->at_end)
        st = read_some(in, err);
    return st;
}

/* The first newline after `seen` bytes of what is there; or NULL. */
static const uint8_t *
find_newline(const struct stream_in *in, size_t seen)
{
    size_t left = stream_in_left(in);

    return left > seen ? memchr(stream_in_data(in) + seen, '\n', left - seen)
                       : NULL;
}

enum gg_status
stream_in_line(struct stream_in *in, size_t limit, const char **line,
               size_t *len, bool *cut, struct gg_error *err)
{
    const uint8_t *newline;
    size_t seen = 0;

    stream_in_use(in, 0);
    for (;;) {
        enum gg_status st;

        newline = find_newline(in, seen);
        seen = stream_in_left(in);
        if (newline || in->at_end)
            break;
        if (seen > limit)
            return error_set(err, GG_ERR_FORMAT, "longer than %zu bytes",
                             limit);
        if ((st = stream_in_fill(in, seen + 1, err)) != GG_OK)
            return st;
    }
    if (!newline && seen == 0)
        return GG_EOF;
    *line = (const char *)stream_in_data(in);
    *len = newline ? (size_t)(newline - stream_in_data(in)) : seen;
    *cut = !newline;
    /* Not stream_in_use(), though that would leave the bytes, too: the line
     * must stay where it is until the next read. */
    in->start += *len + (newline != NULL);
    return GG_OK;
}

/* How many of the first `part` bytes make a part; 0: the line ends within them,
 * there are fewer yet, or there is no blank. */
static size_t
part_length(const struct stream_in *in, size_t part)
{
    const uint8_t *p = stream_in_data(in), *blank;

    if (part == 0 || stream_in_left(in) < part || memchr(p, '\n', part))
        return 0;
    blank = memrchr(p, ' ', part);
    return blank ? (size_t)(blank - p) + 1 : 0;
}

enum gg_status
stream_in_part(struct stream_in *in, size_t part, size_t limit,
               const char **line, size_t *len, bool *more, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    bool cut;

    stream_in_use(in, 0);
    while (st == GG_OK && stream_in_left(in) < part && !in->at_end &&
           !find_newline(in, 0))
        st = stream_in_fill(in, stream_in_left(in) + 1, err);
    if (st != GG_OK)
        return st;
    *len = part_length(in, part);
    *more = *len > 0;
    if (!*more)
        return stream_in_line(in, limit, line, len, &cut, err);
    *line = (const char *)stream_in_data(in);
    in->start += *len;
    return GG_OK;
}

void
stream_in_back(struct stream_in *in, size_t n)
{
    in->start -= n;
}

bool
stream_in_line_ready(struct stream_in *in, size_t part, size_t limit)
{
    struct pollfd p = { .fd = in->fd, .events = POLLIN };
    size_t seen = 0;

    stream_in_use(in, 0);
    for (;;) {
        size_t left = stream_in_left(in);

        if (in->at_end || left > limit || part_length(in, part) ||
            find_newline(in, seen))
            return true;
        seen = left;
        if (poll(&p, 1, 0) <= 0 || read_once(in, NULL) != GG_OK)
            return false; /* an error comes again when it is waited for */
    }
}

/* Takes `n` bytes off the front; returns how many parts are used up. */
static int
advance_parts(struct iovec *parts, int count, size_t n)
{
    int i = 0;

    while (i < count && n >= parts[i].iov_len)
        n -= parts[i++].iov_len;
    if (i < count) {
        parts[i].iov_base = (char *)parts[i].iov_base + n;
        parts[i].iov_len -= n;
    }
    return i;
}

enum gg_status
stream_write(int fd, struct iovec *parts, int n, struct gg_error *err)
{
    while (n > 0) {
        ssize_t done = writev(fd, parts, n);

        if (done >= 0) {
            int used = advance_parts(parts, n, (size_t)done);

            parts += used;
            n -= used;
        } else if (errno == EAGAIN) {
            wait_for(fd, POLLOUT);
        } else if (errno != EINTR) {
            return error_set(err, GG_ERR_IO, "%s", strerror(errno));
        }
    }
    return GG_OK;
}

void
stream_pipe_capacity(int fd, size_t size)
{
#ifdef F_SETPIPE_SZ
    int now = fcntl(fd, F_GETPIPE_SZ);

    if (size > PIPE_MAX)
        size = PIPE_MAX;
    if (now > 0 && (size_t)now < size)
        fcntl(fd, F_SETPIPE_SZ, (int)size);
#else
    (void)fd, (void)size;
#endif
}
