/* sandbox_calls.c - system calls that are refused: seccomp */
#include <config.h>

#include "common/sandbox_calls.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/sandbox.h"

#ifdef HAVE_LINUX_SECCOMP_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

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

#endif

#ifdef ARCH

enum {
    MAX_FILTER = 40,
    X32_BIT = 0x40000000, /* of calls of another way to call x86_64 */
};

static const uint32_t programs[] = { SYS_execve, SYS_execveat };

/* io_uring makes sockets, too. */
static const uint32_t sockets[] = {
    SYS_socket,     SYS_socketpair,           SYS_connect,
    SYS_bind,       425 /* io_uring_setup */,
#ifdef SYS_socketcall
    SYS_socketcall,
#endif
};

struct filter {
    struct sock_filter p[MAX_FILTER];
    unsigned short n;
};

static void
add_step(struct filter *f, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
    f->p[f->n++] = (struct sock_filter){ code, yes, no, k };
}

static void
add_refusal(struct filter *f)
{
    add_step(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM);
}

static void
refuse_all(struct filter *f, const uint32_t *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add_step(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, calls[i]);
        add_refusal(f);
    }
}

static void
make_filter(struct filter *f, unsigned kept)
{
    f->n = 0;
    add_step(f, BPF_LD | BPF_W | BPF_ABS, 0, 0,
             offsetof(struct seccomp_data, arch));
    add_step(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
    add_refusal(f);
    add_step(f, BPF_LD | BPF_W | BPF_ABS, 0, 0,
             offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    add_step(f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
    add_refusal(f);
#endif
    refuse_all(f, programs, sizeof(programs) / sizeof(programs[0]));
    if (!(kept & SANDBOX_SOCKETS))
        refuse_all(f, sockets, sizeof(sockets) / sizeof(sockets[0]));
    add_step(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

bool
sandbox_refuse_calls(unsigned kept)
{
    struct filter f;
    struct sock_fprog program = { 0, f.p };

    make_filter(&f, kept);
    program.len = f.n;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

#else

bool
sandbox_refuse_calls(unsigned kept)
{
    (void)kept;
    return false;
}

#endif
