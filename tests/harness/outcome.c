/* outcome.c - what a command has left: its status, its messages, its files */
#include <config.h>

#include "harness/outcome.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char out_name[] = "../outcome.out";
static const char err_name[] = "../outcome.err";

void
outcome_die(const char *what)
{
    perror(what);
    exit(99);
}

struct contents
outcome_read_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct contents c = { NULL, 0 };
    struct stat st;

    if (fd < 0 || fstat(fd, &st) || !(c.data = malloc((size_t)st.st_size + 1)))
        outcome_die(path);
    while (c.size < (size_t)st.st_size) {
        ssize_t n = read(fd, c.data + c.size, (size_t)st.st_size - c.size);

        if (n <= 0)
            outcome_die(path);
        c.size += (size_t)n;
    }
    c.data[c.size] = '\0';
    close(fd);
    return c;
}

bool
outcome_same(const struct contents *a, const struct contents *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* ---- folders ------------------------------------------------------------- */

static int
by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Files that a tool leaves on purpose have names that end with $GG_LEAVES. */
static bool
is_left(const char *name)
{
    const char *end = getenv("GG_LEAVES");
    size_t n = strlen(name), len = end ? strlen(end) : 0;

    return len > 0 && n >= len && strcmp(name + n - len, end) == 0;
}

static int
is_file(const struct dirent *e)
{
    struct stat st;

    return !is_left(e->d_name) && lstat(e->d_name, &st) == 0 &&
           S_ISREG(st.st_mode);
}

struct folder
outcome_look(void)
{
    struct folder f = { .n = 0 };
    struct dirent **list;
    int n = scandir(".", &list, is_file, by_name);

    if (n < 0 || n > OUTCOME_MAX_FILES)
        outcome_die("files in the folder");
    for (int i = 0; i < n; i++) {
        f.names[i] = strdup(list[i]->d_name);
        f.files[i] = outcome_read_file(f.names[i]);
        free(list[i]);
    }
    f.n = n;
    free(list);
    return f;
}

void
outcome_forget(struct folder *f)
{
    for (int i = 0; i < f->n; i++) {
        free(f->names[i]);
        free(f->files[i].data);
    }
    f->n = 0;
}

bool
outcome_same_folder(const struct folder *a, const struct folder *b)
{
    if (a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->names[i], b->names[i]) ||
            !outcome_same(&a->files[i], &b->files[i]))
            return false;
    return true;
}

void
outcome_restore(const struct folder *want)
{
    struct folder now = outcome_look();

    for (int i = 0; i < now.n; i++)
        unlink(now.names[i]);
    outcome_forget(&now);
    for (int i = 0; i < want->n; i++) {
        FILE *f = fopen(want->names[i], "w");

        if (!f ||
            fwrite(want->files[i].data, 1, want->files[i].size, f) !=
                want->files[i].size ||
            fclose(f))
            outcome_die(want->names[i]);
    }
}

/* ---- running ------------------------------------------------------------- */

static void
send_to(const char *path, int fd)
{
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (to < 0 || dup2(to, fd) < 0)
        _exit(99);
    close(to);
}

void
outcome_redirect(void)
{
    int in = open("/dev/null", O_RDONLY);

    if (in < 0 || dup2(in, STDIN_FILENO) < 0)
        _exit(99);
    if (in != STDIN_FILENO)
        close(in);
    send_to(out_name, STDOUT_FILENO);
    send_to(err_name, STDERR_FILENO);
}

struct outcome
outcome_of(int status)
{
    return (struct outcome){ status, outcome_read_file(out_name),
                             outcome_read_file(err_name), outcome_look() };
}

void
outcome_clear(struct outcome *o)
{
    free(o->out.data);
    free(o->err.data);
    outcome_forget(&o->folder);
}

/* ---- judging ------------------------------------------------------------- */

static bool
has_word(const char *text, const char *words)
{
    for (;;) {
        size_t n = strcspn(words, "|");

        if (memmem(text, strlen(text), words, n))
            return true;
        if (!words[n])
            return false;
        words += n + 1;
    }
}

/* One line, after the messages of any run. */
static bool
is_message(const struct contents *err, const struct contents *good,
           const char *words)
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
           has_word(p, words);
}

const char *
outcome_judge(const struct outcome *o, const struct folder *before,
              const struct outcome *good, const char *words)
{
    if (WIFSIGNALED(o->status))
        return strsignal(WTERMSIG(o->status));
    if (WEXITSTATUS(o->status) == 0)
        return !outcome_same_folder(&o->folder, &good->folder)
                   ? "status 0, other files"
               : !outcome_same(&o->out, &good->out) ? "status 0, other output"
               : !outcome_same(&o->err, &good->err) ? "status 0, other messages"
                                                    : NULL;
    if (WEXITSTATUS(o->status) != 1)
        return "another status";
    if (!outcome_same_folder(&o->folder, before) &&
        !(getenv("GG_DONE") && outcome_same_folder(&o->folder, &good->folder)))
        return "status 1, but files changed";
    return is_message(&o->err, &good->err, words)
               ? NULL
               : "status 1, not one line that says why";
}
