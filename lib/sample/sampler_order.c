/* sampler_order.c - the order of the stages of a sampler chain
 *
 * Names become a list of stages, of which those stay that are on and can have
 * an effect, and these the steps of a draw. */
#include <config.h>

#include "sample/sampler_order.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/escape.h"

static const char separators[] = ";, ";

static void
add(struct sample_order *o, const struct sample_stage *stage,
    const struct sample_numbers *numbers)
{
    o->on[o->n++] =
        (struct sample_active){ stage, numbers->v[stage - sample_stages] };
}

static bool
has(const struct sample_order *o, const struct sample_stage *stage)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->on[i].stage == stage)
            return true;
    return false;
}

/* ---- names ---- */

static enum gg_status
unknown_stage(const char *name, size_t len, struct gg_error *err)
{
    char known[256] = "", shown[64];
    size_t used = 0;

    for (size_t i = 0; sample_stages[i].name; i++) {
        size_t n = strlen(sample_stages[i].name);

        if (sample_stages[i].kind == SAMPLE_ALONE ||
            used + n + 3 > sizeof(known))
            continue;
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                 used ? ", " : "", sample_stages[i].name);
    }
    return error_set(err, GG_ERR_ARG,
                     "no stage of a sampler chain is called '%s'; there are %s",
                     escape_bytes(shown, sizeof(shown), name, len), known);
}

static enum gg_status
add_named(struct sample_order *o, const char *names,
          const struct sample_numbers *numbers, struct gg_error *err)
{
    const char *p = names + strspn(names, separators);

    while (*p) {
        size_t len = strcspn(p, separators);
        const struct sample_stage *stage = sample_stages_find(p, len);

        if (!stage)
            return unknown_stage(p, len, err);
        if (has(o, stage))
            return error_set(err, GG_ERR_ARG,
                             "stage %s of the sampler chain is there twice",
                             stage->name);
        add(o, stage, numbers);
        p += len;
        p += strspn(p, separators);
    }
    return GG_OK;
}

static void
add_default(struct sample_order *o, const struct sample_numbers *numbers)
{
    for (size_t i = 0; sample_stages[i].name; i++)
        if (sample_stages[i].kind != SAMPLE_ALONE)
            add(o, &sample_stages[i], numbers);
}

/* ---- stages that count ---- */

static const struct sample_stage *
find_kind(enum sample_kind kind, const struct sample_numbers *numbers)
{
    for (size_t i = 0; sample_stages[i].name; i++)
        if (sample_stages[i].kind == kind &&
            sample_stages[i].is_on(numbers->v[i]))
            return &sample_stages[i];
    return NULL;
}

static bool
cuts(const struct sample_stage *stage)
{
    return stage->kind == SAMPLE_CUTS || stage->kind == SAMPLE_CUTS_TAIL ||
           stage->kind == SAMPLE_LAST;
}

/* A stage that comes last, whatever an order says, goes there. */
static void
put_last(struct sample_order *o)
{
    for (size_t i = 0; i + 1 < o->n; i++)
        if (o->on[i].stage->kind == SAMPLE_LAST) {
            struct sample_active last = o->on[i];

            memmove(&o->on[i], &o->on[i + 1],
                    (o->n - i - 1) * sizeof(o->on[i]));
            o->on[o->n - 1] = last;
            return;
        }
}

/* Keeps stages that are on; one that is alone replaces all that cut. */
static void
keep_active(struct sample_order *o, const struct sample_stage *alone,
            const struct sample_numbers *numbers)
{
    size_t n = o->n;

    o->n = 0;
    for (size_t i = 0; i < n; i++)
        if (o->on[i].stage->is_on(o->on[i].v) &&
            !(alone && cuts(o->on[i].stage)))
            o->on[o->n++] = o->on[i];
    if (alone)
        add(o, alone, numbers);
    put_last(o);
}

/* At temperature 0 the likeliest token is left: nothing acts after it, and
 * right before it nothing that keeps that token. */
static void
keep_before_greedy(struct sample_order *o, const struct sample_stage *temp)
{
    size_t at = 0;
    struct sample_active last;

    while (o->on[at].stage != temp)
        at++;
    last = o->on[at];
    while (at > 0 && o->on[at - 1].stage->kind == SAMPLE_CUTS_TAIL)
        at--;
    o->on[at] = last;
    o->n = at + 1;
}

