/* sandbox.c - which files are confined to: Landlock; sandbox_calls.c has
 * seccomp
 *
 * By system calls: C libraries have no functions of these. What is unknown to
 * the kernel that runs is left out, version by version. */
#include <config.h>

#include "common/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cli.h"

/* ---- what is collected --------------------------------------------------- */

static struct wish {
    struct wish *next;
    enum sandbox_use use;
    char path[];
} * wishes;
static enum sandbox_role role;
static unsigned kept;
static bool is_off;

void
sandbox_add(const char *path, enum sandbox_use use)
{
    size_t size = path ? strlen(path) + 1 : 0;
    struct wish *w;

    if (size < 2 || strcmp(path, "-") == 0)
        return;
    w = cli_alloc(NULL, sizeof(*w) + size, 1);
    *w = (struct wish){ .next = wishes, .use = use };
    memcpy(w->path, path, size);
    wishes = w;
}

void
sandbox_keep(unsigned what)
{
    kept |= what;
}

void
sandbox_play(enum sandbox_role which)
{
    role = which;
}

void
sandbox_off(void)
{
    is_off = true;
}

static void
forget_wishes(void)
{
    while (wishes) {
        struct wish *next = wishes->next;

        free(wishes);
        wishes = next;
    }
}

#ifdef HAVE_LINUX_LANDLOCK_H

#include <linux/landlock.h>

/* Those of later versions than the headers may know. */
#define ACCESS_REFER    (1ull << 13)
#define ACCESS_TRUNCATE (1ull << 14)

enum {
    READS = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    WRITES = READS | LANDLOCK_ACCESS_FS_WRITE_FILE |
             LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR |
             LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
             ACCESS_TRUNCATE,
    ON_FILES = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
               LANDLOCK_ACCESS_FS_EXECUTE | ACCESS_TRUNCATE,
    VERSION_1 = (1 << 13) - 1, /* all that it knows */
};

/* Rules that are being made. */
struct rules {
    int fd;
    uint64_t handled; /* what is refused where no rule allows it */
};

static void
allow(const struct rules *r, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr rule = { 0 };
    int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return; /* who opens it will hear why */
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
        access &= ON_FILES;
    rule.allowed_access = access & r->handled;
    rule.parent_fd = fd;
    syscall(SYS_landlock_add_rule, r->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(fd);
}

/* ---- named files --------------------------------------------------------- */

static void
allow_folder_of(const struct rules *r, const char *path, uint64_t access)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash == path ? 1 : slash ? (int)(slash - path) : 1;

    snprintf(folder, sizeof(folder), "%.*s", n, slash ? path : ".");
    allow(r, folder, access);
}

/* The hub's cache has links to files that are elsewhere. */
static void
allow_links(const struct rules *r, const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        char path[PATH_MAX];

        if (e->d_type == DT_LNK &&
            snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) < PATH_MAX)
            allow(r, path, READS);
    }
    if (d)
        closedir(d);
}

/* In /dev and /proc are no folders of models: the file alone. */
static bool
is_special(const char *path, const struct stat *st)
{
    return (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode)) ||
           strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

static void
allow_named(const struct rules *r, const struct wish *w)
{
    uint64_t access = w->use == SANDBOX_WRITE ? WRITES : READS;
    char real[PATH_MAX];
    struct stat st = { .st_mode = S_IFREG };

    if (stat(w->path, &st) == 0 && is_special(w->path, &st)) {
        allow(r, w->path, access);
    } else if (w->use == SANDBOX_READ_ALONE) {
        allow(r, w->path, access);
    } else if (S_ISDIR(st.st_mode)) {
        allow(r, w->path, access);
        allow_links(r, w->path);
    } else {
        allow_folder_of(r, w->path, access);
        if (realpath(w->path, real))
            allow_folder_of(r, real, access);
    }
}

/* ---- the system's -------------------------------------------------------- */

