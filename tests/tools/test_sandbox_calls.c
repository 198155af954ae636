/* test_sandbox_calls.c - which system calls each role keeps
 *
 * Calls get arguments with which they do nothing: without the sandbox each
 * fails with another error than EPERM, or does what hurts nobody. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/sandbox.h"
#include "common/sandbox_table.h"
#include "harness/scratch.h"
#include "harness/tap.h"

const char cli_name[] = "test_sandbox_calls";

#ifdef GG_SECCOMP

/* Profiles: a bit each. */
enum {
    FILTER = 1,
    READER = 2,
    WRITER = 4,
    FETCH = 8,   /* a writer with sockets */
    EDITOR = 16, /* a writer with a terminal */
    GPU = 32,
    MPI = 64,
    FRONT = 128,
    TOOLS = FILTER | READER | WRITER | FETCH | EDITOR | FRONT,
    DRIVERS = GPU | MPI,
    ALL = TOOLS | DRIVERS,
    N_PROFILES = 8,
};

static const struct {
    const char *name;
    enum sandbox_role role;
    unsigned kept;
} profiles[N_PROFILES] = {
    { "filter", SANDBOX_FILTER, 0 },
    { "reader", SANDBOX_READER, 0 },
    { "writer", SANDBOX_WRITER, 0 },
    { "fetch", SANDBOX_WRITER, SANDBOX_SOCKETS },
    { "editor", SANDBOX_WRITER, SANDBOX_TERMINAL },
    { "GPU", SANDBOX_WRITER, SANDBOX_GPU },
    { "MPI", SANDBOX_READER, SANDBOX_MPI },
    { "front", SANDBOX_FRONT, 0 },
};

#ifdef __NR_newfstatat
#define FSTATAT __NR_newfstatat
#else
#define FSTATAT __NR_fstatat64
#endif

enum { /* in place of an argument: this process, its parent */
    SELF = -1000,
    PARENT = -1001,
};

#ifdef __s390x__
#define CLONE(flags)                                                           \
    __NR_clone,                                                                \
    {                                                                          \
        0, flags                                                               \
    }
#else
#define CLONE(flags)                                                           \
    __NR_clone,                                                                \
    {                                                                          \
        flags                                                                  \
    }
#endif

