/* ticker.h - a line on a terminal about work that takes its time */
#ifndef COMMON_TICKER_H
#define COMMON_TICKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/cli.h"

/* Shown on stderr once the work takes more than a second. */
struct ticker {
    bool on, shown;
    int64_t start, last; /* microseconds */
};

/* `quiet`: nothing is shown, nor where stderr is no terminal. */
void
ticker_start(struct ticker *p, bool quiet);
/* As ticker_start(), where results go to standard output: where that is a
 * terminal, or a pipe perhaps to one, they show the progress themselves. */
void
ticker_start_among(struct ticker *p, bool quiet);
CLI_PRINTF(2, 3)
void
ticker_show(struct ticker *p, const char *fmt, ...);
/* A bar, how much of it is done, and a name, which may hold anything. */
void
ticker_show_part(struct ticker *p, uint64_t done, uint64_t all,
                 const char *name);
/* Takes the line away; a message does so, too, for a while. */
void
ticker_end(struct ticker *p);

#endif
