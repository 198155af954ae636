/* buffer.c - formatted text, and streams whose text goes to memory */
#include <config.h>

#include "common/buffer.h"

#include <stdarg.h>

void
buffer_format(struct buffer *b, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    va_start(ap, fmt);
    vsnprintf(buffer_room(b, (size_t)n + 1), (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

static ssize_t
write_to_buffer(void *cookie, const char *data, size_t size)
{
    buffer_add(cookie, data, size);
    return (ssize_t)size;
}

FILE *
buffer_stream(struct buffer *b)
{
    FILE *f = fopencookie(b, "w",
                          (cookie_io_functions_t){ .write = write_to_buffer });

    if (!f)
        cli_die("out of memory");
    return f;
}
