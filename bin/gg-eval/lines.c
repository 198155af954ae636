/* lines.c - lines of ids, as they come, and what is done with them together */
#include <config.h>

#include "gg-eval/lines.h"

#include <signal.h>
#include <unistd.h>

#include "common/own_ids.h"

/* Lines as they are read, or parts of them. */
struct input {
    struct gg_line_reader *reader;
    struct gg_line line;
    size_t most, left; /* ids of a part; after this one */
    struct own_ids own;
};

/* The next ids of a line have their turn. */
static void
take_part(struct input *in, size_t n)
{
    in->left = in->most && n > in->most ? n - in->most : 0;
    in->line.n_ids = n - in->left;
}

static enum gg_status
read_line(struct input *in, struct gg_error *err)
{
    enum gg_status st;

    if (in->left) {
        in->line.ids += in->line.n_ids;
        in->line.back = 0;
        take_part(in, in->left);
        return GG_OK;
    }
    st = gg_line_read(in->reader, &in->line, err);
    if (st == GG_OK) {
        own_ids_see(&in->own, &in->line);
        if (in->line.kind == GG_LINE_IDS)
            take_part(in, in->line.n_ids);
    }
    return st;
}

static bool
line_is_ready(struct input *in)
{
    return in->left || gg_line_ready(in->reader);
}

/* False: it must wait until those before it are run. */
static bool
take_line(const struct lines *l, const struct gg_line *line)
{
    return !shard_has_line(l->shard, line, l->name) || l->add(l->data, line);
}

/* Returns what became of the line after them, which is in->line. */
static enum gg_status
run_together(const struct lines *l, struct input *in, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    while (st == GG_OK && take_line(l, &in->line)) {
        if (l->is_full(l->data) || !line_is_ready(in)) {
            l->run(l->data);
            return read_line(in, err);
        }
        st = read_line(in, err);
    }
    l->run(l->data);
    return st;
}

static enum gg_status
run_all(const struct lines *l, struct input *in, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    while (st == GG_OK && !cli_signal()) {
        if (!output_wanted())
            cli_raise(SIGPIPE);
        st = run_together(l, in, err);
    }
    return st;
}

bool
lines_run(const struct lines *l, int fd)
{
    struct input in = { .most = l->most };
    struct gg_error err;
    enum gg_status st = gg_line_reader_new(fd, l->name, &in.reader, &err);
    bool begun;

    cli_check(st, &err);
    gg_line_reader_watch(in.reader, STDOUT_FILENO);
    if (l->back)
        gg_line_reader_back(in.reader);
    media_expect(l->engine->media, in.reader);
    own_ids_start(&in.own, l->engine->vocab, l->name, l->engine->path,
                  l->engine->quiet);
    st = read_line(&in, &err);
    if (st == GG_EOF)
        cli_die("%s: no token ids", l->name);
    begun = st == GG_OK;
    if (begun) {
        shard_check(l->shard, in.line.numbered, l->name);
        if (shard_is_part(l->shard))
            output_begin(l->output, &in.line);
        if (l->begin)
            l->begin(l->data, &in.line);
        st = run_all(l, &in, &err);
    }
    if (!cli_signal()) {
        if (st == GG_ERR_ABORTED && !output_wanted())
            cli_raise(SIGPIPE);
        if (st != GG_EOF)
            cli_check(st, &err);
        own_ids_end(&in.own);
        output_end(l->output);
    }
    gg_line_reader_free(in.reader);
    return begun;
}