static const struct deed {
    const char *what;
    unsigned refused; /* in these profiles: EPERM; elsewhere anything else */
    long number, args[6];
} deeds[] = {
    { "TIOCSTI types into a terminal", ALL, __NR_ioctl, { -1, TIOCSTI } },
    { "TIOCLINUX does", ALL, __NR_ioctl, { -1, TIOCLINUX } },
#ifdef __LP64__
    { "with bits above", ALL, __NR_ioctl, { -1, TIOCSTI | 1l << 40 } },
    { "both", ALL, __NR_ioctl, { -1, TIOCLINUX | 1l << 32 } },
#endif
    { "FIOASYNC sends signals", TOOLS, __NR_ioctl, { -1, FIOASYNC } },
    { "TCSETS", TOOLS & ~EDITOR, __NR_ioctl, { -1, TCSETS } },
    { "TIOCSWINSZ", TOOLS & ~EDITOR, __NR_ioctl, { -1, TIOCSWINSZ } },
    { "TCGETS", 0, __NR_ioctl, { -1, TCGETS } },
    { "TIOCGWINSZ", 0, __NR_ioctl, { -1, TIOCGWINSZ } },
    { "FIONREAD", 0, __NR_ioctl, { -1, FIONREAD } },
    { "F_SETOWN has signals sent", TOOLS, __NR_fcntl, { -1, F_SETOWN, 1 } },
    { "F_GETFL", 0, __NR_fcntl, { -1, F_GETFL } },
#ifdef __NR_chmod
    { "chmod", ALL, __NR_chmod, { 0 } },
    { "chown", ALL, __NR_chown, { 0 } },
    { "lchown", ALL, __NR_lchown, { 0 } },
#endif
    { "fchmodat", ALL, __NR_fchmodat, { -1, 0 } },
    { "fchownat", ALL, __NR_fchownat, { -1, 0 } },
    { "setxattr", ALL, __NR_setxattr, { 0 } },
    { "lsetxattr", ALL, __NR_lsetxattr, { 0 } },
    { "fsetxattr", ALL, __NR_fsetxattr, { -1 } },
    { "removexattr", ALL, __NR_removexattr, { 0 } },
    { "utimensat", ALL, __NR_utimensat, { -1, 0, -1 } },
    { "fchmod", FILTER | READER | FRONT, __NR_fchmod, { -1, 0 } },
    { "fchown", FILTER | READER | FRONT, __NR_fchown, { -1, 0, 0 } },
    { "unlinkat", FILTER | READER | FRONT, __NR_unlinkat, { -1, 0 } },
    { "mkdirat", FILTER | READER | FRONT, __NR_mkdirat, { -1, 0 } },
    { "renameat2", FILTER | READER | FRONT, __NR_renameat2, { -1, 0, -1, 0 } },
    { "truncate", TOOLS, __NR_truncate, { 0 } },
    { "symlinkat", TOOLS, __NR_symlinkat, { 0, -1, 0 } },
    { "ftruncate", 0, __NR_ftruncate, { -1 } },
    { "fsync", 0, __NR_fsync, { -1 } },
    { "kill of another", TOOLS, __NR_kill, { PARENT, 0 } },
    { "of a group", TOOLS, __NR_kill, { 0, 0 } },
    { "of itself", 0, __NR_kill, { SELF, 0 } },
    { "tgkill of another", TOOLS, __NR_tgkill, { PARENT, PARENT, 0 } },
    { "of itself by tgkill", 0, __NR_tgkill, { SELF, SELF, 0 } },
    { "tkill of another", TOOLS, __NR_tkill, { PARENT, 0 } },
    { "rt_sigqueueinfo", ALL, __NR_rt_sigqueueinfo, { PARENT, 0, 0 } },
    { "pidfd_send_signal", ALL, 424, { -1, 0, 0, 0 } },
    { "fork", TOOLS, CLONE(SIGCHLD) },
    { "a thread with a namespace", TOOLS, CLONE(CLONE_NEWUSER | CLONE_THREAD) },
    { "vfork", TOOLS, CLONE(CLONE_VM | SIGCHLD | CLONE_SIGHAND << 1) },
    { "execve", TOOLS, __NR_execve, { 0 } },
    { "execveat", TOOLS, __NR_execveat, { -1, 0 } },
    { "pidfd_getfd", ALL & ~MPI, 438, { -1, -1, 0 } },
    { "ptrace", ALL, __NR_ptrace, { -1, 0 } },
    { "process_vm_readv",
      ALL & ~MPI,
      __NR_process_vm_readv,
      { SELF, 0, 0, 0, 0, 1 } },
    { "process_vm_writev",
      ALL & ~MPI,
      __NR_process_vm_writev,
      { SELF, 0, 0, 0, 0, 1 } },
    { "limits of another", TOOLS, __NR_prlimit64, { PARENT, 0, 0, 0 } },
    { "limits are set", TOOLS, __NR_prlimit64, { 0, 0, 1, 0 } },
#ifdef __LP64__
    { "from high memory", TOOLS, __NR_prlimit64, { 0, 0, 1l << 32, 0 } },
#endif
    { "own limits", 0, __NR_prlimit64, { 0, 0, 0, 0 } },
    { "affinity of another", TOOLS, __NR_sched_setaffinity, { PARENT, 0, 0 } },
    { "its own", FILTER | FRONT, __NR_sched_setaffinity, { 0, 0, 0 } },
    { "setpriority", TOOLS, __NR_setpriority, { -1, 0, 0 } },
    { "sched_setscheduler", TOOLS, __NR_sched_setscheduler, { -1 } },
    { "prctl of another kind", TOOLS, __NR_prctl, { PR_SET_PDEATHSIG, -1 } },
    { "PR_SET_NAME", 0, __NR_prctl, { PR_SET_NAME, (long)"name" } },
    { "another user", TOOLS, __NR_setfsuid, { 12345 } },
    { "no user", TOOLS, __NR_setfsgid, { -1 } },
    { "keyctl", ALL, __NR_keyctl, { -1 } },
    { "add_key", ALL, __NR_add_key, { 0 } },
    { "request_key", ALL, __NR_request_key, { 0 } },
    { "bpf", ALL, __NR_bpf, { -1 } },
    { "userfaultfd", ALL, __NR_userfaultfd, { -1 } },
    { "perf_event_open", ALL, __NR_perf_event_open, { 0, -1, -1, -1, -1 } },
    { "unshare", ALL, __NR_unshare, { 1 } },
    { "setns", ALL, __NR_setns, { -1 } },
    { "mount", ALL, __NR_mount, { 0, 0, 0, 0 } },
    { "fsopen", ALL, 430, { 0, -1 } },
    { "chroot", ALL, __NR_chroot, { 0 } },
    { "personality", ALL, __NR_personality, { -1 } },
    { "memfd_create", TOOLS, __NR_memfd_create, { 0, -1 } },
#ifdef __NR_shmget
    { "shmget", TOOLS, __NR_shmget, { 0, 0, -1 } },
    { "msgget", TOOLS, __NR_msgget, { 1, 0 } },
#endif
    { "openat", FRONT, __NR_openat, { -1, 0, 0, 0 } },
    { "fstatat", FRONT, FSTATAT, { -1, 0, 0, 0 } },
    { "epoll_create1", TOOLS & ~FETCH & ~FRONT, __NR_epoll_create1, { -1 } },
    { "mq_open", TOOLS, __NR_mq_open, { 0 } },
    { "io_uring_setup", ALL, 425, { 0, 0 } },
    { "open_by_handle_at", ALL, __NR_open_by_handle_at, { -1 } },
    { "a page of programs",
      TOOLS & ~FETCH,
      __NR_mprotect,
      { 1, 1, PROT_EXEC } },
    { "mlock", FILTER | FRONT, __NR_mlock, { 0, 0 } },
#ifdef __NR_socket
    { "a socket", TOOLS & ~FETCH, __NR_socket, { AF_INET, -1, 0 } },
    { "one to a daemon", TOOLS, __NR_socket, { AF_UNIX, -1, 0 } },
    { "a pair of datagrams",
      TOOLS,
      __NR_socketpair,
      { AF_UNIX, SOCK_DGRAM, 0, 0 } },
    { "a pair of streams",
      TOOLS & ~FETCH,
      __NR_socketpair,
      { AF_UNIX, SOCK_STREAM, 0, 0 } },
    { "listen", TOOLS, __NR_listen, { -1 } },
    { "accept4", TOOLS & ~FRONT, __NR_accept4, { -1, 0, 0, 0 } },
#endif
    { "sendmsg, to what makes outputs", 0, __NR_sendmsg, { -1, 0, 0 } },
    { "recvmsg", 0, __NR_recvmsg, { -1, 0, 0 } },
    { "shutdown", 0, __NR_shutdown, { -1, 0 } },
#ifdef __x86_64__
    { "a call of x32", ALL, __NR_getpid | 0x40000000, { 0 } },
#endif
};

