/* queue.c - a queue of bytes, by lines */
#include <config.h>

#include "gg-loop/queue.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"

static void
make_room(struct queue *q, size_t n)
{
    if (q->cap - q->end >= n)
        return;
    if (q->start > q->cap / 2) {
        memmove(q->data, q->data + q->start, queue_size(q));
        q->end -= q->start;
        q->start = 0;
    }
    if (q->cap - q->end >= n)
        return;
    q->cap = 2 * (q->end + n);
    q->data = cli_alloc(q->data, q->cap, 1);
}

void
queue_add(struct queue *q, const char *data, size_t n)
{
    if (n == 0)
        return;
    make_room(q, n);
    memcpy(q->data + q->end, data, n);
    q->end += n;
}

void
queue_use(struct queue *q, size_t n)
{
    q->start += n;
    q->seen = 0;
    if (q->start == q->end)
        q->start = q->end = 0;
}

void
queue_move(struct queue *from, struct queue *to)
{
    if (queue_size(from))
        queue_add(to, from->data + from->start, queue_size(from));
    queue_use(from, queue_size(from));
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A line's number, if it has one, goes with its last word. */
unsigned long long
queue_drop_words(struct queue *q, unsigned long long n)
{
    const char *p = q->data + q->start;
    size_t end = queue_size(q);
    unsigned long long dropped = 0;

    while (dropped < n && end > 0) {
        while (end > 0 && !is_digit(p[end - 1]))
            end--;
        dropped += end > 0;
        if (end == 0)
            break;
        while (end > 0 && is_digit(p[end - 1]))
            end--;
        if (end > 0 && p[end - 1] == '\t')
            while (end > 0 && p[end - 1] != '\n')
                end--;
    }
    q->end = q->start + end;
    q->seen = 0;
    if (end > 0 && q->data[q->end - 1] == ' ')
        q->data[q->end - 1] = '\n';
    return dropped;
}

void
queue_clear(struct queue *q)
{
    free(q->data);
    *q = (struct queue){ 0 };
}

long
queue_read(struct queue *q, int fd)
{
    ssize_t n;

    make_room(q, 1 << 16);
    n = read(fd, q->data + q->end, 1 << 16);
    if (n > 0)
        q->end += (size_t)n;
    return n;
}

long
queue_write(struct queue *q, int fd)
{
    size_t n = queue_size(q);
    ssize_t done;

    /* A pipe that poll() calls ready takes PIPE_BUF bytes without blocking. */
    done = write(fd, q->data + q->start, n < PIPE_BUF ? n : PIPE_BUF);
    if (done > 0)
        queue_use(q, (size_t)done);
    return done;
}

/* Takes `digits<TAB>` off the front of the line, if it is there. */
static const char *
parse_number(const char *s, const char *end, struct line *line)
{
    const char *p = s;
    unsigned long long n = 0;

    for (; p < end && *p >= '0' && *p <= '9'; p++)
        n = n * 10 + (unsigned)(*p - '0');
    if (p == s || p == end || *p != '\t')
        return s;
    line->numbered = true;
    line->sequence = n;
    return p + 1;
}

/* `-N ` in front of the ids and `?` after them. */
static void
parse_back(const char *s, const char *end, struct line *line)
{
    const char *p = s + 1;
    unsigned long long n = 0;

    if (s < end && *s == '-' && !line->error) {
        for (; p < end && is_digit(*p) && n < UINT_MAX; p++)
            n = n * 10 + (unsigned)(*p - '0');
        if (p < end && *p == ' ' && n > 0) {
            line->back = n;
            s = p + 1;
        }
    }
    line->open = s < end && !line->error && end[-1] == '?';
    line->ids = s;
    line->ids_len = (size_t)(end - s) - line->open;
}

bool
queue_line(struct queue *q, size_t at, struct line *line)
{
    size_t left = queue_size(q) - at, seen = at ? 0 : q->seen;
    const char *s, *newline, *rest;

    if (left == seen)
        return false;
    s = q->data + q->start + at;
    newline = memchr(s + seen, '\n', left - seen);
    if (at == 0)
        q->seen = newline ? (size_t)(newline - s) : left;
    if (!newline)
        return false;
    *line = (struct line){ .text = s, .len = (size_t)(newline - s) + 1 };
    s += cli_mark(s, line->len); /* in front of the first */
    newline -= newline > s && newline[-1] == '\r';
    rest = parse_number(s, newline, line);
    line->end = rest == newline;
    line->error = rest < newline && *rest == '!';
    parse_back(rest, newline, line);
    return true;
}
