/* tool_grammar.c - a grammar of the calls that a model shall write */
#include <config.h>

#include "core/error.h"

#ifdef HAVE_JANSSON

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/tool_form.h"
#include "chat/tool_types.h"
#include "chat/tool_text.h"
#include "core/json.h"
#include "core/mem.h"
#include "sample/schema/schema.h"
#include "vocab/vocab.h"

struct writer {
    const struct gg_chat_calls *calls;
    const struct tool_form *f;
    struct tool_text t;
    enum gg_status st; /* of the first failure */
    struct gg_error *err;
    size_t tool; /* that is being written, for names of rules */
};

static void
put(struct writer *w, const char *s)
{
    chat_tool_puts(&w->t, s);
}

__attribute__((format(printf, 2, 3))) static void
put_name(struct writer *w, const char *fmt, ...)
{
    char s[80];
    va_list args;

    va_start(args, fmt);
    vsnprintf(s, sizeof(s), fmt, args);
    va_end(args);
    put(w, s);
}

/* ---- literals ---- */

/* Text in quotation marks; '\1' is a number. */
static void
put_terminal(struct writer *w, const char *s, size_t n)
{
    if (n == 0)
        return;
    put(w, " \"");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c == '\1')
            put(w, "\" [0-9]{1,3} \"");
        else if (c < ' ' || c == 0x7f || c == '"' || c == '\\')
            put_name(w, "\\x%02x", c);
        else
            chat_tool_put(&w->t, s + i, 1);
    }
    put(w, "\"");
}

/* A literal, in which control tokens are such. */
static void
put_literal(struct writer *w, const char *s, size_t n)
{
    const struct gg_vocab *v = w->calls->vocab;

    for (size_t at = 0; at < n;) {
        size_t skip, len = 0;
        int32_t id = vocab_special_find(&v->all, v, (const uint8_t *)s + at,
                                        n - at, &skip);
        bool control = id >= 0 && gg_vocab_type(v, id) != GG_TOKEN_USER_DEFINED;

        if (id >= 0)
            vocab_bytes(v, id, &len);
        put_terminal(w, s + at, control ? skip : skip + len);
        if (control)
            put_name(w, " <[%d]>", (int)id);
        at += skip + len;
    }
}

static void
put_text(struct writer *w, const char *s)
{
    put_literal(w, s, strlen(s));
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
put_prefixed(struct writer *w, const char *gbnf, size_t n, const char *prefix)
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
            put(w, prefix);
        chat_tool_put(&w->t, gbnf + at, to - at);
    }
}

static void
grammar_error(struct writer *w, enum gg_status st, const char *tool,
              const char *why)
{
    if (w->st == GG_OK)
        w->st = error_set(w->err, st, "tool %s: %s", tool, why);
}

/* Adds the rules of a schema; the first is called prefix + "root". */
static void
put_schema(struct writer *w, const char *tool, const json_t *schema,
           const char *prefix)
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
        grammar_error(w, st, tool, why.message);
    mem_free(gbnf);
    free(text);
}

/* ---- values of arguments that stand without quotation marks ---- */

/* The first character of what ends a value. */
static char
first_of(const char *s)
{
    while (*s && chat_tool_is_space(*s))
        s++;
    return *s;
}

/* Whether a text stands in quotation marks, in which a backslash begins an
 * escape. */
static bool
is_quoted(const struct tool_variant *v)
{
    return *v->after == '\'' || *v->after == '"';
}

/* A character of a text that ends where the form says. */
static void
put_character(struct writer *w, const struct tool_variant *v)
{
    const char ends[] = { first_of(v->after),
                          first_of(v->after) ? '\0' : first_of(w->f->next),
                          first_of(v->after) ? '\0' : first_of(w->f->close) };

    put(w, " [^\\x00-\\x08\\x0b-\\x1f\\x7f");
    for (size_t i = 0; i < sizeof(ends); i++)
        if (ends[i])
            put_name(w, "\\x%02x", (unsigned char)ends[i]);
    put(w, is_quoted(v) ? "\\x5c]" : "]");
}

