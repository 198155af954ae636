/* sandbox_calls.c - system calls that are refused: seccomp */
#include <config.h>

#include "common/sandbox_calls.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

static pid_t job;

void
sandbox_keep_job(pid_t leader)
{
    job = leader;
}

static bool
is_logged(void)
{
    const char *how = getenv("GG_SANDBOX");

    if (how && *how && strcmp(how, "log") != 0)
        cli_misuse("GG_SANDBOX: '%s' is not log", how);
    return how && *how;
}

#ifdef GG_SECCOMP

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/sandbox_filter.h"
#include "common/sandbox_log.h"

bool
sandbox_refuse_calls(enum sandbox_role role, unsigned kept)
{
    struct sandbox_filter f;
    struct sandbox_profile p = { role, kept, job, is_logged() };
    struct sock_fprog program = { 0, f.p };

    p.log = p.log && sandbox_log();
    if (!sandbox_make_filter(&f, &p))
        return false;
    program.len = f.n;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

#else

/* A build with sanitizers or counters, which do at the end what they want, has
 * none on purpose: that is not told. */
bool
sandbox_refuse_calls(enum sandbox_role role, unsigned kept)
{
    (void)role;
    (void)kept;
    (void)job;
    (void)is_logged();
#ifdef GG_INSTRUMENTED
    return true;
#else
    return false;
#endif
}

#endif
