/* http.c - HTTP/1.1 by libevent's evhttp
 *
 * evhttp makes a connection of each socket that it accepts; bevcb gives it the
 * buffers, and is where a connection is first known here. Bytes that come are
 * looked at before evhttp reads them: a callback of the input buffer is called
 * as soon as they are there. While a request is answered evhttp reads nothing;
 * an event for EV_CLOSED tells when the client goes. */
#include <config.h>

#include "gg-serve/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>

#include "common/cli.h"
#include "gg-serve/head.h"

enum {
    MAX_DOORS = 8,
    MAX_BODIES = 16, /* as long as one may be, at a time */
    /* A refusal is written without evhttp, which may not answer at all. */
    MAX_REFUSAL = 512,
};

struct connection;

struct http_call {
    struct connection *of;
    struct evhttp_request *request;
    struct event *closed; /* the client has gone */
    void *data;
};

struct connection {
    struct http *http;
    struct bufferevent *buffers;
    struct evhttp_connection *ev;
    struct event *deadline;
    struct head head;
    enum head_at timed; /* what the deadline is of */
    size_t n_body;      /* counted in http->n_bodies */
    struct http_call *call;
};

struct http {
    struct event_base *base;
    struct evhttp *ev;
    struct http_limits limits;
    struct http_handler handler;
    struct evhttp_bound_socket *doors[MAX_DOORS];
    int n_doors, n_connections;
    size_t n_bodies, max_body;
    bool is_full, is_ending;
    struct connection **of_socket; /* by its number */
    int n_sockets;
};

/* ---- doors --------------------------------------------------------------- */

static void
open_doors(struct http *h, bool open)
{
    for (int i = 0; i < h->n_doors; i++) {
        struct evconnlistener *l =
            evhttp_bound_socket_get_listener(h->doors[i]);

        if (open)
            evconnlistener_enable(l);
        else
            evconnlistener_disable(l);
    }
}

static void
count_connection(struct http *h, int by)
{
    bool full;

    h->n_connections += by;
    full = h->n_connections >= h->limits.max_connections;
    if (full != h->is_full)
        open_doors(h, !full);
    h->is_full = full;
}

/* ---- connections --------------------------------------------------------- */

static void
set_deadline(struct connection *c, int seconds)
{
    struct timeval t = { .tv_sec = seconds };

    c->timed = c->head.at;
    if (seconds)
        evtimer_add(c->deadline, &t);
    else
        evtimer_del(c->deadline);
}

static int
socket_of(const struct connection *c)
{
    return bufferevent_getfd(c->buffers);
}

/* evhttp does not answer what it has not seen. After shutdown() it finds the
 * end of the connection, and frees it. */
