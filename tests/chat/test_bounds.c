/* test_bounds.c - templates that would take for ever, or all memory: one error
 * each; allocations that fail */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chat/template.h"
#include "core/mem.h"
#include "harness/tap.h"

enum {
    MIB = 1 << 20,
};

static struct gg_error err;

/* Renders without variables; the text goes to `out`, or its end is lost. */
static enum gg_status
render(const char *text, size_t n, struct chat_limits *limits, char *out,
       size_t size)
{
    struct chat_arena arena = { .limit = (size_t)1 << 31 };
    struct chat_value variables = chat_dict(&arena, CHAT_DICT);
    struct chat_template *t = NULL;
    struct chat_string made = { 0 };
    enum gg_status st = variables.type == CHAT_ABSENT
                            ? GG_ERR_NOMEM
                            : chat_template_parse(text, n, &t, &err);

    if (st == GG_OK)
        st = chat_template_render(t, variables, 0, limits, &arena, &made, &err);
    if (st == GG_OK && out)
        snprintf(out, size, "%.*s", (int)made.n, made.n ? made.s : "");
    chat_template_free(t);
    chat_arena_clear(&arena);
    return st;
}

/* Whether it is refused with these words, soon; with TEST_SECONDS within the
 * usual bounds, which take longer, and says how long. */
static bool
refused(const char *text, size_t n, const char *words)
{
    struct chat_limits less = { .memory = 1 << 26, .steps = 1500000 };
    bool usual = getenv("TEST_SECONDS") != NULL;
    clock_t begin = clock();
    enum gg_status st = render(text, n, usual ? NULL : &less, NULL, 0);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    bool right = st != GG_OK && strstr(err.message, words) && seconds < 10;

    if (!right || usual)
        printf("# %.2f s: %s\n", seconds, st == GG_OK ? "fine" : err.message);
    return right;
}

/* before, n times `part`, after */
static char *
repeated(const char *before, const char *part, size_t n, const char *after)
{
    size_t b = strlen(before), p = strlen(part), a = strlen(after);
    char *s = malloc(b + n * p + a + 1);

    if (!s)
        exit(99);
    memcpy(s, before, b);
    for (size_t i = 0; i < n; i++)
        memcpy(s + b + i * p, part, p);
    memcpy(s + b + n * p, after, a + 1);
    return s;
}

/* ---- running ---- */

