/* repository.c - the files of a repository, and which of them are a model */
#include <config.h>

#include "gg-fetch/repository.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/buffer.h"

#define GGUF     ".gguf"
#define STANDARD "Q4_K_M" /* of several, if nothing is wanted */
#define WEIGHTS  "model.safetensors"
#define INDEX    WEIGHTS ".index.json"

enum {
    SHARD_LEN = 15, /* "-00001-of-00003" */
};

void
repository_add(struct repository *r, const struct repository_file *file)
{
    if ((r->n & (r->n - 1)) == 0)
        r->p = cli_alloc(r->p, r->n ? 2 * r->n : 1, sizeof(*r->p));
    r->p[r->n++] = *file;
}

void
repository_clear(struct repository *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->p[i].path);
    free(r->p);
    *r = (struct repository){ 0 };
}

/* Without what gg_escape() would show otherwise: controls, also of the
 * direction of text, and backslashes. */
static bool
shows_as_itself(const char *path)
{
    size_t n = strlen(path), size = 4 * n + 1;
    char *shown = cli_alloc(NULL, size, 1);
    bool same = strcmp(gg_escape(shown, size, path, n), path) == 0;

    free(shown);
    return same;
}

bool
repository_is_safe(const char *path)
{
    if (!shows_as_itself(path))
        return false;
    do {
        size_t n = strcspn(path, "/");

        if (n == 0 || (n == 1 && path[0] == '.') ||
            (n == 2 && path[0] == '.' && path[1] == '.'))
            return false;
        path += n + (path[n] == '/');
        if (path[-1] == '/' && !*path)
            return false;
    } while (*path);
    return true;
}

bool
repository_read_hex(const char *text, size_t digits, char out[SUM_HEX])
{
    static const char lower[] = "0123456789abcdef";

    if (!text || strlen(text) != digits || digits >= SUM_HEX)
        return false;
    for (size_t i = 0; i < digits; i++) {
        const char *at = strchr(lower, text[i] | 0x20);

        if (!at || !*at)
            return false;
        out[i] = *at;
    }
    out[digits] = '\0';
    return true;
}

/* ---- GGUF files ---------------------------------------------------------- */

static bool
ends_with(const char *s, size_t n, const char *end)
{
    size_t m = strlen(end);

    return n >= m && strncasecmp(s + n - m, end, m) == 0;
}

/* A GGUF file's path without ".gguf" and a shard's number: its length; 0: it is
 * no such file. */
static size_t
stem_length(const char *path, int *no, int *count)
{
    size_t n = strlen(path);
    char rest;

    *no = *count = 1;
    if (!ends_with(path, n, GGUF))
        return 0;
    n -= strlen(GGUF);
    if (n > SHARD_LEN &&
        sscanf(path + n - SHARD_LEN, "-%5d-of-%5d%c", no, count, &rest) == 3 &&
        rest == '.' && *no >= 1 && *no <= *count)
        n -= SHARD_LEN;
    else
        *no = *count = 1;
    return n;
}

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* "mmproj-F16.gguf", "x.mmproj-f16.gguf": a projector of images or sounds. */
static bool
is_projector_name(const char *base)
{
    static const char word[] = "mmproj";

    for (const char *p = base; *p; p++)
        if ((p == base || strchr("-._", p[-1])) &&
            strncasecmp(p, word, sizeof(word) - 1) == 0)
            return true;
    return false;
}

/* The stem of the first or only file of a model; 0: it is none, but a shard, a
 * projector, an importance matrix. */
static size_t
model_stem(const char *path, int *count)
{
    const char *base = base_name(path);
    int no;
    size_t n = stem_length(path, &no, count);

    if (no != 1 || is_projector_name(base) ||
        strncasecmp(base, "imatrix", 7) == 0)
        return 0;
    return n;
}

static bool
is_projector(const char *path)
{
    return ends_with(path, strlen(path), GGUF) &&
           is_projector_name(base_name(path));
}

static bool
is_asked(const char *path, size_t stem, const char *want)
{
    size_t n = strlen(want);

    if (strcmp(path, want) == 0)
        return true;
    return n > 0 && n <= stem && strncasecmp(path + stem - n, want, n) == 0 &&
           (n == stem || strchr("-._/", path[stem - n - 1]));
}

/* How many models are wanted; *at gets the last one. */
static size_t
count_models(const struct repository *r, const char *want, size_t *at)
{
    size_t n = 0;
    int count;

    for (size_t i = 0; i < r->n; i++) {
        size_t stem = model_stem(r->p[i].path, &count);

        if (want && strcmp(r->p[i].path, want) == 0 &&
            (stem || is_projector(r->p[i].path))) {
            *at = i;
            return 1; /* whatever else ends so */
        }
        if (stem && (!want || is_asked(r->p[i].path, stem, want))) {
            *at = i;
            n++;
        }
    }
    return n;
}

