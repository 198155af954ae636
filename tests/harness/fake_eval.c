/* fake_eval.c - in gg-eval's place, for tests that need no model
 *
 *     fake_eval [-v VOCABULARY] [-c CONTEXT] [-d MILLISECONDS] [-n ID]
 *
 * After -n's ID a logit is NaN. Logits depend on the sequence's ids; id 0 ends
 * a generation, unless $FAKE_EVAL_EOG is set. A sequence longer than CONTEXT
 * fails. With $FAKE_EVAL_COUNT, each record puts a dot on standard error. */
#include <config.h>

#include <gg-stream.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct sequence {
    bool used;
    uint64_t number, hash, length;
};

static struct sequence sequences[1024];
static struct gg_error err;
static bool failed;
static int32_t nan_id = -1;

static void
check(enum gg_status st)
{
    if (st == GG_OK)
        return;
    fprintf(stderr, "fake_eval: %s\n", err.message);
    exit(1);
}

static struct sequence *
find(uint64_t number)
{
    struct sequence *end = sequences + 1024, *unused = NULL;

    for (struct sequence *q = sequences; q < end; q++)
        if (q->used && q->number == number)
            return q;
        else if (!q->used && !unused)
            unused = q;
    if (!unused)
        exit(3);
    *unused = (struct sequence){ .used = true, .number = number };
    return unused;
}

static uint64_t
mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static void
evaluate(struct gg_logit_record *r, const struct gg_line *line, float *logits,
         size_t n_vocab, uint64_t context)
{
    struct sequence *q = find(line->sequence);

    if (line->n_ids == 0 || q->length + line->n_ids > context) {
        r->kind = GG_RECORD_ERROR;
        r->message = line->n_ids ? "context is full" : "no ids";
        failed = true;
        return;
    }
    for (size_t i = 0; i < line->n_ids; i++)
        q->hash = mix(q->hash + (uint64_t)line->ids[i] + 1);
    q->length += line->n_ids;
    for (size_t i = 0; i < n_vocab; i++)
        logits[i] = (float)(mix(q->hash + i * 77) % 1000) / 200;
    if (line->ids[line->n_ids - 1] == nan_id)
        logits[1] = NAN;
    r->kind = GG_RECORD_LOGITS;
    r->position = q->length;
    r->ids = line->ids;
    r->n_ids = line->n_ids;
    r->logits = logits;
    r->n_logits = n_vocab;
}

int
main(int argc, char **argv)
{
    static const int32_t eog[] = { 0 };
    struct gg_logit_head head = {
        .n_vocab = 16, .eog_ids = eog, .n_eog = 1, .writer = "fake_eval"
    };
    uint64_t context = UINT64_C(1) << 20;
    unsigned delay = 0;
    static struct gg_line_reader *reader;
    static struct gg_logit_writer *writer;
    struct gg_logit_record record;
    struct gg_line line;
    enum gg_status st;
    static float *logits; /* still known where main() ends early */
    int c;

    while ((c = getopt(argc, argv, "v:c:d:n:")) != -1) {
        long n = atol(optarg);

        if (c == 'v')
            head.n_vocab = (uint32_t)n;
        else if (c == 'c')
            context = (uint64_t)n;
        else if (c == 'n')
            nan_id = (int32_t)n;
        else
            delay = (unsigned)n;
    }
    if (getenv("FAKE_EVAL_EOG"))
        head.n_eog = 0;
    logits = malloc(head.n_vocab * sizeof(*logits));
    check(gg_line_reader_new(0, "standard input", &reader, &err));
    while ((st = gg_line_read(reader, &line, &err)) == GG_OK) {
        head.numbered = line.numbered;
        if (!writer)
            check(gg_logit_writer_new(1, &head, &writer, &err));
        record = (struct gg_logit_record){ .sequence = line.sequence };
        usleep(delay * 1000);
        if (line.kind == GG_LINE_IDS) {
            evaluate(&record, &line, logits, head.n_vocab, context);
        } else if (line.kind == GG_LINE_END) {
            record.kind = GG_RECORD_CLOSE;
            find(line.sequence)->used = false;
        } else {
            record.kind = GG_RECORD_ERROR;
            record.message = line.message;
            failed = true;
        }
        check(gg_logit_write(writer, &record, &err));
        fprintf(stderr, "%s", getenv("FAKE_EVAL_COUNT") ? "." : "");
    }
    if (st != GG_EOF)
        check(st);
    if (!writer) {
        fprintf(stderr, "fake_eval: no ids\n");
        return 1;
    }
    record = (struct gg_logit_record){ .kind = GG_RECORD_END };
    check(gg_logit_write(writer, &record, &err));
    gg_logit_writer_free(writer);
    gg_line_reader_free(reader);
    free(logits);
    return failed;
}