/* A text as it stands there. */
static void
put_exact(struct writer *w, const struct tool_variant *v, const char *s)
{
    for (size_t n; is_quoted(v) && s[n = strcspn(s, "\\")]; s += n + 1) {
        put_terminal(w, s, n);
        put_terminal(w, "\\\\", 2);
    }
    put_terminal(w, s, strlen(s));
}

/* Those of the texts that can stand there; false: none can. */
static bool
put_texts(struct writer *w, const struct tool_variant *v, const json_t *texts)
{
    bool some = false;
    size_t i;
    json_t *text;

    json_array_foreach((json_t *)texts, i, text)
    {
        const char *s = json_string_value(text);

        if (!s || strchr(s, first_of(v->after) ? first_of(v->after) : '\n'))
            continue;
        put(w, some ? " |" : " (");
        put_exact(w, v, s);
        if (!*s)
            put(w, " \"\"");
        some = true;
    }
    put(w, some ? " )" : "");
    return some;
}

static long
limit(const json_t *schema, const char *key, long other)
{
    const json_t *v = json_object_get(schema, key);

    return json_is_integer(v) ? (long)json_integer_value(v) : other;
}

/* A string of a schema, as text. */
static void
put_string(struct writer *w, const char *tool, const struct tool_variant *v,
           const json_t *schema)
{
    const json_t *some = json_object_get(schema, "enum");
    const json_t *one = json_object_get(schema, "const");
    long least = limit(schema, "minLength", 0);
    long most = limit(schema, "maxLength", -1);
    json_t *list = one ? json_pack("[O]", one) : NULL;

    if (one && !list)
        w->t.failed = true;
    if (some || list) {
        if (!put_texts(w, v, some ? some : list))
            grammar_error(
                w, GG_ERR_UNSUPPORTED, tool,
                "none of the texts of an enum can be written in its calls");
    } else if (json_object_get(schema, "pattern")) {
        grammar_error(
            w, GG_ERR_UNSUPPORTED, tool,
            "a pattern of a text that its calls write without quotation "
            "marks");
    } else {
        put_character(w, v);
        if (most >= 0)
            put_name(w, "{%ld,%ld}", least, most);
        else
            put_name(w, "{%ld,}", least);
    }
    json_decref(list);
}

/* ---- keys and values ---- */

/* A property's schema with what its references lead to. */
static json_t *
whole_schema(const json_t *parameters, const json_t *property)
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

/* The variant in which a value of the types is written. */
static const struct tool_variant *
variant_of(const struct tool_form *f, unsigned types)
{
    const struct tool_variant *best = &f->variants[0];

    for (size_t i = f->n_variants; i-- > 0;)
        if (f->variants[i].types & types)
            best = &f->variants[i];
    return best;
}

/* Rule "pairI-J": a key and its value, with what stands around the value. */
static void
put_pair(struct writer *w, const char *tool, size_t j, const char *key,
         const json_t *parameters, const json_t *property)
{
    unsigned types = chat_tool_types(property);
    bool text = types != TOOL_ANY && types & TOOL_STRING;
    const struct tool_variant *v =
        variant_of(w->f, text                ? TOOL_STRING
                         : types == TOOL_ANY ? TOOL_NUMBER
                                             : types);
    char prefix[60];
    json_t *schema;

    snprintf(prefix, sizeof(prefix), "t%zup%zu-", w->tool, j);
    put_name(w, "pair%zu-%zu ::=", w->tool, j);
    put_terminal(w, key, strlen(key));
    put_text(w, v->before);
    if (text)
        put_string(w, tool, v, property);
    else
        put_name(w, " %sroot", prefix);
    put_text(w, v->after);
    put(w, "\n");
    schema = text ? NULL : whole_schema(parameters, property);
    if (schema)
        put_schema(w, tool, schema, prefix);
    else if (!text)
        w->t.failed = true;
    json_decref(schema);
}

