/* test_sandbox.c - what is refused once the sandbox is entered, and what is not
 *
 * Each case is a process of its own, which says of each deed why it failed. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HAVE_LINUX_SECCOMP_H
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif

#include "common/cli.h"
#include "common/sandbox.h"
#include "harness/scratch.h"
#include "harness/tap.h"

const char cli_name[] = "test_sandbox";

/* ---- deeds: errno, or 0 -------------------------------------------------- */

static int
open_it(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0666);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static int
read_file(const char *path)
{
    return open_it(path, O_RDONLY);
}

static int
write_file(const char *path)
{
    return open_it(path, O_WRONLY);
}

static int
create_file(const char *path)
{
    return open_it(path, O_WRONLY | O_CREAT | O_EXCL);
}

/* As an output does it: a temporary file, which then gets the name. */
static int
replace_file(const char *path)
{
    char temporary[SCRATCH_PATH];
    int why;

    snprintf(temporary, sizeof(temporary), "%.4000s.new", path);
    why = create_file(temporary);
    return why ? why : rename(temporary, path) ? errno : 0;
}

static int
remove_file(const char *path)
{
    return unlink(path) ? errno : 0;
}

static int
cut_file(const char *path)
{
    return truncate(path, 0) ? errno : 0;
}

static int
connect_somewhere(const char *unused)
{
    struct sockaddr_in to = { .sin_family = AF_INET };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)unused;
    if (fd < 0)
        return errno;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(1);
    return connect(fd, (struct sockaddr *)&to, sizeof(to)) ? errno : 0;
}

/* In a child of its own, where it may work. */
static int
start_program(const char *path)
{
    pid_t child = fork();
    int how;

    if (child == 0) {
        execl(path, path, (char *)NULL);
        _exit(errno);
    }
    if (child < 0)
        return errno;
    waitpid(child, &how, 0);
    return WEXITSTATUS(how);
}

static void *
read_in_thread(void *path)
{
    return (void *)(intptr_t)read_file(path);
}

static int
read_by_thread(const char *path)
{
    pthread_t thread;
    void *why;

    if (pthread_create(&thread, NULL, read_in_thread, (void *)path))
        return -1;
    pthread_join(thread, &why);
    return (int)(intptr_t)why;
}

/* ---- a kernel that has neither ------------------------------------------- */

#ifdef HAVE_LINUX_SECCOMP_H

