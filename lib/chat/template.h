/* template.h - chat templates in Jinja, parsed once and rendered often
 *
 * The language is Jinja's as transformers sets it up: no files, no host, no
 * way to change a value but a namespace's. */
#ifndef CHAT_TEMPLATE_H
#define CHAT_TEMPLATE_H

#include "chat/value.h"

#include "core/error.h"

struct chat_template;

/* Limits of a rendering; zero is the default. Steps are nodes of the
 * template, and what chat_take_steps() counts: each takes at most about 60 ns.
 * Renderings that share limits share what is left of the steps. */
struct chat_limits {
    size_t memory; /* bytes, within those of the arena */
    uint64_t steps;
    uint64_t taken; /* of the steps */
};

/* Parses a template of n bytes, which need not live on. On GG_OK *out is the
 * caller's: chat_template_free() it. An error begins with its line. */
enum gg_status
chat_template_parse(const char *text, size_t n, struct chat_template **out,
                    struct gg_error *err);
void
chat_template_free(struct chat_template *t);

/* The parsed tree; lives as long as the template. */
struct chat_node;
const struct chat_node *
chat_template_tree(const struct chat_template *t);

/* Renders with the variables of a dict; `time`, seconds since 1970 UTC, is what
 * strftime_now() sees. The text goes to *out and lives in the arena, as do the
 * variables. Several threads may render one template at once. */
enum gg_status
chat_template_render(const struct chat_template *t, struct chat_value variables,
                     int64_t time, struct chat_limits *limits,
                     struct chat_arena *arena, struct chat_string *out,
                     struct gg_error *err);

#endif
