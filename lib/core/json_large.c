/* json_large.c - numbers of JSON that C has no type for
 *
 * Jansson refuses them. Where a text has some, they become objects of one
 * member, whose name no text has, and numbers again where they are written. */
#include <config.h>

#ifdef HAVE_JANSSON

#include "core/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/real.h"

enum {
    MAX_NUMBER = 4300, /* bytes; Python takes an int of as many digits */
    LONGER = 3,        /* times, at most: {"x":"1e400"} */
};

#define NAME "\xef\xb7\x90"     /* U+FDD0: no character */
#define HEAD "{\"" NAME "\":\"" /* and a blank after the colon, perhaps */
#define TAIL "\"}"

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *
skip_digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

/* The end of the number of JSON at p, in a text with a NUL; NULL: there is
 * none. */
static const char *
end_of_number(const char *p, bool *whole)
{
    p += *p == '-';
    if (!is_digit(*p) || (p[0] == '0' && is_digit(p[1])))
        return NULL;
    p = skip_digits(p);
    *whole = *p != '.' && *p != 'e' && *p != 'E';
    if (*p == '.') {
        if (!is_digit(*++p))
            return NULL;
        p = skip_digits(p);
    }
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (!is_digit(*p))
            return NULL;
        p = skip_digits(p);
    }
    return p;
}

static bool
is_large(const char *p, const char *end, bool whole)
{
    static const char most[] = "9223372036854775807";
    const char *digits = p + (*p == '-');
    int order;

    if (end - p > MAX_NUMBER)
        return false; /* nor is it read */
    if (!whole)
        return isinf(strtod(p, NULL));
    if (end - digits != sizeof(most) - 1)
        return end - digits > (int)sizeof(most) - 1;
    order = memcmp(digits, most, sizeof(most) - 2);
    return order > 0 || (order == 0 && end[-1] > (*p == '-' ? '8' : '7'));
}

static char *
append(char *to, const char *p, size_t n)
{
    memcpy(to, p, n);
    return to + n;
}

/* Copies the text at p, with a NUL, large numbers as objects; returns the end
 * of what is at `to`. */
static char *
hold_large(char *to, const char *p)
{
    while (*p) {
        const char *end = p + 1;
        bool whole, number = *p == '-' || is_digit(*p);

        if (*p == '"') {
            for (; *end && *end != '"'; end++)
                end += *end == '\\' && end[1];
            end += *end == '"';
        } else if (number) {
            end = end_of_number(p, &whole);
            number = end && is_large(p, end, whole);
            if (!end)
                end = p + 1 + strspn(p + 1, "0123456789.eE+-");
        }
        to = number ? append(to, HEAD, sizeof(HEAD) - 1) : to;
        to = append(to, p, (size_t)(end - p));
        to = number ? append(to, TAIL, sizeof(TAIL) - 1) : to;
        p = end;
    }
    return to;
}

json_t *
core_json_load_large(const char *text, size_t size, size_t flags,
                     json_error_t *error)
{
    json_malloc_t allocate;
    json_free_t release;
    char *copy, *held, *end;
    json_t *value = NULL;

    json_get_alloc_funcs(&allocate, &release);
    copy = allocate(size + 1);
    held = copy ? allocate(LONGER * size + 1) : NULL;
    if (held) {
        *append(copy, text, size) = '\0';
        end = strlen(copy) == size ? hold_large(held, copy) : NULL;
        value = json_loadb(end ? held : text, end ? (size_t)(end - held) : size,
                           flags, error);
    }
    release(held);
    release(copy);
    return value;
}

const char *
core_json_large(const json_t *value)
{
    const char *s = json_object_size(value) == 1
                        ? json_string_value(json_object_get(value, NAME))
                        : NULL;
    bool whole;
    const char *end = s ? end_of_number(s, &whole) : NULL;

    return end && !*end ? s : NULL;
}

/* ---- writing ------------------------------------------------------------- */

/* A number at p that is written in another way, or NULL; its end in *from. */
static char *
add_number(char *to, const char *p, const char **from)
{
    char text[CORE_REAL_TEXT];
    bool whole;
    const char *end;

    if (strncmp(p, HEAD, sizeof(HEAD) - 2) == 0) {
        p += sizeof(HEAD) - 2;
        p += *p == ' ';
        p += *p == '"';
        end = end_of_number(p, &whole);
        if (!end || strncmp(end, TAIL, sizeof(TAIL) - 1) != 0)
            return NULL;
        *from = end + sizeof(TAIL) - 1;
        return append(to, p, (size_t)(end - p));
    }
    end = *p == '-' || is_digit(*p) ? end_of_number(p, &whole) : NULL;
    if (!end)
        return NULL;
    *from = end;
    if (whole)
        return append(to, p, (size_t)(end - p));
    core_real_text(text, strtod(p, NULL));
    return append(to, text, strlen(text));
}

/* Copies the text of json_dumps(), its numbers in the shortest form. */
static char *
write_numbers(char *to, const char *p)
{
    while (*p) {
        const char *end = p + 1;
        char *more = add_number(to, p, &end);

        if (!more && *p == '"') {
            for (; *end != '"'; end++)
                end += *end == '\\';
            end++;
        }
        to = more ? more : append(to, p, (size_t)(end - p));
        p = end;
    }
    return to;
}

char *
core_json_dump(const json_t *value, size_t flags)
{
    json_malloc_t allocate;
    json_free_t release;
    char *text = json_dumps(value, flags), *out;

    json_get_alloc_funcs(&allocate, &release);
    out = text ? allocate(2 * strlen(text) + 1) : NULL;
    if (out)
        *write_numbers(out, text) = '\0';
    release(text);
    return out;
}

double
core_json_real(const json_t *value)
{
    const char *large = core_json_large(value);

    return large ? strtod(large, NULL) : json_number_value(value);
}

#endif
