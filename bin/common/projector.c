/* projector.c - the model that takes the rows, and its projector */
#include <config.h>

#include "common/projector.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gg.h>
#include <gguf.h>

#include "common/cli.h"

enum {
    SHARD_LEN = 15, /* "-00001-of-00003" */
};

/* ---- next to the model --------------------------------------------------- */

static int
is_projector_name(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return strncmp(e->d_name, "mmproj", 6) == 0 && n > 5 &&
           strcmp(e->d_name + n - 5, ".gguf") == 0;
}

/* The folder that the model's file lies in, or that it is. */
static const char *
folder_of(const char *model)
{
    static char folder[PATH_MAX];
    const char *slash = strrchr(model, '/');

    if (!slash)
        return ".";
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash - model + 1), model);
    return folder;
}

/* A file's name without ".gguf" and a shard's number. */
static void
stem_of(const char *model, char stem[PATH_MAX])
{
    const char *slash = strrchr(model, '/');
    int no, count, n;

    snprintf(stem, PATH_MAX, "%s", slash ? slash + 1 : model);
    n = (int)strlen(stem);
    if (n > 5 && strcmp(stem + n - 5, ".gguf") == 0)
        stem[n -= 5] = '\0';
    if (n > SHARD_LEN &&
        sscanf(stem + n - SHARD_LEN, "-%5d-of-%5d", &no, &count) == 2)
        stem[n - SHARD_LEN] = '\0';
}

/* "mmproj-X.gguf" is X.gguf's. */
static bool
is_own(const char *name, const char *stem)
{
    size_t n = strlen(stem);

    return strncmp(name, "mmproj-", 7) == 0 &&
           strncmp(name + 7, stem, n) == 0 &&
           strcmp(name + 7 + n, ".gguf") == 0;
}

/* Another model's, which lies there, whole or as shards. */
static bool
is_of_other(const char *folder, const char *name)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    char stem[PATH_MAX];
    bool is = false;

    while (d && !is && (e = readdir(d))) {
        stem_of(e->d_name, stem);
        is = is_own(name, stem);
    }
    if (d)
        closedir(d);
    return is;
}

static void
swap_names(struct dirent **names, int a, int b)
{
    struct dirent *other = names[a];

    names[a] = names[b];
    names[b] = other;
}

/* Where it was found, or why not. */
static char found[PATH_MAX], missing[PATH_MAX], model_lacks[PATH_MAX];

/* `it`: the model, next to which they lie. */
static void
say_missing(char out[PATH_MAX], int n, struct dirent *const *names,
            const char *it)
{
    if (n <= 0)
        snprintf(out, PATH_MAX,
                 "no projector (mmproj*.gguf) lies next to %s: name it by "
                 "--mmproj",
                 it);
    else
        snprintf(out, PATH_MAX,
                 "several projectors lie next to %s (%s, %s): name one by "
                 "--mmproj",
                 it, names[0]->d_name, names[1]->d_name);
}

/* Leaves the model's own, or else those that are no other's. */
static int
choose(const char *folder, const char *model, struct dirent **names, int n)
{
    char stem[PATH_MAX];
    int kept = 0;

    stem_of(model, stem);
    for (int i = 0; i < n; i++)
        if (is_own(names[i]->d_name, stem)) {
            swap_names(names, 0, i);
            return 1;
        }
    for (int i = 0; i < n; i++)
        if (!is_of_other(folder, names[i]->d_name))
            swap_names(names, kept++, i);
    return kept;
}

static void
search(const char *model)
{
    const char *folder = folder_of(model);
    struct dirent **names = NULL;
    int all = scandir(folder, &names, is_projector_name, alphasort);
    int n = choose(folder, model, names, all);

    if (n != 1) {
        say_missing(missing, n, names, "it");
        say_missing(model_lacks, n, names, "the model");
    } else if (snprintf(found, sizeof(found), "%s%s",
                        strchr(model, '/') ? folder : "./",
                        names[0]->d_name) >= (int)sizeof(found)) {
        snprintf(missing, sizeof(missing), "its projector's name is too long");
    }
    while (all > 0)
        free(names[--all]);
    free(names);
}

const char *
projector_look_for(const char *model, const char *mmproj)
{
    if (mmproj)
        return mmproj;
    if (!*found && !*missing)
        search(cli_model(model, true));
    return *missing ? NULL : found;
}

const char *
projector_why_missing(void)
{
    return *model_lacks ? model_lacks : NULL;
}

const char *
projector_find(const char *model, const char *mmproj)
{
    const char *path = projector_look_for(model, mmproj);

    if (!path)
        cli_die("%s: %s", cli_model(model, true), missing);
    return path;
}

/* ---- what it takes ------------------------------------------------------- */

static bool
is_integer(enum gguf_type type)
{
    return type == GGUF_TYPE_UINT32 || type == GGUF_TYPE_INT32;
}

/* ARCH.NAME of the model's file; 0: there is none. */
static uint64_t
number_of(const struct gguf_context *gguf, const char *name)
{
    int64_t arch = gguf_find_key(gguf, "general.architecture"), i;
    char key[256];

    if (arch < 0 || gguf_get_kv_type(gguf, arch) != GGUF_TYPE_STRING)
        return 0;
    snprintf(key, sizeof(key), "%s.%s", gguf_get_val_str(gguf, arch), name);
    i = gguf_find_key(gguf, key);
    return i >= 0 && is_integer(gguf_get_kv_type(gguf, i))
               ? gguf_get_val_u32(gguf, i)
               : 0;
}

static struct gg_file *
open_model(const char *model)
{
    struct gg_file *file;
    struct gg_error err;

    cli_check(gg_file_open_metadata(cli_model(model, true), 0, &file, &err),
              &err);
    return file;
}

static uint64_t
read_number(const char *model, const char *name)
{
    struct gg_file *file = open_model(model);
    uint64_t n = number_of(gg_file_gguf(file), name);

    gg_file_close(file);
    return n;
}

bool
projector_model_named(const char *model)
{
    const char *named = getenv("GG_MODEL");

    return model || (named && *named);
}

void
projector_check_model(const char *model, const struct gg_projector *projector)
{
    size_t width = gg_projector_width(projector);
    uint64_t n = read_number(model, "embedding_length");

    if (n && n != width)
        cli_die("%s: the model takes rows of %llu values, and the projector "
                "gives rows of %zu",
                cli_model(model, true), (unsigned long long)n, width);
}

uint64_t
projector_positions(const char *model)
{
    return read_number(model, "context_length");
}

int32_t
projector_first_id(const char *model)
{
    struct gg_file *file;
    const struct gguf_context *gguf;
    int64_t i, n;

    if (!projector_model_named(model))
        cli_misuse("a rows stream is for a model: -m names it");
    file = open_model(model);
    gguf = gg_file_gguf(file);
    i = gguf_find_tensor(gguf, "token_embd.weight");
    n = i >= 0 ? gguf_get_tensor_ne(gguf, i)[1] : 0;
    gg_file_close(file);
    if (n < 1 || n > INT32_MAX)
        cli_die("%s: the model has no embeddings of tokens",
                cli_model(model, true));
    return (int32_t)n;
}
