/* test_file.c - mapped input; output that is there whole or not at all */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "harness/scratch.h"
#include "harness/tap.h"

static struct gg_error err;

static int
count_files(void)
{
    DIR *d = opendir(scratch_begin());
    int n = 0;

    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static bool
holds(const char *path, const char *text)
{
    struct file_map map;
    bool same;

    if (file_map(path, &map, NULL) != GG_OK)
        return false;
    same = map.size == strlen(text) && memcmp(map.data, text, map.size) == 0;
    file_unmap(&map);
    file_unmap(&map);
    return same;
}

static enum gg_status
write_file(const char *path, const char *text)
{
    struct file_out f;
    enum gg_status st = file_create(path, &f, &err);

    if (st != GG_OK)
        return st;
    fputs(text, f.stream);
    return file_commit(&f, &err);
}

static void
test_output(void)
{
    const char *path = scratch_file("out");
    struct file_out f = { 0 };
    struct stat st;
    mode_t mask = umask(027);

    ok(write_file(path, "first") == GG_OK && holds(path, "first"), "written");
    umask(mask);
    stat(path, &st);
    is((st.st_mode & 0777), 0640, "with the mode that the umask leaves");
    ok(file_create(path, &f, &err) == GG_OK && fputs("second", f.stream) >= 0 &&
           fflush(f.stream) == 0 && holds(path, "first") && count_files() == 2,
       "until it is done the old one is there");
    file_discard(&f);
    file_discard(&f);
    ok(holds(path, "first") && count_files() == 1, "a discarded one leaves it");
    ok(write_file(path, "third") == GG_OK && holds(path, "third") &&
           count_files() == 1,
       "it is replaced whole");
    unlink(path);
}

static void
test_link(void)
{
    const char *file = scratch_file("file"), *link = scratch_file("link");
    struct stat st;

    write_file(file, "old");
    ok(symlink(file, link) == 0 && write_file(link, "new") == GG_OK &&
           lstat(link, &st) == 0 && S_ISLNK(st.st_mode) && holds(file, "new"),
       "a symbolic link stays one");
    unlink(file);
    ok(write_file(link, "new") == GG_ERR_IO &&
           strstr(err.message, "/link: a symbolic link that leads to no file"),
       "one to nothing is no output");
    unlink(link);
    ok(symlink(link, link) == 0 && write_file(link, "new") == GG_ERR_IO &&
           lstat(link, &st) == 0,
       "nor is one in a circle");
    unlink(link);
}

/* Replaces the file as another user, who may not give it away; false: who may
 * not even go there. */
static bool
replace_as_another(const char *path)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(setgid(54321) || setuid(54321) || access(scratch_begin(), W_OK) ||
              write_file(path, "new"));
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void
test_owner(void)
{
    const char *path = scratch_file("owned");
    struct stat st;

    if (geteuid() != 0) {
        ok(true, "owners # SKIP only the superuser gives files away");
        return;
    }
    write_file(path, "old");
    ok(chmod(path, 0664) == 0 && chown(path, 12, 34) == 0 &&
           write_file(path, "new") == GG_OK && stat(path, &st) == 0 &&
           st.st_uid == 12 && st.st_gid == 34 && (st.st_mode & 0777) == 0664,
       "owner, group and mode stay");
    chmod(scratch_begin(), 0777);
    ok(!replace_as_another(path) ||
           (stat(path, &st) == 0 && st.st_uid == 54321 && st.st_gid == 54321 &&
            (st.st_mode & 0777) == 0644),
       "another group gets no more rights than all have");
    unlink(path);
}

static void
count_opened(const char *path, int fd, void *data)
{
    struct stat st;

    if (strstr(path, "/opened") && fstat(fd, &st) == 0 && st.st_size == 4)
        ++*(int *)data;
}

static int
open_other(const char *path, int flags, void *other)
{
    return open(strstr(path, "/opened") ? other : path, flags);
}

static void
test_opener(void)
{
    const char *path = scratch_file("opened");
    char other[SCRATCH_PATH];
    struct file_map map = { 0 };

    snprintf(other, sizeof(other), "%s", scratch_file("other"));
    write_file(other, "another text");
    file_set_opener(open_other, other);
    ok(file_map(path, &map, &err) == GG_OK && map.size == 12,
       "what opens files may be set");
    file_unmap(&map);
    file_set_opener(NULL, NULL);
    ok(file_map(path, &map, &err) == GG_ERR_IO, "and taken away");
    unlink(other);
}

static void
test_opened(void)
{
    const char *path = scratch_file("opened");
    struct file_map map = { 0 };
    int n = 0;

    write_file(path, "text");
    file_on_open(count_opened, &n);
    ok(file_map(path, &map, &err) == GG_OK && n == 1, "who maps is noted");
    file_unmap(&map);
    ok(file_read(path, &map, &err) == GG_OK && n == 2, "and who reads");
    file_unmap(&map);
    file_on_open(NULL, NULL);
    ok(holds(path, "text") && n == 2, "until nobody listens");
    unlink(path);
}

static void
test_failing_output(void)
{
    const char *path = scratch_file("out");
    struct rlimit old, limit;
    struct stat st;

    ok(write_file("/dev/full", "x") == GG_ERR_IO &&
           strcmp(err.message, "/dev/full: No space left on device") == 0 &&
           stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode),
       "a full disk");
    ok(write_file("/dev/null", "x") == GG_OK && stat("/dev/null", &st) == 0 &&
           S_ISCHR(st.st_mode),
       "a device is written as it is");
    write_file(path, "old");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = (struct rlimit){ 4, old.rlim_max };
    setrlimit(RLIMIT_FSIZE, &limit);
    is(write_file(path, "too long"), GG_ERR_IO, "a limit");
    setrlimit(RLIMIT_FSIZE, &old);
    ok(holds(path, "old") && count_files() == 1, "leaves what was there");
    ok(write_file("/no/such/folder/x", "x") == GG_ERR_IO &&
           strcmp(err.message, "/no/such/folder/x: No such file or "
                               "directory") == 0,
       "no such folder");
    is(write_file(scratch_folder, "x"), GG_ERR_IO, "a folder is no file");
    unlink(path);
    is(count_files(), 0, "nothing is left over");
}

