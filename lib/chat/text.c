/* text.c - strings whose bytes have an origin */
#include <config.h>

#include "chat/text.h"

#include <string.h>

/* ---- building ------------------------------------------------------------ */

static bool
make_room(struct chat_builder *b, size_t more)
{
    size_t cap = b->cap ? b->cap : 64;
    char *s;

    while (cap - b->n < more && cap < SIZE_MAX / 4)
        cap *= 2;
    if (cap == b->cap)
        return true;
    s = chat_failed(b->r) ? NULL
                          : chat_arena_grow(&b->r->arena, b->s, b->cap, cap);
    if (!s) {
        chat_fail_memory(b->r);
        return false;
    }
    b->s = s;
    b->cap = cap;
    return true;
}

static void
fill(uint16_t *origins, uint16_t origin, size_t n)
{
    for (size_t i = 0; i < n; i++)
        origins[i] = origin;
}

/* From now on each byte has its own. */
static bool
part_origins(struct chat_builder *b)
{
    size_t size = sizeof(*b->origins);
    uint16_t *o;

    if (b->origins && b->origins_cap >= b->cap)
        return true;
    o = chat_failed(b->r)
            ? NULL
            : chat_arena_grow(&b->r->arena, b->origins, b->origins_cap * size,
                              b->cap * size);
    if (!o) {
        chat_fail_memory(b->r);
        return false;
    }
    if (!b->origins)
        fill(o, b->origin, b->n);
    b->origins = o;
    b->origins_cap = b->cap;
    return true;
}

void
chat_put(struct chat_builder *b, const char *s, size_t n,
         enum chat_origin origin)
{
    if (n == 0 || !make_room(b, n))
        return;
    if (b->n == 0)
        b->origin = (uint16_t)origin;
    if ((b->origins || b->origin != origin) && !part_origins(b))
        return;
    memcpy(b->s + b->n, s, n);
    if (b->origins)
        fill(b->origins + b->n, (uint16_t)origin, n);
    b->n += n;
    chat_take_steps(b->r, 1 + n / 64);
}

void
chat_put_words(struct chat_builder *b, const char *s)
{
    chat_put(b, s, strlen(s), CHAT_TEXT);
}

void
chat_put_part(struct chat_builder *b, const struct chat_string *s, size_t at,
              size_t n)
{
    while (n && !chat_failed(b->r)) {
        size_t run = n;

        if (s->origins)
            for (run = 1; run < n && s->origins[at + run] == s->origins[at];)
                run++;
        chat_put(b, s->s + at, run, chat_origin_at(s, at));
        at += run;
        n -= run;
    }
}

void
chat_put_string(struct chat_builder *b, const struct chat_string *s)
{
    chat_put_part(b, s, 0, s->n);
}

size_t
chat_utf8(char out[CHAT_UTF8], uint32_t c)
{
    size_t n = 0;

    if (c > 0x10ffff || c >> 11 == 0x1b)
        c = 0xfffd;
    if (c < 0x80) {
        out[n++] = (char)c;
        return n;
    }
    if (c >= 0x10000)
        out[n++] = (char)(0xf0 | c >> 18);
    if (c >= 0x800)
        out[n++] = (char)((c < 0x10000 ? 0xe0 : 0x80) | (c >> 12 & 0x3f));
    out[n++] = (char)((c < 0x800 ? 0xc0 : 0x80) | (c >> 6 & 0x3f));
    out[n++] = (char)(0x80 | (c & 0x3f));
    return n;
}

void
chat_put_character(struct chat_builder *b, uint32_t c, enum chat_origin origin)
{
    char s[CHAT_UTF8];
    size_t n = chat_utf8(s, c);

    chat_put(b, s, n, origin);
}

struct chat_value
chat_built(struct chat_builder *b)
{
    struct chat_string *s;

    if (chat_failed(b->r))
        return chat_undefined(NULL);
    s = chat_alloc(b->r, sizeof(*s));
    if (!s)
        return chat_undefined(NULL);
    *s = (struct chat_string){ b->s ? b->s : "", b->n, b->origins, b->origin,
                               b->markup };
    return (struct chat_value){ .type = CHAT_STRING, .string = s };
}

/* ---- parts --------------------------------------------------------------- */

enum chat_origin
chat_origin_at(const struct chat_string *s, size_t at)
{
    return s->origins ? s->origins[at] : s->origin;
}

struct chat_value
chat_part(struct chat_run *r, const struct chat_string *s, size_t at, size_t n)
{
    struct chat_string *part = chat_alloc(r, sizeof(*part));

    if (!part)
        return chat_undefined(NULL);
    *part =
        (struct chat_string){ s->s + at, n, s->origins ? s->origins + at : NULL,
                              s->origin, s->markup };
    return (struct chat_value){ .type = CHAT_STRING, .string = part };
}

