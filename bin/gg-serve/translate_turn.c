/* translate_turn.c - messages of a chat that are put together of blocks, parts
 * or items */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "common/options.h"
#include "gg-serve/translate_impl.h"

/* Bytes between the quotes. */
static void
add_inner(struct buffer *out, const struct record_value *string)
{
    buffer_add(out, string->text + 1, string->len - 2);
}

static void
begin_part(struct translate_turn *m)
{
    if (m->n_parts++)
        buffer_char(&m->parts, ',');
}

void
turn_add_text(struct translate_turn *m, const struct record_value *text)
{
    if (m->n_parts > m->n_media && m->between)
        buffer_format(&m->text, "%s", m->between);
    add_inner(&m->text, text);
    begin_part(m);
    translate_put(&m->parts, "{'type':'text','text':%v}", text);
}

void
turn_add_reasoning(struct translate_turn *m, const struct record_value *text)
{
    add_inner(&m->reasoning, text);
}

/* ---- blocks and parts ---- */

/* The member `name`, a string; else the request is refused. */
bool
translate_find_string(struct translation *t, const struct record_value *of,
                      const char *name, struct record_value *out)
{
    record_value_find(of, name, out);
    if (cli_json_text(out->json) ||
        (json_is_string(out->json) && strcmp(name, "text") == 0))
        return true;
    translate_refuse(t, 400, NULL,
                     "a part of type '%.60s' without a string '%s'",
                     translate_text(of->json, "type"), name);
    return false;
}

static void
take_text_part(struct translation *t, struct translate_turn *m,
               const struct record_value *block)
{
    struct record_value text;

    if (translate_find_string(t, block, "text", &text))
        turn_add_text(m, &text);
}

static void
take_refusal(struct translation *t, struct translate_turn *m,
             const struct record_value *part)
{
    struct record_value text;

    if (translate_find_string(t, part, "refusal", &text))
        turn_add_text(m, &text);
}

static void
take_url(struct translation *t, struct translate_turn *m,
         const struct record_value *part)
{
    const char *text = translate_text(part->json, "image_url");
    struct record_value url;

    record_value_find(part, "image_url", &url);
    if (strncmp(text, "data:", 5) != 0) {
        translate_refuse(t, 400, NULL,
                         "an image that is not in the request: no URL is "
                         "fetched");
        return;
    }
    begin_part(m);
    m->n_media++;
    translate_put(&m->parts, "{'type':'image_url','image_url':{'url':%v}}",
                  &url);
}

static void
take_image(struct translation *t, struct translate_turn *m,
           const struct record_value *block)
{
    struct record_value source, type, data;
    const char *name;

    record_value_find(block, "source", &source);
    record_value_find(&source, "media_type", &type);
    record_value_find(&source, "data", &data);
    name = cli_json_text(type.json);
    if (!name || name[strcspn(name, ";,\" \\")] || !cli_json_text(data.json)) {
        translate_refuse(t, 400, NULL,
                         "an image that is not in the request: no URL is "
                         "fetched");
        return;
    }
    begin_part(m);
    m->n_media++;
    translate_put(&m->parts,
                  "{'type':'image_url','image_url':{'url':'data:%s;"
                  "base64,",
                  name);
    add_inner(&m->parts, &data);
    translate_put(&m->parts, "'}}");
}

static void
take_as_it_is(struct translation *t, struct translate_turn *m,
              const struct record_value *part)
{
    (void)t;
    begin_part(m);
    m->n_media++;
    translate_add_value(&m->parts, part);
}

static void
take_thinking(struct translation *t, struct translate_turn *m,
              const struct record_value *block)
{
    struct record_value text;

    if (translate_find_string(t, block, "thinking", &text))
        turn_add_reasoning(m, &text);
}

static void
take_use(struct translation *t, struct translate_turn *m,
         const struct record_value *block)
{
    struct record_value id, name, input;

    record_value_find(block, "input", &input);
    if (!json_is_object(input.json))
        translate_refuse(t, 400, NULL, "a call without an object 'input'");
    else if (translate_find_string(t, block, "id", &id) &&
             translate_find_string(t, block, "name", &name))
        turn_add_call(m, &id, cli_json_text(name.json), &input, NULL);
}

/* It is a message of its own, and ends the user's that it interrupts. */
static void
take_result(struct translation *t, struct translate_turn *m,
            const struct record_value *block)
{
    static const struct record_value failed = { NULL, "\"Error:\"", 8 };
    struct translate_turn result = { .role = "tool", .between = "\\n" };
    struct record_value id, content;

    if (!translate_find_string(t, block, "tool_use_id", &id))
        return;
    turn_end(t, m);
    m->role = "user";
    translate_add_value(&result.id, &id);
    if (json_is_true(json_object_get(block->json, "is_error")))
        turn_add_text(&result, &failed);
    if (record_value_find(block, "content", &content))
        turn_add_content(t, &result, TURN_RESULT, &content);
    turn_end(t, &result);
}

static void
skip_block(struct translation *t, struct translate_turn *m,
           const struct record_value *block)
{
    (void)m;
    translate_warn(t, "a block of type %.60s is left out",
                   translate_text(block->json, "type"));
}

