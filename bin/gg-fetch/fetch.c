/* fetch.c - brings a model to where -m finds it, whole or not at all */
#include <config.h>

#include "gg-fetch/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/outside.h"
#include "common/sandbox.h"
#include "gg-fetch/installed.h"
#include "gg-fetch/ollama.h"

/* ---- folders ------------------------------------------------------------- */

/* All folders in front of the last slash of the path. Those that are there are
 * not made again: the sandbox may refuse it. */
static void
make_folders(const char *path)
{
    char *copy = strdup(path);
    struct stat st;

    if (!copy)
        cli_die("out of memory");
    for (char *p = copy + 1; *copy && *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (stat(copy, &st) && mkdir(copy, 0777) && errno != EEXIST)
            cli_die("%s: %s", copy, strerror(errno));
        *p = '/';
    }
    free(copy);
}

static void
move_part(const struct part *p)
{
    if (outside_do(OUTSIDE_MOVE, p->path, (int)strlen(p->final)) < 0)
        cli_die("%s: %s", p->final, strerror(errno));
}

/* ---- a plan is carried out ----------------------------------------------- */

/* True if all of a folder is there; another one of its name ends the tool. */
static bool
folder_is_there(const struct plan *plan)
{
    struct stat st;

    if (!files_are_there(plan->folder, &st))
        return false;
    for (size_t i = 0; i < plan->n; i++) {
        struct part p = plan->p[i];
        struct buffer path = { 0 };

        buffer_format(&path, "%s%s", plan->folder,
                      p.final + strlen(plan->built));
        buffer_char(&path, '\0');
        p.final = path.p;
        if (!part_is_there(&p, false))
            cli_die("%s: is not there, though the folder is", path.p);
        buffer_clear(&path);
    }
    return true;
}

/* Each file gets its name, then the folder. */
static void
fetch_folder(struct plan *plan)
{
    if (folder_is_there(plan))
        return;
    for (size_t i = 0; i < plan->n; i++) {
        make_folders(plan->p[i].final);
        if (part_is_there(&plan->p[i], true))
            continue;
        part_fetch(&plan->p[i]);
        move_part(&plan->p[i]);
    }
    ticker_end(&plan->ticker);
    if (rename(plan->built, plan->folder))
        cli_die("%s: %s", plan->folder, strerror(errno));
}

/* All files get their names once all are whole, the first one last: who finds
 * it finds the others. */
static void
fetch_files(struct plan *plan, bool replace)
{
    bool *there = cli_alloc(NULL, plan->n, sizeof(*there));

    make_folders(plan->p[0].final);
    for (size_t i = 0; i < plan->n; i++) {
        there[i] = part_is_there(&plan->p[i], replace);
        if (!there[i])
            part_fetch(&plan->p[i]);
    }
    ticker_end(&plan->ticker);
    for (size_t i = plan->n; i-- > 0;)
        if (!there[i])
            move_part(&plan->p[i]);
    free(there);
}

static void
show_plan(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n; i++) {
        const struct part *p = &plan->p[i];
        char url[1024];

        if (p->has_size)
            printf("%llu", (unsigned long long)p->size);
        printf("\t%s\t%s\n",
               gg_escape(url, sizeof(url), p->url, strlen(p->url)),
               plan->folder ? plan->folder : p->final);
    }
}

static void
show_model(const char *want, uint64_t bytes, size_t n_files, const char *first)
{
    char a[256], b[1024];

    printf("%s\t%llu\t%zu\t%s\n", gg_escape(a, sizeof(a), want, strlen(want)),
           (unsigned long long)bytes, n_files,
           gg_escape(b, sizeof(b), first, strlen(first)));
}

static void
carry_out(struct plan *plan, const char *source, const struct fetch_options *o)
{
    if (o->dry_run) {
        show_plan(plan);
        return;
    }
    ticker_start(&plan->ticker, o->quiet);
    if (plan->folder)
        fetch_folder(plan);
    else
        fetch_files(plan, o->output);
    if (plan->p[0].sum.kind == SUM_NONE && !o->quiet)
        cli_warn("%s: nothing verifies what came: --sha256 would",
                 plan->p[0].name);
    if (!o->output)
        installed_add(plan, source);
    printf("%s\n", plan_result(plan));
}

static void
run_repository(const struct hub_source *s, const struct fetch_options *o)
{
    struct repository files = { 0 };
    struct plan plan;
    char *revision;

    hub_files(s, &files, &revision);
    hub_keep_weights(s, &files, revision);
    if (o->list) {
        repository_list(&files, show_model);
    } else {
        plan_repository(&plan, s, &files, revision, o);
        carry_out(&plan, s->text, o);
        plan_clear(&plan);
    }
    repository_clear(&files);
    free(revision);
}

