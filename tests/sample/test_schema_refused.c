/* test_schema_refused.c - JSON schemas that are refused, with the place in them
 * that is wrong */
#include <config.h>

#include "schema_test.h"

#ifdef HAVE_JANSSON

static const struct {
    const char *schema, *message;
} wrong[] = {
    { "{\"properties\":{\"a\":{\"items\":{\"not\":{}}}}}",
      "#/properties/a/items: not is not supported" },
    { "{\"pattern\":\"a(?=b)\"}", "#: pattern: look-ahead or look-behind" },
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
    { "{\"exclusiveMinimum\":true}", "#: exclusiveMinimum is no number" },
    { "{\"type\":\"number\",\"multipleOf\":0.5}",
      "#: multipleOf that is not whole" },
    { "{\"minLength\":20001}", "#: minLength above 20000" },
    { "{\"minProperties\":100}", "#: minProperties of more than 16 names" },
    { "{\"enum\":[12345678901234567890e0]}",
      "#: a number of more than 18 digits in enum" },
    { "{\"minimum\":18446744073709551615}",
      "#: a limit of more than 18 digits" },
    { "{\"maximum\":-1e400}", "#: a limit of more than 18 digits" },
    { "{\"multipleOf\":1e400}", "#: multipleOf of so many digits" },
    { "{\"enum\":[01234567890123456789012]}", "line 1: " },
    { "{\"properties\":{\"a\":{}},\"patternProperties\":{\"b\":{}}}",
      "#: patternProperties with properties" },
    { "{\"patternProperties\":{\"b\":{}},\"additionalProperties\":{}}",
      "#: patternProperties with additionalProperties" },
    { "{\"patternProperties\":{\"b\":{},\"c\":true}}",
      "#: patternProperties with two different" },
    { "{\"patternProperties\":{\"b\":{}},\"minProperties\":2}",
      "#: minProperties above 1 with patternProperties" },
    { "{\"allOf\":[{\"patternProperties\":{\"b\":{}}},{\"properties\":{}}]}",
      "#: patternProperties and another schema's" },
    { "{\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":3}}",
      "#: $defs is no object of schemas" },
    { "{\"$ref\":\"#/x\",\"x\":3}", "#: it is no schema" },
    { "{\"$ref\":\"#/x/01\",\"x\":[{},{}]}", "#: $ref: there is no #/x/01" },
    { "{\"$ref\":\"#b\\u001b\"}", "#: $ref: there is no #b\\x1b in" },
    { "{\"anyOf\":[{\"minLength\":-1},{}]}",
      "#/anyOf/0: minLength is no whole number" },
    { "{\"$ref\":\"#/x\",\"x\":{\"items\":{\"maximum\":\"1\"}}}",
      "#/x/items: maximum is no number" },
    { "{\"anyOf\":[{\"minItems\":2,\"maxItems\":1},{\"enum\":[]}]}",
      "#/anyOf/0: maxItems is below minItems" },
    { "{\"minProperties\":1,\"additionalProperties\":false}",
      "#: minProperties is above the number of names" },
    { "{\"required\":[\"a\",\"b\"],\"maxProperties\":1}",
      "#: maxProperties is below what must be" },
    { "{\"type\":\"object\",\"anyOf\":[{\"required\":[\"a\"],\"properties\":{"
      "\"a\":{\"$ref\":\"#\"}}},false]}",
      "#/anyOf/0/properties/a: a value that has no end" },
    { "{\"allOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}",
      "#: nothing is allowed here" },
    { "{\"allOf\":[{\"pattern\":\"a\"},{\"pattern\":\"b\"}]}",
      "#: two different pattern" },
    { "{\"enum\":[{\"a\":1}],\"properties\":{\"a\":{}}}",
      "#: enum or const with properties" },
    { "{\"const\":1,\"type\":\"string\"}", "#: no value of enum or const" },
    { "{\"$ref\":\"#\"}", "#: $ref or allOf leads back to itself" },
    { "{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}",
      "#: oneOf: what 0 draws may be valid under 1, too" },
    { "{\"oneOf\":[{\"type\":\"number\"},{\"type\":\"integer\"}]}",
      "#: oneOf: what 0 draws may be valid under 1, too" },
    { "{\"oneOf\":[false,true,{}]}", "#: oneOf: what 1 draws" },
    { "{\"type\":\"string\",\"oneOf\":[{\"minLength\":2},{\"maxLength\":"
      "4}]}",
      "#: oneOf: what 0 draws" },
    { "{\"oneOf\":[{\"const\":1},{\"enum\":[1.0,2]}]}", "#: oneOf: what 0" },
    { "{\"oneOf\":[{\"enum\":[\"a\"]},{\"type\":\"string\",\"maxLength\":"
      "1}]}",
      "#: oneOf: what 0 draws" },
    { "{\"oneOf\":[{\"properties\":{\"a\":{}}},{\"type\":\"object\","
      "\"properties\":{\"b\":{}}}]}",
      "#: oneOf: what 0 draws" },
    { "{\"oneOf\":[{\"required\":[\"a\"],\"additionalProperties\":{}},"
      "{\"required\":[\"b\"]}]}",
      "#: oneOf: what 0 draws" },
    { "{\"oneOf\":[{\"items\":{\"const\":1}},{\"items\":{\"const\":2}}]}",
      "#: oneOf: what 0 draws" },
    { "{\"anyOf\":[{\"$ref\":\"#\"},{}]}",
      "#/anyOf/0: a value that consists of itself" },
    { "{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}",
      "#/properties/a: a value that has no end" },
    { "{\"required\":[\"a\"],\"additionalProperties\":false}",
      "#: required: a is none of the properties" },
    { "{\"items\":[{}],\"prefixItems\":[{}]}", "#: items as a list with" },
    { "{\"allOf\":[]}", "#: allOf is no list" },
    { "{\"$ref\":\"other.json\"}", "#: $ref: there is no other.json" },
};

