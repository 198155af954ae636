/* shown.h - which texts of a conversation a template shows
 *
 * Each text of a message gets a label, which is the origin of its bytes: what
 * is rendered tells what of a message came out, and in which way. */
#ifndef CHAT_SHOWN_H
#define CHAT_SHOWN_H

#include "chat/value.h"

enum chat_label_kind {
    CHAT_LABEL_TEXT, /* of the content: has to come out */
    CHAT_LABEL_ITEM, /* the same, an item of a list of strings */
    CHAT_LABEL_CALL, /* of a call: the same */
    CHAT_LABEL_FORM, /* what shows how the content is made: must not come out */
};

struct chat_label {
    size_t message;
    enum chat_label_kind kind;
    const struct chat_string *text; /* of a content */
    bool seen;
};

struct chat_labels {
    struct chat_label *v;
    size_t n, cap;
};

/* Faults of a message, in the order in which they are tried: flags. */
enum {
    CHAT_LOST_TEXT = 1, /* a text of the content does not come out */
    CHAT_LOST_CALL = 2, /* a call does not */
    CHAT_LOST_FORM = 4, /* a list of parts, or None, is printed as it is */
};

/* A copy of the content of message i, or of its calls, with labels; CHAT_ABSENT
 * where there is no memory. Texts without letters have no label, and none is
 * left after about 65,000. */
struct chat_value
chat_label_content(struct chat_arena *a, struct chat_labels *l,
                   struct chat_value content, size_t i);
struct chat_value
chat_label_calls(struct chat_arena *a, struct chat_labels *l,
                 struct chat_value calls, size_t i);

/* Marks the labels that a text has. */
void
chat_labels_see(struct chat_labels *l, const struct chat_string *out);

/* CHAT_LOST_... of a message, for one after another: *at goes on from 0.
 * `answer`: it is the assistant's, whose text templates leave out where it is
 * reasoning, or stands by a call. */
unsigned
chat_labels_lost(const struct chat_labels *l, size_t *at, size_t message,
                 bool answer);

#endif
