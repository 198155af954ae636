/* installed.c - the list of what gg-fetch has put in a folder */
#include <config.h>

#include "gg-fetch/installed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST "/.gg-fetch"

enum {
    MAX_LIST = 16 << 20, /* bytes */
    MAX_DEPTH = 4,       /* of folders in a model's */
    N_FIELDS = 4,
};

/* A line of the list. */
struct entry {
    char *source, *endpoint, *name;
    uint64_t bytes;
};

struct entries {
    char *text; /* what they point to */
    struct entry *p;
    size_t n;
};

static char *
join_path(const char *dir, const char *sep, const char *name)
{
    struct buffer path = { 0 };

    buffer_format(&path, "%s%s%s", dir, sep, name);
    buffer_char(&path, '\0');
    return path.p;
}

/* ---- the list ------------------------------------------------------------ */

/* False: it is no such line, and nothing is taken from it. */
static bool
read_entry(char *line, struct entry *out)
{
    char *field[N_FIELDS], *end;

    for (int i = 0; i < N_FIELDS; i++) {
        field[i] = line;
        line += strcspn(line, "\t");
        if ((i < N_FIELDS - 1) != (*line == '\t'))
            return false;
        if (*line)
            *line++ = '\0';
    }
    *out = (struct entry){ field[0], field[1], field[2],
                           strtoull(field[3], &end, 10) };
    return *field[3] && !*end && repository_is_safe(out->name);
}

static void
read_list(const char *dir, struct entries *out)
{
    char *path = join_path(dir, LIST, ""), *next;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len;

    *out = (struct entries){ 0 };
    if (fd >= 0) {
        out->text = cli_read_all(fd, path, MAX_LIST, &len);
        close(fd);
    }
    for (char *p = out->text; p && *p; p = next) {
        struct entry e;
        size_t n = strcspn(p, "\n");

        next = p + n + (p[n] == '\n');
        p[n] = '\0';
        if (!read_entry(p, &e))
            continue;
        out->p = cli_alloc(out->p, out->n + 1, sizeof(*out->p));
        out->p[out->n++] = e;
    }
    free(path);
}

static void
clear_list(struct entries *list)
{
    free(list->text);
    free(list->p);
}

static void
format_entry(struct buffer *out, const struct entry *e)
{
    buffer_format(out, "%s\t%s\t%s\t%llu\n", e->source, e->endpoint, e->name,
                  (unsigned long long)e->bytes);
}

/* All of the text, at the end of the list or, by renaming, in its place. */
static void
write_list(const char *dir, const struct buffer *text, bool anew)
{
    char *path = join_path(dir, LIST, ""), *made = join_path(path, "", ".part");
    int fd = open(anew ? made : path,
                  O_WRONLY | O_CREAT | O_CLOEXEC | (anew ? O_TRUNC : O_APPEND),
                  0666);
    bool good = fd >= 0 && write(fd, text->p, text->len) == (ssize_t)text->len;

    good = fd >= 0 && close(fd) == 0 && good;
    if (!good || (anew && rename(made, path)))
        cli_warn("%s: %s: a second call will ask the server again", path,
                 strerror(errno));
    free(path);
    free(made);
}

/* True if the entry is of this source and endpoint. */
static bool
is_of(const struct entry *e, const char *source)
{
    return strcmp(e->source, source) == 0 &&
           strcmp(e->endpoint, http_endpoint()) == 0;
}

/* ---- files --------------------------------------------------------------- */

/* Bytes of a file, or of a folder's files; with `remove`, it goes. False: it is
 * not there. */
static bool
count_bytes(const char *path, int depth, bool remove_it, uint64_t *bytes)
{
    struct stat st;
    const struct dirent *e;
    DIR *d;

    if (lstat(path, &st))
        return false;
    if (!S_ISDIR(st.st_mode)) {
        *bytes += (uint64_t)st.st_size;
        return !remove_it || unlink(path) == 0;
    }
    d = depth < MAX_DEPTH ? opendir(path) : NULL;
    while (d && (e = readdir(d))) {
        char *below = join_path(path, "/", e->d_name);

        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            count_bytes(below, depth + 1, remove_it, bytes);
        free(below);
    }
    if (d)
        closedir(d);
    return !remove_it || rmdir(path) == 0;
}

static bool
is_whole(const char *dir, const struct entry *e)
{
    char *path = join_path(dir, "/", e->name);
    uint64_t bytes = 0;
    bool whole = count_bytes(path, 0, false, &bytes) && bytes == e->bytes;

    free(path);
    return whole;
}

char *
installed_find(const char *dir, const char *source)
{
    struct entries list;
    const struct entry *first = NULL;
    bool whole = true;
    char *path = NULL;

    read_list(dir, &list);
    for (size_t i = 0; i < list.n; i++)
        if (is_of(&list.p[i], source)) {
            first = first ? first : &list.p[i];
            whole = whole && is_whole(dir, &list.p[i]);
        }
    if (first && whole)
        path = join_path(dir, "/", first->name);
    clear_list(&list);
    return path;
}

/* ---- additions ----------------------------------------------------------- */

