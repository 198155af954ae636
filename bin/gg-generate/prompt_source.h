/* prompt_source.h - what a prompt is made of: a text, or messages */
#ifndef GENERATE_PROMPT_SOURCE_H
#define GENERATE_PROMPT_SOURCE_H

#include "common/chat.h"
#include "common/records/choices.h"

struct options;
struct generate;
struct prompt;

/* All zero, but for `whole`, is none. */
struct prompt_source {
    bool whole; /* messages may span lines, whose numbers are told */
    const char *text;
    size_t len;
    const char *suffix; /* of a text with a gap before it; or NULL */
    size_t n_suffix;
    const int32_t *ids; /* in place of a text; or NULL */
    size_t n_ids;
    bool goes_on; /* it adds nothing to what a state holds */
    bool is_chat; /* there are messages, in place of the text: */
    struct chat chat;
    size_t done; /* of them, that the sequence holds, but for the last's end */
    const struct gg_chat_template *template;
    /* The record's own, in place of the options'; or NULL. */
    const char *tools, *tool_choice;
    bool is_json; /* the answer follows a JSON schema: it has no calls */
    const struct reasoning_options *reasoning; /* NULL: the options' */
    bool has_arguments;    /* the conversation has all of them */
    struct batch *lenient; /* gets a word where the template has no place, and
                            * that is left out; NULL: it is an error */
};

/* Takes text[0..len), which outlives the source, as the options want it. */
enum gg_status
prompt_source_open(struct generate *g, struct prompt_source *s,
                   const char *text, size_t len, struct gg_error *err);
/* As prompt_source_open(), of a text that is no message in any case. */
enum gg_status
prompt_source_open_text(struct generate *g, struct prompt_source *s,
                        const char *text, size_t len, struct gg_error *err);
/* The text is what stands before a gap, and this after it, which outlives the
 * source, too. */
enum gg_status
prompt_source_add_suffix(const struct generate *g, struct prompt_source *s,
                         const char *suffix, size_t len, struct gg_error *err);
/* Takes a conversation in JSON. */
enum gg_status
prompt_source_open_messages(struct generate *g, struct prompt_source *s,
                            const char *json, size_t len, struct gg_error *err);
/* Takes what is there before the user's first message. */
void
prompt_source_begin(struct generate *g, struct prompt_source *s);
void
prompt_source_close(struct prompt_source *s);

/* The ids of it, after those of a state, and of all choices after it. No ids:
 * an empty text. What is in *out, which was all zero, is to be cleared even if
 * this fails. Bytes without a token are counted in g->left_out. */
enum gg_status
prompt_source_encode(struct generate *g, struct prompt_source *s,
                     const struct choices *choices, struct prompt *out,
                     struct gg_error *err);

#endif
