/* tool_writer.c - what grammars of calls are written with: literals, schemas */
#include "engine/tool_writer.h"

#ifdef HAVE_JANSSON

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "sample/schema/schema.h"
#include "vocab/vocab.h"

void
engine_tool_put(struct tool_writer *w, const char *s)
{
    chat_tool_puts(&w->t, s);
}

__attribute__((format(printf, 2, 3))) void
engine_tool_put_name(struct tool_writer *w, const char *fmt, ...)
{
    char s[80];
    va_list args;

    va_start(args, fmt);
    vsnprintf(s, sizeof(s), fmt, args);
    va_end(args);
    engine_tool_put(w, s);
}

/* ---- literals ---- */

/* Text in quotation marks; '\1' is a number. */
void
engine_tool_put_terminal(struct tool_writer *w, const char *s, size_t n)
{
    if (n == 0)
        return;
    engine_tool_put(w, " \"");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c == '\1')
            engine_tool_put(w, "\" [0-9]{1,3} \"");
        else if (c < ' ' || c == 0x7f || c == '"' || c == '\\')
            engine_tool_put_name(w, "\\x%02x", c);
        else
            chat_tool_put(&w->t, s + i, 1);
    }
    engine_tool_put(w, "\"");
}

/* A literal, in which control tokens are such. */
void
engine_tool_put_literal(struct tool_writer *w, const char *s, size_t n)
{
    const struct gg_vocab *v = w->calls->vocab;

    for (size_t at = 0; at < n;) {
        size_t skip, len = 0;
        int32_t id = vocab_special_find(&v->all, v, (const uint8_t *)s + at,
                                        n - at, &skip);
        bool control = id >= 0 && gg_vocab_type(v, id) != GG_TOKEN_USER_DEFINED;

        if (id >= 0)
            vocab_bytes(v, id, &len);
        engine_tool_put_terminal(w, s + at, control ? skip : skip + len);
        if (control)
            engine_tool_put_name(w, " <[%d]>", (int)id);
        at += skip + len;
    }
}

void
engine_tool_put_text(struct tool_writer *w, const char *s)
{
    engine_tool_put_literal(w, s, strlen(s));
}

bool
engine_tool_is_control(const struct tool_writer *w, const char *s)
{
    const struct gg_vocab *v = w->calls->vocab;
    size_t skip;
    int32_t id =
        vocab_special_find(&v->all, v, (const uint8_t *)s, strlen(s), &skip);

    return id >= 0 && skip == 0 &&
           gg_vocab_type(v, id) != GG_TOKEN_USER_DEFINED;
}

/* ---- schemas ---- */

static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* The end of a string or a class that begins at s[at]. */
static size_t
quoted_end(const char *s, size_t n, size_t at)
{
    char end = s[at] == '"' ? '"' : ']';

    for (at++; at < n && s[at] != end; at++)
        at += s[at] == '\\';
    return at < n ? at + 1 : n;
}

/* Adds a grammar whose rules get a prefix. */
static void
put_prefixed(struct tool_writer *w, const char *gbnf, size_t n,
             const char *prefix)
{
    for (size_t at = 0, to; at < n; at = to) {
        char c = gbnf[at];

        to = at + 1;
        if (c == '"' || c == '[')
            to = quoted_end(gbnf, n, at);
        else if (is_word(c))
            while (to < n && is_word(gbnf[to]))
                to++;
        if (is_word(c) && !(c >= '0' && c <= '9'))
            engine_tool_put(w, prefix);
        chat_tool_put(&w->t, gbnf + at, to - at);
    }
}

void
engine_tool_error(struct tool_writer *w, enum gg_status st, const char *tool,
                  const char *why)
{
    if (w->st == GG_OK)
        w->st = error_set(w->err, st, "tool %s: %s", tool, why);
}

/* Adds the rules of a schema; the first is called prefix + "root". */
void
engine_tool_put_schema(struct tool_writer *w, const char *tool,
                       const json_t *schema, const char *prefix)
{
    char *text = core_json_dump(schema, JSON_ENCODE_ANY), *gbnf = NULL;
    struct gg_error why;
    size_t n = 0;
    enum gg_status st =
        text ? sample_schema_to_gbnf(text, strlen(text), &gbnf, &n, &why)
             : error_nomem(&why);

    if (st == GG_OK)
        put_prefixed(w, gbnf, n, prefix);
    else if (st == GG_ERR_NOMEM)
        w->t.failed = true;
    else
        engine_tool_error(w, st, tool, why.message);
    mem_free(gbnf);
    free(text);
}

long
engine_tool_limit(const json_t *schema, const char *key, long other)
{
    const json_t *v = json_object_get(schema, key);

    return json_is_integer(v) ? (long)json_integer_value(v) : other;
}

/* A property's schema with what its references lead to. */
json_t *
engine_tool_whole_schema(const json_t *parameters, const json_t *property)
{
    static const char *const keys[] = { "$defs", "definitions" };
    json_t *all = json_copy((json_t *)property);

    for (int i = 0; all && i < 2; i++) {
        json_t *defs = json_object_get(parameters, keys[i]);

        if (defs && json_is_object(all) &&
            json_object_set(all, keys[i], defs) != 0) {
            json_decref(all);
            all = NULL;
        }
    }
    return all;
}

bool
engine_tool_is_required(const json_t *parameters, const char *key)
{
    size_t i;
    json_t *v;

    json_array_foreach(json_object_get(parameters, "required"), i, v)
    {
        if (json_is_string(v) && strcmp(json_string_value(v), key) == 0)
            return true;
    }
    return false;
}

#endif