static void
add_entry(struct buffer *out, const char *dir, const char *source,
          const char *path)
{
    struct entry e = { .source = (char *)source,
                       .endpoint = (char *)http_endpoint(),
                       .name = (char *)path + strlen(dir) + 1 };

    count_bytes(path, 0, false, &e.bytes);
    format_entry(out, &e);
}

static bool
is_called(const struct entry *e, const char *name)
{
    return name && strcmp(e->name, name) == 0;
}

/* All lines but those of the source; NULL: of the two names. */
static void
keep_others(struct buffer *out, const struct entries *list, const char *source,
            const char *name, const char *other)
{
    for (size_t i = 0; i < list->n; i++)
        if (!(source && is_of(&list->p[i], source)) &&
            !is_called(&list->p[i], name) && !is_called(&list->p[i], other))
            format_entry(out, &list->p[i]);
}

void
installed_add(const struct plan *plan, const char *source)
{
    struct buffer text = { 0 };
    struct entries list;
    bool known = false;

    if (source[strcspn(source, "\t\n")])
        return;
    read_list(plan->dir, &list);
    for (size_t i = 0; i < list.n; i++)
        known = known || is_of(&list.p[i], source);
    if (known)
        keep_others(&text, &list, source, NULL, NULL);
    if (plan->folder)
        add_entry(&text, plan->dir, source, plan->folder);
    for (size_t i = 0; i < plan->n && !plan->folder; i++)
        add_entry(&text, plan->dir, source, plan->p[i].final);
    write_list(plan->dir, &text, known);
    buffer_clear(&text);
    clear_list(&list);
}

/* ---- what is there ------------------------------------------------------- */

static bool
is_model_name(const char *dir, const char *name)
{
    char *path = join_path(dir, "/", name);
    char *config = join_path(path, "/", "config.json");
    size_t n = strlen(name);
    bool is =
        name[0] != '.' && (access(config, F_OK) == 0 ||
                           (n > 5 && strcasecmp(name + n - 5, ".gguf") == 0));

    free(path);
    free(config);
    return is;
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The models of the folder, in order. */
static size_t
find_models(const char *dir, char ***names)
{
    DIR *d = opendir(dir);
    const struct dirent *e;
    size_t n = 0;

    *names = NULL;
    while (d && (e = readdir(d)))
        if (is_model_name(dir, e->d_name)) {
            *names = cli_alloc(*names, n + 1, sizeof(**names));
            (*names)[n++] = join_path(e->d_name, "", "");
        }
    if (d)
        closedir(d);
    if (n)
        qsort(*names, n, sizeof(**names), compare_names);
    return n;
}

static const char *
source_of(const struct entries *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->p[i].name, name) == 0)
            return list->p[i].source;
    return "-";
}

void
installed_list(const char *dir)
{
    struct entries list;
    char **names;
    size_t n = find_models(dir, &names);

    read_list(dir, &list);
    for (size_t i = 0; i < n; i++) {
        char *path = join_path(dir, "/", names[i]);
        const char *source = source_of(&list, names[i]);
        char a[1024], b[1024];
        uint64_t bytes = 0;

        count_bytes(path, 0, false, &bytes);
        printf("%s\t%llu\t%s\n",
               gg_escape(a, sizeof(a), names[i], strlen(names[i])),
               (unsigned long long)bytes,
               gg_escape(b, sizeof(b), source, strlen(source)));
        free(path);
        free(names[i]);
    }
    free(names);
    clear_list(&list);
}

/* ---- removal ------------------------------------------------------------- */

static void
remove_model(const char *dir, const char *name)
{
    char *path = join_path(dir, "/", name);
    uint64_t bytes = 0;

    if (!count_bytes(path, 0, true, &bytes) && errno != ENOENT)
        cli_die("%s: %s", path, strerror(errno));
    free(path);
}

/* The name with ".gguf", if it was left out; NULL: it is none there. */
static char *
name_there(const char *dir, const char *name)
{
    static const char *const endings[] = { "", ".gguf" };

    for (int i = 0; i < 2; i++) {
        char *full = join_path(name, "", endings[i]);

        if (repository_is_safe(full) && !strchr(full, '/') &&
            is_model_name(dir, full)) {
            char *path = join_path(dir, "/", full);
            bool there = access(path, F_OK) == 0;

            free(path);
            if (there)
                return full;
        }
        free(full);
    }
    return NULL;
}

void
installed_remove(const char *dir, const char *name)
{
    struct entries list;
    struct buffer text = { 0 };
    char *one = NULL, *own = NULL; /* its projector */
    bool found = false;

    read_list(dir, &list);
    for (size_t i = 0; i < list.n; i++)
        if (is_of(&list.p[i], name)) {
            remove_model(dir, list.p[i].name);
            found = true;
        }
    if (!found && (one = name_there(dir, name))) {
        remove_model(dir, one);
        own = join_path("mmproj-", one, "");
        remove_model(dir, own);
    }
    if (!found && !one)
        cli_die("%s: nothing of this name is in %s", name, dir);
    keep_others(&text, &list, found ? name : NULL, one, own);
    if (list.n)
        write_list(dir, &text, true);
    buffer_clear(&text);
    clear_list(&list);
    free(one);
    free(own);
}