static bool
is_required(const json_t *parameters, const char *key)
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

/* Rules of what may stand from property j on: none before it, or some. */
static void
put_from(struct writer *w, size_t j, bool required)
{
    put_name(w, "none%zu-%zu ::=", w->tool, j);
    put_text(w, w->f->first);
    put_name(w, " pair%zu-%zu some%zu-%zu", w->tool, j, w->tool, j + 1);
    if (!required)
        put_name(w, " | none%zu-%zu", w->tool, j + 1);
    put_name(w, "\nsome%zu-%zu ::=", w->tool, j);
    put_text(w, w->f->next);
    put_name(w, " pair%zu-%zu some%zu-%zu", w->tool, j, w->tool, j + 1);
    if (!required)
        put_name(w, " | some%zu-%zu", w->tool, j + 1);
    put(w, "\n");
}

/* Rules of arguments as keys and values; the first is "noneI-0". */
static void
put_pairs(struct writer *w, const char *tool, const json_t *parameters)
{
    const char *key;
    json_t *property;
    size_t j = 0;

    json_object_foreach(json_object_get(parameters, "properties"), key,
                        property)
    {
        put_pair(w, tool, j, key, parameters, property);
        put_from(w, j++, is_required(parameters, key));
    }
    put_name(w, "none%zu-%zu ::=", w->tool, j);
    put_text(w, w->f->none);
    put(w, *w->f->none ? "" : " \"\"");
    put_name(w, "\nsome%zu-%zu ::=", w->tool, j);
    put_text(w, w->f->close);
    put(w, *w->f->close ? "\n" : " \"\"\n");
}

/* ---- calls ---- */

/* Lines that the first piece begins with: they stand between calls. */
static size_t
space_before(const struct tool_form *f)
{
    const char *s = f->pieces[0].slot == TOOL_TEXT ? f->pieces[0].text : "";
    size_t n = 0;

    while (s[n] == '\n')
        n++;
    return n;
}

static void
put_piece(struct writer *w, const char *tool, size_t i)
{
    const struct tool_piece *p = &w->f->pieces[i];
    const char *text = p->written ? p->written : p->text;

    if (p->slot == TOOL_NAME)
        put_terminal(w, tool, strlen(tool));
    else if (p->slot == TOOL_ID)
        put(w, " [a-zA-Z0-9]{9}");
    else if (p->slot == TOOL_TEXT)
        put_text(w, i ? text : text + space_before(w->f));
    else if (w->f->kind == TOOL_PAIRS)
        put_name(w, " none%zu-0", w->tool);
    else
        put_name(w, " t%zu-root", w->tool);
}

/* The schema of a tool's arguments: there are those that it names. */
static json_t *
arguments_schema(struct writer *w, const json_t *parameters)
{
    static const char *const other[] = { "additionalProperties",
                                         "patternProperties",
                                         "allOf",
                                         "anyOf",
                                         "oneOf",
                                         "$ref" };
    json_t *schema = json_is_object(parameters)
                         ? json_copy((json_t *)parameters)
                         : json_object();
    bool closed = true, failed = false;

    for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
        closed = closed && !json_object_get(schema, other[i]);
    if (!json_object_get(schema, "type"))
        failed = json_object_set_new(schema, "type", json_string("object"));
    if (closed)
        failed |= json_object_set_new(schema, other[0], json_false()) != 0;
    w->t.failed = w->t.failed || failed;
    return schema;
}

/* Rule "callI" and what it needs. */
static void
put_call(struct writer *w, const char *tool, const json_t *parameters)
{
    json_t *schema;
    char prefix[40];

    put_name(w, "call%zu ::=", w->tool);
    for (size_t i = 0; i < w->f->n_pieces; i++)
        put_piece(w, tool, i);
    put(w, "\n");
    if (w->f->kind == TOOL_PAIRS) {
        put_pairs(w, tool, parameters);
        return;
    }
    schema = arguments_schema(w, parameters);
    snprintf(prefix, sizeof(prefix), "t%zu-", w->tool);
    put_schema(w, tool, schema, prefix);
    json_decref(schema);
}

