/* sandbox_filter.c - from the table of calls to a program for the kernel
 *
 * A call is looked for from the first row on: one comparison a row, and after
 * it the row's answer. Arguments have 64 bits, of which the kernel reads the
 * low half only where it takes an int: so does this. */
#include <config.h>

#ifdef GG_SECCOMP

#include "common/sandbox.h"
#include "common/sandbox_filter.h"
#include "common/sandbox_table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Numbers of calls are a processor's own. */
#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#elif defined(__s390x__)
#define ARCH AUDIT_ARCH_S390X
#endif

#ifdef ARCH

/* Constants that older headers lack. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
/* Requests with a struct termios2, which only <asm/termbits.h> has. */
#define GET_TERMIOS2  0x802c542a
#define SET_TERMIOS2  0x402c542b
#define SET_TERMIOS2W 0x402c542c
#define SET_TERMIOS2F 0x402c542d

enum {
    X32_BIT = 0x40000000, /* of calls of another way to call x86_64 */
    MAX_VALUES = 12,
    MAX_CONDITIONS = 3,
#ifdef __s390x__
    FLAGS_OF_CLONE = 1,
#else
    FLAGS_OF_CLONE = 0,
#endif
#ifdef __BYTE_ORDER__
    LOW = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0,
#endif
    /* A thread shares all that there is to share. */
    OF_THREADS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                 CLONE_THREAD | CLONE_SYSVSEM,
    FREE_FOR_THREADS = CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID |
                       CLONE_CHILD_CLEARTID | CLONE_DETACHED,
};

/* ---- which arguments ----------------------------------------------------- */

/* The low half of argument `arg`, or the high one, is one of the first n
 * `values` where `mask` has bits. n is 0: no condition. */
struct condition {
    unsigned char arg, high, n;
    uint32_t mask;
    uint32_t values[MAX_VALUES];
};

/* All must hold; the first without values ends them. */
struct conditions {
    struct condition of[MAX_CONDITIONS + 1];
};

/* clang-format off */
#define COUNT(...) (sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))
#define MASKED(arg, mask, ...) \
    { arg, 0, COUNT(__VA_ARGS__), mask, { __VA_ARGS__ } }
#define IS(arg, ...) MASKED(arg, ALL, __VA_ARGS__)
#define HIGH_IS(arg, value) { arg, 1, 1, ALL, { value } }
#define ALL     0xffffffffu
#define NO_CALL 0xffffffffu /* a tracer's, who has answered by itself */

static const struct conditions checks[N_CHECKS] = {
    /* No TIOCSTI, TIOCLINUX: they type into a terminal. */
    [CHECK_IOCTL] = { { IS(1, TCGETS, GET_TERMIOS2, TIOCGWINSZ, FIONREAD) } },
    /* No F_SETOWN, F_SETSIG: they send signals to others. */
    [CHECK_FCNTL] = { { IS(1, F_GETFL, F_SETFL, F_GETFD, F_SETFD, F_DUPFD,
                           F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ) } },
    [CHECK_SOCKETCALL] = { { IS(0, SYS_SENDMSG, SYS_RECVMSG, SYS_SHUTDOWN) } },
#ifdef __i386__ /* arguments are in memory: never; libraries take mmap2 */
    [CHECK_MMAP] = { { IS(0, 1) } },
#elif !defined(__s390x__) /* there they are in memory as well */
    [CHECK_MMAP] = { { MASKED(2, PROT_EXEC, 0) } },
#endif
    [CHECK_NOEXEC] = { { MASKED(2, PROT_EXEC, 0) } },
    [CHECK_THREADS] = { { MASKED(FLAGS_OF_CLONE, ~(uint32_t)FREE_FOR_THREADS,
                                 OF_THREADS) } },
    [CHECK_ITSELF] = { { IS(0, 0) } },
    /* Limits of its own are read, none is set. */
    [CHECK_LIMITS] = { { IS(0, 0), IS(2, 0), HIGH_IS(2, 0) } },
    [CHECK_PRCTL] = { { IS(0, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA,
                           PR_GET_DUMPABLE, 51 /* PR_SVE_GET_VL */) } },
    /* Asked on x86: more registers, and whether there is a shadow stack. */
    [CHECK_ARCH] = { { IS(0, 0x1021, 0x1022, 0x1023, 0x3001) } },
    [CHECK_FAMILY] = { { IS(0, AF_INET, AF_INET6, AF_NETLINK),
                         IS(2, 0, IPPROTO_TCP, IPPROTO_UDP) } },
    /* A stream goes nowhere else: to no daemon of this machine. */
    [CHECK_PAIR] = { { IS(0, AF_UNIX), MASKED(1, 0xf, SOCK_STREAM) } },
};
/* clang-format on */

/* Conditions that depend on the process and on what it keeps are added. */
static struct conditions
conditions_of(enum call_check check, const struct sandbox_profile *p)
{
    struct conditions all = checks[check];
    struct condition *c = &all.of[0];
    bool mapped = check == CHECK_MMAP || check == CHECK_NOEXEC;

    if (check == CHECK_KILL || check == CHECK_OWN) {
        *c = (struct condition)IS(0, (uint32_t)getpid());
        if (check == CHECK_KILL && p->job > 1)
            c->values[c->n++] = -(uint32_t)p->job;
    } else if (check == CHECK_USER) {
        *c = (struct condition)IS(0, getuid());
    } else if (check == CHECK_USER_GROUP) {
        *c = (struct condition)IS(0, getgid());
    } else if (check == CHECK_IOCTL && (p->kept & SANDBOX_TERMINAL)) {
        c->values[c->n++] = TIOCSWINSZ; /* readline says what it read */
        c->values[c->n++] = TCSETS;
        c->values[c->n++] = TCSETSW;
        c->values[c->n++] = TCSETSF;
        c->values[c->n++] = SET_TERMIOS2;
        c->values[c->n++] = SET_TERMIOS2W;
        c->values[c->n++] = SET_TERMIOS2F;
    } else if ((p->kept & SANDBOX_SOCKETS) &&
               (mapped || check == CHECK_SOCKETCALL)) {
        c->n = 0; /* modules that look up names are loaded late */
    }
    return all;
}

