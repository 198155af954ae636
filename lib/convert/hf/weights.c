/* weights.c - the tensors of a folder, in one file or several */
#include <config.h>

#ifdef HAVE_JANSSON

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "convert/hf/packed.h"
#include "core/json.h"
#include "core/mem.h"

enum {
    MAX_FILES = 1024, /* each costs a mapping */
    MAX_PATH_LENGTH = 4096,
};

#define SINGLE "model.safetensors"
#define INDEX  SINGLE ".index.json"

/* In front of names without their outermost part: models of text and pictures
 * have that of text inside. */
static const char *const bare[] = { "", "language_model." };

static bool
join(char out[MAX_PATH_LENGTH], const char *folder, const char *name)
{
    return snprintf(out, MAX_PATH_LENGTH, "%s/%s", folder, name) <
           MAX_PATH_LENGTH;
}

static enum gg_status
open_file(const char *folder, const char *name, struct hf_weights *w,
          struct gg_error *err)
{
    char path[MAX_PATH_LENGTH];
    enum gg_status st;

    if (!join(path, folder, name))
        return error_set(err, GG_ERR_IO, "%s: the name is too long", folder);
    st = convert_safetensors_open(path, &w->files[w->n_files], err);
    if (st == GG_OK)
        w->n_files++;
    return st;
}

/* ---- the index ----------------------------------------------------------- */

bool
convert_hf_is_plain(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

/* The names of the files, each once, in *files; returns how many. */
static uint32_t
list_files(struct core_json_keys *k, const json_t *map, const char **files)
{
    struct hash_map seen = { 0 };
    uint32_t n = 0;
    const char *name;
    json_t *value;

    if (!hash_map_init(&seen, MAX_FILES + 1)) {
        k->status = error_nomem(k->err);
        return 0;
    }
    json_object_foreach((json_t *)(uintptr_t)map, name, value)
    {
        const char *file = json_string_value(value);

        if (!file || !convert_hf_is_plain(file)) {
            core_json_bad(k, GG_ERR_FORMAT,
                          "%.80s: names no file of the folder", name);
        } else if (hash_map_add(&seen, file, strlen(file), n) == n) {
            if (n < MAX_FILES)
                files[n++] = file;
            else
                core_json_bad(k, GG_ERR_FORMAT, "more than %d files",
                              MAX_FILES);
        }
        if (k->status != GG_OK)
            break;
    }
    hash_map_clear(&seen);
    return n;
}

static void
open_listed(const char *folder, struct core_json_keys *k, const json_t *map,
            struct hf_weights *w)
{
    const char **files = mem_array(MAX_FILES, sizeof(*files));
    uint32_t n = files ? list_files(k, map, files) : 0;

    w->files = files ? mem_array(n, sizeof(*w->files)) : NULL;
    if (!w->files && k->status == GG_OK)
        k->status = error_nomem(k->err);
    for (uint32_t i = 0; k->status == GG_OK && i < n; i++)
        k->status = open_file(folder, files[i], w, k->err);
    mem_free(files);
}

/* ---- names --------------------------------------------------------------- */

static enum gg_status
index_names(const char *folder, struct hf_weights *w, struct gg_error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_files; i++)
        n += w->files[i].n;
    w->tensors = mem_array(n + 1, sizeof(*w->tensors));
    w->used = mem_array(n + 1, sizeof(*w->used));
    if (!w->tensors || !w->used || n >= UINT32_MAX ||
        !hash_map_init(&w->names, 2 * n)) /* with names of what is packed */
        return error_nomem(err);
    for (size_t i = 0; i < w->n_files; i++)
        for (size_t k = 0; k < w->files[i].n; k++) {
            struct safetensors_tensor *t = &w->files[i].tensors[k];
            struct core_json_keys here = { .path = folder, .err = err };

            if (hash_map_add(&w->names, t->name, strlen(t->name),
                             (uint32_t)w->n) != w->n) {
                core_json_bad(&here, GG_ERR_FORMAT, "%s: is in two files",
                              t->name);
                return here.status;
            }
            w->tensors[w->n++] = t;
        }
    return GG_OK;
}

/* All that the index promises must be there. */
static void
check_names(struct core_json_keys *k, const json_t *map,
            const struct hf_weights *w)
{
    const char *name;
    json_t *value;
    uint32_t i;

    json_object_foreach((json_t *)(uintptr_t)map, name, value)
    {
        if (k->status == GG_OK &&
            !hash_map_find(&w->names, name, strlen(name), &i))
            core_json_bad(k, GG_ERR_FORMAT,
                          "%.80s: is not in the file that it says", name);
    }
}

static enum gg_status
open_by_index(const char *folder, const char *path, json_t *index,
              struct hf_weights *w, struct gg_error *err)
{
    struct core_json_keys k = { path, index, GG_OK, err };
    const json_t *map = core_json_object_of(&k, "weight_map");

    if (!map)
        core_json_bad(&k, GG_ERR_FORMAT, "weight_map: is missing");
    if (k.status == GG_OK)
        open_listed(folder, &k, map, w);
    if (k.status == GG_OK)
        k.status = index_names(folder, w, err);
    check_names(&k, map, w);
    return k.status;
}

/* Names lose what they may begin with. */
static void
leave_out(struct hf_weights *w, const char *root)
{
    size_t n = strlen(root);

    for (size_t i = 0; i < w->files[0].n; i++)
        if (strncmp(w->files[0].tensors[i].name, root, n) == 0)
            w->files[0].tensors[i].name += n;
}

