/* windows.c - a text's ids, cut into windows of the context's size */
#include <config.h>

#include "gg-eval/windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 4, /* ids of a window: half of it is scored */
};

void
windows_open(struct windows *w, const struct engine *engine, int fd,
             const char *name, const char *option)
{
    struct gg_error err;

    *w = (struct windows){ .engine = engine,
                           .name = name,
                           .option = option,
                           .n = gg_session_n_ctx(engine->session) };
    if (w->n < LEAST)
        cli_misuse("%s: the context must be %d at least", option, LEAST);
    cli_check(gg_sequence_new(engine->gg, &w->sequence, &err), &err);
    cli_check(gg_line_reader_new(fd, name, &w->reader, &err), &err);
    gg_line_reader_split(w->reader);
    media_expect(engine->media, w->reader);
    own_ids_start(&w->own, engine->vocab, name, engine->path, engine->quiet);
    w->ids = cli_alloc(NULL, (size_t)w->n, sizeof(*w->ids));
}

void
windows_close(struct windows *w)
{
    gg_line_reader_free(w->reader);
    gg_sequence_free(w->sequence);
    free(w->ids);
}

static void
check_line(const struct windows *w)
{
    const struct media *media = w->engine->media;
    int32_t end = media ? media->end : gg_model_n_vocab(w->engine->model);
    const struct gg_line *line = &w->line;

    if (line->kind == GG_LINE_ERROR)
        cli_die("%s: a record that failed: %s", w->name, line->message);
    if (line->numbered)
        cli_die("%s: lines have numbers; %s takes one text", w->name,
                w->option);
    for (size_t i = 0; i < line->n_ids; i++)
        if (line->ids[i] >= end)
            cli_die("%s: id %d is not in 0..%d", w->name, (int)line->ids[i],
                    (int)end - 1);
}

/* False: there is no further line. */
static bool
read_window_line(struct windows *w)
{
    struct gg_error err;
    enum gg_status st = gg_line_read(w->reader, &w->line, &err);

    if (st == GG_EOF) {
        own_ids_end(&w->own);
        return false;
    }
    cli_check(st, &err);
    w->taken = 0;
    check_line(w);
    own_ids_see(&w->own, &w->line);
    return true;
}

static void
take_ids(struct windows *w)
{
    size_t room = (size_t)(w->n - w->filled);
    size_t n = w->line.n_ids - w->taken;

    n = n < room ? n : room;
    memcpy(w->ids + w->filled, w->line.ids + w->taken, n * sizeof(*w->ids));
    w->taken += n;
    w->filled += (int32_t)n;
}

/* Ids that the window has in common with the one before it. */
static void
keep_shared(struct windows *w)
{
    int32_t shared = w->stride && w->count ? w->n - w->stride : 0;

    memmove(w->ids, w->ids + w->n - shared, (size_t)shared * sizeof(*w->ids));
    w->filled = shared;
}

bool
windows_next(struct windows *w)
{
    int32_t bos = gg_vocab_bos(w->engine->vocab);

    if (w->most && w->count == w->most)
        return false;
    keep_shared(w);
    do {
        if (w->taken < w->line.n_ids)
            take_ids(w);
    } while (w->filled < w->n && read_window_line(w));
    if (w->filled < w->n) {
        if (w->count == 0)
            cli_die("%s: %d ids are less than a window of %d (-c)", w->name,
                    (int)w->filled, (int)w->n);
        return false;
    }
    if (!w->stride && gg_vocab_add_bos(w->engine->vocab) && bos >= 0)
        w->ids[0] = bos;
    w->count++;
    return true;
}

/* The sequence keeps its slot, and begins anew there: nothing is shared. */
void
windows_eval(struct windows *w, struct gg_query query)
{
    size_t n = (size_t)w->n;
    struct gg_error err;

    query.sequence = w->sequence;
    gg_sequence_truncate(w->sequence, 0);
    cli_check(gg_sequence_put(w->sequence, w->ids, n, &err), &err);
    cli_check(gg_engine_eval(w->engine->gg, &query, 1, &err), &err);
    for (size_t i = 0; i < n - query.scores.first; i++)
        if (!isfinite(query.scores.logprobs[i]))
            cli_die("%s: window %llu: the logits are not numbers",
                    w->engine->path, (unsigned long long)w->count);
}
