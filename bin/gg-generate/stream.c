/* stream.c - answers that leave while they are made */
#include <config.h>

#include "gg-generate/stream.h"

#ifdef HAVE_JANSSON

#include <ggml.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/records/batch.h"
#include "common/terminal.h"
#include "common/utf8.h"
#include "gg-generate/calls.h"

/* How much of an answer has left. */
struct piece {
    bool begun, echoed;      /* something has; the prompt has */
    size_t text, reasoning;  /* bytes */
    size_t n_told;           /* tokens, with their log-probabilities */
    size_t evaluated;        /* ids of its prompt, for progress */
    size_t n_made, n_cached; /* ids: drawn, and of the prompt not evaluated */
    size_t n_thought;        /* of those drawn */
    struct calls_piece calls;
    const char *finish; /* why it ended; NULL: it has not */
    const char *stop;   /* the record's string that ended it, or NULL */
    size_t n_stop;
};

struct stream {
    struct piece *list; /* of all answers; NULL: none has begun */
    size_t n;
    bool started;
    int64_t first; /* id: microseconds; 0: not yet */
};

/* ---- lines --------------------------------------------------------------- */

void
stream_begin_line(const struct buffer *id, uint64_t number, struct buffer *out)
{
    buffer_format(out, "{\"id\":");
    if (id && id->len)
        buffer_add(out, id->p, id->len);
    else
        buffer_format(out, "%" PRIu64, number);
}

static void
begin_line(const struct record *r, struct buffer *out)
{
    stream_begin_line(&r->id, r->request.number, out);
}

void
stream_put(struct buffer *line)
{
    terminal_write(line->p, line->len, false);
    buffer_clear(line);
}

static void
add_error(int status, const char *code, const char *message, struct buffer *out)
{
    buffer_format(out, ",\"error\":{\"status\":%d,\"code\":\"%s\",\"message\":",
                  status, code);
    cli_json_add(out, message, strlen(message));
}

void
stream_add_error(int status, const char *code, const char *message,
                 struct buffer *out)
{
    add_error(status, code, message, out);
    buffer_format(out, "}}\n");
}

/* ---- start, progress ----------------------------------------------------- */

static size_t
count_prompts(const struct record *r)
{
    size_t n = r->prompt.n;

    for (size_t i = 0; i < r->n_others; i++)
        n += r->others[i].n;
    return n;
}

static struct piece *
piece_of(const struct record *r, size_t which)
{
    struct stream *s = r->stream;

    if (!s->list) {
        s->n = r->answers.n;
        s->list = cli_alloc(NULL, s->n, sizeof(*s->list));
        memset(s->list, 0, s->n * sizeof(*s->list));
    }
    return &s->list[which];
}

static void
put_start(const struct record *r, const struct piece *p)
{
    const struct batch *b = r->request.batch;
    struct buffer line = { 0 };

    r->stream->started = true;
    begin_line(r, &line);
    buffer_format(&line,
                  ",\"start\":{\"prompt_tokens\":%zu,\"cached_tokens\":%zu}",
                  count_prompts(r), p->n_cached);
    if (b)
        batch_put_warnings(b, &line);
    buffer_format(&line, "}\n");
    stream_put(&line);
}

static void
put_progress(const struct record *r, size_t which, const struct piece *p,
             size_t all)
{
    struct buffer line = { 0 };

    begin_line(r, &line);
    buffer_format(&line,
                  ",\"index\":%zu,\"progress\":{\"done\":%zu,\"of\":%zu}}\n",
                  which, p->evaluated, all);
    stream_put(&line);
}

static void
follow_prompt(const struct record *r, size_t which, const struct answer *a,
              struct piece *p)
{
    size_t done = gg_sequence_evaluated(a->sequence);
    size_t all = record_prompt(r, which)->n;

    if (done == 0 && !a->n_made)
        return;
    if (!p->begun)
        p->n_cached = record_cached(r, which, a);
    p->begun = true;
    if (!r->stream->started)
        put_start(r, p);
    if (a->n_made || done <= p->evaluated || done >= all)
        return;
    p->evaluated = done;
    put_progress(r, which, p, all);
}

/* ---- deltas -------------------------------------------------------------- */

/* How many of the bytes end with a whole character; all, where no more come. */
static size_t
whole(const char *p, size_t from, size_t len, bool ended)
{
    size_t at = from;

    while (at < len) {
        bool valid;
        size_t n = utf8_next(p + at, len - at, &valid);

        if (n == 0)
            return ended ? len : at;
        at += n;
    }
    return len;
}

static void
add_member(const char *name, const struct buffer *from, size_t *sent,
           bool ended, struct buffer *out)
{
    size_t to = whole(from->p, *sent, from->len, ended);

    if (to == *sent)
        return;
    buffer_format(out, "%s\"%s\":", out->len ? "," : "", name);
    cli_json_add(out, from->p + *sent, to - *sent);
    *sent = to;
}

