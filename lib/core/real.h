/* real.h - floating-point numbers as text */
#ifndef CORE_REAL_H
#define CORE_REAL_H

enum {
    CORE_REAL_TEXT = 40
};

/* A finite number as Python writes it: the fewest digits that give it back,
 * and always a point or an exponent. Returns `out`. */
const char *
core_real_text(char out[CORE_REAL_TEXT], double x);

#endif
