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
    CHAT_MARKS = 4, /* of a fingerprint */
};

#define TOKEN(name) "\x01" name "\x03"
#define MAYBE(name) "\x02" name "\x03"
#define BOS         "\x04"
#define EOS         "\x05"

/* What stands around the contents of a message; `before` NULL: there is no
 * place for one of this role. */
struct chat_turn {
    const char *before, *after;
};

struct gguf_str;

struct gg_chat_template {
    const char *name;
    /* It is this one if the model's template has all marks in it; a mark that
     * begins with '!' must not be there. None: only found by name. */
    const char *marks[CHAT_MARKS];
    struct chat_turn turns[CHAT_ROLES]; /* by enum gg_role */
    const char *prelude;                /* before the first message, or NULL */
    const char *open;                   /* what an answer begins with */
    const char *system; /* of a conversation without one, or NULL */
    /* The system's message stands in the first user's, in front of its
     * contents. */
    bool merged;
    bool joint;    /* then white space between the two is not dropped */
    unsigned trim; /* 1 << role: white space around contents is dropped */
    bool bos;      /* whatever the vocabulary's metadata say */
    /* SentencePiece's: white space after a control token is dropped. */
    bool strip;
};

/* In the order in which fingerprints are tried; ends with a NULL name. */
extern const struct gg_chat_template vocab_chat_templates[];

/* True if `text` stands in the string. */
bool
vocab_chat_contains(const struct gguf_str *s, const char *text);

/* True if a template knows a control token of that name. */
bool
vocab_chat_is_token(const char *name, size_t len);

#endif