/* ---- steps ---- */

static struct sample_step *
last_step(struct sample_order *o)
{
    return o->n_steps ? &o->steps[o->n_steps - 1] : NULL;
}

static void
push(struct sample_order *o, bool opens, struct sample_active active)
{
    o->steps[o->n_steps++] =
        (struct sample_step){ active, opens, { .temperature = 1, .top_p = 1 } };
}

/* The last step has the list. */
static void
open_list(struct sample_order *o)
{
    const struct sample_step *last = last_step(o);

    if (!last || (last->active.stage && last->active.stage->edit))
        push(o, true, (struct sample_active){ NULL, NULL });
}

static void
add_step(struct sample_order *o, struct sample_active active)
{
    struct sample_step *last;

    if (active.stage->edit) {
        push(o, false, active);
        return;
    }
    open_list(o);
    last = last_step(o);
    if (active.stage->take)
        last->active = active;
    else if (last->active.stage || !active.stage->join ||
             !active.stage->join(&last->front, active.v))
        push(o, false, active);
}

enum gg_status
sample_order_make(struct sample_order *o, const char *names,
                  const struct sample_numbers *numbers, struct gg_error *err)
{
    const struct sample_stage *temp = sample_stages_find("temperature", 11);
    bool greedy = numbers->v[temp - sample_stages][0] == 0;
    enum gg_status st = GG_OK;

    o->named = names != NULL;
    if (names)
        st = add_named(o, names, numbers, err);
    else
        add_default(o, numbers);
    if (st != GG_OK)
        return st;
    if (greedy && !has(o, temp))
        add(o, temp, numbers);
    keep_active(o, greedy ? NULL : find_kind(SAMPLE_ALONE, numbers), numbers);
    if (greedy)
        keep_before_greedy(o, temp);
    for (size_t i = 0; i < o->n; i++) {
        o->remembers |= o->on[i].stage->remembers;
        add_step(o, o->on[i]);
    }
    open_list(o);
    return GG_OK;
}

/* ---- sparse logits ---- */

size_t
sample_order_enough(const struct sample_order *o)
{
    size_t enough = SAMPLE_ANY;

    for (size_t i = 0; enough == SAMPLE_ANY && i < o->n; i++) {
        const struct sample_stage *stage = o->on[i].stage;

        enough = stage->enough ? stage->enough(o->on[i].v) : 0;
    }
    return enough == SAMPLE_ANY ? 0 : enough;
}

/* A named order draws the same of n logits as of all, or nothing. */
static enum gg_status
check_enough(const struct sample_order *o, size_t n, struct gg_error *err)
{
    for (size_t i = 0; i < o->n; i++) {
        const struct sample_active *on = &o->on[i];
        size_t k = on->stage->enough ? on->stage->enough(on->v) : 0;

        if (k == 0)
            return error_set(err, GG_ERR_UNSUPPORTED,
                             "%s needs all logits where it stands, and these "
                             "are some",
                             on->stage->name);
        if (k != SAMPLE_ANY && k > n)
            return error_set(err, GG_ERR_UNSUPPORTED,
                             "%s needs %zu logits, and these are %zu",
                             on->stage->name, k, n);
        if (k != SAMPLE_ANY)
            return GG_OK;
    }
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "no stage of the order keeps few tokens: all logits are "
                     "needed, and these are some");
}

/* Stages after one for which they are enough have all that they would. */
enum gg_status
sample_order_check_some(const struct sample_order *o, size_t n,
                        struct gg_error *err)
{
    for (size_t i = 0; i < o->n; i++) {
        const struct sample_stage *stage = o->on[i].stage;

        if (stage->needs_all && (!stage->raises || stage->raises(o->on[i].v)))
            return error_set(err, GG_ERR_UNSUPPORTED, "%s, and these are some",
                             stage->needs_all);
        if (stage->enough && stage->enough(o->on[i].v) <= n)
            break;
    }
    return o->named ? check_enough(o, n, err) : GG_OK;
}
