/* stream_errors.c - errors of records, and ids of lines that are none */
#include <config.h>

#include "gg-generate/stream.h"

#ifdef HAVE_JANSSON

#include <ggml.h>
#include <string.h>

#include "common/json.h"
#include "common/records/batch.h"

static const struct kind {
    enum gg_status status;
    int number;
    const char *code;
} kinds[] = {
    { GG_ERR_CONTEXT, 400, "context_length_exceeded" },
    { GG_ERR_NOMEM, 503, "out_of_memory" },
    { GG_ERR_IO, 500, "server_error" },
    { GG_ERR_UNSUPPORTED, 400, "unsupported" },
    { GG_ERR_ABORTED, 503, "shutdown" },
};

static struct kind
kind_of(const struct record *r, bool began)
{
    if (r->stopped)
        return (struct kind){ GG_ERR_ABORTED,
                              strcmp(r->stopped, "shutdown") ? 499 : 503,
                              r->stopped };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (kinds[i].status == r->status)
            return kinds[i];
    return began ? (struct kind){ r->status, 500, "server_error" }
                 : (struct kind){ r->status, 400, "invalid_request" };
}

static size_t
longest_prompt(const struct record *r)
{
    size_t n = r->prompt.n;

    for (size_t i = 0; i < r->n_others; i++)
        n = r->others[i].n > n ? r->others[i].n : n;
    return n > r->least_ids ? n : r->least_ids;
}

void
stream_tell_error(const struct generate *g, const struct record *r, bool began,
                  struct batch_error *e)
{
    struct kind kind = kind_of(r, began);

    e->status = kind.number;
    e->code = kind.code;
    if (kind.status != GG_ERR_CONTEXT)
        return;
    e->n_prompt = longest_prompt(r);
    e->n_ctx = (size_t)gg_session_n_ctx(g->engine.session);
}

const char *
stream_own_words(const struct generate *g, const char *message)
{
    const char *path = cli_model(g->o->engine.model, true);
    size_t n = strlen(path);

    return strncmp(message, path, n) == 0 && strncmp(message + n, ": ", 2) == 0
               ? message + n + 2
               : message;
}

/* ---- ids of lines that cannot be read ---- */

/* A string without escapes, or a whole number; 0: it is neither. */
static size_t
id_length(const char *p, size_t len)
{
    size_t n = *p == '"';

    while (n < len && (*p == '"' ? p[n] >= ' ' && p[n] < 0x7f && p[n] != '"' &&
                                       p[n] != '\\'
                                 : p[n] >= '0' && p[n] <= '9'))
        n++;
    if (n == len)
        return 0;
    return *p == '"' ? (p[n] == '"' ? n + 1 : 0) : n;
}

static size_t
skip_text(const char *text, size_t len, const char *word)
{
    size_t at = strspn(text, " \t"), n = strlen(word);

    return at + n < len && memcmp(text + at, word, n) == 0 ? at + n : 0;
}

void
stream_find_id(const char *text, size_t len, struct buffer *id)
{
    size_t at = text ? skip_text(text, len, "{") : 0, n = 0;

    if (at)
        n = skip_text(text + at, len - at, "\"id\"");
    if (at && !n)
        n = skip_text(text + at, len - at, "\"custom_id\"");
    at += n;
    n = n ? skip_text(text + at, len - at, ":") : 0;
    if (n == 0)
        return;
    at += n;
    at += strspn(text + at, " \t");
    buffer_add(id, text + at, at < len ? id_length(text + at, len - at) : 0);
}

#endif
