/* diff.c - two streams compared
 *
 * Of logits a and b with probabilities p and q:
 *
 *     kl    sum of p log(p / q), in nats, over all tokens
 *
 * and the tokens whose |p - q| is largest. Of embeddings: 1 minus the cosine
 * of their angle, and the values that differ most. */
#include <config.h>

#include "gg-logits/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/cli.h"
#include "gg-logits/edit.h"
#include "gg-logits/cosine.h"

struct difference {
    size_t id;
    double a, b;
};

struct diff {
    struct pair *pair;
    bool numbered, embedding, failed;
    struct difference *largest; /* largest first */
    size_t n, cap;
    double distance;
    size_t top_a, top_b;
    /* of all records */
    uint64_t records, same;
    double sum, worst, step;
};

/* ---- a record ---- */

static void
note(struct diff *d, size_t id, double a, double b)
{
    size_t i = d->n;

    if (i == d->cap) {
        if (fabs(a - b) <= fabs(d->largest[i - 1].a - d->largest[i - 1].b))
            return;
        i--;
    } else {
        d->n++;
    }
    for (;
         i > 0 && fabs(a - b) > fabs(d->largest[i - 1].a - d->largest[i - 1].b);
         i--)
        d->largest[i] = d->largest[i - 1];
    d->largest[i] = (struct difference){ id, a, b };
}

static bool
compare_logits(struct diff *d, const struct gg_logit_record *a,
               const struct gg_logit_record *b)
{
    double sum_a, sum_b;

    if (!log_sum_exp(a->logits, a->n_logits, &sum_a) ||
        !log_sum_exp(b->logits, b->n_logits, &sum_b))
        return false;
    d->top_a = d->top_b = 0;
    for (size_t i = 0; i < a->n_logits; i++) {
        double log_p = (double)a->logits[i] - sum_a;
        double log_q = (double)b->logits[i] - sum_b;
        double p = exp(log_p), q = exp(log_q);

        if (p > 0)
            d->distance += p * (log_p - log_q);
        if (a->logits[i] > a->logits[d->top_a])
            d->top_a = i;
        if (b->logits[i] > b->logits[d->top_b])
            d->top_b = i;
        note(d, i, p, q);
    }
    if (d->distance < 0) /* by rounding alone */
        d->distance = 0;
    return true;
}

static bool
compare_vectors(struct diff *d, const struct gg_logit_record *a,
                const struct gg_logit_record *b)
{
    d->distance = 1 - cosine(a->logits, b->logits, a->n_logits);
    for (size_t i = 0; i < a->n_logits; i++)
        note(d, i, (double)a->logits[i], (double)b->logits[i]);
    return !isnan(d->distance);
}

static void
put_sequence(const struct diff *d, uint64_t sequence)
{
    if (d->numbered)
        printf("%" PRIu64, sequence);
    else
        putchar('-');
}

static void
put_failure(struct diff *d, uint64_t sequence, const char *message)
{
    d->failed = true;
    put_sequence(d, sequence);
    printf("\t!%s\n", message);
}

static void
put_row(const struct diff *d, const struct gg_logit_record *r)
{
    put_sequence(d, r->sequence);
    printf("\t%" PRIu64 "\t%.9g", r->position, d->distance);
    if (d->embedding)
        fputs("\t-\t-", stdout);
    else
        printf("\t%zu\t%zu", d->top_a, d->top_b);
    for (size_t i = 0; i < d->n; i++)
        printf("\t%zu\t%.9g\t%.9g", d->largest[i].id, d->largest[i].a,
               d->largest[i].b);
    putchar('\n');
}

static void
compare_records(struct diff *d)
{
    const struct gg_logit_record *a = &d->pair->members[0].record;
    const struct gg_logit_record *b = &d->pair->members[1].record;
    double step;

    d->n = 0;
    d->distance = 0;
    if (!(d->embedding ? compare_vectors : compare_logits)(d, a, b)) {
        put_failure(d, a->sequence, "not numbers");
        return;
    }
    put_row(d, a);
    d->records++;
    d->same += d->top_a == d->top_b;
    d->sum += d->distance;
    if (d->distance > d->worst)
        d->worst = d->distance;
    step = fabs(d->largest[0].a - d->largest[0].b);
    if (step > d->step)
        d->step = step;
}

/* ---- the stream ---- */

static void
begin_sequence(struct diff *d)
{
    const struct gg_logit_head *h = &d->pair->members[0].record.head;

    for (size_t i = 0; i < 2; i++)
        if (d->pair->members[i].record.head.encoding == GG_ENCODING_SPARSE)
            cli_die("%s: sparse logits cannot be compared: all are needed",
                    cli_input_name(d->pair->members[i].path));
    d->numbered = h->numbered;
    d->embedding = h->kind == GG_VECTOR_EMBEDDING;
}

static void
put_names(const struct diff *d)
{
    fputs("sequence\tposition\tkl\ttop_a\ttop_b", stdout);
    for (size_t i = 1; i <= d->cap; i++)
        if (d->cap == 1)
            fputs("\tid\ta\tb", stdout);
        else
            printf("\tid%zu\ta%zu\tb%zu", i, i, i);
    putchar('\n');
}

static void
put_all(const struct diff *d)
{
    double n = (double)d->records;

    if (d->records == 0)
        return;
    printf("all\t%" PRIu64 "\t%.9g\t%.9g\t", d->records, d->sum / n, d->worst);
    if (d->embedding)
        putchar('-');
    else
        printf("%.9g", (double)d->same / n);
    printf("\t%.9g\n", d->step);
}

int
diff_run(struct pair *pair, size_t n)
{
    struct diff d = { .pair = pair, .cap = n };
    const struct gg_logit_record *failed;
    enum gg_record_kind kind;

    d.largest = cli_alloc(NULL, n, sizeof(*d.largest));
    put_names(&d);
    while (pair_read(pair, &kind, &failed)) {
        if (kind == GG_RECORD_HEAD)
            begin_sequence(&d);
        else if (failed)
            put_failure(&d, failed->sequence, failed->message);
        else if (kind == GG_RECORD_LOGITS)
            compare_records(&d);
        cli_flush();
    }
    put_all(&d);
    free(d.largest);
    return cli_status(d.failed, true);
}
