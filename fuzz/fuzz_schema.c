/* fuzz_schema.c - JSON schemas: whatever the text is, a grammar or a word; what
 * is drawn by a grammar to its end is JSON
 *
 * The first byte says which tokens are drawn; the rest is the schema. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "core/mem.h"
#include "fuzz.h"
#include "sample/grammar.h"
#include "sample/schema/schema.h"

const char fuzz_name[] = "schema";

enum {
    EOG = 256,
    STEPS = 80,
};

static void
check(bool right)
{
    if (!right)
        abort();
}

static bool
is_in(const uint64_t *mask, int32_t id)
{
    return mask[id / 64] >> id % 64 & 1;
}

static void
check_json(const char *text, size_t len)
{
#ifdef HAVE_JANSSON
    json_t *v = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

    check(v != NULL);
    json_decref(v);
#else
    (void)text, (void)len;
#endif
}

/* A byte a token; towards the end what closes most. */
static void
draw(struct grammar_at *at, uint8_t from)
{
    static const char closing[] = "\"]}0e";
    struct gg_error err = { "" };
    char text[STEPS];
    uint32_t id = from;

    for (size_t step = 0; step < STEPS; step++) {
        const uint64_t *mask;
        size_t n_fit;

        if (sample_grammar_mask(at, &mask, &n_fit, &err) != GG_OK) {
            check(err.message[0]);
            return;
        }
        if (is_in(mask, EOG)) {
            check_json(text, step);
            if (n_fit == 1 || step > STEPS / 2)
                return;
        }
        id = (id * 167 + from) % 256;
        for (size_t i = 0; step > STEPS / 2 && closing[i]; i++)
            if (is_in(mask, closing[i])) {
                id = (uint8_t)closing[i];
                break;
            }
        for (int k = 0; k < 256 && !is_in(mask, (int32_t)id); k++)
            id = (id + 1) % 256;
        if (!is_in(mask, (int32_t)id) ||
            sample_grammar_advance(at, (int32_t)id, &err) != GG_OK)
            return;
        text[step] = (char)id;
    }
}

static void
try_grammar(const char *text, size_t len, uint8_t from)
{
    char bytes[256];
    uint32_t at[EOG + 2];
    const int32_t eog = EOG;
    struct grammar_tokens tokens = {
        .bytes = bytes, .at = at, .n = EOG + 1, .eog = &eog, .n_eog = 1
    };
    struct gg_error err = { "" };
    struct gg_grammar *g = NULL;
    struct grammar_at where = { 0 };

    for (int i = 0; i < 256; i++)
        at[i] = (uint32_t)i, bytes[i] = (char)i;
    at[EOG] = at[EOG + 1] = 256;
    if (sample_grammar_new(text, len, &tokens, &g, &err) == GG_OK) {
        sample_grammar_begin(&where, g);
        draw(&where, from);
        sample_grammar_leave(&where);
    } else { /* a limit of grammars, but never their notation */
        check(!g && err.message[0]);
        check(strncmp(err.message, "line", 4) != 0 ||
              strstr(err.message, "too many repetitions"));
    }
    gg_grammar_free(g);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gg_error err = { "" };
    char *grammar = NULL;
    size_t n;

    if (size == 0)
        return 0;
    if (sample_schema_to_gbnf((const char *)data + 1, size - 1, &grammar, &n,
                              &err) == GG_OK)
        try_grammar(grammar, n, data[0]);
    else
        check(err.message[0]);
    mem_free(grammar);
    return 0;
}

static const char *const schemas[] = {
    "a{\"type\":\"object\",\"properties\":{\"a\":{\"minLength\":1,"
    "\"maxLength\":3},\"b\":{\"$ref\":\"#\"}},\"required\":[\"a\"],"
    "\"additionalProperties\":{\"type\":[\"null\",\"boolean\"]}}",
    "k{\"type\":\"integer\",\"minimum\":-17,\"exclusiveMaximum\":4711}",
    "7{\"exclusiveMinimum\":0,\"maximum\":1e3}",
    "z{\"pattern\":\"^(a|[^\\\"b-d]{2,}?|\\\\d+\\\\.)\\\\S*|x$\"}",
    "%{\"allOf\":[{\"$ref\":\"#/$defs/p\"},{\"properties\":{\"x\":{\"type\":"
    "\"integer\"}},\"required\":[\"x\"]}],\"$defs\":{\"p\":{\"properties\":{"
    "\"x\":{\"minimum\":2},\"y\":{}},\"additionalProperties\":false}}}",
    "q{\"anyOf\":[{\"const\":1},{\"enum\":[\"a\",2,{\"b\":[]}]},{\"items\":"
    "{\"$ref\":\"#/anyOf/0\"},\"minItems\":2}],\"maximum\":1}",
    "d{\"prefixItems\":[{\"format\":\"date\"},{\"type\":\"null\"}],\"items\":"
    "{\"format\":\"uuid\"},\"maxItems\":4,\"oneOf\":[{},{\"minItems\":1}]}",
    "!{\"anyOf\":[{\"$ref\":\"#\"},true]}",
    "#{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}",
    "e{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"allOf\":[{\"$ref\":"
    "\"#/$defs/b\"},{\"$ref\":\"#/$defs/b\"}]},\"b\":{\"allOf\":[{\"$ref\":"
    "\"#/$defs/c\"},{\"$ref\":\"#/$defs/c\"}]},\"c\":{\"type\":\"null\"}}}",
    "t{\"pattern\":\"((a{100}){100}){100}\",\"type\":\"string\"}",
    "m{\"type\":\"integer\",\"multipleOf\":37.5,\"minimum\":-1e3,"
    "\"exclusiveMaximum\":12345678901234567890}",
    "f{\"minimum\":-0.125,\"exclusiveMaximum\":1e-3,\"multipleOf\":1}",
    "r{\"minimum\":0.30000000000000004,\"exclusiveMinimum\":true}",
    "$ref{\"$id\":\"http://a/b/../c?d\",\"prefixItems\":[{\"$ref\":\"../e#f\"},"
    "{\"$ref\":\"#/$defs/x~1%25y\"}],\"$defs\":{\"x/%y\":{\"$id\":\"/e\","
    "\"$anchor\":\"f\",\"items\":{\"$ref\":\"c?d#/unknown/0\"}}},"
    "\"unknown\":[{\"const\":1}]}",
    "4{\"$schema\":\"draft-04\",\"id\":\"a:b\",\"items\":[{\"$ref\":\"a:b#\"}],"
    "\"additionalItems\":false,\"maxItems\":99999}",
    "p{\"minProperties\":3,\"maxProperties\":4,\"properties\":{\"a\":{},\"bc\":"
    "false,\"\":{\"minLength\":300}},\"additionalProperties\":{\"$ref\":"
    "\"#\"}}",
    "x{\"patternProperties\":{\"^x\":true},\"additionalProperties\":false,"
    "\"minProperties\":1,\"anyOf\":[{\"maxProperties\":0},{\"$ref\":\"#/not\"},"
    "{}],\"not\":false}",
};

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    uint8_t *data;

    if (i >= sizeof(schemas) / sizeof(schemas[0]))
        return NULL;
    *size = strlen(schemas[i]);
    data = malloc(*size);
    check(data != NULL);
    memcpy(data, schemas[i], *size);
    return data;
}
