/* tool_grammar.c - a grammar of the calls that a model shall write */
#include "engine/tool_writer.h"

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/tool_types.h"
#include "vocab/vocab.h"

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
put_character(struct tool_writer *w, const struct tool_variant *v)
{
    const char ends[] = { first_of(v->after),
                          first_of(v->after) ? '\0' : first_of(w->f->next),
                          first_of(v->after) ? '\0' : first_of(w->f->close) };

    engine_tool_put(w, " [^\\x00-\\x08\\x0b-\\x1f\\x7f");
    for (size_t i = 0; i < sizeof(ends); i++)
        if (ends[i])
            engine_tool_put_name(w, "\\x%02x", (unsigned char)ends[i]);
    engine_tool_put(w, is_quoted(v) ? "\\x5c]" : "]");
}

/* A text as it stands there. */
static void
put_exact(struct tool_writer *w, const struct tool_variant *v, const char *s)
{
    for (size_t n; is_quoted(v) && s[n = strcspn(s, "\\")]; s += n + 1) {
        engine_tool_put_terminal(w, s, n);
        engine_tool_put_terminal(w, "\\\\", 2);
    }
    engine_tool_put_terminal(w, s, strlen(s));
}

/* Writes the texts that can stand there; false: none can. */
static bool
put_texts(struct tool_writer *w, const struct tool_variant *v,
          const json_t *texts)
{
    bool some = false;
    size_t i;
    json_t *text;

    json_array_foreach((json_t *)texts, i, text)
    {
        const char *s = json_string_value(text);

        if (!s || strchr(s, first_of(v->after) ? first_of(v->after) : '\n'))
            continue;
        engine_tool_put(w, some ? " |" : " (");
        put_exact(w, v, s);
        if (!*s)
            engine_tool_put(w, " \"\"");
        some = true;
    }
    engine_tool_put(w, some ? " )" : "");
    return some;
}

/* A string of a schema, as text. */
static void
put_string(struct tool_writer *w, const char *tool,
           const struct tool_variant *v, const json_t *schema)
{
    const json_t *some = json_object_get(schema, "enum");
    const json_t *one = json_object_get(schema, "const");
    long least = engine_tool_limit(schema, "minLength", 0);
    long most = engine_tool_limit(schema, "maxLength", -1);
    json_t *list = one ? json_pack("[O]", one) : NULL;

    if (one && !list)
        w->t.failed = true;
    if (some || list) {
        if (!put_texts(w, v, some ? some : list))
            engine_tool_error(
                w, GG_ERR_UNSUPPORTED, tool,
                "none of the texts of an enum can be written in its calls");
    } else if (json_object_get(schema, "pattern")) {
        engine_tool_error(
            w, GG_ERR_UNSUPPORTED, tool,
            "a pattern of a text that its calls write without quotation "
            "marks");
    } else {
        put_character(w, v);
        if (most >= 0)
            engine_tool_put_name(w, "{%ld,%ld}", least, most);
        else
            engine_tool_put_name(w, "{%ld,}", least);
    }
    json_decref(list);
}

/* ---- keys and values ---- */

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
put_pair(struct tool_writer *w, const char *tool, size_t j, const char *key,
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
    engine_tool_put_name(w, "pair%zu-%zu ::=", w->tool, j);
    engine_tool_put_terminal(w, key, strlen(key));
    engine_tool_put_text(w, v->before);
    if (text)
        put_string(w, tool, v, property);
    else
        engine_tool_put_name(w, " %sroot", prefix);
    engine_tool_put_text(w, v->after);
    engine_tool_put(w, "\n");
    schema = text ? NULL : engine_tool_whole_schema(parameters, property);
    if (schema)
        engine_tool_put_schema(w, tool, schema, prefix);
    else if (!text)
        w->t.failed = true;
    json_decref(schema);
}

/* Rules of what may stand from property j on: none before it, or some. */
static void
put_from(struct tool_writer *w, size_t j, bool required)
{
    engine_tool_put_name(w, "none%zu-%zu ::=", w->tool, j);
    engine_tool_put_text(w, w->f->first);
    engine_tool_put_name(w, " pair%zu-%zu some%zu-%zu", w->tool, j, w->tool,
                         j + 1);
    if (!required)
        engine_tool_put_name(w, " | none%zu-%zu", w->tool, j + 1);
    engine_tool_put_name(w, "\nsome%zu-%zu ::=", w->tool, j);
    engine_tool_put_text(w, w->f->next);
    engine_tool_put_name(w, " pair%zu-%zu some%zu-%zu", w->tool, j, w->tool,
                         j + 1);
    if (!required)
        engine_tool_put_name(w, " | some%zu-%zu", w->tool, j + 1);
    engine_tool_put(w, "\n");
}

