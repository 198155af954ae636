/* profile.h - where the time of a session's evaluations goes */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include <gg.h>

#include "backend/profile.h"

struct profile {
    struct backend_profile *counters; /* the back ends' */
    uint64_t graphs[PROFILE_PHASES], ns[PROFILE_PHASES];
    int64_t start;
    struct gg_profile_row *rows; /* room for all that there may be */
};

/* NULL: no memory. */
struct profile *
profile_new(int n_threads);
void
profile_free(struct profile *p); /* takes NULL */

/* Around all that a batch takes; `p` may be NULL. */
void
profile_start(struct profile *p, enum gg_profile_phase phase);
void
profile_stop(struct profile *p);

/* What gg_session_profile() does. */
const struct gg_profile_row *
profile_rows(struct profile *p, size_t *n);

#endif