static void
test_wrong(void)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct gg_grammar *g = compile(wrong[i].schema);
        size_t len = strlen(wrong[i].message);

        ok(!g && !strncmp(err.message, wrong[i].message, len),
           wrong[i].message);
        if (strncmp(err.message, wrong[i].message, len))
            printf("# %s\n", err.message);
        gg_grammar_free(g);
    }
}

/* ---- keywords whose value is of a wrong type ---- */

/* Values by a letter; `right` has those that a keyword may have. */
static const struct {
    char letter;
    const char *value;
} values[] = {
    { 'n', "null" },
    { 'b', "true" },
    { 'f', "false" },
    { '0', "0" },
    { 'i', "3" },
    { 'm', "-1" },
    { 'r', "1.5" },
    { 's', "\"a\"" },
    { 't', "\"string\"" },
    { 'e', "[]" },
    { 'I', "[1]" },
    { 'S', "[\"a\"]" },
    { 'T', "[\"null\"]" },
    { 'L', "[{}]" },
    { 'o', "{}" },
    { '1', "{\"a\":1}" },
    { 'N', "{\"a\":[\"b\"]}" },
    { 'O', "{\"a\":{}}" },
};

static const struct {
    const char *key, *right;
} keywords[] = {
    { "type", "tT" },
    { "enum", "eISTL" },
    { "const", "nbf0imrsteISTLo1NO" },
    { "multipleOf", "ir" },
    { "maximum", "0imr" },
    { "minimum", "0imr" },
    { "exclusiveMaximum", "0imr" },
    { "exclusiveMinimum", "0imr" },
    { "maxLength", "0i" },
    { "minLength", "0i" },
    { "pattern", "st" },
    { "format", "st" },
    { "items", "bfoL1NO" },
    { "prefixItems", "L" },
    { "additionalItems", "bfo1NO" },
    { "maxItems", "0i" },
    { "minItems", "0i" },
    { "uniqueItems", "bf" },
    { "contains", "bfo1NO" },
    { "maxContains", "0i" },
    { "minContains", "0i" },
    { "unevaluatedItems", "bfo1NO" },
    { "properties", "oO" },
    { "patternProperties", "oO" },
    { "additionalProperties", "bfo1NO" },
    { "propertyNames", "bfo1NO" },
    { "unevaluatedProperties", "bfo1NO" },
    { "required", "eST" },
    { "maxProperties", "0i" },
    { "minProperties", "0i" },
    { "dependencies", "oNO" },
    { "dependentRequired", "oN" },
    { "dependentSchemas", "oO" },
    { "allOf", "L" },
    { "anyOf", "L" },
    { "oneOf", "L" },
    { "not", "bfo1NO" },
    { "if", "bfo1NO" },
    { "then", "bfo1NO" },
    { "else", "bfo1NO" },
    { "$ref", "st" },
    { "$dynamicRef", "st" },
    { "$recursiveRef", "st" },
    { "$id", "st" },
    { "$anchor", "st" },
    { "$dynamicAnchor", "st" },
    { "$recursiveAnchor", "bf" },
    { "$schema", "st" },
    { "$defs", "oO" },
    { "definitions", "oO" },
};

/* Refused as malformed: with the keyword's name, and "is no ..." */
static bool
is_malformed(const char *key, const char *value)
{
    struct gg_grammar *g;
    char schema[200], words[60];

    snprintf(schema, sizeof(schema), "{\"%s\":%s}", key, value);
    snprintf(words, sizeof(words), "#: %s is n", key);
    g = compile(schema);
    gg_grammar_free(g);
    return !g && !strncmp(err.message, words, strlen(words)) &&
           !strstr(err.message, "is not supported");
}

static void
test_types(void)
{
    for (size_t k = 0; k < sizeof(keywords) / sizeof(keywords[0]); k++) {
        int differ = 0;

        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            bool right = strchr(keywords[k].right, values[i].letter) != NULL;

            if (is_malformed(keywords[k].key, values[i].value) == right) {
                printf("# %s: %s: %s\n", keywords[k].key, values[i].value,
                       err.message);
                differ++;
            }
        }
        is(differ, 0, keywords[k].key);
    }
}

/* Twice as many at each step would be 2^25. */
static void
test_bomb(void)
{
    static char text[2048];
    char *p = text;

    p += sprintf(p, "{\"$ref\":\"#/$defs/a0\",\"$defs\":{");
    for (int i = 0; i < 25; i++)
        p += sprintf(p,
                     "\"a%d\":{\"allOf\":[{\"$ref\":\"#/$defs/a%d\"},{"
                     "\"$ref\":\"#/$defs/a%d\"}]},",
                     i, i + 1, i + 1);
    strcpy(p, "\"a25\":{}}}");
    ok(!compile(text) && strstr(err.message, "too large"),
       "allOf that doubles 25 times");
}

int
main(void)
{
    test_wrong();
    test_types();
    test_bomb();
    return tap_done();
}

#else

int
main(void)
{
    char *text = NULL;
    size_t n;

    ok(sample_schema_to_gbnf("{}", 2, &text, &n, &err) == GG_ERR_UNSUPPORTED &&
           !text && err.message[0],
       "refused without Jansson");
    return tap_done();
}

#endif
