/* contest.c - choices of which one is to follow a prompt */
#include <config.h>

#include "gg-generate/contest.h"

#include <math.h>
#include <stdlib.h>

static size_t
common_prefix(const struct gg_choices *c, const int32_t *ids, size_t n)
{
    size_t same = 0;

    while (same < n && same < c->n_prompt && ids[same] == c->prompt[same])
        same++;
    return same;
}

enum gg_status
contest_add(struct gg_choices *c, const struct choice *choice, int32_t *ids,
            size_t n, struct gg_error *err)
{
    size_t same = common_prefix(c, ids, n);

    c->list = cli_alloc(c->list, c->n + 1, sizeof(*c->list));
    c->list[c->n++] = (struct gg_choice){ .ids = ids, .n = n, .data = choice };
    if (same == n)
        return cli_error(err, GG_ERR_ARG,
                         "--choice: '%.100s' adds no token to the prompt",
                         choice->text);
    if (same == 0)
        return cli_error(err, GG_ERR_ARG,
                         "no token of the prompt stays as it is before the "
                         "choices; --bos puts one in front");
    return GG_OK;
}

void
contest_clear(struct gg_choices *c)
{
    for (size_t i = 0; i < c->n; i++)
        free((void *)c->list[i].ids);
    free(c->list);
    *c = (struct gg_choices){ 0 };
}

bool
contest_fits(const struct gg_choices *c, const struct engine *engine,
             struct gg_error *err)
{
    size_t most = 0;

    for (size_t i = 0; i < c->n; i++)
        most = c->list[i].n > most ? c->list[i].n : most;
    if (most <= (size_t)gg_session_n_ctx(engine->session))
        return true;
    engine_say_full(engine, 0, most, err->message, sizeof(err->message));
    return false;
}

bool
contest_run(struct gg_engine *engine, struct gg_choices *list, size_t n)
{
    struct gg_error err;
    enum gg_status st = gg_engine_choose(engine, list, n, &err);

    return cli_finished(st, &err);
}

static int
by_score(const void *x, const void *y)
{
    const struct gg_choice *a = x, *b = y;

    if (a->logprob != b->logprob)
        return a->logprob < b->logprob ? 1 : -1;
    return choices_text(a) < choices_text(b) ? -1 : 1;
}

bool
contest_decide(struct gg_choices *c, struct gg_error *err)
{
    for (size_t i = 0; i < c->n; i++)
        if (!isfinite(c->list[i].logprob)) {
            cli_error(err, GG_ERR_FORMAT, "the logits are not numbers");
            return false;
        }
    qsort(c->list, c->n, sizeof(*c->list), by_score);
    return true;
}
