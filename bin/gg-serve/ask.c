/* ask.c - the life of a request, from its body to the last byte of an answer */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "gg-serve/front.h"

/* ---- the table of asks --------------------------------------------------- */

static struct ask **
bucket_of(struct front *f, uint64_t number)
{
    return &f->of_id[number % FRONT_IDS];
}

struct ask *
ask_find(struct front *f, const char *id, size_t n)
{
    uint64_t number = 0;
    struct ask *a;

    if (n < 2 || n >= FRONT_ID || *id != 'r')
        return NULL;
    for (size_t i = 1; i < n; i++) {
        if (id[i] < '0' || id[i] > '9')
            return NULL;
        number = number * 10 + (uint64_t)(id[i] - '0');
    }
    for (a = *bucket_of(f, number); a && a->number != number; a = a->next_of_id)
        ;
    return a;
}

static struct ask *
new_ask(struct front *f, struct http_call *call)
{
    struct ask *a = cli_alloc(NULL, 1, sizeof(*a));
    struct ask **at;

    *a = (struct ask){ .front = f, .call = call, .number = ++f->last_number };
    at = bucket_of(f, a->number);
    a->next_of_id = *at;
    *at = a;
    snprintf(a->id, sizeof(a->id), "r%" PRIu64, a->number);
    a->came = front_now();
    http_set_data(call, a);
    f->n_asks++;
    return a;
}

/* It is neither in line nor at an engine any more. */
static void
free_ask(struct ask *a)
{
    struct front *f = a->front;
    struct ask **at = bucket_of(f, a->number);

    while (*at != a)
        at = &(*at)->next_of_id;
    *at = a->next_of_id;
    f->n_asks--;
    translation_free(a->t);
    buffer_clear(&a->record);
    free(a);
}

/* ---- answers ------------------------------------------------------------- */

static void
cancel(const struct ask *a)
{
    struct buffer line = { 0 };

    buffer_format(&line, "{\"cancel\":\"%s\"}\n", a->id);
    engine_send(a->engine, line.p, line.len);
    buffer_clear(&line);
}

static void
leave_engine(struct ask *a)
{
    if (a->engine)
        engine_done(a->engine, a);
}

static void
add_reply_fields(struct ask *a, int status)
{
    char seconds[16];

    if (status == 429 || status == 503) {
        snprintf(seconds, sizeof(seconds), "%d", status == 429 ? 2 : 5);
        http_add_field(a->call, "Retry-After", seconds);
    }
    http_add_field(a->call, "X-Request-Id", a->id);
}

static void
count_end(struct ask *a)
{
    struct counters *n = &a->front->n;

    n->prompt_ids += a->n_prompt;
    n->cached_ids += a->n_cached;
    n->answer_ids += a->n_answer;
    n->failed += a->status >= 400;
}

/* Sends the end of the answer, or all of it, and forgets the ask. */
static void
end_ask(struct ask *a, bool failed, const struct buffer *out)
{
    if (a->call && a->is_begun) {
        if (failed && out->len)
            http_cut(a->call, out->p, out->len);
        else if (!out->len || http_write(a->call, out->p, out->len))
            http_end(a->call);
    } else if (a->call) {
        a->status = translation_status(a->t);
        add_reply_fields(a, a->status);
        http_answer(a->call, a->status,
                    failed ? "application/json" : translation_type(a->t),
                    out->p ? out->p : "", out->len);
    }
    leave_engine(a);
    count_end(a);
    tell_request(a, failed ? "failed" : "done");
    free_ask(a);
}

void
ask_fail(struct ask *a, int status, const char *code, const char *message)
{
    struct buffer out = { 0 };

    a->status = status;
    translation_fail(a->t, status, code, message, &out);
    end_ask(a, true, &out);
    buffer_clear(&out);
}

/* ---- a stream ------------------------------------------------------------ */

/* The client has gone, or is too slow: the engine is told, and the ask stays
 * until the engine has said its last. */
static void
abandon(struct ask *a, bool slow)
{
    a->call = NULL;
    a->front->n.cancelled += !slow;
    a->front->n.slow += slow;
    a->status = 499;
    if (!a->engine) {
        dispatch_remove(a->front, a);
        tell_request(a, "gone");
        free_ask(a);
        return;
    }
    cancel(a);
}

void
ask_gone(void *front, struct http_call *call, bool slow)
{
    struct ask *a = http_data(call);

    (void)front;
    if (a)
        abandon(a, slow);
}

static void
send_events(struct ask *a, const struct buffer *out)
{
    if (!a->call || !out->len)
        return;
    if (!a->is_begun) {
        http_add_field(a->call, "X-Request-Id", a->id);
        http_begin(a->call, "text/event-stream");
        a->is_begun = true;
        a->status = 200;
    }
    a->written = front_now();
    if (!http_write(a->call, out->p, out->len))
        abandon(a, true);
}

