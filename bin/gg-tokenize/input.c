/* input.c - text as it comes */
#include <config.h>

#include "gg-tokenize/input.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum {
    MAX_HELD = 1 << 28, /* bytes */
};

bool
input_ready(const struct input *in)
{
    struct pollfd p = { .fd = in->fd, .events = POLLIN };

    return poll(&p, 1, 0) != 0; /* an error: read() will tell */
}

void
input_read(struct input *in, struct buffer *text)
{
    char *p = buffer_room(text, INPUT_CHUNK);
    ssize_t n;

    if (text->len > MAX_HELD)
        cli_too_long(in->name, "a record, or a text without a place to cut it,",
                     MAX_HELD);
    do
        n = read(in->fd, p, INPUT_CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        cli_die("%s: %s", in->name, strerror(errno));
    if (!in->begun && !in->quiet)
        cli_tell_kind(in->name, p, (size_t)n);
    in->begun = true;
    text->len += (size_t)n;
    in->ended = n == 0;
}
