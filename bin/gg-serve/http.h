/* http.h - HTTP/1.1 by libevent's evhttp: connections, requests, answers
 *
 * Nothing else in the tool knows evhttp. What evhttp lacks is added here: heads
 * are checked byte by byte (head.h), a connection has a deadline in each state,
 * their number is bounded, the bytes of all bodies together are, and who asks
 * is told at once when the client has gone. */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct http;
struct http_call; /* a request that is being answered */

struct http_limits {
    int head_seconds, body_seconds, idle_seconds;
    int max_connections;
    size_t max_waiting; /* bytes that a client has not taken: it is slow */
};

struct http_handler {
    /* A whole request has come: it is answered now or later, once. */
    void (*asked)(void *context, struct http_call *call);
    /* The client has gone, or was too slow (`slow`): the call, which was not
     * answered to its end, is no more after this. */
    void (*gone)(void *context, struct http_call *call, bool slow);
    void *context;
};

struct http *
http_new(struct event_base *base, const struct http_limits *limits,
         const struct http_handler *handler);

/* Bytes that a body may have from now on: 0 until it is called. All that are
 * read or being answered may have 16 times as many. */
void
http_set_max_body(struct http *http, size_t bytes);

/* Accepts at a socket that listens already. False: no memory. */
bool
http_listen(struct http *http, int socket);

/* From now on each answer ends its connection. */
void
http_end_connections(struct http *http);

/* Whether an answer is not all with the kernel yet. */
bool
http_has_unsent(const struct http *http);

/* Connections that are open. */
int
http_n_connections(const struct http *http);

/* ---- a request ---- */

/* "GET", "POST", "OPTIONS", or "" for any other. */
const char *
http_method(const struct http_call *call);
/* Without the query; NULL: no path. */
const char *
http_path(const struct http_call *call);
/* NULL: the field is not there. */
const char *
http_field(const struct http_call *call, const char *name);
/* Is it HTTP/1.0, which needs no Host? */
bool
http_is_old(const struct http_call *call);
/* The whole body: *n bytes, and a NUL after them; NULL: no memory. */
const char *
http_body(struct http_call *call, size_t *n);

/* The user of the process at the other end of a Unix socket; -1: another kind
 * of socket. */
long
http_peer_user(const struct http_call *call);

/* A pointer that the caller keeps with it. */
void
http_set_data(struct http_call *call, void *data);
void *
http_data(const struct http_call *call);

/* ---- its answer: one of answer, or begin, write ..., and end or cut ---- */

/* Adds a field to the answer, in front of it. */
void
http_add_field(struct http_call *call, const char *name, const char *value);

/* The call is no more after this. */
void
http_answer(struct http_call *call, int status, const char *type,
            const void *body, size_t n);

/* Begins one of unknown length: the head goes at once. */
void
http_begin(struct http_call *call, const char *type);
/* False: the client is too slow, and the call is no more. gone() is not called.
 */
bool
http_write(struct http_call *call, const void *bytes, size_t n);
void
http_end(struct http_call *call);
/* Writes the last bytes (n > 0), then ends the connection without the end of
 * the answer: it must not look whole. The call is no more after this. */
void
http_cut(struct http_call *call, const void *bytes, size_t n);

#endif
