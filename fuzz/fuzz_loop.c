/* fuzz_loop.c - lines that go round in gg-loop: all that the command wrote is
 * printed, and what it is fed is whole lines of sequences that have begun
 *
 * The first byte says how many sequences are begun at once; what comes from
 * standard input stands before the first NUL, what the command writes after
 * it. The seventh bit: in pieces that come in turn; the eighth: half of the
 * sequences are another part's. */
#include "gg-loop/loop.c"
#include "gg-loop/held.c"

#include "fuzz.h"
#include "tool.h"

const char fuzz_name[] = "loop";
const char cli_name[] = "fuzz_loop";

static void
check(bool right)
{
    if (!right)
        abort();
}

struct input {
    const char *in, *out;
    size_t n_in, n_out, batch;
    size_t piece;
    struct shard shard;
};

static void
check_loop(const struct loop *l)
{
    check(l->n_open <= l->batch);
    for (size_t i = 0; i < l->n_open; i++)
        check(find_open(l, l->open[i]) == i);
}

/* Every queue that is fed from has whole lines only. */
static void
check_lines(const struct queue *q)
{
    size_t n = queue_size(q);

    check(n == 0 || q->data[q->end - 1] == '\n');
}

/* Adds the next piece of a text to a queue. */
static void
deliver(struct queue *q, const char **text, size_t *left, size_t most)
{
    size_t n = *left < most ? *left : most;

    if (n > 0)
        queue_add(q, *text, n);
    *text += n;
    *left -= n;
}

static void
work(void *arg)
{
    struct input *in = arg;
    struct loop l = { .batch = in->batch,
                      .shard = &in->shard,
                      .command = { .input = -1, .output = -1, .news = -1 } };
    size_t written = in->n_out, seen;
    bool held = memchr(in->out, '?', in->n_out) || /* or takes back: shorter */
                memchr(in->out, '-', in->n_out);

    l.open = cli_alloc(NULL, in->batch, sizeof(*l.open));
    while (in->n_in || in->n_out) {
        deliver(&l.in, &in->in, &in->n_in, in->piece);
        deliver(&l.out, &in->out, &in->n_out, in->piece);
        take_output(&l);
        take_input(&l);
        check_loop(&l);
        check_lines(&l.feed);
        check_lines(&l.waiting);
        check_lines(&l.print);
    }
    seen = queue_size(&l.print) + queue_size(&l.out) + l.held.size;
    check(held ? seen <= written : seen == written);
    queue_move(&l.out, &l.print);
    check(queue_size(&l.print) + l.held.size == seen &&
          queue_size(&l.out) == 0);
    l.in_ended = true;
    queue_clear(&l.in);
    advance_loop(&l);
    clear_loop(&l);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1, *end;
    struct input in = { 0 };

    if (size < 1)
        return 0;
    end = memchr(text, '\0', size - 1);
    in.in = text;
    in.n_in = end ? (size_t)(end - text) : size - 1;
    in.out = end ? end + 1 : text;
    in.n_out = end ? size - 2 - in.n_in : 0;
    in.batch = 1 + data[0] % 8;
    in.piece = data[0] & 0x40 ? 1 + (size_t)data[0] / 8 % 8 : size;
    if (data[0] & 0x80) /* which ends it where lines have no numbers */
        in.shard = (struct shard){ 1, 2 };
    check(tool_run(work, &in, NULL) || in.shard.count ||
          memchr(text, '-', size - 1)); /* more than it has held back */
    return 0;
}

static const char *const texts[] = {
    "\0"
    "1 2 3\n",
    "\3"
    "1\t2 3\n2\t4\n3\t!bad\n4\t\n5\t1\n6\t1\n7\t2",
    "\x41"
    "7\t1\r\n8\t2\n",
    "\7"
    "\xef\xbb\xbf"
    "1\t5\n18446744073709551615\t2\n18446744073709551616\t3\n",
    "\3"
    "1\t2 3\n2\t4\n",
    "\0"
    "1 2\n",
};
static const char *const outputs[] = {
    "4\n5\n!bad\n6\n",
    "1\t9\n1\t\n2\t8\n3\t1\n2\t!no\n5\t3\n6\t\n99\t4\n",
    "7\t3\n8\t4\n7\t\n8\t\n7",
    "1\t7\n\n\t\n",
    "1\t7?\n2\t5\n1\t8?\n1\t-2 9\n2\t\n1\t6?\n1\t\n",
    "?\n", /* a line of no bytes, into a queue that has none */
};

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    size_t n, n_out;
    uint8_t *data;

    if (i >= sizeof(texts) / sizeof(texts[0]))
        return NULL;
    n = 1 + strlen(texts[i] + 1);
    n_out = strlen(outputs[i]);
    *size = n + 1 + n_out;
    data = malloc(*size);
    check(data != NULL);
    memcpy(data, texts[i], n);
    data[n] = '\0';
    memcpy(data + n + 1, outputs[i], n_out);
    return data;
}
