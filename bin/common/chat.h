/* chat.h - conversations, which gg-tokenize and gg-generate have in common */
#ifndef COMMON_CHAT_H
#define COMMON_CHAT_H

#include <gg-media.h>

#include "common/media.h"
#include "common/options.h"

struct media_intake;

/* A conversation; all zero is the empty one. All is its own. Of a message that
 * has more than a text and a role, json[] has the whole, for templates in
 * Jinja. */
struct chat {
    struct gg_message *messages;
    char **json;
    size_t n, cap;
    char *tools, *arguments; /* JSON, or NULL */
    bool takes_media; /* messages may have images and sounds: those that they
                         name, for `intake`, or else the job's in turn, which
                         has some from number `next_medium` on */
    const char *why_none; /* where it takes none: a sentence; or NULL */
    bool has_job_media;
    struct media_intake *intake; /* or NULL */
    size_t next_medium;
    struct media_place *media; /* n_media, in the order of their parts */
    size_t n_media;
};

/* How many of them are the job's. */
size_t
chat_count_job_media(const struct chat *c);

void
chat_append(struct chat *c, enum gg_role role, const char *text, size_t len);
/* The assistant has said this: a message of its own, or more of the last. */
void
chat_answer(struct chat *c, const char *text, size_t len);
/* Adds its reasoning, for templates in Jinja: "reasoning_content". */
void
chat_thought(struct chat *c, const char *text, size_t len);
/* Moves the messages of `from` after its first n, which are all it keeps. */
void
chat_move(struct chat *c, struct chat *from, size_t n);
/* Adds all messages as an array in JSON, a line each. */
struct buffer;
void
chat_write(const struct chat *c, struct buffer *out);

/* Whether the file, read from where it stands, is empty or begins as what
 * chat_write() made: other JSON may be some program's settings. */
bool
chat_is_written(int fd);
/* The place becomes number `at`; one that is its message's own is held. */
void
chat_insert_medium(struct chat *c, size_t at, const struct media_place *place);
/* Puts an image or a sound, of which no part says where, in front of the text
 * of the last message of the user: the intake's `item`, or, NULL, the job's
 * next. */
enum gg_status
chat_add_media(struct chat *c, enum gg_media_kind kind, const size_t *item,
               struct gg_error *err);
/* Forgets all but the first n messages. */
void
chat_truncate(struct chat *c, size_t n);
void
chat_clear(struct chat *c);

/* Adds the messages of a text in JSON: values with white space between them,
 * each a message {"role", "content"}, an array of messages, or an object with
 * such an array as "messages", and perhaps "tools" and "chat_template_kwargs".
 * What a known form, `template`, has no place for is an error. On failure some
 * may have been added; the sentence begins with the line's number if `lines`.
 * Where this was built without Jansson, nothing can be read. */
enum gg_status
chat_read(struct chat *c, const struct gg_chat_template *template,
          const char *text, size_t len, bool lines, struct gg_error *err);

/* The names of the known ones, until NULL. */
const char *
chat_template_name(size_t i);

/* --template's argument: the name of a known one, or a file in Jinja; "list"
 * and "help" print all names, and the tool ends. What is neither ends it with
 * status 2, a file that is no template with 1. chat_template_clear() it. */
const struct gg_chat_template *
chat_template(const char *name);

/* The model's own template, to be cleared the same. GG_ERR_UNSUPPORTED: it has
 * none. */
enum gg_status
chat_template_own(const struct gg_vocab *vocab,
                  const struct gg_chat_template **out, struct gg_error *err);

/* The model's own template; `path` names the model in messages. Ends the tool
 * where there is none, or it is no template. */
const struct gg_chat_template *
chat_template_open(const struct gg_vocab *vocab, const char *path);
/* Whether it is a form that is built in, and no template in Jinja. */
static inline bool
chat_is_known(const struct gg_chat_template *t)
{
    return gg_chat_find(gg_chat_name(t)) != NULL;
}
void
chat_template_clear(const struct gg_chat_template *template);

/* Ends the tool where a conversation could not go on after an answer. */
void
chat_check(const struct gg_vocab *vocab,
           const struct gg_chat_template *template);

/* All messages as a JSON array, for free(), if one of them has more than a
 * text; else *out is NULL. */
enum gg_status
chat_messages_json(const struct chat *c, char **out, struct gg_error *err);

/* The time that templates take for now, to be taken once for the whole job:
 * SOURCE_DATE_EPOCH of the environment, if it is there, else the clock. Ends
 * the tool where the former is no such number. */
int64_t
chat_date(void);
/* Whether it is of the environment. */
bool
chat_date_is_fixed(void);

/* --date, whose row is at an int64_t that is 0 without it. */
enum gg_status
chat_set_date(void *options, const struct cli_option *row, const char *value,
              struct gg_error *err);
#define CHAT_DATE_HELP                                                         \
    "current date for the chat template: YYYY-MM-DD, or seconds since 1970"

/* For -v: what templates had to be given plainer, GG_CHAT_JOINED ... */
void
chat_tell_plainer(const char *name, unsigned plainer);

/* The text of gg_chat_render(), which the caller frees; *n gets its bytes. */
enum gg_status
chat_rendered(const struct gg_vocab *vocab,
              const struct gg_chat_template *template, const struct chat *c,
              const struct gg_chat_params *params, char **text, size_t *n,
              struct gg_error *err);

/* The ids of gg_chat_encode() to *ids, which has room for *cap and grows; *n
 * gets their number, and *left_out that of the bytes without a token more. */
enum gg_status
chat_encode(const struct gg_vocab *vocab,
            const struct gg_chat_template *template, const struct chat *c,
            const struct gg_chat_params *params, int32_t **ids, size_t *cap,
            size_t *n, uint64_t *left_out, struct gg_error *err);

#endif
