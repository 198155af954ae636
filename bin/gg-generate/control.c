/* control.c - records that are answered at once */
#include <config.h>

#include "gg-generate/control.h"

#ifdef HAVE_JANSSON

#include <ggml.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/spare.h"
#include "gg-generate/run.h"
#include "gg-generate/stream.h"

/* ---- answers ------------------------------------------------------------- */

static void
fail_control(struct buffer *line, enum gg_status st, const char *message)
{
    if (st == GG_ERR_NOMEM)
        stream_add_error(503, "out_of_memory", message, line);
    else
        stream_add_error(400, "invalid_request", message, line);
}

/* Ends a line that began `begun` bytes long; or an error takes its place. */
static void
end_control(struct buffer *line, size_t begun, enum gg_status st,
            const struct gg_error *err)
{
    if (st == GG_OK) {
        buffer_format(line, "}\n");
        return;
    }
    line->len = begun;
    fail_control(line, st, err->message);
}

/* ---- cancel, drain ------------------------------------------------------- */

static bool
same_id(const struct buffer *id, const struct record_value *v)
{
    return v->len == id->len && memcmp(v->text, id->p, id->len) == 0;
}

static struct record *
find_record(const struct records *w, const struct record_value *id)
{
    struct record *r = w->first;

    while (r && (r->done || !same_id(&r->id, id)))
        r = r->next;
    return r;
}

static bool
item_has_id(const struct inbox_item *item, const struct record_value *id)
{
    struct record_value object, own;
    struct gg_error err;
    bool same = false;

    if (item->too_long || !memmem(item->text, item->len, id->text, id->len))
        return false;
    if (record_value_read(item->text, item->len, &object, &err) == GG_OK)
        same = (record_value_find(&object, "id", &own) ||
                record_value_find(&object, "custom_id", &own)) &&
               own.len == id->len && memcmp(own.text, id->text, id->len) == 0;
    record_value_clear(&object);
    return same;
}

static void
cancel_waiting(struct records *w, const struct record_value *id)
{
    struct inbox *b = &w->unordered.inbox;
    struct inbox_item **at = &b->waiting.first;

    while (*at && !item_has_id(*at, id))
        at = &(*at)->next;
    if (*at)
        records_refuse(w, inbox_take_at(b, &b->waiting, at), "cancelled",
                       "cancelled");
}

static void
cancel(struct records *w, const struct record_value *id, struct buffer *line)
{
    struct record *r = find_record(w, id);

    line->len = 0; /* the record's own answer says it */
    if (r)
        records_stop(w, r, "cancelled", "cancelled");
    else
        cancel_waiting(w, id);
}

static void
drain(struct records *w, const struct record_value *v, struct buffer *line)
{
    double seconds = json_number_value(v->json);

    if (!json_is_number(v->json) || !(seconds >= 0 && seconds < 1e9)) {
        fail_control(line, GG_ERR_FORMAT, "drain: not a number of seconds");
        return;
    }
    w->unordered.drains = true;
    w->unordered.end = ggml_time_us() + (int64_t)(seconds * 1e6);
    buffer_format(line, ",\"drain\":%.3f}\n", seconds);
}

/* ---- numbers ------------------------------------------------------------- */

static void
stats(struct records *w, const struct record_value *v, struct buffer *line)
{
    const struct generate *g = w->g;
    struct gg_engine_stats s = gg_engine_stats(g->engine.gg);
    const struct unordered *u = &w->unordered;

    (void)v;
    buffer_format(line,
                  ",\"stats\":{\"uptime\":%.3f,\"active\":%zu,\"batch\":%zu,"
                  "\"slots\":%d,\"queue\":%zu,\"queue_bytes\":%zu,"
                  "\"records\":%zu,\"failed\":%" PRIu64
                  ",\"cancelled\":%" PRIu64,
                  (double)(ggml_time_us() - u->start) / 1e6, w->n_active,
                  w->n_most, (int)g->engine.n_slots, u->inbox.n, u->inbox.bytes,
                  w->n_records, u->n_failed, u->n_cancelled);
    buffer_format(line,
                  ",\"evaluated_tokens\":%" PRIu64 ",\"cached_tokens\":%" PRIu64
                  ",\"drawn_tokens\":%zu,\"evaluations\":%" PRIu64
                  ",\"cache_bytes\":%zu,\"n_ctx\":%d,\"draining\":%s}}\n",
                  s.n_evaluated, s.n_copied, g->sums.n_made, s.n_runs,
                  gg_session_used(g->engine.session),
                  (int)gg_session_n_ctx(g->engine.session),
                  u->drains ? "true" : "false");
}

/* ---- tokens -------------------------------------------------------------- */

static void
tokenize(struct records *w, const struct record_value *v, struct buffer *line)
{
    size_t begun = line->len;
    struct gg_error err;
    enum gg_status st =
        control_tokenize(w->g->engine.vocab, v->json, line, &err);

    end_control(line, begun, st, &err);
}

/* The text of ids, control tokens among it. */
static enum gg_status
add_decoded(const struct records *w, const int32_t *ids, size_t n,
            struct buffer *line, struct gg_error *err)
{
    struct gg_decode_state state = { .started = true };
    struct buffer text = { 0 };
    size_t done, len, most = 1 << 10;
    enum gg_status st = GG_OK;

    for (; n && st == GG_OK; ids += done, n -= done) {
        st = gg_vocab_decode_ids(w->g->engine.vocab, &state, ids, n,
                                 GG_DECODE_SPECIAL, buffer_room(&text, most),
                                 most, &done, &len, err);
        if (st == GG_OK && done == 0)
            most = len;
        else if (st == GG_OK)
            text.len += len;
    }
    if (st == GG_OK) {
        buffer_format(line, ",\"text\":");
        cli_json_add(line, text.p, text.len);
    }
    buffer_clear(&text);
    return st;
}

