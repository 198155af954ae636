/* edit.c - edits of records: biases, masks, fewer logits
 *
 * Of a sparse record only the logits that it has are changed. Its
 * log-sum-exp then counts these as they are now, and all others as before. */
#include <config.h>

#include "gg-logits/edit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gg-logits/best.h"
#include "common/cli.h"

struct ids {
    int32_t *ids;
    size_t n, cap;
};

struct edit {
    struct edit_options o;
    struct ids allowed, forbidden;
    uint32_t n_vocab;
    float *add; /* to each logit of the vocabulary; NULL: nothing to any */
    float *logits;
    size_t logits_cap;
    struct best best;
    int32_t *best_ids;
};

void
edit_add_bias(struct edit_options *o, const char *text)
{
    const char *equals = strchr(text, '=');
    char id[24];
    double x;

    if (!equals || equals == text || (size_t)(equals - text) >= sizeof(id))
        cli_misuse("--bias: '%s' is not ID=X", text);
    memcpy(id, text, (size_t)(equals - text));
    id[equals - text] = '\0';
    x = strcmp(equals + 1, "-inf") == 0
            ? -INFINITY
            : cli_float("--bias", equals + 1, -1e30, 1e30);
    o->biases = cli_alloc(o->biases, o->n_biases + 1, sizeof(*o->biases));
    o->biases[o->n_biases++] = (struct bias){
        .id = (int32_t)cli_int("--bias", id, 0, INT32_MAX),
        .x = (float)x,
    };
}

/* ---- files of ids: token streams ---- */

static void
collect_ids(struct ids *all, const struct gg_line *line)
{
    if (line->kind != GG_LINE_IDS)
        return;
    if (all->n + line->n_ids > all->cap) {
        all->cap = 2 * (all->n + line->n_ids);
        all->ids = cli_alloc(all->ids, all->cap, sizeof(*all->ids));
    }
    if (line->n_ids > 0)
        memcpy(all->ids + all->n, line->ids, line->n_ids * sizeof(*line->ids));
    all->n += line->n_ids;
}

static void
read_ids(struct ids *all, const char *path)
{
    struct gg_line_reader *reader = NULL;
    struct gg_line line;
    struct gg_error err;
    enum gg_status st;
    int fd = cli_open_input(path);

    cli_check(gg_line_reader_new(fd, cli_input_name(path), &reader, &err),
              &err);
    while ((st = gg_line_read(reader, &line, &err)) == GG_OK)
        collect_ids(all, &line);
    if (st != GG_EOF)
        cli_check(st, &err);
    gg_line_reader_free(reader);
    if (fd != STDIN_FILENO)
        close(fd);
}

struct edit *
edit_new(const struct edit_options *o)
{
    struct edit *e = cli_alloc(NULL, 1, sizeof(*e));

    *e = (struct edit){ .o = *o };
    if (o->allow)
        read_ids(&e->allowed, o->allow);
    if (o->forbid)
        read_ids(&e->forbidden, o->forbid);
    return e;
}

void
edit_free(struct edit *e)
{
    free(e->allowed.ids);
    free(e->forbidden.ids);
    free(e->add);
    free(e->logits);
    free(e->best_ids);
    best_clear(&e->best);
    free(e);
}

/* ---- a new head ---- */

static float *
logit_at(struct edit *e, const char *what, int32_t id)
{
    if ((uint32_t)id >= e->n_vocab)
        cli_die("%s: id %" PRId32 " is not in the vocabulary of %" PRIu32, what,
                id, e->n_vocab);
    return &e->add[id];
}

/* The number added to each logit: minus infinity forbids it. */
static void
prepare_biases(struct edit *e)
{
    const struct edit_options *o = &e->o;

    free(e->add);
    e->add = NULL;
    if (!o->n_biases && !o->allow && !o->forbid)
        return;
    e->add = cli_alloc(NULL, e->n_vocab, sizeof(*e->add));
    for (uint32_t i = 0; i < e->n_vocab; i++)
        e->add[i] = o->allow ? -INFINITY : 0;
    for (size_t i = 0; i < e->allowed.n; i++)
        *logit_at(e, o->allow, e->allowed.ids[i]) = 0;
    for (size_t i = 0; i < o->n_biases; i++)
        *logit_at(e, "--bias", o->biases[i].id) += o->biases[i].x;
    for (size_t i = 0; i < e->forbidden.n; i++)
        *logit_at(e, o->forbid, e->forbidden.ids[i]) = -INFINITY;
}