static const struct {
    const char *what, *text, *words;
} endless[] = {
    { "a macro calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "line 1: macros call each other too deep" },
    { "two macros call each other",
      "{% macro a() %}{{ b() }}{% endmacro %}\n"
      "{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
      "macros call each other too deep" },
    { "a call block calls itself",
      "{% macro m() %}{% call m() %}{{ caller }}{% endcall %}{{ caller }}"
      "{% endmacro %}{{ m() }}",
      "macros call each other too deep" },
    { "a default calls its macro",
      "{% macro m(a=m()) %}{% endmacro %}{{ m() }}",
      "macros call each other too deep" },
    { "a loop calls itself",
      "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
      "macros call each other too deep" },
    { "loops in loops",
      "{% set r = range(100000) %}{% for a in r %}{% for b in r %}"
      "{% endfor %}{% endfor %}",
      "line 1: the chat template" },
    { "macros that call twice",
      "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}"
      "{% endmacro %}{{ m(60) }}",
      "line 1: the chat template" },
    { "a large range", "{{ range(100001) }}", "range has more than 100000" },
    { "a range around all numbers",
      "{{ range(-9223372036854775807, 9223372036854775807) }}",
      "range has more than 100000" },
    { "a range of large steps",
      "{{ range(0, 9223372036854775807, 9223372036854775807)|list|length }}"
      "{{ 1 / 0 }}",
      "division by zero" },
    { "a text doubles",
      "{% set x = namespace(s='ab') %}{% for i in range(100) %}"
      "{% set x.s = x.s + x.s %}{% endfor %}",
      "the chat template needs too much memory" },
    { "a text is repeated", "{{ 'ab' * 10000000000 }}", "line 1: the chat" },
    { "a text is repeated, and again", "{{ ('ab' * 100000) * 100000 }}",
      "line 1: the chat" },
    { "nothing is repeated", "{{ '' * 9223372036854775807 ~ 1 / 0 }}",
      "division by zero" },
    { "a list doubles",
      "{% set x = namespace(l=[1]) %}{% for i in range(100) %}"
      "{% set x.l = x.l + x.l %}{% endfor %}",
      "line 1: the chat template" },
    { "a list is repeated", "{{ [1] * 10000000000 }}", "line 1: the chat" },
    { "a list within itself",
      "{% set x = namespace(l=[]) %}{% for i in range(1000) %}"
      "{% set x.l = [x.l, x.l] %}{% endfor %}",
      "lists are nested too deep" },
    { "a list of two of the same, printed",
      "{% set x = namespace(l=[]) %}{% for i in range(200) %}"
      "{% set x.l = [x.l, x.l] %}{% endfor %}{{ x.l }}",
      "line 1: the chat template" },
    { "the same as JSON",
      "{% set x = namespace(l=[]) %}{% for i in range(200) %}"
      "{% set x.l = [x.l, x.l] %}{% endfor %}{{ x.l|tojson }}",
      "line 1: the chat template" },
    { "the same compared",
      "{% set x = namespace(l=[]) %}{% set y = namespace(l=[]) %}"
      "{% for i in range(200) %}{% set x.l = [x.l, x.l] %}"
      "{% set y.l = [y.l, y.l] %}{% endfor %}{{ x.l == y.l }}",
      "line 1: the chat template" },
    { "the same ordered",
      "{% set x = namespace(l=[]) %}{% set y = namespace(l=[]) %}"
      "{% for i in range(200) %}{% set x.l = [x.l, x.l] %}"
      "{% set y.l = [y.l, y.l] %}{% endfor %}{{ x.l < y.l }}",
      "line 1: the chat template" },
    { "widths", "{{ 'a'.center(10000000000) }}", "line 1: the chat" },
    { "zeros", "{{ 'a'.zfill(10000000000) }}", "line 1: the chat" },
    { "a format's width", "{{ '%99999999999d' % 1 }}", "too large" },
    { "a format's precision", "{{ '{:.99999999999f}'.format(1.5) }}",
      "too large" },
    { "an indent", "{{ 'a\\nb'|indent(10000000000) }}", "line 1: the chat" },
    { "an indent of JSON", "{{ [1]|tojson(indent=10000000000) }}",
      "no such indent" },
    { "a large power", "{{ 2 ** 9223372036854775807 }}", "too large" },
    { "replacing grows",
      "{% set x = namespace(s='aaaaaaaaaa') %}{% for i in range(100) %}"
      "{% set x.s = x.s|replace('a', 'aaaaaaaaaa') %}{% endfor %}",
      "line 1: the chat template" },
    { "joining grows",
      "{% set x = namespace(s='aaaaaaaaaa') %}{% for i in range(100) %}"
      "{% set x.s = x.s|join(x.s) %}{% endfor %}",
      "line 1: the chat template" },
    { "filling up a batch", "{{ [1]|batch(10000000000, 1)|list }}",
      "line 1: the chat template" },
    { "many slices", "{{ [1]|slice(10000000000)|list }}", "no such number" },
    { "searches in a large list",
      "{% set r = range(100000) %}{% for i in r %}{{ -1 in r }}{% endfor %}",
      "the chat template does not end" },
    { "searches in a large text",
      "{% set s = 'ab' * 100000 %}{% for i in range(100000) %}"
      "{{ 'ba' * 1000 ~ 'c' in s }}{% endfor %}",
      "the chat template does not end" },
    { "counting in a large text",
      "{% set s = 'ab' * 1000000 %}{% for i in range(100000) %}"
      "{{ s.count('a') }}{{ s|length }}{{ s|wordcount }}{% endfor %}",
      "the chat template does not end" },
    { "kinds of a large text",
      "{% set s = 'ab' * 1000000 %}{% for i in range(100000) %}"
      "{{ s.isalpha() }}{{ s.islower() }}{{ s == s ~ '' }}{% endfor %}",
      "the chat template does not end" },
    { "a text's end that is sought",
      "{% set s = 'a' * 1000000 %}"
      "{{ s.rfind('a' * 400000 ~ 'b' ~ 'a' * 400000) }}",
      "the chat template does not end" },
    { "many characters to strip",
      "{% set s = 'a' * 1000000 %}{{ s.strip('b' * 1000000 ~ 'a') }}",
      "the chat template does not end" },
    { "keys of a large dict",
      "{% set d = dict(range(6000)|map('string')|batch(2)) %}"
      "{% for i in range(100000) %}{{ d['x'] }}{{ d == d }}{% endfor %}",
      "the chat template does not end" },
};

static void
test_endless(void)
{
    for (size_t i = 0; i < sizeof(endless) / sizeof(*endless); i++)
        ok(refused(endless[i].text, strlen(endless[i].text), endless[i].words),
           endless[i].what);
}

static void
test_limits(void)
{
    static const char text[] = "{% for i in range(1000) %}12345678{% endfor %}";
    struct chat_limits few = { .steps = 500 }, small = { .memory = 20000 },
                       enough = { .memory = 1 << 20, .steps = 5000 };

    ok(render(text, sizeof(text) - 1, &few, NULL, 0) != GG_OK &&
           strstr(err.message, "does not end"),
       "a bound of steps");
    ok(render(text, sizeof(text) - 1, &small, NULL, 0) == GG_ERR_NOMEM &&
           strstr(err.message, "too much memory"),
       "a bound of memory");
    ok(render(text, sizeof(text) - 1, &enough, NULL, 0) == GG_OK,
       "bounds that suffice");
}

/* ---- parsing ---- */

static const struct {
    const char *what, *before, *part, *after;
} deep[] = {
    { "parentheses", "{{ ", "(", "" },
    { "lists", "{{ ", "[", "" },
    { "dicts", "{{ ", "{1:", "" },
    { "calls", "{{ a", "(a", "" },
    { "items", "{{ a", "[a", "" },
    { "signs", "{{ ", "-", "1 }}" },
    { "negations", "{{ ", "not ", "1 }}" },
    { "conditions", "{{ 1", " if 1 else 1", " }}" },
    { "blocks", "", "{% if 1 %}", "" },
    { "loops", "", "{% for a in b %}", "" },
    { "elifs", "{% if 1 %}", "{% elif 1 %}", "{% endif %}" },
    { "macros", "", "{% macro m() %}", "" },
    { "filter blocks", "", "{% filter upper %}", "" },
    { "targets", "{% set ", "(", "" },
    { "tests", "{{ 1", " is eq ", "" },
    { "arguments of tests", "{{ 1", " is eq(1", "" },
};

/* Deep nesting is refused with a message, and so are long chains. */
static void
test_deep(void)
{
    for (size_t i = 0; i < sizeof(deep) / sizeof(*deep); i++) {
        char *s = repeated(deep[i].before, deep[i].part, 100000, deep[i].after);

        ok(refused(s, strlen(s), "line "), deep[i].what);
        free(s);
    }
}

/* Chains are no nesting for who writes them; a tree has them as such. */
static const struct {
    const char *what, *before, *part, *after;
} chains[] = {
    { "sums", "{{ 1", " + 1", " }}" },
    { "texts", "{{ 1", " ~ 1", " }}" },
    { "ors", "{{ 0", " or 0", " }}" },
    { "ands", "{{ 1", " and 1", " }}" },
    { "powers", "{{ 1", " ** 1", " }}" },
    { "filters", "{{ 1", "|abs", " }}" },
    { "attributes", "{{ a", ".a", " }}" },
    { "calls of calls", "{{ a", "()", " }}" },
};

static void
test_chains(void)
{
    for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++) {
        char *s =
            repeated(chains[i].before, chains[i].part, 100000, chains[i].after);

        ok(refused(s, strlen(s), "line 1: "), chains[i].what);
        free(s);
    }
}

