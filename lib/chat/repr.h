/* repr.h - numbers as Python prints them */
#ifndef CHAT_REPR_H
#define CHAT_REPR_H

#include "core/real.h"

enum {
    CHAT_FLOAT_TEXT = CORE_REAL_TEXT
};

/* repr(f): the fewest digits that give the number back. */
void
chat_float_text(char out[CHAT_FLOAT_TEXT], double f);

#endif
