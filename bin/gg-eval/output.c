/* output.c - records of gg-eval: a logit stream, or text for eyes and awk */
#include <config.h>

#include "gg-eval/output.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_PAST = 1 << 24, /* ids, of gg-stream(5) */
};

struct output {
    struct output_options o;
    const struct gg_vocab *vocab;
    const char *sampling;           /* as the head has it */
    size_t n_values;                /* of a vector that holds all */
    struct gg_logit_writer *writer; /* NULL: nothing is written yet, or text */
    const int32_t *past;            /* of the next record */
    size_t n_past;
    const double *mirostat;
    char *piece, *shown; /* scratch for the text of an id */
    size_t piece_cap;
};

struct output *
output_new(const struct output_options *o, const struct engine *engine)
{
    struct output *out = cli_alloc(NULL, 1, sizeof(*out));

    *out = (struct output){
        .o = *o,
        .vocab = engine->vocab,
        .sampling = gg_vocab_sampling(engine->vocab),
        .n_values = (size_t)gg_vocab_size(engine->vocab),
    };
    return out;
}

void
output_set_values(struct output *out, size_t n)
{
    out->n_values = n;
}

void
output_set_sampling(struct output *out, const char *line)
{
    out->sampling = line;
}

void
output_free(struct output *out)
{
    gg_logit_writer_free(out->writer);
    free(out->piece);
    free(out->shown);
    free(out);
}

bool
output_wanted(void)
{
    struct pollfd p = { .fd = STDOUT_FILENO };

    return poll(&p, 1, 0) <= 0 || !(p.revents & POLLERR);
}

/* ---- logit stream ------------------------------------------------------- */

static void
check_written(enum gg_status st, const struct gg_error *err)
{
    if (st != GG_OK && !cli_signal())
        cli_die("standard output: %s", err->message);
}

static void
open_stream(struct output *out, const struct gg_line *line)
{
    char name[64];
    struct gg_logit_head head = {
        .n_vocab = (uint32_t)out->n_values,
        .kind = out->o.embed ? GG_VECTOR_EMBEDDING : GG_VECTOR_LOGITS,
        .encoding = out->o.encoding,
        .numbered = line->numbered,
        .fingerprint = gg_vocab_fingerprint(out->vocab),
        .writer = name,
    };
    struct gg_error err;

    snprintf(name, sizeof(name), "%s %s", cli_name, gg_version());
    if (!out->o.embed) {
        head.eog_ids = gg_vocab_eog_ids(out->vocab, &head.n_eog);
        head.suppressed =
            gg_vocab_suppressed_ids(out->vocab, &head.n_suppressed);
        head.sampling = out->sampling;
    }
    check_written(gg_logit_writer_new(STDOUT_FILENO, &head, &out->writer, &err),
                  &err);
}

static void
put_record(struct output *out, const struct gg_logit_record *record)
{
    struct gg_error err;

    if (out->writer)
        check_written(gg_logit_write(out->writer, record, &err), &err);
}

static void
write_record(struct output *out, const struct gg_line *line,
             struct gg_logit_record record)
{
    if (!out->writer)
        open_stream(out, line);
    record.sequence = line->sequence;
    put_record(out, &record);
}

static bool
are_numbers(const float *logits, size_t n)
{
    bool finite = true, possible = false;

    for (size_t i = 0; i < n; i++) {
        finite = finite & (logits[i] < INFINITY);
        possible = possible | (logits[i] > -INFINITY);
    }
    return finite && possible;
}

static void
write_sparse(struct output *out, const struct gg_line *line,
             const struct gg_best *best, struct gg_logit_record record)
{
    record.logits = best->logits;
    record.logit_ids = best->ids;
    record.n_logits = best->n;
    record.log_sum_exp = best->log_sum_exp;
    write_record(out, line, record);
}

/* ---- text --------------------------------------------------------------- */

static void
put_sequence(const struct gg_line *line)
{
    if (line->numbered)
        printf("%" PRIu64, line->sequence);
    else
        putchar('-');
}

/* The bytes that `id` stands for in the middle of a text, escaped. */
static const char *
show_piece(struct output *out, int32_t id)
{
    size_t n;
    struct gg_error err;

    for (;;) {
        struct gg_decode_state state = { .started = true };

        cli_check(gg_vocab_decode(out->vocab, &state, id, GG_DECODE_SPECIAL,
                                  out->piece, out->piece_cap, &n, &err),
                  &err);
        if (out->shown && n <= out->piece_cap)
            break;
        out->piece_cap = n + 64;
        out->piece = cli_alloc(out->piece, out->piece_cap, 1);
        out->shown = cli_alloc(out->shown, out->piece_cap, 5);
    }
    return gg_escape(out->shown, 5 * out->piece_cap, out->piece, n);
}

