/* state.c - an answer that goes on from a state, and leaves one */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gg-generate/generate.h"

/* The sequence becomes the answer's context; what it has pending, its tail. */
static void
take_sequence(struct generate *g, const struct gg_state_sequence *q)
{
    struct answer *a = &g->answer;
    struct gg_error err;

    cli_check(gg_sequence_load(a->sequence, g->state.file, 0, &err), &err);
    if (q->n_pending == 0)
        return;
    a->tail = q->ids[q->n_ids - 1];
    gg_sequence_truncate(a->sequence, q->n_ids - 1);
}

/* A conversation goes on after its last answer, whatever was said before;
 * records have conversations of their own. */
static void
take_chat(struct generate *g, const char *name)
{
    struct options *o = g->o;
    const struct gg_chat_template *t = gg_chat_find(name);
    char shown[300];

    if (!t)
        cli_die("%s: the chat template %s is not known", state_name(&g->state),
                gg_escape(shown, sizeof(shown), name, strlen(name)));
    if (o->template && o->template != t)
        cli_die("%s: the conversation has the template %s, not %s",
                state_name(&g->state), name, gg_chat_name(o->template));
    o->template = t;
    chat_add(&g->chat, GG_ROLE_ASSISTANT, NULL, 0);
    g->done = 1;
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
        take_chat(g, state->chat);
    g->loaded = true;
    return state;
}

void
generate_load(struct generate *g)
{
    const struct gg_state *state = open_state(g);

    if (state) {
        take_sequence(g, state->sequences);
        g->has_mirostat = state->has_mirostat;
        g->mirostat = state->mirostat;
    }
    state_loaded(&g->state);
}

/* What the file has no keys of is evaluated. */
static void
hold_all(struct generate *g)
{
    struct gg_query query = { .sequence = g->base.sequence };
    struct gg_error err;
    enum gg_status st = gg_engine_eval(g->gg, &query, 1, &err);

    if (st == GG_ERR_ABORTED && cli_signal())
        cli_raise(cli_signal());
    cli_check(st, &err);
    gg_sequence_keep(g->base.sequence, true);
}

void
generate_load_base(struct generate *g)
{
    const struct gg_state *state = open_state(g);
    struct gg_error err;

    if (state) {
        g->base.has_mirostat = state->has_mirostat;
        g->base.mirostat = state->mirostat;
        cli_check(gg_sequence_new(g->gg, &g->base.sequence, &err), &err);
        cli_check(gg_sequence_load(g->base.sequence, g->state.file, 0, &err),
                  &err);
        hold_all(g);
    }
    state_loaded(&g->state);
}

enum gg_status
generate_new_sequence(const struct generate *g, struct gg_sequence **out,
                      struct gg_error *err)
{
    return g->base.sequence ? gg_sequence_copy(g->base.sequence, out, err)
                            : gg_sequence_new(g->gg, out, err);
}

/* The ids to draw from again: those of the tail, or none, and the last one is
 * evaluated once more. */
int32_t *
generate_resume(struct generate *g, size_t *n)
{
    int32_t *ids = cli_alloc(NULL, 1, sizeof(*ids));

    *n = g->answer.tail >= 0;
    ids[0] = g->answer.tail;
    g->resumed = true;
    return ids;
}

static void
add_mirostat(const struct generate *g, struct gg_state *state)
{
    const struct answer *a = &g->answer;

    if (!g->o->sampling.params.mirostat || !a->made)
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
    q = gg_sequence_state(a->sequence);
    q.n_pending = a->tail >= 0;
    ids = cli_alloc(NULL, q.n_ids + 1, sizeof(*ids));
    memcpy(ids, q.ids, q.n_ids * sizeof(*ids));
    ids[q.n_ids] = a->tail;
    q.n_ids += q.n_pending;
    q.ids = ids;
    if (g->o->chat)
        state.chat = gg_chat_name(g->o->template);
    add_mirostat(g, &state);
    state_save(&g->state, g->engine.session, &state);
    free(ids);
}
