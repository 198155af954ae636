/* fuzz_translate.c - requests of all interfaces, and what clients get for the
 * engine's records: one line of JSON each way, or events with such lines
 *
 * The first byte says which interface; up to the first NUL follows the body of
 * a request, and then records in lines. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "fuzz.h"
#include "gg-serve/translate.h"
#include "tool.h"

const char fuzz_name[] = "translate";
const char cli_name[] = "fuzz_translate";

#ifdef HAVE_JANSSON

static void
check(bool right)
{
    if (!right)
        abort();
}

static void
check_json(const char *text, size_t len)
{
    json_error_t err;
    json_t *value = cli_json_load(text, len, JSON_ALLOW_NUL, &err);

    check(value && !memchr(text, '\n', len) && !memchr(text, '\r', len));
    json_decref(value);
}

/* Each line is empty, names an event, is a comment, or has JSON. */
static void
check_events(const char *p, const char *end)
{
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t len;

        check(newline != NULL);
        len = (size_t)(newline - p);
        check(len == 0 || *p == ':' || strncmp(p, "event: ", 7) == 0 ||
              strncmp(p, "data: ", 6) == 0);
        if (len >= 6 && *p == 'd' && strncmp(p, "data: [DONE]", 12) != 0)
            check_json(p + 6, len - 6);
        p = newline + 1;
    }
}

struct input {
    const struct translate_api *api;
    const char *body, *records, *end;
    size_t len;
};

static enum translate_state
take_records(struct translation *t, const struct input *in, struct buffer *out)
{
    enum translate_state state = TRANSLATE_MORE;
    const char *p = in->records, *newline;

    for (; p < in->end; p = newline + 1) {
        newline = memchr(p, '\n', (size_t)(in->end - p));
        newline = newline ? newline : in->end;
        state = translation_take(t, p, (size_t)(newline - p), out);
        translation_ping(t, out);
    }
    return state == TRANSLATE_MORE
               ? translation_fail(t, 503, "gone", "the engine ended", out)
               : state;
}

static void
answer(struct translation *t, const struct input *in)
{
    bool plain = strncmp(translation_type(t), "text/plain", 10) == 0;
    struct buffer out = { 0 };
    enum translate_state state = take_records(t, in, &out);
    size_t len = out.len;

    check(state != TRANSLATE_MORE);
    check((state == TRANSLATE_DONE) == (translation_status(t) == 200));
    check(translation_take(t, "{}", 2, &out) == state && out.len == len);
    if (translation_is_stream(t) && out.len && *out.p != '{')
        check_events(out.p, out.p + out.len);
    else if (!plain || state == TRANSLATE_FAILED)
        check_json(out.p, out.len);
    buffer_clear(&out);
}