enum gg_status
convert_hf_weights_open_file(const char *folder, const char *name,
                             const char *root, struct hf_weights *out,
                             struct gg_error *err)
{
    enum gg_status st;

    *out = (struct hf_weights){ 0 };
    out->files = mem_array(1, sizeof(*out->files));
    st = out->files ? open_file(folder, name, out, err) : error_nomem(err);
    if (st == GG_OK) {
        leave_out(out, root);
        st = index_names(folder, out, err);
    }
    if (st != GG_OK)
        convert_hf_weights_close(out);
    return st;
}

static enum gg_status
open_single(const char *folder, struct hf_weights *w, struct gg_error *err)
{
    char path[MAX_PATH_LENGTH];
    enum gg_status st;

    if (!join(path, folder, SINGLE) || access(path, F_OK)) {
        error_set(err, GG_ERR_IO, "there is neither " SINGLE " nor " INDEX);
        return error_prefix(err, GG_ERR_IO, "%s", folder);
    }
    w->files = mem_array(1, sizeof(*w->files));
    st = w->files ? open_file(folder, SINGLE, w, err) : error_nomem(err);
    return st == GG_OK ? index_names(folder, w, err) : st;
}

enum gg_status
convert_hf_weights_open(const char *folder, struct hf_weights *out,
                        struct gg_error *err)
{
    char path[MAX_PATH_LENGTH];
    json_t *index = NULL;
    enum gg_status st;

    *out = (struct hf_weights){ 0 };
    if (!join(path, folder, INDEX))
        return error_set(err, GG_ERR_IO, "%s: the name is too long", folder);
    st = core_json_read(path, false, &index, err);
    if (st == GG_OK)
        st = index ? open_by_index(folder, path, index, out, err)
                   : open_single(folder, out, err);
    json_decref(index);
    if (st != GG_OK)
        convert_hf_weights_close(out);
    return st;
}

void
convert_hf_weights_close(struct hf_weights *w)
{
    for (size_t i = 0; i < w->n_files; i++)
        convert_safetensors_close(&w->files[i]);
    for (size_t i = 0; i < w->n_steps; i++)
        convert_safetensors_close(&w->steps[i]);
    for (size_t i = 0; i < w->n_packed; i++)
        mem_free(w->packed[i].name);
    mem_free(w->packed);
    mem_free(w->files);
    mem_free(w->tensors);
    mem_free(w->used);
    hash_map_clear(&w->names);
    *w = (struct hf_weights){ 0 };
}

struct safetensors_tensor *
convert_hf_weights_exact(struct hf_weights *w, const char *name)
{
    uint32_t i;

    if (!hash_map_find(&w->names, name, strlen(name), &i))
        return NULL;
    w->used[i] = true;
    return w->tensors[i];
}

static const struct safetensors_tensor *
find_tensor(struct hf_weights *w, const char *prefix, const char *name)
{
    char full[512];

    snprintf(full, sizeof(full), "%s%s", prefix, name);
    return convert_hf_weights_exact(w, full);
}

bool
convert_hf_weights_are_bare(const struct hf_weights *w, const char *name)
{
    const char *dot = strchr(name, '.');
    char full[512];
    uint32_t i;

    for (size_t k = 0; dot && k < sizeof(bare) / sizeof(bare[0]); k++) {
        int n = snprintf(full, sizeof(full), "%s%s.weight", bare[k], dot + 1);

        if (hash_map_find(&w->names, full, (size_t)n, &i))
            return true;
    }
    return false;
}

/* By that name, or by one that lacks some of the parts. */
static const struct safetensors_tensor *
find_without(struct hf_weights *w, const char *name, const char *const *parts)
{
    const struct safetensors_tensor *t = find_tensor(w, "", name);
    char shorter[512];

    for (; !t && *parts; parts++) {
        const char *at = strstr(name, *parts);

        if (!at)
            continue;
        snprintf(shorter, sizeof(shorter), "%.*s%s", (int)(at - name), name,
                 at + strlen(*parts));
        t = find_without(w, shorter, parts + 1);
    }
    return t;
}

/* By that name, or without its outermost part. */
static const struct safetensors_tensor *
find_any(struct hf_weights *w, const char *name)
{
    static const char *const whole[] = { "", "language_model." };
    const char *dot = strchr(name, '.');
    const struct safetensors_tensor *t = NULL;

    if (w->parts)
        return find_without(w, name, w->parts);
    for (size_t i = 0; !t && i < sizeof(whole) / sizeof(whole[0]); i++)
        t = find_tensor(w, whole[i], name);
    for (size_t i = 0; !t && dot && i < sizeof(bare) / sizeof(bare[0]); i++)
        t = find_tensor(w, bare[i], dot + 1);
    if (!t && dot)
        t = find_tensor(w, "model.language_model.", dot + 1);
    return t;
}

const struct safetensors_tensor *
convert_hf_weights_find(struct hf_weights *w, const char *name)
{
    static const char *const ends[][2] = { { ".weight", ".gamma" },
                                           { ".bias", ".beta" } };
    const struct safetensors_tensor *t = find_any(w, name);
    size_t n = strlen(name);
    char other[512];

    for (int i = 0; !t && i < 2; i++) {
        size_t end = strlen(ends[i][0]);

        if (n < end || strcmp(name + n - end, ends[i][0]) != 0)
            continue;
        snprintf(other, sizeof(other), "%.*s%s", (int)(n - end), name,
                 ends[i][1]);
        t = find_any(w, other);
    }
    return t;
}

#endif
