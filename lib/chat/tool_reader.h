/* tool_reader.h - an answer that is read for calls: what tool_read.c and the
 * files of its parts share */
#ifndef CHAT_TOOL_READER_H
#define CHAT_TOOL_READER_H

#include "chat/tool_form.h"
#include "chat/tool_json.h"
#include "chat/tool_literal.h"
#include "chat/tool_text.h"
#include "core/json.h"

struct tool_reader {
    const struct tool_form *f;
    const json_t *tools; /* or NULL */
    const char *s;
    size_t n;
    struct tool_text *out;
    size_t count; /* of calls that were read */
    size_t work;  /* bytes that may be looked at in vain */
    bool strict;  /* a call has a declared name, and arguments */
};

/* A call; its texts live elsewhere, but for the arguments. */
struct tool_call {
    struct tool_span name, id; /* of the id, s may be NULL */
    struct tool_text arguments;
};

/* Bytes that were looked at in vain. */
static inline void
chat_tool_spend(struct tool_reader *r, size_t bytes)
{
    r->work -= bytes < r->work ? bytes : r->work;
}

static inline size_t
chat_tool_read_match(const struct tool_reader *r, size_t at,
                     const char *literal)
{
    return chat_tool_match(r->s, r->n, at, literal);
}

/* Whether a tool has the name. */
bool
chat_tool_is_declared(const struct tool_reader *r, struct tool_span name);

/* Adds the call to the array. */
void
chat_tool_read_put(struct tool_reader *r, const struct tool_call *c);

/* Where the name of a call begins that stands at `at`, after what marks it, of
 * which the first tags may be missing; TOOL_NOT_THERE: there is none. */
size_t
chat_tool_read_opening(const struct tool_reader *r, size_t at);

/* Where the name at `at` ends. */
size_t
chat_tool_read_name_end(const struct tool_reader *r, size_t at);

/* The end of what closes a call: of the literal's units that close, one or more
 * are there, in order; the others all are. TOOL_NOT_THERE: none is. */
size_t
chat_tool_read_closing(const struct tool_reader *r, size_t at,
                       const char *literal);

/* The end of a mark at `at` that may stand before, between and after calls,
 * each of which may be missing; TOOL_NOT_THERE: none is there. */
size_t
chat_tool_read_mark(const struct tool_reader *r, size_t at);

/* Whether calls may go on, or end, at `at`. */
bool
chat_tool_read_border(const struct tool_reader *r, size_t at);

/* ---- tool_read_object.c ---- */

/* Where the object of JSON ends that begins at s[at], to *object, as JSON that
 * is right: a part of the answer, or, of one that is nearly so, of `made`.
 * TOOL_NOT_THERE: there is none. */
size_t
chat_tool_read_json(struct tool_reader *r, size_t at, struct tool_text *made,
                    struct tool_span *object);

/* A call that is an object: adds it, and returns where it ends. */
size_t
chat_tool_read_object(struct tool_reader *r, size_t at);

/* ---- tool_read_pairs.c ---- */

/* Arguments as keys and values, from after the name on: returns where the call
 * has ended. */
size_t
chat_tool_read_pairs(struct tool_reader *r, struct tool_call *c, size_t at);

/* Adds a value s[from..to) that its surroundings part from the rest. */
void
chat_tool_read_put_delimited(struct tool_reader *r, struct tool_text *out,
                             unsigned types, size_t from, size_t to);

/* ---- tool_read_nested.c ---- */

/* Arguments of a form whose values stand between tags of their keys. */
size_t
chat_tool_read_nested(struct tool_reader *r, struct tool_call *c, size_t at);

#endif
