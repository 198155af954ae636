/* translate_json.c - values that are read, and texts that are added */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdarg.h>
#include <string.h>

#include "gg-serve/translate_impl.h"

const char *
translate_text(const json_t *object, const char *name)
{
    const char *text = cli_json_text(json_object_get(object, name));

    return text ? text : "";
}

bool
translate_is(const json_t *object, const char *name, const char *text)
{
    return strcmp(translate_text(object, name), text) == 0;
}

double
translate_number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

void
translate_add_string(struct buffer *out, const char *text)
{
    cli_json_add(out, text, strlen(text));
}

void
translate_add_json_string(struct buffer *out, const json_t *string)
{
    const char *text = json_string_value(string);

    cli_json_add(out, text ? text : "", json_string_length(string));
}

/* Line ends are white space, since none is in a string. */
void
translate_add_value(struct buffer *out, const struct record_value *v)
{
    char *to = buffer_room(out, v->len + 1);

    for (size_t i = 0; i < v->len; i++)
        to[i] = v->text[i] == '\n' || v->text[i] == '\r' ? ' ' : v->text[i];
    out->len += v->len;
}

static void
put_one(struct buffer *out, char directive, va_list *ap)
{
    const struct buffer *b;

    switch (directive) {
    case 's':
        buffer_format(out, "%s", va_arg(*ap, const char *));
        break;
    case 'q':
        translate_add_string(out, va_arg(*ap, const char *));
        break;
    case 'b':
        b = va_arg(*ap, const struct buffer *);
        cli_json_add(out, b->p ? b->p : "", b->len);
        break;
    case 'r':
        b = va_arg(*ap, const struct buffer *);
        buffer_add(out, b->p, b->len);
        break;
    case 'v':
        translate_add_value(out, va_arg(*ap, const struct record_value *));
        break;
    case 'j':
        translate_add_json_string(out, va_arg(*ap, const json_t *));
        break;
    case 'z':
        buffer_format(out, "%zu", va_arg(*ap, size_t));
        break;
    default: /* n */
        buffer_format(out, "%.0f", va_arg(*ap, double));
        break;
    }
}

void
translate_put(struct buffer *out, const char *form, ...)
{
    va_list ap;

    va_start(ap, form);
    for (const char *p = form; *p; p++)
        if (*p == '%')
            put_one(out, *++p, &ap);
        else
            buffer_char(out, (char)(*p == '\'' ? '"' : *p));
    va_end(ap);
}

void
translate_set(struct translation *t, const char *name,
              const struct record_value *v)
{
    buffer_char(&t->body, ',');
    translate_add_string(&t->body, name);
    buffer_char(&t->body, ':');
    translate_add_value(&t->body, v);
}

#endif
