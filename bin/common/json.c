/* json.c - strings as JSON writes them, and texts that are JSON */
#include <config.h>

#include "common/json.h"
#include "common/plant.h"
#include "common/spare.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of the character at s, or 0 where that is not UTF-8. */
static size_t
character(const unsigned char *s, size_t len)
{
    static const unsigned char lead[] = { 0x80, 0xc2, 0xe0, 0xf0, 0xf5 };
    size_t n = 0;

    while (n < 5 && s[0] >= lead[n])
        n++;
    if (n == 0)
        return 1;
    if (n == 1 || n > 4 || n > len)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0; /* overlong, surrogate, beyond U+10FFFF */
    return n;
}

static void
add_ascii(struct buffer *out, unsigned char c)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    const char *p = named;
    char hex[8];

    while (*p && c != (unsigned char)*p)
        p += 2;
    if (*p) {
        buffer_char(out, '\\');
        buffer_char(out, p[1]);
    } else if (c < 0x20 || c == 0x7f) {
        snprintf(hex, sizeof(hex), "\\u%04x", c);
        buffer_add(out, hex, 6);
    } else {
        buffer_char(out, (char)c);
    }
}

void
cli_json_add(struct buffer *out, const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    char hex[8];

    buffer_char(out, '"');
    while (len) {
        size_t n = character(s, len);

        if (n == 0) {
            buffer_add(out, "\\ufffd", 6);
            n = 1;
        } else if (n == 1) {
            add_ascii(out, *s);
        } else if (s[0] == 0xc2 && s[1] < 0xa0) { /* C1 controls */
            snprintf(hex, sizeof(hex), "\\u%04x", s[1]);
            buffer_add(out, hex, 6);
        } else {
            buffer_add(out, (const char *)s, n);
        }
        s += n;
        len -= n;
    }
    buffer_char(out, '"');
}

void
cli_json_put(const char *text, size_t len)
{
    struct buffer out = { 0 };

    cli_json_add(&out, text, len);
    fwrite(out.p, 1, out.len, stdout);
    buffer_clear(&out);
}

#ifdef HAVE_JANSSON

enum {
    MAX_DEPTH = 256, /* of arrays and objects: a small stack is enough */
};

/* The end of the string that begins in front of p, or `end`. */
static const char *
end_of_string(const char *p, const char *end)
{
    while (p < end && *p != '"')
        p += *p == '\\' ? 2 : 1;
    return p < end ? p : end;
}

/* Whether the first value of the text is nested too deep; *line gets where, and
 * *to where it ends. */
static bool
is_deep(const char *p, const char *end, int *line, const char **to)
{
    int depth = 0;

    *line = 1;
    for (*to = end; p < end; p++) {
        *line += *p == '\n';
        if (*p == '"')
            p = end_of_string(p + 1, end);
        else if (*p == '[' || *p == '{')
            depth++;
        else if ((*p == ']' || *p == '}') && --depth <= 0) {
            *to = p + 1;
            return false;
        }
        if (depth > MAX_DEPTH)
            return true;
    }
    return false;
}

/* ---- numbers that Jansson has no type for ---- */

/* They become objects of one member, whose name no text has, as in the library:
 * what is passed through is text and need be no number of C. */
#define LARGE_NAME "\xef\xb7\x90" /* U+FDD0: no character */
#define LARGE_HEAD "{\"" LARGE_NAME "\":\""
#define LARGE_TAIL "\"}"

enum {
    FITS = 18,           /* digits of an integer */
    LONGEST_LARGE = 4300 /* bytes, as in the library */
};

/* The end of the number at p, or of bytes that might belong to one. */
static const char *
end_of_number(const char *p, const char *end)
{
    while (p < end && *p && strchr("+-.0123456789eE", *p))
        p++;
    return p;
}

/* Whether p[0..n) is a number of JSON that no integer and no double holds; the
 * text goes on to a NUL. */
static bool
is_large(const char *p, size_t n)
{
    const char *first = p + (*p == '-'), *dot = memchr(p, '.', n);
    size_t digits = strspn(first, "0123456789");
    char *end;
    double x;

    if (n > LONGEST_LARGE || digits == 0 || (*first == '0' && digits > 1) ||
        (dot && !strchr("0123456789", dot[1])))
        return false;
    x = strtod(p, &end);
    return end == p + n &&
           (isinf(x) || (first + digits == p + n && digits > FITS));
}

