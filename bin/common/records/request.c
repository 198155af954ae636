/* request.c - what a record in JSON asks */
#include <config.h>

#include "common/records/request.h"

#include <stdlib.h>

#include "common/records/batch.h"
#include "common/records/request_parts.h"

/* ---- life ---- */

void
requests_clear(struct requests *all)
{
    grammars_clear(&all->grammars);
    while (all->n_unknown)
        free(all->unknown[--all->n_unknown]);
}

void
request_begin(const struct requests *all, uint64_t number, struct request *r)
{
    *r = (struct request){ .number = number,
                           .sampling = *all->sampling,
                           .reasoning.options = *all->reasoning,
                           .n_answers = 1 };
    r->reasoning.options.arguments = NULL;
}

void
request_clear_prompts(struct request *r)
{
    for (size_t i = 0; i < r->n_prompts; i++)
        free(r->prompts[i].ids);
    free(r->prompts);
    r->prompts = NULL;
    r->n_prompts = 0;
}

static void
clear_sampling(struct request *r)
{
    free(r->owned.bias);
    for (size_t i = 0; r->owned.breakers && i < r->sampling.n_breakers; i++)
        free(r->owned.breakers[i]);
    free(r->owned.breakers);
    free(r->owned.samplers);
    gg_stop_free(r->owned.ban);
    free(r->owned.message);
    r->owned = (struct request_owned){ 0 };
}

static void
clear_batch(struct batch *b)
{
    if (!b)
        return;
    buffer_clear(&b->custom_id);
    buffer_clear(&b->model);
    buffer_clear(&b->warnings);
    free(b);
}

void
request_clear(struct requests *all, struct request *r)
{
    request_clear_prompts(r);
    grammars_give_back(&all->grammars, r->grammar.entry);
    r->grammar.entry = NULL;
    clear_sampling(r);
    free(r->reasoning.options.arguments);
    r->reasoning.options.arguments = NULL;
    choices_clear(&r->choices);
    free(r->scales);
    r->scales = NULL;
    buffer_clear(&r->suffix);
    free(r->tools.list);
    free(r->tools.choice);
    free(r->tools.allowed);
    r->tools = (struct request_tools){ 0 };
    clear_batch(r->batch);
    r->batch = NULL;
    gg_stop_free(r->stop);
    r->stop = NULL;
}

/* ---- seeds ---- */

/* By the finaliser of SplitMix64 (Steele, Lea, Flood 2014); 32 bits are easy to
 * type again. */
uint64_t
request_seed(uint64_t seed, uint64_t number)
{
    for (int i = 0; i < 2; i++) {
        seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
        seed ^= seed >> 31;
        seed += i ? 0 : number * UINT64_C(0x9e3779b97f4a7c15);
    }
    return seed >> 32;
}

/* ---- reading ---- */

#ifdef HAVE_JANSSON

/* The object's members, or those of a batch's body. */
static enum gg_status
read_members(struct requests *all, struct request *r,
             const struct record_object *object, struct gg_error *err)
{
    enum gg_status st = request_read_options(all, r, object, err);

    bool messages = record_object_find(object, "messages") != NULL;

    if (st == GG_OK && r->batch)
        st = batch_check(r, &object->value, err);
    if (st == GG_OK)
        st = request_check_likely(r, messages, err);
    return st == GG_OK ? request_read_prompts(r, object, err) : st;
}

enum gg_status
request_read(struct requests *all, struct request *r,
             const struct record_object *object, struct gg_error *err)
{
    struct record_object body;
    enum gg_status st;

    r->sampling.params.seed = request_seed(r->sampling.params.seed, r->number);
    if (!batch_is(&object->value))
        return read_members(all, r, object, err);
    st = batch_open(r, object, &body, err);
    if (st == GG_OK)
        st = batch_has_vectors(r->batch) ? batch_read_vectors(r, &body, err)
                                         : read_members(all, r, &body, err);
    record_object_close(&body);
    return st;
}

/* ---- an earlier run's ---- */

bool
request_matches_seed(const struct requests *all, uint64_t number,
                     const struct record_value *asked,
                     const struct record_value *answered)
{
    const struct sampling_options *s = all->sampling;
    const json_t *seed = json_object_get(answered->json, "seed");

    return !seed || !s->has_seed ||
           json_is_number(json_object_get(asked->json, "seed")) ||
           json_number_value(seed) ==
               (double)request_seed(s->params.seed, number);
}

#endif
