/* chat.h - what a chat template is made of
 *
 * Markup is text in which a few bytes, that no markup has, begin something
 * else: see the macros. */
#ifndef VOCAB_CHAT_H
#define VOCAB_CHAT_H

#include <gg.h>

enum {
    CHAT_TOKEN = 1, /* the name of a control token follows, to CHAT_END */
    CHAT_MAYBE = 2, /* the same; text where the vocabulary has no such token */
    CHAT_END = 3,   /* of a name */
    CHAT_BOS = 4,   /* the vocabulary's BOS, but never two of them */
    CHAT_EOS = 5,   /* the vocabulary's EOS */
    CHAT_ROLES = 4, /* of enum gg_role */
};

#define TOKEN(name) "\x01" name "\x03"
#define MAYBE(name) "\x02" name "\x03"
#define BOS         "\x04"
#define EOS         "\x05"

/* Text around the contents of a message; `before` NULL: there is no
 * place for one of this role. */
struct chat_turn {
    const char *before, *after;
};

struct gguf_str;

struct chat_template;
struct chat_thoughts;

struct gg_chat_template {
    const char *name;
    struct chat_template *jinja;     /* it is this, and nothing below counts */
    struct chat_template *for_tools; /* in its place where there are tools, or
                                        NULL */
    bool takes_date;
    const struct chat_thoughts *thoughts; /* that its source has; or NULL */
    struct chat_turn turns[CHAT_ROLES];   /* by enum gg_role */
    const char *prelude; /* before the first message, or NULL */
    const char *open;    /* what an answer begins with */
    const char *system;  /* of a conversation without one, or NULL */
    /* The system's message stands in the first user's, in front of its
     * contents. */
    bool merged;
    bool joint;    /* then white space between the two is not dropped */
    unsigned trim; /* 1 << role: white space around contents is dropped */
    bool bos;      /* whatever the vocabulary's metadata say */
    /* SentencePiece's: white space after a control token is dropped. */
    bool strip;
};

/* That of a conversation, where a template is Jinja. */
static inline const struct chat_template *
vocab_chat_jinja(const struct gg_chat_template *t, bool tools)
{
    return tools && t->for_tools ? t->for_tools : t->jinja;
}

/* Ends with a NULL name. */
extern const struct gg_chat_template vocab_chat_templates[];

/* "system" ..., by enum gg_role. */
extern const char *const vocab_chat_roles[CHAT_ROLES];

/* True if a template knows a control token of that name. */
bool
vocab_chat_is_token(const char *name, size_t len);

/* gg_chat_encode() with one of them; the arguments are checked. */
enum gg_status
vocab_chat_encode(const struct gg_vocab *v, const struct gg_chat_template *t,
                  const struct gg_message *messages, size_t n_messages,
                  size_t first, unsigned flags, int32_t *ids, size_t cap,
                  struct gg_encoded *result, struct gg_error *err);

#endif
