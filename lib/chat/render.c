/* render.c - a conversation as a template writes it out */
#include <config.h>

#include "chat/render.h"
#include "chat/messages.h"
#include "chat/switches.h"

#include <string.h>
#include <time.h>

#ifdef HAVE_JANSSON
#include "chat/json.h"
#include "chat/tool_arguments.h"
#include "core/json.h"
#endif
#include "vocab/chat.h"
#include "vocab/vocab.h"

enum {
    MARK = sizeof(CHAT_MARK) - 1
};

/* ---- special tokens ------------------------------------------------------ */

/* A variable with the text of a token, if there is one. */
static bool
put_token(struct chat_arena *a, struct chat_dict *d, const char *name,
          const struct gg_vocab *v, int32_t id)
{
    const uint8_t *p;
    size_t n;

    if (id < 0 || v->textless[0])
        return true;
    p = vocab_bytes(v, id, &n);
    return chat_dict_put(a, d, name,
                         chat_string(a, (const char *)p, n, CHAT_TRUSTED));
}

/* ---- arguments ----------------------------------------------------------- */

#ifdef HAVE_JANSSON

/* The value of a text in JSON, called `name`. The calls of messages, which `q`
 * is given with, are made what the template takes. */
static enum gg_status
read_json(struct chat_arena *a, const char *name, const char *text,
          const struct chat_request *q, struct chat_value *out,
          struct gg_error *err)
{
    json_error_t e;
    enum gg_status st = GG_OK;
    json_t *json = core_json_load(text, strlen(text),
                                  JSON_ALLOW_NUL | JSON_DECODE_ANY, &e);

    if (!json)
        return error_set(err, GG_ERR_ARG, "%s of a chat template: not JSON",
                         name);
    if (q && !q->as_they_are && !chat_tool_arguments(q, json))
        st = error_nomem(err);
    if (st == GG_OK)
        *out = chat_from_json(a, json);
    json_decref(json);
    return st != GG_OK || out->type == CHAT_ABSENT ? error_nomem(err) : GG_OK;
}

#else

static enum gg_status
read_json(struct chat_arena *a, const char *name, const char *text,
          const struct chat_request *q, struct chat_value *out,
          struct gg_error *err)
{
    (void)a, (void)name, (void)text, (void)q, (void)out;
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "this was built without Jansson, which reads JSON");
}

#endif

/* ---- messages ------------------------------------------------------------ */

static bool
add_messages(struct chat_arena *a, const struct chat_request *q,
             struct chat_list *list)
{
    bool ok = true;

    for (size_t i = 0; ok && i < q->n; i++)
        ok = chat_add_message(a, list, vocab_chat_roles[q->messages[i].role],
                              q->messages[i].content, q->messages[i].len);
    return ok;
}

/* The messages as they are, before a form. */
static enum gg_status
read_messages(struct chat_arena *a, const struct chat_request *q,
              struct chat_value *list, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    bool ok;

    if (q->params->messages) {
        st = read_json(a, "messages", q->params->messages, q, list, err);
        if (st == GG_OK && list->type != CHAT_LIST)
            st = error_set(err, GG_ERR_ARG, "messages: no JSON array");
    } else {
        *list = chat_list(a, CHAT_LIST);
        ok = list->type != CHAT_ABSENT && add_messages(a, q, list->list);
        st = ok ? GG_OK : error_nomem(err);
    }
    for (size_t i = 0; st == GG_OK && i < list->list->n; i++)
        if (list->list->items[i].type != CHAT_DICT)
            st = error_set(err, GG_ERR_ARG, "message %zu is no JSON object",
                           i + 1);
    if (st == GG_OK && !q->as_they_are &&
        !chat_place_thoughts(q->template, list->list, a))
        st = error_nomem(err);
    if (st == GG_OK && !q->as_they_are && chat_orders_results(q->template))
        chat_order_results(list->list);
    if (st == GG_OK && (list->list->n == 0 || q->first > list->list->n))
        st = error_set(err, GG_ERR_ARG, "a conversation without messages");
    return st;
}

