/* sampler_said.h - samplers of parameters in which 0 is a number that was said:
 * temperature 0 is greedy, top-k 0 is all */
#ifndef TESTS_SAMPLER_SAID_H
#define TESTS_SAMPLER_SAID_H

#include <float.h>
#include <gg.h>

static inline void
say(struct gg_sampler_params *p)
{
    float *least[] = { &p->top_p, &p->xtc_threshold, &p->mirostat_tau,
                       &p->mirostat_eta };

    p->greedy = p->temperature == 0;
    p->top_k = p->top_k ? p->top_k : -1;
    for (size_t i = 0; i < sizeof(least) / sizeof(least[0]); i++)
        *least[i] = *least[i] == 0 ? FLT_MIN : *least[i];
}

static inline enum gg_status
new_said(const struct gg_sampler_params *p, struct gg_sampler **out,
         struct gg_error *error)
{
    struct gg_sampler_params q = *p;

    say(&q);
    return gg_sampler_new(&q, out, error);
}

#endif
