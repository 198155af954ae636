/* translate_impl.h - what the files of translate.h share
 *
 * A request is read into `body`, the members of the engine's; a function that
 * finds it bad calls translate_refuse(), after which nothing counts but that.
 */
#ifndef SERVE_TRANSLATE_IMPL_H
#define SERVE_TRANSLATE_IMPL_H

#include "common/json.h"
#include "common/records/value.h"
#include "gg-serve/translate.h"

enum {
    TRANSLATE_MOST_CALLS = 128, /* of tools, in an answer */
};

/* A tool whose name at the engine is not the client's, or that is no function
 * there. */
struct translate_tool {
    char *flat;   /* the engine's name */
    char *space;  /* of a namespace; or NULL */
    char *name;   /* the client's */
    bool is_text; /* its one argument is a text */
};

/* A part of an answer: its reasoning, its text, or a call. */
struct translate_part {
    enum {
        PART_NONE, /* none has begun */
        PART_REASONING,
        PART_TEXT,
        PART_CALL,
    } kind;
    size_t call;                       /* the engine's index of a call */
    const struct translate_tool *tool; /* of a call; or NULL */
    struct buffer id, name;            /* of a call */
    struct buffer text;                /* all that it has so far */
    struct buffer logprobs;            /* of the text, in JSON */
};

/* How an answer ended. */
struct translate_end {
    const char *reason;                   /* "stop", "length", "tool_calls" */
    const char *stop;                     /* the string that ended it; or "" */
    double prompt, cached, made, thought; /* ids */
};

struct translation {
    const struct translate_api *api;
    struct translate_with with;

    /* The request. */
    struct buffer body; /* members of the engine's, with commas in front; or, */
    bool is_value;      /* of a control record, all of its value */
    const char *verb;   /* of a control record; or NULL */
    struct buffer model; /* a string in JSON, as it was written; or empty */
    char *model_name;
    bool stream, usage, plain, logprobs;
    bool hides_thoughts; /* the request does not want them */
    size_t n_answers;
    char *warnings[TRANSLATE_MOST_WARNINGS];
    size_t n_warnings;
    struct translate_tool *tools;
    size_t n_tools;
    struct buffer echo; /* members of the request that the answer repeats */

    /* The error that ends it. */
    int status;
    char code[64], param[64];
    char message[600];
    double n_prompt, n_ctx; /* ids of a prompt that is too long */

    /* The answer. */
    bool sent; /* something of a stream: errors are events from then on */
    bool begun, ended;
    uint32_t roles;  /* answers whose first event was sent, a bit each */
    size_t sequence; /* of events */
    double prompt_ids, cached_ids;
    struct translate_part part;
    struct buffer
        items; /* parts that have ended, as the whole answer has them */
    size_t n_items;
};

/* Functions of an interface; one that it lacks is NULL. */
struct translate_row {
    const char *url;  /* of the engine's record */
    const char *verb; /* of a control record, in place of url and body */
    const char *id;   /* how the answer's name begins: "chatcmpl" */
    bool anthropic;   /* errors are Anthropic's */
    void (*read)(struct translation *t, const struct record_object *body);
    /* A body that ended well becomes the client's. */
    void (*whole)(struct translation *t, const struct record_value *body,
                  struct buffer *out);
    /* Events: the answer begins; a record with a delta; the answer has ended;
     * or an error ends it. */
    void (*start)(struct translation *t, struct buffer *out);
    void (*delta)(struct translation *t, const struct record_value *record,
                  struct buffer *out);
    void (*end)(struct translation *t, const struct record_value *record,
                struct buffer *out);
    void (*fail)(struct translation *t, struct buffer *out);
    const char *ping;
    /* An answer in parts, t->part: it begins; it goes on; it ends, and is
     * added to t->items. Events come in a stream alone. */
    void (*open)(struct translation *t, struct buffer *out);
    void (*piece)(struct translation *t, const char *text, size_t len,
                  const struct record_value *logprobs, struct buffer *out);
    void (*close)(struct translation *t, struct buffer *out);
};

/* ---- translate.c ---- */

/* The request, or the engine's answer, is bad; the first such word counts.
 * `param` is the member's name, or NULL. */
CLI_PRINTF(4, 5)
void
translate_refuse(struct translation *t, int status, const char *param,
                 const char *fmt, ...);
/* Something was left out of the request. */
CLI_PRINTF(2, 3)
void
translate_warn(struct translation *t, const char *fmt, ...);
/* Adds ,"warnings":[...] if there are any. */
void
translate_add_warnings(const struct translation *t, struct buffer *out);
/* Adds the body of the error. */
void
translate_add_error(const struct translation *t, struct buffer *out);
/* An event with it, as OpenAI's streams have it. */
void
translate_send_error(struct translation *t, struct buffer *out);
/* Adds the model's name in JSON. */
void
translate_add_model(const struct translation *t, struct buffer *out);

/* ---- translate_json.c: values, and texts that are added ---- */

/* The string of a member, if there is one; "" if it is NULL or no string. */
const char *
translate_text(const json_t *object, const char *name);
bool
translate_is(const json_t *object, const char *name, const char *text);
double
translate_number(const json_t *object, const char *name);
/* Adds text in quotes. */
void
translate_add_string(struct buffer *out, const char *text);
/* Adds a string of JSON, whatever is in it. */
void
translate_add_json_string(struct buffer *out, const json_t *string);
/* A value as it was written, in one line. */
void
translate_add_value(struct buffer *out, const struct record_value *v);
/* Adds a text of JSON in which ' stands for ", and
 *     %s %q    a string as it is; in quotes
 *     %r %b    a struct buffer as it is; in quotes
 *     %v       a struct record_value as it was written
 *     %j       a json_t that is a string
 *     %z %n    a size_t; a double that is a whole number */
