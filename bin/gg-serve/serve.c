/* serve.c - the options of a server become its parts */
#include <config.h>

#include "gg-serve/serve.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- options ------------------------------------------------------------- */

static enum gg_status
add_name(struct serve_names *names, const struct cli_option *row,
         const char *value, struct gg_error *err)
{
    if (names->n == SERVE_MOST_NAMES)
        return cli_error(err, GG_ERR_ARG, "--%s: more than %d", row->name,
                         SERVE_MOST_NAMES);
    names->of[names->n++] = value;
    return GG_OK;
}

static enum gg_status
set_name(void *options, const struct cli_option *row, const char *value,
         struct gg_error *err)
{
    return add_name((struct serve_names *)((char *)options + row->at), row,
                    value, err);
}

#define AT(field) .at = offsetof(struct serve_options, field)

/* clang-format off */
const struct cli_option serve_options[] = {
    { "model", 'm', CLI_TEXT, "FILE",
      "the model (else $GG_MODEL); with --fetch, also a name that gg-fetch "
      "takes",
      AT(model) },
    { "name", 0, CLI_TEXT, "NAME",
      "name of the model for clients (else its file's)",
      AT(name), .aliases = "alias", .not_with = "models" },
    { "models", 0, CLI_TEXT, "FILE",
      "serve several models: lines of NAME, a tab, arguments of gg-generate",
      AT(models),
      .not_with = "model|batch|context" },
    { "batch", 0, CLI_INT, "N",
      "answers computed at a time (4)", AT(n_batch), 1, 256,
      .aliases = "parallel" },
    { "context", 'c', CLI_INT, "N", "maximum ids of a prompt and its answer",
      AT(n_context), 1, 1 << 24, .aliases = "ctx-size" },
    { "listen", 'l', CLI_CALL, "WHERE",
      "listen on ADDRESS:PORT, or at a socket's path (else 127.0.0.1:8080 and "
      "$XDG_RUNTIME_DIR/gg/serve.sock); may be repeated", AT(listen),
      .set = set_name },
    { "key-file", 0, CLI_TEXT, "FILE",
      "keys of clients: lines of KEY, or of NAME, a tab, KEY", AT(keys) },
    { "host-name", 0, CLI_CALL, "NAME",
      "accept NAME as this server in Host; may be repeated", AT(hosts),
      .set = set_name },
    { "origin", 0, CLI_CALL, "ORIGIN",
      "allow requests of pages from ORIGIN; may be repeated", AT(origins),
      .set = set_name },
    { "engine-per-key", 0, CLI_FLAG, NULL,
      "run a process of the model for each key", AT(engine_per_key),
      .only_with = "key-file" },
    { "share-prefix", 0, CLI_FLAG, NULL,
      "share computed prompts between keys", AT(share_prefix) },
    { "memory-max", 0, CLI_INT64, "MIB",
      "end idle models to keep the memory of all below MIB", AT(memory_max), 1,
      1 << 30 },
    { "keep", 0, CLI_INT, "SECONDS",
      "end a model that is idle for SECONDS (0: never)", AT(keep), 0,
      1 << 30 },
    { "fetch", 0, CLI_FLAG, NULL, "fetch missing models with gg-fetch",
      AT(fetch) },
    { "grace", 0, CLI_INT, "SECONDS",
      "time that answers have to end after the server is told to stop (30)",
      AT(grace),
      0, 86400 },
    { "queue", 0, CLI_INT, "N",
      "maximum number of waiting requests (256)", AT(queue), 1,
      1 << 20 },
    { "queue-of-key", 0, CLI_INT, "N",
      "maximum number of waiting requests of a key (64)", AT(queue_of_key), 1,
      1 << 20 },
    { "queue-time", 0, CLI_INT, "SECONDS",
      "maximum time that a request waits (60)",
      AT(queue_time), 1, 86400 },
    { "answer-time", 0, CLI_INT, "SECONDS", "maximum time for an answer (3600)",
      AT(answer_time), 1, 1 << 30 },
    { "ping", 0, CLI_INT, "SECONDS",
      "send a comment to a stream silent for SECONDS (10)",
      AT(ping), 1, 86400 },
    { "silent", 0, CLI_INT, "SECONDS",
      "kill an engine silent for SECONDS (60)", AT(silent), 5, 86400 },
    { "head-time", 0, CLI_INT, "SECONDS",
      "maximum time for the head of a request (10)",
      AT(head), 1, 86400 },
    { "body-time", 0, CLI_INT, "SECONDS",
      "maximum time for the body of a request (30)", AT(body), 1,
      86400 },
    { "idle-time", 0, CLI_INT, "SECONDS",
      "maximum time between two requests (60)",
      AT(idle), 1, 86400 },
    { "max-body", 0, CLI_INT, "MIB",
      "maximum size of a request (8; 32 with --mmproj); of all requests, 16 "
      "times as much",
      AT(max_body), 1, 1024 },
    { "connections", 0, CLI_INT, "N",
      "maximum number of open connections (1024)",
      AT(max_connections), 1, 1 << 20 },
    { "quiet", 'q', CLI_FLAG, NULL,
      "write no line for each request", AT(quiet) },
    { 0 },
};
/* clang-format on */

void
serve_defaults(struct serve_options *o)
{
    *o = (struct serve_options){
        .n_batch = 4,
        .grace = 30,
        .queue = 256,
        .queue_of_key = 64,
        .queue_time = 60,
        .answer_time = 3600,
        .ping = 10,
        .silent = 60,
        .head = 10,
        .body = 30,
        .idle = 60,
        .max_connections = 1024,
    };
}

#if defined(HAVE_LIBEVENT) && defined(HAVE_JANSSON)

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gg-serve/monitor.h"