static const struct {
    const char *types;
    unsigned of;
    void (*add)(struct translation *t, struct translate_turn *m,
                const struct record_value *block);
} block_types[] = {
    { "text", TURN_USER | TURN_ASSISTANT | TURN_RESULT | TURN_SYSTEM,
      take_text_part },
    { "image", TURN_USER | TURN_RESULT, take_image },
    { "tool_result", TURN_USER, take_result },
    { "tool_use", TURN_ASSISTANT, take_use },
    { "thinking", TURN_ASSISTANT, take_thinking },
    { "redacted_thinking|server_tool_use|web_search_tool_result|"
      "web_fetch_tool_result|code_execution_tool_result",
      TURN_ASSISTANT, skip_block },
    { "search_result", TURN_USER, skip_block },
    { "tool_reference|search_result", TURN_RESULT, skip_block },
    { "text|input_text|output_text", TURN_PART, take_text_part },
    { "refusal", TURN_PART, take_refusal },
    { "input_image", TURN_PART, take_url },
    { "input_audio", TURN_PART, take_as_it_is },
};

static void
take_block(struct translation *t, struct translate_turn *m, unsigned of,
           const struct record_value *block)
{
    const char *type = translate_text(block->json, "type");

    for (size_t i = 0; i < sizeof(block_types) / sizeof(*block_types); i++)
        if ((block_types[i].of & of) &&
            cli_has_word(block_types[i].types, type)) {
            block_types[i].add(t, m, block);
            return;
        }
    translate_refuse(t, 400, NULL,
                     "a part of type '%.60s' cannot be read there", type);
}

/* Clients of Anthropic's put a line there that changes with each request: no
 * prefix would be found again. */
static bool
is_billing(const json_t *text)
{
    static const char head[] = "x-anthropic-billing-header:";
    const char *s = json_string_value(text);

    return s && strncmp(s, head, sizeof(head) - 1) == 0;
}

void
turn_add_content(struct translation *t, struct translate_turn *m, unsigned of,
                 const struct record_value *content)
{
    struct record_items items;
    struct record_value block;
    bool system = of == TURN_SYSTEM;

    if (json_is_string(content->json) && !(system && is_billing(content->json)))
        turn_add_text(m, content);
    else if (!json_is_array(content->json) && !json_is_string(content->json) &&
             !json_is_null(content->json))
        translate_refuse(t, 400, NULL, "content: neither text nor an array");
    record_items_open(content, &items);
    while (t->status == 200 && record_items_next(&items, &block))
        if (!system || !is_billing(json_object_get(block.json, "text")))
            take_block(t, m, of, &block);
}

/* ---- calls ---- */

/* The arguments of a call are JSON in a string; with `argument` they are an
 * object of one member of that name. */
static void
add_arguments(struct buffer *out, const struct record_value *v,
              const char *argument)
{
    struct buffer text = { 0 };

    if (json_is_string(v->json) && !argument) {
        translate_add_value(out, v);
        return;
    }
    translate_put(&text, argument ? "{'%s':" : "", argument);
    translate_add_value(&text, v);
    translate_put(&text, argument ? "}" : "");
    translate_put(out, "%b", &text);
    buffer_clear(&text);
}

void
turn_add_call(struct translate_turn *m, const struct record_value *id,
              const char *name, const struct record_value *arguments,
              const char *argument)
{
    translate_put(&m->calls,
                  "%s{'id':%v,'type':'function','function':{'name':%q,"
                  "'arguments':",
                  m->calls.len ? "," : "", id, name);
    add_arguments(&m->calls, arguments, argument);
    translate_put(&m->calls, "}}");
}

/* null stands for the text of a message that has calls alone. */
static void
add_content(const struct translate_turn *m, struct buffer *out)
{
    bool is_list = m->n_media || (m->n_parts > 1 && !m->between);

    if (m->calls.len && !m->n_parts)
        buffer_format(out, "null");
    else
        translate_put(out, is_list ? "[%r]" : "'%r'",
                      is_list ? &m->parts : &m->text);
}

void
turn_end(struct translation *t, struct translate_turn *m)
{
    struct buffer *out = &t->body;

    if (m->n_parts || m->reasoning.len || m->calls.len || m->id.len) {
        translate_put(out, "%s{'role':'%s','content':",
                      out->p[out->len - 1] == '[' ? "" : ",", m->role);
        add_content(m, out);
        if (m->reasoning.len)
            translate_put(out, ",'reasoning_content':'%r'", &m->reasoning);
        if (m->calls.len)
            translate_put(out, ",'tool_calls':[%r]", &m->calls);
        if (m->id.len)
            translate_put(out, ",'tool_call_id':%r", &m->id);
        buffer_char(out, '}');
    }
    buffer_clear(&m->text);
    buffer_clear(&m->parts);
    buffer_clear(&m->reasoning);
    buffer_clear(&m->calls);
    buffer_clear(&m->id);
    *m = (struct translate_turn){ .between = m->between };
}

#endif
