/* hub.c - a repository of Hugging Face's hub */
#include <config.h>

#include "gg-fetch/hub.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "gg-fetch/http.h"

enum {
    MAX_ANSWER = 64 << 20, /* bytes of what the API says */
    MAX_NAME = 96,         /* of an owner, of a repository */
    MAX_WEIGHTS = 1024,    /* files of an index, as gg-convert reads them */
};

/* ---- sources ------------------------------------------------------------- */

static bool
is_name(const char *s)
{
    size_t n = strlen(s);

    return n > 0 && n <= MAX_NAME && s[0] != '.' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789-_.") == n;
}

static void
check_source(const struct hub_source *s)
{
    if (!is_name(s->owner) || !is_name(s->name))
        cli_misuse("%s: a repository is hf:OWNER/NAME", s->text);
    if (s->revision && !repository_is_safe(s->revision))
        cli_misuse("%s: no revision has this name", s->text);
    if (s->want && !repository_is_safe(s->want))
        cli_misuse("%s: no model has this name", s->text);
}

/* OWNER/NAME[@REVISION][:WANT] */
static void
read_short(const char *p, struct hub_source *s)
{
    size_t n = strcspn(p, "/");

    s->owner = cli_copy(p, n);
    p += n + (p[n] == '/');
    n = strcspn(p, "@:");
    s->name = cli_copy(p, n);
    p += n;
    if (*p == '@') {
        n = strcspn(++p, ":");
        s->revision = cli_copy(p, n);
        p += n;
    }
    if (*p == ':')
        s->want = cli_copy(p + 1, strlen(p + 1));
}

/* ENDPOINT/OWNER/NAME[/resolve/REVISION/PATH], "blob" or "tree" in its place,
 * and what a browser adds. */
static void
read_url(const char *p, struct hub_source *s)
{
    char *parts[4] = { NULL };

    for (int i = 0; i < 4 && *p && !strchr("?#", *p); i++) {
        size_t n = strcspn(p, "/?#");

        parts[i] = cli_copy(p, n);
        p += n + (p[n] == '/');
    }
    s->owner = parts[0] ? parts[0] : cli_copy("", 0);
    s->name = parts[1] ? parts[1] : cli_copy("", 0);
    s->revision = parts[3];
    if (parts[2] && strcmp(parts[2], "resolve") != 0 &&
        strcmp(parts[2], "blob") != 0 && strcmp(parts[2], "tree") != 0)
        cli_misuse("%s: no file of a repository", s->text);
    if (parts[2] && strcmp(parts[2], "tree") != 0 && strcspn(p, "?#"))
        s->want = cli_copy(p, strcspn(p, "?#"));
    free(parts[2]);
}

bool
hub_read_source(const char *text, struct hub_source *out)
{
    *out = (struct hub_source){ .text = text };
    if (strncmp(text, "hf:", 3) == 0)
        read_short(text + 3, out);
    else if (http_is_hub(text))
        read_url(text + strlen(http_endpoint()) + 1, out);
    else
        return false;
    check_source(out);
    return true;
}

void
hub_source_clear(struct hub_source *s)
{
    free(s->owner);
    free(s->name);
    free(s->revision);
    free(s->want);
    *s = (struct hub_source){ 0 };
}

/* ---- its API ------------------------------------------------------------- */

static char *
end_url(struct buffer *url)
{
    buffer_char(url, '\0');
    return url->p;
}

char *
hub_file_url(const struct hub_source *s, const char *revision, const char *path)
{
    struct buffer url = { 0 };

    buffer_format(&url, "%s/%s/%s/resolve/", http_endpoint(), s->owner,
                  s->name);
    http_add_escaped(&url, revision, "");
    buffer_char(&url, '/');
    http_add_escaped(&url, path, "/");
    return end_url(&url);
}

static char *
api_url(const struct hub_source *s)
{
    struct buffer url = { 0 };

    buffer_format(&url, "%s/api/models/%s/%s", http_endpoint(), s->owner,
                  s->name);
    if (s->revision) {
        buffer_format(&url, "/revision/");
        http_add_escaped(&url, s->revision, "");
    }
    buffer_format(&url, "?blobs=true");
    return end_url(&url);
}

#ifdef HAVE_JANSSON

/* The sum that verifies a file: large ones have a SHA-256 besides Git's. */
static void
read_sum(const json_t *file, struct checksum *out)
{
    const char *sha256 =
        cli_json_text(json_object_get(json_object_get(file, "lfs"), "sha256"));
    const char *blob = cli_json_text(json_object_get(file, "blobId"));

    out->kind = SUM_NONE;
    if (repository_read_hex(sha256, 64, out->hex))
        out->kind = SUM_SHA256;
    else if (repository_read_hex(blob, 40, out->hex))
        out->kind = SUM_GIT;
}