/* Rules of all tools that may be called; false: there is none. */
static bool
put_calls(struct writer *w, const json_t *tools, const char *name)
{
    size_t i, n = 0;
    json_t *tool;

    json_array_foreach((json_t *)tools, i, tool)
    {
        json_t *f = json_object_get(tool, "function");
        const char *called;

        f = f ? f : tool;
        called = json_string_value(json_object_get(f, "name"));
        if (!called || !*called)
            grammar_error(w, GG_ERR_ARG, "without a name",
                          "it can not be called");
        else if (!name || strcmp(name, called) == 0) {
            w->tool = n++;
            put_call(w, called, json_object_get(f, "parameters"));
        }
    }
    for (i = 0; i < n; i++)
        put_name(w, "%s call%zu", i ? " |" : "call ::=", i);
    put(w, "\n");
    return n > 0;
}

/* The token that ends a turn with calls, where it ends no generation. */
static void
put_end(struct writer *w)
{
    const struct gg_vocab *v = w->calls->vocab;
    const struct chat_mark *end = &w->f->ends[0];
    int32_t id = w->f->n_ends ? gg_vocab_find(v, end->s, end->n) : -1;

    if (id >= 0 && !gg_vocab_is_eog(v, id) &&
        gg_vocab_type(v, id) == GG_TOKEN_CONTROL)
        put_name(w, " <[%d]>?", (int)id);
}

static void
put_root(struct writer *w, bool one)
{
    const struct tool_form *f = w->f;
    const char *open = f->open;
    size_t space = space_before(f);

    while (chat_tool_is_space(*open))
        open++;
    put(w, "root ::=");
    put_text(w, open);
    if (*open && space)
        put_literal(w, f->pieces[0].text, space);
    put(w, " call");
    if (!one) {
        put(w, " (");
        put_text(w, f->separator);
        if (space)
            put_literal(w, f->pieces[0].text, space);
        put(w, " call)*");
    }
    put_text(w, f->end);
    put_end(w);
    put(w, "\n");
}

enum gg_status
gg_chat_calls_grammar(const struct gg_chat_calls *calls, const char *tools,
                      const char *name, char *text, size_t cap, size_t *n,
                      struct gg_error *err)
{
    struct writer w = { .calls = calls, .err = err };
    json_error_t e;
    json_t *json;

    if (!calls || !tools || !n || (!text && cap))
        return error_null(err);
    json = core_json_load(tools, strlen(tools), 0, &e);
    if (!json_is_array(json)) {
        json_decref(json);
        return error_set(err, GG_ERR_ARG, "tools: no JSON array");
    }
    w.f = &calls->form;
    if (!put_calls(&w, json, name) && w.st == GG_OK)
        w.st = name ? error_set(err, GG_ERR_ARG, "there is no tool %s", name)
                    : error_set(err, GG_ERR_ARG, "there are no tools");
    put_root(&w, name || w.f->one);
    if (w.t.failed && w.st == GG_OK)
        w.st = error_nomem(err);
    if (w.st == GG_OK) {
        *n = w.t.n;
        if (cap)
            memcpy(text, w.t.s, *n < cap ? *n : cap);
    }
    json_decref(json);
    chat_tool_text_clear(&w.t);
    return w.st;
}

#else

enum gg_status
gg_chat_calls_grammar(const struct gg_chat_calls *calls, const char *tools,
                      const char *name, char *text, size_t cap, size_t *n,
                      struct gg_error *err)
{
    (void)calls, (void)tools, (void)name, (void)text, (void)cap, (void)n;
    return error_set(err, GG_ERR_UNSUPPORTED, "this build reads no JSON");
}

#endif
