/* trace.c - a command whose system calls fail as a test wants it
 *
 * By ptrace(): a stream's write() is the C library's own, which no preloaded
 * library could replace. A call that is to fail gets the number -1, which does
 * nothing, and its result when it is left. */
#define _GNU_SOURCE
#include <config.h>

#include "harness/trace.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/outcome.h"

#if defined(__x86_64__)

#include <sys/user.h>

/* ENOMEM of a thread's stack is that of memory. */
static const struct fault faults[] = {
    { "write",
      { SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, -1 },
      ENOSPC,
      false,
      "No space left|write error" },
    { "short", { SYS_write, SYS_pwrite64, -1 }, 0, false, "" },
    { "read",
      { SYS_read, SYS_pread64, SYS_readv, -1 },
      EIO,
      false,
      "Input/output error" },
    { "sync",
      { SYS_fsync, SYS_fdatasync, SYS_msync, -1 },
      EIO,
      false,
      "Input/output error" },
    { "rename",
      { SYS_rename, SYS_renameat, SYS_renameat2, SYS_link, SYS_linkat, -1 },
      EIO,
      false,
      "Input/output error" },
    { "close", { SYS_close, -1 }, EIO, true, "Input/output error" },
    { "cut", { SYS_ftruncate, SYS_fallocate, -1 }, EIO, false, "Input/output" },
    { "open",
      { SYS_open, SYS_openat, SYS_memfd_create, -1 },
      EMFILE,
      false,
      "Too many open files|Permission denied" },
    { "map", { SYS_mmap, SYS_mremap, -1 }, ENOMEM, false, "memory|thread" },
    { "thread",
      { SYS_clone, SYS_clone3, SYS_fork, SYS_vfork, -1 },
      EAGAIN,
      false,
      "thread|Resource temporarily unavailable" },
};

enum {
    STUCK = 60, /* seconds */
    MAX_TASKS = 1024,
};

/* A task, and whether the call that it is in is to fail or is cut. */
struct task {
    pid_t id;
    bool fails, is_cut;
};

struct trace {
    const struct fault *fault;
    pid_t child;
    long first, n;
    bool all, started;
    uint64_t entry; /* where a trap stands until the command begins */
    long code;      /* what was there */
    struct task tasks[MAX_TASKS];
    int n_tasks;
};

const struct fault *
trace_fault(const char *name)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        if (strcmp(faults[i].name, name) == 0)
            return &faults[i];
    return NULL;
}

static struct task *
task_of(struct trace *t, pid_t id)
{
    for (int i = 0; i < t->n_tasks; i++)
        if (t->tasks[i].id == id)
            return &t->tasks[i];
    if (t->n_tasks == MAX_TASKS)
        outcome_die("so many threads");
    t->tasks[t->n_tasks] = (struct task){ .id = id };
    return &t->tasks[t->n_tasks++];
}

/* ---- the beginning ------------------------------------------------------- */

static uint64_t
entry_of(pid_t id)
{
    char path[64];
    uint64_t pair[2];
    uint64_t entry = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/auxv", (int)id);
    f = fopen(path, "rb");
    while (f && fread(pair, sizeof(pair), 1, f) == 1)
        if (pair[0] == AT_ENTRY)
            entry = pair[1];
    if (!f || !entry)
        outcome_die(path);
    fclose(f);
    return entry;
}

/* The first instruction becomes int3: the loader has done its work by then. */
static void
set_trap(struct trace *t)
{
    t->entry = entry_of(t->child);
    t->code = ptrace(PTRACE_PEEKTEXT, t->child, (void *)t->entry, NULL);
    if (ptrace(PTRACE_POKETEXT, t->child, (void *)t->entry,
               (void *)((t->code & ~0xffL) | 0xcc)))
        outcome_die("a trap");
}

/* True: it was ours, and the command begins now. */
static bool
begins(struct trace *t, pid_t id)
{
    struct user_regs_struct r;

    if (t->started || ptrace(PTRACE_GETREGS, id, NULL, &r) ||
        r.rip != t->entry + 1)
        return false;
    r.rip = t->entry;
    ptrace(PTRACE_POKETEXT, id, (void *)t->entry, (void *)t->code);
    ptrace(PTRACE_SETREGS, id, NULL, &r);
    t->started = true;
    return true;
}

