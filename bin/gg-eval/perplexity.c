/* perplexity.c - how surprised a model is by a text
 *
 * As llama.cpp's perplexity program has it, so that figures can be compared:
 * windows that do not overlap, of which the second half is scored, each id
 * given all of the window before it; or, with a stride, windows that begin a
 * stride apart, of which as many ids at the end are scored. */
#include <config.h>

#include "gg-eval/perplexity.h"

#include <ggml.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/ticker.h"
#include "gg-eval/windows.h"

/* Losses of the scored ids: their negative log-probabilities. */
struct losses {
    double sum, squares;
    uint64_t n;
};

/* Adds the losses of the window's last n ids, but for rows. */
static void
add_losses(struct losses *l, const struct windows *w, const float *logprobs,
           size_t n)
{
    const int32_t *ids = w->ids + (size_t)w->n - n;

    for (size_t i = 0; i < n; i++) {
        double loss = -(double)logprobs[i];

        if (engine_is_row(w->engine, ids[i]))
            continue;
        l->sum += loss;
        l->squares += loss * loss;
        l->n++;
    }
}

/* By the spread of the losses, as if they were independent. */
static void
put_losses(const struct windows *w, const struct losses *l)
{
    double n = (double)l->n, mean = l->sum / n, perplexity = exp(mean);
    double variance = l->squares / n - mean * mean;
    double error =
        l->n > 1 && variance > 0 ? sqrt(variance / (n - 1)) * perplexity : 0;

    printf("%" PRIu64 "\t%" PRIu64 "\t%.4f\t%.5f\n", w->count, l->n, perplexity,
           error);
    cli_flush();
}

/* Ids at the end that no window has. */
static int32_t
left_over(const struct windows *w)
{
    bool all = w->filled == w->n; /* --windows: the text was left */

    return all ? 0 : w->filled - (w->stride ? w->n - w->stride : 0);
}

void
perplexity_run(const struct engine *engine, const struct perplexity_options *o,
               int fd, const char *name, bool quiet)
{
    struct windows w;
    struct losses l = { 0 };
    struct ticker ticker;
    int64_t start = ggml_time_us();
    float *logprobs;
    size_t unscored, scored;

    windows_open(&w, engine, fd, name, "--perplexity");
    if (o->stride >= w.n)
        cli_misuse("--stride %d: not below the window of %d (-c)",
                   (int)o->stride, (int)w.n);
    w.stride = o->stride;
    w.most = (uint64_t)o->windows;
    unscored = o->stride ? (size_t)(w.n - o->stride)
                         : (size_t)w.n / 2 + 1; /* what is likely after it */
    scored = (size_t)w.n - unscored;
    logprobs = cli_alloc(NULL, scored, sizeof(*logprobs));
    ticker_start_among(&ticker, quiet);
    while (windows_next(&w)) {
        windows_eval(&w, (struct gg_query){ .scores.logprobs = logprobs,
                                            .scores.first = unscored });
        add_losses(&l, &w, logprobs, scored);
        if (!quiet)
            put_losses(&w, &l);
        ticker_show(&ticker, "%" PRIu64 " ids, perplexity %.4f",
                    w.count * (uint64_t)w.n, exp(l.sum / (double)l.n));
    }
    ticker_end(&ticker);
    if (quiet)
        put_losses(&w, &l);
    if (engine->verbose)
        cli_warn("%.2f s: %.1f ids/s; %d ids at the end not evaluated",
                 (double)(ggml_time_us() - start) / 1e6,
                 (double)w.count * w.n * 1e6 / (double)(ggml_time_us() - start),
                 (int)left_over(&w));
    free(logprobs);
    windows_close(&w);
}
