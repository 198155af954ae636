/* turns.c - the questions of a conversation, and going back to one */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gg-generate/interactive.h"

/* The one that holds the conversation; that of choices may be none. */
static struct gg_sequence **
place(struct generate *g)
{
    return g->answer.sequence ? &g->answer.sequence : &g->base.sequence;
}

/* Another answer begins with another text, which learns what is there. */
static void
forget_text(struct generate *g)
{
    struct answer *a = &g->answer;
    double mirostat = a->made ? gg_text_mirostat(a->made) : NAN;

    gg_text_free(a->made);
    a->made = NULL;
    g->base.has_mirostat = g->base.has_mirostat || !isnan(mirostat);
    if (!isnan(mirostat))
        g->base.mirostat = mirostat;
}

enum gg_status
turns_start_anew(struct talk *t, struct gg_error *err)
{
    struct generate *g = t->g;
    struct gg_sequence *new = NULL;
    enum gg_status st = gg_sequence_new(g->engine.gg, &new, err);

    if (st != GG_OK)
        return st;
    forget_text(g);
    gg_sequence_free(*place(g));
    *place(g) = new;
    g->answer.tail = -1;
    g->source.done = 0;
    return GG_OK;
}

/* ---- a turn -------------------------------------------------------------- */

static void
clear_turn(struct turn *turn)
{
    free(turn->ids);
    turn->ids = NULL;
}

static struct turn *
add_turn(struct talk *t, size_t n_messages, size_t n_asked)
{
    if (t->n_turns == t->cap_turns) {
        t->cap_turns = 2 * t->cap_turns + 8;
        t->turns = cli_alloc(t->turns, t->cap_turns, sizeof(*t->turns));
    }
    t->turns[t->n_turns] =
        (struct turn){ .n_messages = n_messages, .n_asked = n_asked };
    return &t->turns[t->n_turns++];
}

void
turns_push(struct talk *t, size_t n_messages, size_t n_asked)
{
    const struct gg_sequence *q = *place(t->g);
    struct turn *turn = add_turn(t, n_messages, n_asked);
    const int32_t *ids = gg_sequence_ids(q, &turn->n_ids);

    turn->ids = cli_alloc(NULL, turn->n_ids, sizeof(*ids));
    if (turn->n_ids)
        memcpy(turn->ids, ids, turn->n_ids * sizeof(*ids));
    turn->n_dropped = q ? gg_sequence_dropped(q) : 0;
    turn->tail = t->g->answer.tail;
    turn->done = t->g->source.done;
}

static size_t
common(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b)
{
    size_t n = 0;

    while (n < n_a && n < n_b && a[n] == b[n])
        n++;
    return n;
}

/* The sequence holds what it held before the question. */
static enum gg_status
hold_again(struct talk *t, const struct turn *turn, struct gg_error *err)
{
    struct generate *g = t->g;
    struct gg_sequence *q = *place(g);
    size_t n, same;
    const int32_t *ids = gg_sequence_ids(q, &n);
    enum gg_status st = GG_OK;

    same = common(ids, n, turn->ids, turn->n_ids);
    forget_text(g);
    gg_sequence_truncate(q, same);
    if (same < turn->n_ids)
        st = gg_sequence_put(q, turn->ids + same, turn->n_ids - same, err);
    g->answer.tail = turn->tail;
    g->source.done = turn->done;
    return st;
}

enum gg_status
turns_back(struct talk *t, bool asked, struct gg_error *err)
{
    const struct turn *turn = &t->turns[t->n_turns - 1];
    const struct gg_sequence *q = *place(t->g);
    bool there =
        turn->ids && (q ? gg_sequence_dropped(q) : 0) == turn->n_dropped;
    enum gg_status st;

    if (!there && t->hidden)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "what the state held was dropped meanwhile");
    st = there ? hold_again(t, turn, err) : turns_start_anew(t, err);
    if (st == GG_OK)
        chat_truncate(&t->g->source.chat,
                      turn->n_messages + (asked ? turn->n_asked : 0));
    return st;
}

void
turns_pop(struct talk *t)
{
    clear_turn(&t->turns[--t->n_turns]);
}

void
turns_renew(struct talk *t)
{
    const struct chat *chat = &t->g->source.chat;
    struct gg_error err;

    while (t->n_turns)
        turns_pop(t);
    for (size_t i = 0; i < chat->n; i++)
        if (chat->messages[i].role == GG_ROLE_USER)
            add_turn(t, i, 1);
    t->hidden = false;
    cli_check(turns_start_anew(t, &err), &err);
}

void
turns_clear(struct talk *t)
{
    while (t->n_turns)
        turns_pop(t);
    free(t->turns);
    t->turns = NULL;
}
