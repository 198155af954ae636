/* stop.c - ends a text before certain strings in it
 *
 * The strings are looked for by Knuth's, Morris' and Pratt's method, a byte at
 * a time: how the text was cut into pieces makes no difference. */
#include <config.h>

#include "gg-generate/stop.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of s that the text ends with once `c` follows. */
static size_t
advance(const struct stop_string *s, size_t state, char c)
{
    while (state && s->s[state] != c)
        state = s->shorter[state];
    return state + (s->s[state] == c);
}

void
stop_strings_add(struct stop_strings *strings, const char *s, size_t len)
{
    struct stop_string new = { .len = len };
    size_t n = strings->n;

    new.s = cli_alloc(NULL, len + 1, 1);
    memcpy(new.s, s, len);
    new.s[len] = '\0'; /* advance() may look at it */
    new.shorter = cli_alloc(NULL, len + 1, sizeof(*new.shorter));
    new.shorter[0] = new.shorter[1] = 0;
    for (size_t i = 1; i < len; i++)
        new.shorter[i + 1] = advance(&new, new.shorter[i], s[i]);
    strings->list = cli_alloc(strings->list, n + 1, sizeof(*strings->list));
    strings->list[strings->n++] = new;
}

void
stop_strings_clear(struct stop_strings *strings)
{
    for (size_t i = 0; i < strings->n; i++) {
        free(strings->list[i].s);
        free(strings->list[i].shorter);
    }
    free(strings->list);
    *strings = (struct stop_strings){ 0 };
}

void
stop_start(struct stop *stop, const struct stop_strings *strings)
{
    size_t n = strings ? strings->n : 0;

    stop->strings = strings;
    stop->states = cli_alloc(stop->states, n, sizeof(*stop->states));
    memset(stop->states, 0, n * sizeof(*stop->states));
    stop->held.len = 0;
}

/* The bytes of the longest string that is complete with `c`, or 0. */
static size_t
complete(struct stop *stop, char c)
{
    size_t longest = 0;

    for (size_t i = 0; i < stop->strings->n; i++) {
        const struct stop_string *s = &stop->strings->list[i];

        stop->states[i] = advance(s, stop->states[i], c);
        if (stop->states[i] == s->len && s->len > longest)
            longest = s->len;
    }
    return longest;
}

static size_t
longest_state(const struct stop *stop)
{
    size_t longest = 0;

    for (size_t i = 0; i < stop->strings->n; i++)
        if (stop->states[i] > longest)
            longest = stop->states[i];
    return longest;
}

/* The first n bytes of what is held are text. */
static void
release(struct stop *stop, size_t n, struct buffer *out)
{
    struct buffer *held = &stop->held;

    buffer_add(out, held->p, n);
    held->len -= n;
    if (held->len && n)
        memmove(held->p, held->p + n, held->len);
}

bool
stop_add_text(struct stop *stop, const char *text, size_t len,
              struct buffer *out)
{
    size_t found = 0;

    if (!stop->strings || stop->strings->n == 0) {
        buffer_add(out, text, len);
        return true;
    }
    for (size_t i = 0; i < len && !found; i++) {
        buffer_char(&stop->held, text[i]);
        found = complete(stop, text[i]);
    }
    release(stop, stop->held.len - (found ? found : longest_state(stop)), out);
    if (found)
        stop->held.len = 0;
    return !found;
}

void
stop_end(struct stop *stop, struct buffer *out)
{
    release(stop, stop->held.len, out);
}

void
stop_clear(struct stop *stop)
{
    free(stop->states);
    free(stop->held.p);
    *stop = (struct stop){ 0 };
}
