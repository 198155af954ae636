/* allocations.c - allocations POINTS CMD...: lets a tool's allocations fail
 *
 * Runs a command in the current folder, counts its allocations, and runs it
 * again for each of POINTS of them (spread evenly; 0: for all), once with that
 * one failing and once with all from there on. Each run must end with status 1,
 * one line that speaks of memory (or of a thread), and all files as they were;
 * or, where the tool could do without, with what it does otherwise. A line is
 * printed for each run that does not. The folder is as before at the end. Needs
 * $GG_FAILING_ALLOC, the library to preload. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/outcome.h"

enum {
    STUCK = 120, /* seconds */
};

/* ---- running ------------------------------------------------------------- */

static const char count_name[] = "../allocations.count";

static void
run_child(char **argv, const char *fail)
{
    const char *name = strrchr(argv[0], '/');
    char what[256];

    snprintf(what, sizeof(what), "%s %s", name ? name + 1 : argv[0], fail);
    outcome_redirect();
    setenv("GG_FAIL_ALLOC", what, 1);
    setenv("GG_COUNT_ALLOC", count_name, 1);
    setenv("LD_PRELOAD", getenv("GG_FAILING_ALLOC"), 1);
    alarm(STUCK);
    execvp(argv[0], argv);
    _exit(127);
}

static struct outcome
run(char **argv, const char *fail)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        run_child(argv, fail);
    if (child < 0 || waitpid(child, &status, 0) != child)
        outcome_die("fork");
    return outcome_of(status);
}

static int
try(char **argv, const char *fail, const struct folder *before,
    const struct outcome *good)
{
    struct outcome r = run(argv, fail);
    const char *what = outcome_judge(&r, before, good, "memory|thread");

    if (what)
        printf("%s at %s: %s\n%s", argv[0], fail, what, r.err.data);
    if (!outcome_same_folder(&r.folder, before))
        outcome_restore(before);
    outcome_clear(&r);
    return what != NULL;
}

static int
sweep(char **argv, long points, long n, const struct folder *before,
      const struct outcome *good)
{
    long steps = points && points < n ? points : n;
    int bad = 0;

    for (long i = 0; i < steps; i++) {
        long at =
            steps > 1
                ? (long)((double)i * (double)(n - 1) / (double)(steps - 1))
                : 0;
        char fail[32];

        for (int all = 0; all < 2; all++) {
            snprintf(fail, sizeof(fail), "%ld%s", at, all ? "+" : "");
            bad += try(argv, fail, before, good);
        }
    }
    return bad;
}

int
main(int argc, char **argv)
{
    struct folder before;
    struct outcome good;
    struct contents count;
    long n;
    int bad;

    if (argc < 3 || !getenv("GG_FAILING_ALLOC"))
        return 2;
    before = outcome_look();
    unlink(count_name);
    good = run(argv + 2, "-1");
    if (!WIFEXITED(good.status) || WEXITSTATUS(good.status) != 0) {
        printf("%s fails without that\n%s", argv[2], good.err.data);
        return 1;
    }
    count = outcome_read_file(count_name);
    n = atol(count.data);
    if (n < 1)
        printf("%s allocates nothing\n", argv[2]);
    outcome_restore(&before);
    bad = sweep(argv + 2, atol(argv[1]), n, &before, &good);
    if (getenv("GG_VERBOSE"))
        printf("%ld allocations, %d bad\n", n, bad);
    free(count.data);
    outcome_clear(&good);
    outcome_forget(&before);
    return bad || n < 1;
}
