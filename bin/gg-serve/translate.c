/* translate.c - requests as records, and records as answers */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdarg.h>
#include <string.h>

#include "gg-serve/translate_impl.h"

enum {
    MOST_NESTS = 1 << 16,  /* arrays and objects of a request, */
    MOST_VALUES = 1 << 19, /* and values: what each takes in memory counts */
};

/* clang-format off */
const struct translate_api translate_apis[] = {
    { "chat", "POST", "/v1/chat/completions", true, false,
      &translate_chat_row },
    { "completions", "POST", "/v1/completions", true, false,
      &translate_prompt_row },
    { "messages", "POST", "/v1/messages", true, false,
      &translate_messages_row },
    { "count", "POST", "/v1/messages/count_tokens", false, false,
      &translate_count_row },
    { "responses", "POST", "/v1/responses", true, false,
      &translate_responses_row },
    { "embeddings", "POST", "/v1/embeddings", false, false,
      &translate_embeddings_row },
    { "rerank", "POST", "/v1/rerank", false, false, &translate_ranks_row },
    { "tokenize", "POST", "/tokenize", false, false, &translate_tokenize_row },
    { "detokenize", "POST", "/detokenize", false, false,
      &translate_detokenize_row },
    { "transcriptions", "POST", "/v1/audio/transcriptions", true, true,
      &translate_sound_row },
    { "completion", "POST", "/completion", true, false, &translate_llama_row },
    { "completion", "POST", "/completions", true, false,
      &translate_llama_row },
    { "infill", "POST", "/infill", true, false, &translate_infill_row },
    { "template", "POST", "/apply-template", false, false,
      &translate_template_row },
    { "chat-count", "POST", "/v1/chat/completions/input_tokens", false, false,
      &translate_chat_count_row },
    { "responses-count", "POST", "/v1/responses/input_tokens", false, false,
      &translate_responses_count_row },
    { "rerank", "POST", "/v1/reranking", false, false, &translate_ranks_row },
    { 0 },
};
/* clang-format on */

/* Clients whose base address ends without "/v1" leave it out. */
static bool
is_path_of(const struct translate_api *a, const char *path)
{
    return strcmp(path, a->path) == 0 ||
           (strncmp(a->path, "/v1/", 4) == 0 && strcmp(path, a->path + 3) == 0);
}

const struct translate_api *
translate_find(const char *method, const char *path, bool *known)
{
    const struct translate_api *found = NULL;

    for (const struct translate_api *a = translate_apis; a->name; a++)
        if (is_path_of(a, path) && !(found && strcmp(path, a->path) != 0))
            found = a;
    *known = found != NULL;
    return found && strcmp(method, found->method) == 0 ? found : NULL;
}

const struct translate_api *
translate_named(const char *name)
{
    for (const struct translate_api *a = translate_apis; a->name; a++)
        if (strcmp(name, a->name) == 0 || strcmp(name, a->path) == 0)
            return a;
    return NULL;
}

struct translation *
translation_new(const struct translate_api *api,
                const struct translate_with *with)
{
    struct translation *t = cli_alloc(NULL, 1, sizeof(*t));

    *t = (struct translation){ .api = api,
                               .with = *with,
                               .status = 200,
                               .n_answers = 1,
                               .verb = api->row->verb };
    return t;
}

static void
clear_part(struct translate_part *p)
{
    buffer_clear(&p->id);
    buffer_clear(&p->name);
    buffer_clear(&p->text);
    buffer_clear(&p->logprobs);
}

void
translation_free(struct translation *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_warnings; i++)
        free(t->warnings[i]);
    for (size_t i = 0; i < t->n_tools; i++) {
        free(t->tools[i].flat);
        free(t->tools[i].space);
        free(t->tools[i].name);
    }
    free(t->tools);
    free(t->model_name);
    buffer_clear(&t->body);
    buffer_clear(&t->model);
    buffer_clear(&t->echo);
    buffer_clear(&t->items);
    clear_part(&t->part);
    free(t);
}

/* ---- words ---- */

