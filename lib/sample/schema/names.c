/* names.c - names of members, and those that are none of some */
#include <config.h>

#ifdef HAVE_JANSSON

#include "sample/schema/parts.h"

/* One as JSON writes it, with its quotation marks. */
void
sample_schema_add_name(struct schema *s, struct schema_text *b,
                       const char *name)
{
    json_t *key = json_string(name);

    sample_schema_add_value(s, b, key);
    json_decref(key);
}

static size_t
character_length(const char *p)
{
    size_t n = 1;

    while (((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* The rule for what can follow the first `at` bytes of names[0..n), all of
 * which begin with the same, in a name that is none of them. The first
 * character that makes it another one is written as it is. */
static int
unlike(struct schema *s, const char *const *names, size_t n, size_t at)
{
    struct schema_text body = { 0 };
    struct schema_text seen = { 0 };
    bool ends = false;
    int rule = sample_schema_new_rules(s, 1);

    for (size_t i = 0; i < n; i++)
        ends = ends || names[i][at] == '\0';
    for (size_t i = 0, next; i < n && !s->failed; i = next) {
        const char *p = names[i] + at;
        size_t len = *p ? character_length(p) : 0;

        for (next = i + 1; next < n && !strncmp(names[next] + at, p, len) &&
                           (len || !names[next][at]);)
            next++;
        if (len == 0 || *p == '"' || *p == '\\' || (unsigned char)*p < 0x20)
            continue;
        sample_schema_add_literal(&body, p, len);
        sample_schema_add(&body, " r%d | ",
                          unlike(s, names + i, next - i, at + len));
        if (strchr("]^-[", *p))
            sample_schema_text_add(&seen, "\\", 1);
        sample_schema_text_add(&seen, p, len);
    }
    if (!ends)
        sample_schema_add(&body, "\"\\\"\" | ");
    sample_schema_add(&body, "[^\"\\\\\\x00-\\x1f\\x7f");
    sample_schema_text_add(&body, seen.p, seen.len);
    sample_schema_add(&body, "] character* \"\\\"\"");
    sample_schema_put_rule(s, rule, &body);
    sample_schema_text_clear(&body);
    sample_schema_text_clear(&seen);
    return rule;
}

int
sample_schema_rule_unlike(struct schema *s, const struct schema_names *names)
{
    return unlike(s, names->p, names->n, 0);
}

int
sample_schema_rule_unlike_from(struct schema *s,
                               const struct schema_names *names, char c)
{
    size_t first = 0, n = 0;

    while (first < names->n && names->p[first][0] != c)
        first++;
    while (first + n < names->n && names->p[first + n][0] == c)
        n++;
    return unlike(s, names->p + first, n, 1);
}

#endif