static void
write_text(struct output *out, const struct gg_line *line, uint64_t position,
           const struct gg_best *b)
{
    for (size_t i = 0; i < b->n; i++) {
        put_sequence(line);
        printf("\t%" PRIu64 "\t%zu\t%" PRId32 "\t%.6f\t%s\n", position, i + 1,
               b->ids[i], (double)b->logits[i] - b->log_sum_exp,
               show_piece(out, b->ids[i]));
    }
    putchar('\n');
    cli_flush();
}

size_t
output_keeps(const struct output *out)
{
    size_t k = out->o.top ? out->o.top : out->o.keep;

    return k < out->n_values ? k : out->n_values;
}

/* ---- records ------------------------------------------------------------ */

void
output_past(struct output *out, const int32_t *ids, size_t n,
            const double *mirostat)
{
    size_t more = n > MAX_PAST ? n - MAX_PAST : 0;

    out->past = n > 0 ? ids + more : NULL;
    out->n_past = n - more;
    out->mirostat = mirostat;
}

/* A record of values after the line's ids. */
static struct gg_logit_record
record_of(const struct output *out, const struct gg_line *line,
          uint64_t position, const float *values)
{
    return (struct gg_logit_record){
        .kind = GG_RECORD_LOGITS,
        .position = position,
        .ids = line->ids,
        .n_ids = line->n_ids,
        .logits = values,
        .n_logits = out->n_values,
    };
}

bool
output_logits(struct output *out, const struct gg_line *line, uint64_t position,
              const float *logits, const struct gg_best *best)
{
    struct gg_logit_record record = record_of(out, line, position, logits);

    record.past = out->past;
    record.n_past = out->n_past;
    record.mirostat = out->mirostat;
    output_past(out, NULL, 0, NULL);
    if (best->k ? !isfinite(best->log_sum_exp)
                : !are_numbers(logits, record.n_logits))
        return false;
    if (out->o.none)
        return true;
    if (out->o.top)
        write_text(out, line, position, best);
    else if (out->o.keep)
        write_sparse(out, line, best, record);
    else
        write_record(out, line, record);
    return true;
}

void
output_score(struct output *out, const struct gg_line *line, uint64_t chunk,
             size_t n, double sum, const bool *greedy)
{
    (void)out;
    put_sequence(line);
    printf("\t%" PRIu64 "\t%zu\t%.6f", chunk, n, sum);
    if (greedy)
        printf("\t%d", *greedy);
    putchar('\n');
    cli_flush();
}

void
output_rank(struct output *out, const struct gg_line *line, const double *x,
            int32_t n)
{
    if (out->o.none)
        return;
    if (line->numbered)
        printf("%" PRIu64 "\t", line->sequence);
    for (int32_t i = 0; i < n; i++)
        printf("%s%.6f", i ? "\t" : "", x[i]);
    putchar('\n');
    cli_flush();
}

void
output_embedding(struct output *out, const struct gg_line *line,
                 uint64_t position, const float *vector)
{
    if (!out->o.none)
        write_record(out, line, record_of(out, line, position, vector));
}

static void
say_failed(const struct gg_line *line, const char *message)
{
    if (line->kind == GG_LINE_ERROR)
        return;
    if (line->numbered)
        cli_warn("sequence %" PRIu64 ": %s", line->sequence, message);
    else
        cli_warn("%s", message);
}

static bool
is_text(const struct output *out)
{
    return out->o.top || out->o.score || out->o.rank;
}

void
output_error(struct output *out, const struct gg_line *line,
             const char *message)
{
    struct gg_logit_record record = {
        .kind = GG_RECORD_ERROR,
        .message = message,
    };

    say_failed(line, message);
    if (out->o.none)
        return;
    if (!is_text(out)) {
        write_record(out, line, record);
        return;
    }
    put_sequence(line);
    printf("\t!%s\n", message);
    cli_flush();
}

void
output_begin(struct output *out, const struct gg_line *line)
{
    if (!out->o.none && !is_text(out))
        open_stream(out, line);
}

void
output_close(struct output *out, const struct gg_line *line)
{
    struct gg_logit_record record = { .kind = GG_RECORD_CLOSE };

    if (out->o.none)
        return;
    if (!is_text(out))
        write_record(out, line, record);
}

void
output_end(struct output *out)
{
    struct gg_logit_record record = { .kind = GG_RECORD_END };

    put_record(out, &record);
}
