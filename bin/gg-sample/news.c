/* news.c - what a gg-loop is told */
#include <config.h>

#include "gg-sample/draws.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Our output may end before the shell of a gg-loop's command lets go of its
 * copy of it; gg-loop names a FIFO that takes the news. Within the sandbox it
 * cannot be opened: it is another process's. */
static int loop_news = -1;

bool
news_find(void)
{
    const char *path = getenv("GG_LOOP");
    struct stat st;

    loop_news = path ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (loop_news >= 0 && (fstat(loop_news, &st) || !S_ISFIFO(st.st_mode))) {
        close(loop_news);
        loop_news = -1;
    }
    return loop_news >= 0;
}

void
news_tell(void)
{
    ssize_t n = loop_news >= 0 ? write(loop_news, "\n", 1) : 0;

    (void)n; /* then the loop is gone, or was told already */
    if (loop_news >= 0)
        close(loop_news);
    loop_news = -1;
}
