/* monitor.c - engines are started, ended and counted; the front is kept alive
 *
 * The front asks for an engine by a place in the lists; nothing else of it is
 * believed. An engine's socket is the front's alone: an engine ends when the
 * front closes it. */
#include <config.h>

#include "gg-serve/monitor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/pass.h"
#include "gg-serve/child.h"
#include "gg-serve/workers.h"

static volatile sig_atomic_t ends_asked, reloads;

/* ---- the front ----------------------------------------------------------- */

static bool
has_projector(const struct models *models)
{
    int at;

    for (int i = 0; i < models->n; i++)
        if (child_option(models->of[i].args, 0, "mmproj", &at))
            return true;
    return false;
}

static void
send_lists(struct monitor *m)
{
    struct wire w = { .kind = WIRE_LISTS };

    monitor_tell(m, &w, -1);
    for (int i = 0; i < m->keys.n; i++) {
        w = (struct wire){ .kind = WIRE_KEY, .name = m->keys.of[i] };
        monitor_tell(m, &w, -1);
    }
    for (int i = 0; i < m->models.n; i++) {
        w = (struct wire){ .kind = WIRE_MODEL };
        memcpy(w.text, m->models.of[i].name, MODEL_MAX_NAME);
        monitor_tell(m, &w, -1);
    }
    w = (struct wire){ .kind = WIRE_LISTED,
                       .model = has_projector(&m->models),
                       .number = m->generation };
    monitor_tell(m, &w, -1);
}

/* pass_start() gives its function the socket alone. */
static struct monitor *starting;

static void
be_front(int socket)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    front_run(&starting->params.front, socket, starting->doors->sockets,
              starting->doors->n);
}

static bool
start_front(struct monitor *m)
{
    starting = m;
    m->front = -1;
    if (!pass_start(be_front, &m->front_pid, &m->front))
        return false;
    m->front_started = front_now();
    send_lists(m);
    return true;
}

static bool
read_lists(struct monitor *m)
{
    struct gg_error err;
    bool good = true;

    if (m->params.keys && keys_read(m->params.keys, &m->keys, &err) != GG_OK) {
        cli_warn("%s: %s", m->params.keys, err.message);
        good = false;
    }
    if (m->params.models &&
        models_read(m->params.models, &m->models, &err) != GG_OK) {
        cli_warn("%s: %s", m->params.models, err.message);
        good = false;
    }
    m->generation++;
    return good;
}

/* ---- what the front says ------------------------------------------------- */

static void
obey_front(struct monitor *m, const struct wire *w)
{
    struct worker *k = worker_find(m, w->engine);

    if (w->kind == WIRE_START) {
        worker_want(m, w);
    } else if (k && w->kind == WIRE_ALIVE) {
        k->was_alive = true;
    } else if (k && k->state != WORKER_FETCHING) {
        if (w->kind == WIRE_STUCK) {
            if (tell_can())
                cli_warn("engine %d is silent, and is killed", k->number);
            kill(k->pid, SIGKILL);
            return;
        }
        if (w->kind == WIRE_BUSY && k->state == WORKER_ENDING)
            k->state = WORKER_RUNNING; /* it got something at that moment */
        k->is_busy = w->kind == WIRE_BUSY;
        k->idle_since = front_now();
    }
}

/* False: the front has ended. */
static bool
front_speaks(struct monitor *m)
{
    struct wire w;
    int fd;

    if (!pass_receive(m->front, &w, sizeof(w), &fd))
        return false;
    if (fd >= 0)
        close(fd);
    obey_front(m, &w);
    return true;
}

/* ---- children that end --------------------------------------------------- */

static void
note_front(struct monitor *m, int status)
{
    m->front_pid = 0;
    if (m->is_draining || !tell_can())
        return;
    if (WIFSIGNALED(status))
        cli_warn("the front was ended by signal %d, and is started again",
                 WTERMSIG(status));
    else
        cli_warn("the front ended with status %d, and is started again",
                 WEXITSTATUS(status));
}

static void
end_front(struct monitor *m)
{
    int status;

    kill(m->front_pid, SIGKILL);
    while (waitpid(m->front_pid, &status, 0) < 0)
        if (errno != EINTR)
            return;
    note_front(m, status);
}

static void
reap(struct monitor *m)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == m->front_pid) {
            note_front(m, status);
            continue;
        }
        for (int i = 0; i < m->n_workers; i++)
            if (m->workers[i]->pid == pid) {
                worker_ended(m, i, status);
                break;
            }
    }
}

/* ---- each second --------------------------------------------------------- */