static void
read_file(const struct hub_source *s, const json_t *file,
          struct repository *out)
{
    const char *path = cli_json_text(json_object_get(file, "rfilename"));
    const json_t *size = json_object_get(file, "size");
    struct repository_file f = { 0 };

    if (!path)
        cli_die("%s: the hub names a file by no text", s->text);
    if (!repository_is_safe(path))
        cli_die("%s: a file has a name that is not safe: '%s'", s->text, path);
    f.path = cli_copy(path, strlen(path));
    f.has_size = json_is_integer(size) && json_integer_value(size) >= 0;
    if (f.has_size)
        f.size = (uint64_t)json_integer_value(size);
    read_sum(file, &f.sum);
    repository_add(out, &f);
}

static char *
read_answer(const struct hub_source *s, const struct buffer *body,
            struct repository *out)
{
    json_error_t why;
    char shown[CLI_JSON_WHY], commit[SUM_HEX];
    json_t *all = cli_json_load(body->p, body->len, 0, &why);
    const json_t *files = json_object_get(all, "siblings");

    if (!all)
        cli_die("%s: what the hub says is no JSON: line %d: %s", s->text,
                why.line, cli_json_why(shown, &why));
    if (!json_is_array(files))
        cli_die("%s: the hub does not say which files there are", s->text);
    for (size_t i = 0; i < json_array_size(files); i++)
        read_file(s, json_array_get(files, i), out);
    if (!repository_read_hex(cli_json_text(json_object_get(all, "sha")), 40,
                             commit))
        commit[0] = '\0';
    json_decref(all);
    if (commit[0])
        return cli_copy(commit, strlen(commit));
    return s->revision ? cli_copy(s->revision, strlen(s->revision))
                       : cli_copy("main", 4);
}

static bool
is_named(const void *data, const char *path)
{
    return json_object_get(data, path) != NULL;
}

/* Weights that "weight_map" names, each once. */
static json_t *
read_index(const struct hub_source *s, const struct buffer *body,
           const struct repository *files)
{
    json_error_t why;
    char shown[CLI_JSON_WHY];
    json_t *all = cli_json_load(body->p, body->len, 0, &why), *value;
    json_t *names = json_object();
    const char *tensor;

    if (!all)
        cli_die("%s: %s is no JSON: line %d: %s", s->text,
                repository_index(files), why.line, cli_json_why(shown, &why));
    json_object_foreach(json_object_get(all, "weight_map"), tensor, value)
    {
        const char *path = cli_json_text(value);

        if (path && json_object_set_new(names, path, json_true()))
            cli_die("out of memory");
        if (json_object_size(names) > MAX_WEIGHTS)
            cli_die("%s: the index names more than %d files", s->text,
                    MAX_WEIGHTS);
    }
    json_decref(all);
    return names;
}

static void
keep_named(const struct hub_source *s, const struct buffer *body,
           struct repository *files)
{
    json_t *names = read_index(s, body, files), *value;
    const char *path;

    repository_keep_weights(files, is_named, names);
    json_object_foreach(names, path, value)
    {
        size_t i = 0;

        while (i < files->n && strcmp(files->p[i].path, path) != 0)
            i++;
        if (i == files->n)
            cli_die("%s: the index names %s, which is not there", s->text,
                    path);
    }
    json_decref(names);
}

#else

static void
keep_named(const struct hub_source *s, const struct buffer *body,
           struct repository *files)
{
    (void)s, (void)body, (void)files;
}

static char *
read_answer(const struct hub_source *s, const struct buffer *body,
            struct repository *out)
{
    (void)body, (void)out;
    cli_die("%s: what the hub says is JSON, and this gg-fetch was built "
            "without Jansson",
            s->text);
}

#endif

void
hub_files(const struct hub_source *s, struct repository *out, char **revision)
{
    struct buffer body = { 0 };
    struct http_reply reply;
    char *url = api_url(s);

    http_document(url, s->text, NULL, MAX_ANSWER, &body, &reply);
    *revision = read_answer(s, &body, out);
    buffer_clear(&body);
    free(url);
}

void
hub_keep_weights(const struct hub_source *s, struct repository *files,
                 const char *revision)
{
    const char *index = repository_index(files);
    struct buffer body = { 0 };
    struct http_reply reply;
    char *url;

    if (!index)
        return;
    url = hub_file_url(s, revision, index);
    http_document(url, s->text, NULL, MAX_ANSWER, &body, &reply);
    keep_named(s, &body, files);
    buffer_clear(&body);
    free(url);
}
