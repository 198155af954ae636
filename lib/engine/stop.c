/* stop.c - ends a text before certain strings in it
 *
 * The strings are looked for by Knuth's, Morris' and Pratt's method, a byte at
 * a time: how the text was cut into pieces makes no difference. */
#include "engine/stop.h"

#include <string.h>

#include "core/error.h"
#include "core/mem.h"

struct stop_string {
    char *s; /* NUL-ended, as advance() may look at the end */
    size_t len;
    size_t *shorter; /* for n > 0 bytes of s: the longest shorter beginning of
                      * s that they end with */
};

struct gg_stop {
    struct stop_string *list;
    size_t n, cap;
};

/* ---- strings ------------------------------------------------------------- */

enum gg_status
gg_stop_new(struct gg_stop **out, struct gg_error *err)
{
    struct gg_stop *stop;

    if (!out)
        return error_null(err);
    stop = mem_zalloc(sizeof(*stop));
    if (!stop)
        return error_nomem(err);
    *out = stop;
    return GG_OK;
}

static void
free_string(struct stop_string *s)
{
    mem_free(s->s);
    mem_free(s->shorter);
}

void
gg_stop_free(struct gg_stop *stop)
{
    if (!stop)
        return;
    for (size_t i = 0; i < stop->n; i++)
        free_string(&stop->list[i]);
    mem_free(stop->list);
    mem_free(stop);
}

/* Bytes of s that the text ends with once `c` follows. */
static size_t
advance(const struct stop_string *s, size_t state, char c)
{
    while (state && s->s[state] != c)
        state = s->shorter[state];
    return state + (s->s[state] == c);
}

static void
find_shorter(struct stop_string *s)
{
    s->shorter[0] = s->shorter[1] = 0;
    for (size_t i = 1; i < s->len; i++)
        s->shorter[i + 1] = advance(s, s->shorter[i], s->s[i]);
}

enum gg_status
gg_stop_add(struct gg_stop *stop, const char *string, size_t len,
            struct gg_error *err)
{
    struct stop_string new = { .len = len };

    if (!stop || (!string && len))
        return error_null(err);
    if (len == 0)
        return error_set(err, GG_ERR_ARG, "a stop string is empty");
    new.s = mem_strndup(string, len);
    new.shorter = mem_array(len + 1, sizeof(*new.shorter));
    if (!new.s || !new.shorter ||
        !mem_grow(&stop->list, &stop->cap, stop->n + 1, sizeof(new))) {
        free_string(&new);
        return error_nomem(err);
    }
    find_shorter(&new);
    stop->list[stop->n++] = new;
    return GG_OK;
}

/* ---- states -------------------------------------------------------------- */

size_t
engine_stop_count(const struct gg_stop *strings)
{
    return strings ? strings->n : 0;
}

size_t
engine_stop_step(const struct gg_stop *strings, size_t *states, char c)
{
    size_t longest = 0;

    for (size_t i = 0; i < strings->n; i++) {
        const struct stop_string *s = &strings->list[i];

        states[i] = advance(s, states[i], c);
        if (states[i] == s->len && s->len > longest)
            longest = s->len;
    }
    return longest;
}

size_t
engine_stop_longest(const struct gg_stop *strings, const size_t *states)
{
    size_t longest = 0;

    for (size_t i = 0; i < strings->n; i++)
        if (states[i] > longest)
            longest = states[i];
    return longest;
}

/* ---- a text -------------------------------------------------------------- */

bool
engine_stop_start(struct engine_stop *stop, const struct gg_stop *strings)
{
    size_t n = strings ? strings->n : 0;

    if (!mem_grow(&stop->states, &stop->cap, n, sizeof(*stop->states)))
        return false;
    if (n)
        memset(stop->states, 0, n * sizeof(*stop->states));
    stop->strings = strings;
    stop->held.len = 0;
    return true;
}

/* The first n bytes of what is held are text. */
static bool
release(struct engine_stop *stop, size_t n, struct engine_bytes *out)
{
    struct engine_bytes *held = &stop->held;

    if (!engine_bytes_add(out, held->p, n))
        return false;
    held->len -= n;
    if (held->len && n)
        memmove(held->p, held->p + n, held->len);
    return true;
}

bool
engine_stop_add(struct engine_stop *stop, const char *text, size_t len,
                struct engine_bytes *out, bool *found)
{
    size_t ended = 0;

    *found = false;
    if (!stop->strings || stop->strings->n == 0)
        return engine_bytes_add(out, text, len);
    for (size_t i = 0; i < len && !ended; i++) {
        if (!engine_bytes_add(&stop->held, &text[i], 1))
            return false;
        ended = engine_stop_step(stop->strings, stop->states, text[i]);
    }
    if (!release(stop,
                 stop->held.len -
                     (ended ? ended
                            : engine_stop_longest(stop->strings, stop->states)),
                 out))
        return false;
    if (ended)
        stop->held.len = 0;
    stop->found = ended;
    *found = ended > 0;
    return true;
}

/* Strings of one length that are complete at one place are the same. */
const char *
engine_stop_found(const struct engine_stop *stop, size_t *len)
{
    for (size_t i = 0; i < stop->strings->n; i++) {
        const struct stop_string *s = &stop->strings->list[i];

        if (s->len == stop->found && stop->states[i] == s->len) {
            *len = s->len;
            return s->s;
        }
    }
    return NULL;
}

bool
engine_stop_end(struct engine_stop *stop, struct engine_bytes *out)
{
    return release(stop, stop->held.len, out);
}

void
engine_stop_clear(struct engine_stop *stop)
{
    mem_free(stop->states);
    mem_free(stop->held.p);
    *stop = (struct engine_stop){ 0 };
}
