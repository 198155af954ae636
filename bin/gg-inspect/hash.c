/* hash.c - --hash, and --hash-check against a list */
#include <config.h>

#include "common/cli.h"
#include "common/ticker.h"
#include "gg-inspect/digest.h"
#include "common/jobs.h"
#include "gg-inspect/table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct table_column columns[] = {
    { "hash", -64 },
    { "name", -1 },
};

enum {
    MAX_LIST = 1 << 26, /* bytes */
};

struct job {
    struct digests *d;
    const int64_t *tensors; /* those that are wanted */
    int64_t n;
    struct table *json; /* NULL: lines */
    bool print;
    struct ticker ticker;
};

/* ---- --hash -------------------------------------------------------------- */

static void
put_digest(struct table *json, const struct digest *d)
{
    if (!json) {
        printf("%s  %s\n", d->hex, d->name);
        return;
    }
    table_text(json, d->hex);
    table_text(json, d->name);
}

static void
work(void *data, int64_t i)
{
    struct job *j = data;

    digests_tensor(j->d, j->tensors[i]);
}

static void
done(void *data, int64_t i)
{
    struct job *j = data;
    int64_t tensor = j->tensors[i];

    if (j->print)
        put_digest(j->json, &j->d->tensors[tensor]);
    ticker_show_part(&j->ticker, (uint64_t)i, (uint64_t)j->n,
                     gguf_get_tensor_name(j->d->f->gguf, tensor));
}

static void
hash_tensors(struct job *j, const struct inspect_options *o)
{
    ticker_start(&j->ticker, o->quiet || (j->print && isatty(STDOUT_FILENO)));
    jobs_run(o->n_threads, j->n, work, done, j);
    ticker_end(&j->ticker);
}

static void
show_tensors(struct digests *d, const struct inspect_options *o,
             struct table *json)
{
    struct job j = { .d = d, .json = json, .print = true };
    int64_t *tensors = select_tensors(d->f, o, &j.n);

    j.tensors = tensors;
    hash_tensors(&j, o);
    free(tensors);
}

/* With --metadata each key has a line. */
static void
show_keys(struct digests *d, bool each, struct table *json)
{
    digests_keys(d);
    for (int64_t i = 0; i < d->n_keys && each; i++)
        if (d->keys[i].hex[0])
            put_digest(json, &d->keys[i]);
    put_digest(json, &d->all_keys);
}

int
hash_show(struct inspected *f, const struct inspect_options *o)
{
    bool all = o->metadata == o->tensors && !o->tensor;
    struct digests d;
    struct table table, *json = o->json ? &table : NULL;

    digests_init(&d, f);
    if (json) {
        inspect_json_begin(f, "hashes");
        table_begin(json, columns, 2, true);
    }
    if (all || o->tensors || o->tensor)
        show_tensors(&d, o, json);
    if (all || o->metadata)
        show_keys(&d, o->metadata, json);
    digests_whole(&d);
    if (all || (o->tensors && !o->tensor))
        put_digest(json, &d.all_tensors);
    if (all)
        put_digest(json, &d.model);
    if (json) {
        table_end(json);
        puts("\n}");
    }
    digests_clear(&d);
    return EXIT_SUCCESS;
}

/* ---- --hash-check -------------------------------------------------------- */

/* A line of the list, and what it is about. */
struct claim {
    const char *hex, *name;
    const struct digest *of; /* NULL: the file has none of that name */
};

struct list {
    char *text;
    struct claim *claims;
    size_t n, cap;
};

static bool
is_hash(const char *line)
{
    return strspn(line, "0123456789abcdefABCDEF") == DIGEST_HEX - 1;
}

/* "HASH  NAME", as sha256sum writes it; NUL-ended. */
static void
add_claim(struct list *l, char *line, const char *path, size_t number)
{
    size_t at = DIGEST_HEX - 1;

    if (!is_hash(line) || line[at] != ' ' || line[at + 1] != ' ' ||
        !line[at + 2])
        cli_die("%s: line %zu is not a hash, two blanks, and a name", path,
                number);
    if (l->n == l->cap) {
        l->cap = 2 * l->cap + 64;
        l->claims = cli_alloc(l->claims, l->cap, sizeof(*l->claims));
    }
    line[at] = '\0';
    l->claims[l->n++] = (struct claim){ line, line + at + 2, NULL };
}

