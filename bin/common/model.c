/* model.c - which model file a tool opens */
#include <config.h>

#include "common/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEMO_NAME "gg-story.gguf"

static char found[PATH_MAX];

/* All that were found: whoever was told of one may keep it. */
static struct kept {
    struct kept *next;
    char path[];
} * all_kept;

static const char *
keep_found(void)
{
    struct kept *kept = cli_alloc(NULL, 1, sizeof(*kept) + strlen(found) + 1);

    strcpy(kept->path, found);
    kept->next = all_kept;
    all_kept = kept;
    return kept->path;
}

/* found = "path" or "path.gguf", by which there is; true if one is. */
static bool
try_file(const char *path)
{
    static const char *const endings[] = { "", ".gguf" };

    for (int i = 0; i < 2; i++) {
        int n = snprintf(found, sizeof(found), "%s%s", path, endings[i]);

        if (n > 0 && (size_t)n < sizeof(found) && access(found, F_OK) == 0)
            return true;
    }
    return false;
}

/* As try_file(), of the path "dir" + "sub" + "/name". */
static bool
try_folder(const char *dir, size_t len, const char *sub, const char *name)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%.*s%s/%s", (int)len, dir, sub, name);

    return len > 0 && n > 0 && (size_t)n < sizeof(path) && try_file(path);
}

/* $GG_MODEL_PATH is a list with colons; an empty element is nothing. */
static bool
try_path(const char *list, const char *name)
{
    while (list && *list) {
        size_t len = strcspn(list, ":");

        if (len < sizeof(found) && try_folder(list, len, "", name))
            return true;
        list += len + (list[len] == ':');
    }
    return false;
}

static bool
try_data_home(const char *name)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    /* The XDG specification: a relative path is to be ignored. */
    if (data && *data == '/')
        return try_folder(data, strlen(data), "/gg", name);
    return home && try_folder(home, strlen(home), "/.local/share/gg", name);
}

bool
cli_program_folder(char dir[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
    const char *started = (const char *)getauxval(AT_EXECFN);
    char *slash;

    if (n > 0)
        dir[n] = '\0';
    else if (!started || !realpath(started, dir))
        return false;
    slash = strrchr(dir, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* True if this program runs where it was built. */
static bool
in_build_tree(const char *exe)
{
    char build[PATH_MAX];
    size_t len;

    if (!realpath(GG_BUILDDIR "/bin", build))
        return false;
    len = strlen(build);
    return strncmp(exe, build, len) == 0 && exe[len] == '/';
}

/* The last slash of what two paths have alike at their beginning. */
static size_t
last_common_slash(const char *a, const char *b)
{
    size_t slash = 0;

    for (size_t i = 0; a[i] == b[i] && a[i]; i++)
        if (a[i] == '/')
            slash = i;
    return slash;
}

/* Where data lie as seen from `exe`, the folder of programs, which is changed:
 * an installed tree may have been moved. */
static bool
try_near(char *exe)
{
    const char *bin = GG_BINDIR, *data = GG_DATADIR;
    size_t n = last_common_slash(bin, data);

    for (const char *s = bin + n; *s; s++) {
        char *slash = *s == '/' ? strrchr(exe, '/') : NULL;

        if (slash)
            *slash = '\0';
    }
    return try_folder(exe, strlen(exe), data + n, DEMO_NAME);
}

static const char *
demo_model(void)
{
    char exe[PATH_MAX];

    if (!cli_program_folder(exe))
        return GG_DATADIR "/" DEMO_NAME;
    if (in_build_tree(exe))
        return GG_SRCDIR "/demo/" DEMO_NAME;
    return try_near(exe) ? found : GG_DATADIR "/" DEMO_NAME;
}

/* A pipe, or a script, would say so again and again. */
static const char *
tell_demo_model(const char *path, bool quiet)
{
    if (quiet)
        return path;
    if (access(path, F_OK) != 0)
        cli_warn("no model named, and no demo model here: -m, or $GG_MODEL, "
                 "names one");
    else if (isatty(STDERR_FILENO))
        cli_warn("no model named: using the demo model, gg-story");
    return path;
}

const char *
cli_model(const char *name, bool quiet)
{
    if (!name)
        name = getenv("GG_MODEL");
    if (!name || !*name)
        return tell_demo_model(demo_model(), quiet);
    if (try_file(name))
        return keep_found();
    if (!strchr(name, '/') &&
        (try_path(getenv("GG_MODEL_PATH"), name) || try_data_home(name)))
        return keep_found();
    return name; /* opening it tells what is wrong */
}

/* ---- names of a hub's ---------------------------------------------------- */

static bool
is_word(const char *text, size_t n)
{
    return n > 0 && text[0] != '.' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_."
                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ") >= n;
}

/* True where `a` is all of the text, or a colon and a word follow. */
static bool
ends_name(const char *a)
{
    size_t n = strcspn(a, ":");

    return is_word(a, n) && (!a[n] || is_word(a + n + 1, strlen(a + n + 1)));
}

/* A hub's name, in two parts that gg-fetch takes; false: it is none. */
static bool
read_hub_name(const char *name, const char **scheme, const char **rest)
{
    const char *slash = strchr(name, '/');
    size_t n = strlen(name);
    struct stat st;
    char dir[256];

    *scheme = "";
    *rest = name;
    if (strncmp(name, "https://", 8) == 0 || strncmp(name, "http://", 7) == 0 ||
        strncmp(name, "hf:", 3) == 0 || strncmp(name, "ollama:", 7) == 0)
        return true;
    if (!slash)
        return strchr(name, ':') && ends_name(name);
    *scheme = "hf:";
    if (strncmp(name, "hf.co/", 6) == 0 ||
        strncmp(name, "huggingface.co/", 15) == 0) {
        *rest = slash + 1;
        return true;
    }
    snprintf(dir, sizeof(dir), "%.*s", (int)(slash - name), name);
    return is_word(name, (size_t)(slash - name)) && ends_name(slash + 1) &&
           !(n > 5 && strcasecmp(name + n - 5, ".gguf") == 0) &&
           stat(dir, &st) != 0;
}

/* `option`: "-m ", or "" of an argument. */
static void
check_name(const char *name, const char *option)
{
    const char *scheme, *rest;

    if (!name || !*name || !read_hub_name(name, &scheme, &rest))
        return;
    if (access(cli_model(name, true), F_OK) != 0)
        cli_die("%s: no file, but a hub's name: %s\"$(gg-fetch %s%s)\"", name,
                option, scheme, rest);
}

void
cli_check_model(const char *name)
{
    check_name(name ? name : getenv("GG_MODEL"), "-m ");
}

void
cli_check_model_file(const char *name)
{
    check_name(name, "");
}