/* How many processors there are and may be used; the time zone; chance. */
static void
allow_system(const struct rules *r)
{
    static const char *const read[] = {
        "/proc/self",          "/proc/cpuinfo",       "/proc/meminfo",
        "/sys/fs/cgroup",      "/sys/devices/system", "/etc/localtime",
        "/usr/share/zoneinfo", "/dev/urandom",
    };

    struct stat st;

    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
        allow(r, read[i], READS);
    allow(r, "/dev/null", READS | LANDLOCK_ACCESS_FS_WRITE_FILE);
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
        allow(r, "/dev/stdin", READS); /* may be opened once more */
}

/* Names of hosts, certificates, and what the libraries load for them. */
static void
allow_network(const struct rules *r)
{
    static const char *const read[] = { "/etc",   "/usr", "/lib",
                                        "/lib64", "/opt", "/nix",
                                        "/gnu",   "/run", "/var/lib" };
    static const char *const named[] = { "SSL_CERT_FILE", "SSL_CERT_DIR",
                                         "CURL_CA_BUNDLE" };

    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
        allow(r, read[i], READS);
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (getenv(named[i]))
            allow(r, getenv(named[i]), READS);
}

/* A driver, its libraries and caches: nobody says which. */
static void
allow_gpu(const struct rules *r)
{
    static const char *const write[] = { "/dev", "/proc", "/tmp", "/var/tmp" };
    const char *home = getenv("HOME"), *cache = getenv("CUDA_CACHE_PATH");
    char path[PATH_MAX];

    allow(r, "/", READS);
    for (size_t i = 0; i < sizeof(write) / sizeof(write[0]); i++)
        allow(r, write[i], WRITES);
    if (home && snprintf(path, sizeof(path), "%s/.nv", home) < PATH_MAX)
        allow(r, path, WRITES);
    if (cache)
        allow(r, cache, WRITES);
}

/* ---- the kernel ---------------------------------------------------------- */

/* What the kernel can refuse; 0: it has no Landlock. */
static uint64_t
known_accesses(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
                           LANDLOCK_CREATE_RULESET_VERSION);

    if (version < 1)
        return 0;
    return VERSION_1 | (version >= 2 ? ACCESS_REFER : 0) |
           (version >= 3 ? ACCESS_TRUNCATE : 0);
}

static bool
confine_files(void)
{
    struct rules r = { .handled = known_accesses() };
    struct landlock_ruleset_attr attr;
    bool done;

    if (!r.handled)
        return false;
    if (kept & SANDBOX_GPU)
        r.handled &= ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE;
    attr = (struct landlock_ruleset_attr){ .handled_access_fs = r.handled };
    r.fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (r.fd < 0)
        return false;
    for (const struct wish *w = wishes; w; w = w->next)
        allow_named(&r, w);
    allow_system(&r);
    if (kept & SANDBOX_SOCKETS)
        allow_network(&r);
    if (kept & SANDBOX_GPU)
        allow_gpu(&r);
    done = syscall(SYS_landlock_restrict_self, r.fd, 0) == 0;
    close(r.fd);
    return done;
}

#else

static bool
confine_files(void)
{
    return false;
}

#endif

/* Whoever may write files is a writer. */
static enum sandbox_role
role_of_wishes(void)
{
    for (const struct wish *w = wishes; w; w = w->next)
        if (w->use == SANDBOX_WRITE)
            return SANDBOX_WRITER;
    return role;
}

void
sandbox_enter(bool verbose)
{
    bool files = false, calls = false;

    if (!is_off && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        files = (kept & SANDBOX_MPI) || confine_files();
        calls = sandbox_refuse_calls(role_of_wishes(), kept);
    }
    forget_wishes();
    if (!is_off && verbose && (!files || !calls))
        cli_warn("no sandbox for %s: this kernel has no %s",
                 !files && !calls ? "files and programs"
                 : files          ? "programs and sockets"
                                  : "files",
                 !files && !calls ? "Landlock and no seccomp"
                 : files          ? "seccomp"
                                  : "Landlock");
}
