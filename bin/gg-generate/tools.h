/* tools.h - what the model may call, and the calls in its answers */
#ifndef GENERATE_TOOLS_H
#define GENERATE_TOOLS_H

#include <gg.h>

#include <stdbool.h>

struct answer;
struct generate;
struct prompt;
struct prompt_source;
struct chat;

/* All zero is none. */
struct tools {
    char *text;                    /* of --tools: a JSON array; or NULL */
    struct gg_chat_calls *calls;   /* of the template, when they are wanted */
    struct gg_chat_reader *reader; /* of answers that may have calls */
};

/* Whether a choice, or NULL, means that a tool is to be called: "required", or
 * a tool's name. */
bool
tools_must_call(const char *choice);

/* Reads --tools; or the tool ends. */
void
tools_open(struct generate *g);
/* The grammar of --tool-choice for the one text, or all turns of a
 * conversation; before the sampler is made, and the template is there. */
void
tools_constrain(struct generate *g);
void
tools_close(struct generate *g);

/* Keeps those of the tools (NULL: those of --tools) that `allowed`, a JSON
 * array of such or of their names, has. */
enum gg_status
tools_allow(const struct generate *g, const char *allowed, char **tools,
            struct gg_error *err);

/* Before a conversation is encoded: it gets the tools that the record or the
 * options name, if it has none; none with --tool-choice none. */
void
tools_give(struct generate *g, struct prompt_source *s);

/* After that: how the answer is read, and what its grammar is, if it must call
 * a tool. */
enum gg_status
tools_prompt(struct generate *g, const struct prompt_source *s,
             struct prompt *out, struct gg_error *err);

/* The answer has ended: its calls are read. What is no call is text. */
enum gg_status
tools_read(const struct generate *g, struct answer *a, struct gg_error *err);

/* The calls in a text, to `json`; false: there are none. */
bool
tools_read_text(const struct generate *g, const char *tools, const char *text,
                size_t len, struct buffer *json);

/* Writes the calls to --tool-calls, a line each. */
void
tools_write(const struct generate *g, const struct answer *a);

/* Adds the answer to a conversation that goes on, with its reasoning if it has
 * calls. */
void
tools_add_answer(const struct generate *g, struct chat *chat,
                 const struct answer *a);

#endif
