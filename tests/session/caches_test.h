/* caches_test.h - drafts with each type of the KV cache */
#ifndef SESSION_CACHES_TEST_H
#define SESSION_CACHES_TEST_H

#include "session/pair_test.h"
#include "session/session.h"

static const struct gg_session_params caches[] = {
    { .cache_type = GG_CACHE_F16 },
    { .cache_type = GG_CACHE_BF16 },
    { .cache_type = GG_CACHE_Q8_0 },
    { .cache_type = GG_CACHE_Q5_0 },
    { .cache_type = GG_CACHE_Q4_0 },
    { .cache_type = GG_CACHE_Q4_0, .no_rotation = true },
    { .cache_type = GG_CACHE_Q4_0,
      .value_type = GG_CACHE_F16,
      .has_value_type = true },
    { .cache_type = GG_CACHE_F16,
      .value_type = GG_CACHE_Q4_0,
      .has_value_type = true },
};

enum {
    N_CACHES = sizeof(caches) / sizeof(caches[0]),
};

static inline void
print_cache(const struct gg_session_params *p)
{
    printf("# cache type %d, values %d%s:", (int)p->cache_type,
           (int)(p->has_value_type ? p->value_type : p->cache_type),
           p->no_rotation ? ", not rotated" : "");
}

static inline int
likeliest(const float *x)
{
    int best = 0;

    for (int i = 1; i < V; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

/* How often the likeliest id of a draft's first step is the model's. */
static inline double
accepted(const struct gg_model *m, struct gg_session_params params,
         const int32_t *text, int n_text)
{
    struct gg_session *s = new_session(m, params);
    float draft[V], own[V];
    int n = 0, drafted = 0;

    for (int p = 1; p < n_text; p++) {
        struct model_guess q = {
            .past = p, .ids = text + p, .n = 1, .logits = draft
        };

        eval_ids(s, 0, text, p - 1, p, own);
        n += p > 1 && likeliest(own) == drafted;
        must(session_mtp_guess(s, &q, 1, &err));
        drafted = likeliest(draft);
    }
    gg_session_free(s);
    return (double)n / (n_text - 2);
}

/* A draft of what is known of the text is as good whatever the cache keeps. */
static inline void
check_cache_types(const struct gg_model *m, const int32_t *text, int n_text)
{
    double usual = accepted(m, caches[0], text, n_text);

    printf("# accepted: %.3f\n", usual);
    okn(usual > 0.5, "what is known is accepted");
    for (size_t k = 1; k < N_CACHES; k++) {
        double now = accepted(m, caches[k], text, n_text);

        print_cache(&caches[k]);
        printf(" %.3f accepted\n", now);
        okn(now > usual - 0.05, "with any cache");
    }
}

#endif
