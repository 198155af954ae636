/* switches.c - what a template reads of thoughts: variables that switch them,
 * members of messages that hold them */
#include <config.h>

#include "chat/switches.h"

#include <string.h>

#include "chat/known.h"
#include "chat/node.h"
#include "vocab/chat.h"

/* ---- the tree ------------------------------------------------------------ */

/* The thing that is looked for. */
struct wanted {
    enum {
        VARIABLE, /* a name */
        MEMBER,   /* of a value: .name, ['name'], .get('name') */
        LITERAL,  /* a string anywhere */
        EQUAL,    /* a string that something is compared with */
    } what;
    const char *name;
};

static bool
is_string(const struct chat_node *n, const char *s)
{
    return n && n->type == CHAT_NODE_CONSTANT && n->value.type == CHAT_STRING &&
           chat_is(n->value.string, s);
}

static bool
is_name(const struct chat_node *n, const char *s)
{
    return n->name && strcmp(n->name, s) == 0;
}

static bool
is_wanted(const struct chat_node *n, const struct wanted *w)
{
    switch (w->what) {
    case VARIABLE:
        return n->type == CHAT_NODE_NAME && is_name(n, w->name);
    case MEMBER:
        return (n->type == CHAT_NODE_ATTRIBUTE && is_name(n, w->name)) ||
               (n->type == CHAT_NODE_ITEM && is_string(n->b, w->name)) ||
               (n->type == CHAT_NODE_ARGUMENT && is_string(n->a, w->name));
    case EQUAL:
        return n->type == CHAT_NODE_OPERAND && n->op == CHAT_OP_EQUAL &&
               is_string(n->a, w->name);
    default:
        return is_string(n, w->name);
    }
}

static bool
has(const struct chat_node *n, const struct wanted *w)
{
    for (; n; n = n->next)
        if (is_wanted(n, w) || has(n->a, w) || has(n->b, w) || has(n->c, w) ||
            has(n->d, w) || has(n->e, w))
            return true;
    return false;
}

static bool
finds(const struct chat_template *t, int what, const char *name)
{
    const struct wanted w = { what, name };

    return has(chat_template_tree(t), &w);
}

/* ---- switches ------------------------------------------------------------ */

/* In the order in which they count. */
static const struct {
    const char *name, *literal; /* a value that the template knows, or NULL */
    const char *on, *off;
} switches[] = {
    { "enable_thinking", NULL, "{\"enable_thinking\":true}",
      "{\"enable_thinking\":false}" },
    { "thinking", NULL, "{\"thinking\":true}", "{\"thinking\":false}" },
    { "thinking_mode", "disabled", "{\"thinking_mode\":\"enabled\"}",
      "{\"thinking_mode\":\"disabled\"}" },
    { "thinking_budget", NULL, "{\"thinking_budget\":-1}",
      "{\"thinking_budget\":0}" },
    { "reasoning_effort", "no_think", "{\"reasoning_effort\":\"high\"}",
      "{\"reasoning_effort\":\"no_think\"}" },
    { "reasoning_effort", "none", "{\"reasoning_effort\":\"high\"}",
      "{\"reasoning_effort\":\"none\"}" },
    { "reasoning_effort", "minimal", "{\"reasoning_effort\":\"high\"}",
      "{\"reasoning_effort\":\"minimal\"}" },
};

const char *
gg_chat_reasoning(const struct gg_chat_template *t, bool on)
{
    size_t n = sizeof(switches) / sizeof(switches[0]);

    for (size_t i = 0; t && t->jinja && i < n; i++)
        if (finds(t->jinja, VARIABLE, switches[i].name) &&
            (!switches[i].literal ||
             finds(t->jinja, LITERAL, switches[i].literal)))
            return on ? switches[i].on : switches[i].off;
    return NULL;
}

bool
gg_chat_reads(const struct gg_chat_template *t, const char *name)
{
    if (!t || !name)
        return false;
    return t->jinja ? finds(t->jinja, VARIABLE, name)
                    : strcmp(name, "tools") == 0 && chat_known_has_tools(t);
}

/* DeepSeek V4: no ids tell which result is whose. */
bool
chat_orders_results(const struct chat_template *t)
{
    return finds(t, LITERAL, "｜DSML｜") && finds(t, LITERAL, "<tool_result>");
}

/* ---- thoughts in messages ------------------------------------------------ */

#define THOUGHT "reasoning_content"

static bool
put(struct chat_arena *a, struct chat_dict *d, const char *name,
    struct chat_value v)
{
    const struct chat_value key = chat_string(a, name, strlen(name), CHAT_TEXT);

    return key.type != CHAT_ABSENT && chat_dict_set(a, d, key, v);
}

static bool
add_part(struct chat_arena *a, struct chat_list *list, const char *type,
         struct chat_value text)
{
    struct chat_value part = chat_dict(a, CHAT_DICT);

    return part.type != CHAT_ABSENT &&
           put(a, part.dict, "type",
               chat_string(a, type, strlen(type), CHAT_TEXT)) &&
           put(a, part.dict, type, text) && chat_list_add(a, list, part);
}

/* The thought becomes the first part of the content. */
static bool
set_parts(struct chat_arena *a, struct chat_dict *m, struct chat_value thought)
{
    const struct chat_value *content = chat_dict_find(m, "content", 7);
    struct chat_value list;

    if (content && content->type != CHAT_STRING && content->type != CHAT_NONE)
        return true;
    list = chat_list(a, CHAT_LIST);
    if (list.type == CHAT_ABSENT ||
        !add_part(a, list.list, "thinking", thought))
        return false;
    if (content && content->type == CHAT_STRING && content->string->n &&
        !add_part(a, list.list, "text", *content))
        return false;
    return put(a, m, "content", list);
}

/* The name under which the template reads thoughts; NULL: none, or `parts`. */
static const char *
name_of_thoughts(const struct chat_template *t, bool *parts)
{
    static const char *const names[] = { "reasoning", "thinking", "thought" };

    *parts = finds(t, EQUAL, "thinking");
    for (size_t i = 0; !*parts && i < sizeof(names) / sizeof(names[0]); i++)
        if (finds(t, MEMBER, names[i]))
            return names[i];
    return NULL;
}

static bool
has_thought(struct chat_value message, struct chat_value *thought)
{
    const struct chat_value *v =
        message.type == CHAT_DICT
            ? chat_dict_find(message.dict, THOUGHT, strlen(THOUGHT))
            : NULL;

    if (!v || v->type != CHAT_STRING)
        return false;
    *thought = *v;
    return true;
}

bool
chat_place_thoughts(const struct chat_template *t, struct chat_list *messages,
                    struct chat_arena *a)
{
    bool looked = false, parts = false, done = true;
    const char *name = NULL;

    for (size_t i = 0; done && i < messages->n; i++) {
        struct chat_value m = messages->items[i], thought;

        if (!has_thought(m, &thought))
            continue;
        if (!looked && finds(t, MEMBER, THOUGHT))
            return true;
        if (!looked)
            name = name_of_thoughts(t, &parts);
        looked = true;
        if (parts)
            done = set_parts(a, m.dict, thought);
        else if (name && !chat_dict_find(m.dict, name, strlen(name)))
            done = put(a, m.dict, name, thought);
    }
    return done;
}
