/* tool_writer.h - what grammars of calls are written with: literals, schemas */
#ifndef ENGINE_TOOL_WRITER_H
#define ENGINE_TOOL_WRITER_H

#include <config.h>

#include "core/error.h"

#ifdef HAVE_JANSSON

#include "chat/tool_form.h"
#include "chat/tool_text.h"
#include "core/json.h"

struct tool_writer {
    const struct gg_chat_calls *calls;
    const struct tool_form *f;
    struct tool_text t;
    enum gg_status st; /* of the first failure */
    struct gg_error *err;
    size_t tool; /* that is being written, for names of rules */
};

void
engine_tool_put(struct tool_writer *w, const char *s);
__attribute__((format(printf, 2, 3))) void
engine_tool_put_name(struct tool_writer *w, const char *fmt, ...);

/* Text in quotation marks; '\1' is a number. */
void
engine_tool_put_terminal(struct tool_writer *w, const char *s, size_t n);

/* A literal, in which control tokens are such. */
void
engine_tool_put_literal(struct tool_writer *w, const char *s, size_t n);
void
engine_tool_put_text(struct tool_writer *w, const char *s);

/* Whether a literal begins with a control token. */
bool
engine_tool_is_control(const struct tool_writer *w, const char *s);

void
engine_tool_error(struct tool_writer *w, enum gg_status st, const char *tool,
                  const char *why);

/* Adds the rules of a schema; the first is called prefix + "root". */
void
engine_tool_put_schema(struct tool_writer *w, const char *tool,
                       const json_t *schema, const char *prefix);

/* A number of a schema; `other` where it has none of the name. */
long
engine_tool_limit(const json_t *schema, const char *key, long other);

/* Whether arguments, or an object's members, must have the key. */
bool
engine_tool_is_required(const json_t *schema, const char *key);

/* A property's schema with what its references lead to; NULL: no memory. */
json_t *
engine_tool_whole_schema(const json_t *parameters, const json_t *property);

/* tool_nested.c: rules of arguments whose values stand between tags of their
 * keys; the first is "noneI-0". */
void
engine_tool_put_nested(struct tool_writer *w, const char *tool,
                       const json_t *parameters);

#endif

#endif