static void
test_large(void)
{
    char *text = repeated("", "a", 4 * MIB, ""), *more;
    char *tags = repeated("", "{{ 1 }}\n", 4 * MIB / 8, "");
    char *brace = repeated("", "{", 4 * MIB, "");
    char *comments = repeated("", "{#", 2 * MIB, "");
    char *raw = repeated("", "{%raw", 4 * MIB / 5, "");
    char *names = repeated("{{ [", "a1,a2,", 600000, "] }}");

    ok(render(text, 4 * MIB, NULL, NULL, 0) == GG_OK, "4 MiB of text");
    ok(render(tags, 4 * MIB, NULL, NULL, 0) == GG_OK, "4 MiB of tags");
    ok(refused(brace, 4 * MIB, "line 1: "), "4 MiB of braces");
    ok(refused(comments, 4 * MIB, "a comment does not end"),
       "4 MiB of comments' beginnings");
    ok(refused(raw, strlen(raw), "line 1: "), "4 MiB of raw's beginnings");
    ok(render(names, strlen(names), NULL, NULL, 0) == GG_OK, "4 MiB of names");
    more = repeated("", "a", 4 * MIB + 1, "");
    ok(refused(more, 4 * MIB + 1, "more than 4194304 bytes"), "and one more");
    free(text), free(tags), free(brace), free(comments), free(raw), free(names);
    free(more);
}