static void
begin_stream(struct edit *e, const struct gg_logit_head *head)
{
    size_t k = e->o.keep < head->n_vocab ? e->o.keep : head->n_vocab;

    if (head->kind != GG_VECTOR_LOGITS &&
        (e->o.n_biases || e->o.allow || e->o.forbid || e->o.keep))
        cli_die("the stream has embeddings, not logits");
    e->n_vocab = head->n_vocab;
    prepare_biases(e);
    if (!e->o.keep)
        return;
    best_clear(&e->best);
    best_init(&e->best, k);
    e->best_ids = cli_alloc(e->best_ids, k, sizeof(*e->best_ids));
}

/* ---- a record ---- */

bool
log_sum_exp(const float *x, size_t n, double *out)
{
    double max = -INFINITY, sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (!(x[i] < INFINITY))
            return false;
        if ((double)x[i] > max)
            max = (double)x[i];
    }
    if (max == -INFINITY)
        return false;
    for (size_t i = 0; i < n; i++)
        sum += exp((double)x[i] - max);
    *out = max + log(sum);
    return true;
}

/* The log-sum-exp when the logits that a sparse record has become `now`: what
 * all others had of the sum stays. */
static double
sum_anew(const struct gg_logit_record *r, const float *now)
{
    double others = 1, max = r->log_sum_exp, sum = 0;

    for (size_t i = 0; i < r->n_logits; i++) {
        others -= exp((double)r->logits[i] - r->log_sum_exp);
        if ((double)now[i] > max)
            max = (double)now[i];
    }
    if (others < 0 || r->n_logits == r->head.n_vocab)
        others = 0;
    sum = others * exp(r->log_sum_exp - max);
    for (size_t i = 0; i < r->n_logits; i++)
        sum += exp((double)now[i] - max);
    return max + log(sum);
}

static void
add_biases(struct edit *e, struct gg_logit_record *r)
{
    if (r->n_logits > e->logits_cap) {
        e->logits_cap = r->n_logits;
        e->logits = cli_alloc(e->logits, e->logits_cap, sizeof(*e->logits));
    }
    for (size_t i = 0; i < r->n_logits; i++) {
        float x = e->add[r->logit_ids ? (size_t)r->logit_ids[i] : i];

        e->logits[i] = x == -INFINITY ? x
                       : x != 0       ? r->logits[i] + x
                                      : r->logits[i];
    }
    if (r->logit_ids)
        r->log_sum_exp = sum_anew(r, e->logits);
    r->logits = e->logits;
}

/* The likeliest first; of a sparse record of those that it has. */
static void
keep_best(struct edit *e, struct gg_logit_record *r)
{
    struct best *b = &e->best;
    bool found = best_find(b, r->logits, r->n_logits);

    if (!found) {
        r->kind = GG_RECORD_ERROR;
        r->message = "the logits are not numbers";
        cli_warn("sequence %" PRIu64 ", position %" PRIu64 ": %s", r->sequence,
                 r->position, r->message);
        return;
    }
    for (size_t i = 0; i < b->n; i++)
        e->best_ids[i] = r->logit_ids ? r->logit_ids[b->ids[i]] : b->ids[i];
    if (!r->logit_ids)
        r->log_sum_exp = b->log_sum;
    r->logit_ids = e->best_ids;
    r->logits = b->logits;
    r->n_logits = b->n;
}

void
edit_apply(struct edit *e, struct gg_logit_record *r)
{
    if (r->kind == GG_RECORD_HEAD)
        begin_stream(e, &r->head);
    if (r->kind == GG_RECORD_LOGITS && e->add)
        add_biases(e, r);
    if (r->kind == GG_RECORD_LOGITS && e->o.keep)
        keep_best(e, r);
    if (e->o.keep)
        r->head.encoding = GG_ENCODING_SPARSE;
    else if (e->o.half && r->head.encoding == GG_ENCODING_F32)
        r->head.encoding = GG_ENCODING_F16;
}
