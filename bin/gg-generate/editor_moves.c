/* editor_moves.c - a line that is typed must be drawn again */
#include <config.h>

#include "gg-generate/editor.h"

#if defined(HAVE_LIBEDIT) || defined(HAVE_READLINE)

static volatile sig_atomic_t moved;

static void
on_move(int sig)
{
    (void)sig;
    moved = 1;
}

bool
editor_was_moved(void)
{
    bool was = moved;

    moved = 0;
    return was;
}

void
editor_watch(struct editor_watch *w)
{
    struct sigaction act = { .sa_handler = on_move };

    sigemptyset(&act.sa_mask);
    sigaction(SIGCONT, &act, &w->cont);
    sigaction(SIGWINCH, &act, &w->winch);
}

void
editor_unwatch(const struct editor_watch *w)
{
    sigaction(SIGCONT, &w->cont, NULL);
    sigaction(SIGWINCH, &w->winch, NULL);
}

#endif
