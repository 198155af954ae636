/* perplexity.c - how surprised a model is by a text
 *
 * As llama.cpp's perplexity program has it, so that figures can be compared:
 * windows that do not overlap, of which the second half is scored, each id
 * given all of the window before it. */
#include <config.h>

#include "gg-eval/perplexity.h"

#include <ggml.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/ticker.h"
#include "gg-eval/windows.h"

/* Of the scored ids: losses are negative log-probabilities. */
struct losses {
    double sum, squares;
    uint64_t n;
};

static void
add_losses(struct losses *l, const float *logprobs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double loss = -(double)logprobs[i];

        l->sum += loss;
        l->squares += loss * loss;
    }
    l->n += n;
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

void
perplexity_run(const struct engine *engine, int fd, const char *name,
               bool quiet)
{
    struct windows w;
    struct losses l = { 0 };
    struct ticker ticker;
    int64_t start = ggml_time_us();
    float *logprobs;
    size_t unscored, scored;

    windows_open(&w, engine, fd, name, "--perplexity");
    unscored = (size_t)w.n / 2 + 1; /* what is likely after it counts */
    scored = (size_t)w.n - unscored;
    logprobs = cli_alloc(NULL, scored, sizeof(*logprobs));
    ticker_start_beside(&ticker, quiet);
    while (windows_next(&w)) {
        windows_eval(&w, (struct gg_query){ .scores.logprobs = logprobs,
                                            .scores.first = unscored });
        add_losses(&l, logprobs, scored);
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
                 (int)w.filled);
    free(logprobs);
    windows_close(&w);
}
