/* fitting.c - of logits, those of the tokens that fit a grammar
 *
 * The likeliest tokens mostly fit; then few of them are looked at, one by one.
 * Otherwise few of all fit, and a mask of them is soon made. */
#include <config.h>

#include "sample/fitting.h"

#include <math.h>

#include "core/error.h"
#include "core/mem.h"

static enum gg_status
none_fits(const struct grammar_at *at, const int32_t *ids, struct gg_error *err)
{
    if (sample_grammar_may_end(at))
        return error_set(err, GG_ERR_FORMAT,
                         "the grammar is complete, but there is no token%s to "
                         "end the text",
                         ids ? " among those that are there" : "");
    return error_set(err, GG_ERR_FORMAT, "no token%s fits the grammar",
                     ids ? " of those that are there" : "");
}

/* The k first of those that fit, if they are among the first few of all: true.
 */
static enum gg_status
find_first(struct gg_sampler *s, const struct grammar_at *at,
           const int32_t *ids, const float *logits, size_t n, size_t k,
           bool *found, struct gg_error *err)
{
    size_t few = 2 * k + 16, m = 0;
    enum gg_status st = GG_OK;

    few = select_top(ids, logits, n, few < n ? few : n, s->choices);
    for (size_t i = 0; st == GG_OK && i < few && m < k; i++) {
        bool fits;

        st = sample_grammar_allows(at, s->choices[i].id, &fits, err);
        if (fits)
            s->choices[m++] = s->choices[i];
    }
    *found = m == k;
    return st;
}

static bool
is_in_mask(const uint64_t *mask, size_t size, size_t id)
{
    return id < size && (mask[id / 64] >> id % 64 & 1);
}

/* Gathers ids that fit and are possible, in the order in which they stand. */
static size_t
gather(struct gg_sampler *s, const uint64_t *mask, size_t size,
       const int32_t *ids, const float *logits, size_t n)
{
    size_t m = 0;

    for (size_t i = 0; ids && i < n; i++)
        if (is_in_mask(mask, size, (size_t)ids[i]) && logits[i] > -INFINITY) {
            s->fit_ids[m] = ids[i];
            s->fit[m++] = logits[i];
        }
    for (size_t w = 0; !ids && w * 64 < n && w * 64 < size; w++)
        for (uint64_t bits = mask[w]; bits; bits &= bits - 1) {
            size_t id = w * 64 + (size_t)__builtin_ctzll(bits);

            if (id < n && logits[id] > -INFINITY) {
                s->fit_ids[m] = (int32_t)id;
                s->fit[m++] = logits[id];
            }
        }
    return m;
}

static enum gg_status
gather_fitting(struct gg_sampler *s, const struct grammar_at *at,
               const int32_t *ids, const float *logits, size_t n, size_t *m,
               struct gg_error *err)
{
    size_t n_fit, a = s->fit_cap, b = s->fit_cap;
    const uint64_t *mask;
    enum gg_status st = sample_grammar_mask(at, &mask, &n_fit, err);

    if (st != GG_OK)
        return st;
    if (ids)
        n_fit = n; /* one of them may be there twice */
    if (!mem_grow(&s->fit, &a, n_fit + 1, sizeof(*s->fit)) ||
        !mem_grow(&s->fit_ids, &b, n_fit + 1, sizeof(*s->fit_ids)))
        return error_nomem(err);
    s->fit_cap = a;
    *m = gather(s, mask, sample_grammar_size(at), ids, logits, n);
    return *m ? GG_OK : none_fits(at, ids, err);
}

enum gg_status
sample_fitting_candidates(struct gg_sampler *s, const struct grammar_at *at,
                          const int32_t *ids, const float *logits, size_t n,
                          size_t k, double temperature,
                          struct sample_candidates *candidates,
                          struct gg_error *err)
{
    bool found = false;
    enum gg_status st = GG_OK;
    size_t m = 0;

    if (k && k < n && !sample_grammar_has_mask(at, n / 8))
        st = find_first(s, at, ids, logits, n, k, &found, err);
    if (st == GG_OK && !found) {
        st = gather_fitting(s, at, ids, logits, n, &m, err);
        if (st == GG_OK && k && k < n)
            k = select_top(s->fit_ids, s->fit, m, k, s->choices);
    }
    if (st != GG_OK)
        return st;
    if (k && k < n) {
        *candidates = sample_candidates_whole(s->choices, k, temperature);
        return GG_OK;
    }
    if (m < n) { /* the list is not seen to be whole before it was among all */
        s->fit[m] = -INFINITY;
        s->fit_ids[m++] = -1;
    }
    *candidates =
        sample_candidates_of(s->fit_ids, s->fit, m, 0, temperature, s->choices);
    return GG_OK;
}

enum gg_status
sample_fitting_cut(struct gg_sampler *s, const struct grammar_at *at,
                   const int32_t *ids, const float **logits, size_t n,
                   struct gg_error *err)
{
    const float *from = *logits;
    size_t size = sample_grammar_size(at), n_fit;
    const uint64_t *mask;
    enum gg_status st = sample_grammar_mask(at, &mask, &n_fit, err);
    bool some = false;

    if (st != GG_OK)
        return st;
    if (!mem_grow(&s->logits, &s->logits_cap, n, sizeof(*s->logits)))
        return error_nomem(err);
    for (size_t i = 0; i < n; i++) {
        bool fits = is_in_mask(mask, size, ids ? (size_t)ids[i] : i);

        s->logits[i] = fits ? from[i] : -INFINITY;
        some |= s->logits[i] > -INFINITY;
    }
    *logits = s->logits;
    return some ? GG_OK : none_fits(at, ids, err);
}
