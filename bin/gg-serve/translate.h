/* translate.h - requests of several interfaces as records of the engine, and
 * the engine's records as answers of these interfaces: text in, text out
 *
 * No sockets, no files, no clock, no globals: the caller gives names and dates.
 *
 *     t = translation_new(api, &with);
 *     if (!translation_read(t, type, body, len, &line))
 *         ... translation_status(t), and `line` is the error's body
 *     else
 *         send `line` to the engine; with each of its records:
 *         state = translation_take(t, record, n, &out);
 *
 * What the engine says, and what clients say, is hostile alike. */
#ifndef SERVE_TRANSLATE_H
#define SERVE_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

enum {
    TRANSLATE_MOST_ANSWERS = 8,   /* n */
    TRANSLATE_MOST_STOPS = 16,    /* strings that end an answer */
    TRANSLATE_MOST_WARNINGS = 16, /* of a request; more are left out */
    TRANSLATE_MOST_TOOLS = 1024,  /* of a request in namespaces */
};

/* An address, and what comes from there. */
struct translate_api {
    const char *name;   /* of --translate: "chat" */
    const char *method; /* "POST" */
    const char *path;   /* "/v1/chat/completions" */
    bool streams;       /* a request may ask for events */
    bool form;          /* its body is a multipart form, and no JSON */
    const struct translate_row *row;
};

/* All of them; one without a name ends the list. */
extern const struct translate_api translate_apis[];

/* NULL: there is none; then *known says whether the path has another method. */
const struct translate_api *
translate_find(const char *method, const char *path, bool *known);
const struct translate_api *
translate_named(const char *name);

/* Names and dates that a translation is given; texts outlive it. */
struct translate_with {
    const char *id;        /* the record's, unique in the engine: "r17" */
    const char *unique;    /* ends the names that clients see, unique for ever:
                            * letters and digits */
    int64_t date;          /* seconds since 1970 */
    const char *model;     /* for a request that names none */
    const char *cache_key; /* of the record; NULL: none */
};

struct translation;

struct translation *
translation_new(const struct translate_api *api,
                const struct translate_with *with);
void
translation_free(struct translation *t); /* takes NULL */

/* Reads the body of a request, and adds the engine's record, a line. False: the
 * request is bad, and the body of the error's answer was added. `type` is the
 * content type, which a form alone needs; or NULL. The body may go after it. */
bool
translation_read(struct translation *t, const char *type, const char *body,
                 size_t len, struct buffer *out);

/* The HTTP status: of the error, or 200. */
int
translation_status(const struct translation *t);
/* The client wants events (text/event-stream). */
bool
translation_is_stream(const struct translation *t);
/* The content type of the answer. */
const char *
translation_type(const struct translation *t);
/* The model that the request names; "": none. */
const char *
translation_model(const struct translation *t);
/* A sentence about what was left out of the request, by the translation or,
 * once the answer has begun, by the engine, for the log; NULL after the last
 * one. */
const char *
translation_warning(const struct translation *t, size_t i);

enum translate_state {
    TRANSLATE_MORE,   /* the answer goes on */
    TRANSLATE_DONE,   /* it has ended well */
    TRANSLATE_FAILED, /* it has ended with an error: in a stream its event was
                       * added, and the connection is to be closed; else
                       * translation_status() has changed, and the body of the
                       * error was added */
};

/* Takes a record of the engine, and adds what the client gets: events, or the
 * whole body where the answer has ended. A stream has status 200 from its first
 * byte on; before it an error is a body with a status in a stream, too. */
enum translate_state
translation_take(struct translation *t, const char *line, size_t len,
                 struct buffer *out);

/* Adds a ping, which keeps the connection of a stream; it begins the stream if
 * nothing was sent before. */
void
translation_ping(struct translation *t, struct buffer *out);

/* Ends the answer, wherever it is, by an error of the caller's: the engine has
 * died, the queue is full. `code` may be NULL. */
enum translate_state
translation_fail(struct translation *t, int status, const char *code,
                 const char *message, struct buffer *out);

/* The body of an error, where there is no translation: the path says whose form
 * it has. */
void
translate_error(const char *path, int status, const char *code,
                const char *message, struct buffer *out);

/* ---- lists of models ---- */

struct translate_model {
    const char *name;
    int64_t date;   /* when it was made, or loaded */
    uint64_t n_ctx; /* 0: not known */
};

/* The answer to GET /v1/models; `anthropic`: to a client that sends
 * anthropic-version. */
void
translate_models(const struct translate_model *list, size_t n, bool anthropic,
                 struct buffer *out);
/* Answers to GET /props and GET /slots of llama.cpp's server. */
void
translate_properties(const char *model, int n_ctx, int n_slots,
                     struct buffer *out);
void
translate_slots(int n_ctx, int n_slots, int n_busy, struct buffer *out);
/* That to GET /v1/models/NAME. */
void
translate_model(const struct translate_model *model, bool anthropic,
                struct buffer *out);

#endif
