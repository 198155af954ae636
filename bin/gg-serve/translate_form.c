/* translate_form.c - /v1/audio/transcriptions: a form with a sound becomes a
 * chat about it */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>
#include <strings.h>

#include "gg-serve/translate_impl.h"

enum {
    MOST_FIELDS = 32,
    MOST_NAME = 64,
    MOST_TEXT = 64 << 20, /* bytes of an answer */
};

/* A field of the form. */
struct field {
    char name[MOST_NAME], file[MOST_NAME];
    const char *value;
    size_t len;
};

struct form {
    struct field fields[MOST_FIELDS];
    size_t n;
};

/* The value of `what` in a header, as boundary=X or name="X"; false: it is not
 * there, or too long. */
static bool
read_parameter(const char *p, const char *end, const char *what, char *out,
               size_t size)
{
    size_t n = strlen(what), len = 0;

    while (p + n < end && (strncasecmp(p, what, n) != 0 || p[n] != '=' ||
                           !strchr("; \t", p[-1])))
        p++;
    if (p + n >= end)
        return false;
    p += n + 1;
    if (p < end && *p == '"')
        for (p++; p + len < end && p[len] != '"';)
            len++;
    else
        while (p + len < end && !strchr("; \t\r\n", p[len]))
            len++;
    if (len == 0 || len >= size || memchr(p, '\0', len))
        return false;
    memcpy(out, p, len);
    out[len] = '\0';
    return true;
}

/* A field from its headers to its end. */
static void
read_field(struct form *form, const char *p, const char *end)
{
    static const char header[] = "content-disposition:";
    struct field *f = &form->fields[form->n];
    const char *body = memmem(p, (size_t)(end - p), "\r\n\r\n", 4);

    if (!body || form->n == MOST_FIELDS)
        return;
    *f = (struct field){ .value = body + 4, .len = (size_t)(end - body - 4) };
    while (p < body && strncasecmp(p, header, sizeof(header) - 1) != 0) {
        const char *next = memmem(p, (size_t)(body - p), "\r\n", 2);

        p = next ? next + 2 : body;
    }
    if (p == body || !read_parameter(p + sizeof(header) - 1, body, "name",
                                     f->name, MOST_NAME))
        return;
    (void)read_parameter(p + sizeof(header) - 1, body, "filename", f->file,
                         MOST_NAME);
    form->n++;
}

static bool
read_form(const char *type, const char *body, size_t len, struct form *form)
{
    char boundary[80] = "\r\n--";
    const char *end = body + len, *p = body, *next;
    size_t n;

    if (!type || !read_parameter(type + 1, type + strlen(type), "boundary",
                                 boundary + 4, sizeof(boundary) - 4))
        return false;
    n = strlen(boundary);
    if (len < n || strncmp(body, boundary + 2, n - 2) != 0)
        return false;
    for (p = body + n - 2; (next = memmem(p, (size_t)(end - p), boundary, n));
         p = next + n)
        read_field(form, p, next);
    return form->n > 0;
}

static const struct field *
find_field(const struct form *form, const char *name)
{
    for (size_t i = 0; i < form->n; i++)
        if (strcmp(form->fields[i].name, name) == 0)
            return &form->fields[i];
    return NULL;
}

static bool
says(const struct field *f, const char *text)
{
    return f && f->len == strlen(text) && memcmp(f->value, text, f->len) == 0;
}

static void
add_base64(struct buffer *out, const unsigned char *p, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t bits = (uint32_t)p[i] << 16;

        bits |= n > 1 ? (uint32_t)p[i + 1] << 8 : 0;
        bits |= n > 2 ? p[i + 2] : 0;
        for (size_t k = 0; k < 4; k++)
            buffer_char(
                out, (char)(k <= n ? digits[bits >> (18 - 6 * k) & 63] : '='));
    }
}

/* A format is the ending of the file's name. */
static void
add_sound(struct translation *t, const struct field *file,
          const struct field *prompt)
{
    static const char otherwise[] = "Transcribe the audio.";
    const char *dot = strrchr(file->file, '.');

    translate_put(&t->body,
                  ",'messages':[{'role':'user','content':[{'type':"
                  "'input_audio','input_audio':{'format':%q,'data':'",
                  dot ? dot + 1 : "wav");
    add_base64(&t->body, (const unsigned char *)file->value, file->len);
    translate_put(&t->body, "'}},{'type':'text','text':");
    if (prompt && prompt->len)
        cli_json_add(&t->body, prompt->value, prompt->len);
    else
        translate_add_string(&t->body, otherwise);
    translate_put(&t->body, "}]}]");
}

