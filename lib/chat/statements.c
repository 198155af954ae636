/* statements.c - running the statements of a template */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "chat/evaluate.h"
#include "chat/text.h"

/* ---- output -------------------------------------------------------------- */

struct chat_value
chat_capture(struct chat_run *r, const struct chat_node *n)
{
    struct chat_builder *out = r->out, b = { .r = r };

    r->out = &b;
    chat_execute(r, n);
    r->out = out;
    return chat_built(&b);
}

/* The output of a body, through filters. */
static struct chat_value
filtered(struct chat_run *r, const struct chat_node *filters,
         const struct chat_node *body)
{
    struct chat_value before = r->captured, v;

    chat_enter(r);
    v = chat_capture(r, body);
    chat_leave(r);
    r->captured = v;
    if (!chat_failed(r))
        v = chat_evaluate(r, filters);
    r->captured = before;
    return v;
}

/* ---- set ----------------------------------------------------------------- */

static void
assign_attribute(struct chat_run *r, const struct chat_node *target,
                 struct chat_value v)
{
    struct chat_value of = chat_evaluate(r, target->a), key;

    if (!chat_failed(r) && of.type != CHAT_NAMESPACE)
        chat_fail(r, "%s is no namespace, and nothing can be assigned to it",
                  target->a->name);
    if (chat_failed(r))
        return;
    key = chat_words(r, target->name);
    if (!chat_failed(r))
        chat_set(r, of, key, v);
}

static void
assign_parts(struct chat_run *r, const struct chat_node *target,
             struct chat_value v)
{
    const struct chat_node *t = target->a;
    struct chat_value parts = chat_iterate(r, v);
    size_t i = 0;

    for (; t && !chat_failed(r) && i < parts.list->n; t = t->next)
        chat_assign_to(r, t, parts.list->items[i++]);
    if (!chat_failed(r) && (t || i < parts.list->n))
        chat_fail(r, "%zu values are not as many as the names for them",
                  parts.list->n);
}

void
chat_assign_to(struct chat_run *r, const struct chat_node *target,
               struct chat_value v)
{
    if (!chat_down(r, target))
        return;
    if (target->type == CHAT_NODE_NAME)
        chat_assign(r, target->name, v);
    else if (target->type == CHAT_NODE_ATTRIBUTE)
        assign_attribute(r, target, v);
    else
        assign_parts(r, target, v);
    chat_up(r);
}

/* ---- for ----------------------------------------------------------------- */

/* The items for which the loop's condition holds. */
static struct chat_value
chosen(struct chat_run *r, const struct chat_node *n, struct chat_value items)
{
    struct chat_value out;

    if (!n->e || chat_failed(r))
        return items;
    out = chat_new_list(r, CHAT_LIST);
    for (size_t i = 0; !chat_failed(r) && i < items.list->n; i++) {
        chat_enter(r);
        chat_assign_to(r, n->a, items.list->items[i]);
        if (chat_truth(chat_evaluate(r, n->e)))
            chat_run_add(r, out, items.list->items[i]);
        chat_leave(r);
    }
    return out;
}

static void
run_body(struct chat_run *r, const struct chat_node *n, struct chat_loop *loop,
         const char *name)
{
    chat_enter(r);
    if (name)
        chat_assign(r, name,
                    (struct chat_value){ .type = CHAT_LOOP, .loop = loop });
    if (!chat_failed(r))
        chat_assign_to(r, n->a, loop->items->items[loop->at]);
    chat_execute(r, n->c);
    chat_leave(r);
}

/* Whether the end of the body was reached, once at least. */
static bool
run_loop(struct chat_run *r, const struct chat_node *n, struct chat_value items,
         unsigned depth)
{
    struct chat_loop *loop = chat_alloc(r, sizeof(*loop));
    bool ended = false;

    if (!loop)
        return false;
    *loop = (struct chat_loop){ .node = n->op ? n : NULL,
                                .items = items.list,
                                .depth = depth,
                                .scope = r->scope };
    for (; loop->at < items.list->n && !chat_failed(r); loop->at++) {
        run_body(r, n, loop, n->name);
        if (r->jump == CHAT_BREAK)
            break;
        ended = ended || r->jump == CHAT_GO_ON;
        r->jump = CHAT_GO_ON;
    }
    r->jump = CHAT_GO_ON;
    return ended;
}

