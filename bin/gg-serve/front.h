/* front.h - the process that meets the network
 *
 * It has no file, no model and no program: connections come from http.h, bodies
 * become records by translate.h, engines are sockets that the monitor passed.
 * A request that is being worked on is an `ask`: it waits for an engine, runs
 * there, and ends; where its client goes first, the engine is told, and the ask
 * ends with the engine's last record. */
#ifndef SERVE_FRONT_H
#define SERVE_FRONT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/buffer.h"
#include "gg-serve/http.h"
#include "gg-serve/keys.h"
#include "gg-serve/models.h"
#include "gg-serve/translate.h"
#include "gg-serve/wire.h"

enum {
    FRONT_ID = 24,
    FRONT_IDS = 1 << 10, /* places of the table of asks */
};

/* Settings of the command line. */
struct front_params {
    struct http_limits http;
    size_t max_body;                     /* bytes; 0: what the models need */
    int max_waiting, max_waiting_of_key; /* requests */
    int queue_seconds, answer_seconds, ping_seconds, silent_seconds;
    const char *const *hosts, *const *origins; /* each ends with NULL */
    bool share_prefix, engine_per_key, quiet, is_confined;
    int64_t started;
};

struct event;
struct front;
struct engine;

struct ask {
    TAILQ_ENTRY(ask) next;  /* of those that wait, or that run in `engine` */
    struct ask *next_of_id; /* in the table */
    struct front *front;
    struct http_call *call; /* NULL: the client has gone */
    struct translation *t;
    struct engine *engine; /* NULL: it waits */
    uint64_t number;
    char id[FRONT_ID];
    char unique[40]; /* in names that clients see */
    char key[KEY_MAX_NAME], model[MODEL_MAX_NAME];
    const char *path;
    struct buffer record;                 /* for the engine, until it is sent */
    int64_t came, wanted, first, written; /* ms; 0: not yet */
    bool is_begun;                        /* the head of a stream went out */
    int status;                           /* for the log */
    uint64_t n_prompt, n_cached, n_answer;
};
TAILQ_HEAD(asks, ask);

struct engine {
    TAILQ_ENTRY(engine) next;
    struct front *front;
    struct bufferevent *socket;
    int number; /* the monitor's */
    char model[MODEL_MAX_NAME], key[KEY_MAX_NAME];
    struct asks running;
    int n_running, n_slots; /* 0: it has not said yet */
    int n_ctx;              /* ids of a prompt and its answer; 0: not known */
    int64_t heard;          /* ms */
    bool is_retired, is_busy;
};
TAILQ_HEAD(engines, engine);

struct counters {
    uint64_t requests, refused, failed, cancelled, slow;
    uint64_t prompt_ids, cached_ids, answer_ids, engines_lost;
    uint64_t first_ms; /* summed, over `firsts` answers */
    uint64_t firsts;
};

struct front {
    struct front_params params;
    struct event_base *base;
    struct http *http;
    int monitor; /* the socket */
    struct event *speaks;
    struct keys keys, new_keys;
    struct models models, new_models; /* names alone */
    int64_t generation;               /* of the lists */
    bool has_keys, is_draining;
    int64_t drain_end;
    struct asks waiting;
    int n_waiting, n_asks;
    struct ask *of_id[FRONT_IDS];
    int64_t born; /* seconds since 1970 */
    uint64_t last_number;
    struct engines engines;
    struct counters n;
};

/* Serves until it is drained, and ends the process. `sockets` listen already.
 */
CLI_NORETURN void
front_run(const struct front_params *params, int monitor, const int *sockets,
          int n_sockets);

/* Milliseconds since some moment. */
int64_t
front_now(void);

/* ---- access.c: who may ask ---- */

/* Answers with an error in the form of the path's interface. */
void
access_refuse(struct http_call *call, int status, const char *code,
              const char *message);

/* False: it was answered. *key gets the place of the key, or -1. */
bool
access_check(struct front *f, struct http_call *call, int *key);

/* ---- ask.c: the life of a request ---- */

/* A request has come, or its client has gone. */
void
ask_came(void *front, struct http_call *call);
void
ask_gone(void *front, struct http_call *call, bool slow);

/* The engine's record for it. */
void
ask_take(struct ask *a, const char *line, size_t n);

/* Ends it by an error of our own; the engine says nothing more about it. */
void
ask_fail(struct ask *a, int status, const char *code, const char *message);

/* Each second: pings, and ends of patience. */
void
ask_tick(struct ask *a);

struct ask *
ask_find(struct front *f, const char *id, size_t n);

/* ---- dispatch.c: which request goes to which engine ---- */

/* Puts it in line. False: there is no room, and it was failed. */
bool
dispatch_add(struct front *f, struct ask *a);
/* Takes it out of line. */
void
dispatch_remove(struct front *f, struct ask *a);
/* Sends what can be sent. */
void
dispatch(struct front *f);

/* ---- engines.c: sockets of engines ---- */

void
engine_add(struct front *f, const struct wire *w, int socket);
struct engine *
engine_find(struct front *f, int number);
/* One of the model; NULL: none runs. */
struct engine *
engine_of_model(struct front *f, const char *model);
void
engine_send(struct engine *e, const char *line, size_t n);
/* Something of it has ended. */
void
engine_done(struct engine *e, struct ask *a);
/* Closes its socket: it ends by itself. */
void
engine_hang_up(struct engine *e);
void
engine_tick(struct engine *e);

/* ---- tell.c: the log, and the numbers ---- */

/* Whether standard error takes a line now: a log that nobody reads stops no
 * answer. The lines that it did not take are counted, and told. */
bool
tell_can(void);
void
tell_request(const struct ask *a, const char *word);
void
tell_refusal(const char *path, int status, const char *why);
void
tell_metrics(const struct front *f, struct buffer *out);

/* Sends a message to the monitor. */
void
front_tell(struct front *f, enum wire_kind kind, int engine, int model,
           int key);

#endif