static void
put_temperature(struct translation *t, const struct field *f, const char *name)
{
    struct gg_error err;
    char text[40] = "";
    double x;

    if (!f || f->len == 0)
        return;
    if (f->len < sizeof(text))
        memcpy(text, f->value, f->len);
    if (cli_read_float(name, text, 0, 100, &x, &err) != GG_OK)
        translate_refuse(t, 400, name, "%s: not a number", name);
    else
        translate_put(&t->body, ",'%s':%s", name, text);
}

static void
read_wishes(struct translation *t, const struct form *form)
{
    const struct field *format = find_field(form, "response_format");
    const struct field *model = find_field(form, "model");
    char name[100] = "";

    t->plain = says(format, "text");
    if (format && format->len && !t->plain && !says(format, "json"))
        translate_refuse(t, 400, "response_format",
                         "response_format: neither json nor text");
    t->stream = says(find_field(form, "stream"), "true");
    if (find_field(form, "language"))
        translate_warn(t, "language is left out");
    if (!model || model->len == 0 || model->len >= sizeof(name))
        return;
    memcpy(name, model->value, model->len);
    t->model_name = cli_copy(name, strlen(name));
    translate_put(&t->model, "%q", name);
    translate_put(&t->body, ",'model':%r", &t->model);
}

void
translate_read_form(struct translation *t, const char *type, const char *body,
                    size_t len)
{
    struct form form = { .n = 0 };
    const struct field *file;

    if (!read_form(type, body, len, &form)) {
        translate_refuse(t, 400, NULL, "the body is no multipart/form-data");
        return;
    }
    file = find_field(&form, "file");
    if (!file || file->len == 0) {
        translate_refuse(t, 400, "file", "file: there is none");
        return;
    }
    read_wishes(t, &form);
    add_sound(t, file, find_field(&form, "prompt"));
    put_temperature(t, find_field(&form, "temperature"), "temperature");
}

/* The text and what it took, which end the object that was begun. */
static void
end_transcript(struct translation *t, const json_t *record, struct buffer *out)
{
    struct translate_end e = parts_end(t, record);

    translate_put(out,
                  "'text':%b,'usage':{'type':'tokens','input_tokens':%n,"
                  "'output_tokens':%n,'total_tokens':%n}",
                  &t->part.text, e.prompt, e.made, e.prompt + e.made);
    translate_add_warnings(t, out);
    buffer_char(out, '}');
}

/* A part of an answer may have no text, but reasoning. */
static void
add_transcript(struct translation *t, const json_t *text)
{
    if (t->part.text.len > MOST_TEXT)
        translate_refuse(t, 500, NULL, "the engine's text has no end");
    else if (json_is_string(text))
        buffer_add(&t->part.text, json_string_value(text),
                   json_string_length(text));
}

static void
put_transcript(struct translation *t, const struct record_value *body,
               struct buffer *out)
{
    const json_t *choice =
        json_array_get(json_object_get(body->json, "choices"), 0);
    const json_t *text =
        json_object_get(json_object_get(choice, "message"), "content");

    add_transcript(t, text);
    if (!json_is_string(text)) {
        translate_refuse(t, 500, NULL, "the engine gave no text");
    } else if (t->plain) {
        buffer_add(out, t->part.text.p, t->part.text.len);
    } else {
        buffer_char(out, '{');
        end_transcript(t, body->json, out);
    }
}

/* ---- streams ---- */

static void
begin_transcript(struct translation *t, struct buffer *out)
{
    (void)t, (void)out; /* there is no event for it */
}

static void
send_transcript(struct translation *t, const struct record_value *record,
                struct buffer *out)
{
    const json_t *delta = json_object_get(record->json, "delta");
    const json_t *text = json_object_get(delta, "content");

    add_transcript(t, text);
    if (json_string_length(text))
        translate_put(
            out, "data: {'type':'transcript.text.delta','delta':%j}\n\n", text);
}

static void
send_done(struct translation *t, const struct record_value *record,
          struct buffer *out)
{
    translate_put(out, "data: {'type':'transcript.text.done',");
    end_transcript(t, record->json, out);
    translate_put(out, "\n\n");
}

const struct translate_row translate_sound_row = {
    .url = "/v1/chat/completions",
    .whole = put_transcript,
    .start = begin_transcript,
    .delta = send_transcript,
    .end = send_done,
    .fail = translate_send_error,
};

#endif