/* ---- tools --------------------------------------------------------------- */

/* A tool that takes nothing may lack parameters; few templates look. */
static bool
add_parameters(struct chat_arena *a, struct chat_value tool)
{
    const struct chat_value *f = tool.type == CHAT_DICT
                                     ? chat_dict_find(tool.dict, "function", 8)
                                     : NULL;
    struct chat_dict *d = f && f->type == CHAT_DICT ? f->dict
                          : tool.type == CHAT_DICT  ? tool.dict
                                                    : NULL;
    const struct chat_value *old =
        d ? chat_dict_find(d, "parameters", 10) : NULL;
    struct chat_value v;

    if (!d || !chat_dict_find(d, "name", 4) || (old && old->type != CHAT_NONE))
        return true;
    v = chat_dict(a, CHAT_DICT);
    return v.type != CHAT_ABSENT &&
           chat_dict_put(a, v.dict, "type",
                         chat_string(a, "object", 6, CHAT_TEXT)) &&
           chat_dict_put(a, v.dict, "properties", chat_dict(a, CHAT_DICT)) &&
           chat_set_member(a, d, "parameters", v);
}

static enum gg_status
put_tools(struct chat_arena *a, const char *tools, struct chat_dict *d,
          struct gg_error *err)
{
    struct chat_value v = { .type = CHAT_ABSENT };
    enum gg_status st = read_json(a, "tools", tools, NULL, &v, err);
    bool ok = true;

    for (size_t i = 0;
         st == GG_OK && ok && v.type == CHAT_LIST && i < v.list->n; i++)
        ok = add_parameters(a, v.list->items[i]);
    if (st == GG_OK && !(ok && chat_set_member(a, d, "tools", v)))
        st = error_nomem(err);
    return st;
}

static enum gg_status
put_arguments(struct chat_arena *a, const struct gg_chat_params *p,
              struct chat_dict *d, struct gg_error *err)
{
    struct chat_value v = { .type = CHAT_ABSENT };
    enum gg_status st = GG_OK;

    if (p->tools)
        st = put_tools(a, p->tools, d, err);
    if (st != GG_OK || !p->arguments)
        return st;
    st = read_json(a, "arguments", p->arguments, NULL, &v, err);
    if (st == GG_OK && v.type != CHAT_DICT)
        st = error_set(err, GG_ERR_ARG, "arguments: no JSON object");
    for (size_t i = 0; st == GG_OK && i < v.dict->n; i++)
        if (!chat_dict_set(a, d, v.dict->pairs[i].key, v.dict->pairs[i].value))
            st = error_nomem(err);
    return st;
}

/* ---- rendering ----------------------------------------------------------- */

static enum gg_status
put_variables(const struct chat_request *q, const struct chat_form *f,
              struct chat_value messages, struct chat_arena *a,
              struct chat_dict *d, struct gg_error *err)
{
    const struct gg_vocab *v = q->vocab;
    bool ok =
        chat_form_messages(a, q, f, &messages) &&
        chat_dict_put(a, d, "messages", messages) &&
        chat_dict_put(a, d, "add_generation_prompt", chat_bool(f->answer)) &&
        put_token(a, d, "bos_token", v, gg_vocab_bos(v)) &&
        put_token(a, d, "eos_token", v, gg_vocab_eos(v)) &&
        put_token(a, d, "unk_token", v, v->unk);

    return ok ? put_arguments(a, q->params, d, err) : error_nomem(err);
}

static enum gg_status
render_form(const struct chat_request *q, const struct chat_form *f,
            struct chat_value messages, struct chat_arena *a,
            struct chat_string *out, struct gg_error *err)
{
    struct chat_value d = chat_dict(a, CHAT_DICT);
    int64_t date = q->params->date ? q->params->date : (int64_t)time(NULL);
    enum gg_status st;

    if (d.type == CHAT_ABSENT)
        return error_nomem(err);
    st = put_variables(q, f, messages, a, d.dict, err);
    if (st == GG_OK)
        st = chat_template_render(q->template, d, date, q->limits, a, out, err);
    return st;
}

