/* buffer.c - a stream whose text goes to memory */
#include <config.h>

#include "common/buffer.h"

static ssize_t
add(void *cookie, const char *data, size_t size)
{
    buffer_add(cookie, data, size);
    return (ssize_t)size;
}

FILE *
buffer_stream(struct buffer *b)
{
    FILE *f = fopencookie(b, "w", (cookie_io_functions_t){ .write = add });

    if (!f)
        cli_die("out of memory");
    return f;
}