static void
read_list(struct list *l, const char *path)
{
    const char *name = cli_input_name(path);
    int fd = cli_open_input(path);
    size_t len, number = 0;
    char *line, *end;

    *l = (struct list){ 0 };
    l->text = cli_read_all(fd, name, MAX_LIST, &len);
    if (fd != STDIN_FILENO)
        close(fd);
    if (strlen(l->text) != len)
        cli_die("%s: it holds a NUL, and so is no list", name);
    for (line = l->text + cli_mark(l->text, len); *line; line = end) {
        size_t n = strcspn(line, "\n");

        end = line + n + (line[n] != '\0');
        line[n - (n > 0 && line[n - 1] == '\r')] = line[n] = '\0';
        number++;
        if (*line)
            add_claim(l, line, name, number);
    }
    if (l->n == 0)
        cli_die("%s: it holds no hashes", name);
}

static int
by_name(const void *a, const void *b)
{
    const struct digest *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static int
name_is(const void *key, const void *element)
{
    const struct digest *const *d = element;

    return strcmp(key, (*d)->name);
}

/* All that a list can name, in order. */
static const struct digest **
sort_names(const struct digests *d, size_t *n)
{
    size_t used = 0;
    const struct digest **all =
        cli_alloc(NULL, (size_t)(d->n_tensors + d->n_keys) + 3, sizeof(*all));

    for (int64_t i = 0; i < d->n_tensors; i++)
        all[used++] = &d->tensors[i];
    for (int64_t i = 0; i < d->n_keys; i++)
        all[used++] = &d->keys[i];
    all[used++] = &d->all_tensors;
    all[used++] = &d->all_keys;
    all[used++] = &d->model;
    qsort(all, used, sizeof(*all), by_name);
    *n = used;
    return all;
}

static void
find_names(const struct digests *d, struct list *l)
{
    size_t n;
    const struct digest **all = sort_names(d, &n);

    for (size_t i = 0; i < l->n; i++) {
        const struct digest *const *found =
            bsearch(l->claims[i].name, all, n, sizeof(*all), name_is);

        l->claims[i].of = found ? *found : NULL;
    }
    free(all);
}

static bool
wants(const struct list *l, const struct digest *d)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->claims[i].of == d)
            return true;
    return false;
}

/* Hashes no more than the list needs. */
static void
compute(struct digests *d, const struct list *l,
        const struct inspect_options *o)
{
    bool whole = wants(l, &d->all_tensors) || wants(l, &d->model);
    int64_t n = d->n_tensors;
    bool *needed = cli_alloc(NULL, (size_t)n, sizeof(*needed));
    int64_t *tensors = cli_alloc(NULL, (size_t)n, sizeof(*tensors));
    struct job j = { .d = d, .tensors = tensors };

    for (int64_t i = 0; i < n; i++)
        needed[i] = whole;
    for (size_t i = 0; i < l->n; i++) {
        const struct digest *of = l->claims[i].of;

        if (of >= d->tensors && of < d->tensors + n)
            needed[of - d->tensors] = true;
    }
    for (int64_t i = 0; i < n; i++)
        if (needed[i])
            tensors[j.n++] = i;
    hash_tensors(&j, o);
    digests_keys(d);
    if (whole)
        digests_whole(d);
    free(tensors);
    free(needed);
}

static bool
holds(const struct claim *c)
{
    return c->of && strcasecmp(c->hex, c->of->hex) == 0;
}

static void
put_claim(const struct claim *c, bool verbose)
{
    char shown[512];

    if (holds(c) && !verbose)
        return;
    gg_escape(shown, sizeof(shown), c->name, strlen(c->name));
    printf("%s: %s\n", c->of ? c->name : shown,
           holds(c) ? "OK"
           : c->of  ? "FAILED"
                    : "not in the file");
}

int
hash_check(struct inspected *f, const struct inspect_options *o)
{
    struct digests d;
    struct list l;
    size_t failed = 0;

    read_list(&l, o->hash_list);
    digests_init(&d, f);
    find_names(&d, &l);
    compute(&d, &l, o);
    for (size_t i = 0; i < l.n; i++) {
        put_claim(&l.claims[i], o->verbose);
        failed += !holds(&l.claims[i]);
    }
    digests_clear(&d);
    free(l.claims);
    free(l.text);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