/* Jinja runs what follows else where no item went through the whole body. */
static void
run_for(struct chat_run *r, const struct chat_node *n, struct chat_value over,
        unsigned depth)
{
    struct chat_value items = chosen(r, n, chat_iterate(r, over));

    if (chat_failed(r) || run_loop(r, n, items, depth) || !n->d)
        return;
    chat_enter(r);
    chat_execute(r, n->d);
    chat_leave(r);
}

struct chat_value
chat_loop_again(struct chat_run *r, struct chat_loop *loop,
                struct chat_value items)
{
    struct chat_builder *out = r->out, b = { .r = r };
    struct chat_scope *scope = r->scope;

    if (!loop->node)
        return chat_fail(r, "the loop is not recursive, and calls itself");
    r->out = &b;
    r->scope = loop->scope;
    if (chat_down(r, loop->node)) {
        run_for(r, loop->node, items, loop->depth + 1);
        chat_up(r);
    }
    r->out = out;
    r->scope = scope;
    return chat_built(&b);
}

/* ---- others -------------------------------------------------------------- */

static void
run_if(struct chat_run *r, const struct chat_node *n)
{
    bool holds = chat_truth(chat_evaluate(r, n->a));

    if (!chat_failed(r))
        chat_execute(r, holds ? n->b : n->c);
}

static void
run_with(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value values = chat_new_list(r, CHAT_LIST);
    size_t i = 0;

    for (const struct chat_node *s = n->a; s && !chat_failed(r); s = s->next)
        chat_run_add(r, values, chat_evaluate(r, s->b));
    chat_enter(r);
    for (const struct chat_node *s = n->a; s && !chat_failed(r); s = s->next)
        chat_assign_to(r, s->a, values.list->items[i++]);
    chat_execute(r, n->c);
    chat_leave(r);
}

static void
run_block(struct chat_run *r, const struct chat_node *n)
{
    chat_enter(r);
    chat_execute(r, n->c);
    chat_leave(r);
}

static void
run_call(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value v = chat_call_node(r, n->b, chat_macro(r, n->a));

    if (!chat_failed(r))
        chat_put_value(r->out, v);
}

static void
print(struct chat_run *r, struct chat_value v)
{
    if (!chat_failed(r))
        chat_put_value(r->out, v);
}

static void
execute(struct chat_run *r, const struct chat_node *n)
{
    switch (n->type) {
    case CHAT_NODE_TEXT:
        chat_put_string(r->out, n->value.string);
        break;
    case CHAT_NODE_PRINT:
        print(r, chat_evaluate(r, n->a));
        break;
    case CHAT_NODE_IF:
        run_if(r, n);
        break;
    case CHAT_NODE_FOR:
        run_for(r, n, chat_evaluate(r, n->b), 1);
        break;
    case CHAT_NODE_SET:
        chat_assign_to(r, n->a, chat_evaluate(r, n->b));
        break;
    case CHAT_NODE_SET_BLOCK:
        chat_assign_to(r, n->a, filtered(r, n->b, n->c));
        break;
    case CHAT_NODE_FILTER_BLOCK:
        print(r, filtered(r, n->b, n->c));
        break;
    case CHAT_NODE_MACRO:
        chat_assign(r, n->name, chat_macro(r, n));
        break;
    case CHAT_NODE_CALL_BLOCK:
        run_call(r, n);
        break;
    case CHAT_NODE_WITH:
        run_with(r, n);
        break;
    case CHAT_NODE_BLOCK:
        run_block(r, n);
        break;
    case CHAT_NODE_GENERATION:
        chat_execute(r, n->c);
        break;
    default:
        r->jump = n->type == CHAT_NODE_BREAK ? CHAT_BREAK : CHAT_CONTINUE;
    }
}

void
chat_execute(struct chat_run *r, const struct chat_node *n)
{
    for (; n && r->jump == CHAT_GO_ON && chat_down(r, n); n = n->next) {
        execute(r, n);
        chat_up(r);
    }
}
