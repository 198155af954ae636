/* date.c - the date of all conversations of a job */
#include <config.h>

#include <inttypes.h>

#include "gg-generate/generate.h"

int64_t
generate_date(struct generate *g)
{
    if (!g->date) {
        shard_check_date(&g->o->shard);
        g->date = chat_date();
    }
    return g->date;
}

void
generate_resume_date(struct generate *g, uint64_t number, int64_t date)
{
    if (!g->date)
        g->date = date;
    if (g->date != date)
        cli_die("%s: record %" PRIu64 " has the date %" PRId64 ", not %" PRId64,
                g->o->resume, number, date, g->date);
}

void
generate_check_date(const struct generate *g)
{
    const struct options *o = g->o;

    if (o->resume && o->form != FORM_JSONL && !g->date &&
        !chat_date_is_fixed() && gg_chat_takes_date(o->template))
        cli_misuse("--resume %s: the chat template takes the date, which has "
                   "no place there: --date or SOURCE_DATE_EPOCH must say it",
                   o->resume);
}