/* Log-probabilities of the tokens whose text has left. */
static void
add_logprobs(const struct generate *g, const struct record *r, size_t which,
             const struct answer *a, struct piece *p, struct buffer *out)
{
    const struct batch *b = r->request.batch;
    struct buffer text = { a->text.p, p->text, 0 };
    struct logprobs_texts texts = {
        .vocab = g->engine.vocab,
        .flags = g->o->special == SPECIAL_PARSE ? GG_DECODE_SPECIAL : 0,
        .goes_on = record_prompt(r, which)->goes_on,
        .text = &text,
        .echo = &r->out,
        .told = p->n_told,
    };

    if (!a->logprobs.wanted)
        return;
    buffer_format(out, ",\"logprobs\":");
    if (b && b->kind == BATCH_CHAT)
        p->n_told = logprobs_add_chat(&a->logprobs, &texts, out);
    else
        p->n_told = logprobs_add_text(&a->logprobs, &texts, out);
}

static void
put_delta(const struct generate *g, const struct record *r, size_t which,
          const struct answer *a, struct piece *p, const struct buffer *members)
{
    struct buffer line = { 0 };

    if (members->len == 0)
        return;
    begin_line(r, &line);
    buffer_format(&line, ",\"index\":%zu,\"delta\":{", which);
    buffer_add(&line, members->p, members->len);
    buffer_char(&line, '}');
    if (a)
        add_logprobs(g, r, which, a, p, &line);
    buffer_format(&line, "}\n");
    stream_put(&line);
}

/* An echo of the prompt comes before the first text, or alone. */
static void
put_echo(const struct generate *g, const struct record *r, size_t which,
         const struct answer *a, struct piece *p)
{
    struct buffer members = { 0 };
    size_t sent = 0;

    if (r->out.len == 0 || p->echoed)
        return;
    p->echoed = true;
    add_member("content", &r->out, &sent, true, &members);
    put_delta(g, r, which, a, p, &members);
    buffer_clear(&members);
}

static void
put_text(const struct generate *g, const struct record *r, size_t which,
         const struct answer *a, struct piece *p, bool ended)
{
    bool hidden = g->o->show_reasoning != SHOW_REASONING && !r->request.batch;
    struct buffer members = { 0 };

    if (!hidden)
        add_member("reasoning_content", &a->reasoning, &p->reasoning, ended,
                   &members);
    if (a->text.len > p->text || ended)
        put_echo(g, r, which, a, p);
    add_member("content", &a->text, &p->text, ended, &members);
    put_delta(g, r, which, a, p, &members);
    buffer_clear(&members);
}

/* ---- calls --------------------------------------------------------------- */

/* The answer that a member of a delta is of. */
struct whose {
    const struct generate *g;
    const struct record *r;
    size_t which;
};

static void
put_call(void *data, const struct buffer *member)
{
    const struct whose *w = data;

    put_delta(w->g, w->r, w->which, NULL, NULL, member);
}

static void
put_calls(const struct generate *g, const struct record *r, size_t which,
          const struct answer *a, struct piece *p, bool ended)
{
    struct whose whose = { g, r, which };

    calls_follow(g, a, &p->calls, ended, put_call, &whose);
}

/* ---- the writer ---------------------------------------------------------- */

static void
step_stream(const struct generate *g, struct record *r, size_t which,
            const struct answer *a)
{
    struct piece *p = piece_of(r, which);

    follow_prompt(r, which, a, p);
    if (a->n_made > p->n_made && gg_text_part(a->made) == GG_PART_REASONING)
        p->n_thought++;
    p->n_made = a->n_made;
    if (a->n_made && !r->stream->first)
        r->stream->first = ggml_time_us();
    put_text(g, r, which, a, p, false);
    put_calls(g, r, which, a, p, false);
}

static const char *
finish_of(const struct answer *a)
{
    enum gg_finish finish =
        a->made ? gg_text_finish(a->made) : GG_FINISH_LENGTH;

    if (a->tool_calls.len && finish == GG_FINISH_EOG)
        return "tool_calls";
    return finish == GG_FINISH_EOG || finish == GG_FINISH_STOP ? "stop"
                                                               : "length";
}

static void
add_stream(const struct generate *g, const struct record *r, size_t which,
           const struct answer *a, struct buffer *out)
{
    struct piece *p = piece_of(r, which);

    (void)out;
    if (gg_text_error(a->made))
        return;
    if (!r->stream->started)
        put_start(r, p);
    if (!p->calls.n || a->tool_calls.len) /* else it was cut in a call */
        put_text(g, r, which, a, p, true);
    put_calls(g, r, which, a, p, true);
    p->n_made = a->n_made;
    p->finish = finish_of(a);
    p->stop = gg_text_stop(a->made, &p->n_stop);
}

