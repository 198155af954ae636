/* prefix_files.c - hashes of a model's files, which are computed once
 *
 * A hash is remembered with the file's size, and its times of change to the
 * nanosecond: with the device and inode in the name of what remembers it, a
 * file that any tool has changed is another one. Times are not that exact: a
 * file that was changed a moment ago is hashed once more next time. */
#include <config.h>

#include "common/prefix_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/cli.h"

enum {
    MOMENT = 2,       /* seconds */
    MAX_MEMO = 256,   /* bytes of what remembers a hash */
    MAX_SHARDS = 1024 /* what readers take */
};

/* ---- names --------------------------------------------------------------- */

void
prefix_hex(const uint8_t *hash, char hex[PREFIX_DIGITS + 1])
{
    for (int i = 0; i < PREFIX_DIGITS / 2; i++)
        snprintf(hex + 2 * i, 3, "%02x", hash[i]);
}

char *
prefix_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = cli_alloc(NULL, 1, size);

    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

bool
prefix_make_folder(const char *path)
{
    struct stat st;

    if (mkdir(path, 0700) && errno != EEXIST)
        return false;
    if (stat(path, &st))
        return false;
    errno = !S_ISDIR(st.st_mode) ? ENOTDIR : EPERM;
    return S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* ---- what is remembered -------------------------------------------------- */

/* A hash is right for a file of this size and these times. */
static int
print_memo(char memo[MAX_MEMO], const struct stat *st, const char *hex)
{
    return snprintf(memo, MAX_MEMO, "%lld %lld.%09ld %lld.%09ld %s\n",
                    (long long)st->st_size, (long long)st->st_mtim.tv_sec,
                    (long)st->st_mtim.tv_nsec, (long long)st->st_ctim.tv_sec,
                    (long)st->st_ctim.tv_nsec, hex);
}

static char *
memo_path(const char *cache, const struct stat *st)
{
    char name[80];

    snprintf(name, sizeof(name), "%s/%llx-%llx", PREFIX_MODELS,
             (unsigned long long)st->st_dev, (unsigned long long)st->st_ino);
    return prefix_join(cache, name);
}

static bool
is_hash(const char *text)
{
    return strspn(text, "0123456789abcdef") >= PREFIX_DIGITS;
}

static bool
read_memo(const char *cache, const struct stat *st, char hex[PREFIX_DIGITS + 1])
{
    char *path = memo_path(cache, st), read[MAX_MEMO], memo[MAX_MEMO];
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(read, 1, sizeof(read) - 1, f) : 0, before;

    free(path);
    if (f)
        fclose(f);
    read[n] = '\0';
    before = (size_t)print_memo(memo, st, "") - 1;
    if (n != before + PREFIX_DIGITS + 1 || !is_hash(read + before))
        return false;
    snprintf(hex, PREFIX_DIGITS + 1, "%s", read + before);
    print_memo(memo, st, hex);
    return strcmp(memo, read) == 0;
}

/* As far as it can be: the next run can hash the file again. */
static void
write_memo(const char *cache, const struct stat *st, const char *hex)
{
    char memo[MAX_MEMO], *path = memo_path(cache, st);
    char *temporary = prefix_join(cache, PREFIX_MODELS "/new-XXXXXX");
    int n = print_memo(memo, st, hex), fd = mkostemp(temporary, O_CLOEXEC);

    if (fd >= 0 && (write(fd, memo, (size_t)n) != n || rename(temporary, path)))
        unlink(temporary);
    if (fd >= 0)
        close(fd);
    free(temporary);
    free(path);
}

/* ---- files --------------------------------------------------------------- */

static bool
same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool
same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) &&
           same_time(a->st_ctim, b->st_ctim);
}

static bool
changed_just_now(const struct stat *st)
{
    time_t now = time(NULL), then = st->st_mtim.tv_sec;

    if (st->st_ctim.tv_sec > then)
        then = st->st_ctim.tv_sec;
    return now - then < MOMENT;
}

/* False: it changed meanwhile. */
static bool
hash_open(const char *cache, int fd, struct stat *st,
          char hex[PREFIX_DIGITS + 1])
{
    uint8_t hash[GG_SHA256];
    struct gg_error err;
    struct stat after;

    if (read_memo(cache, st, hex))
        return true;
    if (gg_sha256_file(fd, hash, &err) != GG_OK || fstat(fd, &after) ||
        !same_file(st, &after))
        return false;
    prefix_hex(hash, hex);
    if (!changed_just_now(st))
        write_memo(cache, st, hex);
    return true;
}

static void
note_hashed(struct prefix_files *files, const char *path, const struct stat *st)
{
    files->list = cli_alloc(files->list, files->n + 1, sizeof(*files->list));
    files->list[files->n].path = cli_copy(path, strlen(path));
    files->list[files->n++].st = *st;
}

static bool
hash_file(const char *cache, const char *path, struct prefix_files *files,
          struct buffer *key)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char hex[PREFIX_DIGITS + 1];
    struct stat st;
    bool done = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                hash_open(cache, fd, &st, hex);

    if (fd >= 0)
        close(fd);
    if (!done)
        return false;
    note_hashed(files, path, &st);
    buffer_add(key, hex, PREFIX_DIGITS);
    buffer_char(key, '\n');
    return true;
}

/* "model-00001-of-00003.gguf", of which all count. */
static bool
hash_shards(const char *cache, const char *path, struct prefix_files *files,
            struct buffer *key)
{
    static const char form[] = "-00001-of-00003.gguf";
    size_t n = strlen(path), m = strlen(form);
    int no, count = 0;
    char rest, *shard;
    bool done = true;

    if (n <= m ||
        sscanf(path + n - m, "-%5d-of-%5d.ggu%c", &no, &count, &rest) != 3 ||
        rest != 'f' || count < 1 || count > MAX_SHARDS)
        return hash_file(cache, path, files, key);
    shard = cli_alloc(NULL, 1, n + 1);
    for (no = 1; no <= count && done; no++) {
        snprintf(shard, n + 1, "%.*s-%05d-of-%05d.gguf", (int)(n - m), path, no,
                 count);
        done = hash_file(cache, shard, files, key);
    }
    free(shard);
    return done;
}

static int
is_visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static bool
leads_to_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Its files by their names, and those of subfolders that belong to a model. */
static bool
hash_folder(const char *cache, const char *folder, bool below,
            struct prefix_files *files, struct buffer *key)
{
    struct dirent **list;
    int n = scandir(folder, &list, is_visible, alphasort);
    bool done = n >= 0;

    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        char *path = prefix_join(folder, name);

        buffer_add(key, name, strlen(name) + 1);
        if (done && !leads_to_folder(path))
            done = hash_file(cache, path, files, key);
        else if (done && !below && gg_is_model_subfolder(name))
            done = hash_folder(cache, path, true, files, key);
        free(path);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    return done;
}

bool
prefix_hash_model(const char *cache, const char *path,
                  struct prefix_files *files, struct buffer *key)
{
    return leads_to_folder(path) ? hash_folder(cache, path, false, files, key)
                                 : hash_shards(cache, path, files, key);
}

bool
prefix_files_same(const struct prefix_files *files)
{
    struct stat st;

    for (size_t i = 0; i < files->n; i++)
        if (stat(files->list[i].path, &st) ||
            !same_file(&st, &files->list[i].st))
            return false;
    return true;
}

void
prefix_files_clear(struct prefix_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->list[i].path);
    free(files->list);
    *files = (struct prefix_files){ 0 };
}