static void
test_nul(void)
{
    static const char text[] = "a{\0b{{ '\0' }}{", tag[] = "{{ \0 }}",
                      name[] = "{{ a\0 }}";
    char out[32] = "";

    ok(render(text, sizeof(text) - 1, NULL, out, sizeof(out)) == GG_OK &&
           memcmp(out, "a{", 3) == 0,
       "NUL is a character of texts");
    ok(refused(tag, sizeof(tag) - 1, "line 1: ") &&
           refused(name, sizeof(name) - 1, "line 1: "),
       "and of no tag");
}

/* ---- memory ---- */

static const char everything[] =
    "{% set ns = namespace(s='', l=[]) %}{# c #}\n"
    "{% macro m(a, b='x') %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}"
    "{{ caller() if caller }}{% endmacro %}\n"
    "{% for k, v in {'a': [1, 2.5], 'b': (none, true)}.items() %}\n"
    "{% set ns.s = ns.s ~ k|upper ~ loop.index %}"
    "{% set ns.l = ns.l + [v] %}{{ loop.cycle(1, 2) }}\n{% endfor %}\n"
    "{% call m(1, *[2, 3], **{'z': 4}) %}in{% endcall %}\n"
    "{% filter upper %}abc{{ ns.s[::-1] }}{% endfilter %}\n"
    "{% set x|trim %} a {% endset %}{% with y = x %}{{ y }}{% endwith %}\n"
    "{{ ns.l|tojson(indent=2, sort_keys=true) }}{{ [3, 1]|sort }}\n"
    "{{ 'a b'.split() }}{{ '%s %d' % ('a', 1) }}{{ '{:>5}'.format('x') }}\n"
    "{{ 'a-b'|replace('-', '+') }}{{ ['b', 'A']|map('lower')|join(',') }}\n"
    "{{ [{'a': 1}, {'a': 2}]|selectattr('a', 'gt', 1)|list|groupby('a') }}\n"
    "{{ ('<' ~ x)|e + '<' }}{{ strftime_now('%Y') }}{{ range(3)|list }}\n"
    "{{ 'abc'|indent|truncate(2, true, '.') }}{{ [1, 1]|unique|list }}\n"
    "{{ 'x'.center(4) }}{{ 'a\\nb'.splitlines() }}{{ 'a'.partition('b') }}\n"
    "{{ gone.attribute if gone is defined else 'no' }}{{ [1, 2][1:] }}\n";

static void
test_memory(void)
{
    char whole[4096] = "", now[4096];
    enum gg_status st =
        render(everything, sizeof(everything) - 1, NULL, whole, sizeof(whole));
    bool right = st == GG_OK;
    long n = 0;

    if (!right)
        printf("# %s\n", err.message);
    for (st = GG_ERR_NOMEM; right && st != GG_OK && n < 1000; n++) {
        now[0] = '\0';
        mem_fail_after(n);
        st = render(everything, sizeof(everything) - 1, NULL, now, sizeof(now));
        mem_fail_after(-1);
        right = st == GG_OK ? strcmp(now, whole) == 0 : st == GG_ERR_NOMEM;
        if (!right)
            printf("# %ld: %s\n", n, st == GG_OK ? now : err.message);
    }
    ok(right && st == GG_OK && n > 3, "each allocation may fail");
}

/* The arena gives little at a time: with a bound each of its pieces fails. */
static void
test_little(void)
{
    enum gg_status st = GG_ERR_NOMEM;
    bool right = true;
    size_t memory = 16;

    for (; right && st != GG_OK && memory < MIB; memory += 16) {
        struct chat_limits limits = { .memory = memory };

        st = render(everything, sizeof(everything) - 1, &limits, NULL, 0);
        right = st == GG_OK || st == GG_ERR_NOMEM;
    }
    ok(right && st == GG_OK, "memory may end anywhere");
}

int
main(void)
{
    test_endless();
    test_limits();
    test_deep();
    test_chains();
    test_large();
    test_nul();
    test_memory();
    test_little();
    return tap_done();
}