static void
test_failing_memory(void)
{
    const char *path = scratch_file("out");
    enum gg_status st = GG_ERR_NOMEM;
    int n = 0;

    for (; n < 20 && st != GG_OK; n++) {
        mem_fail_after(n);
        st = write_file(path, "x");
        mem_fail_after(-1);
        if (st != GG_OK && count_files())
            break;
    }
    ok(st == GG_OK && n > 1, "without memory nothing is left over");
    unlink(path);
}

static void
test_input(void)
{
    const char *path = scratch_file("in");
    struct file_map map = { 0 };

    ok(file_map(scratch_file("none"), &map, &err) == GG_ERR_IO &&
           strstr(err.message, "/none: No such file or directory"),
       "a missing file");
    ok(file_map(scratch_folder, &map, &err) == GG_ERR_IO &&
           strstr(err.message, ": is a directory"),
       "a folder");
    write_file(path, "");
    ok(file_map(path, &map, &err) == GG_ERR_FORMAT &&
           strstr(err.message, ": file is empty"),
       "an empty file");
    unlink(path);
    mkfifo(path, 0600);
    ok(file_map(path, &map, &err) == GG_ERR_IO &&
           strstr(err.message, ": not a regular file"),
       "a FIFO, without waiting for a writer");
    ok(file_read(path, &map, &err) == GG_ERR_IO &&
           strstr(err.message, ": not a regular file"),
       "nor is one read");
    unlink(path);
    ok(!map.data, "on failure the map stays as it was");
}

/* AddressSanitizer lets mlock() do nothing. */
#if defined(__SANITIZE_ADDRESS__)
#define MLOCK_IS_IGNORED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MLOCK_IS_IGNORED
#endif
#endif

static void
test_read(void)
{
    const char *path = scratch_file("read");
    struct file_map map = { 0 };

    write_file(path, "to be kept");
    ok(file_read(path, &map, &err) == GG_OK && map.size == 10,
       "a file is read");
    write_file(path, "");
    ok(map.data && !memcmp(map.data, "to be kept", 10),
       "and does not change when the file does");
    ok(map.data && (file_lock(&map, path, &err) == GG_OK ||
                    strstr(err.message, "cannot be kept in memory")),
       "it is locked, or told why not");
    file_unmap(&map);
#ifndef MLOCK_IS_IGNORED
    map = (struct file_map){ .data = (void *)(uintptr_t)4096,
                             .size = SIZE_MAX / 16 };
    ok(file_lock(&map, "here", &err) == GG_ERR_NOMEM &&
           strstr(err.message, "here: cannot be kept in memory: "),
       "what is no memory cannot be locked");
#endif
    unlink(path);
}

/* Several threads read a large file, and each part lies where it belongs. */
static void
test_read_large(void)
{
    enum {
        SIZE = (40 << 20) + 12345
    };
    const char *path = scratch_file("large");
    char *bytes = malloc(SIZE);
    struct file_map map = { 0 };
    FILE *f;

    f = fopen(path, "wb");
    if (!bytes || !f)
        exit(99);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 2654435761u >> 24);
    if (fwrite(bytes, 1, SIZE, f) != SIZE || fclose(f))
        exit(99);
    ok(file_read(path, &map, &err) == GG_OK && map.size == SIZE &&
           !memcmp(map.data, bytes, SIZE),
       "a large file is read in parts");
    file_unmap(&map);
    free(bytes);
    unlink(path);
}

static void
test_write_all(void)
{
    static char big[300000];
    int fds[2], status = -1;
    pid_t child;

    memset(big, 'x', sizeof(big));
    if (pipe(fds))
        return;
    child = fork();
    if (child == 0) { /* reads slowly what does not fit a pipe at once */
        char buf[4096];
        size_t n = 0;
        ssize_t r;

        close(fds[1]);
        while ((r = read(fds[0], buf, sizeof(buf))) > 0)
            n += (size_t)r;
        _exit(n != sizeof(big));
    }
    close(fds[0]);
    is(file_write_all(fds[1], big, sizeof(big), &err), GG_OK,
       "more than a pipe holds is written");
    close(fds[1]);
    waitpid(child, &status, 0);
    is(status, 0, "and arrives");
    ok(file_write_all(fds[1], big, 1, &err) == GG_ERR_IO && err.message[0],
       "to a closed file nothing is");
}

int
main(void)
{
    test_output();
    test_link();
    test_owner();
    test_opened();
    test_opener();
    test_failing_output();
    test_failing_memory();
    test_input();
    test_read();
    test_read_large();
    test_write_all();
    return tap_done();
}
