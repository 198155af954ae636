/* evaluate.h - running a template's tree */
#ifndef CHAT_EVALUATE_H
#define CHAT_EVALUATE_H

#include "chat/builtin.h"
#include "chat/node.h"

/* The value of an expression. */
struct chat_value
chat_evaluate(struct chat_run *r, const struct chat_node *n);

/* Runs statements; their output goes to r->out. */
void
chat_execute(struct chat_run *r, const struct chat_node *n);
/* Runs statements and returns their output; r->out stays as it is. */
struct chat_value
chat_capture(struct chat_run *r, const struct chat_node *n);

/* Gives a value to a name, to a tuple of names, to a namespace's name. */
void
chat_assign_to(struct chat_run *r, const struct chat_node *target,
               struct chat_value v);

/* The macro of a MACRO node, defined in the scope of now. */
struct chat_value
chat_macro(struct chat_run *r, const struct chat_node *n);
/* Calls the value of a CALL node; `caller` is an argument more, if any. */
struct chat_value
chat_call_node(struct chat_run *r, const struct chat_node *n,
               struct chat_value caller);

/* The `loop` that a loop's body sees. */
struct chat_loop {
    const struct chat_node *node; /* of a loop that can call itself */
    const struct chat_list *items;
    size_t at; /* the item of now */
    unsigned depth;
    struct chat_scope *scope;  /* outside of the loop */
    struct chat_value changed; /* what loop.changed() saw last */
};

struct chat_value
chat_loop_attribute(struct chat_run *r, struct chat_loop *loop,
                    const char *name);
/* loop(items) in a recursive loop. */
struct chat_value
chat_loop_again(struct chat_run *r, struct chat_loop *loop,
                struct chat_value items);

/* False, and a failure, where the tree or its macros go too deep; else
 * chat_up(). Takes a step. */
bool
chat_down(struct chat_run *r, const struct chat_node *n);
void
chat_up(struct chat_run *r);

#endif
