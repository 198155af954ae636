/* pair.c - a query and a document; prompts of sentence-transformers */
#include <config.h>

#include "gg-tokenize/pair.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/json.h"
#include "common/records/value.h"

static enum gg_status
read_fields(struct pair *pair, const char *line, size_t len,
            struct gg_error *err)
{
    const char *tab = len ? memchr(line, '\t', len) : NULL;
    size_t n = tab ? (size_t)(tab - line) : 0;

    if (!tab)
        return cli_error(err, GG_ERR_FORMAT,
                         "no TAB between a query and a document");
    buffer_add(&pair->query, line, n);
    buffer_add(&pair->document, tab + 1, len - n - 1);
    return GG_OK;
}

#ifdef HAVE_JANSSON

static enum gg_status
take(const struct record_value *object, const char *name, struct buffer *to,
     struct gg_error *err)
{
    const char *text = cli_json_text(json_object_get(object->json, name));

    if (!text)
        return cli_error(err, GG_ERR_FORMAT, "\"%s\" is no text", name);
    buffer_add(to, text, strlen(text));
    return GG_OK;
}

static enum gg_status
read_json(struct pair *pair, const char *line, size_t len, struct gg_error *err)
{
    struct record_value object;
    enum gg_status st = record_value_read(line, len, &object, err);

    if (st == GG_OK)
        st = take(&object, "query", &pair->query, err);
    if (st == GG_OK)
        st = take(&object, "document", &pair->document, err);
    record_value_clear(&object);
    return st;
}

/* ---- prompts ------------------------------------------------------------- */

static void
find_config(const char *model, struct buffer *path)
{
    const char *slash = strrchr(model, '/');
    struct stat s;

    if (stat(model, &s) == 0 && S_ISDIR(s.st_mode))
        buffer_format(path, "%s/", model);
    else if (slash)
        buffer_add(path, model, (size_t)(slash - model) + 1);
    buffer_format(path, "config_sentence_transformers.json");
    buffer_char(path, '\0');
}

char *
prompt_read(const char *model, const char *name)
{
    struct buffer path = { 0 }, prompt = { 0 };
    char why[CLI_JSON_WHY];
    json_error_t e;
    const char *text;
    json_t *o;

    find_config(model, &path);
    o = json_load_file(path.p, 0, &e);
    if (!o)
        cli_die("%s: %s", path.p, cli_json_why(why, &e));
    text = cli_json_text(json_object_get(json_object_get(o, "prompts"), name));
    if (!text)
        cli_die("%s: no prompt of the name %s", path.p, name);
    buffer_add(&prompt, text, strlen(text) + 1);
    json_decref(o);
    buffer_clear(&path);
    return prompt.p;
}

#else

static enum gg_status
read_json(struct pair *pair, const char *line, size_t len, struct gg_error *err)
{
    (void)pair, (void)line, (void)len;
    return cli_error(err, GG_ERR_UNSUPPORTED,
                     "this was built without Jansson, which reads JSON");
}

char *
prompt_read(const char *model, const char *name)
{
    (void)name;
    cli_die("%s: this was built without Jansson, which reads prompts", model);
}

#endif

enum gg_status
ranked_pair_read(struct pair *pair, const char *line, size_t len,
                 struct gg_error *err)
{
    buffer_room(&pair->query, 1); /* of empty texts, too */
    buffer_room(&pair->document, 1);
    return len && line[0] == '{' ? read_json(pair, line, len, err)
                                 : read_fields(pair, line, len, err);
}
