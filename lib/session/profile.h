/* profile.h - a session's profile: time by op and thread */
#ifndef SESSION_PROFILE_H
#define SESSION_PROFILE_H

#include <gg.h>

#include "backend/profile.h"

struct session_profile {
    struct backend_profile *counters; /* the back ends' */
    uint64_t graphs[PROFILE_PHASES], ns[PROFILE_PHASES];
    int64_t start;
    struct gg_profile_row *rows; /* room for all that there may be */
};

/* NULL: no memory. */
struct session_profile *
session_profile_new(int n_threads);
void
session_profile_free(struct session_profile *p); /* takes NULL */

/* Around all that a batch takes; `p` may be NULL. */
void
session_profile_start(struct session_profile *p, enum gg_profile_phase phase);
void
session_profile_stop(struct session_profile *p);

/* Returns the rows of gg_session_profile(). */
const struct gg_profile_row *
session_profile_rows(struct session_profile *p, size_t *n);

#endif
