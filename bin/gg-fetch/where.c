/* where.c - where a model is on this machine */
#include <config.h>

#include "gg-fetch/fetch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/sandbox.h"
#include "gg-fetch/hub.h"
#include "gg-fetch/ollama.h"

enum {
    MAX_MANIFEST = 1 << 20, /* bytes */
    MAX_DEPTH = 2,          /* of folders in a snapshot */
};

static char *
join(const char *a, const char *b)
{
    struct buffer path = { 0 };

    buffer_format(&path, "%s%s", a, b);
    buffer_char(&path, '\0');
    return path.p;
}

/* The value of `variable`, or else of `base`, and `below` after that; NULL:
 * both are not set. */
static char *
from_environment(const char *variable, const char *base, const char *below)
{
    const char *direct = getenv(variable), *home = getenv(base);

    if (direct && *direct)
        return join(direct, "");
    return home && *home ? join(home, below) : NULL;
}

/* ---- the hub's cache ----------------------------------------------------- */

char *
fetch_hub_cache(void)
{
    char *path = from_environment("HF_HUB_CACHE", "HF_HOME", "/hub");

    if (!path)
        path = from_environment("", "XDG_CACHE_HOME", "/huggingface/hub");
    if (!path)
        path = from_environment("", "HOME", "/.cache/huggingface/hub");
    return path;
}

static void
walk(struct repository *out, const char *dir, const char *below, int depth)
{
    char *path = join(dir, below);
    DIR *d = opendir(path);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        struct buffer name = { 0 };
        struct repository_file f = { .has_size = true };
        struct stat st;

        if (e->d_name[0] == '.')
            continue;
        buffer_format(&name, "%s/%s", below, e->d_name);
        buffer_char(&name, '\0');
        if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) &&
            repository_is_safe(name.p + 1)) {
            f.path = join(name.p + 1, "");
            f.size = (uint64_t)st.st_size;
            repository_add(out, &f);
        } else if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH) {
            walk(out, dir, name.p, depth + 1);
        }
        buffer_clear(&name);
    }
    if (d)
        closedir(d);
    free(path);
}

/* The commit that a name of a revision stands for, as refs/NAME says. */
static char *
read_ref(const char *repository, const char *revision)
{
    char *dir = join(repository, "/refs/"), *path = join(dir, revision);
    char text[SUM_HEX] = "", hex[SUM_HEX];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, SUM_HEX - 1) : -1;

    if (fd >= 0)
        close(fd);
    free(dir);
    free(path);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\r\n ")] = '\0';
    return join(repository_read_hex(text, 40, hex) ? hex : revision, "");
}

/* NULL: it is not there. */
static char *
find_in_cache(const struct hub_source *s)
{
    struct repository files = { 0 };
    struct picked picked;
    struct buffer dir = { 0 }, path = { 0 };
    char *cache = fetch_hub_cache(), *commit;

    if (!cache)
        return NULL;
    buffer_format(&dir, "%s/models--%s--%s", cache, s->owner, s->name);
    buffer_char(&dir, '\0');
    commit = read_ref(dir.p, s->revision ? s->revision : "main");
    buffer_format(&path, "%s/snapshots/%s", dir.p, commit);
    buffer_char(&path, '\0');
    walk(&files, path.p, "", 0);
    if (files.n) {
        repository_pick(&files, s->text, s->want, &picked);
        path.len--;
        if (!picked.folder)
            buffer_format(&path, "/%s", files.p[picked.files[0]].path);
        buffer_char(&path, '\0');
        picked_clear(&picked);
    } else {
        buffer_clear(&path);
    }
    repository_clear(&files);
    buffer_clear(&dir);
    free(commit);
    free(cache);
    return path.p;
}

/* ---- ollama's ------------------------------------------------------------ */

/* The blob that holds the weights, as a manifest says. */
static char *
read_manifest(const char *text, size_t len, const char *models)
{
    struct checksum sum;
    uint64_t size;
    char *dir = join(models, "/blobs/sha256-"), *found = NULL;

    if (ollama_read_manifest(text, len, &sum, &size))
        found = join(dir, sum.hex);
    free(dir);
    return found;
}

/* NAME[:TAG], OWNER/NAME, HOST/OWNER/NAME: the manifest's path. */
static char *
manifest_path(const char *models, const char *name)
{
    struct buffer path = { 0 };
    size_t n = strcspn(name, ":"), slashes = 0;

    for (size_t i = 0; i < n; i++)
        slashes += name[i] == '/';
    buffer_format(&path, "%s/manifests/%s%s%.*s/%s", models,
                  slashes < 2 ? "registry.ollama.ai/" : "",
                  slashes < 1 ? "library/" : "", (int)n, name,
                  name[n] ? name + n + 1 : "latest");
    buffer_char(&path, '\0');
    return path.p;
}

/* In that folder of ollama's; NULL: it is not there. */
static char *
find_in_ollama(const char *models, const char *name)
{
    char *path, *text, *found = NULL;
    size_t len;
    int fd;

    if (!models || !repository_is_safe(name))
        return NULL;
    path = manifest_path(models, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        text = cli_read_all(fd, path, MAX_MANIFEST, &len);
        found = read_manifest(text, len, models);
        free(text);
        close(fd);
    }
    free(path);
    return found;
}

static char *
find_ollama(const char *name)
{
    char *models = ollama_folder();
    char *found = find_in_ollama(models, name);

    if (!found && !getenv("OLLAMA_MODELS"))
        found = find_in_ollama("/usr/share/ollama/.ollama/models", name);
    free(models);
    return found;
}

/* ---- all ----------------------------------------------------------------- */

/* OWNER/NAME[:WANT], with "hf:" or without; NULL: it is not there, or is no
 * name of a repository. */
static char *
find_hub(const char *name)
{
    struct hub_source s;
    char *text =
        strncmp(name, "hf:", 3) == 0 ? join(name, "") : join("hf:", name);
    const char *slash = strchr(text, '/');
    char *found = NULL;

    if (slash && !strchr(slash + 1, '/') && text[3] != '.' && text[3] != '/') {
        hub_read_source(text, &s);
        s.text = name;
        found = find_in_cache(&s);
        hub_source_clear(&s);
    }
    free(text);
    return found;
}

/* Nothing but these is read, and no server asked. */
static void
enter_where_sandbox(bool verbose)
{
    char *cache = fetch_hub_cache();
    char *models = ollama_folder();

    sandbox_add(cache, SANDBOX_TREE);
    sandbox_add(models, SANDBOX_TREE);
    sandbox_add("/usr/share/ollama/.ollama/models", SANDBOX_TREE);
    sandbox_enter(verbose);
    free(cache);
    free(models);
}

void
fetch_where(const char *name, bool verbose)
{
    const char *model = cli_model(name, true);
    char *found = NULL;

    enter_where_sandbox(verbose);
    if (access(model, F_OK) == 0)
        found = join(model, "");
    if (!found)
        found = find_hub(name);
    if (!found)
        found = find_ollama(strncmp(name, "ollama:", 7) == 0 ? name + 7 : name);
    if (!found || access(found, F_OK))
        cli_die("%s: not where -m looks, nor in the hub's cache, nor among "
                "ollama's",
                name);
    printf("%s\n", found);
    free(found);
}
