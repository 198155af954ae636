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
#include "common/outside.h"
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
make_output(const char *path)
{
    int fd = outside_do(OUTSIDE_CREATE, path, 0), failed, why;

    if (fd < 0)
        return errno;
    why = write(fd, "x", 1) == 1 ? 0 : errno;
    close(fd);
    return why ? why : outside_commit(&failed);
}

static int
was_forbidden(const char *path)
{
    return outside_was_forbidden(path);
}

/* As a tool opens a file by its name. */
static int
open_for_writing(const char *path)
{
    int fd = outside_open(path, O_WRONLY | O_CREAT);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static int
open_for_reading(const char *path)
{
    int fd = outside_open(path, O_RDONLY);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* Deeds that a tool that was taken over could ask for. */
static int
ask_aside(const char *path)
{
    int fd = outside_do(OUTSIDE_ASIDE, path, 0);

    if (fd < 0)
        return errno;
    if (write(fd, "[]\n", 3) != 3) /* as /save writes it */
        return errno;
    close(fd);
    return outside_do(OUTSIDE_ASIDE_END, path, 0) < 0 ? errno : 0;
}

static int
ask(enum outside_deed deed, const char *path, int flags)
{
    int fd = outside_do(deed, path, flags);

    if (fd < 0)
        return errno;
    if (fd > 0)
        close(fd);
    return 0;
}

static int
ask_to_write(const char *path)
{
    return ask(OUTSIDE_OPEN, path, O_WRONLY | O_CREAT);
}

static int
ask_to_read(const char *path)
{
    return ask(OUTSIDE_OPEN, path, O_RDONLY);
}

static int
ask_to_remove(const char *path)
{
    return ask(OUTSIDE_REMOVE, path, 0);
}

static int
ask_to_doom(const char *path)
{
    return ask(OUTSIDE_DOOM, path, 0);
}

static int
ask_to_move(const char *path)
{
    return ask(OUTSIDE_MOVE, path, (int)(strrchr(path, '.') - path));
}

static int
ask_for_folder(const char *path)
{
    return ask(OUTSIDE_MAKE_FOLDER, path, 0);
}

static int
ask_for_scratch(const char *path)
{
    return ask(OUTSIDE_MAKE_SCRATCH, path, 0);
}

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
    add("in/model.gguf", SANDBOX_READ);
    add("in/m-00001-of-00002.gguf", SANDBOX_READ);
    add("out/new", SANDBOX_WRITE);
    add("out/split.gguf", SANDBOX_SHARDS);
    add("out/state", SANDBOX_UPDATE);
    add("out/arrays", SANDBOX_ARRAYS);
    add("out/fetched", SANDBOX_PARTS);
    add("out", SANDBOX_SCRATCH);
    add("links/model.gguf", SANDBOX_READ);
    add("folder", SANDBOX_READ);
    add("tree", SANDBOX_TREE);
    add("store", SANDBOX_STORE);
    sandbox_add("-", SANDBOX_WRITE);
    sandbox_add(NULL, SANDBOX_WRITE);
    sandbox_add("/dev/zero", SANDBOX_WRITE);
    sandbox_add("/nowhere/at/all", SANDBOX_WRITE);
    sandbox_enter(false);
}

/* A build with sanitizers has no seccomp: Landlock alone refuses. */
#ifdef GG_INSTRUMENTED
enum {
    CUT_IS = EACCES,
    SOCKET_IS = ECONNREFUSED,
    PROGRAM_IS = EACCES
};
static const char none_said[] = "test_sandbox: no sandbox for files: this "
                                "kernel has no Landlock\n";
#else
enum {
    CUT_IS = EPERM,
    SOCKET_IS = EPERM,
    PROGRAM_IS = EPERM
};
static const char none_said[] = "test_sandbox: no sandbox for files and "
                                "programs: this kernel has no Landlock and no "
                                "seccomp\n";
#endif

static const struct deed named[] = {
    { "the input", read_file, "in/model.gguf", 0 },
    { "by a thread that was started since", read_by_thread, "in/model.gguf",
      0 },
    { "a file beside it", read_file, "in/other", EACCES },
    { "a hidden one", read_file, "in/.rc", EACCES },
    { "a file below", read_file, "in/below/it", EACCES },
    { "a projector beside it", read_file, "in/mmproj-x.gguf", 0 },
    { "another shard", read_file, "in/m-00002-of-00002.gguf", 0 },
    { "no shard of it", read_file, "in/m-00003-of-00003.gguf", EACCES },
    { "one that is not there", read_file, "in/none", ENOENT },
    { "the input is not written", write_file, "in/model.gguf", EACCES },
    { "nor cut", cut_file, "in/model.gguf", CUT_IS },
    { "nor is a file made beside it", create_file, "in/new", EACCES },
    { "nor one removed", remove_file, "in/other", EACCES },
    { "an output", make_output, "out/new", 0 },
    { "replaced", make_output, "out/new", 0 },
    { "nothing is made beside it", create_file, "out/more", EACCES },
    { "nor written", write_file, "out/old", EACCES },
    { "nor read", read_file, "out/old", EACCES },
    { "nor outside", make_output, "out/old", EACCES },
    { "nor in two steps", ask_aside, "out/old", EACCES },
    { "nor in place", ask_to_write, "out/old", EACCES },
    { "an output is not opened in place", ask_to_write, "out/new", EACCES },
    { "nothing is read outside", ask_to_read, "out/old", EACCES },
    { "nor removed", ask_to_remove, "out/old", EACCES },
    { "nor at the end", ask_to_doom, "out/old", EACCES },
    { "nor is a folder made", ask_for_folder, "out/more", EACCES },
    { "by no other way of writing the name", make_output, "out/../out/old",
      EACCES },
    { "a shard of an output", make_output, "out/split-00002-of-00003.gguf", 0 },
    { "no other name", make_output, "out/split-2.gguf", EACCES },
    { "a state in place", ask_to_write, "out/state", 0 },
    { "read, too", ask_to_read, "out/state", 0 },
    { "which nobody forbade", was_forbidden, "out/state", 0 },
    { "replaced, too", ask_aside, "out/state", 0 },
    { "opened by its name", open_for_writing, "out/state", 0 },
    { "the input, too", open_for_reading, "in/model.gguf", 0 },
    { "not a file beside it", open_for_reading, "in/other", EACCES },
    { "a folder of arrays", ask_for_folder, "out/arrays", 0 },
    { "an array", ask_aside, "out/arrays/1-x.npy", 0 },
    { "what is none", ask_aside, "out/arrays/x", EACCES },
    { "a hidden one", ask_aside, "out/arrays/.x.npy", EACCES },
    { "one elsewhere", ask_aside, "out/arrays/../x.npy", EACCES },
    { "a part", ask_to_write, "out/fetched.part", 0 },
    { "which becomes the file", ask_to_move, "out/fetched.part", 0 },
    { "not another", ask_to_move, "out/fetched.x.part", EACCES },
    { "a file without a name", ask_for_scratch, "out", 0 },
    { "not elsewhere", ask_for_scratch, "else", EACCES },
    { "what a link leads to", read_file, "links/model.gguf", 0 },
    { "not what is beside that", read_file, "blobs/two", EACCES },
    { "a file of a folder", read_file, "folder/own", 0 },
    { "what a link in it leads to", read_file, "folder/weights", 0 },
    { "not what is beside that", read_file, "far/other", EACCES },
    { "a hidden file", read_file, "folder/.rc", EACCES },
    { "a step's file", read_file, "folder/1_Pooling/config.json", 0 },
    { "not of another subfolder", read_file, "folder/below/it", EACCES },
    { "what is below a named tree", read_file, "tree/below/it", 0 },
    { "made in a store", replace_file, "store/new", 0 },
    { "another folder", read_file, "else/secret", EACCES },
    { "by a thread", read_by_thread, "else/secret", EACCES },
    { "made there", create_file, "else/none", EACCES },
    { "the system's files", read_file, "/etc/passwd", EACCES },
    { "a device that is named", write_file, "/dev/zero", 0 },
    { "not the one beside it", read_file, "/dev/full", EACCES },
    { "/dev/null", write_file, "/dev/null", 0 },
    { "a socket", connect_somewhere, NULL, SOCKET_IS },
    { "a program", start_program, "/bin/true", PROGRAM_IS },
};

static void
prepare_typed(void)
{
    sandbox_add(NULL, SANDBOX_TYPED);
    sandbox_enter(false);
}

static const struct deed typed[] = {
    { "a file is read outside", ask_to_read, "else/secret", 0 },
    { "not here", read_file, "else/secret", EACCES },
    { "no hidden one", ask_to_read, "in/.rc", EACCES },
    { "none by a hidden folder", ask_to_read, "home/.ssh/key", EACCES },
    { "none by a link", ask_to_read, "home/link", EACCES },
    { "nothing is written in place", ask_to_write, "else/secret", EACCES },
    { "a new file of JSON", ask_aside, "else/talk.json", 0 },
    { "which is replaced", ask_aside, "else/talk.json", 0 },
    { "not what is no JSON", ask_aside, "home/text", EACCES },
    { "nothing hidden", ask_aside, "home/.profile", EACCES },
    { "no device", ask_to_read, "/dev/zero", EACCES },
};

/* The working folder may be hidden. */
static void
prepare_hidden(void)
{
    char path[SCRATCH_PATH];

    if (chdir(in_scratch("home/.ssh", path)))
        abort();
    prepare_typed();
}

static const struct deed hidden[] = {
    { "a file there", ask_to_read, "home/.ssh/key", 0 },
    { "a hidden one there", ask_to_read, "home/.ssh/.other", EACCES },
    { "a file beside it", ask_to_read, "home/text", 0 },
    { "one in another hidden folder", ask_to_read, "home/.sshd/key", EACCES },
};

static void
prepare_sockets(void)
{
    static const char *const variables[][2] = {
        { "SSL_CERT_FILE", "certificates/file" },
        { "SSL_CERT_DIR", "certificates/folder" },
        { "CURL_CA_BUNDLE", "certificates/bundle" },
    };
    char path[SCRATCH_PATH];

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        setenv(variables[i][0], in_scratch(variables[i][1], path), 1);
    add("in/model.gguf", SANDBOX_READ);
    sandbox_keep(SANDBOX_SOCKETS);
    sandbox_enter(false);
}

static const struct deed with_sockets[] = {
    { "a socket", connect_somewhere, NULL, ECONNREFUSED },
    { "what names of hosts need", read_file, "/etc/passwd", 0 },
    { "certificates that are named", read_file, "certificates/file", 0 },
    { "a folder of them", read_file, "certificates/folder/one", 0 },
    { "curl's", read_file, "certificates/bundle", 0 },
    { "no others", read_file, "certificates/other", EACCES },
    { "another folder", read_file, "else/secret", EACCES },
    { "a program", start_program, "/bin/true", PROGRAM_IS },
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
    { "writes to devices", write_file, "/dev/zero", 0 },
    { "starts programs", start_program, "/bin/true", 0 },
    { "a socket", connect_somewhere, NULL, ECONNREFUSED },
    { "an output", make_output, "out/new", 0 },
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
    if (!f || fputs("text", f) < 0 || fclose(f))
        abort();
}

static void
make_files(void)
{
    static const char *const names[] = {
        "in/model.gguf",
        "in/other",
        "in/.rc",
        "in/mmproj-x.gguf",
        "in/m-00001-of-00002.gguf",
        "in/m-00002-of-00002.gguf",
        "in/m-00003-of-00003.gguf",
        "in/below/it",
        "out/old",
        "blobs/one",
        "blobs/two",
        "far/one",
        "far/other",
        "folder/own",
        "folder/.rc",
        "folder/1_Pooling/config.json",
        "folder/below/it",
        "tree/below/it",
        "store/old",
        "links/own",
        "else/secret",
        "home/.ssh/key",
        "home/.ssh/.other",
        "home/.sshd/key",
        "home/text",
        "certificates/file",
        "certificates/folder/one",
        "certificates/bundle",
        "certificates/other",
    };
    char path[SCRATCH_PATH];

    scratch_begin();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        make_file(names[i]);
    if (symlink("../blobs/one", in_scratch("links/model.gguf", path)) ||
        symlink("../far/one", in_scratch("folder/weights", path)) ||
        symlink(".ssh/key", in_scratch("home/link", path)))
        abort();
}

#ifdef HAVE_LINUX_SECCOMP_H

/* Landlock has no more memory: errno's message. */
static void
prepare_full_kernel(void)
{
    struct sock_filter steps[] = {
        { BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
        { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_landlock_restrict_self },
        { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | E2BIG },
        { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
    };
    struct sock_fprog program = { 4, steps };
    char path[SCRATCH_PATH];

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    if (!freopen(in_scratch("said", path), "w", stderr))
        abort();
    sandbox_enter(true);
    fflush(stderr);
}

static const struct deed only_read[] = {
    { "another folder", read_file, "else/secret", 0 },
};

/* Nothing is refused, and -v says so: on standard error, which is read here. */
static void
prepare_old_kernel(void)
{
    char path[SCRATCH_PATH];

    hide_from_kernel();
    if (!freopen(in_scratch("said", path), "w", stderr))
        abort();
    add("in/model.gguf", SANDBOX_READ);
    sandbox_enter(true);
    fflush(stderr);
}

static void
check_said(const char *want, const char *what)
{
    char path[SCRATCH_PATH], line[200] = "";
    FILE *f = fopen(in_scratch("said", path), "r");

    if (f && fgets(line, sizeof(line), f))
        fclose(f);
    is((const char *)line, want, what);
}

static void
check_old_kernel(void)
{
    run_case("an old kernel", prepare_old_kernel, all,
             sizeof(all) / sizeof(all[0]));
    check_said(none_said, "a message says so");
}

static void
check_full_kernel(void)
{
    run_case("too many layers", prepare_full_kernel, only_read, 1);
    check_said("test_sandbox: no sandbox for files: Landlock: Argument list "
               "too long\n",
               "errno's words");
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
#ifdef HAVE_LINUX_SECCOMP_H
        check_full_kernel();
#endif
        run_case("named files", prepare_named, named,
                 sizeof(named) / sizeof(named[0]));
        run_case("names that a user types", prepare_typed, typed,
                 sizeof(typed) / sizeof(typed[0]));
        run_case("below a hidden folder", prepare_hidden, hidden,
                 sizeof(hidden) / sizeof(hidden[0]));
        run_case("with sockets", prepare_sockets, with_sockets,
                 sizeof(with_sockets) / sizeof(with_sockets[0]));
        run_case("with a GPU", prepare_gpu, with_gpu,
                 sizeof(with_gpu) / sizeof(with_gpu[0]));
    } else {
        ok(true, "named files # SKIP this kernel has no Landlock, version 3");
    }
    return tap_done();
}
