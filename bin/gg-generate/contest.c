/* contest.c - choices of which one is to follow a prompt */
#include <config.h>

#include "gg-generate/contest.h"

#include <math.h>
#include <stdlib.h>

/* ---- ids ---- */

static enum gg_status
fail(struct gg_error *err, const char *message)
{
    snprintf(err->message, sizeof(err->message), "%s", message);
    return GG_ERR_ARG;
}

enum gg_status
contest_add(struct contest *c, const struct choice *choice, int32_t *its_ids,
            size_t n_its_ids, const int32_t *ids, size_t n,
            struct gg_error *err)
{
    struct scored *s;
    size_t same = 0;

    c->list = cli_alloc(c->list, c->n + 1, sizeof(*c->list));
    s = &c->list[c->n++];
    *s = (struct scored){ .choice = choice, .ids = its_ids, .n = n_its_ids };
    while (same < n && same < s->n && ids[same] == s->ids[same])
        same++;
    c->head = c->n == 1 || same < c->head ? same : c->head;
    if (same == s->n) {
        snprintf(err->message, sizeof(err->message),
                 "--choice: '%.100s' adds no token to the prompt",
                 choice->text);
        return GG_ERR_ARG;
    }
    if (c->head == 0)
        return fail(err, "no token of the prompt stays as it is before the "
                         "choices; --bos puts one in front");
    return GG_OK;
}

void
contest_clear(struct contest *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].ids);
    free(c->list);
    *c = (struct contest){ 0 };
}

bool
contest_fits(const struct contest *c, const struct engine *engine,
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

/* ---- evaluation ---- */

static struct gg_choice *
list_choices(const struct contender *c)
{
    const struct contest *contest = c->contest;
    struct gg_choice *list = cli_alloc(NULL, contest->n, sizeof(*list));

    for (size_t i = 0; i < contest->n; i++)
        list[i] = (struct gg_choice){ .ids = contest->list[i].ids,
                                      .n = contest->list[i].n };
    return list;
}

static void
take_scores(struct contest *contest, const struct gg_choice *list)
{
    for (size_t i = 0; i < contest->n; i++) {
        contest->list[i].sum = list[i].logprob;
        contest->list[i].n_scored = list[i].n_scored;
    }
}

bool
contest_run(struct gg_engine *engine, const struct contender *list, size_t n)
{
    struct gg_choices *all = cli_alloc(NULL, n, sizeof(*all));
    struct gg_error err;
    enum gg_status st;

    for (size_t i = 0; i < n; i++)
        all[i] = (struct gg_choices){ .prompt = list[i].ids,
                                      .n_prompt = list[i].n,
                                      .list = list_choices(&list[i]),
                                      .n = list[i].contest->n };
    st = gg_engine_choose(engine, all, n, &err);
    for (size_t i = 0; i < n; i++) {
        if (st == GG_OK)
            take_scores(list[i].contest, all[i].list);
        free(all[i].list);
    }
    free(all);
    if (st == GG_ERR_ABORTED && cli_signal())
        return false;
    cli_check(st, &err);
    return true;
}

/* ---- the answer ---- */

static int
compare(const void *x, const void *y)
{
    const struct scored *a = x, *b = y;

    if (a->sum != b->sum)
        return a->sum < b->sum ? 1 : -1;
    return a->choice < b->choice ? -1 : 1;
}

/* As if one of the choices had to come. */
static void
share(struct contest *c)
{
    double all = 0;

    for (size_t i = 0; i < c->n; i++)
        all += exp(c->list[i].sum - c->list->sum);
    for (size_t i = 0; i < c->n; i++)
        c->list[i].probability = exp(c->list[i].sum - c->list->sum) / all;
}

bool
contest_decide(struct contest *c, struct gg_error *err)
{
    for (size_t i = 0; i < c->n; i++)
        if (!isfinite(c->list[i].sum)) {
            (void)fail(err, "the logits are not numbers");
            return false;
        }
    qsort(c->list, c->n, sizeof(*c->list), compare);
    share(c);
    return true;
}
