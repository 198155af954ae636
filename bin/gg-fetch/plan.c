/* plan.c - which files are fetched, and what they are called then */
#include <config.h>

#include "gg-fetch/plan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SHARD_END = 20, /* "-00001-of-00003.gguf" */
    SUM_SHOWN = 16, /* digits in the name of a part */
    MAX_SHARDS = 9999,
};

CLI_PRINTF(1, 2)
static char *
make_text(const char *fmt, ...)
{
    va_list ap;
    char *s;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    s = cli_alloc(NULL, (size_t)n + 1, 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}

/* Where -m looks for a name: the first folder of its list. */
char *
plan_folder(const struct fetch_options *o)
{
    const char *path = getenv("GG_MODEL_PATH"), *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    size_t n;

    if (o->dir)
        return make_text("%s", o->dir);
    while (path && *path) {
        n = strcspn(path, ":");
        if (n)
            return make_text("%.*s", (int)n, path);
        path++;
    }
    if (data && *data == '/')
        return make_text("%s/gg", data);
    if (!home || !*home)
        cli_die("no folder for models: neither --dir, $GG_MODEL_PATH nor $HOME "
                "names one");
    return make_text("%s/.local/share/gg", home);
}

static struct part *
plan_part(struct plan *plan)
{
    struct part *p;

    plan->p = cli_alloc(plan->p, plan->n + 1, sizeof(*plan->p));
    p = &plan->p[plan->n++];
    *p = (struct part){ .ticker = &plan->ticker };
    return p;
}

/* Names a file until it is whole: by its hash, so that the rest of another file
 * is not continued. */
static void
name_part(struct part *p, char *final)
{
    p->final = final;
    if (p->sum.kind == SUM_NONE)
        p->path = make_text("%s.part", final);
    else
        p->path = make_text("%s.%.*s.part", final, SUM_SHOWN, p->sum.hex);
}

/* -o, or the name in the folder. */
static char *
final_name(const struct plan *plan, const char *path,
           const struct fetch_options *o)
{
    const char *slash = strrchr(path, '/');

    if (o->output)
        return make_text("%s", o->output);
    return make_text("%s/%s", plan->folder ? plan->built : plan->dir,
                     slash && !plan->folder ? slash + 1 : path);
}

static void
add_totals(struct plan *plan)
{
    uint64_t all = 0;

    for (size_t i = 0; i < plan->n; i++) {
        plan->p[i].before = all;
        if (!plan->p[i].has_size ||
            __builtin_add_overflow(all, plan->p[i].size, &all))
            return;
    }
    for (size_t i = 0; i < plan->n; i++)
        plan->p[i].all = all;
}

/* ---- of a repository ----------------------------------------------------- */

/* The file as the hub's cache has it: blobs are called by their hashes. */
static char *
cached_blob(const struct hub_source *s, const struct checksum *sum)
{
    char *cache = fetch_hub_cache(), *path = NULL;

    if (cache && sum->kind != SUM_NONE)
        path = make_text("%s/models--%s--%s/blobs/%s", cache, s->owner, s->name,
                         sum->hex);
    free(cache);
    return path;
}

static bool
is_weights(const char *path)
{
    size_t n = strlen(path);

    return (n > 5 && strcasecmp(path + n - 5, ".gguf") == 0) ||
           (n > 12 && strcasecmp(path + n - 12, ".safetensors") == 0);
}

static void
add_file(struct plan *plan, const struct hub_source *s,
         const struct repository_file *f, const char *revision, char *final)
{
    struct part *p = plan_part(plan);

    if (f->sum.kind == SUM_NONE || !f->has_size)
        cli_die("%s: the hub tells no hash of %s", s->text, f->path);
    p->url = hub_file_url(s, revision, f->path);
    p->name = make_text("%s", f->path);
    p->sum = f->sum;
    p->size = f->size;
    p->has_size = true;
    p->is_model = is_weights(f->path);
    p->copy = cached_blob(s, &f->sum);
    name_part(p, final);
}

/* Many are called alike: "mmproj-F16.gguf". Here its name is the model's. */
static char *
projector_name(const char *model)
{
    const char *slash = strrchr(model, '/'), *base = slash ? slash + 1 : model;

    return make_text("%.*smmproj-%.*s.gguf", (int)(base - model), model,
                     (int)(repository_stem(base)), base);
}

void
plan_repository(struct plan *plan, const struct hub_source *s,
                const struct repository *r, const char *revision,
                const struct fetch_options *o)
{
    struct picked picked;

    *plan = (struct plan){ .dir = plan_folder(o) };
    if (o->sha256)
        cli_misuse("--sha256 is for the file of an URL: the hub tells its own");
    repository_pick(r, s->text, s->want, &picked);
    if (o->output && (picked.folder || picked.n > 1))
        cli_misuse("-o names one file, and the model has %zu", picked.n);
    if (picked.folder) {
        plan->folder = make_text("%s/%s", plan->dir, s->name);
        plan->built = make_text("%s.part", plan->folder);
    }
    for (size_t i = 0; i < picked.n; i++)
        add_file(plan, s, &r->p[picked.files[i]], revision,
                 final_name(plan, r->p[picked.files[i]].path, o));
    if (picked.has_projector && !o->no_mmproj && !o->output)
        add_file(plan, s, &r->p[picked.projector], revision,
                 projector_name(plan->p[0].final));
    add_totals(plan);
    picked_clear(&picked);
}

/* ---- of ollama's registry ------------------------------------------------ */

/* The file as ollama has it on this machine. */
static char *
ollama_blob(const struct checksum *sum)
{
    char *models = ollama_folder(), *path = NULL;

    if (models)
        path = make_text("%s/blobs/sha256-%s", models, sum->hex);
    free(models);
    return path;
}

void
plan_ollama(struct plan *plan, const struct ollama_source *s,
            struct repository_file *f, const struct fetch_options *o)
{
    struct part *p;

    *plan = (struct plan){ .dir = plan_folder(o) };
    if (o->sha256)
        cli_misuse("--sha256 is for the file of an URL: the registry tells it");
    p = plan_part(plan);
    p->url = ollama_file_url(s, &f->sum);
    p->name = f->path;
    p->sum = f->sum;
    p->size = f->size;
    p->has_size = p->is_model = true;
    p->copy = ollama_blob(&f->sum);
    name_part(p, final_name(plan, f->path, o));
    add_totals(plan);
}

/* ---- of an URL ----------------------------------------------------------- */

/* The last name of the path, with %XX as the bytes that they are. */
static char *
url_file(const char *url)
{
    const char *path = strstr(url, "://"), *end, *p;
    char *name, *out;

    path = path ? path + 3 : url;
    end = path + strcspn(path, "?#");
    for (p = end; p > path && p[-1] != '/'; p--)
        ;
    out = name = make_text("%.*s", (int)(end - p), p);
    for (const char *in = name; *in; in++, out++) {
        char hex[SUM_HEX], two[3] = { in[0] == '%' ? in[1] : 0, 0, 0 };

        if (two[0])
            two[1] = in[2];
        *out = *in;
        if (repository_read_hex(two, 2, hex)) {
            *out = (char)strtol(hex, NULL, 16);
            in += 2;
        }
    }
    *out = '\0';
    if (p == path || !repository_is_safe(name) || strchr(name, '/'))
        cli_misuse("%s: its end is no name of a file", url);
    return name;
}

static void
add_url(struct plan *plan, char *url, const struct fetch_options *o)
{
    struct part *p = plan_part(plan);
    char *name = url_file(url);

    p->url = url;
    p->name = name;
    p->is_model = true;
    if (o->sha256 && !repository_read_hex(o->sha256, 64, p->sum.hex))
        cli_misuse("--sha256: 64 hexadecimal digits, not '%s'", o->sha256);
    p->sum.kind = o->sha256 ? SUM_SHA256 : SUM_NONE;
    name_part(p, final_name(plan, name, o));
}

/* How many shards there are where the URL ends as the first one does, in front
 * of what may follow the path; else 1. */
static int
count_shards(const char *url, size_t n)
{
    int no, count;
    char dot;

    if (n <= SHARD_END || strncasecmp(url + n - 5, ".gguf", 5) != 0 ||
        sscanf(url + n - SHARD_END, "-%5d-of-%5d%c", &no, &count, &dot) != 3 ||
        dot != '.' || no != 1 || count < 1 || count > MAX_SHARDS)
        return 1;
    return count;
}

void
plan_url(struct plan *plan, const char *url, const struct fetch_options *o)
{
    size_t n = strcspn(url, "?#");
    int count = count_shards(url, n);

    *plan = (struct plan){ .dir = plan_folder(o) };
    if (count > 1 && (o->output || o->sha256))
        cli_misuse("%s is for one file, and this model has %d",
                   o->output ? "-o" : "--sha256", count);
    if (count == 1)
        add_url(plan, make_text("%s", url), o);
    else
        for (int no = 1; no <= count; no++)
            add_url(plan,
                    make_text("%.*s-%05d-of-%05d%s", (int)(n - SHARD_END), url,
                              no, count, url + n - 5),
                    o);
}

void
plan_clear(struct plan *plan)
{
    for (size_t i = 0; i < plan->n; i++) {
        free((char *)plan->p[i].url);
        free((char *)plan->p[i].name);
        free(plan->p[i].final);
        free(plan->p[i].path);
        free(plan->p[i].copy);
    }
    free(plan->p);
    free(plan->dir);
    free(plan->folder);
    free(plan->built);
}

const char *
plan_result(const struct plan *plan)
{
    return plan->folder ? plan->folder : plan->p[0].final;
}
