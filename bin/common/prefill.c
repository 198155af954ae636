/* prefill.c - a line on a terminal while a long prompt is evaluated */
#include <config.h>

#include "common/prefill.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/terminal.h"

enum {
    MANY = 32, /* ids: fewer are a step of decoding, or its drafts */
};

void
prefill_start(struct prefill *p, bool quiet)
{
    *p = (struct prefill){ .quiet = quiet };
}

/* The line must not stand where text does: a line of text that has begun on the
 * terminal, or, by way of a pipe, perhaps all that follows a first prompt. */
static bool
may_show(const struct prefill *p)
{
    struct stat st;
    bool pipe = fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);

    return !terminal_is_inside() && !(pipe && p->again);
}

void
prefill_show(void *data, uint64_t done, uint64_t all)
{
    struct prefill *p = data;

    if (done == 0)
        ticker_start(&p->ticker, p->quiet || all < MANY || !may_show(p));
    p->done = done;
    p->all = all;
    prefill_tick(p);
    if (done < all)
        return;
    ticker_end(&p->ticker);
    p->again = true;
    p->all = 0;
}

void
prefill_tick(struct prefill *p)
{
    char count[64];

    if (!p->all)
        return;
    snprintf(count, sizeof(count), "prefill, %" PRIu64 " of %" PRIu64 " ids",
             p->done, p->all);
    ticker_show_part(&p->ticker, p->done, p->all, count);
}