/* The label: all after the last hyphen or dot of the stem. */
static void
read_label(const char *path, size_t stem, char *buf, size_t size)
{
    size_t from = stem;

    while (from && !strchr("-./", path[from - 1]))
        from--;
    snprintf(buf, size, "%.*s", (int)(stem - from), path + from);
}

/* ---- the projector ------------------------------------------------------- */

/* Reasons to choose one, in this order: more is better. */
struct rank {
    size_t folder; /* of its path, which the model is in */
    size_t alike;  /* bytes that its name has in common with the model's */
    int type;
};

static int
type_rank(const char *label)
{
    static const char *const types[] = { "F32", "BF16", "FP16", "F16" };
    int n = sizeof(types) / sizeof(*types);

    for (int i = n; i > 0; i--)
        if (strcasecmp(label, types[i - 1]) == 0)
            return i;
    return 0;
}

static size_t
common_length(const char *a, size_t n, const char *b)
{
    size_t i = 0;

    while (i < n && b[i] && (a[i] | 0x20) == (b[i] | 0x20))
        i++;
    return i;
}

/* "x" of "mmproj-x-F16": after the word, in front of the type. */
static size_t
name_alike(const char *path, size_t stem, const char *label, const char *model)
{
    const char *base = base_name(path), *end = path + stem;
    size_t n;

    if (strncasecmp(base, "mmproj-", 7) == 0)
        base += 7;
    n = base < end ? (size_t)(end - base) : 0;
    if (type_rank(label) && n > strlen(label))
        n -= strlen(label) + 1;
    return common_length(base, n, base_name(model));
}

/* False: it is none, or in a folder that the model is not in. */
static bool
rank_projector(const char *path, const char *model, struct rank *out)
{
    int no, count;
    size_t stem = stem_length(path, &no, &count);
    size_t folder = (size_t)(base_name(path) - path);
    char label[64];

    if (!is_projector(path) || strncmp(path, model, folder) != 0)
        return false;
    read_label(path, stem, label, sizeof(label));
    *out = (struct rank){ folder, name_alike(path, stem, label, model),
                          type_rank(label) };
    return true;
}

static bool
is_better(const struct rank *a, const struct rank *b)
{
    if (a->folder != b->folder)
        return a->folder > b->folder;
    if (a->alike != b->alike)
        return a->alike > b->alike;
    return a->type > b->type;
}

static void
pick_projector(const struct repository *r, const char *model,
               struct picked *out)
{
    struct rank best = { 0 }, rank;

    for (size_t i = 0; i < r->n; i++)
        if (rank_projector(r->p[i].path, model, &rank) &&
            (!out->has_projector || is_better(&rank, &best))) {
            best = rank;
            out->has_projector = true;
            out->projector = i;
        }
}

static void
pick_file(struct picked *out, size_t i)
{
    out->files = cli_alloc(out->files, out->n + 1, sizeof(*out->files));
    out->files[out->n++] = i;
}

static size_t
find_path(const struct repository *r, const char *path)
{
    size_t i = 0;

    while (i < r->n && strcmp(r->p[i].path, path) != 0)
        i++;
    return i;
}

/* All shards of the model whose first file is number `first`; which one is not
 * there, or 0. */
static int
pick_shards(const struct repository *r, size_t first, struct picked *out)
{
    const char *path = r->p[first].path;
    int count, missing = 0;
    size_t stem = model_stem(path, &count);

    pick_file(out, first);
    for (int no = 2; no <= count && !missing; no++) {
        struct buffer name = { 0 };
        size_t i;

        buffer_format(&name, "%.*s-%05d-of-%05d%s", (int)stem, path, no, count,
                      path + stem + SHARD_LEN);
        buffer_char(&name, '\0');
        i = find_path(r, name.p);
        buffer_clear(&name);
        if (i < r->n)
            pick_file(out, i);
        else
            missing = no;
    }
    return missing;
}

/* ---- folders ------------------------------------------------------------- */

/* Readers look into it. */
static bool
is_known_subfolder(const char *path, size_t len)
{
    char name[64];

    return len < sizeof(name) &&
           snprintf(name, sizeof(name), "%.*s", (int)len, path) > 0 &&
           gg_is_model_subfolder(name);
}

/* Files that gg-convert reads of a folder: weights, configuration, vocabulary
 * and templates, and those of known subfolders. */
