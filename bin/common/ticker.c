/* ticker.c - a line on a terminal about work that takes its time */
#include <config.h>

#include "common/ticker.h"

#include <gg.h>
#include <ggml.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATIENCE = 1000000, /* microseconds until the line is shown, */
    PACE = 200000,      /* and between two of them */
};

/* The one that is shown, or NULL. */
static struct ticker *on_screen;

static void
hide(void)
{
    if (on_screen)
        ticker_end(on_screen);
}

void
ticker_start(struct ticker *p, bool quiet)
{
    cli_before_messages(hide);
    *p = (struct ticker){ .on = !quiet && isatty(STDERR_FILENO),
                          .start = ggml_time_us() };
}

void
ticker_start_among(struct ticker *p, bool quiet)
{
    struct stat st;
    bool file = fstat(STDOUT_FILENO, &st) == 0 && !S_ISFIFO(st.st_mode) &&
                !cli_output_is_terminal();

    ticker_start(p, quiet || !file);
}

void
ticker_show(struct ticker *p, const char *fmt, ...)
{
    int64_t now = ggml_time_us();
    va_list args;

    if (!p->on || now < p->start + PATIENCE || now < p->last + PACE)
        return;
    p->last = now;
    p->shown = true;
    on_screen = p;
    fputs("\r\033[K", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
}

void
ticker_show_part(struct ticker *p, uint64_t done, uint64_t all,
                 const char *name)
{
    static const char bar[] = "##############################";
    int width = (int)sizeof(bar) - 1;
    double part = all ? (double)done / (double)all : 1;
    char shown[160];

    gg_escape(shown, sizeof(shown), name, strlen(name));
    ticker_show(p, "[%-*.*s] %3d %% %.40s", width, (int)(part * width), bar,
                (int)(100 * part), shown);
}

void
ticker_end(struct ticker *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
    on_screen = NULL;
}