/* ---- calls --------------------------------------------------------------- */

static bool
is_meant(const struct fault *f, const struct user_regs_struct *r)
{
    bool writes = r->orig_rax == SYS_write || r->orig_rax == SYS_writev;

    if (writes && r->rdi == STDERR_FILENO)
        return false;
    for (int i = 0; f->calls[i] >= 0; i++)
        if ((long)r->orig_rax == f->calls[i])
            return f->error || r->rdx > 1;
    return false;
}

static bool
must_fail(struct trace *t)
{
    long n = t->n++;

    return t->first >= 0 && (n == t->first || (t->all && n > t->first));
}

static void
enter_call(struct trace *t, struct task *task)
{
    struct user_regs_struct r;

    task->fails = false;
    if (ptrace(PTRACE_GETREGS, task->id, NULL, &r) || !is_meant(t->fault, &r) ||
        !must_fail(t))
        return;
    if (t->fault->error == 0)
        r.rdx /= 2;
    else
        task->fails = true;
    if (task->fails && !t->fault->done)
        r.orig_rax = (unsigned long long)-1;
    ptrace(PTRACE_SETREGS, task->id, NULL, &r);
}

static void
leave_call(const struct trace *t, struct task *task)
{
    struct user_regs_struct r;

    if (!task->fails || ptrace(PTRACE_GETREGS, task->id, NULL, &r))
        return;
    task->fails = false;
    r.rax = (unsigned long long)-(long long)t->fault->error;
    ptrace(PTRACE_SETREGS, task->id, NULL, &r);
}

static void
see_call(struct trace *t, pid_t id)
{
    struct __ptrace_syscall_info info;
    struct task *task = task_of(t, id);

    if (!t->started ||
        ptrace(PTRACE_GET_SYSCALL_INFO, id, (void *)sizeof(info), &info) < 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
        enter_call(t, task);
    else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
        leave_call(t, task);
}

/* ---- running ------------------------------------------------------------- */

/* Returns the signal that the task gets. */
static int
see_stop(struct trace *t, pid_t id, int status)
{
    int sig = WSTOPSIG(status);

    if (status >> 16 == PTRACE_EVENT_EXEC && id == t->child && !t->started)
        set_trap(t);
    if (status >> 16)
        return 0;
    if (sig == (SIGTRAP | 0x80))
        see_call(t, id);
    else if (sig == SIGSTOP)
        return 0; /* how a thread begins */
    else if (sig != SIGTRAP || !begins(t, id))
        return sig;
    return 0;
}

static void
start(char **argv)
{
    outcome_redirect();
    alarm(STUCK);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    execvp(argv[0], argv);
    _exit(127);
}

int
trace_run(char **argv, const struct fault *fault, long first, bool all, long *n)
{
    static struct trace t;
    int status, ended = 0;
    pid_t id;

    t = (struct trace){ .fault = fault, .first = first, .all = all };
    t.child = fork();
    if (t.child == 0)
        start(argv);
    if (t.child < 0 || waitpid(t.child, &status, 0) != t.child)
        outcome_die("fork");
    if (!WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, t.child, NULL,
               (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD |
                        PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE |
                        PTRACE_O_TRACEFORK)))
        outcome_die("ptrace");
    ptrace(PTRACE_SYSCALL, t.child, NULL, NULL);
    /* The process that makes the outputs ends after the command, perhaps. */
    while ((id = waitpid(-1, &status, __WALL)) > 0) {
        if (id == t.child && !WIFSTOPPED(status))
            ended = status;
        if (WIFSTOPPED(status))
            ptrace(PTRACE_SYSCALL, id, NULL,
                   (void *)(long)see_stop(&t, id, status));
    }
    *n = t.n;
    return ended;
}

#else

const struct fault *
trace_fault(const char *name)
{
    (void)name;
    return NULL;
}

int
trace_run(char **argv, const struct fault *fault, long first, bool all, long *n)
{
    (void)argv, (void)fault, (void)first, (void)all;
    *n = 0;
    return -1;
}

#endif
