/* signal.c - tools end by signals as any other; what they leave is tidied */
#include <config.h>

#include "common/cli.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum {
    MIN_STACK = 1 << 20, /* bytes, however small the limit of the main one's */
};

static volatile sig_atomic_t came, catching;
static volatile sig_atomic_t draining, drain; /* the first SIGTERM is one */
static void (*discard)(void);

void
cli_discard_by(void (*drop)(void))
{
    discard = drop;
}

void
cli_discard_output(void)
{
    if (discard)
        discard();
}

static void
write_text(const char *s)
{
    ssize_t n = write(STDERR_FILENO, s, strlen(s));

    (void)n; /* there is nobody left to tell */
}

/* A mapped file got shorter than the mapping: its pages are gone. Several
 * threads may see it; one says so. */
static void
on_bus_error(int sig)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    (void)sig;
    while (atomic_flag_test_and_set(&told))
        pause();
    cli_discard_output();
    write_text(cli_name);
    write_text(": a mapped file was cut while in use\n");
    _exit(1);
}

static void
on_signal(int sig)
{
    if (draining && sig == SIGTERM && !drain && !came) {
        drain = 1;
    } else if (catching && !came &&
               (sig == SIGHUP || sig == SIGINT || sig == SIGTERM)) {
        came = sig;
        alarm(1);
    } else if (sig != SIGPIPE || !came) {
        cli_raise(sig);
    }
}

/* Wakes a call that began to wait just before it could see the signal. */
static void
on_alarm(int sig)
{
    (void)sig;
    alarm(1);
}

void
cli_raise(int sig)
{
    sigset_t set;

    cli_discard_output();
    signal(sig, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, sig);
    raise(sig);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + sig); /* not reached: the default action ends the process */
}

void
cli_init_signals(void)
{
    static const int fatal[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,
                                 SIGTERM, SIGXCPU, SIGXFSZ };
    struct sigaction act = { .sa_handler = on_signal }, old;

    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        /* A signal that the caller ignores (nohup) stays ignored. */
        if (sigaction(fatal[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(fatal[i], &act, NULL);
    act.sa_handler = on_bus_error;
    sigaction(SIGBUS, &act, NULL);
}

void
cli_catch_signals(void)
{
    struct sigaction act = { .sa_handler = on_alarm };

    sigemptyset(&act.sa_mask);
    sigaction(SIGALRM, &act, NULL);
    catching = 1;
}

int
cli_signal(void)
{
    return came;
}

void
cli_drain_by_signal(void)
{
    draining = 1;
}

bool
cli_drains(void)
{
    return drain != 0;
}

void
cli_forget_signal(void)
{
    alarm(0);
    came = 0;
}

bool
cli_aborted(void *unused)
{
    (void)unused;
    return came != 0;
}

void
cli_hold_signals(sigset_t *before)
{
    static const int own_fault[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS };
    sigset_t set;

    sigfillset(&set);
    for (size_t i = 0; i < sizeof(own_fault) / sizeof(own_fault[0]); i++)
        sigdelset(&set, own_fault[i]);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

/* Without a size of its own a thread has what RLIMIT_STACK says. */
static void
raise_stack(pthread_attr_t *attr)
{
    size_t size;

    if (pthread_attr_getstacksize(attr, &size) == 0 && size < MIN_STACK)
        pthread_attr_setstacksize(attr, MIN_STACK);
}

int
cli_start_thread(pthread_t *thread, void *(*run)(void *), void *data)
{
    pthread_attr_t attr;
    sigset_t before;
    int failed = pthread_attr_init(&attr);

    if (failed)
        return failed;
    raise_stack(&attr);
    cli_hold_signals(&before);
    failed = pthread_create(thread, &attr, run, data);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}