static void
set_error(struct translation *t, int status, const char *code,
          const char *param, const char *message)
{
    t->status = status >= 400 && status <= 599 ? status : 500;
    snprintf(t->code, sizeof(t->code), "%s", code ? code : "");
    snprintf(t->param, sizeof(t->param), "%s", param ? param : "");
    snprintf(t->message, sizeof(t->message), "%s", message);
}

void
translate_refuse(struct translation *t, int status, const char *param,
                 const char *fmt, ...)
{
    char message[sizeof(t->message)];
    va_list ap;

    if (t->status != 200)
        return;
    va_start(ap, fmt);
    vsnprintf(message, sizeof(message), fmt, ap);
    va_end(ap);
    set_error(t, status, NULL, param, message);
}

void
translate_warn(struct translation *t, const char *fmt, ...)
{
    char text[300], shown[sizeof(text)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    cli_escape(shown, sizeof(shown), text);
    for (size_t i = 0; i < t->n_warnings; i++)
        if (strcmp(t->warnings[i], shown) == 0)
            return;
    if (t->n_warnings < TRANSLATE_MOST_WARNINGS)
        t->warnings[t->n_warnings++] = cli_copy(shown, strlen(shown));
}

void
translate_add_warnings(const struct translation *t, struct buffer *out)
{
    for (size_t i = 0; i < t->n_warnings; i++)
        translate_put(out, i ? ",%q" : ",'warnings':[%q", t->warnings[i]);
    translate_put(out, t->n_warnings ? "]" : "");
}

void
translate_add_model(const struct translation *t, struct buffer *out)
{
    if (t->model.len)
        buffer_add(out, t->model.p, t->model.len);
    else
        translate_add_string(out, t->with.model ? t->with.model : "");
}

/* ---- errors, as interfaces have them ---- */

static const struct {
    int status;
    const char *openai, *anthropic;
} error_types[] = {
    { 400, "invalid_request_error", "invalid_request_error" },
    { 401, "authentication_error", "authentication_error" },
    { 403, "permission_error", "permission_error" },
    { 404, "not_found_error", "not_found_error" },
    { 413, "invalid_request_error", "request_too_large" },
    { 429, "rate_limit_error", "rate_limit_error" },
    { 500, "server_error", "api_error" },
    { 503, "server_error", "overloaded_error" },
};

static const char *
error_type(int status, bool anthropic)
{
    size_t n = sizeof(error_types) / sizeof(error_types[0]), i = 0;

    while (i < n && error_types[i].status != status)
        i++;
    if (i == n)
        i = status < 500 ? 0 : n - 2;
    return anthropic ? error_types[i].anthropic : error_types[i].openai;
}

static void
add_openai_error(const struct translation *t, struct buffer *out)
{
    translate_put(out,
                  "{'error':{'message':%q,'type':'%s','param':", t->message,
                  error_type(t->status, false));
    translate_put(out, *t->param ? "%q" : "null", t->param);
    translate_put(out, *t->code ? ",'code':%q" : ",'code':null", t->code);
    if (t->n_ctx > 0)
        translate_put(out, ",'n_prompt_tokens':%n,'n_ctx':%n", t->n_prompt,
                      t->n_ctx);
    translate_put(out, "}}");
}

/* Clients know a prompt that is too long by the words. */
static void
add_anthropic_error(const struct translation *t, struct buffer *out)
{
    translate_put(out, "{'type':'error','error':{'type':'%s','message':",
                  error_type(t->status, true));
    translate_put(
        out,
        t->n_ctx > 0 ? "'prompt is too long: %n tokens > %n maximum'}}" : "",
        t->n_prompt, t->n_ctx);
    translate_put(out, t->n_ctx > 0 ? "" : "%q}}", t->message);
}

void
translate_add_error(const struct translation *t, struct buffer *out)
{
    if (t->api->row->anthropic)
        add_anthropic_error(t, out);
    else
        add_openai_error(t, out);
}

void
translate_send_error(struct translation *t, struct buffer *out)
{
    translate_put(out, "data: ");
    translate_add_error(t, out);
    translate_put(out, "\n\n");
}

void
translate_error(const char *path, int status, const char *code,
                const char *message, struct buffer *out)
{
    bool anthropic = strncmp(path, "/v1/messages", 12) == 0;
    const struct translate_row row = { .anthropic = anthropic };
    const struct translate_api api = { .row = &row };
    struct translation t = { .api = &api, .status = status };

    set_error(&t, status, code, NULL, message);
    translate_add_error(&t, out);
}

/* ---- requests ---- */

/* A small text can take much memory. */
static bool
is_modest(const char *p, size_t len)
{
    size_t nests = 0, values = 0;
    bool quoted = false;

    for (size_t i = 0; i < len; i++) {
        if (p[i] == '"')
            quoted = !quoted;
        if (quoted)
            i += p[i] == '\\';
        else
            nests += p[i] == '[' || p[i] == '{', values += p[i] == ',';
    }
    return nests <= MOST_NESTS && values <= MOST_VALUES;
}

static void
read_body(struct translation *t, const char *body, size_t len)
{
    size_t mark = cli_mark(body, len);
    struct record_object object;
    struct record_value value;
    struct gg_error err;

    if (!is_modest(body + mark, len - mark)) {
        translate_refuse(t, 400, NULL,
                         "more than %d arrays and objects, or %d values",
                         MOST_NESTS, MOST_VALUES);
        return;
    }
    if (record_value_read(body + mark, len - mark, &value, &err) != GG_OK) {
        translate_refuse(t, 400, NULL, "the body: %s", err.message);
        return;
    }
    record_object_open(&value, &object);
    t->api->row->read(t, &object);
    record_object_close(&object);
    record_value_clear(&value);
}

static void
put_request(struct translation *t, struct buffer *out)
{
    const char *id = t->with.id;

    if (t->verb)
        translate_put(out, "{'id':%q,'%s':", id, t->verb);
    else
        translate_put(out, "{'id':%q,'custom_id':%q,'url':'%s','body':", id, id,
                      t->api->row->url);
    buffer_char(out, t->is_value ? ' ' : '{');
    if (t->body.len)
        buffer_add(out, t->body.p + 1, t->body.len - 1);
    translate_put(out, t->is_value ? "" : "}");
    translate_put(out, t->verb ? "" : ",'lenient':true");
    translate_put(out, t->stream ? ",'stream':true" : "");
    if (t->with.cache_key && !t->verb)
        translate_put(out, ",'cache_key':%q", t->with.cache_key);
    translate_put(out, "}\n");
}

bool
translation_read(struct translation *t, const char *type, const char *body,
                 size_t len, struct buffer *out)
{
    if (t->api->form)
        translate_read_form(t, type, body, len);
    else
        read_body(t, body, len);
    if (t->status == 200)
        put_request(t, out);
    else
        translate_add_error(t, out);
    buffer_clear(&t->body);
    t->ended = t->status != 200;
    return t->status == 200;
}

/* ---- facts ---- */

int
translation_status(const struct translation *t)
{
    return t->status;
}

bool
translation_is_stream(const struct translation *t)
{
    return t->stream;
}

const char *
translation_type(const struct translation *t)
{
    if (t->stream && (t->sent || t->status == 200))
        return "text/event-stream";
    return t->plain && t->status == 200 ? "text/plain; charset=utf-8"
                                        : "application/json";
}

const char *
translation_model(const struct translation *t)
{
    return t->model_name ? t->model_name : "";
}

const char *
translation_warning(const struct translation *t, size_t i)
{
    return i < t->n_warnings ? t->warnings[i] : NULL;
}

/* ---- answers ---- */

/* Ends the answer by the error that is set. */
static enum translate_state
end_badly(struct translation *t, struct buffer *out)
{
    t->ended = true;
    if (!t->sent)
        translate_add_error(t, out);
    else
        t->api->row->fail(t, out);
    return TRANSLATE_FAILED;
}

enum translate_state
translation_fail(struct translation *t, int status, const char *code,
                 const char *message, struct buffer *out)
{
    if (t->ended)
        return TRANSLATE_FAILED;
    set_error(t, status, code, NULL, message);
    return end_badly(t, out);
}

void
translation_ping(struct translation *t, struct buffer *out)
{
    const char *ping = t->api->row->ping;

    if (!t->stream || t->ended)
        return;
    t->sent = true;
    buffer_format(out, "%s", ping && t->begun ? ping : ": ping\n\n");
}

/* {"status": ..., "code": ..., "message": ...} of a record, or that of a body,
 * whose status stands apart. */
static enum translate_state
take_error(struct translation *t, const json_t *error, double status,
           struct buffer *out)
{
    const char *message = cli_json_text(error);

    if (!message)
        message = translate_text(error, "message");
    t->n_prompt = translate_number(error, "n_prompt_tokens");
    t->n_ctx = translate_number(error, "n_ctx");
    set_error(t, status >= 400 && status < 600 ? (int)status : 500,
              translate_text(error, "code"), translate_text(error, "param"),
              *message ? message : "the engine failed");
    return end_badly(t, out);
}

/* Words of the engine about what it left out. */
static void
take_warnings(struct translation *t, const json_t *from)
{
    const json_t *list = json_object_get(from, "warnings");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = cli_json_text(json_array_get(list, i));

        if (text)
            translate_warn(t, "%s", text);
    }
}

