/* real.c - floating-point numbers as text */
#include <config.h>

#include "core/real.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fewest digits that give the number back, as d.ddde+xx. */
static void
write_shortest(char *out, size_t size, double x)
{
    for (int digits = 0; digits <= 16; digits++) {
        snprintf(out, size, "%.*e", digits, x);
        if (strtod(out, NULL) == x)
            return;
    }
}

const char *
core_real_text(char out[CORE_REAL_TEXT], double x)
{
    char e[CORE_REAL_TEXT];
    int exponent, digits;

    write_shortest(e, sizeof(e), x);
    exponent = atoi(strchr(e, 'e') + 1);
    digits = (int)strcspn(e + (e[0] == '-'), "e");
    digits -= digits > 1 ? 2 : 1; /* after the point */
    if (exponent < -4 || exponent >= 16)
        return strcpy(out, e);
    digits = digits > exponent ? digits - exponent : 0;
    snprintf(out, CORE_REAL_TEXT, "%.*f", digits > 1 ? digits : 1, x);
    return out;
}
