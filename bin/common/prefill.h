/* prefill.h - a line on a terminal while a long prompt is evaluated */
#ifndef COMMON_PREFILL_H
#define COMMON_PREFILL_H

#include "common/ticker.h"

struct prefill {
    struct ticker ticker;
    uint64_t done, all; /* ids of an evaluation */
    bool quiet, again;  /* a first one has ended */
};

/* After cli_output(). With `quiet` nothing is shown, nor where stderr is no
 * terminal. */
void
prefill_start(struct prefill *p, bool quiet);

/* For struct gg_session_params: *data is a struct prefill. */
void
prefill_show(void *data, uint64_t done, uint64_t all);

/* Ids of the sample, some time later. */
void
prefill_tick(struct prefill *p);

#endif
