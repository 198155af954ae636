/* state.c - sequences that go on from a state, and are left in one */
#include <config.h>

#include "gg-eval/state.h"

#include <stdlib.h>

/* ---- loading ------------------------------------------------------------ */

static void
take_sequence(struct state *s, struct evaluate *e, size_t i)
{
    const struct gg_state *state = gg_state_get(s->file);
    struct sequence *q =
        sequences_use(&e->sequences, state->sequences[i].number);
    struct gg_error err;

    q->loaded = true;
    q->has_mirostat = state->has_mirostat;
    q->mirostat = state->mirostat;
    cli_check(gg_sequence_load(q->its, s->file, i, &err), &err);
    sequences_changed(&e->sequences, q);
}

void
state_take(struct state *s, struct evaluate *e)
{
    const struct gg_state *state = state_load(s, e->engine->session);
    size_t n_ids = 0;

    for (size_t i = 0; state && i < state->n_forgotten; i++)
        number_set_append(&e->sequences.forgotten, state->forgotten[i].first,
                          state->forgotten[i].last);
    for (size_t i = 0; state && i < state->n_sequences; i++) {
        take_sequence(s, e, i);
        n_ids += state->sequences[i].n_ids;
    }
    if (state) {
        if (state->n_sequences || state->n_forgotten)
            e->loaded = state_name(s);
        e->numbered = state->numbered;
        if (e->engine->verbose)
            cli_warn("%s: %zu ids of %zu sequence%s", state_name(s), n_ids,
                     state->n_sequences, state->n_sequences == 1 ? "" : "s");
    }
    output_set_sampling(e->output, state_sampling(s, e->engine->vocab));
    state_loaded(s);
}

/* ---- saving ------------------------------------------------------------- */

static size_t
list_sequences(const struct sequences *s, struct gg_state *state,
               struct gg_state_sequence *list)
{
    size_t n = 0;

    for (const struct numbered *p = s->table.oldest; p; p = p->newer) {
        const struct sequence *q = (const struct sequence *)p;

        list[n] = gg_sequence_state(q->its);
        if (list[n].n_ids == 0) /* its first chunk was refused */
            continue;
        list[n++].number = p->number;
        state->has_mirostat = q->has_mirostat;
        state->mirostat = q->mirostat;
    }
    return n;
}

void
state_leave(struct state *s, const struct evaluate *e)
{
    const struct number_set *gone = &e->sequences.forgotten;
    struct gg_state_sequence *list;
    struct gg_state state = { .numbered = e->numbered,
                              .n_forgotten = gone->n,
                              .forgotten = gone->list };

    if (!state_saves(s))
        return;
    list = cli_alloc(NULL, e->sequences.table.n, sizeof(*list));
    state.n_sequences = list_sequences(&e->sequences, &state, list);
    state.sequences = list;
    state.sampling = state_sampling(s, e->engine->vocab);
    state_save(s, e->engine->session, &state);
    free(list);
}
