/* models.c - a file of models, and words as a shell parts them */
#include <config.h>

#include "gg-serve/models.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "gg-serve/lines.h"

/* ---- words --------------------------------------------------------------- */

struct splitter {
    const char *p, *end;
    char *out;
    bool is_bad;
};

static bool
parts_words(char c)
{
    return c == ' ' || c == '\t';
}

/* The text in quotes, up to the second one. */
static void
take_quoted(struct splitter *s, char quote)
{
    while (s->p < s->end && *s->p != quote) {
        if (quote == '"' && *s->p == '\\' && s->p + 1 < s->end &&
            (s->p[1] == '"' || s->p[1] == '\\'))
            s->p++;
        *s->out++ = *s->p++;
    }
    s->is_bad |= s->p == s->end;
    s->p++;
}

static void
take_word(struct splitter *s)
{
    while (s->p < s->end && !parts_words(*s->p)) {
        char c = *s->p++;

        if (c == '\'' || c == '"')
            take_quoted(s, c);
        else if (c == '\\' && s->p < s->end)
            *s->out++ = *s->p++;
        else
            *s->out++ = c;
    }
    *s->out++ = '\0';
}

char **
models_split(const char *line, size_t n)
{
    size_t pointers = (MODEL_MAX_ARGS + 1) * sizeof(char *);
    char **words = cli_alloc(NULL, 1, pointers + 2 * n + 2);
    struct splitter s = { line, line + n, (char *)words + pointers, false };
    size_t n_words = 0;

    for (;;) {
        while (s.p < s.end && parts_words(*s.p))
            s.p++;
        if (s.p >= s.end || s.is_bad || n_words == MODEL_MAX_ARGS)
            break;
        words[n_words++] = s.out;
        take_word(&s);
    }
    words[n_words] = NULL;
    if (s.p >= s.end && !s.is_bad)
        return words;
    free(words);
    return NULL;
}

/* ---- the list ------------------------------------------------------------ */

/* One block, as models_split() makes it. */
static char **
copy_args(char *const *args)
{
    size_t n = 0, bytes = 0;
    char **copy, *out;

    while (args[n])
        bytes += strlen(args[n++]) + 1;
    copy = cli_alloc(NULL, 1, (n + 1) * sizeof(char *) + bytes + 1);
    out = (char *)(copy + n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(args[i]) + 1;

        copy[i] = memcpy(out, args[i], len);
        out += len;
    }
    copy[n] = NULL;
    return copy;
}

static void
add_model(struct models *models, const char *name, char **args)
{
    struct model *m;

    models->of =
        cli_alloc(models->of, (size_t)models->n + 1, sizeof(*models->of));
    m = &models->of[models->n++];
    *m = (struct model){ .args = args };
    snprintf(m->name, sizeof(m->name), "%s", name);
}

void
models_add(struct models *models, const char *name, char *const *args)
{
    add_model(models, name, copy_args(args));
}

int
models_find(const struct models *models, const char *name)
{
    for (int i = 0; i < models->n; i++)
        if (strcmp(models->of[i].name, name) == 0)
            return i;
    return -1;
}

int
model_is_same(const struct model *a, const struct model *b)
{
    size_t i = 0;

    if (strcmp(a->name, b->name) != 0)
        return 0;
    while (a->args[i] && b->args[i] && strcmp(a->args[i], b->args[i]) == 0)
        i++;
    return !a->args[i] && !b->args[i];
}

void
models_free(struct models *models)
{
    for (int i = 0; i < models->n; i++)
        free(models->of[i].args);
    free(models->of);
    *models = (struct models){ 0 };
}

/* ---- the file ------------------------------------------------------------ */

static enum gg_status
add_model_line(void *context, const char *line, size_t n, struct gg_error *err)
{
    struct models *models = context;
    const char *tab = memchr(line, '\t', n);
    char name[MODEL_MAX_NAME];
    char **args;

    if (!tab || tab == line || (size_t)(tab - line) >= sizeof(name))
        return cli_error(err, GG_ERR_FORMAT,
                         "a model is NAME, a tab, and arguments of "
                         "gg-generate");
    memcpy(name, line, (size_t)(tab - line));
    name[tab - line] = '\0';
    if (models_find(models, name) >= 0 || models->n == MODELS_MAX)
        return cli_error(err, GG_ERR_FORMAT, "%s",
                         models->n == MODELS_MAX ? "there are too many models"
                                                 : "the name comes twice");
    args = models_split(tab + 1, n - (size_t)(tab + 1 - line));
    if (!args)
        return cli_error(err, GG_ERR_FORMAT,
                         "a quote has no end, or there are more than %d words",
                         MODEL_MAX_ARGS);
    add_model(models, name, args);
    return GG_OK;
}

enum gg_status
models_read(const char *path, struct models *models, struct gg_error *err)
{
    struct models new = { 0 };
    enum gg_status st =
        owner_lines_read(path, false, add_model_line, &new, err);

    models_free(st == GG_OK ? models : &new);
    if (st == GG_OK)
        *models = new;
    return st;
}
