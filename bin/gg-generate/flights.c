/* flights.c - answers that are made at once, in sets that are under way */
#include <config.h>

#include "gg-generate/flights.h"

#include <stdlib.h>

void
flights_init(struct flights *f, struct gg_engine *engine, size_t n)
{
    *f = (struct flights){ .engine = engine };
    f->texts = cli_alloc(NULL, n, sizeof(*f->texts));
}

void
flights_clear(struct flights *f)
{
    free(f->texts);
}

/* The one that was begun first; 0: none is. */
static uint64_t
oldest(const struct active *active, size_t n)
{
    uint64_t first = 0;

    for (size_t i = 0; i < n; i++)
        if (active[i].flight && (!first || active[i].flight < first))
            first = active[i].flight;
    return first;
}

/* Each is counted at its first answer. */
static size_t
count_flights(const struct active *active, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        while (active[k].flight != active[i].flight)
            k++;
        found += k == i && active[i].flight;
    }
    return found;
}

/* The answers of a flight, to f->texts. */
static size_t
gather(struct flights *f, const struct active *active, size_t n,
       uint64_t flight)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (active[i].flight == flight)
            f->texts[found++] = active[i].answer.made;
    return found;
}

/* Up to `most` answers that have none. False: there are no such. */
static bool
begin_one(struct flights *f, struct active *active, size_t n, size_t most)
{
    struct gg_error err;
    size_t found = 0;

    f->last++;
    for (size_t i = 0; i < n && found < most; i++)
        if (!active[i].flight && !active[i].waits) {
            active[i].flight = f->last;
            found++;
        }
    if (found == 0)
        return false;
    found = gather(f, active, n, f->last);
    f->status = gg_engine_begin(f->engine, f->texts, found, &err);
    return f->mild ? f->status == GG_OK : cli_finished(f->status, &err);
}

void
flights_begin(struct flights *f, struct active *active, size_t n)
{
    size_t most = (size_t)gg_engine_overlap(f->engine);

    while (count_flights(active, n) < most &&
           begin_one(f, active, n, (n + most - 1) / most))
        ;
}

uint64_t
flights_step(struct flights *f, struct active *active, size_t n)
{
    uint64_t flight = oldest(active, n);
    size_t found;

    f->status = GG_OK;
    if (!flight)
        return 0;
    found = gather(f, active, n, flight);
    f->status = gg_engine_step(f->engine, f->texts, found, &f->error);
    if (f->mild)
        return f->status == GG_OK || f->status == GG_ERR_NOMEM ? flight : 0;
    return cli_finished(f->status, &f->error) ? flight : 0;
}
