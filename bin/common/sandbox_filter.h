/* sandbox_filter.h - the program by which the kernel judges system calls */
#ifndef COMMON_SANDBOX_FILTER_H
#define COMMON_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/sandbox_calls.h"

enum {
    SANDBOX_MAX_STEPS = 2000,
};

struct sandbox_filter {
    struct sock_filter p[SANDBOX_MAX_STEPS];
    unsigned short n;
};

/* The process that a filter is made for. */
struct sandbox_profile {
    enum sandbox_role role;
    unsigned kept;
    pid_t job; /* a group of processes that may be signalled; 0: none */
    bool log;  /* a refused call becomes SIGSYS, with errno in si_errno */
};

/* False: it has too many steps, or nobody knows this processor's calls. */
bool
sandbox_make_filter(struct sandbox_filter *f, const struct sandbox_profile *p);

#endif
