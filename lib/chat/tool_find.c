/* tool_find.c - the form of calls, found from what a template renders */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_find.h"

#include <string.h>

#include "chat/tool_finder.h"
#include "chat/tool_read.h"

static bool
find_form(struct tool_finder *f)
{
    struct tool_form *form = f->form;
    struct tool_frame frame;

    *form = (struct tool_form){ .name = "found", .open_too = "" };
    if (!chat_tool_render_all(f))
        return false;
    chat_tool_find_begin(f);
    if (!chat_tool_find_kind(f) || !chat_tool_find_frame(f, &frame))
        return false;
    if (form->kind == TOOL_PAIRS && !chat_tool_find_pairs(f, frame.after))
        return false;
    chat_tool_find_pieces(f, f->from - frame.before.n,
                          form->kind == TOOL_PAIRS ? f->to
                                                   : f->to + frame.after.n);
    chat_tool_find_numbers(f);
    chat_tool_find_mark(f);
    chat_tool_find_known(f);
    return !f->why && !f->nomem;
}

/* ---- whether it reads its own renders ---- */

#define LIST(last) TOOL_ONE("{\"kk\": [" PROBE_NUMBER ", \"a\", " last "]}")

static const char *const samples[][2] = {
    { PROBE_ARGUMENTS_1, NULL },
    { TOOL_ARGUMENTS_2, NULL },
    { "{}", NULL },
    { TOOL_ONE(PROBE_NUMBER), NULL },
    { TOOL_ONE("\"two\\nlines <a&b> \\\"quoted\\\"\""), NULL },
    { LIST("{\"kkk\": true}"), NULL },
    { LIST("{\"kkk\": null}"), NULL },
    { PROBE_ARGUMENTS_1, PROBE_ARGUMENTS_1 },
    { TOOL_ARGUMENTS_2, "{}" },
};

/* Whether call i of the array is this one. */
static bool
is_read(const json_t *calls, size_t i, const char *name, const char *arguments)
{
    json_t *f = json_object_get(json_array_get(calls, i), "function");
    const json_t *a = json_object_get(f, "arguments");
    const char *read = json_string_value(json_object_get(f, "name"));
    json_error_t e;
    json_t *x = core_json_load(arguments, strlen(arguments), 0, &e);
    json_t *y =
        a ? core_json_load(json_string_value(a), json_string_length(a), 0, &e)
          : NULL;
    bool same = read && strcmp(read, name) == 0 && x && y && json_equal(x, y);

    json_decref(x);
    json_decref(y);
    return same;
}

/* Whether a render is read as it was made; its content too, if there is one. */
static bool
reads(struct tool_finder *f, const char *const sample[2], const json_t *tools)
{
    size_t n = sample[1] ? 2 : 1, content, from;
    struct tool_text t = { 0 }, after = { 0 };
    struct chat_string s;
    json_error_t e;
    json_t *calls = NULL;
    bool is;

    if (!chat_tool_render(f, sample[0], sample[1], &s) ||
        (n > 1 && f->form->one) ||
        (f->form->item && strstr(sample[0], "null"))) /* there is none */
        return !f->nomem;                             /* it is not to be read */
    from = chat_tool_answer(f, &s);
    is = chat_tool_read(f->form, tools, s.s + from, s.n - from, &t, &content,
                        &after) == n;
    if (is && !t.failed)
        calls = core_json_load(t.s, t.n, 0, &e);
    is = calls && is_read(calls, 0, PROBE_NAME_1, sample[0]) &&
         (n == 1 || is_read(calls, 1, PROBE_NAME_2, sample[1]));
    f->nomem |= t.failed;
    json_decref(calls);
    chat_tool_text_clear(&t);
    chat_tool_text_clear(&after);
    return is;
}

static bool
reads_all(struct tool_finder *f)
{
    json_error_t e;
    json_t *tools =
        core_json_load(chat_probe_tools, strlen(chat_probe_tools), 0, &e);
    bool all = tools != NULL;

    f->nomem |= !all;
    for (size_t i = 0; all && i < sizeof(samples) / sizeof(*samples); i++)
        all = reads(f, samples[i], tools);
    json_decref(tools);
    return all ||
           chat_tool_fails(f, "its calls are not read back as they were");
}

enum gg_status
chat_tool_find(const struct gg_vocab *v, const struct chat_template *t,
               struct gg_chat_calls *calls, struct gg_error *err)
{
    struct tool_finder f = {
        .probe = { .vocab = v, .template = t, .arena = &calls->arena },
        .form = &calls->form,
    };
    const char *why = NULL;
    bool found = false;

    for (int i = 0; i < 2 && !found && !f.nomem; i++) {
        f.probe.strings = i;
        f.why = NULL;
        found = find_form(&f) && reads_all(&f);
        why = why ? why : f.why;
    }
    if (f.nomem)
        return error_nomem(err);
    if (!found)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the chat template has no form of calls that is "
                         "known: %s",
                         why);
    return GG_OK;
}

#endif
