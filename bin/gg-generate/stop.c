/* stop.c - ends a text before certain strings in it
 *
 * The strings are looked for by Knuth's, Morris' and Pratt's method, a byte at
 * a time: how the text was cut into pieces makes no difference. */
#include <config.h>

#include "gg-generate/stop.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

/* Bytes of s that the text ends with once `c` follows. */
static size_t
advance(const struct stop_string *s, size_t state, char c)
{
    while (state && s->s[state] != c)
        state = s->shorter[state];
    return state + (s->s[state] == c);
}

void
stop_add(struct stop *stop, const char *s)
{
    struct stop_string *new;
    size_t len = strlen(s), n = stop->n;

    stop->strings = cli_alloc(stop->strings, n + 1, sizeof(*stop->strings));
    new = &stop->strings[stop->n++];
    *new = (struct stop_string){ .s = s, .len = len };
    new->shorter = cli_alloc(NULL, len + 1, sizeof(*new->shorter));
    new->shorter[0] = new->shorter[1] = 0;
    for (size_t i = 1; i < len; i++)
        new->shorter[i + 1] = advance(new, new->shorter[i], s[i]);
}

/* The bytes of the longest string that is complete with `c`, or 0. */
static size_t
complete(struct stop *stop, char c)
{
    size_t longest = 0;

    for (size_t i = 0; i < stop->n; i++) {
        struct stop_string *s = &stop->strings[i];

        s->state = advance(s, s->state, c);
        if (s->state == s->len && s->len > longest)
            longest = s->len;
    }
    return longest;
}

static size_t
longest_state(const struct stop *stop)
{
    size_t longest = 0;

    for (size_t i = 0; i < stop->n; i++)
        if (stop->strings[i].state > longest)
            longest = stop->strings[i].state;
    return longest;
}

/* Writes the first n bytes of what is held. */
static void
release(struct stop *stop, size_t n)
{
    if (n)
        fwrite(stop->held, 1, n, stdout);
    stop->len -= n;
    if (stop->len && n)
        memmove(stop->held, stop->held + n, stop->len);
}

bool
stop_write(struct stop *stop, const char *text, size_t len)
{
    size_t found = 0;

    if (len > stop->cap - stop->len) {
        stop->cap = 2 * stop->cap + len;
        stop->held = cli_alloc(stop->held, stop->cap, 1);
    }
    for (size_t i = 0; i < len && !found; i++) {
        stop->held[stop->len++] = text[i];
        found = complete(stop, text[i]);
    }
    release(stop, stop->len - (found ? found : longest_state(stop)));
    if (found)
        stop->len = 0;
    return !found;
}

void
stop_end(struct stop *stop)
{
    release(stop, stop->len);
    for (size_t i = 0; i < stop->n; i++)
        stop->strings[i].state = 0;
}

void
stop_clear(struct stop *stop)
{
    for (size_t i = 0; i < stop->n; i++)
        free(stop->strings[i].shorter);
    free(stop->strings);
    free(stop->held);
    *stop = (struct stop){ 0 };
}