/* The numbers of these calls are the same on all machines but one. */
static void
hide_from_kernel(void)
{
    struct sock_filter steps[] = {
        { BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
        { BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SYS_landlock_create_ruleset },
        { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_seccomp },
        { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS },
        { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
    };
    struct sock_fprog program = { 5, steps };

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#endif

/* ---- cases --------------------------------------------------------------- */

struct deed {
    const char *what;
    int (*act)(const char *path);
    const char *path; /* in the scratch folder, unless it is absolute */
    int want;
};

static const char *
in_scratch(const char *name, char path[SCRATCH_PATH])
{
    if (name && *name != '/')
        snprintf(path, SCRATCH_PATH, "%s/%.199s", scratch_folder, name);
    else
        snprintf(path, SCRATCH_PATH, "%s", name ? name : "");
    return path;
}

static void
run_case(const char *name, void (*prepare)(void), const struct deed *deeds,
         size_t n)
{
    int fd[2], why;
    pid_t child;

    if (pipe(fd) || fflush(stdout) || (child = fork()) < 0)
        abort();
    if (child == 0) {
        char path[SCRATCH_PATH];

        prepare();
        for (size_t i = 0; i < n; i++) {
            why = deeds[i].act(in_scratch(deeds[i].path, path));
            if (write(fd[1], &why, sizeof(why)) != sizeof(why))
                _exit(1);
        }
        _exit(0);
    }
    close(fd[1]);
    for (size_t i = 0; i < n; i++) {
        char what[200];

        why = -1;
        if (read(fd[0], &why, sizeof(why)) < 0)
            why = -2;
        snprintf(what, sizeof(what), "%s: %s", name, deeds[i].what);
        is(why, deeds[i].want, what);
    }
    close(fd[0]);
    waitpid(child, NULL, 0);
}

static void
add(const char *name, enum sandbox_use use)
{
    char path[SCRATCH_PATH];

    sandbox_add(in_scratch(name, path), use);
}

static void
prepare_named(void)
{
    add("in/model", SANDBOX_READ);
    add("out/new", SANDBOX_WRITE);
    add("links/model", SANDBOX_READ);
    add("folder", SANDBOX_READ);
    add("alone/this", SANDBOX_READ_ALONE);
    sandbox_add("-", SANDBOX_WRITE);
    sandbox_add(NULL, SANDBOX_WRITE);
    sandbox_add("/dev/zero", SANDBOX_WRITE);
    sandbox_add("/nowhere/at/all", SANDBOX_WRITE);
    sandbox_enter(false);
}

static const struct deed named[] = {
    { "the input", read_file, "in/model", 0 },
    { "a file beside it", read_file, "in/shard", 0 },
    { "by a thread that was started since", read_by_thread, "in/shard", 0 },
    { "a file below", read_file, "in/below/it", 0 },
    { "one that is not there", read_file, "in/none", ENOENT },
    { "the input is not written", write_file, "in/model", EACCES },
    { "nor cut", cut_file, "in/model", EPERM },
    { "nor is a file made beside it", create_file, "in/new", EACCES },
    { "nor one removed", remove_file, "in/shard", EACCES },
    { "an output", replace_file, "out/new", 0 },
    { "replaced", replace_file, "out/new", 0 },
    { "removed", remove_file, "out/new", 0 },
    { "what a link leads to", read_file, "links/model", 0 },
    { "beside that", read_file, "blobs/two", 0 },
    { "what a link in a folder leads to", read_file, "folder/weights", 0 },
    { "not what is beside that", read_file, "far/other", EACCES },
    { "a file alone", read_file, "alone/this", 0 },
    { "not beside it", read_file, "alone/that", EACCES },
    { "another folder", read_file, "else/secret", EACCES },
    { "by a thread", read_by_thread, "else/secret", EACCES },
    { "made there", create_file, "else/none", EACCES },
    { "the system's files", read_file, "/etc/passwd", EACCES },
    { "a device that is named", write_file, "/dev/zero", 0 },
    { "not the one beside it", read_file, "/dev/full", EACCES },
    { "/dev/null", write_file, "/dev/null", 0 },
    { "a socket", connect_somewhere, NULL, EPERM },
    { "a program", start_program, "/bin/true", EPERM },
};

static void
prepare_sockets(void)
{
    add("in/model", SANDBOX_READ);
    sandbox_keep(SANDBOX_SOCKETS);
    sandbox_enter(false);
}

static const struct deed with_sockets[] = {
    { "a socket", connect_somewhere, NULL, ECONNREFUSED },
    { "what names of hosts need", read_file, "/etc/passwd", 0 },
    { "another folder", read_file, "else/secret", EACCES },
    { "a program", start_program, "/bin/true", EPERM },
};

static void
prepare_gpu(void)
{
    add("out/new", SANDBOX_WRITE);
    sandbox_keep(SANDBOX_GPU);
    sandbox_enter(false);
}

static const struct deed with_gpu[] = {
    { "reads anything", read_file, "/etc/passwd", 0 },
    { "starts programs", start_program, "/bin/true", 0 },
    { "a socket", connect_somewhere, NULL, ECONNREFUSED },
    { "an output", replace_file, "out/new", 0 },
    { "nothing else is written", write_file, "/etc/passwd", EACCES },
};

static void
prepare_off(void)
{
    sandbox_off();
    sandbox_enter(true);
}

static const struct deed all[] = {
    { "another folder", read_file, "else/secret", 0 },
    { "made there", replace_file, "else/new", 0 },
    { "a socket", connect_somewhere, NULL, ECONNREFUSED },
    { "a program", start_program, "/bin/true", 0 },
};

static void
make_file(const char *name)
{
    char path[SCRATCH_PATH];
    FILE *f;

    for (char *p = strchr(name, '/'); p; p = strchr(p + 1, '/')) {
        snprintf(path, sizeof(path), "%s/%.*s", scratch_folder, (int)(p - name),
                 name);
        mkdir(path, 0777);
    }
    f = fopen(in_scratch(name, path), "w");
    if (!f || fclose(f))
        abort();
}

static void
make_files(void)
{
    static const char *const names[] = {
        "in/model",   "in/shard",   "in/below/it", "out/old",    "blobs/one",
        "blobs/two",  "far/one",    "far/other",   "folder/own", "links/own",
        "alone/this", "alone/that", "else/secret",
    };
    char path[SCRATCH_PATH];

    scratch_begin();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        make_file(names[i]);
    if (symlink("../blobs/one", in_scratch("links/model", path)) ||
        symlink("../far/one", in_scratch("folder/weights", path)))
        abort();
}

#ifdef HAVE_LINUX_SECCOMP_H

/* Nothing is refused, and -v says so: on standard error, which is read here. */
static void
prepare_old_kernel(void)
{
    char path[SCRATCH_PATH];

    hide_from_kernel();
    if (!freopen(in_scratch("said", path), "w", stderr))
        abort();
    add("in/model", SANDBOX_READ);
    sandbox_enter(true);
    fflush(stderr);
}

static void
check_old_kernel(void)
{
    char path[SCRATCH_PATH], line[200] = "";
    FILE *f;

    run_case("an old kernel", prepare_old_kernel, all,
             sizeof(all) / sizeof(all[0]));
    f = fopen(in_scratch("said", path), "r");
    if (f && fgets(line, sizeof(line), f))
        fclose(f);
    is((const char *)line,
       (const char *)"test_sandbox: no sandbox for files and programs: this "
                     "kernel has no Landlock and no seccomp\n",
       "a message says so");
}

#endif

static bool
kernel_has_it(void)
{
#ifdef HAVE_LINUX_LANDLOCK_H
    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 3;
#else
    return false;
#endif
}

int
main(void)
{
    make_files();
    run_case("off", prepare_off, all, sizeof(all) / sizeof(all[0]));
#ifdef HAVE_LINUX_SECCOMP_H
    check_old_kernel();
#endif
    if (kernel_has_it()) {
        run_case("named files", prepare_named, named,
                 sizeof(named) / sizeof(named[0]));
        run_case("with sockets", prepare_sockets, with_sockets,
                 sizeof(with_sockets) / sizeof(with_sockets[0]));
        run_case("with a GPU", prepare_gpu, with_gpu,
                 sizeof(with_gpu) / sizeof(with_gpu[0]));
    } else {
        ok(true, "named files # SKIP this kernel has no Landlock, version 3");
    }
    return tap_done();
}
