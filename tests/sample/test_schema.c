/* test_schema.c - JSON schemas: which texts they allow, against what is
 * computed here */
#include <config.h>

#include <inttypes.h>

#include "schema_test.h"

#ifdef HAVE_JANSSON

/* ---- texts ---- */

/* Texts after an exclamation mark are not allowed. */
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
    { "{\"oneOf\":[{\"type\":\"integer\",\"maximum\":1},{\"type\":\"number\","
      "\"exclusiveMinimum\":1},{\"type\":[\"null\",\"string\"]}]}",
      { "1", "2.5", "null", "\"a\"", "!true" } },
    { "{\"oneOf\":[{\"const\":1},{\"enum\":[\"a\",2]},{\"type\":\"boolean\"}]}",
      { "1", "2", "\"a\"", "true", "!3" } },
    { "{\"oneOf\":[{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/"
      "b\"}],\"$defs\":{"
      "\"a\":{\"properties\":{\"k\":{\"const\":\"a\"}},\"required\":[\"k\"]},"
      "\"b\":{\"properties\":{\"k\":{\"const\":\"b\"},\"x\":{\"$ref\":\"#\"}},"
      "\"required\":[\"k\"]}}}",
      { "{\"k\":\"a\"}", "{\"k\":\"b\",\"x\":{\"k\":\"a\"}}",
        "!{\"k\":\"c\"}" } },
    { "{\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
      { "{\"a\":1}", "{\"b\":1}", "!{\"a\":1,\"b\":1}", "!{}" } },
    { "{\"oneOf\":[{\"type\":\"array\",\"prefixItems\":[{\"const\":1}],"
      "\"minItems\":1},{\"type\":\"array\",\"prefixItems\":[{\"const\":2}]},"
      "{\"type\":\"string\"}]}",
      { "[1]", "[2]", "\"a\"", "!3" } },
    { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$id\":"
      "\"http://a/b/\",\"definitions\":{\"f\":{\"$id\":\"http://a/f\",\"type\":"
      "\"string\"},\"g\":{\"$id\":\"f\",\"type\":\"number\"}},\"allOf\":[{"
      "\"$id\":\"http://a/\",\"$ref\":\"f\"}]}",
      { "1", "!\"a\"" } },
    { "{\"$ref\":\"#/$defs/n\",\"maximum\":2,\"$defs\":{\"n\":{\"type\":"
      "\"integer\",\"minimum\":1}}}",
      { "1", "2", "!0", "!3" } },
    { "{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}",
      { "[]", "[[],[[]]]", "![1]" } },

    /* Schemas that allow nothing are left out, wherever that is possible. */
    { "{\"anyOf\":[{\"type\":\"integer\",\"minimum\":2,\"maximum\":1},"
      "{\"maxLength\":1,\"minLength\":2},{\"required\":[\"a\"],"
      "\"properties\":{\"a\":false}},{\"items\":false,\"minItems\":1},"
      "{\"enum\":[]},{\"multipleOf\":7,\"minimum\":8,\"maximum\":13},"
      "{\"const\":null}]}",
      { "null", "!1", "!\"a\"", "!{}", "![1]", "!{\"a\":1}" } },
    { "{\"type\":[\"string\",\"null\"],\"minLength\":2,\"maxLength\":1}",
      { "null", "!\"\"", "!\"ab\"" } },
    { "{\"properties\":{\"a\":{\"minItems\":1,\"maxItems\":0},\"b\":{}},"
      "\"additionalProperties\":{\"type\":\"null\"}}",
      { "{}", "{\"b\":1}", "{\"c\":null}", "!{\"a\":[]}", "!{\"a\":null}" } },
    { "{\"items\":{\"enum\":[]},\"maxItems\":3}", { "[]", "![1]" } },
    { "{\"prefixItems\":[{\"const\":1},false]}", { "[1]", "![1,2]" } },
    { "{\"additionalProperties\":{\"enum\":[]}}", { "{}", "!{\"a\":1}" } },
    { "{\"$ref\":\"#/$defs/l\",\"$defs\":{\"l\":{\"anyOf\":[{\"items\":{"
      "\"$ref\":\"#/$defs/l\"},\"minItems\":1},{\"type\":\"null\"}]}}}",
      { "null", "[null]", "[[null], null]", "![]", "![[]]" } },
    { "{\"anyOf\":[{\"$ref\":\"#/$defs/x\"},{\"const\":0}],\"$defs\":{\"x\":"
      "{\"properties\":{\"x\":{\"$ref\":\"#/$defs/x\"}},\"required\":"
      "[\"x\"]}}}",
      { "0", "!{}" } },

    /* References. */
    { "{\"$ref\":\"#/$defs/a%20b~1c~0d%25\",\"$defs\":{\"a b/c~d%\":{"
      "\"const\":1}}}",
      { "1", "!2" } },
    { "{\"$ref\":\"#n\",\"$defs\":{\"n\":{\"$anchor\":\"n\",\"const\":1}}}",
      { "1", "!2" } },
    { "{\"$id\":\"http://a.b/c/d?e\",\"$ref\":\"http://a.b/c/d?e#/$defs/n\","
      "\"$defs\":{\"n\":{\"const\":1}}}",
      { "1", "!2" } },
    { "{\"$id\":\"http://a.b/c/d\",\"prefixItems\":[{\"$ref\":\"../x/./y\"},"
      "{\"$ref\":\"/x/y#/$defs/m\"},{\"$ref\":\"//a.b/x/y#m\"},{\"$ref\":"
      "\"d#/$defs/n\"}],\"$defs\":{\"n\":{\"const\":3},\"y\":{\"$id\":"
      "\"http://a.b/x/y\",\"items\":{\"$ref\":\"#m\"},\"$defs\":{\"m\":{"
      "\"$anchor\":\"m\",\"const\":2}}}}}",
      { "[[],2,2,3]", "[[2,2],2,2,3]", "![[3],2,2,3]" } },
    { "{\"$id\":\"urn:u:1\",\"items\":{\"$ref\":\"urn:u:1#/$defs/n\"},"
      "\"$defs\":{\"n\":{\"const\":3}}}",
      { "[3]", "![1]" } },
    { "{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"id\":"
      "\"http://a/b\",\"$ref\":\"/b#/definitions/n\",\"definitions\":{\"n\":{"
      "\"id\":\"#n\",\"items\":{\"$ref\":\"#n\"}}}}",
      { "[[]]", "!1" } },
    { "{\"$ref\":\"#/words/x\",\"words\":{\"x\":{\"items\":{\"$ref\":"
      "\"#/words/y/1\"}},\"y\":[0,{\"const\":1}]}}",
      { "[1]", "![0]" } },
    { "{\"properties\":{\"$ref\":{\"const\":1},\"$id\":{\"const\":2}}}",
      { "{\"$ref\":1,\"$id\":2}", "!{\"$ref\":2}" } },

    /* Limits. */
    { "{\"maxLength\":100000,\"minLength\":2}", { "\"ab\"", "!\"a\"" } },
    { "{\"maxItems\":18446744073709551615,\"items\":{\"const\":0}}",
      { "[]", "[0,0]" } },
    { "{\"type\":\"integer\",\"maximum\":18446744073709551615,\"minimum\":0}",
      { "0", "999999999999999999", "!-1" } },
    { "{\"type\":\"integer\",\"minimum\":-9223372036854775808,"
      "\"maximum\":1e400}",
      { "0", "-999999999999999999" } },
    { "{\"enum\":[18446744073709551615,-1e400,[9223372036854775808]]}",
      { "18446744073709551615", "-1e400", "[9223372036854775808]",
        "!18446744073709551616" } },
    { "{\"enum\":[0.1,1.10,9223372036854775807]}",
      { "0.1", "1.1", "9223372036854775807", "!0.10000000000000001" } },
    { "{\"type\":\"integer\",\"enum\":[7,18446744073709551615],"
      "\"minimum\":8}",
      { "18446744073709551615", "!7" } },
    { "{\"minimum\":0.5,\"maximum\":1.25}",
      { "0.5", "1", "1.2499", "1.25", "0.50", "!0.49", "!1.251", "!2" } },
    { "{\"exclusiveMinimum\":-0.1,\"exclusiveMaximum\":0.1}",
      { "0", "0.09", "-0.0999", "!0.1", "!-0.1", "!-0.10", "!1", "!0." } },
    { "{\"minimum\":-2.5,\"maximum\":-0.001}",
      { "-2.5", "-0.001", "-1", "!-0.0009", "!-2.51", "!0", "!-3" } },
    { "{\"type\":\"integer\",\"minimum\":0.5,\"maximum\":2.9}",
      { "1", "2", "!0", "!3" } },
    { "{\"minimum\":1e-20,\"maximum\":1e30,\"type\":\"number\"}",
      { "0.1", "5", "!0", "!0.0" } },
    { "{\"minimum\":3,\"exclusiveMinimum\":true,\"maximum\":5,"
      "\"exclusiveMaximum\":false,\"type\":\"integer\"}",
      { "4", "5", "!3", "!6" } },
    { "{\"type\":\"number\",\"multipleOf\":4,\"minimum\":1.5}",
      { "4", "12", "1000", "!0", "!2", "!4.0", "!10" } },
    { "{\"type\":\"integer\",\"multipleOf\":1.5}",
      { "0", "3", "-6", "999", "!1", "!-0", "!2" } },
    { "{\"allOf\":[{\"multipleOf\":4},{\"multipleOf\":6}],\"maximum\":30,"
      "\"minimum\":1}",
      { "12", "24", "!4", "!6", "!36", "!0" } },
    { "{\"enum\":[1,3,4.5,\"a\"],\"multipleOf\":1.5}",
      { "3", "4.5", "\"a\"", "!1" } },

    /* Items as a list, as until draft 2019-09. */
    { "{\"items\":[{\"const\":1},{\"const\":2}]}",
      { "[1,2]", "![2]", "![1,2,3]" } },
    { "{\"items\":[{\"const\":1}],\"additionalItems\":{\"const\":2}}",
      { "[1]", "[1,2,2]", "![1,1]" } },
    { "{\"items\":{\"const\":1},\"additionalItems\":false}",
      { "[1,1]", "![2]" } },
    { "{\"allOf\":[{\"items\":{\"minimum\":2}},{\"prefixItems\":[{\"maximum\":"
      "3},{}],\"items\":{\"type\":\"integer\"}}],\"minItems\":1}",
      { "[2.5,2.5,4]", "![4,2]", "![2,2,2.5]", "![2,1]" } },

    /* How many members. */
    { "{\"minProperties\":1}", { "{\"a\":1}", "!{}" } },
    { "{\"maxProperties\":1,\"additionalProperties\":{\"const\":1}}",
      { "{}", "{\"a\":1}", "!{\"a\":1,\"b\":1}" } },
    { "{\"minProperties\":2,\"maxProperties\":3,\"additionalProperties\":{"
      "\"const\":1}}",
      { "{\"a\":1,\"b\":1}", "{\"a\":1,\"bc\":1,\"a\":1}", "!{\"a\":1}",
        "!{\"a\":1,\"a\":1}", "!{\"a\":1,\"b\":1,\"c\":1,\"d\":1}" } },
    { "{\"properties\":{\"a\":{\"const\":1},\"b\":{\"const\":1},\"c\":{"
      "\"const\":1}},\"minProperties\":2,\"additionalProperties\":false}",
      { "{\"a\":1,\"c\":1}", "{\"b\":1,\"c\":1}", "{\"a\":1,\"b\":1,\"c\":1}",
        "!{\"c\":1}", "!{}" } },
    { "{\"properties\":{\"a\":{\"const\":1},\"b\":{\"const\":1},\"c\":{"
      "\"const\":1}},\"maxProperties\":2,\"required\":[\"b\"]}",
      { "{\"b\":1}", "{\"a\":1,\"b\":1}", "{\"b\":1,\"c\":1}", "!{\"a\":1}",
        "!{\"a\":1,\"b\":1,\"c\":1}" } },
    { "{\"properties\":{\"a\":{\"const\":1}},\"minProperties\":2}",
      { "{\"a\":1,\"b\":0}", "{\"b\":0,\"c\":0}", "!{\"a\":1}",
        "!{\"a\":1,\"a\":1}", "!{\"b\":0}" } },
    { "{\"properties\":{\"a\":false},\"additionalProperties\":true}",
      { "{\"b\":1}", "!{\"a\":1}" } },
    { "{\"patternProperties\":{\"^x[0-9]$\":{\"const\":1}},"
      "\"minProperties\":1}",
      { "{\"x1\":1}", "{\"x1\":1,\"x2\":1}", "!{}", "!{\"x\":1}",
        "!{\"x1\":2}" } },
    { "{\"patternProperties\":{\"^a$\":{\"const\":1},\"^b$\":{\"const\":1}}"
      ",\"additionalProperties\":false}",
      { "{}", "{\"b\":1}", "!{\"c\":1}" } },

    /* Keywords that limit nothing. */
    { "{\"not\":false,\"uniqueItems\":false,\"if\":{},\"minContains\":3,"
      "\"propertyNames\":true,\"dependencies\":{},\"unevaluatedItems\":{},"
      "\"const\":1}",
      { "1", "!2" } },
    { "{\"allOf\":[{\"x\":1,\"title\":\"a\"},{\"x\":2,\"const\":1}]}",
      { "1", "!2" } },
};

