/* lines.c - lines of ids, as they come, and what is done with them together */
#include <config.h>

#include "gg-eval/lines.h"

#include <signal.h>
#include <unistd.h>

/* False: it must wait until those before it are run. */
static bool
take_line(const struct lines *l, const struct gg_line *line)
{
    return !shard_has_line(l->shard, line, l->name) || l->add(l->data, line);
}

/* Returns what became of the line after them, which is in *line. */
static enum gg_status
run_together(const struct lines *l, struct gg_line_reader *reader,
             struct gg_line *line, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    while (st == GG_OK && take_line(l, line)) {
        if (l->is_full(l->data) || !gg_line_ready(reader)) {
            l->run(l->data);
            return gg_line_read(reader, line, err);
        }
        st = gg_line_read(reader, line, err);
    }
    l->run(l->data);
    return st;
}

static enum gg_status
run_all(const struct lines *l, struct gg_line_reader *reader,
        struct gg_line *line, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    while (st == GG_OK && !cli_signal()) {
        if (!output_wanted())
            cli_raise(SIGPIPE);
        st = run_together(l, reader, line, err);
    }
    return st;
}

bool
lines_run(const struct lines *l, int fd)
{
    struct gg_line_reader *reader;
    struct gg_error err;
    struct gg_line line = { 0 };
    enum gg_status st = gg_line_reader_new(fd, l->name, &reader, &err);
    bool begun;

    cli_check(st, &err);
    gg_line_reader_watch(reader, STDOUT_FILENO);
    st = gg_line_read(reader, &line, &err);
    if (st == GG_EOF)
        cli_die("%s: no token ids", l->name);
    begun = st == GG_OK;
    if (begun) {
        shard_check(l->shard, line.numbered, l->name);
        if (shard_is_part(l->shard))
            output_begin(l->output, &line);
        if (l->begin)
            l->begin(l->data, &line);
        st = run_all(l, reader, &line, &err);
    }
    if (!cli_signal()) {
        if (st == GG_ERR_ABORTED && !output_wanted())
            cli_raise(SIGPIPE);
        if (st != GG_EOF)
            cli_check(st, &err);
        output_end(l->output);
    }
    gg_line_reader_free(reader);
    return begun;
}
