/* schema_test.h - what tests of JSON schemas share */
#ifndef SCHEMA_TEST_H
#define SCHEMA_TEST_H

#include <gg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "sample/grammar.h"
#include "sample/schema/schema.h"
#include "harness/tap.h"

enum {
    EOG = 256,
};

static struct gg_error err;

/* NULL: refused. */
static inline struct gg_grammar *
compile(const char *schema)
{
    static char bytes[256];
    static uint32_t at[EOG + 2];
    const int32_t eog = EOG;
    struct grammar_tokens tokens = {
        .bytes = bytes, .at = at, .n = EOG + 1, .eog = &eog, .n_eog = 1
    };
    char *text = NULL;
    size_t n = 0;
    struct gg_grammar *g = NULL;

    err.message[0] = '\0';
    for (int i = 0; i < 256; i++)
        at[i] = (uint32_t)i, bytes[i] = (char)i;
    at[EOG] = at[EOG + 1] = 256;
    if (sample_schema_to_gbnf(schema, strlen(schema), &text, &n, &err) ==
            GG_OK &&
        sample_grammar_new(text, n, &tokens, &g, &err) != GG_OK)
        g = NULL;
    mem_free(text);
    return g;
}

/* Whether the grammar allows the text as a whole. */
static inline bool
allows(struct gg_grammar *g, const char *text)
{
    struct grammar_at at = { 0 };
    bool fits = g != NULL;

    if (!g)
        return false;
    sample_grammar_begin(&at, g);
    for (; fits && *text; text++)
        if (sample_grammar_allows(&at, (uint8_t)*text, &fits, &err) != GG_OK ||
            (fits &&
             sample_grammar_advance(&at, (uint8_t)*text, &err) != GG_OK))
            fits = false;
    if (fits && sample_grammar_allows(&at, EOG, &fits, &err) != GG_OK)
        fits = false;
    sample_grammar_leave(&at);
    return fits;
}

#endif