/* Large counts of one thing are not written out one by one. */
static void
test_many(void)
{
    struct gg_grammar *g =
        compile("{\"properties\":{\"a\":{\"maxLength\":20000},\"b\":{"
                "\"maxLength\":19000},\"c\":{\"maxItems\":90000},\"d\":{"
                "\"minLength\":250,\"maxLength\":951}},\"required\":[\"d\"]}");
    static char text[2000] = "{\"d\":\"";
    int differ = 0;

    for (size_t n = 0; n < 1000; n++) {
        snprintf(text + 6 + n, 4, "\"}");
        differ += allows(g, text) != (n >= 250 && n <= 951);
        text[6 + n] = 'x';
    }
    ok(g && differ == 0, "lengths up to 20,000, four in a schema");
    gg_grammar_free(g);
}

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
    is(differ, 0, "whole numbers between two limits");
}

/* ---- multiples ---- */

static int
compare_multiples(int64_t m, int64_t low, int64_t high)
{
    struct gg_grammar *g;
    char schema[200];
    int differ = 0;

    snprintf(schema, sizeof(schema),
             "{\"type\":\"integer\",\"multipleOf\":%" PRId64
             ",\"minimum\":%" PRId64 ",\"maximum\":%" PRId64 "}",
             m, low, high);
    g = compile(schema);
    for (int64_t x = -1100; x <= 1100; x++)
        differ += allows_number(g, x) != (x >= low && x <= high && x % m == 0);
    gg_grammar_free(g);
    return differ;
}

