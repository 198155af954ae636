/* model.c - which model file a tool opens */
#include <config.h>

#include "common/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEMO_NAME "gg-story.gguf"

static char found[PATH_MAX];

static bool
is_file(const char *path)
{
    return access(path, F_OK) == 0;
}

/* found = "dir/name"; true if it is there. */
static bool
try_folder(const char *dir, size_t len, const char *sub, const char *name)
{
    int n =
        snprintf(found, sizeof(found), "%.*s%s/%s", (int)len, dir, sub, name);

    return len > 0 && n > 0 && (size_t)n < sizeof(found) && is_file(found);
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

/* True if this program runs where it was built. */
static bool
in_build_tree(void)
{
    char exe[PATH_MAX], build[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    size_t len;

    if (n < 0 || !realpath(GG_BUILDDIR "/bin", build))
        return false;
    exe[n] = '\0';
    len = strlen(build);
    return strncmp(exe, build, len) == 0 && exe[len] == '/';
}

static const char *
demo_model(void)
{
    return in_build_tree() ? GG_SRCDIR "/demo/" DEMO_NAME
                           : GG_DATADIR "/" DEMO_NAME;
}

const char *
cli_model(const char *name, bool quiet)
{
    if (!name) {
        name = getenv("GG_MODEL");
        if (!name || !*name) {
            name = demo_model();
            if (!quiet)
                cli_warn("no model named: using the demo model, %s", name);
            return name;
        }
    }
    if (strchr(name, '/') || is_file(name))
        return name;
    if (try_path(getenv("GG_MODEL_PATH"), name) || try_data_home(name))
        return found;
    return name; /* opening it tells what is wrong */
}
