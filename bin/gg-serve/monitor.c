/* monitor.c - engines are started, ended and counted; the front is kept alive
 *
 * The front asks for an engine by a place in the lists; nothing else of it is
 * believed. An engine's socket is the front's alone: an engine ends when the
 * front closes it. */
#include <config.h>

#include "gg-serve/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/pass.h"
#include "gg-serve/child.h"

enum {
    MAX_WORKERS = 64,
    LONGEST_PAUSE = 60, /* seconds between two tries */
    LAST_SECONDS = 5,   /* an engine has to end, once its socket is closed */
    MAX_PATH_FETCHED = 4096,
};

enum worker_state {
    WORKER_FETCHING, /* gg-fetch brings its model */
    WORKER_RUNNING,
    WORKER_ENDING, /* it was asked to end */
};

struct worker {
    enum worker_state state;
    pid_t pid;
    int number;
    struct model model; /* a copy */
    char key[KEY_MAX_NAME];
    bool is_busy, is_retired, was_alive;
    int64_t started, idle_since, ended_since;
    uint64_t bytes;
    int fetched; /* a pipe with the path; -1: none */
};

/* How a model did until now. */
struct record {
    char name[MODEL_MAX_NAME];
    uint64_t bytes; /* 0: not known */
    int pause;      /* seconds until the next try */
    int64_t until;
};

struct monitor {
    struct monitor_params params;
    const struct listen *doors;
    struct keys keys;
    struct models models;
    int64_t generation;
    struct worker *workers[MAX_WORKERS];
    int n_workers, last_number;
    struct record *records;
    int n_records;
    pid_t front_pid;
    int front; /* the socket; -1: there is no front */
    int64_t front_started, drain_end;
    bool is_draining;
    int status;
};

static volatile sig_atomic_t ends_asked, reloads;

/* ---- the front ----------------------------------------------------------- */

static void
tell_front(struct monitor *m, struct wire *w, int fd)
{
    if (m->front >= 0)
        (void)pass_send(m->front, w, sizeof(*w), fd);
}

static void
tell_failed(struct monitor *m, const char *model, const char *why)
{
    struct wire w = { .kind = WIRE_FAILED,
                      .model = models_find(&m->models, model),
                      .number = m->generation };

    snprintf(w.text, sizeof(w.text), "%s", why);
    tell_front(m, &w, -1);
}

static void
tell_engine(struct monitor *m, enum wire_kind kind, const struct worker *k)
{
    struct wire w = { .kind = kind, .engine = k->number };

    tell_front(m, &w, -1);
}

