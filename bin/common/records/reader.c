/* reader.c - records of text, as they come */
#include <config.h>

#include "common/records/reader.h"
#include "common/spare.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK = 1 << 16,
};

static bool
is_ready(const struct reader *r)
{
    struct pollfd p = { .fd = r->fd, .events = POLLIN };

    return poll(&p, 1, 0) != 0; /* an error: read() will tell */
}

/* A record that there is no memory for is dropped. */
static void
forget_large(struct reader *r)
{
    struct buffer *t = &r->text;
    struct gg_error err;

    if (t->cap - t->len >= CHUNK ||
        spare_check(2, t->cap + CHUNK, &err) == GG_OK)
        return;
    r->lost += t->len - r->start;
    r->start = r->seen = t->len;
    r->lacks = true;
}

/* False: a signal came. */
static bool
read_more(struct reader *r)
{
    struct buffer *t = &r->text;
    ssize_t n;

    forget_large(r);
    if (r->start && t->len > r->start)
        memmove(t->p, t->p + r->start, t->len - r->start);
    t->len -= r->start;
    r->seen -= r->start;
    r->start = 0;
    do
        n = read(r->fd, buffer_room(t, CHUNK), CHUNK);
    while (n < 0 && errno == EINTR && !cli_signal());
    if (n < 0 && errno == EINTR)
        return false;
    if (n < 0)
        cli_die("%s: %s", r->name, strerror(errno));
    t->len += (size_t)n;
    r->n_read += (uint64_t)n;
    r->ended = n == 0;
    return true;
}

/* Forgets what there is of a record that is too long. */
static void
check_length(struct reader *r)
{
    size_t n = r->text.len - r->start;

    if (n <= r->max && !r->lost)
        return;
    r->lost += n;
    r->start = r->seen = r->text.len;
    if (r->lost > r->max_lost)
        cli_too_long(r->name, r->what, r->max_lost);
}

/* True: there is a record, or what the input ends with. */
static bool
take_text(struct reader *r, const char **text, size_t *len)
{
    struct buffer *t = &r->text;
    const char *end = NULL;

    if (t->len > r->seen)
        end = memchr(t->p + r->seen, r->end, t->len - r->seen);
    if (!end && !r->ended) {
        r->seen = t->len;
        check_length(r);
        return false;
    }
    *text = t->p + r->start;
    *len = (end ? (size_t)(end - t->p) : t->len) - r->start;
    r->too_long = r->lost || *len > r->max;
    r->lost = 0;
    r->no_memory = r->lacks;
    r->lacks = false;
    r->start += *len + (end != NULL);
    r->seen = r->start;
    return end || *len || r->too_long;
}

bool
reader_is_blank(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && (text[n] == ' ' || text[n] == '\t' || text[n] == '\r'))
        n++;
    return n == len;
}

/* Only the first record may have one. */
static void
drop_mark(struct reader *r, const char **text, size_t *len)
{
    size_t mark = r->may_mark ? cli_mark(*text, *len) : 0;

    *text += mark;
    *len -= mark;
    r->may_mark = false;
}

enum reader_state
reader_next(struct reader *r, bool wait, const char **text, size_t *len)
{
    for (;;) {
        bool found = take_text(r, text, len);

        if (found)
            drop_mark(r, text, len);
        r->n_records += found;
        if (found &&
            (r->too_long || !r->skip_blank || !reader_is_blank(*text, *len)))
            return READER_RECORD;
        if (found)
            continue;
        if (r->ended)
            return READER_END;
        if ((!wait && !is_ready(r)) || !read_more(r))
            return READER_WAITS;
    }
}

void
reader_drop(struct reader *r)
{
    r->start = r->seen = r->text.len;
}

void
reader_clear(struct reader *r)
{
    buffer_clear(&r->text);
}