static void
add_usage(const struct record *r, struct buffer *out)
{
    size_t prompt = count_prompts(r), made = 0, cached = 0, thought = 0;
    const struct stream *s = r->stream;

    for (size_t i = 0; i < s->n; i++) {
        made += s->list[i].n_made;
        thought += s->list[i].n_thought;
        if (i == 0 || record_prompt(r, i) != record_prompt(r, i - 1))
            cached += s->list[i].n_cached;
    }
    buffer_format(out,
                  ",\"usage\":{\"prompt_tokens\":%zu,\"completion_tokens\":%zu,"
                  "\"total_tokens\":%zu,\"prompt_tokens_details\":{"
                  "\"cached_tokens\":%zu},\"completion_tokens_details\":{"
                  "\"reasoning_tokens\":%zu}}",
                  prompt, made, prompt + made, cached, thought);
}

static double
milliseconds(int64_t from, int64_t to)
{
    return from && to > from ? (double)(to - from) / 1000 : 0;
}

static void
add_timings(const struct record *r, struct buffer *out)
{
    const struct stream *s = r->stream;

    buffer_format(out,
                  ",\"timings\":{\"queue_ms\":%.3f,\"prompt_ms\":%.3f,"
                  "\"decode_ms\":%.3f}",
                  milliseconds(r->came, r->begun),
                  milliseconds(r->begun, s->first),
                  milliseconds(s->first, ggml_time_us()));
}

static void
add_end(const struct record *r, struct buffer *out)
{
    const struct stream *s = r->stream;

    buffer_format(out, ",\"end\":[");
    for (size_t i = 0; i < s->n; i++) {
        const struct piece *p = &s->list[i];

        buffer_format(out, "%s{\"index\":%zu,\"finish_reason\":\"%s\"",
                      i ? "," : "", i, p->finish);
        if (p->stop) {
            buffer_format(out, ",\"stop\":");
            cli_json_add(out, p->stop, p->n_stop);
        }
        buffer_char(out, '}');
    }
    buffer_char(out, ']');
    add_usage(r, out);
    add_timings(r, out);
    if (r->request.sampling.params.temperature != 0 &&
        !r->request.sampling.none)
        buffer_format(out, ",\"seed\":%" PRIu64,
                      r->request.sampling.params.seed);
    buffer_format(out, "}\n");
}

/* ---- ends ---------------------------------------------------------------- */

static void
write_error(const struct generate *g, const struct record *r,
            const char *message, struct buffer *out)
{
    bool began = r->stream->list != NULL;
    struct batch_error e = { 0 };

    stream_tell_error(g, r, began, &e);
    add_error(e.status, e.code, stream_own_words(g, message), out);
    if (e.n_ctx)
        buffer_format(out, ",\"n_prompt_tokens\":%zu,\"n_ctx\":%zu", e.n_prompt,
                      e.n_ctx);
    buffer_char(out, '}');
    if (began)
        add_usage(r, out);
    buffer_format(out, "}\n");
}

static void
write_stream(const struct generate *g, struct record *r, const char *message)
{
    struct buffer line = { 0 };

    begin_line(r, &line);
    if (message)
        write_error(g, r, message, &line);
    else
        add_end(r, &line);
    buffer_clear(&r->out);
    r->out = line;
}

static const struct writer stream_writer = { add_stream, write_stream,
                                             step_stream };

/* ---- opening ------------------------------------------------------------- */

static bool
is_true(const struct record_object *o, const char *name)
{
    const struct record_value *v = record_object_find(o, name);

    return v && json_is_true(v->json);
}

static void
keep_id(struct record *r, const struct record_object *o)
{
    const struct record_value *v = record_object_find(o, "id");

    v = v ? v : record_object_find(o, "custom_id");
    if (v && (json_is_string(v->json) || json_is_integer(v->json)))
        buffer_add(&r->id, v->text, v->len);
}

static void
keep_key(struct record *r, const struct record_object *o)
{
    const struct record_value *v = record_object_find(o, "cache_key");
    const char *key = v ? cli_json_text(v->json) : NULL;

    if (key)
        r->cache_key = cli_copy(key, strlen(key));
}

static void
start_stream(struct record *r)
{
    r->stream = cli_alloc(NULL, 1, sizeof(*r->stream));
    *r->stream = (struct stream){ 0 };
    r->writer = &stream_writer;
}

void
stream_lose(struct record *r, const char *text, size_t len)
{
    stream_find_id(text, len, &r->id);
    start_stream(r);
}

void
stream_open(const struct generate *g, struct record *r,
            const struct record_object *object)
{
    bool wanted = is_true(object, "stream");
    const struct record_value *body = record_object_find(object, "body");
    json_t *inside = body ? json_object_get(body->json, "stream") : NULL;

    keep_key(r, object);
    if (!g->o->unordered)
        return;
    keep_id(r, object);
    if (!wanted && !(json_is_true(inside) && batch_is(&object->value)))
        return;
    start_stream(r);
}

void
stream_free(struct stream *s)
{
    for (size_t i = 0; s && i < s->n; i++)
        calls_piece_clear(&s->list[i].calls);
    if (s)
        free(s->list);
    free(s);
}

#else

void
stream_lose(struct record *r, const char *text, size_t len)
{
    (void)r, (void)text, (void)len;
}

void
stream_free(struct stream *s)
{
    (void)s;
}

#endif
