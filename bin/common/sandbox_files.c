/* sandbox_files.c - which files are confined to: Landlock
 *
 * By system calls: C libraries have no functions of these. What is unknown to
 * the kernel that runs is left out, version by version. Rules are for what is
 * there when they are made, and symbolic links are followed then. */
#include <config.h>

#include "common/sandbox_files.h"

#include <errno.h>

#ifdef HAVE_LINUX_LANDLOCK_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cli.h"

/* Rights of later versions than the headers may know. */
#define ACCESS_REFER     (1ull << 13)
#define ACCESS_TRUNCATE  (1ull << 14)
#define ACCESS_IOCTL_DEV (1ull << 15)

enum {
    READS = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    DEVICES = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
              ACCESS_TRUNCATE | ACCESS_IOCTL_DEV,
    WRITES = READS | DEVICES | LANDLOCK_ACCESS_FS_MAKE_REG |
             LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
             LANDLOCK_ACCESS_FS_REMOVE_DIR,
    ON_FILES = DEVICES | LANDLOCK_ACCESS_FS_EXECUTE,
    VERSION_1 = (1 << 13) - 1, /* all that it knows */
    MAX_SHARDS = 1024,         /* what readers take */
};

/* Rules that are being made. */
struct rules {
    int fd, error;    /* the first one */
    uint64_t handled; /* what is refused where no rule allows it */
};

static void
allow_open(struct rules *r, int fd, uint64_t access)
{
    struct landlock_path_beneath_attr rule = { .allowed_access =
                                                   access & r->handled,
                                               .parent_fd = fd };

    /* EBADFD: a pipe, of which nothing is refused. */
    if (rule.allowed_access &&
        syscall(SYS_landlock_add_rule, r->fd, LANDLOCK_RULE_PATH_BENEATH, &rule,
                0) &&
        errno != EBADFD && !r->error)
        r->error = errno;
}

/* A folder with all that is below it only if `folder`. */
static void
allow(struct rules *r, const char *path, uint64_t access, bool folder)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return; /* who opens it will hear why */
    if (fstat(fd, &st) == 0 && (folder || !S_ISDIR(st.st_mode)))
        allow_open(r, fd, S_ISDIR(st.st_mode) ? access : access & ON_FILES);
    close(fd);
}

static void
allow_tree(struct rules *r, const char *path, uint64_t access)
{
    allow(r, path, access, true);
}

static void
allow_file(struct rules *r, const char *path)
{
    allow(r, path, LANDLOCK_ACCESS_FS_READ_FILE, false);
}

/* ---- a model's files ----------------------------------------------------- */

static bool
ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The other files of "model-00001-of-00003.gguf". */
static void
allow_shards(struct rules *r, const char *path)
{
    static const char form[] = "-00001-of-00003.gguf";
    size_t n = strlen(path), m = strlen(form);
    int no, count;
    char rest, shard[PATH_MAX];

    if (n <= m || n >= sizeof(shard) ||
        sscanf(path + n - m, "-%5d-of-%5d.ggu%c", &no, &count, &rest) != 3 ||
        rest != 'f' || count > MAX_SHARDS)
        return;
    for (no = 1; no <= count; no++) {
        snprintf(shard, sizeof(shard), "%.*s-%05d-of-%05d.gguf", (int)(n - m),
                 path, no, count);
        allow_file(r, shard);
    }
}

static bool
is_projector(const char *name)
{
    return strncmp(name, "mmproj-", 7) == 0 && ends_with(name, ".gguf");
}

/* The vocabulary of llama2.c's checkpoints. */
static bool
is_vocabulary(const char *name)
{
    return strcmp(name, "tokenizer.bin") == 0;
}

static bool
is_shown(const char *name)
{
    return *name != '.';
}

/* Files of a folder, but not what is below it. */
static void
allow_some(struct rules *r, const char *folder, bool (*wanted)(const char *))
{
    DIR *d = opendir(folder);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        char path[PATH_MAX];

        if (wanted(e->d_name) && snprintf(path, sizeof(path), "%s/%s", folder,
                                          e->d_name) < (int)sizeof(path))
            allow_file(r, path);
    }
    if (d)
        closedir(d);
}

/* Files that belong to a file, in its folder. */
static void
allow_neighbours(struct rules *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    if (ends_with(path, ".gguf"))
        allow_some(r, slash == path ? "/" : folder, is_projector);
    else
        allow_some(r, slash == path ? "/" : folder, is_vocabulary);
}

static void
allow_model_file(struct rules *r, const char *path)
{
    char real[PATH_MAX];

    allow_file(r, path);
    allow_shards(r, path);
    allow_neighbours(r, path);
    if (!realpath(path, real) || strcmp(real, path) == 0)
        return;
    allow_shards(r, real);
    allow_neighbours(r, real);
}

