/* tell.c - a line of the log for each request, and the numbers of /metrics
 *
 * No text of a request or an answer is in either. */
#include <config.h>

#include <inttypes.h>
#include <poll.h>
#include <unistd.h>

#include "gg-serve/front.h"

static uint64_t lines_lost;

bool
tell_can(void)
{
    static uint64_t told;
    struct pollfd p = { STDERR_FILENO, POLLOUT, 0 };

    if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT)) {
        lines_lost++;
        return false;
    }
    if (lines_lost > told)
        cli_warn("%" PRIu64 " lines of the log were lost", lines_lost - told);
    told = lines_lost;
    return true;
}

static const char *
or_dash(const char *s)
{
    return *s ? s : "-";
}

/* ID KEY MODEL PATH STATUS WORD PROMPT CACHED ANSWER FIRST TOTAL */
void
tell_request(const struct ask *a, const char *word)
{
    int64_t now = front_now();

    if (a->front->params.quiet || !tell_can())
        return;
    cli_warn("%s key=%s model=%s %s %d %s prompt=%" PRIu64 " cached=%" PRIu64
             " answer=%" PRIu64 " first=%" PRId64 "ms total=%" PRId64 "ms",
             a->id, or_dash(a->key), or_dash(a->model), a->path, a->status,
             word, a->n_prompt, a->n_cached, a->n_answer,
             a->first ? a->first - a->came : 0, now - a->came);
}

void
tell_refusal(const char *path, int status, const char *why)
{
    if (tell_can())
        cli_warn("- %s %d %s", or_dash(path), status, why);
}

/* ---- metrics ------------------------------------------------------------- */

static void
add_value(struct buffer *b, const char *name, const char *type,
          const char *help, uint64_t value)
{
    buffer_format(b,
                  "# HELP gg_serve_%s %s\n# TYPE gg_serve_%s %s\n"
                  "gg_serve_%s %" PRIu64 "\n",
                  name, help, name, type, name, value);
}

static void
add_engines(const struct front *f, struct buffer *b)
{
    const struct engine *e;
    uint64_t n = 0, running = 0, slots = 0;

    TAILQ_FOREACH(e, &f->engines, next)
    {
        n++;
        running += (uint64_t)e->n_running;
        slots += (uint64_t)e->n_slots;
    }
    add_value(b, "engines", "gauge", "Engines that run.", n);
    add_value(b, "running", "gauge", "Requests that engines work on.", running);
    add_value(b, "slots", "gauge", "Requests that engines can work on.", slots);
}

void
tell_metrics(const struct front *f, struct buffer *b)
{
    const struct counters *n = &f->n;

    add_value(b, "requests_total", "counter", "Requests that came.",
              n->requests);
    add_value(b, "refused_total", "counter",
              "Requests without a right to be answered, or a path.",
              n->refused);
    add_value(b, "failed_total", "counter", "Answers that were errors.",
              n->failed);
    add_value(b, "cancelled_total", "counter",
              "Requests whose clients went first.", n->cancelled);
    add_value(b, "slow_total", "counter",
              "Requests whose clients read too slowly.", n->slow);
    add_value(b, "prompt_tokens_total", "counter", "Ids of prompts.",
              n->prompt_ids);
    add_value(b, "cached_tokens_total", "counter",
              "Ids of prompts that were not evaluated again.", n->cached_ids);
    add_value(b, "answer_tokens_total", "counter", "Ids of answers.",
              n->answer_ids);
    add_value(b, "first_token_milliseconds_sum", "counter",
              "Time to the first piece of answers.", n->first_ms);
    add_value(b, "first_token_milliseconds_count", "counter",
              "Answers that had a first piece.", n->firsts);
    add_value(b, "engines_lost_total", "counter",
              "Engines that ended while they were wanted.", n->engines_lost);
    add_value(b, "waiting", "gauge", "Requests that wait for an engine.",
              (uint64_t)f->n_waiting);
    add_value(b, "connections", "gauge", "Connections that are open.",
              (uint64_t)http_n_connections(f->http));
    add_value(b, "log_lines_lost_total", "counter",
              "Lines that standard error did not take.", lines_lost);
    add_engines(f, b);
}
