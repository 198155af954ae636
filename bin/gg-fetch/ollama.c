/* ollama.c - a model of ollama's registry: a manifest, and blobs by hash */
#include <config.h>

#include "gg-fetch/ollama.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "gg-fetch/http.h"

#define REGISTRY "https://registry.ollama.ai"

enum {
    MAX_MANIFEST = 1 << 20, /* bytes */
    MAX_PART = 96,          /* of a name */
};

/* ---- names --------------------------------------------------------------- */

static bool
is_part(const char *s)
{
    size_t n = strlen(s);

    return n > 0 && n <= MAX_PART && s[0] != '.' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789-_.") == n;
}

/* Where the registry is: a host that is named, or else the usual one. */
static char *
find_endpoint(const char *host, size_t n)
{
    const char *set = getenv("OLLAMA_REGISTRY");
    struct buffer url = { 0 };

    if (n)
        buffer_format(&url, "https://%.*s", (int)n, host);
    else
        buffer_format(&url, "%s", set && *set ? set : REGISTRY);
    while (url.len && url.p[url.len - 1] == '/')
        url.len--;
    buffer_char(&url, '\0');
    return url.p;
}

/* [[HOST/]OWNER/]NAME[:TAG] */
static void
read_name(const char *p, struct ollama_source *s)
{
    const char *name = strrchr(p, '/'), *owner = NULL, *colon;

    name = name ? name + 1 : p;
    for (const char *q = p; name > p && q < name - 1; q++)
        if (*q == '/')
            owner = q + 1;
    s->endpoint = find_endpoint(p, owner ? (size_t)(owner - 1 - p) : 0);
    owner = owner ? owner : p;
    s->owner = name > p ? cli_copy(owner, (size_t)(name - 1 - owner))
                        : cli_copy("library", 7);
    colon = strchr(name, ':');
    s->name = cli_copy(name, colon ? (size_t)(colon - name) : strlen(name));
    s->tag =
        colon ? cli_copy(colon + 1, strlen(colon + 1)) : cli_copy("latest", 6);
}

/* Without "ollama:", what else might be a file, or another scheme, is none. */
static bool
is_bare_name(const char *text)
{
    const char *colon = strchr(text, ':');
    char *name = colon ? cli_copy(text, (size_t)(colon - text)) : NULL;
    bool is_name =
        name && is_part(name) && is_part(colon + 1) && strcmp(name, "hf") != 0;

    free(name);
    return is_name;
}

bool
ollama_read_source(const char *text, struct ollama_source *out)
{
    bool named = strncmp(text, "ollama:", 7) == 0;

    *out = (struct ollama_source){ .text = text };
    if (!named && !is_bare_name(text))
        return false;
    read_name(named ? text + 7 : text, out);
    if (!is_part(out->owner) || !is_part(out->name) || !is_part(out->tag))
        cli_misuse("%s: a model of ollama's is NAME:TAG or OWNER/NAME:TAG",
                   text);
    return true;
}

void
ollama_source_clear(struct ollama_source *s)
{
    free(s->endpoint);
    free(s->owner);
    free(s->name);
    free(s->tag);
    *s = (struct ollama_source){ 0 };
}

char *
ollama_folder(void)
{
    const char *models = getenv("OLLAMA_MODELS"), *home = getenv("HOME");
    struct buffer path = { 0 };

    if (models && *models)
        buffer_format(&path, "%s", models);
    else if (home && *home)
        buffer_format(&path, "%s/.ollama/models", home);
    if (path.len)
        buffer_char(&path, '\0');
    return path.p;
}

/* ---- manifests ----------------------------------------------------------- */

#ifdef HAVE_JANSSON

static bool
read_layer(const json_t *layer, struct checksum *sum, uint64_t *size)
{
    const char *type = cli_json_text(json_object_get(layer, "mediaType"));
    const char *digest = cli_json_text(json_object_get(layer, "digest"));
    const json_t *bytes = json_object_get(layer, "size");

    if (!type || strcmp(type, "application/vnd.ollama.image.model") != 0 ||
        !digest || strncmp(digest, "sha256:", 7) != 0 ||
        !repository_read_hex(digest + 7, 64, sum->hex))
        return false;
    sum->kind = SUM_SHA256;
    *size = json_is_integer(bytes) && json_integer_value(bytes) > 0
                ? (uint64_t)json_integer_value(bytes)
                : 0;
    return true;
}

bool
ollama_read_manifest(const char *text, size_t len, struct checksum *sum,
                     uint64_t *size)
{
    json_error_t why;
    json_t *all = cli_json_load(text, len, 0, &why);
    const json_t *layers = json_object_get(all, "layers");
    bool found = false;

    for (size_t i = 0; i < json_array_size(layers) && !found; i++)
        found = read_layer(json_array_get(layers, i), sum, size);
    json_decref(all);
    return found;
}

#else

bool
ollama_read_manifest(const char *text, size_t len, struct checksum *sum,
                     uint64_t *size)
{
    (void)text, (void)len, (void)sum, (void)size;
    return false;
}

#endif

void
ollama_file(const struct ollama_source *s, struct repository_file *out)
{
    struct buffer url = { 0 }, body = { 0 }, path = { 0 };
    struct http_reply reply;
    bool library = strcmp(s->owner, "library") == 0;

    buffer_format(&url, "%s/v2/%s/%s/manifests/%s", s->endpoint, s->owner,
                  s->name, s->tag);
    buffer_char(&url, '\0');
    http_document(url.p, s->text,
                  "application/vnd.docker.distribution.manifest.v2+json",
                  MAX_MANIFEST, &body, &reply);
    *out = (struct repository_file){ .has_size = true };
    if (!ollama_read_manifest(body.p, body.len, &out->sum, &out->size) ||
        !out->size)
        cli_die("%s: the registry's manifest names no file of weights",
                s->text);
    buffer_format(&path, "%s%s%s:%s.gguf", library ? "" : s->owner,
                  library ? "" : "-", s->name, s->tag);
    buffer_char(&path, '\0');
    out->path = path.p;
    buffer_clear(&url);
    buffer_clear(&body);
}

char *
ollama_file_url(const struct ollama_source *s, const struct checksum *sum)
{
    struct buffer url = { 0 };

    buffer_format(&url, "%s/v2/%s/%s/blobs/sha256:%s", s->endpoint, s->owner,
                  s->name, sum->hex);
    buffer_char(&url, '\0');
    return url.p;
}