static void
reload(struct monitor *m)
{
    struct models before = { 0 };

    for (int i = 0; i < m->models.n; i++)
        models_add(&before, m->models.of[i].name, m->models.of[i].args);
    if (!read_lists(m) && tell_can())
        cli_warn("what could not be read is as before");
    for (int i = 0; i < m->n_workers; i++) {
        struct worker *k = m->workers[i];
        int new = models_find(&m->models, k->model.name);
        int old = models_find(&before, k->model.name);

        if (old >= 0 && new >= 0 &&
            model_is_same(&before.of[old], &m->models.of[new]))
            continue;
        k->is_retired = true;
        monitor_tell_engine(m, WIRE_RETIRE, k);
    }
    models_free(&before);
    send_lists(m);
}

static void
begin_drain(struct monitor *m)
{
    struct wire w = { .kind = WIRE_DRAIN, .number = m->params.grace_seconds };

    m->is_draining = true;
    m->drain_end =
        front_now() + (m->params.grace_seconds + LAST_SECONDS) * 1000LL;
    monitor_tell(m, &w, -1);
}

static void
obey_signals(struct monitor *m)
{
    if (reloads) {
        reloads = 0;
        reload(m);
    }
    if (ends_asked && !m->is_draining)
        begin_drain(m);
}

/* ---- the loop ------------------------------------------------------------ */

static void
kill_all(struct monitor *m)
{
    if (m->front_pid > 0)
        kill(m->front_pid, SIGKILL);
    for (int i = 0; i < m->n_workers; i++)
        if (m->workers[i]->pid > 0)
            kill(m->workers[i]->pid, SIGKILL);
}

/* A front that has ended takes its engines with it: their sockets are closed.
 * False: the end. */
static bool
front_ended(struct monitor *m)
{
    close(m->front);
    m->front = -1;
    if (m->front_pid > 0)
        end_front(m);
    if (m->is_draining)
        return false;
    for (int i = 0; i < m->n_workers; i++) {
        m->workers[i]->state = WORKER_ENDING;
        m->workers[i]->is_retired = true;
        m->workers[i]->ended_since = front_now();
    }
    if (front_now() - m->front_started < 1000)
        sleep(1);
    m->front_pid = 0;
    if (!start_front(m))
        cli_die("the front: %s", strerror(errno));
    return true;
}

static bool
is_over(const struct monitor *m)
{
    return ends_asked > 1 || (m->is_draining && front_now() > m->drain_end);
}

static void
serve(struct monitor *m)
{
    struct timespec second = { .tv_sec = 1 };
    sigset_t none;

    sigemptyset(&none);
    while (!is_over(m)) {
        struct pollfd p = { m->front, POLLIN, 0 };
        int n = ppoll(&p, 1, &second, &none);

        reap(m);
        obey_signals(m);
        if (n > 0 && !front_speaks(m) && !front_ended(m))
            return;
        workers_tick(m);
    }
}

/* Engines end when their sockets are closed, which the front's end did. */
static void
end_workers(struct monitor *m)
{
    struct timespec pause = { .tv_nsec = 20000000 };
    int64_t end = front_now() + (ends_asked > 1 ? 0 : LAST_SECONDS * 1000);

    while (m->n_workers && front_now() < end) {
        nanosleep(&pause, NULL);
        reap(m);
    }
    kill_all(m);
    reap(m);
}

/* ---- signals ------------------------------------------------------------- */

static void
note_signal(int sig)
{
    if (sig == SIGHUP)
        reloads = 1;
    else if (sig != SIGCHLD)
        ends_asked = ends_asked + 1;
}

/* They come while it waits, and at no other time. */
static void
catch_signals(void)
{
    static const int all[] = { SIGHUP, SIGINT, SIGTERM, SIGCHLD };
    struct sigaction action = { .sa_handler = note_signal };
    sigset_t held;

    sigemptyset(&held);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        sigaddset(&held, all[i]);
        sigaction(all[i], &action, NULL);
    }
    sigprocmask(SIG_BLOCK, &held, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void
forget_lists(struct monitor *m)
{
    models_free(&m->models);
    free(m->keys.of);
    free(m->records);
}

int
monitor_run(const struct monitor_params *params, const struct listen *doors)
{
    struct monitor m = { .params = *params, .doors = doors, .front = -1 };

    if (!params->models)
        models_add(&m.models, params->only.name, params->only.args);
    if (!read_lists(&m)) {
        listen_forget(doors);
        forget_lists(&m);
        return 1;
    }
    for (int i = 0; i < doors->n && !params->front.quiet; i++)
        cli_warn("listening at %s", doors->names[i]);
    catch_signals();
    if (!start_front(&m))
        cli_die("the front: %s", strerror(errno));
    serve(&m);
    if (m.front >= 0)
        close(m.front);
    end_workers(&m);
    listen_forget(doors);
    forget_lists(&m);
    return 0;
}
