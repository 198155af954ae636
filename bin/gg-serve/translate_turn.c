/* translate_turn.c - messages of a chat that are put together of blocks or
 * items
 */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_impl.h"

/* What is between the quotes. */
static void
add_inner(struct buffer *out, const struct record_value *string)
{
    buffer_add(out, string->text + 1, string->len - 2);
}

static void
begin_part(struct translate_turn *m)
{
    if (m->n_parts++)
        buffer_char(&m->parts, ',');
}

void
turn_add_text(struct translate_turn *m, const struct record_value *text)
{
    if (m->n_parts > m->n_media && m->between)
        buffer_format(&m->text, "%s", m->between);
    add_inner(&m->text, text);
    begin_part(m);
    buffer_format(&m->parts, "{\"type\":\"text\",\"text\":");
    translate_add_value(&m->parts, text);
    buffer_char(&m->parts, '}');
}

void
turn_add_reasoning(struct translate_turn *m, const struct record_value *text)
{
    add_inner(&m->reasoning, text);
}

void
turn_add_url(struct translation *t, struct translate_turn *m,
             const struct record_value *url)
{
    const char *text = cli_json_text(url->json);

    if (!text || strncmp(text, "data:", 5) != 0) {
        translate_refuse(t, 400, "messages",
                         "an image that is not in the request: no URL is "
                         "fetched");
        return;
    }
    begin_part(m);
    m->n_media++;
    buffer_format(&m->parts, "{\"type\":\"image_url\",\"image_url\":{\"url\":");
    translate_add_value(&m->parts, url);
    buffer_format(&m->parts, "}}");
}

void
turn_add_medium(struct translate_turn *m, const struct record_value *part)
{
    begin_part(m);
    m->n_media++;
    translate_add_value(&m->parts, part);
}

void
turn_add_data(struct translation *t, struct translate_turn *m,
              const struct record_value *source)
{
    struct record_value type, data;
    const char *text;

    record_value_find(source, "media_type", &type);
    record_value_find(source, "data", &data);
    text = cli_json_text(type.json);
    if (!text || strcspn(text, ";,\" \\") != strlen(text) ||
        !cli_json_text(data.json)) {
        translate_refuse(t, 400, "messages",
                         "an image without its data: only data is read");
        return;
    }
    begin_part(m);
    m->n_media++;
    buffer_format(&m->parts, "{\"type\":\"image_url\",\"image_url\":{\"url\":"
                             "\"data:");
    add_inner(&m->parts, &type);
    buffer_format(&m->parts, ";base64,");
    add_inner(&m->parts, &data);
    buffer_format(&m->parts, "\"}}");
}

/* The arguments of a call are JSON in a string; with `argument` they are an
 * object of one member of that name. */
static void
add_arguments(struct buffer *out, const struct record_value *v,
              const char *argument)
{
    struct buffer text = { 0 };

    if (json_is_string(v->json) && !argument) {
        translate_add_value(out, v);
        return;
    }
    if (argument)
        buffer_format(&text, "{\"%s\":", argument);
    if (v->json)
        translate_add_value(&text, v);
    else
        buffer_format(&text, argument ? "\"\"" : "{}");
    if (argument)
        buffer_char(&text, '}');
    cli_json_add(out, text.p, text.len);
    buffer_clear(&text);
}

void
turn_add_call(struct translate_turn *m, const struct record_value *id,
              const char *name, const struct record_value *arguments,
              const char *argument)
{
    if (m->calls.len)
        buffer_char(&m->calls, ',');
    buffer_format(&m->calls, "{\"id\":");
    translate_add_json_string(&m->calls, id->json);
    buffer_format(&m->calls, ",\"type\":\"function\",\"function\":{\"name\":");
    translate_add_string(&m->calls, name);
    buffer_format(&m->calls, ",\"arguments\":");
    add_arguments(&m->calls, arguments, argument);
    buffer_format(&m->calls, "}}");
}

bool
turn_is_empty(const struct translate_turn *m)
{
    return !m->n_parts && !m->reasoning.len && !m->calls.len && !m->id.len;
}

static void
add_content(const struct translate_turn *m, struct buffer *out)
{
    bool is_list = m->n_media || (m->n_parts > 1 && !m->between);

    if (m->calls.len && !m->n_parts)
        buffer_format(out, "null");
    else
        buffer_format(out, is_list ? "[" : "\"");
    if (is_list)
        buffer_add(out, m->parts.p, m->parts.len);
    else
        buffer_add(out, m->text.p, m->text.len);
    if (!m->calls.len || m->n_parts)
        buffer_format(out, is_list ? "]" : "\"");
}

static void
clear_turn(struct translate_turn *m)
{
    const char *between = m->between;

    buffer_clear(&m->text);
    buffer_clear(&m->parts);
    buffer_clear(&m->reasoning);
    buffer_clear(&m->calls);
    buffer_clear(&m->id);
    *m = (struct translate_turn){ .between = between };
}

void
turn_end(struct translation *t, struct translate_turn *m)
{
    struct buffer *out = &t->body;

    if (out->p[out->len - 1] != '[')
        buffer_char(out, ',');
    buffer_format(out, "{\"role\":\"%s\",\"content\":", m->role);
    add_content(m, out);
    if (m->reasoning.len) {
        buffer_format(out, ",\"reasoning_content\":\"");
        buffer_add(out, m->reasoning.p, m->reasoning.len);
        buffer_char(out, '"');
    }
    if (m->calls.len) {
        buffer_format(out, ",\"tool_calls\":[");
        buffer_add(out, m->calls.p, m->calls.len);
        buffer_char(out, ']');
    }
    if (m->id.len) {
        buffer_format(out, ",\"tool_call_id\":");
        buffer_add(out, m->id.p, m->id.len);
    }
    buffer_char(out, '}');
    clear_turn(m);
}

#endif
