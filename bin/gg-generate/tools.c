/* tools.c - what the model may call, and the calls in its answers */
#include <config.h>

#include "gg-generate/generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
tools_must_call(const char *choice)
{
    return choice && strcmp(choice, "auto") && strcmp(choice, "none");
}

#ifdef HAVE_JANSSON

#include "common/json.h"
#include "common/records/batch.h"

enum {
    MAX_TOOLS = 1 << 24, /* bytes */
};

/* ---- the options ---- */

void
tools_open(struct generate *g)
{
    const char *path = g->o->tools;
    json_error_t e;
    json_t *json;
    size_t n;
    char *text;

    if (!path)
        return;
    text =
        cli_read_all(cli_open_input(path), cli_input_name(path), MAX_TOOLS, &n);
    json = cli_json_load(text, n, 0, &e);
    if (!json_is_array(json))
        cli_die("%s: not a JSON array of tools", cli_input_name(path));
    json_decref(json);
    g->tools.text = cli_alloc(text, n + 1, 1);
    g->tools.text[n] = '\0';
}

void
tools_close(struct generate *g)
{
    gg_chat_reader_free(g->tools.reader);
    gg_chat_calls_free(g->tools.calls);
    free(g->tools.text);
    g->tools = (struct tools){ 0 };
}

/* ---- calls as the template writes them ---- */

static enum gg_status
open_calls(struct generate *g, struct gg_error *err)
{
    const struct gg_vocab *v = g->engine.vocab;
    struct tools *t = &g->tools;
    enum gg_status st = GG_OK;

    if (!t->calls)
        st = gg_chat_calls_open(v, g->o->template, &t->calls, err);
    if (st == GG_OK && !t->reader)
        st = gg_chat_reader_new(v, g->o->template, t->calls, &t->reader, err);
    if (st == GG_OK && g->engine.verbose && !g->told_calls)
        cli_warn("calls of tools: %s", gg_chat_calls_name(t->calls));
    g->told_calls = true;
    return st;
}

/* The grammar of calls, for free(). */
static enum gg_status
make_grammar(struct generate *g, const char *tools, const char *choice,
             char **out, struct gg_error *err)
{
    const char *name = strcmp(choice, "required") ? choice : NULL;
    size_t n = 0, cap = 0;
    char *text = NULL;
    enum gg_status st;

    do {
        text = cli_alloc(text, cap = n + 1, 1);
        st = gg_chat_calls_grammar(g->tools.calls, tools, name, text, cap, &n,
                                   err);
    } while (st == GG_OK && n >= cap);
    if (st == GG_OK) {
        text[n] = '\0';
        *out = text;
    } else {
        free(text);
    }
    return st;
}

void
tools_constrain(struct generate *g)
{
    struct sampling_options *s = &g->o->sampling;
    const struct gg_vocab *v = g->engine.vocab;
    struct gg_error err;
    char *text = NULL;

    if (!tools_must_call(g->o->tool_choice) || g->o->form != FORM_TEXT)
        return;
    if (s->grammar || s->json_schema)
        cli_misuse("--tool-choice %s does not go with --%s: calls have a "
                   "grammar of their own",
                   g->o->tool_choice, s->grammar ? "grammar" : "json-schema");
    cli_check(open_calls(g, &err), &err);
    cli_check(make_grammar(g, g->tools.text, g->o->tool_choice, &text, &err),
              &err);
    cli_check(gg_grammar_new(v, text, strlen(text), &s->params.grammar, &err),
              &err);
    free(text);
}

/* ---- some of the tools ---- */

/* {"type": "function", "function": {"name": ...}}, or what is within. */
static const char *
name_of(const json_t *tool)
{
    const json_t *f = json_object_get(tool, "function");

    return cli_json_text(json_object_get(f ? f : tool, "name"));
}

static json_t *
find_tool(const json_t *tools, const char *name)
{
    size_t i;
    json_t *tool;

    json_array_foreach(tools, i, tool)
    {
        const char *s = name_of(tool);

        if (s && strcmp(s, name) == 0)
            return tool;
    }
    return NULL;
}

