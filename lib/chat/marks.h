/* marks.h - where calls of tools begin in an answer, and what ends them */
#ifndef CHAT_MARKS_H
#define CHAT_MARKS_H

#include <stdbool.h>
#include <stddef.h>

/* A string of an answer's text, control tokens shown. */
struct chat_mark {
    const char *s;
    size_t n;
    bool first; /* it counts at the beginning of the answer only */
};

/* After the first `begins` all is calls; one of `ends` in them ends the
 * answer, as the end of generation does. */
struct chat_call_marks {
    const struct chat_mark *begins, *ends;
    size_t n_begins, n_ends;
};

#endif
