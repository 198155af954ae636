/* test_origins.c - each character of a rendered text knows where it came from
 *
 * Texts of the variables are CHAT_TEXT, literals CHAT_TRUSTED: what templates
 * do with them keeps that. In the expected texts '_' is trusted, '.' is not. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/template.h"
#include "harness/tap.h"

static struct gg_error err;

static const struct {
    const char *text, *output;
    const char *origins; /* a sign a byte */
} cases[] = {
    /* output */
    { "<|im|>", "<|im|>", "______" },
    { "<{{ s }}>", "<ab cd>", "_....._" },
    { "{{ '<|x|>' }}", "<|x|>", "_____" },
    { "{{ 1 }}{{ 1.5 }}{{ none }}{{ true }}", "11.5NoneTrue", "............" },
    /* operators */
    { "{{ '<' ~ s ~ '>' }}", "<ab cd>", "_....._" },
    { "{{ '<' + s + '>' }}", "<ab cd>", "_....._" },
    { "{{ 'x' * 2 }}{{ s[:2] * 2 }}", "xxabab", "__...." },
    { "{{ '<%s>' % s }}", "<ab cd>", "_....._" },
    { "{{ '<%5s|%d>' % (s[0], 7) }}", "<    a|7>", "_....._._" },
    { "{{ '<%r>' % s[0] }}", "<'a'>", "_..._" },
    { "{{ '<{}|{:>3}>'.format(s[0], 'x') }}", "<a|  x>", "_._..__" },
    { "{{ s % () }}{{ s.format() }}", "ab cdab cd", ".........." },
    { "{{ ('<' ~ s)[0] }}{{ ('<' ~ s)[1:3] }}{{ ('<' ~ s)[::-1] }}",
      "<abdc ba<", "_......._" },
    { "{{ s or 'x' }}{{ '' or 'x' }}{{ s if s else 'y' }}", "ab cdxab cd",
      "....._....." },
    /* statements */
    { "{% set x = '<' ~ s %}{{ x }}", "<ab cd", "_....." },
    { "{% set x %}<{{ s }}>{% endset %}{{ x }}", "<ab cd>", "_....._" },
    { "{% filter upper %}x{{ s }}{% endfilter %}", "XAB CD", "_....." },
    { "{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(s) }}{{ m('x') }}",
      "<ab cd><x>",
      "_....._"
      "___" },
    { "{% macro m() %}<{{ caller() }}>{% endmacro %}"
      "{% call m() %}x{{ s }}{% endcall %}",
      "<xab cd>", "__....._" },
    { "{% set n = namespace(x='<') %}{% set n.x = n.x ~ s %}{{ n.x }}",
      "<ab cd", "_....." },
    { "{% for c in '<' ~ s[:1] ~ '>' %}{{ c }}{% endfor %}", "<a>", "_._" },
    { "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "k=v;",
      "._._" },
    { "{% for k, v in {'k': s}.items() %}{{ k }}={{ v }}{% endfor %}",
      "k=ab cd", "__....." },
    /* methods */
    { "{{ ('<' ~ s ~ '>').upper() }}", "<AB CD>", "_....._" },
    { "{{ ('X' ~ s ~ 'Y').lower() }}", "xab cdy", "_....._" },
    { "{{ ('x' ~ s).title() }}{{ ('x' ~ s).capitalize() }}", "Xab CdXab cd",
      "_....._....." },
    { "{{ ('x' ~ s).swapcase() }}", "XAB CD", "_....." },
    { "{{ (' <' ~ s ~ '> ').strip() }}", "<ab cd>", "_....._" },
    { "{{ ('<' ~ s ~ '>').lstrip('<') }}", "ab cd>", "....._" },
    { "{{ ('<' ~ s ~ '>').rstrip('>') }}", "<ab cd", "_....." },
    { "{{ ('<' ~ s ~ '>').split(' ')|join('+') }}", "<ab+cd>", "_.._.._" },
    { "{{ ('<' ~ s ~ '>').split()|join }}", "<abcd>", "_...._" },
    { "{{ ('<' ~ s ~ '>').rsplit(' ', 1)|join }}", "<abcd>", "_...._" },
    { "{{ ('<' ~ s ~ '\\n>').splitlines()|join }}", "<ab cd>", "_....._" },
    { "{{ ('<' ~ s ~ '>').partition(' ')|join }}", "<ab cd>", "_....._" },
    { "{{ ('<' ~ s ~ '>').rpartition(' ')|join }}", "<ab cd>", "_....._" },
    { "{{ ('<' ~ s).replace(' ', '|') }}", "<ab|cd", "_.._.." },
    { "{{ '<|x|>'.replace('x', s) }}", "<|ab cd|>", "__.....__" },
    { "{{ s.replace('ab', '<') }}", "< cd", "_..." },
    { "{{ 'xy'.replace('', s[0]) }}", "axaya", "._._." },
    { "{{ ('<' ~ s).removeprefix('<a') }}", "b cd", "...." },
    { "{{ (s ~ '>').removesuffix('d>') }}", "ab c", "...." },
    { "{{ '|'.join([s, 'x', s]) }}", "ab cd|x|ab cd",
      "....."
      "___"
      "....." },
    { "{{ 'x'.center(3) }}{{ 'x'.ljust(2) }}{{ 'x'.rjust(2) }}", " x x  x",
      "._._.._" },
    { "{{ 'x'.center(3, '-') }}{{ '7'.zfill(3) }}", "-x-007", "___.._" },
    /* filters */
    { "{{ ('<' ~ s)|upper }}{{ ('X' ~ s)|lower }}", "<AB CDxab cd",
      "_....._....." },
    { "{{ ('x' ~ s)|title }}{{ ('x' ~ s)|capitalize }}", "Xab CdXab cd",
      "_....._....." },
    { "{{ (' <' ~ s ~ ' ')|trim }}", "<ab cd", "_....." },
    { "{{ '<x>'|replace('x', s) }}", "<ab cd>", "_....._" },
    { "{{ [s, 'x']|join('|') }}{{ d|join('|') }}", "ab cd|xk", ".....__." },
    { "{{ ['<', s]|first }}{{ ['<', s]|last }}", "<ab cd", "_....." },
    { "{{ ('<' ~ s[0])|reverse }}", "a<", "._" },
    { "{{ ('<' ~ s)|list|join }}", "<ab cd", "_....." },
    { "{{ ['<', s]|map('upper')|join }}", "<AB CD", "_....." },
    { "{{ [s, '<']|sort|join }}{{ ['<', s]|select|join }}", "<ab cd<ab cd",
      "_....._....." },
    { "{{ ['<', s, '<']|unique|join }}", "<ab cd", "_....." },
    { "{{ ['<', s]|batch(1)|map('first')|join }}", "<ab cd", "_....." },
    { "{{ ['<', s]|slice(2)|map('first')|join }}", "<ab cd", "_....." },
    { "{{ ['x', s]|min }}{{ ['x', s]|max }}", "ab cdx", "....._" },
    { "{{ [{'a': '<'}, {'a': s}]|map(attribute='a')|join }}", "<ab cd",
      "_....." },
    { "{{ [{'a': '<'}, {'a': s}]|groupby('a')|map('first')|join }}", "<ab cd",
      "_....." },
    { "{{ {'<': s}|dictsort|first|join }}{{ {'<': s}|items|first|join }}",
      "<ab cd<ab cd", "_....._....." },
    { "{{ gone|default('<') }}{{ gone|default(s) }}{{ s|default('x') }}",
      "<ab cdab cd", "_.........." },
    { "{{ ('<' ~ s)|string }}{{ ('<' ~ s)|safe }}", "<ab cd<ab cd",
      "_....._....." },
    { "{{ ('<' ~ s[0])|e }}", "&lt;a", "____." },
    { "{{ ('<' ~ s[0])|urlencode }}", "%3Ca", "___." },
    { "{{ ('<\\n' ~ s)|indent(2) }}", "<\n  ab cd", "__......." },
    { "{{ ('<' ~ s ~ '\\n>')|indent('|') }}", "<ab cd\n|>", "_.....___" },
    { "{{ ('<' ~ s)|truncate(3, true, '.', 0) }}", "<a.", "_._" },
    { "{{ ('<' ~ s[0])|center(4) }}", " <a ", "._.." },
    { "{{ '<%s>'|format(s) }}", "<ab cd>", "_....._" },
    { "{{ ['<', s]|sum(start='') }}", "<ab cd", "_....." },
    { "{{ d|attr('items') is callable }}", "True", "...." },
    /* texts of values: what they are made of is text, but for literals */
    { "{{ ['<', s] }}", "['<', 'ab cd']", ".._..........." },
    { "{{ {'<': s} }}", "{'<': 'ab cd'}", ".._..........." },
    { "{{ ['<', s]|tojson }}", "[\"<\", \"ab cd\"]", ".._..........." },
    { "{{ [s[0]]|tojson(indent='<', separators=('|', ':')) }}", "[\n<\"a\"\n]",
      ".._....." },
    { "{{ ('\\n' ~ '<')|tojson }}", "\"\\n<\"", ".___." },
    { "{{ s|length }}{{ s|wordcount }}{{ s.find('b') }}", "521", "..." },
    { "{{ strftime_now('<%Y') }}", "<1970", "....." },
    { "{{ '7'|int }}{{ '7'|float }}", "77.0", "...." },
};