enum {
    N_DEEDS = sizeof(deeds) / sizeof(deeds[0]),
};

static long
meant(long arg)
{
    return arg == SELF ? (long)getpid() : arg == PARENT ? (long)getppid() : arg;
}

/* errno, or 0 */
static int
try_call(long number, const long a[6])
{
    pid_t self = getpid();
    long r = syscall(number, meant(a[0]), meant(a[1]), meant(a[2]), meant(a[3]),
                     meant(a[4]), meant(a[5]));

    if (getpid() != self)
        _exit(0); /* a process that could be made */
    return r < 0 ? errno : 0;
}

static void
enter(int profile)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (profile >= 0 &&
        !sandbox_refuse_calls(profiles[profile].role, profiles[profile].kept))
        _exit(1);
}

/* All deeds in a process of its own: errno of each; -1: it was not reached. */
static void
try_all(int profile, int why[N_DEEDS])
{
    int fd[2];
    pid_t child;

    if (pipe(fd) || fflush(stdout) || (child = fork()) < 0)
        abort();
    if (child == 0) {
        signal(SIGCHLD, SIG_IGN);
        enter(profile);
        for (int i = 0; i < N_DEEDS; i++) {
            int e = try_call(deeds[i].number, deeds[i].args);

            if (write(fd[1], &e, sizeof(e)) != sizeof(e))
                _exit(1);
        }
        _exit(0);
    }
    close(fd[1]);
    for (int i = 0; i < N_DEEDS; i++)
        if (read(fd[0], &why[i], sizeof(why[i])) != sizeof(why[i]))
            why[i] = -1;
    close(fd[0]);
    waitpid(child, NULL, 0);
}