static void
work(void *data)
{
    const struct input *in = data;
    const struct translate_with with = {
        .id = "r", .unique = "u", .date = 1795780800, .cache_key = "k"
    };
    struct translation *t = translation_new(in->api, &with);
    struct buffer out = { 0 };

    if (translation_read(t, "multipart/form-data; boundary=XX", in->body,
                         in->len, &out)) {
        check(out.len > 1 && out.p[out.len - 1] == '\n');
        check_json(out.p, out.len - 1);
        answer(t, in);
    } else {
        check(translation_status(t) >= 400);
        check_json(out.p, out.len);
    }
    buffer_clear(&out);
    translation_free(t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in;
    size_t n = 0;
    char *copy;

    while (translate_apis[n].name)
        n++;
    if (size < 1)
        return 0;
    copy = malloc(size); /* no byte more than there are */
    check(copy != NULL);
    memcpy(copy, data, size);
    in.api = &translate_apis[data[0] % n];
    in.body = copy + 1;
    in.end = copy + size;
    in.records = memchr(in.body, '\0', size - 1);
    in.len = (size_t)((in.records ? in.records : in.end) - in.body);
    in.records = in.records ? in.records + 1 : in.end;
    (void)tool_run(work, &in, NULL);
    free(copy);
    return 0;
}

#define START "{\"start\":{\"prompt_tokens\":9,\"cached_tokens\":4}}\n"
#define TEXT                                                                   \
    "{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"}}\n"                 \
    "{\"index\":0,\"delta\":{\"content\":\"\\u00e9\\u0000\"},\"logprobs\":{"   \
    "\"content\":[{\"token\":\"a\"}]}}\n"
#define CALLS                                                                  \
    "{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","       \
    "\"name\":\"s__g\",\"arguments\":\"{\\\"input\\\":\"}]}}\n"                \
    "{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"arguments\":"      \
    "\"1}\"},{\"index\":1,\"id\":\"d\",\"function\":{\"name\":\"f\"}}]}}\n"
#define END                                                                    \
    "{\"end\":[{\"index\":0,\"finish_reason\":\"length\",\"stop\":\"E\"}],"    \
    "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n"
#define STREAM START TEXT CALLS END
#define WHOLE                                                                  \
    "{\"response\":{\"status_code\":200,\"body\":{\"id\":\"x\",\"created\":1," \
    "\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"content\":"      \
    "\"a\",\"reasoning_content\":\"b\",\"tool_calls\":[{\"id\":\"c\","         \
    "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":" \
    "\"tool_calls\"}],\"usage\":{\"prompt_tokens\":1}}}}\n"
#define LOST                                                                   \
    "{\"error\":{\"status\":400,\"code\":\"context_length_exceeded\","         \
    "\"message\":\"m\",\"n_prompt_tokens\":9,\"n_ctx\":8}}\n"

/* The interface's name, a request, records. */
static const char *const texts[][3] = {
    { "chat",
      "{\"model\":\"m\",\"messages\" : [{\"role\":\"user\",\"content\":"
      "\"hi\"}],\"stream\":true,\"stream_options\":{\"include_usage\":true},"
      "\"n\":2,\"seed\":-1,\"user\":\"u\",\"tools\":[{\"type\":\"x\"},{}]}",
      STREAM },
    { "chat", "{\"messages\":[],\"max_tokens\":1e999,\"stop\":[\"a\"]}",
      WHOLE },
    { "completions", "{\"prompt\":[\"a\",[1]],\"stream\":true}", START TEXT },
    { "messages",
      "{\"max_tokens\":9,\"stream\":true,\"system\":[{\"type\":\"text\","
      "\"text\":\"x-anthropic-billing-header: 1\"}],\"messages\":[{\"role\":"
      "\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":"
      "\"base64\",\"media_type\":\"image/png\",\"data\":\"AA\"}},{\"type\":"
      "\"tool_result\",\"tool_use_id\":\"t\",\"is_error\":true,\"content\":["
      "{\"type\":\"text\",\"text\":\"x\"}]}]},{\"role\":\"assistant\","
      "\"content\":[{\"type\":\"thinking\",\"thinking\":\"t\"},{\"type\":"
      "\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"a\":[1]}}]}],"
      "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":9}}",
      STREAM },
    { "messages",
      "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"tools\":[{"
      "\"name\":\"f\",\"input_schema\":{}}],\"tool_choice\":{\"type\":\"tool\","
      "\"name\":\"f\"},\"stop_sequences\":[\"E\"],\"output_config\":{"
      "\"effort\":\"low\",\"format\":{\"type\":\"json_schema\",\"schema\":{}}}"
      "}",
      WHOLE },
    { "count", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
      "{\"count\":3}" },
    { "responses",
      "{\"stream\":true,\"instructions\":\"i\",\"input\":[{\"role\":"
      "\"developer\",\"content\":\"d\"},{\"type\":\"reasoning\",\"summary\":[{"
      "\"text\":\"s\"}]},{\"type\":\"custom_tool_call\",\"call_id\":\"c\","
      "\"name\":\"g\",\"namespace\":\"s\",\"input\":\"x\"},{\"type\":"
      "\"function_call_output\",\"call_id\":\"c\",\"output\":[{\"type\":"
      "\"input_text\",\"text\":\"o\"}]},{\"role\":\"user\",\"content\":[{"
      "\"type\":\"input_image\",\"image_url\":\"data:,\"},{\"type\":"
      "\"input_audio\",\"input_audio\":{}}]}],\"tools\":[{\"type\":"
      "\"namespace\",\"name\":\"s\",\"tools\":[{\"type\":\"custom\",\"name\":"
      "\"g\"}]},{\"type\":\"function\",\"name\":\"f\"}]}",
      STREAM },
    { "responses",
      "{\"input\":\"x\",\"text\":{\"format\":{\"type\":\"json_schema\","
      "\"schema\":{}}},\"tool_choice\":{\"type\":\"allowed_tools\",\"tools\":[{"
      "\"type\":\"function\",\"name\":\"f\"}]},\"include\":["
      "\"message.output_text.logprobs\"],\"top_logprobs\":2}",
      WHOLE },
    { "responses", "{\"input\":\"x\",\"stream\":true}", START TEXT LOST },
    { "embeddings", "{\"input\":[1,2],\"dimensions\":3}", WHOLE },
    { "tokenize", "{\"content\":\"a\"}", "{\"ids\":[1, 2]}" },
    { "detokenize", "{\"tokens\":[1]}", "{\"text\":\"a\"}" },
    { "transcriptions",
      "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav"
      "\"\r\n\r\nRIFF\r\n--XX\r\nContent-Disposition: form-data; name=prompt"
      "\r\n\r\np\r\n--XX\r\nContent-Disposition: form-data; "
      "name=response_format"
      "\r\n\r\ntext\r\n--XX--\r\n",
      WHOLE },
};

static uint8_t
number_of(const char *name)
{
    uint8_t i = 0;

    while (strcmp(translate_apis[i].name, name) != 0)
        i++;
    return i;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    uint8_t *data;
    size_t n;

    if (i >= sizeof(texts) / sizeof(texts[0]))
        return NULL;
    n = strlen(texts[i][1]);
    *size = 1 + n + 1 + strlen(texts[i][2]);
    data = malloc(*size + 1);
    check(data != NULL);
    data[0] = number_of(texts[i][0]);
    memcpy(data + 1, texts[i][1], n + 1);
    memcpy(data + n + 2, texts[i][2], strlen(texts[i][2]));
    return data;
}

#else

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    return 0;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    (void)i, (void)size;
    return NULL;
}

#endif