/* The text with a NUL at p, with objects in the place of such numbers. */
static void
hold_large(struct buffer *out, const char *p, const char *end)
{
    while (p < end) {
        const char *to = end_of_number(p, end);
        bool large = to > p && is_large(p, (size_t)(to - p));

        if (*p == '"') {
            to = end_of_string(p + 1, end);
            to += to < end;
        }
        to += to == p;
        if (large)
            buffer_add(out, LARGE_HEAD, sizeof(LARGE_HEAD) - 1);
        buffer_add(out, p, (size_t)(to - p));
        if (large)
            buffer_add(out, LARGE_TAIL, sizeof(LARGE_TAIL) - 1);
        p = to;
    }
}

static json_t *
load_large(const char *text, size_t len, size_t flags, json_error_t *err)
{
    struct buffer copy = { 0 }, held = { 0 };
    json_t *value;

    buffer_add(&copy, text, len);
    buffer_char(&copy, '\0');
    hold_large(&held, copy.p, copy.p + len);
    value = json_loadb(held.p, held.len, flags, err);
    buffer_clear(&held);
    buffer_clear(&copy);
    return value;
}

const char *
cli_json_large(const json_t *value)
{
    return json_object_size(value) == 1
               ? cli_json_text(json_object_get(value, LARGE_NAME))
               : NULL;
}

char *
cli_json_dump(const json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags), *to = text;

    for (const char *p = text; p && (*to = *p); to++, p++) {
        size_t n = strncmp(p, LARGE_HEAD, sizeof(LARGE_HEAD) - 1)
                       ? 0
                       : strcspn(p + sizeof(LARGE_HEAD) - 1, "\"");
        const char *number = p + sizeof(LARGE_HEAD) - 1;

        if (n == 0 || strncmp(number + n, LARGE_TAIL, 2) != 0 ||
            strspn(number, "+-.0123456789eE") != n)
            continue;
        memmove(to, number, n);
        to += n - 1;
        p = number + n + sizeof(LARGE_TAIL) - 2;
    }
    return text;
}

/* ---- texts ---- */

/* A text is being read that may have too many values; it has. */
static _Thread_local bool tries, lacks;

json_t *
cli_json_load(const char *text, size_t len, size_t flags, json_error_t *err)
{
    const char *end;
    json_t *value;
    int line;

    gg_plant("JSON of a tool");
    if (!is_deep(text, text + len, &line, &end)) {
        value = json_loadb(text, len, flags, err);
        if (value ||
            !(strstr(err->text, "too big") || strstr(err->text, "overflow")))
            return value;
        value = load_large(text, len, flags, err);
        if (value)
            err->position = (int)(end - text);
        return value;
    }
    memset(err, 0, sizeof(*err));
    err->line = line;
    snprintf(err->text, sizeof(err->text), "nested more than %d deep",
             MAX_DEPTH);
    return NULL;
}

json_t *
cli_json_try_load(const char *text, size_t len, size_t flags, json_error_t *err,
                  bool *no_memory)
{
    json_t *value;

    tries = spare_is_kept();
    lacks = false;
    value = cli_json_load(text, len, flags, err);
    tries = false;
    *no_memory = lacks;
    if (!lacks)
        return value;
    json_decref(value);
    return NULL;
}

const char *
cli_json_why(char *buf, const json_error_t *e)
{
    return gg_escape(buf, CLI_JSON_WHY, e->text, strlen(e->text));
}

const char *
cli_json_text(const json_t *value)
{
    const char *s = json_string_value(value);

    return s && strlen(s) == json_string_length(value) ? s : NULL;
}

static void *
must_alloc(size_t size)
{
    void *p;

    if (!tries)
        return cli_alloc(NULL, size, 1);
    p = malloc(size);
    lacks = lacks || !p;
    return p;
}

/* It would return texts without some of their bytes. */
void
cli_json_start(void)
{
    json_set_alloc_funcs(must_alloc, free);
}

#else

void
cli_json_start(void)
{
}

#endif