/* A deed that gives EPERM anyway says nothing. */
static void
check_deeds(int profile, const int without[N_DEEDS])
{
    int why[N_DEEDS];

    try_all(profile, why);
    for (int i = 0; i < N_DEEDS; i++) {
        bool refused = deeds[i].refused & 1u << profile;
        char what[200];

        snprintf(what, sizeof(what), "%s: %s: %d, without %d",
                 profiles[profile].name, deeds[i].what, why[i], without[i]);
        ok(refused ? why[i] == EPERM && without[i] != EPERM
                   : why[i] >= 0 && (why[i] != EPERM || without[i] == EPERM),
           what);
    }
}

/* ---- all calls ----------------------------------------------------------- */

static const struct sandbox_call *
call_of(long number)
{
    for (size_t i = 0; i < sandbox_n_calls; i++)
        if ((long)sandbox_table[i].number == number)
            return &sandbox_table[i];
    return NULL;
}

/* Two of x86 are for code that the kernel writes; it ends who calls them. */
static bool
is_own(long number)
{
#ifdef __x86_64__
    return number == 335 || number == 336;
#else
    (void)number;
    return false;
#endif
}

/* The first number, or -1, of a call that a reader should not have and that is
 * not answered by the error that is wanted. Whatever is refused does nothing.
 */
static int
first_wrong(void)
{
    static const long none[6] = { -1, -1, -1, -1, -1, -1 };

    for (long i = 0; i < 1000; i++) {
        const struct sandbox_call *call = call_of(i);
        int want = !call || call->kept == CALL_ABSENT ? ENOSYS : EPERM;

        if (is_own(i) ||
            (call && (call->kept == CALL_ANY || call->kept == CALL_FILES ||
                      call->kept == CALL_READER)))
            continue;
        if (try_call(i, none) != want)
            return (int)i;
    }
    return -1;
}

static void
check_numbers(void)
{
    int fd[2], wrong = -2;
    pid_t child;

    if (pipe(fd) || fflush(stdout) || (child = fork()) < 0)
        abort();
    if (child == 0) {
        enter(1);
        wrong = first_wrong();
        _exit(write(fd[1], &wrong, sizeof(wrong)) != sizeof(wrong));
    }
    close(fd[1]);
    ok(read(fd[0], &wrong, sizeof(wrong)) == sizeof(wrong), "all numbers");
    close(fd[0]);
    waitpid(child, NULL, 0);
    is(wrong, -1, "what is not kept is refused, the rest is unknown");
}

/* ---- threads, signals, the log ------------------------------------------- */

static void *
work(void *path)
{
    return (void *)(intptr_t)(syscall(__NR_fchmodat, AT_FDCWD, path, 0, 0) < 0
                                  ? errno
                                  : 0);
}

/* A thread with its signals held, as those of the pool are. */
static int
by_thread(void)
{
    pthread_t thread;
    void *why = NULL;

    if (cli_start_thread(&thread, work, (void *)"/nowhere"))
        return -1;
    pthread_join(thread, &why);
    return (int)(intptr_t)why;
}

