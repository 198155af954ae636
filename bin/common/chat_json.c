/* chat_json.c - conversations in JSON */
#include <config.h>

#include "common/buffer.h"
#include "common/chat.h"
#include "common/chat_parts.h"

#ifdef HAVE_JANSSON

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/media_intake.h"
#include "common/options.h"

struct reader {
    struct chat *chat;
    struct gg_error *err;
    size_t line; /* of the value; 0: lines are not counted */
    bool known;  /* for a known form that has texts and roles only */
};

/* By enum gg_role; and what known forms take for the system, and a tool. */
static const char *const roles[] = { "system", "user",      "assistant",
                                     "tool",   "developer", "function" };

CLI_PRINTF(2, 3)
static enum gg_status
fail(const struct reader *r, const char *fmt, ...)
{
    char *to = r->err->message;
    size_t size = sizeof(r->err->message), used = 0;
    va_list ap;

    if (r->line)
        used = (size_t)snprintf(to, size, "line %zu: ", r->line);
    va_start(ap, fmt);
    vsnprintf(to + used, size - used, fmt, ap);
    va_end(ap);
    return GG_ERR_FORMAT;
}

static enum gg_status
fail_syntax(struct reader *r, const json_error_t *e)
{
    char why[CLI_JSON_WHY];

    if (r->line)
        r->line += e->line > 0 ? (size_t)e->line - 1 : 0;
    return fail(r, "not JSON: %s", cli_json_why(why, e));
}

static enum gg_status
read_role(const struct reader *r, const json_t *value, enum gg_role *role)
{
    const char *s = json_string_value(value);
    char shown[64];

    if (!s)
        return fail(r, "a message without a role that is a string");
    for (int i = 0; i < 6; i++)
        if (strcmp(s, roles[i]) == 0) {
            *role = i < 4    ? (enum gg_role)i
                    : i == 4 ? GG_ROLE_SYSTEM
                             : GG_ROLE_TOOL;
            return GG_OK;
        }
    gg_escape(shown, sizeof(shown), s, json_string_length(value));
    return fail(r,
                "role '%s' is none of system, developer, user, assistant, tool",
                shown);
}

/* One part of a content: {"type": "text", "text": ...}. */
static enum gg_status
read_part(const struct reader *r, const json_t *part, struct buffer *out)
{
    const json_t *type = json_object_get(part, "type");
    const json_t *text = json_object_get(part, "text");
    const char *name = json_string_value(type);
    char shown[64];

    if (!name)
        return fail(r, "a part of a message without a type");
    if (strcmp(name, "text") != 0)
        return fail(
            r, "a part of a message of type '%s', which is no text",
            gg_escape(shown, sizeof(shown), name, json_string_length(type)));
    if (!json_is_string(text))
        return fail(r, "a part of a message without text that is a string");
    if (out->p)
        buffer_char(out, '\n');
    buffer_room(out, 1); /* of an empty text, too */
    buffer_add(out, json_string_value(text), json_string_length(text));
    return GG_OK;
}

/* A string; or parts, with a newline between two. */
static enum gg_status
read_content(const struct reader *r, const json_t *value, struct buffer *out)
{
    enum gg_status st = GG_OK;

    if (json_is_string(value))
        buffer_add(out, json_string_value(value), json_string_length(value));
    else if (!json_is_array(value))
        return fail(r, "a message without content that is a string");
    for (size_t i = 0; st == GG_OK && i < json_array_size(value); i++)
        st = read_part(r, json_array_get(value, i), out);
    return st;
}

/* True for what would have to be shown to the model, and cannot be. */
static bool
calls_tools(const json_t *message)
{
    const json_t *calls = json_object_get(message, "tool_calls");
    const json_t *call = json_object_get(message, "function_call");

    if (json_is_array(calls) && json_array_size(calls) == 0)
        calls = NULL;
    return (calls && !json_is_null(calls)) || (call && !json_is_null(call));
}

/* Whether it has more than a text and a role that a known form has. */
static bool
has_more(const json_t *message)
{
    const char *role = json_string_value(json_object_get(message, "role"));
    bool more = json_object_size(message) != 2 ||
                !json_is_string(json_object_get(message, "content"));

    for (int i = 0; role && i < 4; i++)
        if (strcmp(role, roles[i]) == 0)
            return more;
    return true;
}