static void
send_lists(struct monitor *m)
{
    struct wire w = { .kind = WIRE_LISTS };

    tell_front(m, &w, -1);
    for (int i = 0; i < m->keys.n; i++) {
        w = (struct wire){ .kind = WIRE_KEY, .name = m->keys.of[i] };
        tell_front(m, &w, -1);
    }
    for (int i = 0; i < m->models.n; i++) {
        w = (struct wire){ .kind = WIRE_MODEL };
        memcpy(w.text, m->models.of[i].name, MODEL_MAX_NAME);
        tell_front(m, &w, -1);
    }
    w = (struct wire){ .kind = WIRE_LISTED, .number = m->generation };
    tell_front(m, &w, -1);
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

/* ---- models -------------------------------------------------------------- */

static struct record *
record_of(struct monitor *m, const char *name)
{
    for (int i = 0; i < m->n_records; i++)
        if (strcmp(m->records[i].name, name) == 0)
            return &m->records[i];
    m->records =
        cli_alloc(m->records, (size_t)m->n_records + 1, sizeof(*m->records));
    m->records[m->n_records] = (struct record){ 0 };
    snprintf(m->records[m->n_records].name, MODEL_MAX_NAME, "%s", name);
    return &m->records[m->n_records++];
}

/* One that could not load its model is not tried again at once. */
static void
note_end(struct monitor *m, const struct worker *k)
{
    struct record *r = record_of(m, k->model.name);

    if (k->was_alive) {
        r->pause = 0;
        return;
    }
    r->pause = r->pause ? 2 * r->pause : 1;
    if (r->pause > LONGEST_PAUSE)
        r->pause = LONGEST_PAUSE;
    r->until = front_now() + r->pause * 1000;
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

/* ---- workers ------------------------------------------------------------- */

static void
free_worker(struct monitor *m, int i)
{
    struct worker *k = m->workers[i];

    if (k->fetched >= 0)
        close(k->fetched);
    free(k->model.args);
    free(k);
    m->workers[i] = m->workers[--m->n_workers];
}

static struct worker *
find_worker(struct monitor *m, int number)
{
    for (int i = 0; i < m->n_workers; i++)
        if (m->workers[i]->number == number)
            return m->workers[i];
    return NULL;
}

static bool
is_served(const struct monitor *m, const char *model, const char *key)
{
    for (int i = 0; i < m->n_workers; i++) {
        const struct worker *k = m->workers[i];

        if (!k->is_retired && k->state != WORKER_ENDING &&
            strcmp(k->model.name, model) == 0 && strcmp(k->key, key) == 0)
            return true;
    }
    return false;
}

static uint64_t
bytes_used(const struct monitor *m)
{
    uint64_t sum = 0;

    for (int i = 0; i < m->n_workers; i++)
        sum += m->workers[i]->bytes;
    return sum;
}

/* Asks the one that is idle for longest to end. False: none is idle. */
static bool
release_one(struct monitor *m)
{
    struct worker *oldest = NULL;

    for (int i = 0; i < m->n_workers; i++) {
        struct worker *k = m->workers[i];

        if (k->state == WORKER_ENDING)
            return true; /* one is on its way */
        if (k->state == WORKER_RUNNING && !k->is_busy &&
            (!oldest || k->idle_since < oldest->idle_since))
            oldest = k;
    }
    if (!oldest)
        return false;
    oldest->state = WORKER_ENDING;
    oldest->ended_since = front_now();
    tell_engine(m, WIRE_RELEASE, oldest);
    return true;
}

/* Whether there is room for the model; the front asks again each second. */
static bool
has_room(struct monitor *m, const struct model *model, uint64_t *bytes)
{
    struct record *r = record_of(m, model->name);
    uint64_t max = m->params.memory_max;

    *bytes = 0;
    if (!max)
        return true;
    if (!r->bytes)
        r->bytes = child_memory(model->args);
    *bytes = r->bytes;
    if (r->bytes > max) {
        tell_failed(m, model->name,
                    "the model needs more memory than --memory-max");
        return false;
    }
    if (bytes_used(m) + r->bytes <= max)
        return true;
    release_one(m);
    return false;
}

/* ---- engines ------------------------------------------------------------- */

static bool
run_engine(struct monitor *m, struct worker *k)
{
    struct wire w = { .kind = WIRE_ENGINE, .engine = k->number };
    int socket;

    k->pid = child_start_engine(k->model.args, &socket);
    k->started = k->idle_since = front_now();
    if (k->pid < 0) {
        tell_failed(m, k->model.name, strerror(errno));
        return false;
    }
    k->state = WORKER_RUNNING;
    snprintf(w.text, sizeof(w.text), "%s", k->model.name);
    snprintf(w.name.name, sizeof(w.name.name), "%s", k->key);
    tell_front(m, &w, socket);
    close(socket);
    if (!m->params.front.quiet)
        cli_warn("engine %d of %s: process %d", k->number, k->model.name,
                 (int)k->pid);
    return true;
}

/* A name that is no file here, but that gg-fetch takes. */
static bool
wants_fetch(const struct monitor *m, const struct model *model,
            const char **name, int *at)
{
    *name = child_option(model->args, 'm', "model", at);
    return m->params.fetch && *name && strchr(*name, ':') &&
           access(*name, F_OK) != 0;
}

static bool
start_fetch(struct worker *k, const char *name)
{
    char *args[] = { (char *)"gg-fetch", (char *)"-q", (char *)name, NULL };
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return false;
    k->pid = child_start("gg-fetch", args, -1, ends[1]);
    close(ends[1]);
    k->fetched = ends[0];
    k->state = WORKER_FETCHING;
    k->started = front_now();
    return k->pid > 0;
}

/* The path that gg-fetch printed takes the place of the name. */
static bool
use_fetched(struct worker *k)
{
    char path[MAX_PATH_FETCHED];
    ssize_t n = read(k->fetched, path, sizeof(path) - 1);
    char *args[MODEL_MAX_ARGS + 3];
    struct models one = { 0 };
    int count = 0, at;

    if (n <= 1 || path[n - 1] != '\n')
        return false;
    path[n - 1] = '\0';
    (void)child_option(k->model.args, 'm', "model", &at);
    for (int i = 0; k->model.args[i]; i++)
        if (i != at)
            args[count++] = k->model.args[i];
        else if (strchr(k->model.args[i], '=') || k->model.args[i][1] != '-')
            i += k->model.args[i][2] == '\0';
        else
            i++;
    args[count++] = (char *)"--model";
    args[count++] = path;
    args[count] = NULL;
    models_add(&one, k->model.name, args);
    free(k->model.args);
    k->model = one.of[0];
    free(one.of);
    return true;
}

static void
add_worker(struct monitor *m, const struct model *model, const char *key,
           uint64_t bytes)
{
    struct worker *k = cli_alloc(NULL, 1, sizeof(*k));
    struct models one = { 0 };
    const char *name;
    int at;

    models_add(&one, model->name, model->args);
    *k = (struct worker){ .model = one.of[0], .fetched = -1, .bytes = bytes };
    free(one.of);
    k->number = ++m->last_number;
    snprintf(k->key, sizeof(k->key), "%s", key);
    m->workers[m->n_workers++] = k;
    if (!wants_fetch(m, model, &name, &at)) {
        if (!run_engine(m, k))
            free_worker(m, m->n_workers - 1);
    } else if (!start_fetch(k, name)) {
        tell_failed(m, model->name, "gg-fetch could not be started");
        free_worker(m, m->n_workers - 1);
    }
}

static void
want(struct monitor *m, const struct wire *w)
{
    const struct model *model;
    const char *key = "";
    struct record *r;
    uint64_t bytes;

    if (w->number != m->generation || w->model < 0 || w->model >= m->models.n ||
        m->is_draining)
        return;
    model = &m->models.of[w->model];
    if (m->params.front.engine_per_key && w->key >= 0 && w->key < m->keys.n)
        key = m->keys.of[w->key].name;
    if (is_served(m, model->name, key))
        return;
    r = record_of(m, model->name);
    if (front_now() < r->until)
        tell_failed(m, model->name, "the model's engine could not start");
    else if (m->n_workers == MAX_WORKERS)
        release_one(m);
    else if (has_room(m, model, &bytes))
        add_worker(m, model, key, bytes);
}

/* ---- what the front says ------------------------------------------------- */

static void
obey_front(struct monitor *m, const struct wire *w)
{
    struct worker *k = find_worker(m, w->engine);

    if (w->kind == WIRE_START) {
        want(m, w);
    } else if (k && w->kind == WIRE_ALIVE) {
        k->was_alive = true;
    } else if (k && k->state != WORKER_FETCHING) {
        if (w->kind == WIRE_STUCK) {
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
worker_ended(struct monitor *m, int i, int status)
{
    struct worker *k = m->workers[i];
    bool was_asked = k->state == WORKER_ENDING || k->is_retired;

    if (k->state == WORKER_FETCHING) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && use_fetched(k) &&
            run_engine(m, k))
            return;
        tell_failed(m, k->model.name, "the model could not be fetched");
    }
    if (WIFSIGNALED(status))
        cli_warn("engine %d of %s was ended by signal %d", k->number,
                 k->model.name, WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        cli_warn("engine %d of %s ended with status %d", k->number,
                 k->model.name, WEXITSTATUS(status));
    if (!was_asked)
        note_end(m, k);
    free_worker(m, i);
}

static void
reap(struct monitor *m)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == m->front_pid) {
            m->front_pid = 0;
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

/* Engines that nobody wants any more, and those that do not end. */
static void
tick_workers(struct monitor *m)
{
    int64_t now = front_now();

    for (int i = 0; i < m->n_workers; i++) {
        struct worker *k = m->workers[i];
        int64_t idle = now - k->idle_since;

        if (k->state == WORKER_RUNNING && !k->is_busy &&
            m->params.keep_seconds && idle > m->params.keep_seconds * 1000LL) {
            k->state = WORKER_ENDING;
            k->ended_since = now;
            tell_engine(m, WIRE_RELEASE, k);
        } else if (k->state == WORKER_ENDING && k->ended_since &&
                   now - k->ended_since > LAST_SECONDS * 1000) {
            kill(k->pid, SIGKILL);
        }
    }
}

static void
reload(struct monitor *m)
{
    struct models before = { 0 };

    for (int i = 0; i < m->models.n; i++)
        models_add(&before, m->models.of[i].name, m->models.of[i].args);
    if (!read_lists(m))
        cli_warn("what could not be read is as before");
    for (int i = 0; i < m->n_workers; i++) {
        struct worker *k = m->workers[i];
        int new = models_find(&m->models, k->model.name);
        int old = models_find(&before, k->model.name);

        if (old >= 0 && new >= 0 &&
            model_is_same(&before.of[old], &m->models.of[new]))
            continue;
        k->is_retired = true;
        tell_engine(m, WIRE_RETIRE, k);
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
    tell_front(m, &w, -1);
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
        kill(m->front_pid, SIGKILL);
    if (m->is_draining)
        return false;
    cli_warn("the front has ended, and is started again");
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
        tick_workers(m);
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

int
monitor_run(const struct monitor_params *params, const struct listen *doors)
{
    struct monitor m = { .params = *params, .doors = doors, .front = -1 };

    if (!params->models)
        models_add(&m.models, params->only.name, params->only.args);
    if (!read_lists(&m)) {
        listen_forget(doors);
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
    return m.status;
}
