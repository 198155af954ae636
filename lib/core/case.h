/* case.h - small and capital letters of Latin, Greek, Cyrillic, Armenian */
#ifndef CORE_CASE_H
#define CORE_CASE_H

#include <stdint.h>

/* A letter's other form, or itself. The small form has as many bytes of UTF-8
 * as its capital. */
uint32_t
core_upper(uint32_t c);
uint32_t
core_lower(uint32_t c);

#endif