static enum gg_status
add_allowed(const json_t *all, const json_t *allowed, json_t *some,
            struct gg_error *err)
{
    size_t i;
    json_t *one;

    json_array_foreach(allowed, i, one)
    {
        const char *name = name_of(one);
        json_t *tool = name ? find_tool(all, name) : NULL;

        if (!name)
            return cli_error(err, GG_ERR_FORMAT,
                             "tool_choice: allowed_tools: one without a name");
        if (!tool)
            return cli_error(err, GG_ERR_FORMAT,
                             "tool_choice: there is no tool %.100s", name);
        if (!find_tool(some, name))
            json_array_append(some, tool);
    }
    return GG_OK;
}

enum gg_status
tools_allow(const struct generate *g, const char *allowed, char **tools,
            struct gg_error *err)
{
    const char *text = *tools ? *tools : g->tools.text;
    json_error_t e;
    json_t *all = text ? cli_json_load(text, strlen(text), 0, &e) : NULL;
    json_t *list = cli_json_load(allowed, strlen(allowed), 0, &e);
    json_t *some = json_array();
    enum gg_status st = add_allowed(all, list, some, err);

    if (st == GG_OK) {
        free(*tools);
        *tools = cli_json_dump(some, JSON_COMPACT);
    }
    json_decref(all);
    json_decref(list);
    json_decref(some);
    return st;
}

/* ---- conversations ---- */

static const char *
choice_of(const struct generate *g, const struct prompt_source *s)
{
    return s->tool_choice ? s->tool_choice : g->o->tool_choice;
}

/* Whether the template has no place for them, where that is no error. */
static bool
are_left_out(struct generate *g, const struct prompt_source *s,
             const char *choice)
{
    struct gg_error err;

    if (!s->lenient || tools_must_call(choice) ||
        open_calls(g, &err) != GG_ERR_UNSUPPORTED)
        return false;
    batch_warn(s->lenient, "tools are left out: the chat template has "
                           "no form of calls that is known");
    return true;
}

void
tools_give(struct generate *g, struct prompt_source *s)
{
    const char *choice = choice_of(g, s);
    const char *tools = s->tools ? s->tools : g->tools.text;

    if (!s->chat.tools && tools)
        s->chat.tools = cli_copy(tools, strlen(tools));
    if (s->chat.tools && ((choice && strcmp(choice, "none") == 0) ||
                          are_left_out(g, s, choice))) {
        free(s->chat.tools);
        s->chat.tools = NULL;
    }
}

enum gg_status
tools_prompt(struct generate *g, const struct prompt_source *s,
             struct prompt *out, struct gg_error *err)
{
    const char *choice = choice_of(g, s);
    const char *tools = s->chat.tools;
    enum gg_status st = GG_OK;

    if (!tools)
        return !tools_must_call(choice)
                   ? GG_OK
                   : cli_error(err, GG_ERR_FORMAT, "tool_choice without tools");
    if (!tools_must_call(choice) && (s->is_json || g->o->sampling.json_schema))
        return GG_OK;
    st = open_calls(g, err);
    if (st != GG_OK)
        return st;
    out->reader = g->tools.reader;
    out->must_call = tools_must_call(choice);
    out->tools = cli_copy(tools, strlen(tools));
    return out->must_call && g->o->form != FORM_TEXT
               ? make_grammar(g, tools, choice, &out->grammar, err)
               : GG_OK;
}

/* ---- answers ---- */

/* Text of the answer that stands among its calls. */
static void
add_text(struct answer *a, const char *text, size_t n)
{
    buffer_add(&a->text, text, n);
    if (a->hides_calls)
        buffer_add(&a->shown, text, n);
}

/* Reads calls into `json`, followed by the text between and after them. */
static enum gg_status
read_calls(const struct generate *g, const char *tools, const char *text,
           size_t len, struct buffer *json, struct gg_calls_read *made,
           struct gg_error *err)
{
    enum gg_status st = GG_OK;
    size_t cap = 0;

