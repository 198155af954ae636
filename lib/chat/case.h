/* case.h - texts in small and capital letters */
#ifndef CHAT_CASE_H
#define CHAT_CASE_H

#include "chat/text.h"

enum chat_case {
    CHAT_CASE_UPPER,
    CHAT_CASE_LOWER,
    CHAT_CASE_TITLE,   /* each word's first letter is capital */
    CHAT_CASE_CAPITAL, /* the first letter is */
    CHAT_CASE_SWAP,    /* small ones are, and capital ones small */
};

struct chat_value
chat_change_case(struct chat_run *r, const struct chat_string *s,
                 enum chat_case how);

#endif
