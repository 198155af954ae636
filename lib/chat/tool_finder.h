/* tool_finder.h - a form of calls that is being found: what tool_find.c and the
 * files of its parts share */
#ifndef CHAT_TOOL_FINDER_H
#define CHAT_TOOL_FINDER_H

#include "chat/tool_cut.h"
#include "chat/tool_form.h"
#include "chat/tool_probe.h"

#define TOOL_ARGUMENTS_2                                                       \
    "{\"" PROBE_KEY_1 "\": \"" PROBE_STRING_1 "\", \"" PROBE_KEY_2             \
    "\": \"" PROBE_STRING_2 "\"}"
#define TOOL_ONE(value) "{\"" PROBE_KEY_1 "\": " value "}"

/* State of a search in renders; all texts are in the arena. */
struct tool_finder {
    struct probe probe;
    struct tool_form *form;
    /* Without a call; with a call that has none, one and two arguments; with
     * two calls that have one each. */
    struct chat_string plain, none, one, two, both;
    struct chat_string prompt; /* what stands before an answer */
    bool has_none, has_both;
    size_t begin;         /* of what is calls in those that have one */
    size_t from, to;      /* of the call in `one`, without literals around it */
    size_t args, args_to; /* of its arguments in JSON */
    struct chat_string post; /* what stands after an answer, of any kind */
    const char *why;
    bool nomem;
};

/* Text around calls: open before CALL after between before CALL after
 * end. */
struct tool_frame {
    struct chat_string open, before, between, after, end;
};

/* ---- renders and their texts: tool_finder.c ---- */

/* Sets why it failed; false. */
bool
chat_tool_fails(struct tool_finder *f, const char *why);

/* A NUL-ended copy; NULL where there is no memory. */
char *
chat_tool_copy(struct tool_finder *f, struct chat_string s);

/* A copy of text that becomes a literal; "" where there is no memory. */
const char *
chat_tool_keep(struct tool_finder *f, struct chat_string s);

/* chat_probe() of the finder. */
bool
chat_tool_render(struct tool_finder *f, const char *first, const char *second,
                 struct chat_string *out);

/* Renders what the rest is found from, with the first content that does. */
bool
chat_tool_render_all(struct tool_finder *f);

/* Where the answer begins in a render: after the prompt, or where it goes
 * another way. */
size_t
chat_tool_answer(const struct tool_finder *f, const struct chat_string *s);

/* Sets where what is calls begins in `one`. */
void
chat_tool_find_begin(struct tool_finder *f);

/* ---- tool_frame.c ---- */

/* Sets the kind of the form, and where the call stands in `one`. False: it
 * does not all stand there. */
bool
chat_tool_find_kind(struct tool_finder *f);

/* Sets what stands around calls: literals, and a token that ends the turn. */
bool
chat_tool_find_frame(struct tool_finder *f, struct tool_frame *out);

/* Bytes after the calls in a render. */
size_t
chat_tool_tail(const struct tool_finder *f);

/* ---- tool_pieces.c ---- */

/* Sets the pieces, from `from` to `to` in `one`. */
void
chat_tool_find_pieces(struct tool_finder *f, size_t from, size_t to);

/* Digits at `at` in a literal stand for any. */
const char *
chat_tool_any_digits(struct tool_finder *f, const char *text, size_t at);

/* The text after the name of a call: digits that are other ones after that of
 * the second call stand for any. */
const char *
chat_tool_second_text(struct tool_finder *f, const char *text);

/* Finds the numbers of calls, after their names. */
void
chat_tool_find_numbers(struct tool_finder *f);

/* ---- tool_pairs.c ---- */

/* Sets how keys and values stand: `after` is what stands after the last. */
bool
chat_tool_find_pairs(struct tool_finder *f, struct chat_string after);

/* ---- tool_nested.c ---- */

/* Sets what closes a value by its key: `between` stands after the first of two
 * values, to the second key. False: nothing does. */
bool
chat_tool_find_tags(struct tool_finder *f, const struct chat_string *between);

/* Sets how values in such values stand. */
bool
chat_tool_find_nested(struct tool_finder *f);

/* ---- tool_marks.c ---- */

/* Sets what calls begin with: the first tokens that no answer without calls
 * has. */
void
chat_tool_find_mark(struct tool_finder *f);

/* Adds what is known of the form, if it is one of the table. */
void
chat_tool_find_known(struct tool_finder *f);

#endif
