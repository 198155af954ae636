/* talk.c - what one question and its answer leave of a conversation */
#include <config.h>

#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "common/terminal.h"
#include "gg-generate/interactive.h"
#include "gg-generate/media.h"

void
talk_tell(const struct talk *t, const char *fmt, ...)
{
    va_list ap;

    if (!t->in.prompt)
        return;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

void
talk_fail(struct talk *t, const char *fmt, ...)
{
    char text[sizeof(((struct gg_error *)0)->message)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    cli_warn("%s", text);
    t->g->cut = t->g->cut || !t->in.prompt;
}

/* The question is none, and its answer is empty. */
static void
drop_question(struct talk *t)
{
    struct gg_error unused;

    if (!t->n_turns)
        return;
    if (turns_back(t, false, &unused) != GG_OK)
        chat_truncate(&t->g->source.chat, t->turns[t->n_turns - 1].n_messages);
    turns_pop(t);
}

static void
add_answer(struct talk *t)
{
    const struct answer *a = &t->g->answer;
    struct chat *chat = &t->g->source.chat;

    tools_add_answer(t->g, chat, a);
    if (!a->reasoning.len)
        return;
    if (!a->tool_calls.len)
        chat_thought(chat, a->reasoning.p, a->reasoning.len);
    t->thought = true;
}

/* Reasoning stands where the template puts it once another question follows,
 * mostly nowhere: all is rendered anew, if all is known. */
static void
leave_thoughts(struct talk *t)
{
    struct gg_error err;

    if (t->thought && !t->hidden)
        cli_check(turns_start_anew(t, &err), &err);
    t->thought = false;
}

bool
talk_end_answer(struct talk *t, bool heard)
{
    struct generate *g = t->g;
    struct prompt_source *s = &g->source;

    if (heard) {
        add_answer(t);
        s->done = s->chat.n;
    } else {
        drop_question(t);
        g->cut = g->cut || !t->in.prompt;
    }
    s->goes_on = false;
    terminal_write("\n", 1, false);
    cli_flush();
    if (t->in.terminal && cli_signal() == SIGINT)
        cli_forget_signal();
    return !cli_signal();
}

bool
talk_answer(struct talk *t)
{
    struct prompt prompt = { 0 };
    struct gg_error err;
    enum gg_status st;
    bool more;

    leave_thoughts(t);
    st = generate_turn_prompt(t->g, &prompt, &err);
    if (st != GG_OK && !t->in.commands)
        cli_die("%s", err.message);
    if (st != GG_OK)
        talk_fail(t, "%s", err.message);
    more = talk_end_answer(t, st == GG_OK && generate_answer(t->g, &prompt));
    prompt_clear(&prompt);
    return more;
}

bool
talk_say(struct talk *t, const char *text, size_t len)
{
    struct chat *chat = &t->g->source.chat;
    struct gg_error err;

    buffer_add(&t->before, text, len);
    turns_push(t, chat->n, 1);
    chat_append(chat, GG_ROLE_USER, t->before.p, t->before.len);
    if (t->g->medium == 0) /* they go with the first question */
        cli_check(generate_media_take(t->g, &t->g->source, &err), &err);
    t->before.len = 0;
    if (talk_place_media(t, &err) == GG_OK)
        return talk_answer(t);
    talk_fail(t, "%s", err.message);
    return talk_end_answer(t, false);
}
