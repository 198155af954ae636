/* table.c - rows of fields: aligned, tab-separated, or JSON */
#include <config.h>

#include "common/json.h"
#include "gg-inspect/inspect.h"
#include "gg-inspect/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Blanks before or after a field, up to its column's width. */
static void
pad(const struct table *t, const char *s, bool before)
{
    int width = t->columns[t->at].width, gap;
    bool last = t->at == t->n_columns - 1;

    if (!t->aligned || (width > 0) != before || (!before && last))
        return;
    gap = (width < 0 ? -width : width) - (int)value_width(s, strlen(s));
    if (gap > 0)
        printf("%*s", gap, "");
}

/* The text needs no escaping. */
static void
put_plain(const struct table *t, const char *s)
{
    pad(t, s, true);
    fputs(s, stdout);
    pad(t, s, false);
}

/* Writes the separator between fields, and nothing in front of the first. */
static void
put_between(const struct table *t)
{
    if (t->at)
        fputs(t->aligned ? "  " : "\t", stdout);
}

static void
put_head(struct table *t)
{
    t->headed = true;
    for (t->at = 0; t->at < t->n_columns; t->at++) {
        put_between(t);
        put_plain(t, t->columns[t->at].name);
    }
    putchar('\n');
    t->at = 0;
}

static void
before(struct table *t)
{
    if (t->json) {
        printf("%s\"%s\": ",
               t->at     ? ", "
               : t->rows ? ",\n    { "
                         : "\n    { ",
               t->columns[t->at].name);
        return;
    }
    if (!t->headed)
        put_head(t);
    put_between(t);
}

static void
after(struct table *t)
{
    if (++t->at < t->n_columns)
        return;
    fputs(t->json ? " }" : "\n", stdout);
    t->at = 0;
    t->rows++;
}

void
table_begin(struct table *t, const struct table_column *columns, int n,
            bool json)
{
    *t = (struct table){ .columns = columns, .n_columns = n, .json = json };
    t->aligned = !json && isatty(STDOUT_FILENO);
    if (json)
        putchar('[');
}

void
table_text(struct table *t, const char *s)
{
    before(t);
    if (t->json) {
        cli_json_put(s, strlen(s));
    } else {
        pad(t, s, true);
        value_put_escaped(stdout, s, strlen(s), 0);
        pad(t, s, false);
    }
    after(t);
}

void
table_escaped(struct table *t, const char *s)
{
    before(t);
    if (t->json)
        cli_json_put(s, strlen(s));
    else
        put_plain(t, s);
    after(t);
}

void
table_count(struct table *t, uint64_t n)
{
    char buf[32];

    snprintf(buf, sizeof(buf), "%" PRIu64, n);
    before(t);
    put_plain(t, buf);
    after(t);
}

void
table_number(struct table *t, double x)
{
    char buf[32];

    if (isfinite(x) && t->json)
        value_float(buf, x, false);
    else if (isfinite(x))
        snprintf(buf, sizeof(buf), "%.*g", t->aligned ? 6 : 9, x);
    else if (t->json)
        strcpy(buf, isnan(x) ? "\"NaN\""
                    : x < 0  ? "\"-Infinity\""
                             : "\"Infinity\"");
    else
        strcpy(buf, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
    before(t);
    put_plain(t, buf);
    after(t);
}

void
table_none(struct table *t)
{
    before(t);
    put_plain(t, t->json ? "null" : "-");
    after(t);
}

void
table_end(const struct table *t)
{
    if (t->json)
        fputs(t->rows ? "\n  ]" : "]", stdout);
}
