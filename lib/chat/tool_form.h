/* tool_form.h - the form in which a model writes calls of tools: data
 *
 * An answer with calls is: open call separator call ... end. A call is its
 * pieces in order. Literals are NUL-ended; '\1' in them stands for digits, '\2'
 * for up to 100 bytes. When an answer is read, white space around tags and
 * punctuation may be missing, or be more, and so may be outer marks. */
#ifndef CHAT_TOOL_FORM_H
#define CHAT_TOOL_FORM_H

#include <gg.h>

#include "chat/arena.h"
#include "chat/marks.h"

enum tool_kind {
    TOOL_OBJECT, /* a call is one object of JSON */
    TOOL_JSON,   /* the arguments are one */
    TOOL_PAIRS,  /* the arguments are keys and values, one after another */
};

enum tool_slot {
    TOOL_TEXT,
    TOOL_NAME,
    TOOL_ID,
    TOOL_ARGUMENTS,
};

struct tool_piece {
    enum tool_slot slot;
    const char *text;    /* of TOOL_TEXT */
    const char *written; /* what a grammar has in its place, or NULL */
};

/* Bits of types of JSON. */
enum {
    TOOL_STRING = 1,
    TOOL_NUMBER = 2,
    TOOL_BOOLEAN = 4,
    TOOL_NULL = 8,
    TOOL_ARRAY = 16,
    TOOL_DICT = 32,
    TOOL_ANY = 63,
};

/* Texts that calls may begin with, whatever their form is. */
#define TOOL_COMMON_MARK "<tool_call>"

/* How a value stands after its key. */
struct tool_variant {
    unsigned types;
    const char *before, *after; /* the value */
};

enum {
    TOOL_PIECES = 8,
    TOOL_VARIANTS = 8,
    TOOL_MARKS = 8,
    TOOL_LITERAL = 1000, /* bytes, at most */
    TOOL_NAME_MOST = 256,
};

struct tool_form {
    const char *name; /* "hermes", or "found" */
    enum tool_kind kind;
    const char *open, *separator, *end;
    const char *open_too; /* may stand in the place of `open` */
    const char *end_too;  /* stands after two calls, or NULL */
    struct tool_piece pieces[TOOL_PIECES];
    size_t n_pieces;
    bool one; /* an answer has one call at most */
    /* The name and the number after it are the call's id, with this before
     * them; or NULL. */
    const char *id_prefix;

    /* ---- TOOL_OBJECT: members; text before and after it ---- */
    const char *head, *foot;
    const char *name_key; /* NULL: the name is the key of the arguments */
    const char *arguments_key;
    const char *id_key; /* or NULL */

    /* ---- TOOL_PAIRS ---- */
    const char *first; /* before the first key */
    const char *next;  /* before another one */
    const char *close; /* after the last value */
    const char *none;  /* after the name of a call without arguments */
    struct tool_variant variants[TOOL_VARIANTS];
    size_t n_variants;
    /* Values stand between tags of their keys, `next` key variants[0].before
     * and `closing` key `closed`, and may be such pairs: of objects, or, each
     * under the key `item`, of lists. NULL: they don't. */
    const char *item;
    const char *closing, *closed;

    /* Marks that calls begin with, and those that end a turn after them. */
    struct chat_mark begins[TOOL_MARKS], ends[TOOL_MARKS];
    size_t n_begins, n_ends;
};

/* Facts about a form that its renders do not show. */
struct tool_known {
    const char *name;
    const char *signs[2];  /* a render has them */
    const char *begins[2]; /* what calls may begin with, too */
    const char *ends;      /* a token that may end a turn, too */
    const char *open;      /* may stand before a call, where nothing does */
    const char *suffix;    /* stands after the name */
};

/* Ends with a NULL name. */
extern const struct tool_known chat_tool_known[];

struct gg_chat_calls {
    const struct gg_vocab *vocab;
    struct chat_arena arena;
    struct tool_form form;
    struct chat_call_marks marks;
};

/* Where calls begin in answers, and the tokens that end a turn after them;
 * lives as long as the calls. */
const struct chat_call_marks *
chat_calls_marks(const struct gg_chat_calls *calls);

#endif
