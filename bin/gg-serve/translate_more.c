/* translate_more.c - embeddings, ranks, ids of a text and back, prompts, lists
 * of models */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>
#include <time.h>

#include "common/options.h"
#include "gg-serve/translate_impl.h"

/* ---- embeddings, ranks ---- */

/* The engine takes no other members. */
static void
read_embeddings(struct translation *t, const struct record_object *body)
{
    for (size_t i = 0; i < body->n && t->status == 200; i++) {
        const struct record_member *m = &body->members[i];

        if (json_is_null(m->value.json) ||
            translate_common(t, m->key, &m->value))
            continue;
        if (cli_has_word("input|encoding_format|dimensions|query|documents|"
                         "texts|top_n|top_k|return_documents|return_text",
                         m->key))
            translate_set(t, m->key, &m->value);
        else
            translate_warn(t, "%.60s is left out", m->key);
    }
}

const struct translate_row translate_embeddings_row = {
    .url = "/v1/embeddings",
    .read = read_embeddings,
    .whole = translate_add_whole,
};

const struct translate_row translate_ranks_row = {
    .url = "/v1/rerank",
    .read = read_embeddings,
    .whole = translate_add_whole,
};

/* ---- ids ---- */

static void
set_value(struct translation *t, const struct record_value *v)
{
    t->is_value = true;
    translate_put(&t->body, ",%v", v);
}

/* Names of control tokens in the text are these, as llama.cpp's server has it,
 * where nothing is said. */
static void
set_options(struct translation *t, const struct record_object *body)
{
    for (size_t i = 0; i < body->n; i++)
        if (cli_has_word("content|add_special|parse_special|with_pieces",
                         body->members[i].key))
            translate_set(t, body->members[i].key, &body->members[i].value);
    if (!record_object_find(body, "parse_special"))
        translate_put(&t->body, ",'parse_special':true");
}

/* The text is `content`, as llama.cpp's server has it, or vLLM's `prompt`; or
 * the conversation `messages`. */
static void
read_content(struct translation *t, const struct record_object *body)
{
    const struct record_value *content = record_object_find(body, "content");
    const struct record_value *text =
        content ? content : record_object_find(body, "prompt");

    if (text && !json_is_string(text->json))
        translate_refuse(t, 400, "content", "content: not a string");
    if (content) {
        set_options(t, body);
        return;
    }
    if (text) {
        set_value(t, text);
        return;
    }
    if (!record_object_find(body, "messages"))
        translate_refuse(t, 400, "content", "neither content nor messages");
    t->verb = "render";
    for (size_t i = 0; i < body->n; i++)
        if (cli_has_word("messages|tools", body->members[i].key))
            translate_set(t, body->members[i].key, &body->members[i].value);
}

static void
read_token_ids(struct translation *t, const struct record_object *body)
{
    const struct record_value *ids = record_object_find(body, "tokens");

    if (!ids || !json_is_array(ids->json))
        translate_refuse(t, 400, "tokens", "tokens: not an array");
    else
        set_value(t, ids);
}

static void
put_tokenized(struct translation *t, const struct record_value *record,
              struct buffer *out)
{
    struct record_value ids, pieces;

    if (!record_value_find(record, "ids", &ids) || !json_is_array(ids.json))
        translate_refuse(t, 500, NULL, "the engine gave no ids");
    else
        translate_put(
            out, "{'count':%z,'tokens':%v}", json_array_size(ids.json),
            record_value_find(record, "tokens", &pieces) ? &pieces : &ids);
}

static void
put_detokenized(struct translation *t, const struct record_value *record,
                struct buffer *out)
{
    const json_t *text = json_object_get(record->json, "text");

    if (!json_is_string(text))
        translate_refuse(t, 500, NULL, "the engine gave no text");
    else
        translate_put(out, "{'content':%j,'prompt':%j}", text, text);
}

const struct translate_row translate_tokenize_row = {
    .verb = "tokenize",
    .read = read_content,
    .whole = put_tokenized,
};

