/* results.c - results of tools in the order of their calls */
#include <config.h>

#include "chat/switches.h"

#include <string.h>

#include "chat/messages.h"

enum {
    CALLS = 256, /* of a message that are looked at */
};

static const struct chat_string *
member_text(const struct chat_dict *d, const char *name)
{
    const struct chat_value *v = chat_dict_find(d, name, strlen(name));

    return v && v->type == CHAT_STRING ? v->string : NULL;
}

/* The calls of a message, or NULL. */
static const struct chat_list *
calls_of(struct chat_value message)
{
    const struct chat_value *v = chat_dict_find(message.dict, "tool_calls", 10);

    return v && v->type == CHAT_LIST && v->list->n > 0 ? v->list : NULL;
}

/* Which of the calls a result is of; 0 where none has its id. */
static size_t
call_number(const struct chat_list *calls, struct chat_value result)
{
    const struct chat_string *id = member_text(result.dict, "tool_call_id");
    size_t n = calls->n < CALLS ? calls->n : CALLS;

    for (size_t i = 0; id && i < n; i++) {
        const struct chat_value *call = &calls->items[i];
        const struct chat_string *s =
            call->type == CHAT_DICT ? member_text(call->dict, "id") : NULL;

        if (s && s->n == id->n && memcmp(s->s, id->s, s->n) == 0)
            return i;
    }
    return 0;
}

/* The result at `at` moves before those of later calls, down to `first`: only
 * results change places. */
static void
move_back(const struct chat_list *calls, struct chat_list *m, size_t first,
          size_t at)
{
    struct chat_value moved = m->items[at];
    size_t number = call_number(calls, moved), to = at;

    for (size_t i = at; i-- > first;) {
        if (!chat_has_role(m->items[i], "tool"))
            continue;
        if (call_number(calls, m->items[i]) <= number)
            break;
        m->items[to] = m->items[i];
        to = i;
    }
    m->items[to] = moved;
}

void
chat_order_results(struct chat_list *messages)
{
    const struct chat_list *calls = NULL;
    size_t first = 0;

    for (size_t i = 0; i < messages->n; i++) {
        struct chat_value m = messages->items[i];

        if (chat_has_role(m, "assistant")) {
            calls = calls_of(m) ? calls_of(m) : calls;
            first = i + 1;
        } else if (!chat_has_role(m, "tool") && !chat_has_role(m, "user")) {
            first = i + 1;
        } else if (calls && i - first < CALLS && chat_has_role(m, "tool")) {
            move_back(calls, messages, first, i);
        }
    }
}
