/* sequences.c - lines of ids become sequences */
#include <config.h>

#include <gg-stream.h>
#include <inttypes.h>
#include <unistd.h>

#include "common/own_ids.h"
#include "common/sequence_table.h"
#include "gg-train/train.h"

/* The ids of a sequence so far. */
struct pending {
    struct numbered key;
    int32_t *ids;
    size_t n, cap;
};

struct collecting {
    struct gg_train *train;
    enum gg_train_part part;
    const char *name;
    struct sequence_table open;
    struct added added;
};

static struct pending *
pending_of(struct collecting *c, uint64_t number)
{
    struct pending *p = sequence_table_find(&c->open, number);

    if (p)
        return p;
    p = cli_alloc(NULL, 1, sizeof(*p));
    *p = (struct pending){ .key.number = number };
    sequence_table_add(&c->open, &p->key);
    return p;
}

static void
append(struct pending *p, const struct gg_line *line)
{
    if (line->n_ids > p->cap - p->n) {
        p->cap = 2 * p->cap + line->n_ids;
        p->ids = cli_alloc(p->ids, p->cap, sizeof(*p->ids));
    }
    if (line->n_ids)
        memcpy(p->ids + p->n, line->ids, line->n_ids * sizeof(*p->ids));
    p->n += line->n_ids;
}

static void
finish(struct collecting *c, struct pending *p)
{
    struct gg_error err;
    enum gg_status st =
        gg_train_add(c->train, c->part, p->ids, NULL, p->n, &err);

    if (st != GG_OK)
        cli_die("%s: sequence %" PRIu64 ": %s", c->name, p->key.number,
                err.message);
    added_count(&c->added, p->n, p->n > 0 ? p->n - 1 : 0, p->key.number);
    sequence_table_forget(&c->open, &p->key);
    sequence_table_unlink(&c->open, &p->key);
    free(p->ids);
    free(p);
}

static void
collect_line(struct collecting *c, const struct gg_line *line)
{
    struct pending *p = pending_of(c, line->sequence);

    switch (line->kind) {
    case GG_LINE_IDS:
        append(p, line);
        break;
    case GG_LINE_END:
        finish(c, p);
        break;
    default:
        cli_die("%s: sequence %" PRIu64 ": %s", c->name, line->sequence,
                line->message);
    }
}

struct added
sequences_add(struct gg_train *train, enum gg_train_part part, const char *path,
              const struct train_options_of_tool *o)
{
    struct collecting c = { .train = train,
                            .part = part,
                            .name = cli_input_name(path) };
    struct own_ids own;
    struct gg_line_reader *reader;
    struct gg_error err;
    struct gg_line line;
    int fd = cli_open_input(path);
    enum gg_status st = gg_line_reader_new(fd, c.name, &reader, &err);

    cli_check(st, &err);
    own_ids_start(&own, gg_train_vocab(train), c.name, o->model, o->quiet);
    while ((st = gg_line_read(reader, &line, &err)) == GG_OK) {
        own_ids_see(&own, &line);
        collect_line(&c, &line);
    }
    if (st != GG_EOF)
        cli_check(st, &err);
    while (c.open.oldest)
        finish(&c, (struct pending *)c.open.oldest);
    if (c.added.n == 0)
        cli_die("%s: no token ids", c.name);
    own_ids_end(&own);
    sequence_table_clear(&c.open);
    gg_line_reader_free(reader);
    close(fd);
    return c.added;
}