const struct translate_row translate_detokenize_row = {
    .verb = "detokenize",
    .read = read_token_ids,
    .whole = put_detokenized,
};

/* ---- prompts ---- */

static void
put_input_tokens(struct translation *t, const struct record_value *record,
                 struct buffer *out)
{
    const json_t *ids = json_object_get(record->json, "count");
    double n = json_number_value(ids);

    if (!json_is_number(ids) || !(n >= 0 && n < 1e15))
        translate_refuse(t, 500, NULL, "the engine gave no number");
    else
        translate_put(out,
                      t->api->row->anthropic
                          ? "{'input_tokens':%n}"
                          : "{'object':'response.input_tokens',"
                            "'input_tokens':%n}",
                      n);
}

static void
put_rendered(struct translation *t, const struct record_value *record,
             struct buffer *out)
{
    const json_t *text = json_object_get(record->json, "text");

    if (!json_is_string(text))
        translate_refuse(t, 500, NULL, "the engine gave no text");
    else
        translate_put(out, "{'prompt':%j}", text);
}

const struct translate_row translate_count_row = {
    .verb = "count",
    .anthropic = true,
    .read = translate_messages_read,
    .whole = put_input_tokens,
};

const struct translate_row translate_chat_count_row = {
    .verb = "count",
    .read = translate_chat_read,
    .whole = put_input_tokens,
};

const struct translate_row translate_responses_count_row = {
    .verb = "count",
    .read = translate_responses_read,
    .whole = put_input_tokens,
};

const struct translate_row translate_template_row = {
    .verb = "render",
    .read = translate_chat_read,
    .whole = put_rendered,
};

/* ---- models ---- */

/* Members of both interfaces are in one object, but for the date. */
static void
put_model(const struct translate_model *m, bool anthropic, struct buffer *out)
{
    time_t date = (time_t)m->date;
    char text[40] = "";
    struct tm tm;

    if (gmtime_r(&date, &tm))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    translate_put(out, "{'id':%q,", m->name);
    if (anthropic)
        translate_put(out, "'type':'model','display_name':%q,'created_at':'%s'",
                      m->name, text);
    else
        translate_put(out, "'object':'model','created':%n,'owned_by':'gg'",
                      (double)m->date);
    if (m->n_ctx)
        translate_put(out, ",'meta':{'n_ctx':%n},'max_model_len':%n",
                      (double)m->n_ctx, (double)m->n_ctx);
    buffer_char(out, '}');
}

void
translate_models(const struct translate_model *list, size_t n, bool anthropic,
                 struct buffer *out)
{
    translate_put(out, anthropic ? "{'has_more':false,'data':["
                                 : "{'object':'list','data':[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buffer_char(out, ',');
        put_model(&list[i], anthropic, out);
    }
    buffer_char(out, ']');
    if (anthropic && n)
        translate_put(out, ",'first_id':%q,'last_id':%q", list[0].name,
                      list[n - 1].name);
    buffer_char(out, '}');
}

void
translate_model(const struct translate_model *model, bool anthropic,
                struct buffer *out)
{
    put_model(model, anthropic, out);
}

/* ---- numbers of llama.cpp's server ---- */

void
translate_properties(const char *model, int n_ctx, int n_slots,
                     struct buffer *out)
{
    translate_put(out,
                  "{'default_generation_settings':{'n_ctx':%n},"
                  "'total_slots':%n,'model_alias':%q,'build_info':'gg %s'}",
                  (double)n_ctx, (double)n_slots, model, PACKAGE_VERSION);
}

void
translate_slots(int n_ctx, int n_slots, int n_busy, struct buffer *out)
{
    for (int i = 0; i < n_slots; i++)
        translate_put(out, "%s{'id':%n,'n_ctx':%n,'is_processing':%s}",
                      i ? "," : "[", (double)i, (double)n_ctx,
                      i < n_busy ? "true" : "false");
    translate_put(out, n_slots > 0 ? "]" : "[]");
}

#endif