/* A subfolder is listed, too. */
static void
allow_model_folder(struct rules *r, const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *e;

    allow_some(r, folder, is_shown);
    while (d && (e = readdir(d))) {
        char path[PATH_MAX];

        if (!gg_is_model_subfolder(e->d_name) ||
            snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >=
                (int)sizeof(path))
            continue;
        allow_tree(r, path, LANDLOCK_ACCESS_FS_READ_DIR);
        allow_some(r, path, is_shown);
    }
    if (d)
        closedir(d);
}

static bool
is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool
is_device(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static void
allow_named(struct rules *r, const struct sandbox_wish *w)
{
    switch (w->use) {
    case SANDBOX_READ:
        if (is_folder(w->path))
            allow_model_folder(r, w->path);
        else
            allow_model_file(r, w->path);
        break;
    case SANDBOX_TREE:
        allow_tree(r, w->path, READS);
        break;
    case SANDBOX_STORE:
        allow_tree(r, w->path, WRITES);
        break;
    case SANDBOX_UPDATE:
    case SANDBOX_WRITE:
    case SANDBOX_SHARDS:
        if (is_device(w->path))
            allow(r, w->path, DEVICES, false);
        break;
    default:
        break; /* done outside */
    }
}

/* ---- the system's -------------------------------------------------------- */

/* How many processors there are and may be used; the time zone; chance. */
static void
allow_system(struct rules *r)
{
    static const char *const read[] = {
        "/proc/self",          "/proc/cpuinfo",       "/proc/meminfo",
        "/sys/fs/cgroup",      "/sys/devices/system", "/etc/localtime",
        "/usr/share/zoneinfo", "/dev/urandom",
    };
    struct stat st;

    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
        allow_tree(r, read[i], READS);
    allow(r, "/dev/null", DEVICES, false);
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
        allow_file(r, "/dev/stdin"); /* may be opened once more */
}

/* Names of hosts, certificates, and what the libraries load for them. */
static void
allow_network(struct rules *r)
{
    static const char *const read[] = { "/etc",   "/usr", "/lib",
                                        "/lib64", "/opt", "/nix",
                                        "/gnu",   "/run", "/var/lib" };
    static const char *const named[] = { "SSL_CERT_FILE", "SSL_CERT_DIR",
                                         "CURL_CA_BUNDLE" };

    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
        allow_tree(r, read[i], READS);
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (getenv(named[i]))
            allow_tree(r, getenv(named[i]), READS);
}

/* A driver, its libraries and caches: nobody says which. */
static void
allow_gpu(struct rules *r)
{
    static const char *const write[] = { "/dev", "/proc", "/tmp", "/var/tmp" };
    const char *home = getenv("HOME"), *cache = getenv("CUDA_CACHE_PATH");
    char path[PATH_MAX];

    allow_tree(r, "/", READS);
    for (size_t i = 0; i < sizeof(write) / sizeof(write[0]); i++)
        allow_tree(r, write[i], WRITES);
    if (home && snprintf(path, sizeof(path), "%s/.nv", home) < PATH_MAX)
        allow_tree(r, path, WRITES);
    if (cache)
        allow_tree(r, cache, WRITES);
}

/* ---- the kernel ---------------------------------------------------------- */

/* Rights that the kernel can refuse; 0: errno says why none. */
static uint64_t
known_accesses(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
                           LANDLOCK_CREATE_RULESET_VERSION);

    if (version < 1)
        return 0;
    return VERSION_1 | (version >= 2 ? ACCESS_REFER : 0) |
           (version >= 3 ? ACCESS_TRUNCATE : 0) |
           (version >= 5 ? ACCESS_IOCTL_DEV : 0);
}

int
sandbox_confine_files(const struct sandbox_wish *wishes, unsigned kept)
{
    struct rules r = { .handled = known_accesses() };
    struct landlock_ruleset_attr attr;

    if (!r.handled)
        return errno;
    if (kept & SANDBOX_GPU)
        r.handled &= ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE;
    attr = (struct landlock_ruleset_attr){ .handled_access_fs = r.handled };
    r.fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (r.fd < 0)
        return errno;
    for (const struct sandbox_wish *w = wishes; w; w = w->next)
        allow_named(&r, w);
    allow_system(&r);
    if (kept & SANDBOX_SOCKETS)
        allow_network(&r);
    if (kept & SANDBOX_GPU)
        allow_gpu(&r);
    if (syscall(SYS_landlock_restrict_self, r.fd, 0) && !r.error)
        r.error = errno;
    close(r.fd);
    return r.error;
}

#else

int
sandbox_confine_files(const struct sandbox_wish *wishes, unsigned kept)
{
    (void)wishes, (void)kept;
    return ENOSYS;
}

#endif
