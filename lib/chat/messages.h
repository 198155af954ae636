/* messages.h - the messages of a conversation as a template gets them
 *
 * They are given as they are, or plainer: in a fallback form, message by
 * message. */
#ifndef CHAT_MESSAGES_H
#define CHAT_MESSAGES_H

#include "chat/render.h"
#include "chat/shown.h"

/* Fallback forms: GG_CHAT_JOINED ..., and */
enum {
    CHAT_NULLED = 1 << 7, /* the empty content of calls is null */
    CHAT_PLAIN = GG_CHAT_JOINED | GG_CHAT_EMPTIED,
};

/* Stands where a content ends, to be found in what is rendered: no text has
 * it, and nothing takes it away. */
#define CHAT_MARK "\x02gg\x03"

/* How the messages are given to the template. */
struct chat_form {
    bool open;     /* the last one goes on */
    bool rest;     /* what stands after the one before `first` is wanted */
    bool question; /* an empty one of a user stands before all */
    bool answer;   /* add_generation_prompt */
    unsigned char *plainer;     /* what may be made so, of each message */
    struct chat_labels *labels; /* of those from `first` on; or NULL */
};

/* The messages of a request as the form wants them, in a copy; *list gets it.
 * False: no memory. */
bool
chat_form_messages(struct chat_arena *a, const struct chat_request *q,
                   const struct chat_form *f, struct chat_value *list);

/* GG_CHAT_JOINED ...: what of `plainer` changes this message. */
unsigned
chat_made_plainer(struct chat_value message, unsigned plainer);

/* Adds a message with a role and a content to a list. */
bool
chat_add_message(struct chat_arena *a, struct chat_list *list, const char *role,
                 const char *content, size_t len);
bool
chat_set_member(struct chat_arena *a, struct chat_dict *d, const char *name,
                struct chat_value v);
/* Whether its role is this one. */
bool
chat_has_role(struct chat_value message, const char *role);

#endif
