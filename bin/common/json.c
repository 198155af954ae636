/* json.c - strings as JSON writes them, and texts that are JSON */
#include <config.h>

#include "common/json.h"
#include "common/plant.h"

#include <stdbool.h>
#include <stdio.h>
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

/* Whether the first value of the text is nested too deep; *line gets where. */
static bool
is_deep(const char *p, const char *end, int *line)
{
    int depth = 0;

    *line = 1;
    for (; p < end; p++) {
        *line += *p == '\n';
        if (*p == '"')
            p = end_of_string(p + 1, end);
        else if (*p == '[' || *p == '{')
            depth++;
        else if ((*p == ']' || *p == '}') && --depth <= 0)
            return false;
        if (depth > MAX_DEPTH)
            return true;
    }
    return false;
}

json_t *
cli_json_load(const char *text, size_t len, size_t flags, json_error_t *err)
{
    int line;

    gg_plant("JSON of a tool");
    if (!is_deep(text, text + len, &line))
        return json_loadb(text, len, flags, err);
    memset(err, 0, sizeof(*err));
    err->line = line;
    snprintf(err->text, sizeof(err->text), "nested more than %d deep",
             MAX_DEPTH);
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
    return cli_alloc(NULL, size, 1);
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