/* A text of the value, for free(). */
static enum gg_status
keep(const struct reader *r, const json_t *value, char **out)
{
    char *text = cli_json_dump(value, JSON_COMPACT | JSON_ENCODE_ANY);

    if (!text)
        return fail(r, "out of memory");
    free(*out);
    *out = text;
    return GG_OK;
}

static enum gg_status
take_source(const struct reader *r, const struct media_part *part,
            struct media_place *place)
{
    struct gg_error why;
    enum gg_status st =
        media_intake_part(r->chat->intake, part, &place->item, &why);

    if (st == GG_OK)
        return GG_OK;
    (void)fail(r, "%s of message %zu: %s", media_kind_name(part->kind),
               r->chat->n + 1, why.message);
    return st;
}

/* One that a part names is its message's own; others are the job's in turn. */
static enum gg_status
take_part(const struct reader *r, const json_t *o, enum gg_media_kind kind)
{
    struct chat *c = r->chat;
    struct media_part part = { .kind = kind };
    struct media_place place = { .kind = kind, .message = c->n };
    enum gg_status st = GG_OK;

    place.own = c->intake && chat_find_source(o, &part);
    if (place.own)
        st = take_source(r, &part, &place);
    else if (!c->has_job_media)
        st = fail(r, "a part of message %zu names no %s", c->n + 1,
                  media_kind_name(kind));
    else
        place.item = c->next_medium++;
    if (st != GG_OK)
        return st;
    chat_insert_medium(c, c->n_media, &place);
    if (place.own) /* the list holds it */
        media_intake_release(c->intake, place.item);
    return GG_OK;
}

static enum gg_status
refuse_part(const struct reader *r, const char *type, bool known)
{
    const char *why = known ? r->chat->why_none : NULL;

    return fail(r, "a part of a message of type '%s': only text is read%s%s",
                type, why ? "; " : "", why ? why : "");
}

/* Pictures and sounds, as other programs take them. Where none are taken, they
 * are refused: the template would write a mark for one that the model is never
 * shown. */
static enum gg_status
read_media(const struct reader *r, json_t *content)
{
    static const char images[] = "image|image_url|input_image";
    static const char sounds[] = "audio|audio_url|input_audio";
    static const char others[] = "video|video_url|file|input_file";

    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_t *part = json_array_get(content, i);
        const json_t *type = json_object_get(part, "type");
        const char *name = json_string_value(type);
        bool image = name && cli_has_word(images, name);
        bool sound = name && cli_has_word(sounds, name);
        enum gg_media_kind kind = sound ? GG_MEDIA_SOUND : GG_MEDIA_IMAGE;
        enum gg_status st;

        if (!image && !sound && (!name || !cli_has_word(others, name)))
            continue;
        if (!r->chat->takes_media || (!image && !sound))
            return refuse_part(r, name, image || sound);
        st = take_part(r, part, kind);
        if (st != GG_OK)
            return st;
        json_array_set_new(content, i, chat_media_part(kind));
    }
    return GG_OK;
}

/* Reads a message for templates in Jinja: all that it has. */
static enum gg_status
read_whole_message(const struct reader *r, json_t *value)
{
    const json_t *role = json_object_get(value, "role");
    json_t *content = json_object_get(value, "content");
    bool answer = json_is_string(role) &&
                  strcmp(json_string_value(role), "assistant") == 0;
    enum gg_status st;

    if (!json_is_string(role))
        return fail(r, "a message without a role that is a string");
    st = read_media(r, content);
    if (st != GG_OK)
        return st;
    chat_append(r->chat, answer ? GG_ROLE_ASSISTANT : GG_ROLE_USER,
                json_string_value(content), json_string_length(content));
    return keep(r, value, &r->chat->json[r->chat->n - 1]);
}

static enum gg_status
read_message(const struct reader *r, json_t *value)
{
    enum gg_role role = GG_ROLE_USER;
    struct buffer content = { 0 };
    enum gg_status st;

    if (!json_is_object(value))
        return fail(r, "a message that is not an object");
    if (!r->known && has_more(value))
        return read_whole_message(r, value);
    st = read_role(r, json_object_get(value, "role"), &role);
    if (st != GG_OK)
        return st;
    st = read_content(r, json_object_get(value, "content"), &content);
    if (st == GG_OK && calls_tools(value))
        st = fail(r, "a message with tool_calls, which the template has no "
                     "place for");
    if (st == GG_OK)
        chat_append(r->chat, role, content.p, content.len);
    buffer_clear(&content);
    return st;
}