/* ---- fallback forms ------------------------------------------------------ */

/* All that a rendering takes. */
struct rendering {
    const struct chat_request *q;
    struct chat_value messages;
    struct chat_form form;
    struct chat_labels labels;
    struct chat_arena *arena;
    struct chat_arena before; /* any form was rendered */
};

/* Renders in the form of now; what was rendered before is gone. */
static enum gg_status
render_again(struct rendering *x, struct chat_string *out, struct gg_error *err)
{
    struct gg_error unused;

    chat_arena_rewind(x->arena, &x->before);
    x->labels = (struct chat_labels){ 0 };
    return render_form(x->q, &x->form, x->messages, x->arena, out,
                       err ? err : &unused);
}

/* Renders what a template refuses as it is plainer, step by step; the error is
 * that of the messages as they are. */
static enum gg_status
render_refused(struct rendering *x, enum gg_status refused,
               struct chat_string *out)
{
    size_t n = x->messages.list->n;

    for (int i = 0; i < 3; i++) {
        memset(x->form.plainer, CHAT_PLAIN | (i ? GG_CHAT_SYSTEMED : 0), n);
        x->form.question = i > 1 && x->form.rest && x->q->first == 1;
        if (render_again(x, out, NULL) == GG_OK)
            return GG_OK;
    }
    return refused;
}

/* Fallback forms that are left for a message that loses something. */
static unsigned
plainer_yet(struct chat_value message, unsigned lost, unsigned plainer)
{
    static const unsigned steps[] = { CHAT_PLAIN, GG_CHAT_SYSTEMED };

    for (int i = 0; i < 2; i++)
        if (chat_made_plainer(message, steps[i] & ~plainer))
            return steps[i];
    return lost & CHAT_LOST_CALL
               ? chat_made_plainer(message, CHAT_NULLED & ~plainer)
               : 0;
}

/* Looks what of each message came out, and makes plainer what did not. The
 * first message of which something is lost is *at, if there is one. */
static bool
look(struct rendering *x, const struct chat_string *out, size_t *at,
     unsigned *lost)
{
    struct chat_list *list = x->messages.list;
    bool plainer = false;
    size_t label = 0;

    *lost = 0;
    chat_labels_see(&x->labels, out);
    for (size_t i = x->q->first; i < list->n; i++) {
        struct chat_value m = list->items[i];
        unsigned l = chat_labels_lost(&x->labels, &label, i,
                                      chat_has_role(m, "assistant"));
        unsigned more = l ? plainer_yet(m, l, x->form.plainer[i]) : 0;

        if (l && !*lost) {
            *at = i;
            *lost = l;
        }
        x->form.plainer[i] |= (unsigned char)more;
        plainer = plainer || more;
    }
    return plainer;
}

/* Whether a text can be shown as it is. */
static bool
is_shown(const struct chat_string *s)
{
    bool is = s->n > 0 && s->n < 32;

    for (size_t i = 0; is && i < s->n; i++)
        is = s->s[i] > ' ' && s->s[i] < 0x7f;
    return is;
}

static enum gg_status
lost_error(const struct rendering *x, size_t at, unsigned lost,
           struct gg_error *err)
{
    struct chat_value m = x->messages.list->items[at];
    const struct chat_value *role = chat_dict_find(m.dict, "role", 4);
    bool named = role && role->type == CHAT_STRING && is_shown(role->string);

    return error_set(
        err, GG_ERR_UNSUPPORTED, "message %zu (%.*s): %s", at + 1,
        named ? (int)role->string->n : 7, named ? role->string->s : "unknown",
        lost & CHAT_LOST_TEXT ? "the template leaves its text out"
        : lost & CHAT_LOST_CALL || x->form.plainer[at] & CHAT_NULLED
            ? "the template leaves its calls out"
            : "the template does not read parts");
}

/* Renders again what a template leaves out, plainer; an error where it is left
 * out in any form. */
