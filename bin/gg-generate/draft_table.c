/* draft_table.c - --draft-table: what texts were, from one job to the next */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/outside.h"
#include "gg-generate/generate.h"

enum {
    LARGEST = 2 << 20, /* bytes, more than any table has */
};

void
draft_table_choose(struct options *o)
{
    if (!o->draft_table)
        return;
    if (!o->draft)
        o->draft = "prompt";
    if (strcmp(o->draft, "prompt") != 0)
        cli_misuse("--draft-table keeps what --draft prompt looks up, and not "
                   "--draft %s",
                   o->draft);
}

/* None is there before the first job. */
void
draft_table_open(struct generate *g)
{
    const char *path = g->o->draft_table;
    char final[PATH_MAX];
    struct gg_error err;
    char *bytes;
    size_t n;
    int fd;

    if (!path || g->o->sampling.none)
        return;
    (void)files_write(path, final);
    fd = outside_open(path, O_RDONLY);
    if (fd < 0 && errno == ENOENT)
        return;
    if (fd < 0)
        cli_die("%s: %s", path, strerror(errno));
    bytes = cli_read_all(fd, path, LARGEST, &n);
    close(fd);
    if (n && gg_engine_draft_read(g->engine.gg, bytes, n, &err) != GG_OK)
        cli_die("%s: %s", path, err.message);
    free(bytes);
}

void
draft_table_save(struct generate *g)
{
    const char *path = g->o->draft_table;
    struct gg_error err;
    FILE *f;

    if (!path || g->o->sampling.none || cli_signal())
        return;
    f = cli_open_aside(path);
    if (gg_engine_draft_write(g->engine.gg, fileno(f), &err) != GG_OK)
        cli_die("%s: %s", path, err.message);
    cli_close_aside(path, f);
}
