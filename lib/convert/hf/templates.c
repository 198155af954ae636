/* templates.c - the chat templates of a folder: files, or its configuration */
#include <config.h>

#ifdef HAVE_JANSSON

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/convert.h"
#include "convert/hf/tokens.h"
#include "core/mem.h"

#define KEY       "tokenizer.chat_template"
#define KEY_NAMES "tokenizer.chat_templates"
#define FOLDER    CONVERT_TEMPLATES
#define ENDING    ".jinja"

enum {
    MAX_PATH_LENGTH = 4096,
    MAX_TEMPLATE = 1 << 24, /* bytes */
    MAX_NAMED = 64,
    MAX_NAME = 64,
};

/* The templates that have a name. */
struct named {
    struct hf *h;
    char names[MAX_NAMED][MAX_NAME];
    size_t n;
};

/* A key of it, unless there are too many; a name is letters, digits and _. */
static void
put_named(struct named *to, const char *name, size_t len, const void *text,
          size_t n)
{
    char key[sizeof(KEY) + 1 + MAX_NAME], *own = to->names[to->n];

    if (to->n == MAX_NAMED || len == 0 || len >= MAX_NAME)
        return;
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c >= '0' && c <= '9');

        own[i] = good ? c : '_';
    }
    own[len] = '\0';
    to->n++;
    snprintf(key, sizeof(key), KEY ".%s", own);
    gguf_set_bytes(to->h->gguf, key, text, n);
}

static void
put_names(const struct named *of)
{
    const char *names[MAX_NAMED];

    for (size_t i = 0; i < of->n; i++)
        names[i] = of->names[i];
    if (of->n)
        gguf_set_arr_str(of->h->gguf, KEY_NAMES, names, of->n);
}

/* ---- files --------------------------------------------------------------- */

/* The file, with a name or none. False: there is none. */
static bool
put_file(struct named *to, const char *path, const char *name, size_t len)
{
    struct file_map map;
    enum gg_status st;
    bool fits;

    if (access(path, R_OK))
        return false;
    st = file_map(path, &map, to->h->here.err);
    if (st != GG_OK) {
        to->h->here.status = st;
        return false;
    }
    fits = map.size <= MAX_TEMPLATE;
    if (fits && name)
        put_named(to, name, len, map.data, map.size);
    else if (fits)
        gguf_set_bytes(to->h->gguf, KEY, map.data, map.size);
    file_unmap(&map);
    return fits;
}

static int
is_template(const struct dirent *e)
{
    size_t n = strlen(e->d_name), ending = strlen(ENDING);

    return n > ending && *e->d_name != '.' && e->d_type != DT_DIR &&
           strcmp(e->d_name + n - ending, ENDING) == 0;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void
put_folder(struct named *to)
{
    char path[MAX_PATH_LENGTH];
    struct dirent **list = NULL;
    int n;

    snprintf(path, sizeof(path), "%s/" FOLDER, to->h->path);
    n = scandir(path, &list, is_template, by_name);
    if (n < 0 && errno == ENOMEM)
        to->h->here.status = error_nomem(to->h->here.err);
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;

        snprintf(path, sizeof(path), "%s/" FOLDER "/%s", to->h->path, name);
        put_file(to, path, name, strlen(name) - strlen(ENDING));
        free(list[i]);
    }
    free(list);
}

/* True: there are some. */
static bool
put_files(struct named *to)
{
    char path[MAX_PATH_LENGTH];
    bool found;

    snprintf(path, sizeof(path), "%s/chat_template.jinja", to->h->path);
    found = put_file(to, path, NULL, 0);
    put_folder(to);
    return found || to->n;
}

/* ---- tokenizer_config.json ----------------------------------------------- */

/* [{"name": ..., "template": ...}, ...] */
static void
put_list(struct named *to, const json_t *list)
{
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const json_t *name = json_object_get(one, "name");
        const json_t *text = json_object_get(one, "template");

        if (!json_is_string(name) || !json_is_string(text))
            continue;
        if (strcmp(json_string_value(name), "default") == 0)
            gguf_set_bytes(to->h->gguf, KEY, json_string_value(text),
                           json_string_length(text));
        else
            put_named(to, json_string_value(name), json_string_length(name),
                      json_string_value(text), json_string_length(text));
    }
}

/* One template, or a list of them. False: there is none. */
static bool
put_json(struct named *to, const json_t *v)
{
    if (json_is_string(v))
        gguf_set_bytes(to->h->gguf, KEY, json_string_value(v),
                       json_string_length(v));
    else
        put_list(to, v);
    return json_is_string(v) || json_array_size(v) > 0;
}

/* chat_template.json, where a model of text and pictures has it. */
static void
put_json_file(struct named *to)
{
    char path[MAX_PATH_LENGTH];
    json_t *document = NULL;

    snprintf(path, sizeof(path), "%s/chat_template.json", to->h->path);
    to->h->here.status =
        core_json_read(path, false, &document, to->h->here.err);
    if (to->h->here.status == GG_OK)
        put_json(to, json_object_get(document, "chat_template"));
    json_decref(document);
}

/* Files count more, as they do where such folders come from. */
void
convert_hf_set_templates(struct hf_tokens *t)
{
    const json_t *v = json_object_get(t->config.object, "chat_template");
    struct named *to = mem_zalloc(sizeof(*to));

    if (!to) {
        t->h->here.status = error_nomem(t->h->here.err);
        return;
    }
    to->h = t->h;
    if (!put_files(to) && convert_hf_good(t->h) && !put_json(to, v))
        put_json_file(to);
    put_names(to);
    mem_free(to);
}

#endif