/* ---- steps --------------------------------------------------------------- */

static void
add_step(struct sandbox_filter *f, uint16_t code, uint8_t yes, uint8_t no,
         uint32_t k)
{
    if (f->n < SANDBOX_MAX_STEPS)
        f->p[f->n++] = (struct sock_filter){ code, yes, no, k };
}

static void
add_load(struct sandbox_filter *f, size_t at)
{
    add_step(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)at);
}

static void
add_return(struct sandbox_filter *f, uint32_t answer)
{
    add_step(f, BPF_RET | BPF_K, 0, 0, answer);
}

/* Goes on if the word that was loaded is the value, else skips `no` steps. */
static void
add_match(struct sandbox_filter *f, uint32_t value, unsigned no)
{
    add_step(f, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)no, value);
}

static uint32_t
refusal(const struct sandbox_profile *p, uint32_t error)
{
    return (p->log ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO) | error;
}

/* Answers unless the condition holds. */
static void
add_condition(struct sandbox_filter *f, const struct condition *c,
              uint32_t answer)
{
    add_load(f, offsetof(struct seccomp_data, args) + c->arg * 8u +
                    (c->high ? 4 - LOW : LOW));
    if (c->mask != ALL)
        add_step(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, c->mask);
    for (unsigned i = 0; i < c->n; i++)
        add_step(f, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(c->n - i), 0,
                 c->values[i]);
    add_return(f, answer);
}

/* ---- calls --------------------------------------------------------------- */

static bool
is_kept(const struct sandbox_call *call, const struct sandbox_profile *p)
{
    switch (call->kept) {
    case CALL_ANY:
        return true;
    case CALL_FILES:
        return p->role != SANDBOX_FRONT;
    case CALL_READER:
        return p->role == SANDBOX_READER || p->role == SANDBOX_WRITER;
    case CALL_WRITER:
        return p->role == SANDBOX_WRITER;
    case CALL_SOCKETS:
        return p->kept & SANDBOX_SOCKETS;
    case CALL_SERVED:
        return (p->kept & SANDBOX_SOCKETS) || p->role == SANDBOX_FRONT;
    case CALL_FRONT:
        return p->role == SANDBOX_FRONT;
    default:
        return false;
    }
}

/* Steps of a call that end with an answer; the step in front skips them for
 * any other call. */
static void
add_call(struct sandbox_filter *f, const struct sandbox_call *call,
         const struct sandbox_profile *p)
{
    unsigned short at = f->n;
    struct conditions all = conditions_of(call->check, p);

    add_match(f, call->number, 0);
    if (call->kept == CALL_ABSENT) {
        add_return(f, SECCOMP_RET_ERRNO | ENOSYS);
    } else if (!is_kept(call, p)) {
        add_return(f, refusal(p, EPERM));
    } else {
        for (unsigned i = 0; all.of[i].n; i++)
            add_condition(f, &all.of[i], refusal(p, EPERM));
        add_return(f, SECCOMP_RET_ALLOW);
    }
    if (f->n < SANDBOX_MAX_STEPS)
        f->p[at].jf = (uint8_t)(f->n - at - 1);
}

/* A driver does what it wants, but for what none has a use for. */
static void
add_call_of_driver(struct sandbox_filter *f, const struct sandbox_call *call,
                   const struct sandbox_profile *p)
{
    if (call->kept == CALL_NEVER ||
        (call->kept == CALL_MPI && !(p->kept & SANDBOX_MPI))) {
        add_match(f, call->number, 1);
        add_return(f, refusal(p, EPERM));
    } else if (call->check == CHECK_IOCTL) {
        add_match(f, call->number, 5);
        add_load(f, offsetof(struct seccomp_data, args) + 8 + LOW);
        add_step(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, TIOCSTI);
        add_match(f, TIOCLINUX, 1);
        add_return(f, refusal(p, EPERM));
        add_return(f, SECCOMP_RET_ALLOW);
    }
}

/* Calls of another architecture would have other numbers. */
static void
add_architecture(struct sandbox_filter *f)
{
    add_load(f, offsetof(struct seccomp_data, arch));
    add_step(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
    add_return(f, SECCOMP_RET_ERRNO | EPERM);
    add_load(f, offsetof(struct seccomp_data, nr));
    add_match(f, NO_CALL, 1);
    add_return(f, SECCOMP_RET_ALLOW);
#ifdef __x86_64__
    add_step(f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
    add_return(f, SECCOMP_RET_ERRNO | EPERM);
#endif
}

bool
sandbox_make_filter(struct sandbox_filter *f, const struct sandbox_profile *p)
{
    bool driver = p->kept & (SANDBOX_GPU | SANDBOX_MPI);

    f->n = 0;
    add_architecture(f);
    for (size_t i = 0; i < sandbox_n_calls; i++)
        if (driver)
            add_call_of_driver(f, &sandbox_table[i], p);
        else
            add_call(f, &sandbox_table[i], p);
    add_return(f, driver ? SECCOMP_RET_ALLOW : refusal(p, ENOSYS));
    return f->n < SANDBOX_MAX_STEPS;
}

#else

bool
sandbox_make_filter(struct sandbox_filter *f, const struct sandbox_profile *p)
{
    (void)f;
    (void)p;
    return false;
}

#endif

#endif
