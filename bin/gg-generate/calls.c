/* calls.c - calls of tools that leave while they are made
 *
 * A reader of calls takes whole ones alone. A call in the making is read as if
 * its JSON ended here: what is open is closed. Of arguments that were read so
 * twice, what both begin with stays, but for what closes them, and for numbers
 * and words that may go on. */
#include <config.h>

#include "gg-generate/calls.h"

#ifdef HAVE_JANSSON

#include <stdlib.h>
#include <string.h>

#include "common/json.h"

enum {
    DEEP = 128, /* brackets that are open */
    FEW = 24,   /* bytes: calls are not read again for less, */
    PART = 32,  /* nor for less than such a part of them */
};

void
calls_piece_clear(struct calls_piece *p)
{
    buffer_clear(&p->sent);
    buffer_clear(&p->last);
}

/* ---- what is open -------------------------------------------------------- */

struct nesting {
    char open[DEEP]; /* what closes each */
    size_t n;
    bool in_string, escaped;
};

static void
follow_byte(struct nesting *s, char c)
{
    if (s->in_string) {
        s->in_string = s->escaped || c != '"';
        s->escaped = !s->escaped && c == '\\';
    } else if (c == '"') {
        s->in_string = s->n > 0;
    } else if ((c == '{' || c == '[') && s->n < DEEP) {
        s->open[s->n++] = c == '{' ? '}' : ']';
    } else if ((c == '}' || c == ']') && s->n) {
        s->n--;
    }
}

static struct nesting
follow_bytes(const char *text, size_t n)
{
    struct nesting s = { .n = 0 };

    for (size_t i = 0; i < n; i++)
        follow_byte(&s, text[i]);
    return s;
}

/* Whether a call may be read before its end: within its arguments, or after
 * them, where its name is known; and after a mark, since what has none may yet
 * be no call. */
static bool
may_read(const struct buffer *text, const struct nesting *s)
{
    size_t at = 0;

    while (at < text->len && strchr(" \t\r\n", text->p[at]))
        at++;
    return at < text->len && !strchr("{[`", text->p[at]) && s->n != 1 &&
           s->n < DEEP && !s->escaped;
}

/* The text with all closed that is open. */
static void
close_open(const struct buffer *text, struct nesting s, struct buffer *out)
{
    buffer_add(out, text->p, text->len);
    if (s.in_string)
        buffer_char(out, '"');
    while (s.n)
        buffer_char(out, s.open[--s.n]);
}

/* ---- pieces -------------------------------------------------------------- */

static const char *
arguments_of(json_t *call)
{
    const char *text = json_string_value(
        json_object_get(json_object_get(call, "function"), "arguments"));

    return text ? text : "";
}

static void
begin_call(struct calls_piece *p, json_t *call, calls_put put, void *data)
{
    json_t *function = json_object_get(call, "function");
    json_t *arguments = json_incref(json_object_get(function, "arguments"));
    struct buffer member = { 0 };
    char *head;

    json_object_set_new(function, "arguments", json_string(""));
    head = cli_json_dump(call, JSON_COMPACT);
    buffer_format(&member, "\"tool_calls\":[{\"index\":%zu,%s]", p->n,
                  head + 1);
    put(data, &member);
    json_object_set_new(function, "arguments", arguments);
    free(head);
    buffer_clear(&member);
    p->n++;
    p->sent.len = p->last.len = 0;
}

static void
put_arguments(struct calls_piece *p, const char *text, size_t n, calls_put put,
              void *data)
{
    struct buffer member = { 0 };

    if (n == 0)
        return;
    buffer_add(&p->sent, text, n);
    buffer_format(&member,
                  "\"tool_calls\":[{\"index\":%zu,\"function\":{"
                  "\"arguments\":",
                  p->n - 1);
    cli_json_add(&member, text, n);
    buffer_format(&member, "}}]");
    put(data, &member);
    buffer_clear(&member);
}

/* How many of the bytes will be there however the call goes on. */
static size_t
settled(const struct calls_piece *p, const char *text)
{
    size_t n = 0;

    while (n < p->last.len && text[n] && text[n] == p->last.p[n])
        n++;
    if (!follow_bytes(text, n).in_string)
        while (n &&
               strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", text[n - 1]))
            n--;
    while (n && (text[n] & 0xc0) == 0x80) /* within a character */
        n--;
    return n;
}

/* Bytes of the last call's arguments, up to `n`, that did not leave. */
static void
go_on(struct calls_piece *p, const char *text, size_t n, calls_put put,
      void *data)
{
    bool same = n >= p->sent.len &&
                (p->sent.len == 0 || memcmp(text, p->sent.p, p->sent.len) == 0);

    if (same)
        put_arguments(p, text + p->sent.len, n - p->sent.len, put, data);
}

/* Calls but the last are whole; that one is, if `whole`. */
static void
follow_calls(struct calls_piece *p, json_t *calls, bool whole, calls_put put,
             void *data)
{
    size_t n = json_array_size(calls), i = p->n ? p->n - 1 : 0;

    for (; i < n; i++) {
        json_t *call = json_array_get(calls, i);
        const char *text = arguments_of(call);
        bool all = whole || i + 1 < n;

        if (i >= p->n)
            begin_call(p, call, put, data);
        text = arguments_of(call);
        go_on(p, text, all ? strlen(text) : settled(p, text), put, data);
        p->last.len = 0;
        buffer_add(&p->last, text, strlen(text));
    }
}

/* ---- reading ------------------------------------------------------------- */

static void
read_open(const struct generate *g, const struct answer *a,
          struct calls_piece *p, calls_put put, void *data)
{
    struct nesting s = follow_bytes(a->calls.p, a->calls.len);
    struct buffer closed = { 0 }, json = { 0 };
    json_error_t e;
    json_t *calls = NULL;

    if (!may_read(&a->calls, &s))
        return;
    close_open(&a->calls, s, &closed);
    if (tools_read_text(g, a->tools, closed.p, closed.len, &json))
        calls = cli_json_load(json.p, json.len, 0, &e);
    follow_calls(p, calls, s.n == 0, put, data);
    json_decref(calls);
    buffer_clear(&closed);
    buffer_clear(&json);
}

void
calls_follow(const struct generate *g, const struct answer *a,
             struct calls_piece *p, bool ended, calls_put put, void *data)
{
    size_t more = a->calls.len - p->n_read;
    json_error_t e;
    json_t *calls;

    if (a->calls.len == 0 || !a->tools)
        return;
    if (ended && a->tool_calls.len) {
        calls = cli_json_load(a->tool_calls.p, a->tool_calls.len, 0, &e);
        follow_calls(p, calls, true, put, data);
        json_decref(calls);
    } else if (!ended && more >= FEW && more >= a->calls.len / PART) {
        p->n_read = a->calls.len;
        read_open(g, a, p, put, data);
    }
}

#endif