static void
test_multiples(void)
{
    int differ = 0;

    srand(5);
    for (int i = 0; i < 60; i++) {
        int64_t low = rand() % 2000 - 1000;

        differ += compare_multiples(1 + rand() % (i % 2 ? 15 : 1200), low,
                                    low + rand() % 900);
    }
    is(differ, 0, "multiples between two limits");
}

/* ---- no memory ---- */

/* A schema with something of everything that schemas can ask for. */
static const char rich[] =
    "{\"$defs\":{\"d\":{\"type\":\"string\",\"pattern\":\"^[a-c]+$\"},\"e\":{"
    "\"$anchor\":\"e\",\"anyOf\":[{\"$ref\":\"#/$defs/d\"},{\"type\":"
    "\"integer\",\"multipleOf\":7,\"minimum\":3}]}},\"properties\":{\"a\":{"
    "\"$ref\":\"#e\"},\"b\":{\"allOf\":[{\"type\":[\"array\",\"null\"]},{"
    "\"items\":{\"enum\":[1.5,\"x\"]},\"minItems\":1}]},\"c\":{\"format\":"
    "\"date\"}},\"required\":[\"a\",\"z\"],\"minProperties\":4,"
    "\"additionalProperties\":{\"minimum\":0.25,\"maximum\":8}}";

/* The number of allocations, after each of which but the last one fails. */
static long
count_allocations(void)
{
    for (long n = 0; n < 100000; n++) {
        char *text = NULL;
        size_t len;
        enum gg_status st;

        mem_fail_after(n);
        st = sample_schema_to_gbnf(rich, sizeof(rich) - 1, &text, &len, &err);
        mem_fail_after(-1);
        mem_free(text);
        if (st == GG_OK)
            return n;
        if (st != GG_ERR_NOMEM || text)
            return -1;
    }
    return -1;
}

static void
test_no_memory(void)
{
    ok(count_allocations() > 500, "without memory nothing else is said");
}

int
main(void)
{
    test_texts();
    test_ranges();
    test_many();
    test_multiples();
    test_no_memory();
    return tap_done();
}

#else

int
main(void)
{
    puts("1..0 # SKIP built without Jansson");
    return 0;
}

#endif
