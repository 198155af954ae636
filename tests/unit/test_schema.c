/* test_schema.c - JSON schemas: which texts they allow, against what is
 * computed here; what is refused, with its place in the schema */
#include <config.h>

#include <gg.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/schema.h"
#include "sample/grammar.h"
#include "unit/tap.h"

enum {
    EOG = 256,
};

static struct gg_error err;

void *
cli_alloc(void *p, size_t n, size_t size)
{
    p = realloc(p, n * size + 1);
    if (!p)
        abort();
    return p;
}

#ifdef HAVE_JANSSON

/* NULL: refused. */
static struct gg_grammar *
compile(const char *schema)
{
    static char bytes[256];
    static uint32_t at[EOG + 2];
    const int32_t eog = EOG;
    struct grammar_tokens tokens = { bytes, at, EOG + 1, &eog, 1 };
    struct buffer text = { 0 };
    struct gg_grammar *g = NULL;

    for (int i = 0; i < 256; i++)
        at[i] = (uint32_t)i, bytes[i] = (char)i;
    at[EOG] = at[EOG + 1] = 256;
    if (schema_to_grammar(schema, strlen(schema), &text, &err) &&
        grammar_new(text.p, text.len, &tokens, &g, &err) != GG_OK)
        g = NULL;
    buffer_clear(&text);
    return g;
}

/* Whether the grammar allows the text as a whole. */
static bool
allows(struct gg_grammar *g, const char *text)
{
    struct grammar_at at = { 0 };
    bool fits = g != NULL;

    if (!g)
        return false;
    grammar_begin(&at, g);
    for (; fits && *text; text++)
        if (grammar_allows(&at, (uint8_t)*text, &fits, &err) != GG_OK ||
            (fits && grammar_advance(&at, (uint8_t)*text, &err) != GG_OK))
            fits = false;
    if (fits && grammar_allows(&at, EOG, &fits, &err) != GG_OK)
        fits = false;
    grammar_leave(&at);
    return fits;
}

/* ---- texts ---- */

