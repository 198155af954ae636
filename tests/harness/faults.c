/* faults.c - faults KIND POINTS CMD...: lets a tool's system calls fail
 *
 * Runs a command in the current folder, counts its calls of that kind (write,
 * short, read, sync, rename, close, cut, open, map, thread), and runs it again
 * for each of POINTS of them (spread evenly; 0: for all), once with that one
 * failing and once with all from there on. Each run must end with status 1, one
 * line that says why, and all files as they were; or, where the tool could do
 * without, as it does otherwise.
 *
 * KIND kill: POINTS times SIGKILL at a random time. Each file is what it was,
 * or what it is to be, or not there if it was not; and the next run makes all
 * of them. Temporary files may be left, and are removed.
 *
 * A line is printed for each run that does not, and at the end, with
 * $GG_VERBOSE, how many there were. The folder is as before then. Ends with 77
 * where calls cannot be traced. */
#define _GNU_SOURCE
#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/outcome.h"
#include "harness/trace.h"

struct faults {
    char **argv;
    const struct fault *fault; /* NULL: it is killed */
    struct folder before;
    struct outcome good;
    long n, runs, bad; /* calls of a good run */
};

static void
report(struct faults *f, long at, const char *all, const char *what,
       const char *messages)
{
    f->runs++;
    if (!what)
        return;
    f->bad++;
    printf("%s, %s %ld%s: %s\n%s", f->argv[0],
           f->fault ? f->fault->name : "kill", at, all, what, messages);
}

static void
leave(struct faults *f, struct outcome *o)
{
    if (!outcome_same_folder(&o->folder, &f->before))
        outcome_restore(&f->before);
    outcome_clear(o);
}

/* ---- calls that fail ----------------------------------------------------- */

static void
try_fault(struct faults *f, long at, bool all)
{
    long n;
    struct outcome o = outcome_of(trace_run(f->argv, f->fault, at, all, &n));

    report(f, at, all ? "+" : "",
           outcome_judge(&o, &f->before, &f->good, f->fault->words),
           o.err.data);
    leave(f, &o);
}

/* Where no file gets its name back, nothing can be as it was: of renames all
 * fail, or one. */
static void
sweep(struct faults *f, long points)
{
    long steps = points && points < f->n ? points : f->n;
    bool renames = strcmp(f->fault->name, "rename") == 0;

    for (long i = 0; i < steps; i++) {
        long at = steps > 1 ? i * (f->n - 1) / (steps - 1) : 0;

        try_fault(f, at, false);
        if (at == 0 || !renames)
            try_fault(f, at, true);
    }
}

/* ---- kills --------------------------------------------------------------- */

static int
run_until(char **argv, long nanoseconds)
{
    struct timespec t = { nanoseconds / 1000000000, nanoseconds % 1000000000 };
    int status;
    pid_t child = fork();

    if (child == 0) {
        outcome_redirect();
        execvp(argv[0], argv);
        _exit(127);
    }
    if (nanoseconds >= 0) {
        nanosleep(&t, NULL);
        kill(child, SIGKILL);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        outcome_die("fork");
    return status;
}

static const struct contents *
file_of(const struct folder *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->names[i], name) == 0)
            return &f->files[i];
    return NULL;
}

/* "out.XXXXXX", "gg-XXXXXX", or what gg-fetch goes on with. */
static bool
is_temporary(const char *name)
{
    const char *dot = strrchr(name, '.');

    if (strncmp(name, "gg-", 3) == 0 && strlen(name) == 9)
        return true;
    return dot && (strlen(dot) == 7 || (strlen(dot) == 8 && dot[7] == '~') ||
                   strcmp(dot, ".part") == 0 || strcmp(dot, ".lock") == 0);
}

/* A file that grows, of gg-generate --resume, may have a part of what is to
 * come. */
static bool
is_begun(const struct contents *now, const struct contents *good,
         const char *name)
{
    const char *grows = getenv("GG_GROWS");

    return grows && strcmp(name, grows) == 0 && now->size <= good->size &&
           memcmp(now->data, good->data, now->size) == 0;
}

static const char *
judge_killed(const struct faults *f, const struct folder *now)
{
    for (int i = 0; i < now->n; i++) {
        const char *name = now->names[i];
        const struct contents *old = file_of(&f->before, name);
        const struct contents *made = file_of(&f->good.folder, name);

        if (!old && !made && is_temporary(name))
            unlink(name);
        else if (!old && now->files[i].size == 0) /* a lock, of --save */
            continue;
        else if (!(old && outcome_same(&now->files[i], old)) &&
                 !(made && outcome_same(&now->files[i], made)) &&
                 !(made && is_begun(&now->files[i], made, name))) {
            printf("%s: ", name);
            return "a half file";
        }
    }
    for (int i = 0; i < f->before.n; i++)
        if (!file_of(now, f->before.names[i]))
            return "a file is gone";
    return NULL;
}

/* After a crash the same command brings it to its end. */
static const char *
judge_again(const struct faults *f)
{
    struct outcome o = outcome_of(run_until(f->argv, -1));
    bool goes_on = getenv("GG_GOES_ON");
    const char *what =
        o.status ? "killed, and fails when it is run again"
        : !goes_on && !outcome_same_folder(&o.folder, &f->good.folder)
            ? "killed, and makes other files when it is run again"
            : NULL;

    outcome_clear(&o);
    return what;
}

static long
duration(struct faults *f)
{
    struct timespec a, b;

    clock_gettime(CLOCK_MONOTONIC, &a);
    run_until(f->argv, -1);
    clock_gettime(CLOCK_MONOTONIC, &b);
    outcome_restore(&f->before);
    return (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;
}

static void
kill_often(struct faults *f, long points)
{
    long long most = duration(f);
    unsigned seed = (unsigned)time(NULL);

    for (long i = 0; i < points; i++) {
        long at = (long)(most * 11 / 10 * (rand_r(&seed) % 100000) / 100000);
        int status = run_until(f->argv, at);
        struct outcome o = outcome_of(status);
        const char *what = judge_killed(f, &o.folder);

        f->n += WIFSIGNALED(status);
        outcome_clear(&o);
        report(f, at, " ns", what ? what : judge_again(f), "");
        outcome_restore(&f->before);
    }
}

/* ---- all of it ----------------------------------------------------------- */

int
main(int argc, char **argv)
{
    bool kills = argc > 1 && strcmp(argv[1], "kill") == 0;
    struct faults f = { .argv = argv + 3 };
    long points, n = 0;

    if (argc < 4)
        return 2;
    points = atol(argv[2]);
    f.fault = trace_fault(kills ? "write" : argv[1]);
    if (!f.fault)
        return 77;
    f.before = outcome_look();
    f.good = outcome_of(trace_run(f.argv, f.fault, -1, false, &n));
    if (f.good.status) {
        printf("%s fails without that\n%s", f.argv[0], f.good.err.data);
        return 1;
    }
    outcome_restore(&f.before);
    if (kills) {
        f.fault = NULL;
        kill_often(&f, points);
    } else {
        f.n = n;
        sweep(&f, points);
    }
    if (getenv("GG_VERBOSE"))
        printf("%s %s: %ld %s, %ld runs, %ld bad\n", argv[1], argv[3], f.n,
               kills ? "killed" : "calls", f.runs, f.bad);
    outcome_clear(&f.good);
    outcome_forget(&f.before);
    return f.bad > 0;
}