static void
run_ollama(const struct ollama_source *s, const struct fetch_options *o)
{
    struct repository_file file;
    struct plan plan;

    if (o->list)
        cli_misuse("--list lists a repository, hf:OWNER/NAME");
    ollama_file(s, &file);
    plan_ollama(&plan, s, &file, o);
    carry_out(&plan, s->text, o);
    plan_clear(&plan);
}

static void
run_url(const char *url, const struct fetch_options *o)
{
    struct plan plan;

    if (o->list)
        cli_misuse("--list lists a repository, hf:OWNER/NAME");
    plan_url(&plan, url, o);
    carry_out(&plan, url, o);
    plan_clear(&plan);
}

/* ---- the sandbox --------------------------------------------------------- */

/* The folder of what comes must be there before. `cache` is another program's,
 * a folder that is read. */
static void
enter_sandbox(const struct fetch_options *o, const char *cache)
{
    char *dir = plan_folder(o);
    struct buffer below = { 0 };

    buffer_format(&below, "%s/", dir);
    buffer_char(&below, '\0');
    if (!o->list && !o->dry_run) {
        make_folders(o->output ? o->output : below.p);
        if (o->output)
            sandbox_add(o->output, SANDBOX_PARTS);
        else
            sandbox_add(dir, SANDBOX_STORE);
    }
    buffer_clear(&below);
    sandbox_add(cache, SANDBOX_TREE);
    sandbox_keep(SANDBOX_SOCKETS);
    sandbox_enter(o->http.verbose);
    free(dir);
}

/* Sockets are not needed here: the answer is on this machine. */
static void
enter_folder(const char *dir, enum sandbox_use use, bool verbose)
{
    sandbox_add(dir, use);
    sandbox_enter(verbose);
}

/* ---- all ----------------------------------------------------------------- */

/* True if it came before and is there: nobody is asked then. */
static bool
print_installed(const char *source, const struct fetch_options *o)
{
    char *dir, *path;

    if (o->list || o->dry_run || o->output || o->sha256)
        return false;
    dir = plan_folder(o);
    path = installed_find(dir, source);
    if (path)
        printf("%s\n", path);
    free(path);
    free(dir);
    return path != NULL;
}

/* "hf.co/OWNER/NAME", as ollama has it, is "hf:OWNER/NAME". */
static char *
full_source(const char *source)
{
    static const char *const hosts[] = { "hf.co/", "huggingface.co/" };
    struct buffer text = { 0 };

    for (int i = 0; i < 2; i++)
        if (strncmp(source, hosts[i], strlen(hosts[i])) == 0)
            buffer_format(&text, "hf:%s", source + strlen(hosts[i]));
    if (!text.len)
        buffer_format(&text, "%s", source);
    buffer_char(&text, '\0');
    return text.p;
}

static bool
is_url(const char *source)
{
    return strncasecmp(source, "https://", 8) == 0 ||
           strncasecmp(source, "http://", 7) == 0;
}

static void
run_source(const char *source, const struct fetch_options *o)
{
    struct hub_source hub = { 0 };
    struct ollama_source model = { 0 };
    bool is_hub = hub_read_source(source, &hub);
    bool is_model = !is_hub && ollama_read_source(source, &model);
    char *cache = is_model ? ollama_folder() : fetch_hub_cache();

    if (!is_hub && !is_model && !is_url(source))
        cli_misuse("%s: neither hf:OWNER/NAME, nor NAME:TAG of ollama's, nor "
                   "an URL",
                   source);
    enter_sandbox(o, cache);
    free(cache);
    if (print_installed(source, o))
        ;
    else if (is_hub)
        run_repository(&hub, o);
    else if (is_model)
        run_ollama(&model, o);
    else
        run_url(source, o);
    hub_source_clear(&hub);
    ollama_source_clear(&model);
}

void
fetch_run(const char *source, const struct fetch_options *o)
{
    char *full = full_source(source);

    http_start(&o->http);
    run_source(full, o);
    free(full);
}

void
fetch_installed(const struct fetch_options *o)
{
    char *dir = plan_folder(o);

    enter_folder(dir, SANDBOX_TREE, o->http.verbose);
    installed_list(dir);
    free(dir);
}

void
fetch_remove(const char *name, const struct fetch_options *o)
{
    char *dir = plan_folder(o), *full = full_source(name);

    enter_folder(dir, SANDBOX_STORE, o->http.verbose);
    http_start(&o->http);
    installed_remove(dir, full);
    free(full);
    free(dir);
}