static void
refuse_connection(struct connection *c, int status, const char *why)
{
    char text[MAX_REFUSAL];
    int body = snprintf(NULL, 0, "{\"error\":{\"message\":\"%s\"}}\n", why);
    int n =
        snprintf(text, sizeof(text),
                 "HTTP/1.1 %d Refused\r\nContent-Type: application/json\r\n"
                 "Content-Length: %d\r\nConnection: close\r\n%s\r\n"
                 "{\"error\":{\"message\":\"%s\"}}\n",
                 status, body, status == 503 ? "Retry-After: 1\r\n" : "", why);

    set_deadline(c, 0);
    (void)!send(socket_of(c), text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(socket_of(c), SHUT_RDWR);
}

static void
too_late(evutil_socket_t socket, short what, void *context)
{
    struct connection *c = context;

    (void)socket;
    (void)what;
    if (c->timed == HEAD_IDLE)
        shutdown(socket_of(c), SHUT_RDWR);
    else
        refuse_connection(c, 408, "the request took too long");
}

static void
forget_body(struct connection *c)
{
    c->http->n_bodies -= c->n_body;
    c->n_body = 0;
}

static void
free_call(struct http_call *call)
{
    if (call->closed)
        event_free(call->closed);
    call->of->call = NULL;
    forget_body(call->of);
    free(call);
}

/* evhttp frees it; a request that it has let go is freed here. */
static void
connection_closed(struct evhttp_connection *ev, void *context)
{
    struct connection *c = context;
    struct http *h = c->http;

    (void)ev;
    if (c->call) {
        struct evhttp_request *request = c->call->request;

        h->handler.gone(h->handler.context, c->call, false);
        if (!evhttp_request_get_connection(request))
            evhttp_request_free(request);
        free_call(c->call);
    }
    forget_body(c);
    h->of_socket[socket_of(c)] = NULL;
    event_free(c->deadline);
    bufferevent_decref(c->buffers);
    free(c);
    count_connection(h, -1);
}

/* Heads and bodies, in front of evhttp. The length of a body is known before it
 * is there. */
static void
look_at(struct connection *c, const char *bytes, size_t n)
{
    struct http *h = c->http;
    enum head_at before = c->head.at;
    size_t taken = head_take(&c->head, bytes, n, h->max_body);

    if (c->head.at == HEAD_BAD) {
        refuse_connection(c, c->head.status, c->head.why);
        return;
    }
    if (before != HEAD_BODY && c->head.at == HEAD_BODY) {
        if (c->head.length + h->n_bodies > MAX_BODIES * h->max_body) {
            c->head.at = HEAD_BAD;
            refuse_connection(c, 503, "too many bodies are being read");
            return;
        }
        c->n_body = (size_t)c->head.length;
        h->n_bodies += c->n_body;
        set_deadline(c, h->limits.body_seconds);
    } else if (before == HEAD_IDLE) {
        set_deadline(c, h->limits.head_seconds);
    }
    if (taken < n) {
        c->head.at = HEAD_BAD;
        c->head.status = 400;
        c->head.why = "bytes come after the request";
    }
}

static void
bytes_came(struct evbuffer *input, const struct evbuffer_cb_info *info,
           void *context)
{
    struct connection *c = context;
    struct evbuffer_iovec part;
    struct evbuffer_ptr at;
    size_t left = info->n_added;

    if (!left || evbuffer_ptr_set(input, &at, evbuffer_get_length(input) - left,
                                  EVBUFFER_PTR_SET))
        return;
    while (left && c->head.at != HEAD_BAD &&
           evbuffer_peek(input, (ev_ssize_t)left, &at, &part, 1) >= 1) {
        size_t n = part.iov_len < left ? part.iov_len : left;

        look_at(c, part.iov_base, n);
        left -= n;
        if (left && evbuffer_ptr_set(input, &at, n, EVBUFFER_PTR_ADD))
            return;
    }
}

static void
keep_by_socket(struct connection *c)
{
    struct http *h = c->http;
    int socket = socket_of(c), n = h->n_sockets;

    if (socket >= n) {
        h->n_sockets = 2 * socket + 16;
        h->of_socket = cli_alloc(h->of_socket, (size_t)h->n_sockets,
                                 sizeof(struct connection *));
        memset(h->of_socket + n, 0,
               (size_t)(h->n_sockets - n) * sizeof(struct connection *));
    }
    h->of_socket[socket] = c;
}

/* evhttp's own is known once it has taken the buffers: it is what their
 * callbacks get. */
static void
adopt(evutil_socket_t socket, short what, void *context)
{
    struct connection *c = context;
    bufferevent_data_cb read = NULL;
    void *ev = NULL;

    (void)socket;
    (void)what;
    bufferevent_getcb(c->buffers, &read, NULL, NULL, &ev);
    if (!read) { /* it was closed at once */
        event_free(c->deadline);
        bufferevent_decref(c->buffers);
        count_connection(c->http, -1);
        free(c);
        return;
    }
    c->ev = ev;
    keep_by_socket(c);
    evhttp_connection_set_closecb(c->ev, connection_closed, c);
    set_deadline(c, c->http->limits.head_seconds);
    c->timed = HEAD_LINES;
}

static struct bufferevent *
new_connection(struct event_base *base, void *context)
{
    struct http *h = context;
    struct connection *c = cli_alloc(NULL, 1, sizeof(*c));
    struct bufferevent *b = bufferevent_socket_new(base, -1, 0);

    *c = (struct connection){ .http = h, .buffers = b };
    c->deadline = evtimer_new(base, too_late, c);
    if (!b || !c->deadline ||
        !evbuffer_add_cb(bufferevent_get_input(b), bytes_came, c) ||
        event_base_once(base, -1, EV_TIMEOUT, adopt, c, NULL))
        cli_die("a connection: %s", strerror(ENOMEM));
    bufferevent_incref(b);
    count_connection(h, 1);
    return b;
}

/* ---- requests ------------------------------------------------------------ */

static void
client_gone(evutil_socket_t socket, short what, void *context)
{
    struct http_call *call = context;

    (void)socket;
    (void)what;
    evhttp_connection_free(call->of->ev);
}

static void
request_came(struct evhttp_request *request, void *context)
{
    struct http *h = context;
    struct evhttp_connection *ev = evhttp_request_get_connection(request);
    int socket = bufferevent_getfd(evhttp_connection_get_bufferevent(ev));
    struct connection *c = h->of_socket[socket];
    struct http_call *call = cli_alloc(NULL, 1, sizeof(*call));

    *call = (struct http_call){ .of = c, .request = request };
    c->call = call;
    set_deadline(c, 0);
    call->closed = event_new(h->base, socket, EV_CLOSED, client_gone, call);
    if (!call->closed || event_add(call->closed, NULL))
        cli_die("a request: %s", strerror(ENOMEM));
    if (c->head.at == HEAD_BAD) {
        http_add_field(call, "Connection", "close");
        http_answer(call, c->head.status, "text/plain", c->head.why,
                    strlen(c->head.why));
    } else {
        h->handler.asked(h->handler.context, call);
    }
}

const char *
http_method(const struct http_call *call)
{
    switch (evhttp_request_get_command(call->request)) {
    case EVHTTP_REQ_GET:
        return "GET";
    case EVHTTP_REQ_POST:
        return "POST";
    case EVHTTP_REQ_OPTIONS:
        return "OPTIONS";
    default:
        return "";
    }
}

const char *
http_path(const struct http_call *call)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(call->request);

    return uri ? evhttp_uri_get_path(uri) : NULL;
}

