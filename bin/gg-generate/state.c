/* state.c - an answer that goes on from a state, and leaves one */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gg-generate/generate.h"

/* The sequence becomes the answer's context; what it has pending, its tail. */
static void
take_sequence(struct generate *g, const struct gg_state_sequence *q)
{
    struct answer *a = &g->answer;
    bool tail = q->n_pending > 0;

    a->n_ids = q->n_ids - tail;
    a->ids_cap = q->n_ids;
    a->ids = cli_alloc(a->ids, a->ids_cap, sizeof(*a->ids));
    memcpy(a->ids, q->ids, q->n_ids * sizeof(*a->ids));
    a->n_dropped = q->n_dropped;
    a->tail = tail ? q->ids[q->n_ids - 1] : -1;
    (void)gg_session_load(g->engine.session, a->slot, g->state.file, 0);
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
        cli_die("%s: its sequences have numbers: gg-eval goes on with them",
                name);
    if (state->chat && !g->o->chat)
        cli_die("%s: it holds a conversation: --chat %s with it", name,
                g->o->form == FORM_TEXT ? "or -i goes on" : "goes on");
    if (!state->chat && g->o->chat)
        cli_die("%s: it holds a text, not a conversation", name);
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
        g->answer.has_mirostat = state->has_mirostat;
        g->answer.mirostat = state->mirostat;
    }
    state_loaded(&g->state);
}

/* What the file has no keys of is evaluated. */
static void
hold_all(struct generate *g, int32_t slot)
{
    struct gg_session *session = g->engine.session;
    size_t held = (size_t)gg_session_length(session, slot);
    struct gg_chunk chunk = { .slot = slot,
                              .ids = g->base.ids + held,
                              .n = g->base.n - held };
    struct gg_error err;
    enum gg_status st = GG_OK;

    if (chunk.n)
        st = gg_session_eval(session, &chunk, 1, &err);
    if (st == GG_ERR_ABORTED && cli_signal())
        cli_raise(cli_signal());
    cli_check(st, &err);
}

void
generate_load_base(struct generate *g)
{
    const struct gg_state *state = open_state(g);
    int32_t slot = g->engine.n_slots - 1;

    if (state) {
        const struct gg_state_sequence *q = state->sequences;

        g->base = (struct base){ .n = q->n_ids,
                                 .n_dropped = q->n_dropped,
                                 .has_mirostat = state->has_mirostat,
                                 .mirostat = state->mirostat };
        g->base.ids = cli_alloc(NULL, q->n_ids, sizeof(*q->ids));
        memcpy(g->base.ids, q->ids, q->n_ids * sizeof(*q->ids));
        (void)gg_session_load(g->engine.session, slot, g->state.file, 0);
        hold_all(g, slot);
    }
    state_loaded(&g->state);
}

/* The ids to draw from again: those of the tail, or none, and the session has
 * to evaluate the last one once more. */
int32_t *
generate_resume(struct generate *g, size_t *n)
{
    struct answer *a = &g->answer;
    int32_t *ids = cli_alloc(NULL, 1, sizeof(*ids));

    *n = a->tail >= 0;
    ids[0] = a->tail;
    g->resumed = true;
    if (*n == 0)
        gg_session_truncate(g->engine.session, a->slot, (int32_t)a->n_ids - 1);
    return ids;
}

void
generate_save(struct generate *g)
{
    const struct options *o = g->o;
    struct answer *a = &g->answer;
    struct gg_state_sequence q = {
        .n_dropped = a->n_dropped,
        .n_ids = a->n_ids + (a->tail >= 0),
        .n_pending = a->tail >= 0,
        .n_held = (size_t)gg_session_length(g->engine.session, a->slot),
        .slot = a->slot,
    };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    int32_t *ids;

    if (!state_saves(&g->state) || !g->heard)
        return;
    ids = cli_alloc(NULL, q.n_ids, sizeof(*ids));
    memcpy(ids, a->ids, a->n_ids * sizeof(*ids));
    if (a->tail >= 0)
        ids[a->n_ids] = a->tail;
    q.ids = ids;
    if (o->chat)
        state.chat = gg_chat_name(o->template);
    if (o->sampling.params.mirostat && a->history) {
        state.has_mirostat = true;
        state.mirostat = gg_history_mirostat(a->history);
    }
    state_save(&g->state, g->engine.session, &state);
    free(ids);
}
