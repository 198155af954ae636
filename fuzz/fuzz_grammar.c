/* fuzz_grammar.c - grammars: whatever the text is, a word at most; what is
 * accepted has masks that agree with single tokens
 *
 * The first byte says which tokens are drawn; the rest is the grammar. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sample/grammar.h"

const char fuzz_name[] = "grammar";

enum {
    N = 260,
    STEPS = 12,
};

static void
check(bool right)
{
    if (!right)
        abort();
}

static void
draw(struct grammar_at *at, uint8_t from)
{
    struct gg_error err = { "" };
    const uint64_t *mask;
    size_t n_fit;
    int32_t id = from;
    bool fits;

    for (int step = 0; step < STEPS; step++) {
        if (sample_grammar_mask(at, &mask, &n_fit, &err) != GG_OK) {
            check(err.message[0]);
            return;
        }
        for (int k = 0; k < N && !(mask[id / 64] >> id % 64 & 1); k++)
            id = (id + 1) % N;
        fits = mask[id / 64] >> id % 64 & 1;
        if (!fits || id == N - 1)
            return;
        if (sample_grammar_allows(at, id, &fits, &err) == GG_OK)
            check(fits);
        if (sample_grammar_advance(at, id, &err) != GG_OK)
            return;
        id = (id + from) % N;
    }
}

/* <x> is the byte's. */
static int32_t
find_token(const void *vocab, const char *name, size_t len)
{
    (void)vocab;
    return len == 3 ? (uint8_t)name[1] : -1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char bytes[256 + 9];
    uint32_t at[N + 1];
    const int32_t eog = N - 1;
    struct grammar_tokens tokens = { bytes, at, N, &eog, 1, find_token, NULL };
    struct gg_error err = { "" };
    struct gg_grammar *g = NULL;
    struct grammar_at where = { 0 };

    if (size == 0)
        return 0;
    for (int i = 0; i < 256; i++)
        at[i] = (uint32_t)i, bytes[i] = (char)i;
    memcpy(bytes + 256, "ab\"}\xc3\xa9\xa9  ", 9);
    for (int i = 0; i <= 4; i++)
        at[256 + i] = (uint32_t)(256 + 3 * (i < 3 ? i : 3));
    if (sample_grammar_new((const char *)data + 1, size - 1, &tokens, &g,
                           &err) == GG_OK) {
        sample_grammar_begin(&where, g);
        draw(&where, data[0]);
        sample_grammar_leave(&where);
    } else {
        check(!g && err.message[0]);
    }
    gg_grammar_free(g);
    return 0;
}

static const char *const grammars[] = {
    "zroot ::= \"a\" | [b-d]{2,3} # more\n",
    "zroot ::= # nothing\n",
    "(root ::= item (\",\" item)*\nitem ::= [a-c]+ | \"(\" root \")\"\n",
    ("aroot ::= ( [^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" [\"\\\\bfnrt] )* "
     "\"\\u00e9\""),
    "\xc3root ::= .+ \"\\U0001F600\"? ws\nws ::= | \" \" ws",
    "{root ::= \"{\" (root (\",\" root)*)? \"}\" | [0-9]{1,15} | \"\xc3\xa9\"",
    "qroot ::= <a> (!<b> | \"b\" [x-z]{2})* <[259]>? !<[98]> | <[97]>+",
    "broot ::= <[97]> x | !<c>\nx ::= \"(\" x \")\" | <)>* | <[3",
    "aroot ::= a b\na ::= b?\nb ::= (\"x\"?)* root",
};

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    uint8_t *data;

    if (i >= sizeof(grammars) / sizeof(grammars[0]))
        return NULL;
    *size = strlen(grammars[i]);
    data = malloc(*size);
    check(data != NULL);
    memcpy(data, grammars[i], *size);
    return data;
}