struct chat_value
chat_as_markup(struct chat_run *r, const struct chat_string *s)
{
    struct chat_string *copy = chat_alloc(r, sizeof(*copy));

    if (!copy)
        return chat_undefined(NULL);
    *copy = *s;
    copy->markup = true;
    return (struct chat_value){ .type = CHAT_STRING, .string = copy };
}

struct chat_value
chat_concatenate(struct chat_run *r, const struct chat_string *a,
                 const struct chat_string *b)
{
    struct chat_builder out = { .r = r };

    chat_put_string(&out, a);
    chat_put_string(&out, b);
    return chat_built(&out);
}

/* ---- characters ---------------------------------------------------------- */

/* Bytes that a first byte of UTF-8 announces; 1 for what is none. */
static size_t
announced(unsigned char c)
{
    return c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
}

/* Bytes of the character at p, of `left` bytes at most; 1 for what is none. */
static inline size_t
character_bytes(const unsigned char *p, size_t left)
{
    size_t n = announced(p[0]), i = 1;

    if (n == 2)
        return left > 1 && (p[1] & 0xc0) == 0x80 ? 2 : 1;
    while (i < n && i < left && (p[i] & 0xc0) == 0x80)
        i++;
    return i < n ? 1 : n;
}

size_t
chat_character(const struct chat_string *s, size_t at, uint32_t *c)
{
    const unsigned char *p = (const unsigned char *)s->s + at;
    size_t n = character_bytes(p, s->n - at);
    uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);

    for (size_t i = 1; i < n; i++)
        code = code << 6 | (p[i] & 0x3f);
    if (c)
        *c = code;
    return n;
}

size_t
chat_character_before(const struct chat_string *s, size_t end, uint32_t *c)
{
    for (size_t n = 2; n <= 4 && n <= end; n++)
        if (((unsigned char)s->s[end - n] & 0xc0) == 0xc0 &&
            chat_character(s, end - n, c) == n)
            return n;
    return chat_character(s, end - 1, c);
}

/* The byte after `most` characters, or after all; *n gets their number. */
static size_t
skip_characters(struct chat_run *r, const struct chat_string *s, size_t most,
                size_t *n)
{
    const unsigned char *p = (const unsigned char *)s->s;
    size_t at = 0, count = 0;

    for (; count < most && at < s->n; count++)
        at += p[at] < 0x80 ? 1 : character_bytes(p + at, s->n - at);
    *n = count;
    chat_take_steps(r, at / 16);
    return at;
}

size_t
chat_length(struct chat_run *r, const struct chat_string *s)
{
    size_t n;

    skip_characters(r, s, SIZE_MAX, &n);
    return n;
}

size_t
chat_offset(struct chat_run *r, const struct chat_string *s, size_t i)
{
    size_t n;

    return skip_characters(r, s, i, &n);
}

bool
chat_is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 ||
           c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
           c == 0x3000;
}

/* memmem() compares much of a long part again and again. */
size_t
chat_find(struct chat_run *r, const struct chat_string *s, size_t from,
          const struct chat_string *part)
{
    size_t size = part->n > 2 ? 4 : 16; /* bytes a step */
    size_t at;
    const char *p;

    if (from > s->n || part->n > s->n - from)
        return SIZE_MAX;
    if (part->n == 0)
        return from;
    p = memmem(s->s + from, s->n - from, part->s, part->n);
    at = p ? (size_t)(p - s->s) : s->n;
    chat_take_steps(r, 1 + (at - from + part->n) / size);
    return p ? at : SIZE_MAX;
}

/* Whether the character at..at + n is one of `chars`, or white space. */
static bool
is_stripped(const struct chat_string *s, size_t at, size_t n, uint32_t c,
            const struct chat_string *chars)
{
    if (!chars)
        return chat_is_space(c);
    for (size_t i = 0, m; i < chars->n; i += m) {
        m = chat_character(chars, i, NULL);
        if (m == n && memcmp(chars->s + i, s->s + at, n) == 0)
            return true;
    }
    return false;
}

struct chat_value
chat_strip(struct chat_run *r, const struct chat_string *s,
           const struct chat_string *chars, unsigned sides)
{
    size_t from = 0, to = s->n, n;
    uint32_t c = 0;

    while (sides & CHAT_LEFT && from < to && !chat_failed(r)) {
        n = chat_character(s, from, &c);
        chat_take_steps(r, chars ? chars->n / 16 : 0);
        if (!is_stripped(s, from, n, c, chars))
            break;
        from += n;
    }
    while (sides & CHAT_RIGHT && from < to && !chat_failed(r)) {
        n = chat_character_before(s, to, &c);
        chat_take_steps(r, chars ? chars->n / 16 : 0);
        if (!is_stripped(s, to - n, n, c, chars))
            break;
        to -= n;
    }
    return chat_part(r, s, from, to - from);
}
