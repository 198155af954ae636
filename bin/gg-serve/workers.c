/* workers.c - engines are started where there is room, and end when they are
 * idle for long, or when another model needs their memory */
#include <config.h>

#include "gg-serve/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/pass.h"
#include "gg-serve/child.h"

enum {
    LONGEST_PAUSE = 60, /* seconds between two tries */
    MAX_PATH_FETCHED = 4096,
};

/* ---- messages ------------------------------------------------------------ */

void
monitor_tell(struct monitor *m, struct wire *w, int fd)
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
    monitor_tell(m, &w, -1);
}

void
monitor_tell_engine(struct monitor *m, enum wire_kind kind,
                    const struct worker *k)
{
    struct wire w = { .kind = kind, .engine = k->number };

    monitor_tell(m, &w, -1);
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

struct worker *
worker_find(struct monitor *m, int number)
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
    monitor_tell_engine(m, WIRE_RELEASE, oldest);
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
    monitor_tell(m, &w, socket);
    close(socket);
    if (!m->params.front.quiet && tell_can())
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
    static const char option[] = "--model=";
    char text[sizeof(option) + MAX_PATH_FETCHED];
    char *path = text + sizeof(option) - 1, *args[MODEL_MAX_ARGS + 1];
    ssize_t n = read(k->fetched, path, MAX_PATH_FETCHED);
    struct models one = { 0 };
    int count = 0, at;
    const char *name = child_option(k->model.args, 'm', "model", &at);

    if (n <= 1 || path[n - 1] != '\n')
        return false;
    memcpy(text, option, sizeof(option) - 1);
    path[n - 1] = '\0';
    for (int i = 0; k->model.args[i]; i++) {
        args[count++] = i == at ? text : k->model.args[i];
        if (i == at && name == k->model.args[i + 1])
            i++;
    }
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

void
worker_want(struct monitor *m, const struct wire *w)
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

/* ---- ends ---------------------------------------------------------------- */

void
worker_ended(struct monitor *m, int i, int status)
{
    struct worker *k = m->workers[i];
    bool was_asked =
        k->state == WORKER_ENDING || k->is_retired || m->is_draining;

    if (k->state == WORKER_FETCHING) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && use_fetched(k) &&
            run_engine(m, k))
            return;
        tell_failed(m, k->model.name, "the model could not be fetched");
    }
    if (was_asked && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
        ; /* it had something to say to a front that has closed its socket */
    else if (WIFSIGNALED(status) && tell_can())
        cli_warn("engine %d of %s was ended by signal %d", k->number,
                 k->model.name, WTERMSIG(status));
    else if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && tell_can())
        cli_warn("engine %d of %s ended with status %d", k->number,
                 k->model.name, WEXITSTATUS(status));
    if (!was_asked)
        note_end(m, k);
    free_worker(m, i);
}

/* Engines that nobody wants any more, and those that do not end. */
void
workers_tick(struct monitor *m)
{
    int64_t now = front_now();

    for (int i = 0; i < m->n_workers; i++) {
        struct worker *k = m->workers[i];
        int64_t idle = now - k->idle_since;

        if (k->state == WORKER_RUNNING && !k->is_busy &&
            m->params.keep_seconds && idle > m->params.keep_seconds * 1000LL) {
            k->state = WORKER_ENDING;
            k->ended_since = now;
            monitor_tell_engine(m, WIRE_RELEASE, k);
        } else if (k->state == WORKER_ENDING && k->ended_since &&
                   now - k->ended_since > LAST_SECONDS * 1000) {
            kill(k->pid, SIGKILL);
        }
    }
}