/* Those behind an exclamation mark are not allowed. */
static const struct {
    const char *schema, *texts[8];
} cases[] = {
    { "{\"type\":\"number\",\"minimum\":0,\"exclusiveMaximum\":1}",
      { "0", "0.5", "0.999", "!1", "!1.0", "!-0.1", "!-00.5" } },
    { "{\"exclusiveMinimum\":-2,\"maximum\":3}",
      { "-1.5", "3", "0.25", "!-2", "!3.01", "!-2.5", "!4" } },
    { "{\"type\":[\"integer\",\"string\"],\"minimum\":5,\"maxLength\":1}",
      { "5", "\"a\"", "\"\"", "!4", "!\"ab\"", "!null" } },
    { "{\"enum\":[1,\"a\",7.0,null],\"type\":\"integer\",\"minimum\":2}",
      { "7.0", "!1", "!\"a\"", "!null" } },
    { "{\"pattern\":\"^\\\\d{2}(-[a-c]+)?$\"}",
      { "\"12\"", "\"12-ab\"", "!\"1\"", "!\"12-\"", "!\"12-d\"",
        "!\"123\"" } },
    { "{\"pattern\":\"b\"}", { "\"b\"", "\"abc\"", "!\"ac\"", "!\"\"" } },
    { "{\"pattern\":\"^a|c$\"}", { "\"ab\"", "\"bc\"", "!\"ba\"", "!\"cb\"" } },
    { "{\"pattern\":\"^(?:x|[^\\\\s\\\"]{2}?|\\\\u00e9.)$\"}",
      { "\"x\"", "\"ab\"", "\"\xc3\xa9 \"", "!\"a b\"", "!\" x\"",
        "!\"abc\"" } },
    { "{\"pattern\":\"^[\\\"\\\\\\\\\\\\n]\\\\W$\"}",
      { "\"\\\"-\"", "\"\\\\.\"", "\"\\n!\"", "!\"n!\"", "!\"\\\"a\"" } },
    { "{\"pattern\":\"^a{2,3}$\",\"minLength\":2,\"maxLength\":3}",
      { "\"aa\"", "\"aaa\"", "!\"a\"", "!\"aaaa\"" } },
    { "{\"properties\":{\"a\":{\"type\":\"null\"},\"ab\":{\"type\":\"null\"}},"
      "\"additionalProperties\":{\"type\":\"boolean\"}}",
      { "{}", "{\"a\":null}", "{\"b\":true}", "{\"ab\":null,\"abc\": true}",
        "!{\"a\":true}", "!{\"ab\":true}", "!{\"b\":null}",
        "!{\"\\u0061\":true}" } },
    { "{\"properties\":{\"a\":{\"type\":\"null\"}}}",
      { "{}", "{\"a\": null}", "!{\"b\":1}" } },
    { "{\"required\":[\"x\"],\"properties\":{\"a\":{\"const\":1}}}",
      { "{\"x\":[]}", "{\"a\":1,\"x\":\"\"}", "!{}", "!{\"a\":1}" } },
    { "{\"prefixItems\":[{\"const\":1},{\"const\":2}],\"items\":{\"const\":3}}",
      { "[1,2]", "[1,2,3,3]", "![1]", "![1,3]", "![1,2,2]" } },
    { "{\"prefixItems\":[{\"const\":1},{\"const\":2}],\"maxItems\":1}",
      { "[1]", "![]", "![1,2]" } },
    { "{\"prefixItems\":[{\"const\":1}],\"items\":false}",
      { "[1]", "![1,1]" } },
    { "{\"prefixItems\":[{\"const\":1}],\"minItems\":2}",
      { "[1,[]]", "![1]", "![1,2,3]" } },
    { "{\"allOf\":[{\"properties\":{\"a\":{\"minimum\":2}},\"required\":"
      "[\"a\"]},{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"const\":"
      "0}}}],\"properties\":{\"a\":{\"maximum\":3}}}",
      { "{\"a\":2}", "{\"a\":3,\"b\":0}", "!{\"a\":1}", "!{\"a\":2.5}",
        "!{\"b\":0}", "!{\"a\":4}" } },
    { "{\"allOf\":[{\"properties\":{\"a\":{}},\"additionalProperties\":false},"
      "{\"properties\":{\"b\":{}}}]}",
      { "{}", "{\"a\":1}", "!{\"b\":1}" } },
    { "{\"type\":\"object\",\"properties\":{\"k\":{}},\"anyOf\":[{\"required\":"
      "[\"k\"]},{\"properties\":{\"l\":{}},\"required\":[\"l\"]},{\"type\":"
      "\"string\"}]}",
      { "{\"k\":1}", "{\"l\":1}", "{\"k\":1,\"l\":1}", "!{}", "!\"k\"" } },
    { "{\"allOf\":[{\"anyOf\":[{\"const\":1},{\"const\":2}]},{\"anyOf\":[{"
      "\"const\":2},{\"const\":3}]}]}",
      { "2", "!1", "!3" } },
    { "{\"$ref\":\"#/$defs/n\",\"maximum\":2,\"$defs\":{\"n\":{\"type\":"
      "\"integer\",\"minimum\":1}}}",
      { "1", "2", "!0", "!3" } },
    { "{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}",
      { "[]", "[[],[[]]]", "![1]" } },
};

static void
test_texts(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gg_grammar *g = compile(cases[i].schema);
        bool right = g != NULL;
        char name[100];

        for (int k = 0; k < 8 && cases[i].texts[k]; k++) {
            const char *text = cases[i].texts[k];
            bool not = *text == '!';
            bool fits = allows(g, text + not );

            if (fits == not )
                printf("# %s: %s\n", cases[i].schema, text);
            right = right && fits != not ;
        }
        gg_escape(name, sizeof(name), cases[i].schema, strlen(cases[i].schema));
        ok(right, name);
        gg_grammar_free(g);
    }
}

/* ---- whole numbers ---- */

static int64_t
any_number(void)
{
    int64_t x = ((int64_t)rand() << 31 | rand()) % 1000000000000000000;
    int digits = rand() % 18;

    for (; digits > 0; digits--)
        x /= 10;
    return rand() % 2 ? x : -x;
}

static bool
allows_number(struct gg_grammar *g, int64_t x)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRId64, x);
    return allows(g, text);
}

/* Numbers around both ends, powers of ten, and any others. */
static int
compare_range(int64_t low, int64_t high)
{
    struct gg_grammar *g;
    char schema[200];
    int differ = 0;

    snprintf(schema, sizeof(schema),
             "{\"type\":\"integer\",\"minimum\":%" PRId64
             ",\"exclusiveMaximum\":%" PRId64 "}",
             low, high + 1);
    g = compile(schema);
    for (int i = 0; g && i < 100; i++) {
        int64_t near = rand() % 3 ? rand() % 24 - 12 : any_number() / 100;
        int64_t x = i < 40 ? low + near : i < 80 ? high + near : any_number();

        if (x < -999999999999999999 || x > 999999999999999999)
            continue;
        if (allows_number(g, x) != (x >= low && x <= high)) {
            printf("# %s: %" PRId64 "\n", schema, x);
            differ++;
        }
    }
    gg_grammar_free(g);
    return g ? differ : 1;
}

