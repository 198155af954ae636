/* progress.c - how much of a model has been copied */
#include <config.h>

#include <time.h>
#include <unistd.h>

#include "common/engine.h"

enum {
    WIDTH = 40,
};

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void
progress_start(struct progress *p, bool quiet)
{
    *p = (struct progress){ .start = now(),
                            .quiet = quiet || !isatty(STDERR_FILENO) };
}

void
progress_show(void *data, uint64_t done, uint64_t all)
{
    static const char bar[WIDTH + 1] =
        "########################################";
    struct progress *p = data;
    double seconds = now() - p->start;
    double part = all > 0 ? (double)done / (double)all : 1;

    if (p->quiet || seconds < 1)
        return;
    p->shown = true;
    fprintf(stderr, "\r%s: [%-*.*s] %3.0f%% %.1f GB/s", cli_name, WIDTH,
            (int)(part * WIDTH), bar, 100 * part, (double)done / seconds / 1e9);
}

void
progress_end(struct progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r%*s\r", WIDTH + 40, "");
}
