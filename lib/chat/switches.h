/* switches.h - what a template reads of thoughts, and of results of tools */
#ifndef CHAT_SWITCHES_H
#define CHAT_SWITCHES_H

#include "chat/template.h"

/* Gives thoughts, which messages have as reasoning_content, the name or the
 * place by which the template reads them. False: no memory. */
bool
chat_place_thoughts(const struct chat_template *t, struct chat_list *messages,
                    struct chat_arena *a);

/* Whether the template's maker has results in the order of their calls,
 * whatever order they came in; results.c: puts them so. */
bool
chat_orders_results(const struct chat_template *t);
void
chat_order_results(struct chat_list *messages);

#endif