static void
test_ranges(void)
{
    int differ = 0;

    srand(3);
    for (int i = 0; i < 150; i++) {
        int64_t a = any_number(),
                b = rand() % 2 ? any_number() : a + rand() % 30;

        differ += compare_range(a < b ? a : b, a < b ? b : a);
    }
    ok(differ == 0, "whole numbers between two limits");
}

/* ---- what is refused ---- */

static const struct {
    const char *schema, *message;
} wrong[] = {
    { "{\"properties\":{\"a\":{\"items\":{\"not\":{}}}}}",
      "#/properties/a/items: not is not supported" },
    { "{\"pattern\":\"a(?=b)\"}", "#: pattern: looking ahead or behind" },
    { "{\"pattern\":\"(a)\\\\1\"}", "#: pattern: \\1 is not supported" },
    { "{\"pattern\":\"a^b\"}", "#: pattern: an anchor within it" },
    { "{\"pattern\":\"\\\\bx\"}", "#: pattern: \\b is not supported" },
    { "{\"pattern\":\"(a\"}", "#: pattern: a group without an end" },
    { "{\"pattern\":\"a)\"}", "#: pattern: a parenthesis without" },
    { "{\"pattern\":\"[b-a]\"}", "#: pattern: a range that ends before" },
    { "{\"pattern\":\"a**\"}", "#: pattern: a repetition of nothing" },
    { "{\"pattern\":\"^a+$\",\"maxLength\":9}", "#: pattern allows lengths" },
    { "{\"type\":\"integer\",\"minimum\":5,\"maximum\":4}",
      "#: no number is between" },
    { "{\"type\":\"number\",\"minimum\":0.5}",
      "#: minimum of a number is not" },
    { "{\"minimum\":\"1\"}", "#: minimum is no number" },
    { "{\"exclusiveMinimum\":true}", "#: exclusiveMinimum is no number" },
    { "{\"allOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}",
      "#: nothing is allowed here" },
    { "{\"allOf\":[{\"pattern\":\"a\"},{\"pattern\":\"b\"}]}",
      "#: two different pattern" },
    { "{\"enum\":[{\"a\":1}],\"properties\":{\"a\":{}}}",
      "#: enum or const beside properties" },
    { "{\"const\":1,\"type\":\"string\"}", "#: no value of enum or const" },
    { "{\"$ref\":\"#\"}", "#: $ref or allOf leads back to itself" },
    { "{\"anyOf\":[{\"$ref\":\"#\"},{}]}",
      "#/anyOf/0: a value that consists of itself" },
    { "{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}",
      "#/properties/a: a value that has no end" },
    { "{\"required\":[\"a\"],\"additionalProperties\":false}",
      "#: required: a is none of the properties" },
    { "{\"items\":[{}]}", "#: items as a list" },
    { "{\"maxItems\":100000}", "#: maxItems is not in 0..20000" },
    { "{\"allOf\":[]}", "#: allOf is no list" },
    { "{\"$ref\":\"other.json\"}", "#: $ref: there is no other.json" },
};

static void
test_wrong(void)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct gg_grammar *g;
        size_t len = strlen(wrong[i].message);

        err.message[0] = '\0';
        g = compile(wrong[i].schema);
        ok(!g && !strncmp(err.message, wrong[i].message, len),
           wrong[i].message);
        if (strncmp(err.message, wrong[i].message, len))
            printf("# %s\n", err.message);
        gg_grammar_free(g);
    }
}

/* Twice as many at each step would be 2^25. */
static void
test_bomb(void)
{
    struct buffer b = { 0 };
    char text[100];

    buffer_add(&b, "{\"$ref\":\"#/$defs/a0\",\"$defs\":{", 30);
    for (int i = 0; i < 25; i++)
        buffer_add(&b, text,
                   (size_t)snprintf(text, sizeof(text),
                                    "\"a%d\":{\"allOf\":[{\"$ref\":\"#/$defs/"
                                    "a%d\"},{\"$ref\":\"#/$defs/a%d\"}]},",
                                    i, i + 1, i + 1));
    buffer_add(&b, "\"a25\":{}}}", 10);
    buffer_char(&b, '\0');
    ok(!compile(b.p) && strstr(err.message, "too large"),
       "allOf that doubles 25 times");
    buffer_clear(&b);
}

int
main(void)
{
    test_texts();
    test_ranges();
    test_wrong();
    test_bomb();
    return tap_done();
}

#else

int
main(void)
{
    struct buffer b = { 0 };

    ok(!schema_to_grammar("{}", 2, &b, &err) && err.message[0],
       "refused without Jansson");
    return tap_done();
}

#endif