static int
ended_by(void (*run)(void))
{
    pid_t child = fflush(stdout) ? -1 : fork();
    int how = -1;

    if (child == 0) {
        run();
        _exit(77);
    }
    waitpid(child, &how, 0);
    return how;
}

static void
run_logged(void)
{
    char path[SCRATCH_PATH];

    setenv("GG_SANDBOX", "log", 1);
    snprintf(path, sizeof(path), "%s/said", scratch_folder);
    if (!freopen(path, "w", stderr))
        _exit(1);
    enter(1);
    errno = 0;
    (void)kill(getppid(), 0);
    _exit(errno == EPERM && by_thread() == EPERM ? 0 : 1);
}

static void
check_log(void)
{
    char path[SCRATCH_PATH], first[200] = "", second[200] = "";
    FILE *f;

    is(ended_by(run_logged), 0, "with the log calls are refused as well");
    snprintf(path, sizeof(path), "%s/said", scratch_folder);
    f = fopen(path, "r");
    ok(f && fgets(first, sizeof(first), f) && fgets(second, sizeof(second), f),
       "and told");
    if (f)
        fclose(f);
    first[strcspn(first, "(")] = '\0';
    second[strcspn(second, "(")] = '\0';
    is((const char *)first,
       (const char *)"test_sandbox_calls: the sandbox refused kill ", "kill");
    is((const char *)second,
       (const char *)"test_sandbox_calls: the sandbox refused fchmodat ",
       "in a thread");
}

static void
run_thread(void)
{
    enter(1);
    _exit(by_thread() == EPERM ? 0 : 1);
}

static void
run_raise(void)
{
    enter(0);
    cli_raise(SIGTERM);
}

static void
run_abort(void)
{
    enter(0);
    abort();
}

static void
run_exec(void)
{
    enter(3);
    _exit(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
               -1, 0) == MAP_FAILED);
}

/* A group that is to be signalled, and another. */
static void
run_job(void)
{
    pid_t job = fork();

    if (job == 0) {
        setpgid(0, 0);
        pause();
        _exit(1);
    }
    setpgid(job, job);
    sandbox_keep_job(job);
    enter(0);
    if (kill(-getppid(), 0) == 0 || errno != EPERM || kill(job, 0) == 0)
        _exit(2);
    _exit(kill(-job, SIGKILL) == 0 && waitpid(job, NULL, 0) == job ? 0 : 1);
}

#if defined(__x86_64__)

/* Calls of 32 bits have other numbers: 20 is getpid. A kernel that has none of
 * them ends the process. */
static void
run_other_way(void)
{
    long r = 20;

    enter(1);
    __asm__ volatile("int $0x80"
                     : "+a"(r)
                     :
                     : "memory", "r8", "r9", "r10", "r11");
    _exit(r == -EPERM ? 0 : 1);
}

static void
check_other_way(void)
{
    int how = ended_by(run_other_way);

    ok(how == 0 || WIFSIGNALED(how), "a call of 32 bits");
}

#else

static void
check_other_way(void)
{
}

#endif

static bool
kernel_has_it(void)
{
    return prctl(PR_GET_SECCOMP) == 0;
}

int
main(void)
{
    int without[N_DEEDS];

    if (!kernel_has_it()) {
        ok(true, "system calls # SKIP this kernel has no seccomp");
        return tap_done();
    }
    scratch_begin();
    try_all(-1, without);
    for (int i = 0; i < N_PROFILES; i++)
        check_deeds(i, without);
    check_numbers();
    check_log();
    check_other_way();
    is(ended_by(run_thread), 0, "threads are started");
    is(ended_by(run_job), 0, "a job is signalled");
    is(ended_by(run_exec), 0, "with sockets modules are loaded");
    is(WTERMSIG(ended_by(run_raise)), SIGTERM, "a signal ends the tool");
    is(WTERMSIG(ended_by(run_abort)), SIGABRT, "so does abort()");
    return tap_done();
}

#else

int
main(void)
{
    ok(true, "system calls # SKIP this build refuses none");
    return tap_done();
}

#endif