/* The number after a member's name; none: as it was. Within a string of JSON
 * a quote has a backslash, so that no text looks like it. */
static void
note_number(const char *line, size_t n, const char *member, uint64_t *out)
{
    const char *at = memmem(line, n, member, strlen(member));
    const char *end = line + n;
    uint64_t v = 0;

    if (!at)
        return;
    at += strlen(member);
    at += at < end && *at == ' ';
    while (at < end && *at >= '0' && *at <= '9' && v < UINT64_MAX / 16)
        v = v * 10 + (uint64_t)(*at++ - '0');
    *out = v;
}

static void
note_numbers(struct ask *a, const char *line, size_t n)
{
    note_number(line, n, "\"prompt_tokens\":", &a->n_prompt);
    note_number(line, n, "\"cached_tokens\":", &a->n_cached);
    note_number(line, n, "\"completion_tokens\":", &a->n_answer);
    if (!a->first && memmem(line, n, "\"delta\":", 8)) {
        a->first = front_now();
        a->front->n.first_ms += (uint64_t)(a->first - a->came);
        a->front->n.firsts++;
    }
}

void
ask_take(struct ask *a, const char *line, size_t n)
{
    struct buffer out = { 0 };
    enum translate_state state = translation_take(a->t, line, n, &out);

    note_numbers(a, line, n);
    if (state != TRANSLATE_MORE)
        end_ask(a, state == TRANSLATE_FAILED, &out);
    else if (translation_is_stream(a->t))
        send_events(a, &out);
    buffer_clear(&out);
}

/* ---- each second --------------------------------------------------------- */

static void
send_ping(struct ask *a)
{
    struct buffer out = { 0 };

    translation_ping(a->t, &out);
    send_events(a, &out);
    buffer_clear(&out);
}

void
ask_tick(struct ask *a)
{
    const struct front_params *p = &a->front->params;
    int64_t now = front_now();

    if (!a->engine && now - a->came > p->queue_seconds * 1000LL) {
        dispatch_remove(a->front, a);
        ask_fail(a, 503, "queue_timeout", "no model was free in time");
    } else if (a->call && now - a->came > p->answer_seconds * 1000LL) {
        cancel(a);
        ask_fail(a, 504, "timeout", "the answer took too long");
    } else if (a->call && translation_is_stream(a->t) &&
               now - (a->written ? a->written : a->came) >
                   p->ping_seconds * 1000LL) {
        send_ping(a);
    }
}

/* ---- a request that has come --------------------------------------------- */

static void
answer_json(struct http_call *call, int status, struct buffer *b)
{
    http_answer(call, status, "application/json", b->p, b->len);
    buffer_clear(b);
}

static void
answer_health(struct front *f, struct http_call *call)
{
    struct buffer b = { 0 };

    buffer_format(&b, "{\"status\":\"%s\"}\n",
                  f->is_draining ? "shutting down" : "ok");
    answer_json(call, f->is_draining ? 503 : 200, &b);
}

static void
answer_metrics(struct front *f, struct http_call *call)
{
    struct buffer b = { 0 };

    tell_metrics(f, &b);
    http_answer(call, 200, "text/plain; version=0.0.4", b.p, b.len);
    buffer_clear(&b);
}

static struct translate_model
listed_model(struct front *f, const char *name)
{
    const struct engine *e = engine_of_model(f, name);

    return (struct translate_model){ name, f->params.started,
                                     e ? (uint64_t)e->n_ctx : 0 };
}

/* Numbers of the first model, as monitors of llama.cpp's server read them. */
static void
answer_state(struct front *f, struct http_call *call, bool slots)
{
    const char *name = f->models.n ? f->models.of[0].name : "";
    const struct engine *e = engine_of_model(f, name);
    struct buffer b = { 0 };

    if (slots)
        translate_slots(e ? e->n_ctx : 0, e ? e->n_slots : 0,
                        e ? e->n_running : 0, &b);
    else
        translate_properties(name, e ? e->n_ctx : 0, e ? e->n_slots : 0, &b);
    answer_json(call, 200, &b);
}

static void
answer_models(struct front *f, struct http_call *call)
{
    struct translate_model *list =
        cli_alloc(NULL, (size_t)f->models.n + 1, sizeof(*list));
    struct buffer b = { 0 };

    for (int i = 0; i < f->models.n; i++)
        list[i] = listed_model(f, f->models.of[i].name);
    translate_models(list, (size_t)f->models.n,
                     http_field(call, "anthropic-version") != NULL, &b);
    free(list);
    answer_json(call, 200, &b);
}

