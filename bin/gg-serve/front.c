/* front.c - the front's loop: what the monitor says, and what each second asks
 * for */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/pass.h"
#include "common/sandbox_calls.h"
#include "common/sandbox_files.h"
#include "gg-serve/front.h"

enum {
    MOST_BYTES_LOG2 = 32,   /* of memory */
    TEXTS_BYTES = 8 << 20,  /* of a body, */
    MEDIA_BYTES = 32 << 20, /* and where a model sees or hears */
    FLUSH_SECONDS = 3,      /* that clients have for the ends of answers */
};

int64_t
front_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* ---- the monitor --------------------------------------------------------- */

void
front_tell(struct front *f, enum wire_kind kind, int engine, int model, int key)
{
    struct wire w = { .kind = kind,
                      .engine = engine,
                      .model = model,
                      .key = key,
                      .number = f->generation };

    (void)pass_send(f->monitor, &w, sizeof(w), -1);
}

static void
free_lists(struct keys *keys, struct models *models)
{
    free(keys->of);
    *keys = (struct keys){ 0 };
    models_free(models);
}

static void
take_key(struct front *f, const struct wire *w)
{
    struct keys *k = &f->new_keys;

    k->of = cli_alloc(k->of, (size_t)k->n + 1, sizeof(*k->of));
    k->of[k->n++] = w->name;
}

static void
start_lists(struct front *f, const struct wire *w)
{
    size_t usual = w->model ? MEDIA_BYTES : TEXTS_BYTES;
    bool is_first = !f->generation;

    f->generation = w->number;
    http_set_max_body(f->http, f->params.max_body ? f->params.max_body : usual);
    if (is_first && f->models.n == 1 && !f->params.engine_per_key)
        front_tell(f, WIRE_START, 0, 0, -1); /* who asks need not wait */
    dispatch(f);
}

static void
take_lists(struct front *f, const struct wire *w)
{
    static char *const no_args[] = { NULL };

    if (w->kind == WIRE_LISTS) {
        free_lists(&f->new_keys, &f->new_models);
    } else if (w->kind == WIRE_KEY) {
        take_key(f, w);
    } else if (w->kind == WIRE_MODEL) {
        models_add(&f->new_models, w->text, no_args);
    } else {
        free_lists(&f->keys, &f->models);
        f->keys = f->new_keys;
        f->models = f->new_models;
        f->new_keys = (struct keys){ 0 };
        f->new_models = (struct models){ 0 };
        f->has_keys = f->keys.n > 0;
        start_lists(f, w);
    }
}

/* No engine will come for those that wait for this one. */
static void
fail_waiting(struct front *f, const struct wire *w)
{
    struct ask *a = TAILQ_FIRST(&f->waiting), *next;

    if (w->number != f->generation || w->model < 0 || w->model >= f->models.n)
        return;
    for (; a; a = next) {
        next = TAILQ_NEXT(a, next);
        if (strcmp(a->model, f->models.of[w->model].name) != 0)
            continue;
        dispatch_remove(f, a);
        ask_fail(a, 503, "model_unavailable", w->text);
    }
}

/* ---- the end ------------------------------------------------------------- */

static void
fail_running(struct front *f)
{
    struct engine *e;
    struct ask *a;

    TAILQ_FOREACH(e, &f->engines, next)
    while ((a = TAILQ_FIRST(&e->running)))
        ask_fail(a, 503, "shutting_down", "the server is shutting down");
}

/* Answers that have ended are on their way still, to clients that read. */
static void
end_drain(struct front *f)
{
    int64_t late = front_now() - f->drain_end;

    if (late >= 0)
        fail_running(f);
    if (f->n_asks == 0 &&
        (late >= FLUSH_SECONDS * 1000 || !http_has_unsent(f->http)))
        event_base_loopbreak(f->base);
}

static void
begin_drain(struct front *f, int64_t seconds)
{
    struct ask *a;

    f->is_draining = true;
    f->drain_end = front_now() + seconds * 1000;
    http_end_connections(f->http);
    while ((a = TAILQ_FIRST(&f->waiting))) {
        dispatch_remove(f, a);
        ask_fail(a, 503, "shutting_down", "the server is shutting down");
    }
    end_drain(f);
}

/* ---- messages of the monitor --------------------------------------------- */

static void
release_engine(struct front *f, struct engine *e)
{
    if (e->n_running == 0)
        engine_hang_up(e);
    else
        front_tell(f, WIRE_BUSY, e->number, -1, -1);
}