/* A whole answer, as batch files have it. */
static enum translate_state
take_response(struct translation *t, const struct record_value *response,
              struct buffer *out)
{
    double status = translate_number(response->json, "status_code");
    struct record_value body;

    record_value_find(response, "body", &body);
    if (status != 200)
        return take_error(t, json_object_get(body.json, "error"), status, out);
    t->ended = true;
    if (t->stream || !json_object_size(body.json)) {
        translate_refuse(t, 500, NULL, "the engine gave no answer");
        return end_badly(t, out);
    }
    take_warnings(t, body.json);
    t->api->row->whole(t, &body, out);
    return t->status == 200 ? TRANSLATE_DONE : end_badly(t, out);
}

static void
begin_events(struct translation *t, const json_t *start, struct buffer *out)
{
    if (t->begun)
        return;
    t->begun = true;
    take_warnings(t, start);
    t->prompt_ids = translate_number(start, "prompt_tokens");
    t->cached_ids = translate_number(start, "cached_tokens");
    t->api->row->start(t, out);
}

static const char no_record[] = "the engine's answer is no record";

/* A record of a stream. */
static enum translate_state
take_event(struct translation *t, const struct record_value *record,
           struct buffer *out)
{
    const struct translate_row *row = t->api->row;
    const json_t *delta = json_object_get(record->json, "delta");
    const json_t *end = json_object_get(record->json, "end");
    size_t before = out->len;

