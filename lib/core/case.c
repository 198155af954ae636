/* case.c - small and capital letters
 *
 * From UnicodeData.txt's simple mappings: letters whose two forms lie a fixed
 * distance apart, all of a range or every other one of it. */
#include <config.h>

#include "core/case.h"

static const struct {
    uint32_t from, to; /* small letters */
    uint32_t step;
    int32_t up; /* from a small letter to its capital */
} ranges[] = {
    { 'a', 'z', 1, -32 },       { 0xb5, 0xb5, 1, 743 },
    { 0xe0, 0xf6, 1, -32 },     { 0xf8, 0xfe, 1, -32 },
    { 0xff, 0xff, 1, 121 },     { 0x101, 0x12f, 2, -1 },
    { 0x133, 0x137, 2, -1 },    { 0x13a, 0x148, 2, -1 },
    { 0x14b, 0x177, 2, -1 },    { 0x17a, 0x17e, 2, -1 },
    { 0x1ce, 0x1dc, 2, -1 },    { 0x1df, 0x1ef, 2, -1 },
    { 0x1f9, 0x21f, 2, -1 },    { 0x223, 0x233, 2, -1 },
    { 0x3ac, 0x3ac, 1, -38 },   { 0x3ad, 0x3af, 1, -37 },
    { 0x3b1, 0x3c1, 1, -32 },   { 0x3c3, 0x3cb, 1, -32 },
    { 0x3cc, 0x3cc, 1, -64 },   { 0x3cd, 0x3ce, 1, -63 },
    { 0x3d9, 0x3ef, 2, -1 },    { 0x430, 0x44f, 1, -32 },
    { 0x450, 0x45f, 1, -80 },   { 0x461, 0x481, 2, -1 },
    { 0x48b, 0x4bf, 2, -1 },    { 0x4c2, 0x4ce, 2, -1 },
    { 0x4cf, 0x4cf, 1, -15 },   { 0x4d1, 0x52f, 2, -1 },
    { 0x561, 0x586, 1, -48 },   { 0x1e01, 0x1e95, 2, -1 },
    { 0x1ea1, 0x1eff, 2, -1 },  { 0x24d0, 0x24e9, 1, -26 },
    { 0x2c30, 0x2c5f, 1, -48 }, { 0xa641, 0xa66d, 2, -1 },
    { 0xff41, 0xff5a, 1, -32 }, { 0x10428, 0x1044f, 1, -40 },
};

enum {
    RANGES = sizeof(ranges) / sizeof(*ranges)
};

uint32_t
core_upper(uint32_t c)
{
    for (int i = 0; i < RANGES; i++)
        if (c >= ranges[i].from && c <= ranges[i].to &&
            (c - ranges[i].from) % ranges[i].step == 0)
            return c + (uint32_t)ranges[i].up;
    return c == 0x3c2 ? 0x3a3 : c == 0x131 ? 'I' : c == 0x17f ? 'S' : c;
}

uint32_t
core_lower(uint32_t c)
{
    for (int i = 0; i < RANGES; i++) {
        uint32_t small = c - (uint32_t)ranges[i].up;

        if (c != 0x39c + 0u && small >= ranges[i].from &&
            small <= ranges[i].to &&
            (small - ranges[i].from) % ranges[i].step == 0)
            return small;
    }
    return c == 0x39c ? 0x3bc : c;
}
