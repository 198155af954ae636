/* options_rows.c - rows of the table of options, and one of them */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/options.h"

static bool
is_end(const struct cli_option *o)
{
    return !o->name && !o->letter && !o->help && !o->part;
}

static void
add_rows(struct cli_rows *rows, const struct cli_option *table, char *base)
{
    for (const struct cli_option *o = table; !is_end(o); o++)
        if (o->part)
            add_rows(rows, o->part, base + o->at);
        else if (rows->n < CLI_MAX_ROWS)
            rows->p[rows->n++] = (struct cli_row){ .o = o, .base = base };
        else {
            fprintf(stderr, "more than CLI_MAX_ROWS options\n");
            abort(); /* a table that was written so */
        }
}

void
cli_rows_init(struct cli_rows *rows, const struct cli_option *table,
              void *options)
{
    rows->n = 0;
    add_rows(rows, table, options);
}

const char *
cli_option_name(const struct cli_option *o, char buf[CLI_OPTION_NAME])
{
    snprintf(buf, CLI_OPTION_NAME, "--%s", o->name);
    return o->shown ? o->shown : buf;
}

/* '-' is like '_'. */
static bool
same_word(const char *a, const char *b, size_t n)
{
    for (; n; n--, a++, b++)
        if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b)))
            return false;
    return true;
}

const char *
cli_find_word(const char *words, const char *word)
{
    size_t len = word ? strlen(word) : 0, n;

    while (words && word) {
        n = strcspn(words, "|:");
        if (n == len && same_word(words, word, n))
            return words;
        words += n + strcspn(words + n, "|");
        words = *words ? words + 1 : NULL;
    }
    return NULL;
}

const struct cli_option *
cli_option_of_member(const struct cli_option *table, const char *member)
{
    const struct cli_option *found = NULL;

    for (const struct cli_option *o = table; !found && !is_end(o); o++)
        if (o->part)
            found = cli_option_of_member(o->part, member);
        else if (o->record && (cli_has_word(o->name, member) ||
                               cli_has_word(o->aliases, member) ||
                               cli_has_word(o->members, member)))
            found = o;
    return found;
}

/* ---- values ---- */

enum gg_status
cli_read_flag(const struct cli_option *o, const char *value, bool *on,
              struct gg_error *err)
{
    char name[CLI_OPTION_NAME];

    *on = !value || strcmp(value, "true") == 0;
    if (!*on && strcmp(value, "false") != 0)
        return cli_error(err, GG_ERR_ARG, "%s: '%s' is not true or false",
                         cli_option_name(o, name), value);
    return GG_OK;
}

/* "a, b or c" */
static void
list_words(char *buf, size_t size, const char *words)
{
    size_t used = 0, n;

    for (; *words && used < size; words += n + (words[n] == '|')) {
        n = strcspn(words, "|");
        used += (size_t)snprintf(buf + used, size - used, "%s%.*s",
                                 used == 0                ? ""
                                 : strchr(words + n, '|') ? ", "
                                                          : " or ",
                                 (int)n, words);
    }
}

enum gg_status
cli_read_word(const struct cli_option *o, const char *value, int *out,
              struct gg_error *err)
{
    char name[CLI_OPTION_NAME], all[256];
    const char *words = o->values;
    size_t n, len = strlen(value);

    for (int i = 0; *words; i++, words += n + (words[n] == '|')) {
        n = strcspn(words, "|");
        if (n == len && strncmp(words, value, n) == 0) {
            *out = i;
            return GG_OK;
        }
    }
    list_words(all, sizeof(all), o->values);
    return cli_error(err, GG_ERR_ARG, "%s: '%s' is not %s",
                     cli_option_name(o, name), value, all);
}

static enum gg_status
set_word(const struct cli_option *o, void *field, const char *value,
         struct gg_error *err)
{
    int which = 0;
    enum gg_status st = cli_read_word(o, value, &which, err);

    if (st == GG_OK)
        *(int32_t *)field = (int32_t)o->min + which;
    return st;
}

static enum gg_status
set_text(const struct cli_option *o, void *field, const char *value,
         struct gg_error *err)
{
    int which;
    enum gg_status st =
        o->strict ? cli_read_word(o, value, &which, err) : GG_OK;

    if (st == GG_OK)
        *(const char **)field = value;
    return st;
}

static enum gg_status
set_flag(const struct cli_option *o, void *field, const char *value,
         struct gg_error *err)
{
    return cli_read_flag(o, value, field, err);
}

static enum gg_status
set_const(const struct cli_option *o, void *field, const char *value,
          struct gg_error *err)
{
    (void)value, (void)err;
    *(int32_t *)field = (int32_t)o->min;
    return GG_OK;
}

static enum gg_status
set_integer(const struct cli_option *o, void *field, const char *value,
            struct gg_error *err)
{
    char name[CLI_OPTION_NAME];
    int64_t n = 0;
    enum gg_status st = cli_read_int(cli_option_name(o, name), value,
                                     (int64_t)o->min, (int64_t)o->max, &n, err);

    if (st != GG_OK)
        return st;
    if (o->kind == CLI_INT)
        *(int32_t *)field = (int32_t)n;
    else if (o->kind == CLI_INT64)
        *(int64_t *)field = n;
    else
        *(size_t *)field = (size_t)n;
    return GG_OK;
}

static enum gg_status
set_real(const struct cli_option *o, void *field, const char *value,
         struct gg_error *err)
{
    char name[CLI_OPTION_NAME];
    double x = 0;
    enum gg_status st = cli_read_float(cli_option_name(o, name), value, o->min,
                                       o->max, &x, err);

    if (st != GG_OK)
        return st;
    if (o->kind == CLI_FLOAT)
        *(float *)field = (float)x;
    else
        *(double *)field = x;
    return GG_OK;
}

enum gg_status
cli_option_set(const struct cli_option *o, void *options, const char *value,
               struct gg_error *err)
{
    static enum gg_status (*const setters[])(
        const struct cli_option *, void *, const char *, struct gg_error *) = {
        [CLI_CONST] = set_const,   [CLI_FLAG] = set_flag,
        [CLI_TEXT] = set_text,     [CLI_INT] = set_integer,
        [CLI_INT64] = set_integer, [CLI_SIZE] = set_integer,
        [CLI_FLOAT] = set_real,    [CLI_DOUBLE] = set_real,
        [CLI_WORD] = set_word,
    };

    if (o->kind == CLI_CALL)
        return o->set(options, o, value, err);
    return setters[o->kind](o, (char *)options + o->at, value, err);
}

void
cli_list_options(const struct cli_rows *rows, const char *names, char *out,
                 size_t size)
{
    size_t used = 0, left = 0;
    char name[CLI_OPTION_NAME];

    *out = '\0';
    for (size_t i = 0; i < rows->n; i++)
        left += cli_has_word(names, rows->p[i].o->name);
    for (size_t i = 0; i < rows->n && used < size; i++)
        if (cli_has_word(names, rows->p[i].o->name))
            used += (size_t)snprintf(out + used, size - used, "%s%s",
                                     cli_option_name(rows->p[i].o, name),
                                     --left > 1 ? ", "
                                     : left     ? " or "
                                                : "");
}
