/* fuzz_messages.c - conversations in JSON: a word at most, or messages that
 * templates take, and that read back as they are written
 *
 * The first byte says whether they are for a known form or for a template in
 * Jinja, and whether parts may be images and sounds, none of which is decoded;
 * lines are counted where it is odd. */
#include <config.h>

#include <gg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/chat.h"
#include "common/media_intake.h"
#include "fuzz.h"
#include "tool.h"

const char fuzz_name[] = "messages";
const char cli_name[] = "fuzz_messages";

static const char template[] =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ m.tool_calls }}"
    "{% endfor %}{{ tools }}";

static void
check(bool right)
{
    if (!right)
        abort();
}

static void
check_chat(const struct chat *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct gg_message *m = &c->messages[i];

        check(m->role >= GG_ROLE_SYSTEM && m->role <= GG_ROLE_TOOL);
        check(m->content || m->len == 0);
    }
}

enum {
    WITH_MEDIA = 32, /* of the first byte */
};

/* Nothing can be decoded here, so that what a part names is an error at last;
 * one that names nothing is the job's. */
static void
take_media(struct chat *c)
{
    static const struct media_files files = { .mmproj = "none", .folder = "." };
    static struct media_intake *intake;

    if (!intake)
        intake = media_intake_new(&files, NULL, 1);
    c->takes_media = c->has_job_media = true;
    c->intake = intake;
}

/* As an array of whole messages, which are as many when they are read. */
static void
read_again(const struct chat *c, const struct gg_chat_template *t,
           const char *text, size_t len)
{
    struct chat again = { 0 };
    struct gg_error err = { "" };

    if (!text)
        return;
    if (c->takes_media)
        take_media(&again);
    check(chat_read(&again, t, text, len, false, &err) == GG_OK);
    check(again.n == c->n && again.n_media == c->n_media);
    check_chat(&again);
    chat_clear(&again);
}

static void
render(const struct chat *c, const struct gg_chat_template *t, const char *json)
{
    struct gg_chat_params params = {
        .flags = GG_CHAT_ANSWER,
        .messages = json,
        .tools = c->tools,
        .arguments = c->arguments,
        .date = 1795780800,
    };
    struct gg_error err = { "" };
    char room[64];
    size_t n = 0;

    if (gg_chat_render(NULL, t, c->messages, c->n, &params, room, sizeof(room),
                       &n, &err) != GG_OK)
        check(err.message[0]);
}

static void
converse(const struct gg_chat_template *t, const char *text, size_t len,
         bool lines, bool media)
{
    struct chat c = { 0 };
    struct buffer all = { 0 };
    struct gg_error err = { "" };
    char *json = NULL;

    if (media)
        take_media(&c);
    if (chat_read(&c, t, text, len, lines, &err) == GG_OK) {
        check_chat(&c);
        if (chat_messages_json(&c, &json, &err) == GG_OK) {
            read_again(&c, t, json, json ? strlen(json) : 0);
            render(&c, t, json);
        }
        chat_write(&c, &all);
    } else {
        check(err.message[0]);
        check_chat(&c);
    }
    free(json);
    buffer_clear(&all);
    chat_clear(&c);
}

struct input {
    const uint8_t *data;
    size_t size;
};

static void
work(void *arg)
{
    static struct gg_chat_template *jinja;
    const struct input *in = arg;
    const struct gg_chat_template *t = gg_chat_at(in->data[0] / 4 % 8);
    struct gg_error err;

    if (!jinja)
        check(gg_chat_parse(template, sizeof(template) - 1, &jinja, &err) ==
              GG_OK);
    converse(in->data[0] & 2 || !t ? jinja : t, (const char *)in->data + 1,
             in->size - 1, in->data[0] & 1, in->data[0] & WITH_MEDIA);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };

    if (size > 0)
        check(tool_run(work, &in, NULL));
    return 0;
}

static const char *const texts[] = {
    "\1{\"role\":\"user\",\"content\":\"hello\"}\n"
    "{\"role\":\"assistant\",\"content\":\"h\\u00e9\\u0000\"}",
    "\3[{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
    "{\"type\":\"text\",\"text\":\"\"}]},{\"role\":\"user\",\"content\":null}]",
    "\2{\"messages\":[{\"role\":\"user\",\"content\":\"w\"},{\"role\":"
    "\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\",\"type\":"
    "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}"
    "}]},{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"2\"}],"
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
    "\"parameters\":{}}}],\"chat_template_kwargs\":{\"a\":true}}",
    "\4\xef\xbb\xbf[{\"role\":\"developer\",\"content\":\"x\"}] "
    "{\"role\":\"user\",\"content\":\"y\"}",
    "\10{\"role\":\"user\",\"content\":\"\",\"function_call\":{}}",
    "#{\"role\":\"user\",\"content\":[{\"type\":\"image\"},{\"type\":"
    "\"text\",\"text\":\"x\"},{\"type\":\"audio\"}]}",
    "#{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":"
    "{\"url\":\"data:image/png;base64,aGVsbG8=\"}}]}",
    "#{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\","
    "\"input_audio\":{\"data\":\"aGVs_G8\",\"format\":\"wav\"}}]}",
    "#{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"path\":"
    "\"file:///tmp/%41/../b\"}]}",
};

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    uint8_t *data;

    if (i >= sizeof(texts) / sizeof(texts[0]))
        return NULL;
    *size = strlen(texts[i]);
    data = malloc(*size);
    check(data != NULL);
    return memcpy(data, texts[i], *size);
}
