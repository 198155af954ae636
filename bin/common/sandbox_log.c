/* sandbox_log.c - the handler of SIGSYS that tells which call was refused
 *
 * The handler calls only what every tool may call, and formats by itself: the
 * signal may come in the middle of anything. */
#include <config.h>

#ifdef GG_SECCOMP

#include "common/sandbox_log.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/sandbox_table.h"

/* Registers of a call's result and of its first three arguments. */
#if defined(__x86_64__)
#define RESULT(c) (c)->uc_mcontext.gregs[REG_RAX]
#define ARGUMENT(c, i)                                                         \
    (c)->uc_mcontext.gregs[(i) == 0 ? REG_RDI : (i) == 1 ? REG_RSI : REG_RDX]
#elif defined(__i386__)
#define RESULT(c) (c)->uc_mcontext.gregs[REG_EAX]
#define ARGUMENT(c, i)                                                         \
    (c)->uc_mcontext.gregs[(i) == 0 ? REG_EBX : (i) == 1 ? REG_ECX : REG_EDX]
#elif defined(__aarch64__)
#define RESULT(c)      (c)->uc_mcontext.regs[0]
#define ARGUMENT(c, i) (c)->uc_mcontext.regs[i]
#elif defined(__riscv) && __riscv_xlen == 64
#define RESULT(c)      (c)->uc_mcontext.__gregs[10]
#define ARGUMENT(c, i) (c)->uc_mcontext.__gregs[10 + (i)]
#elif defined(__s390x__)
#define RESULT(c)      (c)->uc_mcontext.gregs[2]
#define ARGUMENT(c, i) (c)->uc_mcontext.gregs[2 + (i)]
#endif

#ifdef RESULT

enum {
    MAX_LINE = 200,
};

struct line {
    char p[MAX_LINE];
    size_t n;
};

static void
line_text(struct line *l, const char *s)
{
    while (*s && l->n < MAX_LINE - 1)
        l->p[l->n++] = *s++;
}

static void
line_number(struct line *l, unsigned long long value, unsigned base)
{
    char digits[24], *at = &digits[sizeof(digits) - 1];

    *at = '\0';
    do
        *--at = "0123456789abcdef"[value % base];
    while (value /= base);
    line_text(l, base == 16 ? "0x" : "");
    line_text(l, at);
}

static const char *
call_name(unsigned number)
{
    for (size_t i = 0; i < sandbox_n_calls; i++)
        if (sandbox_table[i].number == number)
            return sandbox_table[i].name;
    return "an unknown call";
}

static void
on_refusal(int sig, siginfo_t *info, void *context)
{
    ucontext_t *c = context;
    struct line l = { .n = 0 };
    ssize_t n;

    (void)sig;
    line_text(&l, cli_name);
    line_text(&l, ": the sandbox refused ");
    line_text(&l, call_name((unsigned)info->si_syscall));
    line_text(&l, " (system call ");
    line_number(&l, (unsigned)info->si_syscall, 10);
    for (int i = 0; i < 3; i++) {
        line_text(&l, i ? ", " : "; arguments ");
        line_number(&l, (unsigned long)ARGUMENT(c, i), 16);
    }
    line_text(&l, ")\n");
    n = write(STDERR_FILENO, l.p, l.n);
    (void)n; /* there is nobody left to tell */
    RESULT(c) = -info->si_errno;
}

bool
sandbox_log(void)
{
    struct sigaction act = { .sa_sigaction = on_refusal,
                             .sa_flags = SA_SIGINFO | SA_RESTART };
    sigset_t set;

    sigemptyset(&act.sa_mask);
    sigemptyset(&set);
    sigaddset(&set, SIGSYS);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return sigaction(SIGSYS, &act, NULL) == 0;
}

#else

bool
sandbox_log(void)
{
    return false;
}

#endif

#endif
