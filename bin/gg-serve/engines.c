/* engines.c - engines as the front sees them: sockets with lines of JSON */
#include <config.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "common/json.h"
#include "gg-serve/front.h"

enum {
    MAX_LINE = 256 << 20, /* bytes of a record: embeddings of a long list */
};

/* ---- records ------------------------------------------------------------- */

enum {
    MAX_HEAD = 96, /* bytes of a record in which its id is */
};

/* The string after `member`, if it stands near the begin. */
static const char *
find_id(const char *line, size_t n, const char *member, size_t *len)
{
    const char *at =
        memmem(line, n < MAX_HEAD ? n : MAX_HEAD, member, strlen(member));
    const char *id = at ? at + strlen(member) : NULL;
    const char *end = id ? memchr(id, '"', (size_t)(line + n - id)) : NULL;

    *len = end ? (size_t)(end - id) : 0;
    return end ? id : NULL;
}

/* A whole answer has the id in the place of a batch file's, and a name of its
 * own in front of it. */
static struct ask *
ask_of_line(struct front *f, const char *line, size_t n)
{
    size_t len;
    const char *id = find_id(line, n, "\"custom_id\":\"", &len);

    if (!id)
        id = find_id(line, n, "{\"id\":\"", &len);
    return id ? ask_find(f, id, len) : NULL;
}

/* The answer to the first record that it got: how many it answers at once. A
 * beat says nothing but that it is alive. */
static void
take_stats(struct engine *e, const char *line, size_t n)
{
    json_error_t why;
    json_t *record = cli_json_load(line, n, 0, &why);
    json_t *stats = json_object_get(record, "stats");
    json_t *batch = json_object_get(stats, "batch");
    json_int_t n_ctx = json_integer_value(json_object_get(stats, "n_ctx"));
    json_int_t most = json_integer_value(batch);

    if (json_is_integer(batch) && most > 0 && most <= 4096) {
        if (!e->n_slots)
            front_tell(e->front, WIRE_ALIVE, e->number, -1, -1);
        e->n_slots = (int)most;
        e->n_ctx = n_ctx > 0 && n_ctx <= INT_MAX ? (int)n_ctx : 0;
    }
    json_decref(record);
}

static void
take_line(struct engine *e, const char *line, size_t n)
{
    struct ask *a = ask_of_line(e->front, line, n);

    if (a && a->engine == e)
        ask_take(a, line, n);
    else if (!a)
        take_stats(e, line, n);
}

/* ---- the socket ---------------------------------------------------------- */

static void
free_engine(struct engine *e)
{
    TAILQ_REMOVE(&e->front->engines, e, next);
    bufferevent_free(e->socket);
    free(e);
}

/* Requests that run there have no end any more. */
static void
lose_engine(struct engine *e, const char *message)
{
    struct front *f = e->front;
    struct ask *a;

    e->is_retired = true;
    while ((a = TAILQ_FIRST(&e->running))) {
        engine_done(e, a);
        ask_fail(a, 503, "engine_lost", message);
    }
    f->n.engines_lost++;
    free_engine(e);
    dispatch(f);
}

static void
can_read(struct bufferevent *b, void *context)
{
    struct engine *e = context;
    struct evbuffer *in = bufferevent_get_input(b);
    char *line;
    size_t n;

    e->heard = front_now();
    while ((line = evbuffer_readln(in, &n, EVBUFFER_EOL_LF))) {
        take_line(e, line, n);
        free(line);
    }
    if (evbuffer_get_length(in) > MAX_LINE)
        lose_engine(e, "the model's engine sent a line without an end");
    else
        dispatch(e->front);
}

static void
has_ended(struct bufferevent *b, short what, void *context)
{
    struct engine *e = context;

    (void)b;
    (void)what;
    lose_engine(e, e->n_slots ? "the model's engine has ended"
                              : "the model's engine could not start");
}

void
engine_add(struct front *f, const struct wire *w, int socket)
{
    static const char ask_stats[] = "{\"stats\":true}\n";
    struct engine *e = cli_alloc(NULL, 1, sizeof(*e));

    *e = (struct engine){ .front = f, .number = w->engine };
    TAILQ_INIT(&e->running);
    snprintf(e->model, sizeof(e->model), "%.*s", MODEL_MAX_NAME - 1, w->text);
    memcpy(e->key, w->name.name, sizeof(e->key) - 1);
    e->heard = front_now();
    evutil_make_socket_nonblocking(socket);
    e->socket = bufferevent_socket_new(f->base, socket, BEV_OPT_CLOSE_ON_FREE);
    if (!e->socket)
        cli_die("an engine: no memory");
    bufferevent_setcb(e->socket, can_read, NULL, has_ended, e);
    bufferevent_enable(e->socket, EV_READ | EV_WRITE);
    TAILQ_INSERT_TAIL(&f->engines, e, next);
    bufferevent_write(e->socket, ask_stats, sizeof(ask_stats) - 1);
    dispatch(f);
}

struct engine *
engine_find(struct front *f, int number)
{
    struct engine *e;

    TAILQ_FOREACH(e, &f->engines, next)
    if (e->number == number)
        return e;
    return NULL;
}

struct engine *
engine_of_model(struct front *f, const char *model)
{
    struct engine *e;

    TAILQ_FOREACH(e, &f->engines, next)
    if (strcmp(e->model, model) == 0)
        return e;
    return NULL;
}

void
engine_hang_up(struct engine *e)
{
    free_engine(e);
}

static void
tell_state(struct engine *e)
{
    bool is_busy = e->n_running > 0;

    if (is_busy != e->is_busy)
        front_tell(e->front, is_busy ? WIRE_BUSY : WIRE_IDLE, e->number, -1,
                   -1);
    e->is_busy = is_busy;
}

void
engine_send(struct engine *e, const char *line, size_t n)
{
    bufferevent_write(e->socket, line, n);
    tell_state(e);
}

void
engine_done(struct engine *e, struct ask *a)
{
    TAILQ_REMOVE(&e->running, a, next);
    a->engine = NULL;
    e->n_running--;
    tell_state(e);
}

void
engine_tick(struct engine *e)
{
    int64_t silent = front_now() - e->heard;

    if (e->is_retired && e->n_running == 0)
        engine_hang_up(e);
    else if (e->n_slots && silent > e->front->params.silent_seconds * 1000LL) {
        front_tell(e->front, WIRE_STUCK, e->number, -1, -1);
        e->heard = front_now();
    }
}