/* Rules of arguments as keys and values; the first is "noneI-0". */
static void
put_pairs(struct tool_writer *w, const char *tool, const json_t *parameters)
{
    const char *key;
    json_t *property;
    size_t j = 0;

    json_object_foreach(json_object_get(parameters, "properties"), key,
                        property)
    {
        put_pair(w, tool, j, key, parameters, property);
        put_from(w, j++, engine_tool_is_required(parameters, key));
    }
    engine_tool_put_name(w, "none%zu-%zu ::=", w->tool, j);
    engine_tool_put_text(w, w->f->none);
    engine_tool_put(w, *w->f->none ? "" : " \"\"");
    engine_tool_put_name(w, "\nsome%zu-%zu ::=", w->tool, j);
    engine_tool_put_text(w, w->f->close);
    engine_tool_put(w, *w->f->close ? "\n" : " \"\"\n");
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
put_piece(struct tool_writer *w, const char *tool, size_t i)
{
    const struct tool_piece *p = &w->f->pieces[i];
    const char *text = p->written ? p->written : p->text;

    if (p->slot == TOOL_NAME)
        engine_tool_put_terminal(w, tool, strlen(tool));
    else if (p->slot == TOOL_ID)
        engine_tool_put(w, " [a-zA-Z0-9]{9}");
    else if (p->slot == TOOL_TEXT)
        engine_tool_put_text(w, i ? text : text + space_before(w->f));
    else if (w->f->kind == TOOL_PAIRS)
        engine_tool_put_name(w, " none%zu-0", w->tool);
    else
        engine_tool_put_name(w, " t%zu-root", w->tool);
}

/* The schema of a tool's arguments: there are those that it names. */
static json_t *
arguments_schema(struct tool_writer *w, const json_t *parameters)
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
put_call(struct tool_writer *w, const char *tool, const json_t *parameters)
{
    json_t *schema;
    char prefix[40];

    engine_tool_put_name(w, "call%zu ::=", w->tool);
    for (size_t i = 0; i < w->f->n_pieces; i++)
        put_piece(w, tool, i);
    engine_tool_put(w, "\n");
    if (w->f->kind == TOOL_PAIRS) {
        if (w->f->item)
            engine_tool_put_nested(w, tool, parameters);
        else
            put_pairs(w, tool, parameters);
        return;
    }
    schema = arguments_schema(w, parameters);
    snprintf(prefix, sizeof(prefix), "t%zu-", w->tool);
    engine_tool_put_schema(w, tool, schema, prefix);
    json_decref(schema);
}

/* Rules of all tools that may be called; false: there is none. */
static bool
put_calls(struct tool_writer *w, const json_t *tools, const char *name)
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
            engine_tool_error(w, GG_ERR_ARG, "without a name",
                              "it can not be called");
        else if (!name || strcmp(name, called) == 0) {
            w->tool = n++;
            put_call(w, called, json_object_get(f, "parameters"));
        }
    }
    for (i = 0; i < n; i++)
        engine_tool_put_name(w, "%s call%zu", i ? " |" : "call ::=", i);
    engine_tool_put(w, "\n");
    return n > 0;
}

/* The token that ends a turn with calls, where it ends no generation. */
static void
put_end(struct tool_writer *w)
{
    const struct gg_vocab *v = w->calls->vocab;
    const struct chat_mark *end = &w->f->ends[0];
    int32_t id = w->f->n_ends ? gg_vocab_find(v, end->s, end->n) : -1;

    if (id >= 0 && !gg_vocab_is_eog(v, id) &&
        gg_vocab_type(v, id) == GG_TOKEN_CONTROL)
        engine_tool_put_name(w, " <[%d]>?", (int)id);
}

static void
put_root(struct tool_writer *w, bool one)
{
    const struct tool_form *f = w->f;
    const char *open = f->open;
    size_t space = space_before(f);

    while (chat_tool_is_space(*open))
        open++;
    engine_tool_put(w, "root ::=");
    engine_tool_put_text(w, open);
    if (*open && space)
        engine_tool_put_literal(w, f->pieces[0].text, space);
    engine_tool_put(w, " call");
    if (!one) {
        engine_tool_put(w, " (");
        engine_tool_put_text(w, f->separator);
        if (space)
            engine_tool_put_literal(w, f->pieces[0].text, space);
        engine_tool_put(w, " call)*");
    }
    engine_tool_put_text(w, f->end);
    put_end(w);
    engine_tool_put(w, "\n");
}

enum gg_status
gg_chat_calls_grammar(const struct gg_chat_calls *calls, const char *tools,
                      const char *name, char *text, size_t cap, size_t *n,
                      struct gg_error *err)
{
    struct tool_writer w = { .calls = calls, .err = err };
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
