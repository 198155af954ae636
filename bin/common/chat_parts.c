/* chat_parts.c - parts of messages in JSON that are images and sounds */
#include <config.h>

#include "common/chat_parts.h"

#include <stdlib.h>

#ifdef HAVE_JANSSON

#include "common/media_intake.h"

/* ---- what parts say ------------------------------------------------------ */

/* The first of the names under which programs put what it is, or where:
 * OpenAI's, Anthropic's, and those of templates themselves. */
static bool
find_source(const json_t *o, bool whole, struct media_part *part)
{
    static const struct {
        const char *name;
        bool base64;
    } names[] = { { "image_url", false }, { "input_audio", false },
                  { "audio_url", false }, { "image", false },
                  { "audio", false },     { "source", false },
                  { "url", false },       { "path", false },
                  { "base64", true },     { "data", true } };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const json_t *v = json_object_get(o, names[i].name);

        if (json_is_object(v) && whole && find_source(v, false, part))
            return true;
        if (!json_is_string(v))
            continue;
        part->text = json_string_value(v);
        part->len = json_string_length(v);
        part->base64 = names[i].base64;
        return true;
    }
    return false;
}

bool
chat_find_source(const json_t *part, struct media_part *out)
{
    return find_source(part, true, out);
}

/* ---- parts that are added ------------------------------------------------ */

json_t *
chat_media_part(enum gg_media_kind kind)
{
    json_t *part = json_object();
    const char *type = kind == GG_MEDIA_SOUND ? "audio" : "image";

    if (!part || json_object_set_new(part, "type", json_string(type)))
        cli_die("out of memory");
    return part;
}

/* A model's text may end within a character: bytes that are not UTF-8
 * become U+FFFD. */
static json_t *
text_of_answer(const struct gg_message *m)
{
    struct buffer json = { 0 };
    json_error_t e;
    json_t *text;

    cli_json_add(&json, m->content ? m->content : "", m->len);
    text =
        cli_json_load(json.p, json.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
    buffer_clear(&json);
    return text;
}

json_t *
chat_plain_json(const struct gg_message *m)
{
    json_t *o = json_object(), *text = json_stringn(m->content, m->len);

    if (!text && m->role == GG_ROLE_ASSISTANT)
        text = text_of_answer(m);

    if (!o || !text ||
        json_object_set_new(o, "role", json_string(chat_role_name(m->role))) ||
        json_object_set(o, "content", text)) {
        json_decref(o);
        o = NULL;
    }
    json_decref(text);
    return o;
}

/* The content of a message as an array of parts. */
static json_t *
take_parts(json_t *message)
{
    json_t *content = json_object_get(message, "content"), *parts, *text;

    if (json_is_array(content))
        return content;
    parts = json_array();
    text = json_object();
    if (!parts || !text || json_object_set(text, "text", content) ||
        json_object_set_new(text, "type", json_string("text")) ||
        json_array_append_new(parts, text) ||
        json_object_set_new(message, "content", parts))
        cli_die("out of memory");
    return parts;
}

/* Parts with media before parts[n]. */
static size_t
count_before(const json_t *parts, size_t n)
{
    size_t n_media = 0;

    for (size_t i = 0; i < n; i++) {
        const char *type = json_string_value(
            json_object_get(json_array_get(parts, i), "type"));

        n_media += type && cli_has_word("image|audio", type);
    }
    return n_media;
}

/* Media of the messages before number i. */
static size_t
media_before(const struct chat *c, size_t i)
{
    size_t n = 0;

    while (n < c->n_media && c->media[n].message < i)
        n++;
    return n;
}

/* In front of the part with a text, after what stands there already. */
static void
insert_part(struct chat *c, json_t *message, size_t i, enum gg_media_kind kind,
            const size_t *item)
{
    struct media_place place = { .kind = kind, .message = i, .own = item };
    json_t *parts = take_parts(message);
    size_t n = 0;

    while (n < json_array_size(parts) &&
           !json_object_get(json_array_get(parts, n), "text"))
        n++;
    place.item = item ? *item : c->next_medium++;
    chat_insert_medium(c, media_before(c, i) + count_before(parts, n), &place);
    json_array_insert_new(parts, n, chat_media_part(kind));
}

enum gg_status
chat_add_media(struct chat *c, enum gg_media_kind kind, const size_t *item,
               struct gg_error *err)
{
    size_t i = c->n;
    json_t *m = NULL;
    json_error_t e;

    while (i > 0 &&
           (c->json[i - 1] ? false : c->messages[i - 1].role != GG_ROLE_USER))
        i--;
    if (i-- == 0)
        return cli_error(err, GG_ERR_FORMAT,
                         "no message of a user for an image or a sound");
    m = c->json[i]
            ? cli_json_load(c->json[i], strlen(c->json[i]), JSON_ALLOW_NUL, &e)
            : chat_plain_json(&c->messages[i]);
    if (!m)
        return cli_error(err, GG_ERR_FORMAT, "message %zu is not UTF-8", i + 1);
    insert_part(c, m, i, kind, item);
    free(c->json[i]);
    c->json[i] = cli_json_dump(m, JSON_COMPACT);
    json_decref(m);
    return c->json[i] ? GG_OK : cli_error(err, GG_ERR_NOMEM, "out of memory");
}

#else

enum gg_status
chat_add_media(struct chat *c, enum gg_media_kind kind, const size_t *item,
               struct gg_error *err)
{
    (void)c, (void)kind, (void)item;
    return cli_error(err, GG_ERR_UNSUPPORTED,
                     "this %s was built without Jansson, and makes no messages "
                     "with images or sounds",
                     cli_name);
}

#endif
