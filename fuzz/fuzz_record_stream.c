/* fuzz_record_stream.c - gg-generate --jsonl --unordered from its input to its
 * output, with a tiny model: each line is a record of JSON, and each record of
 * the input has one end, after which nothing comes
 *
 * Nothing in the input ends the tool. The first byte says how many answers are
 * made at once, and how often a line comes, which is known by poll(). */
#include <config.h>

#include <gg.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/json.h"
#include "common/spare.h"
#include "fuzz.h"
#include "gg-generate/run.h"
#include "generate.h"
#include "tool.h"

const char fuzz_name[] = "record_stream";
const char cli_name[] = "fuzz_record_stream";

enum {
    MOST = 4, /* answers at once */
    MAX_OUT = 1 << 22,
    PIECE = 1 << 14, /* bytes that come at once: a pipe has more */
};

static void
must_be(bool right)
{
    if (!right)
        abort();
}

static struct generate all;
static struct options options;
static int out = -1; /* a file in memory */

/* ---- the input, a line at a time ----------------------------------------- */

static struct {
    int fd; /* where lines go; -1: all have come */
    const uint8_t *data;
    size_t size;
    unsigned calls, period;
} lines = { .fd = -1 };

static void
end_lines(void)
{
    if (lines.fd >= 0)
        close(lines.fd);
    lines.fd = -1;
}

static void
send_line(void)
{
    const uint8_t *end = memchr(lines.data, '\n', lines.size);
    size_t n = end ? (size_t)(end - lines.data) + 1 : lines.size;

    n = n < PIECE ? n : PIECE;
    must_be(write(lines.fd, lines.data, n) == (ssize_t)n);
    lines.data += n;
    lines.size -= n;
    if (lines.size == 0)
        end_lines();
}

/* In place of poll(), as the linker is told: the reader asks whether there is
 * something. */
int
__wrap_poll(struct pollfd *fds, nfds_t n, int ms);

int
__wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    bool input = n == 1 && fds->fd == STDIN_FILENO && lines.fd >= 0;
    struct timespec wait = { 0, 0 };

    (void)ms;
    if (input && ++lines.calls % lines.period == 0)
        send_line();
    return ppoll(fds, n, &wait, NULL);
}

static void
open_model(void)
{
    if (all.o)
        return;
    fuzz_generate_init(&all, &options);
    options.sampling.count = 6;
    options.n_slots = MOST + 1;
    options.form = FORM_JSONL;
    options.unordered = true;
    options.drain = 1;
    engine_open(&all.engine, &options.engine, MOST + 1, false);
    out = memfd_create("out", MFD_CLOEXEC);
    must_be(out >= 0);
}

static void
stream_records(void *unused)
{
    (void)unused;
    (void)generate_records(&all);
}

#ifdef HAVE_JANSSON
/* Whether no other line can have the id: nothing in the input names it again,
 * nor in other words. */
static bool
is_single(const char *text, size_t len, const char *id)
{
    char quoted[40];
    size_t n;
    const char *at;

    if (!id || *id != 'u' || strlen(id) > 30 || memchr(text, '\\', len))
        return false;
    n = (size_t)snprintf(quoted, sizeof(quoted), "\"%s\"", id);
    at = memmem(text, len, quoted, n);
    return at && !memmem(at + 1, len - (size_t)(at + 1 - text), quoted, n);
}

static void
check_record(json_t *ended, const char *line, size_t len, const uint8_t *data,
             size_t size)
{
    json_error_t e;
    json_t *json = json_loadb(line, len, JSON_ALLOW_NUL, &e);
    const char *id = json_string_value(json_object_get(json, "id"));
    bool goes_on = json_object_get(json, "delta") ||
                   json_object_get(json, "start") ||
                   json_object_get(json, "progress");

    must_be(json_is_object(json));
    if (is_single((const char *)data, size, id)) {
        must_be(!json_object_get(ended, id));
        if (!goes_on)
            json_object_set_new(ended, id, json_true());
    }
    json_decref(json);
}

