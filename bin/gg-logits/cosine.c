/* cosine.c - how near vectors are to a few others: cosines of their angles */
#include <config.h>

#include "gg-logits/cosine.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

/* One of the others. */
struct place {
    uint64_t name; /* the number of its sequence, or of itself, from 1 on */
    double cosine; /* with the vector that is looked at */
};

struct near {
    struct gg_logit_head head; /* of the others; names in it are not kept */
    float *others;             /* n of them, head.n_vocab values each */
    struct place *places;      /* n, in the order of the others */
    struct place *best;        /* scratch: the same, nearest first */
    size_t n, cap;
    size_t top; /* the number shown; 0: all, in one line */
    bool failed;
};

static void
check_head(const struct gg_logit_head *h, const char *name)
{
    if (h->kind != GG_VECTOR_EMBEDDING)
        cli_die("%s: the stream has logits, not embeddings", name);
    if (h->encoding == GG_ENCODING_SPARSE)
        cli_die("%s: sparse vectors cannot be compared", name);
}

/* A fingerprint of 0 is not known: vectors of images have none. */
static bool
is_of_other(const struct gg_logit_head *a, const struct gg_logit_head *b)
{
    return a->fingerprint && b->fingerprint && a->fingerprint != b->fingerprint;
}

static void
keep(struct near *w, const struct gg_logit_record *r)
{
    size_t length = w->head.n_vocab;

    if (w->n == w->cap) {
        w->cap = 2 * w->cap + 1;
        w->others = cli_alloc(w->others, w->cap, length * sizeof(*w->others));
        w->places = cli_alloc(w->places, w->cap, sizeof(*w->places));
        w->best = cli_alloc(w->best, w->cap, sizeof(*w->best));
    }
    w->places[w->n].name = r->head.numbered ? r->sequence : w->n + 1;
    memcpy(w->others + w->n++ * length, r->logits, length * sizeof(*w->others));
}

static bool
is_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static void
read_others(struct near *w, struct record_source *source, const char *name)
{
    struct gg_logit_record r;
    struct gg_error err;
    enum gg_status st;

    while ((st = record_source_read(source, &r, &err)) == GG_OK) {
        if (r.kind == GG_RECORD_HEAD) {
            check_head(&r.head, name);
            if (w->n && r.head.n_vocab != w->head.n_vocab)
                cli_die("%s: vectors of different lengths", name);
            w->head = r.head;
        } else if (r.kind == GG_RECORD_ERROR) {
            cli_die("%s: %s", name, r.message);
        } else if (r.kind == GG_RECORD_LOGITS) {
            if (!is_finite(r.logits, r.n_logits))
                cli_die("%s: vector %zu: not numbers", name, w->n + 1);
            keep(w, &r);
        }
    }
    if (st != GG_EOF)
        cli_check(st, &err);
    if (w->n == 0)
        cli_die("%s: no vectors", name);
}

double
cosine(const float *a, const float *b, size_t n)
{
    double ab = 0, aa = 0, bb = 0;

    for (size_t i = 0; i < n; i++) {
        double x = (double)a[i], y = (double)b[i];

        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    if (!isfinite(aa) || !isfinite(bb))
        return NAN;
    return aa == 0 || bb == 0 ? aa == bb : ab / sqrt(aa * bb);
}

static void
put_sequence(const struct gg_logit_record *r)
{
    if (r->head.numbered)
        printf("%" PRIu64, r->sequence);
    else
        putchar('-');
}

/* Nearest first. */
static int
by_cosine(const void *x, const void *y)
{
    const struct place *a = x, *b = y;

    if (a->cosine != b->cosine)
        return a->cosine > b->cosine ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

/* A line for each of the nearest, and an empty one. */
static void
put_top(struct near *w, const struct gg_logit_record *r)
{
    size_t n = w->top < w->n ? w->top : w->n;

    memcpy(w->best, w->places, w->n * sizeof(*w->best));
    qsort(w->best, w->n, sizeof(*w->best), by_cosine);
    for (size_t i = 0; i < n; i++) {
        put_sequence(r);
        printf("\t%zu\t%" PRIu64 "\t%.6f\n", i + 1, w->best[i].name,
               w->best[i].cosine);
    }
    putchar('\n');
}

static void
put_all(const struct near *w, const struct gg_logit_record *r)
{
    put_sequence(r);
    for (size_t i = 0; i < w->n; i++)
        printf("\t%.6f", w->places[i].cosine);
    putchar('\n');
}

static void
put_nearest(struct near *w, const struct gg_logit_record *r)
{
    size_t n = w->head.n_vocab;
    const char *failure = r->kind == GG_RECORD_ERROR ? r->message
                          : is_finite(r->logits, n)  ? NULL
                                                     : "not numbers";

    if (failure) {
        w->failed = true;
        put_sequence(r);
        printf("\t!%s\n", failure);
    } else {
        for (size_t i = 0; i < w->n; i++)
            w->places[i].cosine = cosine(w->others + i * n, r->logits, n);
        w->top ? put_top(w, r) : put_all(w, r);
    }
    cli_flush();
}

int
near_run(struct record_source *source, const char *name,
         struct record_source *others, const char *other_name, size_t top)
{
    struct near w = { .top = top };
    struct gg_logit_record r;
    struct gg_error err;
    enum gg_status st;

    read_others(&w, others, other_name);
    while ((st = record_source_read(source, &r, &err)) == GG_OK) {
        if (r.kind == GG_RECORD_HEAD) {
            check_head(&r.head, name);
            if (r.head.n_vocab != w.head.n_vocab ||
                is_of_other(&r.head, &w.head))
                cli_die("%s and %s are of different models", name, other_name);
        } else if (r.kind == GG_RECORD_LOGITS || r.kind == GG_RECORD_ERROR) {
            put_nearest(&w, &r);
        }
    }
    if (st != GG_EOF)
        cli_check(st, &err);
    free(w.others);
    free(w.places);
    free(w.best);
    return cli_status(w.failed, true);
}