const char *
http_field(const struct http_call *call, const char *name)
{
    return evhttp_find_header(evhttp_request_get_input_headers(call->request),
                              name);
}

bool
http_is_old(const struct http_call *call)
{
    return call->request->major < 1 ||
           (call->request->major == 1 && call->request->minor < 1);
}

const char *
http_body(struct http_call *call, size_t *n)
{
    struct evbuffer *b = evhttp_request_get_input_buffer(call->request);

    *n = evbuffer_get_length(b);
    if (evbuffer_add(b, "", 1))
        return NULL;
    return (const char *)evbuffer_pullup(b, -1);
}

long
http_peer_user(const struct http_call *call)
{
    struct ucred who;
    socklen_t size = sizeof(who);
    struct sockaddr_storage at;
    socklen_t at_size = sizeof(at);
    int socket = socket_of(call->of);

    if (getsockname(socket, (struct sockaddr *)&at, &at_size) ||
        at.ss_family != AF_UNIX ||
        getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size))
        return -1;
    return (long)who.uid;
}

void
http_set_data(struct http_call *call, void *data)
{
    call->data = data;
}

void *
http_data(const struct http_call *call)
{
    return call->data;
}

/* ---- answers ------------------------------------------------------------- */

void
http_add_field(struct http_call *call, const char *name, const char *value)
{
    evhttp_add_header(evhttp_request_get_output_headers(call->request), name,
                      value);
}

/* The connection waits for its next request: what evhttp sends is queued, so
 * that no client has seen the answer yet. */
