/* interactive.c - a conversation, line by line */
#include <config.h>

#include "gg-generate/interactive.h"

/* The prompt that the options name. */
static bool
answer_first(struct talk *t, struct prompt *first)
{
    struct chat *chat = &t->g->source.chat;
    size_t n = chat->n;
    bool asked = n && chat->messages[n - 1].role == GG_ROLE_USER;
    bool more;

    if (asked)
        turns_push(t, n - 1, 1);
    more = talk_end_answer(t, generate_answer(t->g, first));
    prompt_clear(first);
    return more;
}

/* A message, or a command. False: the conversation ends. */
static bool
take(struct talk *t)
{
    struct input *in = &t->in;
    const char *text = in->text.p;
    size_t n = in->text.len, slash = 0;

    if (in->commands && !in->is_block && n && *text == '/') {
        if (n == 1 || text[1] != '/') {
            buffer_char(&in->text, '\0');
            return command_run(t, in->text.p);
        }
        slash = 1;
    }
    return talk_say(t, text + slash, n - slash);
}

void
generate_interactive(struct generate *g, struct prompt *first)
{
    struct talk t = { .g = g, .hidden = g->loaded };
    bool more = true;

    input_open(&t.in, g->o->commands);
    if (!g->o->engine.quiet)
        talk_tell(&t, "/help lists the commands; ^D ends.");
    g->gentle = t.in.commands;
    if (first->n || first->goes_on)
        more = answer_first(&t, first);
    else
        prompt_source_begin(g, &g->source);
    while (more && input_ask(&t.in, t.before.len > 0 || t.n_media))
        more = take(&t);
    turns_clear(&t);
    buffer_clear(&t.before);
    talk_drop_media(&t);
    input_close(&t.in);
}