enum {
    SLOW_BYTES = 1 << 20, /* that a client has not taken */
    SPARE_SOCKETS = 64,
};

/* ---- parts --------------------------------------------------------------- */

static struct front_params
front_params_of(const struct serve_options *o)
{
    return (struct front_params){
        .http = { .head_seconds = o->head,
                  .body_seconds = o->body,
                  .idle_seconds = o->idle,
                  .max_connections = o->max_connections,
                  .max_waiting = SLOW_BYTES },
        .max_body = (size_t)o->max_body << 20,
        .max_waiting = o->queue,
        .max_waiting_of_key = o->queue_of_key,
        .queue_seconds = o->queue_time,
        .answer_seconds = o->answer_time,
        .ping_seconds = o->ping,
        .silent_seconds = o->silent,
        .hosts = o->hosts.of,
        .origins = o->origins.of,
        .share_prefix = o->share_prefix,
        .engine_per_key = o->engine_per_key,
        .is_confined = !cli_was_given("no-sandbox"),
        .quiet = o->quiet,
        .started = (int64_t)time(NULL),
    };
}

/* "story" of "/models/story.gguf". */
static void
name_of_model(const struct serve_options *o, const char *path,
              char name[MODEL_MAX_NAME])
{
    const char *slash = strrchr(path, '/');
    const char *base = o->name ? o->name : slash ? slash + 1 : path;
    size_t n = strlen(base);

    if (!o->name && n > 5 && strcmp(base + n - 5, ".gguf") == 0)
        n -= 5;
    if (n == 0 || n >= MODEL_MAX_NAME)
        cli_misuse("a model's name has 1 to %d bytes: --name gives it one",
                   MODEL_MAX_NAME - 1);
    memcpy(name, base, n);
    name[n] = '\0';
}

/* The engine of --model, with what was written after "--". */
static void
make_model(const struct serve_options *o, struct models *models)
{
    const char *path = o->model;
    char *args[MODEL_MAX_ARGS + 1], batch[16], context[16];
    char name[MODEL_MAX_NAME];
    int n = 0;

    if (!o->fetch || !path || !strchr(path, ':')) {
        cli_check_model(path);
        path = cli_model(path, true);
        if (access(path, R_OK))
            cli_die("%s: %s", path, strerror(errno));
    }
    name_of_model(o, path, name);
    args[n++] = (char *)"-m";
    args[n++] = (char *)path;
    snprintf(batch, sizeof(batch), "%d", (int)o->n_batch);
    args[n++] = (char *)"--batch";
    args[n++] = batch;
    if (o->n_context) {
        snprintf(context, sizeof(context), "%d", (int)o->n_context);
        args[n++] = (char *)"-c";
        args[n++] = context;
    }
    if (cli_was_given("no-sandbox"))
        args[n++] = (char *)"--no-sandbox";
    for (int i = 0; o->args[i]; i++) {
        if (n == MODEL_MAX_ARGS)
            cli_misuse("more than %d arguments", MODEL_MAX_ARGS);
        args[n++] = o->args[i];
    }
    args[n] = NULL;
    models_add(models, name, args);
}

static void
open_door(struct listen *doors, const char *where)
{
    struct gg_error err;
    enum gg_status st = listen_add(doors, where, &err);

    if (st == GG_OK)
        return;
    listen_forget(doors);
    if (st == GG_ERR_ARG)
        cli_misuse("--listen: %s", err.message);
    cli_die("%s", err.message);
}

static void
open_doors(const struct serve_options *o, struct listen *doors)
{
    const char *own = listen_own_socket();

    if (listen_take_passed(doors) == 0 && o->listen.n == 0) {
        open_door(doors, "127.0.0.1:8080");
        if (own)
            open_door(doors, own);
    }
    for (int i = 0; i < o->listen.n; i++)
        open_door(doors, o->listen.of[i]);
    if (doors->is_open && !o->keys) {
        listen_forget(doors);
        cli_misuse("others can reach that address: --key-file says who may "
                   "ask");
    }
}

/* The number of connections for which there are descriptors: accept() never
 * fails for the lack of one. */
static int
allow_sockets(int connections)
{
    struct rlimit limit;
    rlim_t want = (rlim_t)connections + SPARE_SOCKETS;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= want)
        return connections;
    limit.rlim_cur = want < limit.rlim_max ? want : limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= want)
        return connections;
    if (limit.rlim_cur <= SPARE_SOCKETS)
        cli_die("at most %d files may be open: %d are needed",
                (int)limit.rlim_cur, SPARE_SOCKETS + 1);
    cli_warn("at most %d files may be open: %d connections instead of %d",
             (int)limit.rlim_cur, (int)limit.rlim_cur - SPARE_SOCKETS,
             connections);
    return (int)limit.rlim_cur - SPARE_SOCKETS;
}

int
serve_run(const struct serve_options *o)
{
    struct monitor_params p = {
        .front = front_params_of(o),
        .keys = o->keys,
        .models = o->models,
        .memory_max = (uint64_t)o->memory_max << 20,
        .keep_seconds = o->keep,
        .grace_seconds = o->grace,
        .fetch = o->fetch,
    };
    struct listen doors = { .n = 0 };
    struct models one = { 0 };
    int status;

    if (!o->models) {
        make_model(o, &one);
        p.only = one.of[0];
    }
    p.front.http.max_connections = allow_sockets(o->max_connections);
    open_doors(o, &doors);
    status = monitor_run(&p, &doors);
    models_free(&one);
    return status;
}

#else

int
serve_run(const struct serve_options *o)
{
    (void)o;
    cli_die("gg was built without libevent, or without Jansson");
}

#endif
