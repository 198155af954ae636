/* state.c - an answer that goes on from a state, and leaves one */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gg-generate/generate.h"

/* gg_chat_name()'s name for templates in Jinja. */
#define JINJA "jinja"

static void
take_template(struct generate *g, const char *name)
{
    struct options *o = g->o;
    const struct gg_chat_template *t = gg_chat_find(name);
    char shown[300];

    if (strcmp(name, JINJA) == 0) {
        if (o->template && chat_is_known(o->template))
            cli_die("%s: the conversation has a template in Jinja, not %s",
                    state_name(&g->state), gg_chat_name(o->template));
        return; /* the model's, or a file's */
    }
    if (!t)
        cli_die("%s: the chat template %s is not known", state_name(&g->state),
                gg_escape(shown, sizeof(shown), name, strlen(name)));
    if (o->template && o->template != t)
        cli_die("%s: the conversation has the template %s, not %s",
                state_name(&g->state), name, gg_chat_name(o->template));
    o->template = t;
}

/* The state with its one sequence; NULL: there is none. */
static const struct gg_state *
open_state(struct generate *g)
{
    const struct gg_state *state = state_load(&g->state, g->engine.session);
    const char *name = state_name(&g->state);

    if (!state || state->n_sequences == 0)
        return NULL;
    if (state->numbered)
        cli_die(
            "%s: its sequences have numbers, and only gg-eval continues them",
            name);
    if (state->chat && !g->o->chat)
        cli_die("%s: it is of a conversation: continue it with --chat%s", name,
                g->o->form == FORM_TEXT ? " or -i" : "");
    if (!state->chat && g->o->chat)
        cli_die("%s: it is of a text, not a conversation", name);
    if (state->chat)
        take_template(g, state->chat);
    if (!g->date)
        g->date = state->date;
    g->loaded = true;
    return state;
}

void
generate_load(struct generate *g)
{
    const struct gg_state *state = open_state(g);
    struct base *b = &g->base;
    struct gg_error err;

    if (state) {
        cli_check(gg_sequence_new(g->engine.gg, &b->sequence, &err), &err);
        cli_check(gg_sequence_load(b->sequence, g->state.file, 0, &err), &err);
        b->is_pending = state->sequences->n_pending > 0;
        b->has_mirostat = state->has_mirostat;
        b->mirostat = state->mirostat;
    }
    state_loaded(&g->state);
}

/* Ids of which the file has no keys are evaluated. */
void
generate_hold_base(struct generate *g)
{
    struct gg_query query = { .sequence = g->base.sequence };
    struct gg_error err;

    if (!query.sequence)
        return;
    (void)cli_finished(gg_engine_eval(g->engine.gg, &query, 1, &err), &err);
    gg_sequence_keep(query.sequence, true);
}

void
generate_take_base(struct generate *g)
{
    struct answer *a = &g->answer;
    const int32_t *ids;
    struct gg_error err;
    size_t n;

    if (!g->base.sequence)
        cli_check(gg_sequence_new(g->engine.gg, &g->base.sequence, &err), &err);
    a->sequence = g->base.sequence;
    g->base.sequence = NULL;
    if (!g->base.is_pending)
        return;
    ids = gg_sequence_ids(a->sequence, &n);
    a->tail = ids[n - 1];
    gg_sequence_truncate(a->sequence, n - 1);
}

enum gg_status
generate_new_sequence(const struct generate *g, struct gg_sequence **out,
                      struct gg_error *err)
{
    return g->base.sequence ? gg_sequence_copy(g->base.sequence, out, err)
                            : gg_sequence_new(g->engine.gg, out, err);
}

static void
add_mirostat(const struct generate *g, struct gg_state *state)
{
    const struct answer *a = &g->answer;

    if (!sampling_learns(&g->o->sampling) || !a->made)
        return;
    state->mirostat = gg_text_mirostat(a->made);
    state->has_mirostat = !isnan(state->mirostat);
}

void
generate_save(struct generate *g)
{
    struct answer *a = &g->answer;
    struct gg_state_sequence q;
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    int32_t *ids;

    if (!state_saves(&g->state) || !g->heard)
        return;
    q = gg_sequence_state(a->sequence ? a->sequence : g->base.sequence);
    q.n_pending = a->tail >= 0;
    if (q.n_ids + q.n_pending == 0) {
        cli_warn("%s: no answer is left to be saved", g->o->state.save);
        return;
    }
    ids = cli_alloc(NULL, q.n_ids + 1, sizeof(*ids));
    memcpy(ids, q.ids, q.n_ids * sizeof(*ids));
    ids[q.n_ids] = a->tail;
    q.n_ids += q.n_pending;
    q.ids = ids;
    if (g->o->chat)
        state.chat = gg_chat_name(g->o->template);
    if (g->o->chat && gg_chat_takes_date(g->o->template))
        state.date = generate_date(g);
    add_mirostat(g, &state);
    state.sampling = g->o->sampling.file.line;
    state_save(&g->state, g->engine.session, &state);
    free(ids);
}