static enum gg_status
render_lost(struct rendering *x, struct chat_string *out, struct gg_error *err)
{
    size_t at = 0;
    unsigned lost;
    bool plainer = look(x, out, &at, &lost);
    struct gg_error unused;

    if (!lost)
        return GG_OK;
    lost_error(x, at, lost, err);
    while (plainer) {
        enum gg_status st = render_again(x, out, &unused);

        if (st != GG_OK)
            return st == GG_ERR_NOMEM ? error_nomem(err) : GG_ERR_UNSUPPORTED;
        plainer = look(x, out, &at, &lost);
        if (!lost)
            return GG_OK;
        lost_error(x, at, lost, err);
    }
    return GG_ERR_UNSUPPORTED;
}

static void
tell_plainer(const struct rendering *x)
{
    unsigned made = 0;

    for (size_t i = 0; i < x->messages.list->n; i++)
        made |=
            chat_made_plainer(x->messages.list->items[i], x->form.plainer[i]);
    if (x->q->params->plainer)
        *x->q->params->plainer |= made & ~(unsigned)CHAT_NULLED;
}

static enum gg_status
render_plainer(struct rendering *x, struct chat_string *out,
               struct gg_error *err)
{
    enum gg_status st = render_again(x, out, err);

    if (st == GG_ERR_FORMAT)
        st = render_refused(x, st, out);
    if (st == GG_OK && x->form.labels)
        st = render_lost(x, out, err);
    if (st == GG_OK)
        tell_plainer(x);
    return st;
}

/* The part of a string that begins at `at`. */
static void
cut(struct chat_string *s, size_t at, size_t n)
{
    s->s += at;
    s->origins = s->origins ? s->origins + at : NULL;
    s->n = n;
}

/* Where the mark stands last; SIZE_MAX: nowhere. */
static size_t
last_mark(const struct chat_string *s)
{
    for (size_t at = s->n; at >= MARK; at--)
        if (memcmp(s->s + at - MARK, CHAT_MARK, MARK) == 0)
            return at - MARK;
    return SIZE_MAX;
}

static enum gg_status
lost(struct gg_error *err)
{
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "the chat template does not show the assistant's last "
                     "message, which the conversation is to go on from");
}

/* Leaves what is wanted of the text, which has a mark where it ends, or where
 * it begins, or both. */
static enum gg_status
cut_at_marks(const struct chat_form *f, struct chat_string *s,
             struct gg_error *err)
{
    size_t at;

    if (f->open) {
        at = last_mark(s);
        if (at == SIZE_MAX)
            return lost(err);
        cut(s, 0, at);
    }
    if (f->rest) {
        at = last_mark(s);
        if (at == SIZE_MAX)
            return lost(err);
        cut(s, at + MARK, s->n - at - MARK);
    }
    return GG_OK;
}

/* The form of the whole conversation. */
static struct chat_form
form_of(const struct chat_request *q, const struct chat_list *list)
{
    bool answer = q->params->flags & GG_CHAT_ANSWER;
    struct chat_form f = { .rest = q->first > 0 };

    f.open = answer && q->first < list->n &&
             chat_has_role(list->items[list->n - 1], "assistant");
    f.answer = answer && !f.open;
    return f;
}

enum gg_status
chat_render(const struct chat_request *q, struct chat_arena *arena,
            struct chat_string *out, struct gg_error *err)
{
    struct chat_limits limits = { 0 };
    struct chat_request own = *q;
    struct rendering x = { .q = &own, .arena = arena };
    enum gg_status st = read_messages(arena, q, &x.messages, err);

    if (st != GG_OK)
        return st;
    if (!q->limits)
        own.limits = &limits;
    x.form = form_of(q, x.messages.list);
    x.form.labels = q->loses ? NULL : &x.labels;
    x.form.plainer = chat_arena_alloc(arena, x.messages.list->n);
    if (!x.form.plainer)
        return error_nomem(err);
    memset(x.form.plainer, 0, x.messages.list->n);
    x.before = *arena;
    st = render_plainer(&x, out, err);
    return st == GG_OK ? cut_at_marks(&x.form, out, err) : st;
}