static bool
is_folder_file(const char *path)
{
    static const char *const endings[] = { ".safetensors", ".json", ".model",
                                           ".txt", ".jinja" };
    const char *base = base_name(path);
    size_t n = strlen(path);

    if (base != path && !is_known_subfolder(path, (size_t)(base - path - 1)))
        return false;
    if (base != path && (path[0] < '0' || path[0] > '9'))
        return ends_with(path, n, ".jinja"); /* a folder of templates */
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (ends_with(path, n, endings[i]))
            return true;
    return false;
}

static bool
is_folder(const struct repository *r)
{
    return find_path(r, "config.json") < r->n &&
           (find_path(r, WEIGHTS) < r->n || find_path(r, INDEX) < r->n);
}

const char *
repository_index(const struct repository *r)
{
    size_t at;

    return count_models(r, NULL, &at) == 0 && is_folder(r) &&
                   find_path(r, INDEX) < r->n
               ? INDEX
               : NULL;
}

/* Weights of the folder itself: modules have their own. */
static bool
is_of_model(const char *path)
{
    return !strchr(path, '/') && ends_with(path, strlen(path), ".safetensors");
}

void
repository_keep_weights(struct repository *r,
                        bool (*is_named)(const void *data, const char *path),
                        const void *data)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->n; i++)
        if (!is_of_model(r->p[i].path) || is_named(data, r->p[i].path))
            r->p[kept++] = r->p[i];
        else
            free(r->p[i].path);
    r->n = kept;
}

/* Without an index one file has all weights: others have them once more, as
 * other types, or are an adapter. */
static void
pick_folder(const struct repository *r, struct picked *out)
{
    bool indexed = find_path(r, INDEX) < r->n;

    out->folder = true;
    for (size_t i = 0; i < r->n; i++) {
        const char *path = r->p[i].path;

        if (is_folder_file(path) &&
            (indexed || !is_of_model(path) || strcmp(path, WEIGHTS) == 0))
            pick_file(out, i);
    }
}

/* ---- which --------------------------------------------------------------- */

CLI_NORETURN static void
refuse_choice(const struct repository *r, const char *name, const char *want,
              size_t n)
{
    struct buffer list = { 0 };
    int count;

    for (size_t i = 0; i < r->n && list.len < 400; i++) {
        size_t stem = model_stem(r->p[i].path, &count);

        if (stem && (n == 0 || !want || is_asked(r->p[i].path, stem, want)))
            buffer_format(&list, " %s", r->p[i].path);
    }
    buffer_char(&list, '\0');
    if (n > 1)
        cli_die("%s: which of these models?%s", name, list.p);
    cli_die("%s: no model is called %s; there are%s", name, want, list.p);
}

void
repository_pick(const struct repository *r, const char *name, const char *want,
                struct picked *out)
{
    size_t at = 0, all = count_models(r, NULL, &at), n = all;
    int missing;

    *out = (struct picked){ 0 };
    if (all == 0 && !want && is_folder(r)) {
        pick_folder(r, out);
        return;
    }
    if (all == 0)
        cli_die("%s: no model is there: neither GGUF files nor a folder of "
                "Hugging Face's with safetensors",
                name);
    if (want)
        n = count_models(r, want, &at);
    else if (all > 1)
        n = count_models(r, STANDARD, &at) == 1 ? 1 : all;
    if (n != 1)
        refuse_choice(r, name, want, n);
    missing = pick_shards(r, at, out);
    if (missing)
        cli_die("%s: shard %d of %s is not there", name, missing,
                r->p[at].path);
    if (!is_projector(r->p[at].path))
        pick_projector(r, r->p[at].path, out);
}

size_t
repository_stem(const char *path)
{
    int no, count;

    return stem_length(path, &no, &count);
}

void
picked_clear(struct picked *p)
{
    free(p->files);
    *p = (struct picked){ 0 };
}

static uint64_t
sum_sizes(const struct repository *r, const struct picked *p)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < p->n; i++)
        if (__builtin_add_overflow(bytes, r->p[p->files[i]].size, &bytes))
            return UINT64_MAX;
    return bytes;
}

void
repository_list(const struct repository *r,
                void (*show)(const char *want, uint64_t bytes, size_t n_files,
                             const char *first))
{
    struct picked p = { 0 };
    size_t at;
    int count;

    for (size_t i = 0; i < r->n; i++) {
        size_t stem = model_stem(r->p[i].path, &count);
        char label[64];

        if (!stem || pick_shards(r, i, &p)) {
            picked_clear(&p);
            continue;
        }
        read_label(r->p[i].path, stem, label, sizeof(label));
        show(label, sum_sizes(r, &p), p.n, r->p[i].path);
        picked_clear(&p);
    }
    if (count_models(r, NULL, &at) == 0 && is_folder(r)) {
        pick_folder(r, &p);
        show("", sum_sizes(r, &p), p.n, r->p[p.files[0]].path);
        picked_clear(&p);
    }
}