void
translate_put(struct buffer *out, const char *form, ...);
/* Adds ,"name":value to the engine's body. */
void
translate_set(struct translation *t, const char *name,
              const struct record_value *v);
/* ---- translate_request.c: what members of several interfaces mean ---- */

/* Takes the member if it means the same in all of them: model, stream, what is
 * left out; else false. */
bool
translate_common(struct translation *t, const char *key,
                 const struct record_value *v);
/* Passes the member on, unless it stands for nothing. */
void
translate_pass(struct translation *t, const char *key,
               const struct record_value *v);

/* Members of an interface's own. */
struct translate_member {
    const char *keys; /* "a|b" */
    /* NULL: they are left out; translate_tell: and clients are told. */
    void (*read)(struct translation *t, const struct record_value *v);
};

void
translate_tell(struct translation *t, const struct record_value *v);

/* Reads all members that are not null: those in the list, then
 * translate_common()'s; others are passed on. */
void
translate_read_members(struct translation *t, const struct record_object *body,
                       const struct translate_member *known);

/* The argument of a function that stands for a tool of text. */
#define TRANSLATE_INPUT "input"

/* Begins the engine's list of tools, whose bracket the caller ends. */
void
translate_begin_tools(struct translation *t, const struct record_value *v,
                      struct record_items *items);
/* Adds a function of that name; `schema` is the member that has its parameters;
 * NULL: it is a tool of text. */
void
translate_add_tool(struct translation *t, const struct record_value *tool,
                   const char *name, const char *schema);
/* Keeps the names of a tool; false: another one has the same. */
bool
translate_keep_tool(struct translation *t, const char *space, const char *name,
                    const char *flat, bool is_text);

/* The engine's body, with names and dates of the caller's. */
void
translate_add_whole(struct translation *t, const struct record_value *body,
                    struct buffer *out);

/* ---- translate_parts.c: answers in parts ---- */

void
parts_delta(struct translation *t, const struct record_value *record,
            struct buffer *out);
/* All of a chat's answer. */
void
parts_whole(struct translation *t, const struct record_value *body,
            struct buffer *out);
/* A part begins, which is no call; another one ends. */
void
parts_open(struct translation *t, int kind, struct buffer *out);
/* Ends the part that has begun. */
void
parts_close(struct translation *t, struct buffer *out);
/* How the answer ended, of a record with `end` or a body. */
struct translate_end
parts_end(const struct translation *t, const json_t *record);

/* ---- translate_llama.c ---- */

/* Adds ,"timings":{...} as llama.cpp's server has them, of a record with
 * `usage`, and `timings` if it is a stream's. */
void
translate_add_timings(const struct translation *t, const json_t *record,
                      struct buffer *out);

/* ---- translate_turn.c: messages of a chat that are put together ---- */

/* A message to be. Texts are those of JSON without their quotes. */
struct translate_turn {
    const char *role;
    const char *between;     /* texts become one, with this between; NULL: they
                              * stay parts, where there are several */
    struct buffer text;      /* all texts, */
    struct buffer parts;     /* and as elements of an array, with media */
    struct buffer reasoning; /* a text */
    struct buffer calls;     /* elements of an array */
    struct buffer id;        /* of the call that it answers, in JSON */
    size_t n_parts, n_media;
};

/* The value must be a string. */
void
turn_add_text(struct translate_turn *m, const struct record_value *text);
void
turn_add_reasoning(struct translate_turn *m, const struct record_value *text);
/* The member, a string without NUL (but for a text); else the request is
 * refused. */
bool
translate_find_string(struct translation *t, const struct record_value *of,
                      const char *name, struct record_value *out);

/* Types of blocks and parts: which are read. */
enum {
    TURN_USER = 1,
    TURN_ASSISTANT = 2,
    TURN_RESULT = 4,
    TURN_SYSTEM = 8, /* of Anthropic's messages */
    TURN_PART = 16,  /* of OpenAI's items */
};

/* Adds a text, or an array of those that `of` has. */
void
turn_add_content(struct translation *t, struct translate_turn *m, unsigned of,
                 const struct record_value *content);
/* A call: id and name are strings, in JSON; `arguments` are an object, or a
 * string of one; with `argument` they are one argument's value. */
void
turn_add_call(struct translate_turn *m, const struct record_value *id,
              const char *name, const struct record_value *arguments,
              const char *argument);
/* Adds the message to the engine's body, if there is anything in it, and
 * empties it but for `between`. */
void
turn_end(struct translation *t, struct translate_turn *m);

/* ---- translate_form.c ---- */

void
translate_read_form(struct translation *t, const char *type, const char *body,
                    size_t len);

/* ---- rows ---- */

void
translate_chat_read(struct translation *t, const struct record_object *body);
void
translate_messages_read(struct translation *t,
                        const struct record_object *body);
void
translate_responses_read(struct translation *t,
                         const struct record_object *body);

extern const struct translate_row translate_chat_row, translate_prompt_row,
    translate_messages_row, translate_count_row, translate_responses_row,
    translate_embeddings_row, translate_tokenize_row, translate_detokenize_row,
    translate_sound_row, translate_ranks_row, translate_template_row,
    translate_chat_count_row, translate_responses_count_row,
    translate_llama_row, translate_infill_row;

#endif
