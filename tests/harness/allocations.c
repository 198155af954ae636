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

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_FILES = 256,
    STUCK = 120, /* seconds */
};

struct contents {
    char *data;
    size_t size;
};

/* A folder's files, by name. */
struct folder {
    char *names[MAX_FILES];
    struct contents files[MAX_FILES];
    int n;
};

/* How a command ended. */
struct result {
    int status; /* of wait() */
    struct contents out, err;
    struct folder folder;
};

static void
die(const char *what)
{
    perror(what);
    exit(99);
}

static struct contents
read_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct contents c = { NULL, 0 };
    struct stat st;

    if (fd < 0 || fstat(fd, &st) || !(c.data = malloc((size_t)st.st_size + 1)))
        die(path);
    while (c.size < (size_t)st.st_size) {
        ssize_t n = read(fd, c.data + c.size, (size_t)st.st_size - c.size);

        if (n <= 0)
            die(path);
        c.size += (size_t)n;
    }
    c.data[c.size] = '\0';
    close(fd);
    return c;
}

static int
same(const struct contents *a, const struct contents *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int
is_file(const struct dirent *e)
{
    struct stat st;

    return lstat(e->d_name, &st) == 0 && S_ISREG(st.st_mode);
}

static struct folder
look(void)
{
    struct folder f = { .n = 0 };
    struct dirent **list;
    int n = scandir(".", &list, is_file, by_name);

    if (n < 0 || n > MAX_FILES)
        die("files in the folder");
    for (int i = 0; i < n; i++) {
        f.names[i] = strdup(list[i]->d_name);
        f.files[i] = read_file(f.names[i]);
        free(list[i]);
    }
    f.n = n;
    free(list);
    return f;
}

static void
forget(struct folder *f)
{
    for (int i = 0; i < f->n; i++) {
        free(f->names[i]);
        free(f->files[i].data);
    }
    f->n = 0;
}

static int
same_folder(const struct folder *a, const struct folder *b)
{
    if (a->n != b->n)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->names[i], b->names[i]) ||
            !same(&a->files[i], &b->files[i]))
            return 0;
    return 1;
}

/* Makes the folder hold what it held. */
static void
restore(const struct folder *now, const struct folder *want)
{
    for (int i = 0; i < now->n; i++)
        unlink(now->names[i]);
    for (int i = 0; i < want->n; i++) {
        FILE *f = fopen(want->names[i], "w");

        if (!f ||
            fwrite(want->files[i].data, 1, want->files[i].size, f) !=
                want->files[i].size ||
            fclose(f))
            die(want->names[i]);
    }
}

/* ---- running ------------------------------------------------------------- */

static const char out_name[] = "../allocations.out";
static const char err_name[] = "../allocations.err";
static const char count_name[] = "../allocations.count";

static void
send_to(const char *path, int fd)
{
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (to < 0 || dup2(to, fd) < 0)
        _exit(99);
    close(to);
}

static void
run_child(char **argv, const char *fail)
{
    const char *name = strrchr(argv[0], '/');
    char what[256];
    int in = open("/dev/null", O_RDONLY);

    snprintf(what, sizeof(what), "%s %s", name ? name + 1 : argv[0], fail);
    if (in < 0 || dup2(in, STDIN_FILENO) < 0)
        _exit(99);
    send_to(out_name, STDOUT_FILENO);
    send_to(err_name, STDERR_FILENO);
    setenv("GG_FAIL_ALLOC", what, 1);
    setenv("GG_COUNT_ALLOC", count_name, 1);
    setenv("LD_PRELOAD", getenv("GG_FAILING_ALLOC"), 1);
    alarm(STUCK);
    execvp(argv[0], argv);
    _exit(127);
}

static struct result
run(char **argv, const char *fail)
{
    struct result r = { 0 };
    pid_t child = fork();

    if (child == 0)
        run_child(argv, fail);
    if (child < 0 || waitpid(child, &r.status, 0) != child)
        die("fork");
    r.out = read_file(out_name);
    r.err = read_file(err_name);
    r.folder = look();
    return r;
}

static void
clear(struct result *r)
{
    free(r->out.data);
    free(r->err.data);
    forget(&r->folder);
}

/* ---- judging ------------------------------------------------------------- */

/* One line, after the messages of any run. */
static int
is_message(const struct contents *err, const struct contents *good)
{
    const char *p = err->data, *end = p + err->size, *line;
    size_t same = 0;

    for (size_t i = 0; i < err->size && i < good->size && p[i] == good->data[i];
         i++)
        if (p[i] == '\n')
            same = i + 1;
    p += same;
    line = memchr(p, '\n', (size_t)(end - p));
    return line && line + 1 == end && strncmp(p, "gg-", 3) == 0 &&
           (strstr(p, "memory") || strstr(p, "thread"));
}

/* NULL: it is as it should be. */
static const char *
judge(const struct result *r, const struct folder *before,
      const struct result *good)
{
    if (WIFSIGNALED(r->status))
        return strsignal(WTERMSIG(r->status));
    if (WEXITSTATUS(r->status) == 0)
        return !same_folder(&r->folder, &good->folder) ? "status 0, other files"
               : !same(&r->out, &good->out) ? "status 0, other output"
               : !same(&r->err, &good->err) ? "status 0, other messages"
                                            : NULL;
    if (WEXITSTATUS(r->status) != 1)
        return "another status";
    if (!same_folder(&r->folder, before))
        return "status 1, but files changed";
    return is_message(&r->err, &good->err)
               ? NULL
               : "status 1, not one line about memory";
}

static int
try(char **argv, const char *fail, const struct folder *before,
    const struct result *good)
{
    struct result r = run(argv, fail);
    const char *what = judge(&r, before, good);

    if (what)
        printf("%s at %s: %s\n%s", argv[0], fail, what, r.err.data);
    if (!same_folder(&r.folder, before))
        restore(&r.folder, before);
    clear(&r);
    return what != NULL;
}

static int
sweep(char **argv, long points, long n, const struct folder *before,
      const struct result *good)
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
    struct result good;
    struct contents count;
    long n;
    int bad;

    if (argc < 3 || !getenv("GG_FAILING_ALLOC"))
        return 2;
    before = look();
    unlink(count_name);
    good = run(argv + 2, "-1");
    if (!WIFEXITED(good.status) || WEXITSTATUS(good.status) != 0) {
        printf("%s fails without that\n%s", argv[2], good.err.data);
        return 1;
    }
    count = read_file(count_name);
    n = atol(count.data);
    if (n < 1)
        printf("%s allocates nothing\n", argv[2]);
    restore(&good.folder, &before);
    bad = sweep(argv + 2, atol(argv[1]), n, &before, &good);
    if (getenv("GG_VERBOSE"))
        printf("%ld allocations, %d bad\n", n, bad);
    free(count.data);
    clear(&good);
    forget(&before);
    return bad || n < 1;
}