static struct evhttp_request *
finish_call(struct http_call *call)
{
    struct connection *c = call->of;
    struct evhttp_request *request = call->request;

    if (c->http->is_ending)
        http_add_field(call, "Connection", "close");
    free_call(call);
    c->head = (struct head){ .at = HEAD_IDLE };
    set_deadline(c, c->http->limits.idle_seconds);
    return request;
}

void
http_answer(struct http_call *call, int status, const char *type,
            const void *body, size_t n)
{
    struct evbuffer *b = evbuffer_new();
    struct evhttp_request *request;

    if (!b || evbuffer_add(b, body, n))
        cli_die("an answer: %s", strerror(ENOMEM));
    http_add_field(call, "Content-Type", type);
    request = finish_call(call);
    evhttp_send_reply(request, status, NULL, b);
    evbuffer_free(b);
}

void
http_begin(struct http_call *call, const char *type)
{
    http_add_field(call, "Content-Type", type);
    http_add_field(call, "Cache-Control", "no-store");
    http_add_field(call, "X-Accel-Buffering", "no");
    evhttp_send_reply_start(call->request, 200, NULL);
}

static void
send_piece(struct http_call *call, const void *bytes, size_t n,
           void (*done)(struct evhttp_connection *, void *))
{
    struct evbuffer *b = evbuffer_new();

    if (!b || evbuffer_add(b, bytes, n))
        cli_die("an answer: %s", strerror(ENOMEM));
    evhttp_send_reply_chunk_with_cb(call->request, b, done, NULL);
    evbuffer_free(b);
}

bool
http_write(struct http_call *call, const void *bytes, size_t n)
{
    struct connection *c = call->of;

    send_piece(call, bytes, n, NULL);
    if (evbuffer_get_length(bufferevent_get_output(c->buffers)) <=
        c->http->limits.max_waiting)
        return true;
    free_call(call);
    evhttp_connection_free(c->ev);
    return false;
}

void
http_end(struct http_call *call)
{
    evhttp_send_reply_end(finish_call(call));
}

static void
close_after(struct evhttp_connection *ev, void *unused)
{
    (void)unused;
    evhttp_connection_free(ev);
}

void
http_cut(struct http_call *call, const void *bytes, size_t n)
{
    struct connection *c = call->of;

    send_piece(call, bytes, n, close_after);
    free_call(call);
    set_deadline(c, c->http->limits.body_seconds);
}

/* ---- the whole ----------------------------------------------------------- */

struct http *
http_new(struct event_base *base, const struct http_limits *limits,
         const struct http_handler *handler)
{
    struct http *h = cli_alloc(NULL, 1, sizeof(*h));

    *h = (struct http){
        .base = base,
        .ev = evhttp_new(base),
        .limits = *limits,
        .handler = *handler,
    };
    if (!h->ev) {
        free(h);
        return NULL;
    }
    evhttp_set_max_headers_size(h->ev, HEAD_MAX_BYTES);
    evhttp_set_allowed_methods(
        h->ev, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD |
                   EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS);
    evhttp_set_bevcb(h->ev, new_connection, h);
    evhttp_set_gencb(h->ev, request_came, h);
    return h;
}

void
http_set_max_body(struct http *h, size_t bytes)
{
    h->max_body = bytes;
    evhttp_set_max_body_size(h->ev, (ev_ssize_t)bytes);
}

bool
http_listen(struct http *h, int socket)
{
    struct evhttp_bound_socket *door;

    if (h->n_doors == MAX_DOORS)
        return false;
    evutil_make_socket_nonblocking(socket);
    door = evhttp_accept_socket_with_handle(h->ev, socket);
    if (!door)
        return false;
    h->doors[h->n_doors++] = door;
    return true;
}

void
http_end_connections(struct http *h)
{
    h->is_ending = true;
}

bool
http_has_unsent(const struct http *h)
{
    for (int i = 0; i < h->n_sockets; i++) {
        const struct connection *c = h->of_socket[i];

        if (c && evbuffer_get_length(bufferevent_get_output(c->buffers)))
            return true;
    }
    return false;
}

int
http_n_connections(const struct http *h)
{
    return h->n_connections;
}
