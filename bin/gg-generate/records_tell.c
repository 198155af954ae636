/* records_tell.c - how far a job of records has come */
#include <config.h>

#include <ggml.h>
#include <inttypes.h>

#include "gg-generate/run.h"

void
records_describe(const struct records *w, int64_t us)
{
    struct gg_engine_stats stats = gg_engine_stats(w->g->engine.gg);
    double s = (double)us / 1e6;

    cli_warn("%zu records in %.3f s, %.2f/s", w->n_records, s,
             s > 0 ? (double)w->n_records / s : 0);
    cli_warn("%" PRIu64 " ids evaluated, %" PRIu64 " copied, %zu drawn",
             stats.n_evaluated, stats.n_copied, w->g->sums.n_made);
    draft_model_describe(w->g);
}

/* "12 of ~80 records": how many there are is known at the end of the input, and
 * before that by the part of its bytes that was taken. */
static void
say_records(const struct records *w, uint64_t done, char *text, size_t size)
{
    double taken = (double)(w->n_records + w->n_active);
    char all[40] = "";

    if (w->ended)
        snprintf(all, sizeof(all), " of %.0f", taken);
    else if (w->all && done)
        snprintf(all, sizeof(all), " of ~%.0f",
                 taken * (double)w->all / (double)done);
    snprintf(text, size, "%zu%s records", w->n_records, all);
}

void
records_show_progress(struct records *w)
{
    uint64_t done = reader_place(&w->in.reader);
    double s = (double)(ggml_time_us() - w->ticker.start) / 1e6;
    double rate = s > 0 ? (double)w->n_records / s : 0;
    char count[80], text[120];

    done = w->all && done > w->all ? w->all : done;
    say_records(w, done, count, sizeof(count));
    snprintf(text, sizeof(text), "%s, %.1f/s", count, rate);
    if (w->all)
        ticker_show_part(&w->ticker, done, w->all, text);
    else
        ticker_show(&w->ticker, "%s, %zu ids, %.1f/s", count, w->g->sums.n_made,
                    rate);
}