    while (st == GG_OK && (cap == 0 || cap < made->n + made->after)) {
        cap = made->n + made->after + 1;
        st = gg_chat_calls_read(g->tools.calls, tools, text, len,
                                buffer_room(json, cap), cap, made, err);
    }
    return st;
}

bool
tools_read_text(const struct generate *g, const char *tools, const char *text,
                size_t len, struct buffer *json)
{
    struct gg_calls_read made = { 0 };
    struct gg_error err;
    enum gg_status st = read_calls(g, tools, text, len, json, &made, &err);

    json->len = st == GG_OK && made.calls ? made.n : 0;
    return json->len > 0;
}

enum gg_status
tools_read(const struct generate *g, struct answer *a, struct gg_error *err)
{
    struct gg_calls_read made = { 0 };
    enum gg_status st;

    if (a->calls.len == 0 || !a->tools)
        return GG_OK;
    st = read_calls(g, a->tools, a->calls.p, a->calls.len, &a->tool_calls,
                    &made, err);
    if (st != GG_OK)
        return st;
    a->tool_calls.len = made.calls ? made.n : 0;
    add_text(a, a->calls.p, made.content);
    if (made.after && a->text.len)
        add_text(a, "\n", 1);
    add_text(a, a->tool_calls.p + made.n, made.after);
    return GG_OK;
}

static void
write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno != EINTR)
            cli_die("--tool-calls: %s", strerror(errno));
        p += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
}

void
tools_write(const struct generate *g, const struct answer *a)
{
    json_error_t e;
    json_t *calls, *call;
    size_t i;

    if (!g->o->tool_calls || a->tool_calls.len == 0)
        return;
    calls = cli_json_load(a->tool_calls.p, a->tool_calls.len, 0, &e);
    json_array_foreach(calls, i, call)
    {
        char *line = cli_json_dump(call, JSON_COMPACT);

        if (!line)
            cli_die("out of memory");
        write_all(g->o->tool_calls, line, strlen(line));
        write_all(g->o->tool_calls, "\n", 1);
        free(line);
    }
    json_decref(calls);
}

void
tools_add_answer(const struct generate *g, struct chat *chat,
                 const struct answer *a)
{
    struct buffer json = { 0 };
    struct gg_error err;

    if (a->tool_calls.len == 0) {
        chat_answer(chat, a->text.p, a->text.len);
        return;
    }
    buffer_format(&json, "{\"role\":\"assistant\",\"content\":");
    cli_json_add(&json, a->text.p, a->text.len);
    if (a->reasoning.len) {
        buffer_format(&json, ",\"reasoning_content\":");
        cli_json_add(&json, a->reasoning.p, a->reasoning.len);
    }
    buffer_format(&json, ",\"tool_calls\":");
    buffer_add(&json, a->tool_calls.p, a->tool_calls.len);
    buffer_char(&json, '}');
    cli_check(chat_read(chat, g->o->template, json.p, json.len, false, &err),
              &err);
    buffer_clear(&json);
}

#else

void
tools_open(struct generate *g)
{
    if (g->o->tools)
        cli_die("--tools: this gg-generate was built without Jansson, and "
                "reads no JSON");
}

void
tools_constrain(struct generate *g)
{
    (void)g;
}

void
tools_close(struct generate *g)
{
    (void)g;
}

void
tools_give(struct generate *g, struct prompt_source *s)
{
    (void)g, (void)s;
}

enum gg_status
tools_prompt(struct generate *g, const struct prompt_source *s,
             struct prompt *out, struct gg_error *err)
{
    (void)g, (void)s, (void)out, (void)err;
    return GG_OK;
}

enum gg_status
tools_read(const struct generate *g, struct answer *a, struct gg_error *err)
{
    (void)g, (void)a, (void)err;
    return GG_OK;
}

void
tools_write(const struct generate *g, const struct answer *a)
{
    (void)g, (void)a;
}

void
tools_add_answer(const struct generate *g, struct chat *chat,
                 const struct answer *a)
{
    (void)g;
    chat_answer(chat, a->text.p, a->text.len);
}

#endif