/* Reads the tools and arguments that stand next to the messages. */
static enum gg_status
read_others(const struct reader *r, const json_t *value)
{
    const json_t *tools = json_object_get(value, "tools");
    const json_t *more = json_object_get(value, "chat_template_kwargs");
    enum gg_status st = GG_OK;

    if (r->known)
        return GG_OK;
    if (json_is_array(tools))
        st = keep(r, tools, &r->chat->tools);
    if (st == GG_OK && json_is_object(more))
        st = keep(r, more, &r->chat->arguments);
    return st;
}

static enum gg_status
read_value(const struct reader *r, json_t *value)
{
    json_t *list =
        json_is_array(value) ? value : json_object_get(value, "messages");
    enum gg_status st = GG_OK;

    if (!list)
        return read_message(r, value);
    if (!json_is_array(list))
        return fail(r, "messages that are not an array");
    for (size_t i = 0; st == GG_OK && i < json_array_size(list); i++)
        st = read_message(r, json_array_get(list, i));
    return st == GG_OK ? read_others(r, value) : st;
}

static bool
is_plain(const struct chat *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->json[i])
            return false;
    return true;
}

enum gg_status
chat_messages_json(const struct chat *c, char **out, struct gg_error *err)
{
    json_t *list = is_plain(c) ? NULL : json_array();
    char *text;

    if (is_plain(c))
        return GG_OK;
    for (size_t i = 0; i < c->n; i++) {
        const char *json = c->json[i];
        json_error_t e;
        json_t *m = json ? cli_json_load(json, strlen(json), JSON_ALLOW_NUL, &e)
                         : chat_plain_json(&c->messages[i]);

        if (json_array_append_new(list, m)) {
            json_decref(list);
            return cli_error(err, GG_ERR_FORMAT, "message %zu is not UTF-8",
                             i + 1);
        }
    }
    text = cli_json_dump(list, JSON_COMPACT);
    json_decref(list);
    if (!text)
        return cli_error(err, GG_ERR_NOMEM, "out of memory");
    *out = text;
    return GG_OK;
}

static void
count_lines(struct reader *r, const char *p, size_t len)
{
    for (size_t i = 0; r->line && i < len; i++)
        r->line += p[i] == '\n';
}

/* Bytes of white space that p[0..len) begins with. */
static size_t
skip_space(struct reader *r, const char *p, size_t len)
{
    size_t n = 0;

    while (n < len &&
           (p[n] == ' ' || p[n] == '\t' || p[n] == '\r' || p[n] == '\n'))
        n++;
    count_lines(r, p, n);
    return n;
}

enum gg_status
chat_read(struct chat *c, const struct gg_chat_template *template,
          const char *text, size_t len, bool lines, struct gg_error *err)
{
    bool known = chat_is_known(template) && !gg_chat_reads(template, "tools");
    struct reader r = { c, err, lines, known };
    enum gg_status st = GG_OK;
    size_t at = cli_mark(text, len);

    at += skip_space(&r, text + at, len - at);
    if (len > INT_MAX) /* so Jansson counts */
        return fail(&r, "a conversation of more than 2 GiB");
    while (st == GG_OK && at < len) {
        bool no_memory;
        json_error_t e;
        json_t *value = cli_json_try_load(
            text + at, len - at,
            JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK,
            &e, &no_memory);

        if (no_memory)
            return cli_error(err, GG_ERR_NOMEM, "out of memory");
        st = value ? read_value(&r, value) : fail_syntax(&r, &e);
        json_decref(value);
        if (st != GG_OK)
            break;
        count_lines(&r, text + at, (size_t)e.position);
        at += (size_t)e.position;
        at += skip_space(&r, text + at, len - at);
    }
    return st;
}

#else

enum gg_status
chat_messages_json(const struct chat *c, char **out, struct gg_error *err)
{
    (void)c, (void)out, (void)err;
    return GG_OK;
}

enum gg_status
chat_read(struct chat *c, const struct gg_chat_template *template,
          const char *text, size_t len, bool lines, struct gg_error *err)
{
    (void)c, (void)template, (void)text, (void)len, (void)lines;
    snprintf(err->message, sizeof(err->message),
             "this %s was built without Jansson, and reads no JSON", cli_name);
    return GG_ERR_UNSUPPORTED;
}

#endif