static void
take_message(struct front *f, const struct wire *w, int socket)
{
    struct engine *e = engine_find(f, w->engine);

    switch (w->kind) {
    case WIRE_ENGINE:
        if (socket >= 0)
            engine_add(f, w, socket);
        return;
    case WIRE_FAILED:
        fail_waiting(f, w);
        return;
    case WIRE_RELEASE:
        if (e)
            release_engine(f, e);
        return;
    case WIRE_RETIRE:
        if (e)
            e->is_retired = true;
        return;
    case WIRE_DRAIN:
        begin_drain(f, w->number);
        return;
    default:
        take_lists(f, w);
    }
}

/* ---- the end, without a monitor ------------------------------------------ */

/* Nobody starts engines any more: its clients are told, and that is all. */
static void
lose_monitor(struct front *f)
{
    event_del(f->speaks);
    if (tell_can())
        cli_warn("the first process has ended, and so does the front");
    begin_drain(f, 0);
}

static void
monitor_speaks(evutil_socket_t socket, short what, void *context)
{
    struct front *f = context;
    struct wire w;
    int fd;

    (void)what;
    if (pass_receive(socket, &w, sizeof(w), &fd))
        take_message(f, &w, fd);
    else
        lose_monitor(f);
}

/* ---- each second --------------------------------------------------------- */

static void
tick_asks(struct asks *asks)
{
    struct ask *a = TAILQ_FIRST(asks), *next;

    for (; a; a = next) {
        next = TAILQ_NEXT(a, next);
        ask_tick(a);
    }
}

static void
each_second(evutil_socket_t socket, short what, void *context)
{
    struct front *f = context;
    struct engine *e = TAILQ_FIRST(&f->engines), *next;

    (void)socket;
    (void)what;
    tick_asks(&f->waiting);
    for (; e; e = next) {
        next = TAILQ_NEXT(e, next);
        tick_asks(&e->running);
        engine_tick(e);
    }
    dispatch(f);
    if (f->is_draining)
        end_drain(f);
}

/* ---- the process --------------------------------------------------------- */

/* It opens no file and no socket, and starts nothing, whatever comes. */
static void
confine(void)
{
    struct rlimit memory = { (rlim_t)1 << MOST_BYTES_LOG2,
                             (rlim_t)1 << MOST_BYTES_LOG2 };
    struct rlimit none = { 0, 0 };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return;
    (void)sandbox_confine_files(NULL, 0);
#ifndef GG_INSTRUMENTED
    (void)setrlimit(RLIMIT_AS, &memory);
#else
    (void)memory;
#endif
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)sandbox_refuse_calls(SANDBOX_FRONT, 0);
}

static void
make_http(struct front *f)
{
    struct http_handler handler = { ask_came, ask_gone, f };

    f->base = event_base_new();
    if (f->base)
        f->http = http_new(f->base, &f->params.http, &handler);
    if (!f->http)
        cli_die("the front: %s", strerror(ENOMEM));
}

static void
listen_at(struct front *f, const int *sockets, int n)
{
    for (int i = 0; i < n; i++)
        if (!http_listen(f->http, sockets[i]))
            cli_die("the front: %s", strerror(ENOMEM));
}

/* Nobody is answered before it is known who may ask, and for which models. */
static void
await_lists(struct front *f)
{
    struct wire w;
    int fd;

    while (f->generation == 0) {
        if (!pass_receive(f->monitor, &w, sizeof(w), &fd))
            exit(1);
        take_message(f, &w, fd);
    }
}

static void
add_events(struct front *f)
{
    struct timeval second = { .tv_sec = 1 };
    struct event *tick = event_new(f->base, -1, EV_PERSIST, each_second, f);

    f->speaks =
        event_new(f->base, f->monitor, EV_READ | EV_PERSIST, monitor_speaks, f);
    if (!f->speaks || !tick || event_add(f->speaks, NULL) ||
        event_add(tick, &second))
        cli_die("the front: %s", strerror(ENOMEM));
}

void
front_run(const struct front_params *params, int monitor, const int *sockets,
          int n_sockets)
{
    struct front f = { .params = *params,
                       .monitor = monitor,
                       .born = (int64_t)time(NULL) };

    TAILQ_INIT(&f.waiting);
    TAILQ_INIT(&f.engines);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* the monitor says when */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    make_http(&f);
    await_lists(&f);
    if (!f.is_draining)
        listen_at(&f, sockets, n_sockets);
    add_events(&f);
    if (f.params.is_confined)
        confine();
    event_base_dispatch(f.base);
    exit(0);
}