static bool
origins_are(const struct chat_string *out, const char *want)
{
    for (size_t i = 0; i < out->n; i++) {
        uint8_t origin = out->origins ? out->origins[i] : out->origin;

        if (!want[i] || origin != (want[i] == '_' ? CHAT_TRUSTED : CHAT_TEXT))
            return false;
    }
    return want[out->n] == '\0';
}

static void
show(const struct chat_string *out)
{
    printf("# %.*s ", (int)out->n, out->n ? out->s : "");
    for (size_t i = 0; i < out->n; i++)
        putchar(!(out->origins ? out->origins[i] : out->origin) ? '.' : '_');
    printf("\n");
}

static struct chat_value
variables(struct chat_arena *a)
{
    struct chat_value v = chat_dict(a, CHAT_DICT), d = chat_dict(a, CHAT_DICT);

    chat_dict_put(a, d.dict, "k", chat_string(a, "v", 1, CHAT_TEXT));
    chat_dict_put(a, v.dict, "s", chat_string(a, "ab cd", 5, CHAT_TEXT));
    chat_dict_put(a, v.dict, "d", d);
    return v;
}

static void
test_case(const char *text, const char *output, const char *origins)
{
    struct chat_arena arena = { .limit = 1 << 24 };
    struct chat_template *t = NULL;
    struct chat_string out = { 0 };
    enum gg_status st = chat_template_parse(text, strlen(text), &t, &err);
    bool right;

    if (st == GG_OK)
        st = chat_template_render(t, variables(&arena), 0, NULL, &arena, &out,
                                  &err);
    if (st != GG_OK)
        printf("# %s\n", err.message);
    right = st == GG_OK && out.n == strlen(output) &&
            memcmp(out.s, output, out.n) == 0 && origins_are(&out, origins);
    if (st == GG_OK && !right)
        show(&out);
    ok(right, text);
    chat_template_free(t);
    chat_arena_clear(&arena);
}

/* Text between two parts of a role keeps its own origin. */
static void
test_roles(void)
{
    static const char text[] = "<|{{ r|upper }}|>";
    struct chat_arena arena = { .limit = 1 << 20 };
    struct chat_value v = chat_dict(&arena, CHAT_DICT);
    struct chat_template *t = NULL;
    struct chat_string out = { 0 };

    chat_dict_put(&arena, v.dict, "r",
                  chat_string(&arena, "user", 4, CHAT_ROLE));
    if (chat_template_parse(text, sizeof(text) - 1, &t, &err) == GG_OK)
        chat_template_render(t, v, 0, NULL, &arena, &out, &err);
    ok(out.n == 8 && out.origins && out.origins[1] == CHAT_TRUSTED &&
           out.origins[2] == CHAT_ROLE && out.origins[5] == CHAT_ROLE &&
           out.origins[6] == CHAT_TRUSTED,
       "a role is one");
    chat_template_free(t);
    chat_arena_clear(&arena);
}

int
main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        test_case(cases[i].text, cases[i].output, cases[i].origins);
    test_roles();
    return tap_done();
}
