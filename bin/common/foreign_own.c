/* foreign_own.c - options of ours, by what is typed */
#include <config.h>

#include "common/foreign.h"

static bool
is_named(const struct cli_option *o, const char *name, size_t len)
{
    char text[CLI_OPTION_NAME];

    if (!o->name || len >= sizeof(text))
        return false;
    memcpy(text, name, len);
    text[len] = '\0';
    return strcmp(o->name, text) == 0 ||
           (o->aliases && strchr(text, '_') == NULL &&
            cli_has_word(o->aliases, text));
}

const struct cli_option *
foreign_letter(const struct cli_rows *rows, char c)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->p[i].o->letter == c)
            return rows->p[i].o;
    return NULL;
}

const struct cli_option *
foreign_own(const struct cli_rows *rows, const char *text, size_t len)
{
    bool is_long = len > 2 && text[0] == '-' && text[1] == '-';

    if (len == 2 && text[0] == '-')
        return foreign_letter(rows, text[1]);
    for (size_t i = 0; is_long && i < rows->n; i++)
        if (is_named(rows->p[i].o, text + 2, len - 2))
            return rows->p[i].o;
    return NULL;
}

const struct cli_option *
foreign_prefix(const struct cli_rows *rows, const char *text, size_t len)
{
    const struct cli_option *found = NULL;

    for (size_t i = 0; len > 2 && i < rows->n; i++) {
        const struct cli_option *o = rows->p[i].o;

        if (!o->name || strncmp(o->name, text + 2, len - 2) != 0)
            continue;
        if (found)
            return NULL;
        found = o;
    }
    return found;
}

static size_t
least(size_t a, size_t b, size_t c)
{
    a = a < b ? a : b;
    return a < c ? a : c;
}

/* Letters to change, to add or to take away; '_' is '-'. */
static size_t
distance(const char *a, size_t len, const char *b)
{
    size_t row[CLI_OPTION_NAME + 1], n = strlen(b);

    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; i < len; i++) {
        size_t corner = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t up = row[j + 1];
            char c = a[i] == '_' ? '-' : a[i];

            row[j + 1] = least(up + 1, row[j] + 1, corner + (c != b[j]));
            corner = up;
        }
    }
    return row[n];
}

const char *
foreign_nearest(const struct cli_rows *rows, const char *name)
{
    size_t len = strcspn(name + 2, "="), best = 1 + len / 3;
    static char found[CLI_OPTION_NAME + 2];

    found[0] = '\0';
    if (len > CLI_OPTION_NAME)
        return NULL;
    for (size_t i = 0; i < rows->n; i++) {
        const char *words[2] = { rows->p[i].o->name, rows->p[i].o->aliases };

        for (int k = 0; k < 2; k++)
            for (const char *p = words[k]; p && *p;) {
                char word[CLI_OPTION_NAME];
                size_t n = strcspn(p, "|"), d;

                snprintf(word, sizeof(word), "%.*s", (int)n, p);
                d = distance(name + 2, len, word);
                if (d < best) {
                    best = d;
                    snprintf(found, sizeof(found), "--%s", word);
                }
                p += n + (p[n] == '|');
            }
    }
    return *found ? found : NULL;
}