static bool
read_ids(const json_t *list, int32_t *ids)
{
    size_t i;
    json_t *id;

    json_array_foreach(list, i, id)
    {
        double x = json_number_value(id);

        if (!json_is_number(id) || !(x >= 0 && x <= INT32_MAX) || x != floor(x))
            return false;
        ids[i] = (int32_t)x;
    }
    return true;
}

static enum gg_status
decode_list(const struct records *w, const json_t *list, struct buffer *line,
            struct gg_error *err)
{
    size_t n = json_array_size(list);
    enum gg_status st = spare_check(n, sizeof(int32_t), err);
    int32_t *ids;

    if (st != GG_OK)
        return st;
    ids = cli_alloc(NULL, n, sizeof(*ids));
    st = json_is_array(list) && read_ids(list, ids)
             ? add_decoded(w, ids, n, line, err)
             : cli_error(err, GG_ERR_FORMAT, "detokenize: no array of ids");
    free(ids);
    return st;
}

static void
detokenize(struct records *w, const struct record_value *v, struct buffer *line)
{
    size_t begun = line->len;
    struct gg_error err;
    enum gg_status st = decode_list(w, v->json, line, &err);

    end_control(line, begun, st, &err);
}

/* ---- prompts ------------------------------------------------------------- */

/* A record that is read, and not answered. */
static void
read_prompt(struct records *w, const struct record_value *v, bool text,
            struct buffer *line)
{
    struct record *r = record_new(w->g, w->form->writer, 0);
    size_t begun = line->len;
    struct gg_error err;
    enum gg_status st = w->form->read(w->g, r, v->text, v->len, &err);

    if (st == GG_OK && text)
        st = add_decoded(w, r->prompt.ids, r->prompt.n, line, &err);
    if (st == GG_OK && text)
        control_add_ids(line, r->prompt.ids, r->prompt.n);
    else if (st == GG_OK)
        buffer_format(line, ",\"count\":%zu", r->prompt.n);
    end_control(line, begun, st, &err);
    record_free(w->g, r);
}

static void
render(struct records *w, const struct record_value *v, struct buffer *line)
{
    read_prompt(w, v, true, line);
}

static void
count(struct records *w, const struct record_value *v, struct buffer *line)
{
    read_prompt(w, v, false, line);
}

/* ---- the table ----------------------------------------------------------- */

static const struct control {
    const char *member;
    void (*run)(struct records *w, const struct record_value *v,
                struct buffer *line);
} controls[] = {
    { "cancel", cancel },         { "drain", drain },
    { "stats", stats },           { "tokenize", tokenize },
    { "detokenize", detokenize }, { "render", render },
    { "count", count },
};

enum {
    N_CONTROLS = sizeof(controls) / sizeof(*controls),
};

static const struct control *
find_control(const struct record_value *object, struct record_value *value)
{
    static const char *const prompts[] = { "prompt", "messages", "body",
                                           "input" };

    for (size_t i = 0; i < sizeof(prompts) / sizeof(*prompts); i++)
        if (json_object_get(object->json, prompts[i]))
            return NULL;
    for (size_t i = 0; i < N_CONTROLS; i++)
        if (record_value_find(object, controls[i].member, value))
            return &controls[i];
    return NULL;
}

/* So that long records are not read twice. */
static bool
may_be(const char *text, size_t len)
{
    char quoted[16];

    for (size_t i = 0; i < N_CONTROLS; i++) {
        int n = snprintf(quoted, sizeof(quoted), "\"%s\"", controls[i].member);

        if (memmem(text, len, quoted, (size_t)n))
            return true;
    }
    return false;
}

bool
control_is(const char *text, size_t len, bool *no_memory)
{
    struct record_value object, value;
    struct gg_error err;
    enum gg_status st;
    bool found;

    *no_memory = false;
    if (!may_be(text, len))
        return false;
    st = record_value_read(text, len, &object, &err);
    *no_memory = st == GG_ERR_NOMEM;
    found = st == GG_OK && find_control(&object, &value);
    record_value_clear(&object);
    return found;
}

static bool
is_in_prefill(const struct records *w, const struct record *r)
{
    for (size_t i = 0; i < w->n_active; i++)
        if (w->active[i].record == r && !w->active[i].answer.n_made)
            return true;
    return false;
}

bool
control_is_urgent(const struct records *w, const struct inbox_item *item)
{
    struct record_value object, value;
    const struct control *c = NULL;
    const struct record *r = NULL;
    struct gg_error err;

    if (record_value_read(item->text, item->len, &object, &err) == GG_OK)
        c = find_control(&object, &value);
    if (c && c->run == cancel)
        r = find_record(w, &value);
    record_value_clear(&object);
    return r && is_in_prefill(w, r);
}

void
control_do(struct records *w, const struct inbox_item *item)
{
    struct record_value object, value, id;
    struct buffer line = { 0 }, name = { 0 };
    const struct control *c = NULL;
    struct gg_error err;
    enum gg_status st = record_value_read(item->text, item->len, &object, &err);

    if (st == GG_OK)
        c = find_control(&object, &value);
    if (c && record_value_find(&object, "id", &id))
        buffer_add(&name, id.text, id.len);
    else if (!c)
        stream_find_id(item->text, item->len, &name);
    stream_begin_line(&name, item->number, &line);
    if (c)
        c->run(w, &value, &line);
    else
        fail_control(&line, st, err.message);
    if (line.len)
        stream_put(&line);
    buffer_clear(&line);
    buffer_clear(&name);
    record_value_clear(&object);
}

#else

bool
control_is(const char *text, size_t len, bool *no_memory)
{
    (void)text, (void)len;
    return *no_memory = false;
}

#endif