    if (!row->delta || !t->stream)
        return TRANSLATE_MORE;
    if (delta || end || json_object_get(record->json, "start"))
        begin_events(t, json_object_get(record->json, "start"), out);
    t->sent |= out->len > before; /* a completion's begin has no event */
    if ((delta && !json_is_object(delta)) || (end && !json_is_array(end)))
        return translation_fail(t, 500, NULL, no_record, out);
    if (delta)
        row->delta(t, record, out);
    t->sent |= out->len > before;
    if (end && t->status == 200)
        row->end(t, record, out);
    if (t->status != 200)
        return end_badly(t, out);
    t->ended = end != NULL;
    return end ? TRANSLATE_DONE : TRANSLATE_MORE;
}

static enum translate_state
take_record(struct translation *t, const struct record_value *record,
            struct buffer *out)
{
    const json_t *error = json_object_get(record->json, "error");
    struct record_value response;

    if (error && !json_is_null(error))
        return take_error(t, error, translate_number(error, "status"), out);
    if (record_value_find(record, "response", &response))
        return take_response(t, &response, out);
    if (!t->api->row->verb)
        return take_event(t, record, out);
    t->ended = true;
    t->api->row->whole(t, record, out);
    return t->status == 200 ? TRANSLATE_DONE : end_badly(t, out);
}

enum translate_state
translation_take(struct translation *t, const char *line, size_t len,
                 struct buffer *out)
{
    enum translate_state state;
    struct record_value record;
    struct gg_error err;

    if (t->ended)
        return t->status == 200 ? TRANSLATE_DONE : TRANSLATE_FAILED;
    if (record_value_read(line, len, &record, &err) != GG_OK)
        return translation_fail(t, 500, NULL, no_record, out);
    state = take_record(t, &record, out);
    record_value_clear(&record);
    return state;
}

#endif
