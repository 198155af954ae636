/* prompt_source.h - what a prompt is made of: a text, or messages */
#ifndef GENERATE_PROMPT_SOURCE_H
#define GENERATE_PROMPT_SOURCE_H

#include "gg-generate/generate.h"

/* All zero, but for `whole`, is none. */
struct prompt_source {
    bool whole; /* messages may span lines, whose numbers are told */
    const char *text;
    size_t len;
    bool goes_on; /* it adds nothing to what a state holds */
    bool is_chat; /* there are messages, in place of the text: */
    struct chat chat;
    size_t done; /* of them, that a state holds */
    const struct gg_chat_template *template;
};

/* Takes text[0..len), which outlives the source, as the options want it. */
enum gg_status
prompt_source_open(struct generate *g, struct prompt_source *s,
                   const char *text, size_t len, struct gg_error *err);
/* Takes a conversation in JSON. */
enum gg_status
prompt_source_open_messages(struct generate *g, struct prompt_source *s,
                            const char *json, size_t len, struct gg_error *err);
void
prompt_source_close(struct prompt_source *s);

/* The ids of it, after those of a state, and of all choices after it. */
enum gg_status
prompt_source_encode(struct generate *g, struct prompt_source *s,
                     const struct choices *choices, struct prompt *out,
                     struct gg_error *err);

/* The ids of a text to *ids, which has room for *cap and grows. Bytes without a
 * token are counted in g->left_out. */
enum gg_status
source_encode_text(struct generate *g, const char *text, size_t len,
                   int32_t **ids, size_t *cap, size_t *n, struct gg_error *err);

unsigned
source_chat_flags(const struct options *o);

#endif