static void
check_records(const uint8_t *data, size_t size)
{
    static char text[MAX_OUT];
    ssize_t n = pread(out, text, sizeof(text), 0);
    json_t *ended = json_object();
    char *line = text, *end;

    must_be(n >= 0);
    for (; (end = memchr(line, '\n', (size_t)(text + n - line)));
         line = end + 1)
        check_record(ended, line, (size_t)(end - line), data, size);
    must_be(line == text + n || n == MAX_OUT);
    json_decref(ended);
}
#endif

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int before[2], in[2];

    open_model();
    if (size < 2 || !jsonl_form)
        return 0;
    options.n_batch = 1 + data[0] % MOST;
    must_be(ftruncate(out, 0) == 0 && pipe(in) == 0);
    lines.fd = in[1];
    lines.data = data + 1;
    lines.size = size - 1;
    lines.period = 1 + data[0] / MOST % 8;
    lines.calls = 0;
    lseek(out, 0, SEEK_SET);
    fflush(stdout);
    before[0] = dup(STDIN_FILENO);
    before[1] = dup(STDOUT_FILENO);
    must_be(dup2(in[0], STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0);
    close(in[0]);
    must_be(tool_run(stream_records, NULL, NULL));
    fflush(stdout);
    end_lines();
    spare_drop();
    if (before[0] >= 0)
        dup2(before[0], STDIN_FILENO);
    dup2(before[1], STDOUT_FILENO);
    close(before[0]);
    close(before[1]);
#ifdef HAVE_JANSSON
    check_records(data + 1, size - 1);
#endif
    return 0;
}

/* ---- the corpus ---------------------------------------------------------- */

static const char *const texts[] = {
    "\26{\"id\":\"ua\",\"prompt\":\"a b\",\"seed\":3,\"n\":4,\"stream\":true,"
    "\"stop\":[\"x\"]}\n{\"id\":\"ub\",\"prompt\":\"a b\",\"n\":40}\n"
    "{\"cancel\":\"ua\"}\n{\"stats\":true}\n{\"drain\":3}\n",
    "\35{\"id\":\"uc\",\"prompt\":\"a b\",\"choice\":[\"b\",\"c d\"]}\n"
    "{\"tokenize\":\"a b\",\"id\":1}\n{\"detokenize\":[4,5]}\n"
    "{\"count\":{\"prompt\":\"a b\"}}\n{\"id\":3,\"render\":{\"prompt\":7}}\n"
    "{\"tokenize\":{\"content\":\"a\",\"add_special\":true,"
    "\"parse_special\":true,\"with_pieces\":true}}\n{\"cancel\":\"uc\"}\n",
    "\13{\"custom_id\":\"ud\",\"url\":\"/v1/completions\",\"body\":{\"prompt\":"
    "[\"a\",\"b\"],\"n\":2,\"max_tokens\":3,\"stream\":true,\"logprobs\":1"
    "}}\n{\"id\":\"ui\",\"prompt\":\"a "
    "b\",\"echo\":true,\"logprobs\":2}\n{\"custom_id\":\"ue\",\"url\":\"/v1/"
    "embeddings\","
    "\"body\":{\"input\":[\"a\",\"b "
    "c\"]}}\n{\"id\":\"ud\",\"cancel\":\"ue\"}\n",
    "\0{\"id\":\"uf\",\"prompt\":[1,2,3],\"cache_key\":\"k\",\"stream\":true}\n"
    "{\"id\":\"ug\n{\"id\":\"uh\",\"messages\":[{\"role\":\"user\","
    "\"content\":\"a\"}],\"stream\":true}\n\n \n{\"drain\":0}\n{}\n[]\nx",
};

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    uint8_t *data;

    if (i >= sizeof(texts) / sizeof(texts[0]))
        return NULL;
    *size = 1 + strlen(texts[i] + 1);
    data = malloc(*size);
    must_be(data != NULL);
    memcpy(data, texts[i], *size);
    return data;
}
