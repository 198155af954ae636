/* fuzz_records.c - records of gg-generate, and the files that --resume goes on
 * with: a word at most, or a prompt of known ids; and of two runs that do not
 * belong together it is said
 *
 * The first byte says what the rest is: records in JSON, in lines, or, up to
 * the first NUL, records and after it the answers of an earlier run. */
#include <config.h>

#include <gg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "gg-generate/records.h"
#include "generate.h"
#include "tool.h"

const char fuzz_name[] = "records";
const char cli_name[] = "fuzz_records";

enum {
    JSONL = 'j',
    LINES = 'l',
    RESUMED = 'r', /* of JSON; 's': of lines */
    LINES_RESUMED = 's',
};

static void
check(bool right)
{
    if (!right)
        abort();
}

/* A model, which serves all inputs, and what the options say without any. */
static struct generate all;
static struct options options;

static void
start(void)
{
    if (all.o)
        return;
    fuzz_generate_init(&all, &options);
    options.n_batch = 1;
    engine_open(&all.engine, &options.engine, 2, false);
    generate_start_requests(&all);
}

struct input {
    const char *text, *old;
    size_t len, n_old;
    const struct form *form;
};

static volatile unsigned seen; /* what is read must be used */

/* Ids of a record may be any: the engine refuses those that are none. */
static void
touch_prompt(const struct prompt *p)
{
    for (size_t i = 0; i < p->n; i++)
        seen += (unsigned)p->ids[i];
}

static void
read_record(const struct form *form, uint64_t number, const char *text,
            size_t len)
{
    struct record *r = record_new(&all, form->writer, number);
    struct gg_error err = { "" };
    char *line = cli_alloc(NULL, len + 1, 1);
    enum gg_status st;

    memcpy(line, text, len); /* NUL-ended, as the reader has it */
    line[len] = '\0';
    st = form->read(&all, r, line, len, &err);
    if (st == GG_OK)
        touch_prompt(&r->prompt);
    check(st == GG_OK || err.message[0]);
    form->writer->write(&all, r, st == GG_OK ? "none" : err.message);
    check(r->out.len > 0 && r->out.p[r->out.len - 1] == '\n');
    record_free(&all, r);
    free(line);
}

static void
read_records(void *arg)
{
    const struct input *in = arg;
    const char *text = in->text, *end = text + in->len, *next;

    for (uint64_t n = 1; text < end; n++, text = next) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));

        next = newline ? newline + 1 : end;
        read_record(in->form, n, text,
                    (size_t)((newline ? newline : end) - text));
    }
}

static void
resume(void *arg)
{
    const struct input *in = arg;
    struct record_input input = { .reader = { .fd =
                                                  tool_pipe(in->text, in->len),
                                              .name = "in",
                                              .what = "a record",
                                              .end = '\n',
                                              .max = 1 << 20,
                                              .max_lost = 1 << 20 } };
    struct resumed last = { 0 };

    resume_skip(&all, in->form, &input, tool_file(in->old, in->n_old), "out",
                &last);
    check(last.end >= 0 && (size_t)last.end <= in->n_old);
    check(last.end == 0 || in->old[last.end - 1] == '\n');
    check(last.number == 0 || last.out.len > 0);
    buffer_clear(&last.text);
    buffer_clear(&last.out);
    reader_clear(&input.reader);
    close(input.reader.fd);
}

/* Closes the descriptors of an input that ended the tool. */
static void
close_left(void)
{
    for (int fd = 3; fd < 64; fd++) {
        char name[64], to[64];
        ssize_t n;

        snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        n = readlink(name, to, sizeof(to) - 1);
        to[n > 0 ? n : 0] = '\0';
        if (strncmp(to, "/memfd:fuzz", 11) == 0 || strncmp(to, "pipe:", 5) == 0)
            close(fd);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { .form = jsonl_form };
    const char *end;

    start();
    if (size < 1 || !jsonl_form)
        return 0;
    in.text = (const char *)data + 1;
    in.len = size - 1;
    if (data[0] == LINES || data[0] == LINES_RESUMED)
        in.form = &plain_form;
    options.form = in.form == jsonl_form ? FORM_JSONL : FORM_LINES;
    if (data[0] != RESUMED && data[0] != LINES_RESUMED) {
        (void)tool_run(read_records, &in, NULL);
        return 0;
    }
    end = memchr(in.text, '\0', in.len);
    if (!end)
        return 0;
    in.old = end + 1;
    in.n_old = in.len - 1 - (size_t)(end - in.text);
    in.len = (size_t)(end - in.text);
    if (!tool_run(resume, &in, NULL))
        close_left();
    return 0;
}

/* ---- the corpus ---------------------------------------------------------- */

static const char *const texts[] = {
    "j{\"prompt\":\"a "
    "b\",\"id\":7,\"seed\":3,\"max_tokens\":4,\"stop\":[\"x\"],"
    "\"temperature\":0.5,\"logit_bias\":{\"5\":-1},\"n\":2}\n"
    "{\"prompt\":[1,2,3],\"logprobs\":2}\n{\"prompt\":[\"a\",\"b\"]}\n",
    "j{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"tools\":[],"
    "\"tool_choice\":\"none\",\"reasoning_effort\":\"low\"}\n"
    "{\"prompt\":\"a\",\"suffix\":\"b\",\"choices\":[\"x\",\"y\"]}\n",
    "j{\"custom_id\":\"c\",\"method\":\"POST\",\"url\":\"/v1/completions\","
    "\"body\":{\"model\":\"m\",\"prompt\":\"a\",\"response_format\":{\"type\":"
    "\"json_object\"},\"echo\":true}}\n"
    "{\"prompt\":\"a\",\"grammar\":\"root ::= \\\"a\\\"\"}\n"
    "{\"prompt\":\"a\",\"json_schema\":{\"type\":\"boolean\"}}\n",
    "l5\ta b\n\na\\nb\n",
};
static const char *const resumed[][2] = {
    { "r{\"prompt\":\"a\",\"id\":1}\n{\"prompt\":\"b\"}\n",
      "{\"id\":1,\"text\":\"x\",\"ids\":[5],\"logprob\":-1.5,\"stop_reason\":"
      "\"eog\",\"seed\":77}\n{\"text\":\"y" },
    { "r{\"prompt\":\"a\"}\n{\"custom_id\":\"c\",\"method\":\"POST\",\"url\":"
      "\"/v1/completions\",\"body\":{\"prompt\":\"a\"}}\n",
      "{\"error\":\"bad\"}\n{\"id\":\"x\",\"custom_id\":\"c\",\"response\":{"
      "\"status_code\":200,\"body\":{}},\"error\":null}\n" },
    { "sa\nb\n", "x\n" },
};

enum {
    N_TEXTS = sizeof(texts) / sizeof(texts[0]),
    N_RESUMED = sizeof(resumed) / sizeof(resumed[0]),
};

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    const char *first = i < N_TEXTS ? texts[i] : NULL, *second = "";
    uint8_t *data;

    if (i >= N_TEXTS + N_RESUMED)
        return NULL;
    if (i >= N_TEXTS) {
        first = resumed[i - N_TEXTS][0];
        second = resumed[i - N_TEXTS][1];
    }
    *size = strlen(first) + (i >= N_TEXTS) + strlen(second);
    data = malloc(*size + 1);
    check(data != NULL);
    memcpy(data, first, strlen(first) + 1);
    memcpy(data + *size - strlen(second), second, strlen(second));
    return data;
}
