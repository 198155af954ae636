/* line.h - a line of printable ASCII, which files and streams pass on */
#ifndef CORE_LINE_H
#define CORE_LINE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CORE_LINE_MAX = 1 << 13, /* bytes of one */
};

static inline bool
core_is_line(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] < ' ' || s[i] > '~')
            return false;
    return n > 0 && n <= CORE_LINE_MAX;
}

#endif
