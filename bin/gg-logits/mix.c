/* mix.c - the records of several models as those of one
 *
 * With l_k the log-probabilities of model k and w_k its weight,
 *
 *     probabilities    log(sum of w_k exp(l_k) / sum of w_k)
 *     logarithms       sum of w_k l_k
 *
 * of each token. */
#include <config.h>

#include "gg-logits/mix.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/cli.h"
#include "gg-logits/edit.h"

struct mix {
    struct pair *pair;
    bool logarithms;
    double *sums, *logs; /* of each member: log-sum-exp, log of its weight */
    float *logits;
    size_t cap;
    char writer[64];
};

struct mix *
mix_new(struct pair *pair, bool logarithms)
{
    struct mix *m = cli_alloc(NULL, 1, sizeof(*m));
    double all = 0;

    *m = (struct mix){ .pair = pair, .logarithms = logarithms };
    m->sums = cli_alloc(NULL, pair->n, sizeof(*m->sums));
    m->logs = cli_alloc(NULL, pair->n, sizeof(*m->logs));
    for (size_t i = 0; i < pair->n; i++) {
        if (!logarithms && !(pair->members[i].weight > 0))
            cli_misuse(
                "--mix: %s: a weight of %g: probabilities need one above "
                "0",
                cli_input_name(pair->members[i].path), pair->members[i].weight);
        all += pair->members[i].weight;
    }
    for (size_t i = 0; i < pair->n; i++)
        m->logs[i] = log(pair->members[i].weight / all);
    snprintf(m->writer, sizeof(m->writer), "%s %s", cli_name, gg_version());
    return m;
}

void
mix_free(struct mix *m)
{
    free(m->sums);
    free(m->logs);
    free(m->logits);
    free(m);
}

static void
begin_record(struct mix *m, struct gg_logit_record *out)
{
    *out = m->pair->members[0].record;
    for (size_t i = 0; i < m->pair->n; i++)
        if (m->pair->members[i].record.head.encoding == GG_ENCODING_SPARSE)
            cli_die("%s: sparse logits cannot be mixed: all are needed",
                    cli_input_name(m->pair->members[i].path));
    if (out->head.n_vocab > m->cap) {
        m->cap = out->head.n_vocab;
        m->logits = cli_alloc(m->logits, m->cap, sizeof(*m->logits));
    }
}

static double
mixed_probability(const struct mix *m, size_t id)
{
    double max = -INFINITY, sum = 0;

    for (size_t k = 0; k < m->pair->n; k++) {
        double l = (double)m->pair->members[k].record.logits[id] - m->sums[k] +
                   m->logs[k];

        max = l > max ? l : max;
    }
    if (max == -INFINITY)
        return max;
    for (size_t k = 0; k < m->pair->n; k++)
        sum += exp((double)m->pair->members[k].record.logits[id] - m->sums[k] +
                   m->logs[k] - max);
    return max + log(sum);
}

/* An id that is impossible in one of them is so, whatever its weight's sign. */
static double
mixed_logarithm(const struct mix *m, size_t id)
{
    double sum = 0;

    for (size_t k = 0; k < m->pair->n; k++) {
        double l = (double)m->pair->members[k].record.logits[id] - m->sums[k];
        double weight = m->pair->members[k].weight;

        if (weight == 0)
            continue;
        if (l == -INFINITY)
            return l;
        sum += weight * l;
    }
    return sum;
}

static double
mixed_value(const struct mix *m, size_t i)
{
    double sum = 0, all = 0;

    for (size_t k = 0; k < m->pair->n; k++) {
        sum += m->pair->members[k].weight *
               (double)m->pair->members[k].record.logits[i];
        all += m->pair->members[k].weight;
    }
    return m->logarithms ? sum : sum / all;
}

/* False where there are no probabilities. */
static bool
sum_up(struct mix *m)
{
    for (size_t k = 0; k < m->pair->n; k++) {
        const struct gg_logit_record *r = &m->pair->members[k].record;

        if (!log_sum_exp(r->logits, r->n_logits, &m->sums[k])) {
            cli_warn("%s: sequence %" PRIu64 ", position %" PRIu64
                     ": the logits are not numbers",
                     cli_input_name(m->pair->members[k].path), r->sequence,
                     r->position);
            return false;
        }
    }
    return true;
}

static void
mix_record(struct mix *m, struct gg_logit_record *out)
{
    bool embedding = out->head.kind == GG_VECTOR_EMBEDDING;

    if (!embedding && !sum_up(m)) {
        out->kind = GG_RECORD_ERROR;
        out->message = "the logits are not numbers";
        return;
    }
    for (size_t i = 0; i < out->n_logits; i++)
        m->logits[i] = (float)(embedding       ? mixed_value(m, i)
                               : m->logarithms ? mixed_logarithm(m, i)
                                               : mixed_probability(m, i));
    out->logits = m->logits;
}

/* The chunk's ids, from whoever has them. */
static void
name_ids(const struct mix *m, struct gg_logit_record *out)
{
    for (size_t k = 0; k < m->pair->n && out->n_ids == 0; k++) {
        out->ids = m->pair->members[k].record.ids;
        out->n_ids = m->pair->members[k].record.n_ids;
    }
}

enum gg_status
mix_read(void *mix, struct gg_logit_record *out, struct gg_error *err)
{
    struct mix *m = mix;
    const struct gg_logit_record *failed;
    enum gg_record_kind kind;

    (void)err; /* what is wrong ends the tool */
    if (!pair_read(m->pair, &kind, &failed))
        return GG_EOF;
    if (kind == GG_RECORD_HEAD)
        begin_record(m, out);
    else if (failed)
        *out = *failed;
    else
        *out = m->pair->members[0].record;
    if (kind == GG_RECORD_LOGITS) {
        name_ids(m, out);
        mix_record(m, out);
    }
    out->head = m->pair->members[0].record.head;
    out->head.encoding = GG_ENCODING_F32;
    out->head.writer = m->writer;
    return GG_OK;
}