static void
answer_model(struct front *f, struct http_call *call, const char *name)
{
    struct translate_model m = listed_model(f, name);
    struct buffer b = { 0 };

    if (models_find(&f->models, name) < 0) {
        access_refuse(call, 404, "model_not_found", "there is no such model");
        return;
    }
    translate_model(&m, http_field(call, "anthropic-version") != NULL, &b);
    answer_json(call, 200, &b);
}

/* Answers a path that needs no engine. False: it needs one. */
static bool
answer_here(struct front *f, struct http_call *call, const char *path)
{
    static const char models[] = "/models/";

    path += strncmp(path, "/v1/", 4) == 0 ? 3 : 0;
    if (strcmp(http_method(call), "GET") != 0)
        return false;
    if (strcmp(path, "/health") == 0)
        answer_health(f, call);
    else if (strcmp(path, "/metrics") == 0)
        answer_metrics(f, call);
    else if (strcmp(path, "/props") == 0)
        answer_state(f, call, false);
    else if (strcmp(path, "/slots") == 0)
        answer_state(f, call, true);
    else if (strcmp(path, "/models") == 0)
        answer_models(f, call);
    else if (strncmp(path, models, sizeof(models) - 1) == 0)
        answer_model(f, call, path + sizeof(models) - 1);
    else
        return false;
    return true;
}

/* A page may send other types without being asked whether it may. */
static bool
has_json(const struct http_call *call)
{
    const char *type = http_field(call, "Content-Type");

    return !http_field(call, "Origin") ||
           (type && strncasecmp(type, "application/json", 16) == 0);
}

static const struct translate_api *
find_api(struct http_call *call, const char *path)
{
    bool known;
    const struct translate_api *api =
        translate_find(http_method(call), path, &known);

    if (!api && known)
        access_refuse(call, 405, "method_not_allowed",
                      "this path has another method");
    else if (!api)
        access_refuse(call, 404, "not_found", "there is no such path");
    else if (!api->form && !has_json(call)) {
        access_refuse(
            call, 415, "unsupported_media_type",
            "the Content-Type of a page's request is application/json");
        api = NULL;
    }
    return api;
}

/* The only model answers to every name, as clients have names of their own. */
static bool
choose_model(struct front *f, struct ask *a)
{
    const char *name = translation_model(a->t);
    int i = models_find(&f->models, name);

    if (i < 0 && (!*name || f->models.n == 1))
        i = 0;
    if (i >= f->models.n)
        i = -1;
    if (i >= 0)
        memcpy(a->model, f->models.of[i].name, sizeof(a->model));
    return i >= 0;
}

static void
tell_warnings(const struct ask *a)
{
    const char *warning;

    for (size_t i = 0; (warning = translation_warning(a->t, i)); i++)
        if (tell_can())
            cli_warn("%s: %s", a->id, warning);
}

/* Reads the body: the ask waits, or has ended. */
static void
start_ask(struct front *f, struct ask *a, const struct translate_api *api)
{
    struct translate_with with = {
        .id = a->id,
        .unique = a->unique,
        .date = (int64_t)time(NULL),
        .model = f->models.n ? f->models.of[0].name : "",
        .cache_key = f->has_keys && !f->params.share_prefix ? a->key : NULL,
    };
    size_t n;
    const char *body = http_body(a->call, &n);

    snprintf(a->unique, sizeof(a->unique), "%" PRIx64 "x%" PRIx64,
             (uint64_t)f->born, a->number);
    a->path = api->path;
    a->t = translation_new(api, &with);
    if (!body) {
        ask_fail(a, 503, "no_memory", "there is no memory for the body");
        return;
    }
    if (!translation_read(a->t, http_field(a->call, "Content-Type"), body, n,
                          &a->record)) {
        end_ask(a, true, &a->record);
        return;
    }
    tell_warnings(a);
    if (!choose_model(f, a))
        ask_fail(a, 404, "model_not_found", "there is no such model");
    else if (dispatch_add(f, a))
        dispatch(f);
}

void
ask_came(void *front, struct http_call *call)
{
    struct front *f = front;
    const char *path = http_path(call);
    const struct translate_api *api;
    struct ask *a;
    int key;

    f->n.requests++;
    if (!path)
        path = "";
    if (!access_check(f, call, &key)) {
        f->n.refused++;
        return;
    }
    if (answer_here(f, call, path))
        return;
    api = find_api(call, path);
    if (!api) {
        f->n.refused++;
        return;
    }
    a = new_ask(f, call);
    if (key >= 0)
        memcpy(a->key, f->keys.of[key].name, sizeof(a->key));
    start_ask(f, a, api);
}
