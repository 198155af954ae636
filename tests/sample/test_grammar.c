/* test_grammar.c - texts that grammars allow and refuse, a byte a token; masks
 * against each token by itself; what is wrong with a grammar */
#include <gg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "sample/grammar.h"
#include "sampler_said.h"
#include "harness/tap.h"

static struct gg_error err;

/* ---- a vocabulary: all bytes, an end of generation, some longer tokens, two
 * that are no text ---- */

enum {
    EOG = 256,
    N_LONG = 300,
    THINK = EOG + 1 + N_LONG,
    UNTHINK,
    N,
};

static char bytes[8192];
static uint32_t at[N + 1];
static const int32_t eog[] = { EOG };

static int32_t
find_token(const void *vocab, const char *name, size_t len)
{
    static const struct {
        const char *name;
        int32_t id;
    } names[] = { { "<think>", THINK },
                  { "</think>", UNTHINK },
                  { "<|end|>", EOG } };

    for (size_t i = 0; i < 3; i++)
        if (strlen(names[i].name) == len && !memcmp(names[i].name, name, len))
            return vocab ? -1 : names[i].id;
    return -1;
}

static struct grammar_tokens
tokens(void)
{
    static const char *const parts[] = { "a",    "b",    "(", ")", "\"", "{",
                                         "\xc3", "\xa9", "1", ",", "é",  "\n" };
    uint32_t n = 0;

    for (int i = 0; i < 256; i++) {
        at[i] = n;
        bytes[n++] = (char)i;
    }
    at[EOG] = n;
    srand(7);
    for (int i = EOG + 1; i < THINK; i++) {
        at[i] = n;
        for (int k = rand() % 5; k >= 0; k--) {
            const char *part = parts[rand() % 12];

            memcpy(bytes + n, part, strlen(part));
            n += (uint32_t)strlen(part);
        }
    }
    at[THINK] = at[UNTHINK] = at[N] = n;
    return (struct grammar_tokens){ bytes, at, N, eog, 1, find_token, NULL };
}

static struct gg_grammar *
compile(const char *text)
{
    struct grammar_tokens t = tokens();
    struct gg_grammar *g = NULL;

    return sample_grammar_new(text, strlen(text), &t, &g, &err) == GG_OK ? g
                                                                         : NULL;
}

enum reading {
    FAILED,
    REFUSED,
    BEGUN, /* it can go on, and must */
    WHOLE, /* it may end */
};

/* A byte a token; 1, 2 and 3 stand for those that are no text. */
static enum reading
read_bytes(struct grammar_at *where, const char *text)
{
    static const int32_t others[] = { 0, THINK, UNTHINK, EOG };
    bool fits = true;

    for (; *text; text++) {
        int32_t id =
            *text > 0 && *text < 4 ? others[(int)*text] : (uint8_t)*text;

        if (sample_grammar_allows(where, id, &fits, &err) != GG_OK)
            return FAILED;
        if (!fits)
            return REFUSED;
        if (sample_grammar_advance(where, id, &err) != GG_OK)
            return FAILED;
    }
    if (sample_grammar_allows(where, EOG, &fits, &err) != GG_OK)
        return FAILED;
    return fits ? WHOLE : BEGUN;
}

static enum reading
reads(const char *grammar, const char *text)
{
    struct gg_grammar *g = compile(grammar);
    struct grammar_at where = { 0 };
    enum reading r;

    if (!g)
        return FAILED;
    sample_grammar_begin(&where, g);
    r = read_bytes(&where, text);
    sample_grammar_leave(&where);
    gg_grammar_free(g);
    return r;
}

#define LIST "root ::= item (\",\" item)*\nitem ::= [a-c]+ | \"(\" root \")\"\n"

static const struct {
    const char *grammar, *text;
    enum reading want;
} cases[] = {
    { "root ::= \"yes\" | \"no\"", "yes", WHOLE },
    { "root ::= \"yes\" | \"no\"", "ye", BEGUN },
    { "root ::= \"yes\" | \"no\"", "yo", REFUSED },
    { "root ::= \"yes\"\n  | \"no\" # more\n\n", "no", WHOLE },
    { "root ::= (\n\"a\"\n|\n\"b\"\n)\n", "b", WHOLE },
    { LIST, "a,(bc,(c))", WHOLE },
    { LIST, "a,(bc,(c)", BEGUN },
    { LIST, "a,,", REFUSED },
    { LIST, "(((((((((((((((((((((((((((((a", BEGUN },
    { "root ::= \"a\"{3}", "aaa", WHOLE },
    { "root ::= \"a\"{3}", "aaaa", REFUSED },
    { "root ::= \"a\"{2,}", "a", BEGUN },
    { "root ::= \"a\"{2,}", "aaaaaaa", WHOLE },
    { "root ::= (\"a\" | \"bc\"){1,3} \"d\"", "abcad", WHOLE },
    { "root ::= (\"a\" | \"bc\"){1,3} \"d\"", "abcaa", REFUSED },
    { "root ::= \"a\"{0} \"b\"", "b", WHOLE },
    { "root ::= \"a\"{0,2} \"b\"", "aab", WHOLE },
    { "root ::= \"a\"{0,2} \"b\"", "aaa", REFUSED },
    { "root ::= \"a\"? \"b\"+ \"c\"*", "bbcc", WHOLE },
    { "root ::= \"a\"? \"b\"+ \"c\"*", "ac", REFUSED },
    { "root ::= (\"a\"*)* \"b\"", "aab", WHOLE },
    { "root ::= (\"a\"? \"b\"?)+ \"c\"", "abbac", WHOLE },
    { "root ::= x y\nx ::= \"a\" x |\ny ::= \"b\"", "aaab", WHOLE },
    { "root ::= [^a-y]", "z", WHOLE },
    { "root ::= [^a-y]", "b", REFUSED },
    { "root ::= [^a]", "\xc3\xa9", WHOLE },
    { "root ::= [^a]", "\xc3", BEGUN },
    { "root ::= [^a\xc3\xa9]", "\xc3\xa9", REFUSED },
    { "root ::= [\xc3\xa0-\xe2\x82\xac]", "\xe1\x80\x80", WHOLE },
    { "root ::= [\xc3\xa0-\xe2\x82\xac]", "\xe2\x82\xac", WHOLE },
    { "root ::= [\xc3\xa0-\xe2\x82\xac]", "\xe2\x82\xad", REFUSED },
    { "root ::= [\xc3\xa0-\xe2\x82\xac]", "\xc3\x9f", REFUSED },
    { "root ::= . .", "a\xf0\x9f\x98\x80", WHOLE },
    { "root ::= .", "\xed\xa0\x80", REFUSED }, /* a surrogate */
    { "root ::= .", "\xc0\x80", REFUSED },     /* too long for what it is */
    { "root ::= .", "\xf4\x90", REFUSED },     /* beyond the last */
    { "root ::= .", "\xff", REFUSED },
    { "root ::= \"\\x41\\u00e9\\U0001F600\\n\\\"\"",
      "A\xc3\xa9\xf0\x9f\x98\x80\n\"", WHOLE },
    { "root ::= [\\x41-\\x43\\]\\-]+", "B]-", WHOLE },
    { "root ::= [a-]+", "a-", WHOLE },
    { "root ::= \"\"", "", WHOLE },
    { "root ::= a-1 b_2\na-1 ::= \"x\"\nb_2 ::= \"y\"", "xy", WHOLE },

    { "root ::= <think> [a-z]* </think> \"!\"", "\1ab\2!", WHOLE },
    { "root ::= <think> [a-z]* </think> \"!\"", "ab", REFUSED },
    { "root ::= <think> [a-z]* </think> \"!\"", "\1a\1", REFUSED },
    { "root ::= .*", "a\1", REFUSED },
    { "root ::= [^a]+", "\3", REFUSED },
    { "root ::= <[97]> <[0098]>", "ab", WHOLE },
    { "root ::= <[97]> | \"ab\"", "a", WHOLE },
    { "root ::= <[97]> | \"ab\"", "ab", WHOLE },
    { "root ::= !<[97]>", "b", WHOLE },
    { "root ::= !<[97]>", "a", REFUSED },
    { "root ::= !<[97]> | \"a\"", "a", WHOLE },
    { "root ::= !<[97]> | !<[98]>", "a", WHOLE },
    { "root ::= <think> (!</think>)* </think>", "\1xyz\2", WHOLE },
    { "root ::= <think> !</think>* </think>", "\1xyz\1", REFUSED },
    { "root ::= <think>{2} !<think>+", "\1\1x", WHOLE },
    { "root ::= !<[97]>", "\2", REFUSED },
    { "root ::= !<[97]>", "\3", REFUSED },
    { "root ::= \"a\" <|end|>", "a", WHOLE },
    { "root ::= \"a\" <|end|> \"b\"", "a\3b", WHOLE },
    { "root ::= \"a\" <|end|>", "\3", REFUSED },
    { "root ::= x <think>\nx ::= \"(\" x \")\" | <[97]>*", "((aa))\1", WHOLE },
    { "root ::= \"\\xc3\" | <think>", "\1", WHOLE },
};

static void
test_texts(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[120];

        gg_escape(name, sizeof(name), cases[i].grammar,
                  strlen(cases[i].grammar));
        is(reads(cases[i].grammar, cases[i].text), cases[i].want, name);
    }
}

/* ---- what is wrong ---- */

static const struct {
    const char *grammar, *word;
} wrong[] = {
    { "", "no rule 'root'" },
    { "a ::= \"b\"", "no rule 'root'" },
    { "root ::= a", "rule 'a' is not defined" },
    { "root ::= root \"a\" | \"b\"", "rule 'root' begins with itself" },
    { "root ::= \"x\" l\nl ::= e m\nm ::= l | \"x\"\ne ::= \"\" | \"y\"",
      "begins with itself" },
    { "root ::= \"a\"\nroot ::= \"b\"", "line 2: the rule is there already" },
    { "root ::= \"a", "line 1: a string without an end" },
    { "root ::= [a", "a class without an end" },
    { "root ::= (\"a\"", "a group without an end" },
    { "root ::= \"a\")", "the end of the line is expected" },
    { "root ::= \"\\q\"", "an escape that is not known" },
    { "root ::= \"\\u00g0\"", "wants 4 hexadecimal digits" },
    { "root ::= \"\\ud800\"", "U+D800 is not a character" },
    { "root ::= \"\xff\"", "not UTF-8" },
    { "root ::= \"\xc3", "not UTF-8" },
    { "root ::= [b-a]", "a range that ends before it begins" },
    { "root ::= \"a\"{2", "a repetition is" },
    { "root ::= \"a\"{,2}", "a repetition without a number" },
    { "root ::= \"a\"{3,2}", "a repetition is" },
    { "root ::= \"a\"{999999999}", "too large" },
    { "root ::= \"a\"{0,999999999}", "too many repetitions" },
    { "root ::= (((\"a\"{500}){500}){500}){500}", "too large" },
    { "root ::= <[559]>", "line 1: there is no token <[559]>: the vocabulary "
                          "has 559" },
    { "root ::= <[99999999999999999999]>", "there is no token <[" },
    { "root ::=\n<no\tsuch>", "line 2: there is no token <no\\tsuch> in" },
    { "root ::= <think", "a token without its '>'" },
    { "root ::= <think\n>", "a token without its '>'" },
    { "root ::= <[a]>", "a token's number is <[ID]>" },
    { "root ::= <[1>", "a token's number is <[ID]>" },
    { "root ::= <[1]", "a token's number is <[ID]>" },
    { "root ::= ! <think>", "a token is expected after '!'" },
    { "root ::= !", "a token is expected after '!'" },
    { "root ::= root <think> | \"a\"", "begins with itself" },
    { "root = \"a\"", "::= is expected" },
    { "\n\nroot ::= *", "line 3: '*' is not expected here" },
    { "root ::= []", "a class without characters" },
};

static void
test_wrong(void)
{
    char deep[4096] = "root ::= ";

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        err.message[0] = '\0';
        ok(!compile(wrong[i].grammar) && strstr(err.message, wrong[i].word),
           wrong[i].word);
        if (!strstr(err.message, wrong[i].word))
            printf("# %s\n", err.message);
    }
    memset(deep + 9, '(', 4000);
    ok(!compile(deep) && strstr(err.message, "groups in each other"),
       "groups 4,000 deep");
}

/* ---- masks, and tokens of several bytes ---- */

/* Draws what fits, at random, and looks at every token on the way. */
static int
walk(const char *grammar, int steps)
{
    struct gg_grammar *g = compile(grammar);
    struct grammar_at where = { 0 }, other = { 0 };
    int differ = g ? 0 : 1;

    if (!g)
        return 1;
    sample_grammar_begin(&other, g);
    differ += sample_grammar_advance(&other, '(', &err) != GG_OK;
    sample_grammar_begin(&where, g);
    for (int i = 0; i < steps; i++) {
        int32_t fit[N], n = 0;
        const uint64_t *mask;
        size_t n_fit, found = 0;

        if (sample_grammar_mask(&where, &mask, &n_fit, &err) != GG_OK)
            return -1;
        for (int32_t id = 0; id < N; id++) {
            bool fits = false;

            differ += sample_grammar_allows(&where, id, &fits, &err) != GG_OK;
            differ += fits != (mask[id / 64] >> id % 64 & 1);
            found += fits;
            if (fits && id != EOG)
                fit[n++] = id;
        }
        differ += found != n_fit;
        if (n == 0)
            break;
        differ +=
            sample_grammar_advance(&where, fit[rand() % n], &err) != GG_OK;
    }
    /* The other one stands where it stood. */
    differ += read_bytes(&other, "a,b)") != WHOLE;
    sample_grammar_leave(&other);
    sample_grammar_leave(&where);
    gg_grammar_free(g);
    return differ;
}

static void
test_masks(void)
{
    is(walk(LIST, 300), 0, "masks as tokens one by one");
    is(walk("root ::= [^x]+ | \"(a\" root", 300), 0, "of many characters");
    is(walk("root ::= <think> (!</think> | \"\\\"\" | [a-c]{2})* </think> root "
            "| "
            "<[97]> \"a\" | \"(a,b)\"",
            300),
       0, "of terms for tokens");
}

/* As many stacks as there are depths and ways: what is not in use has to be
 * forgotten, and only that. */
static void
test_many(void)
{
    struct gg_grammar *g =
        compile("root ::= (\"(\" root \")\" | \"{\" root \"a\" | \"1\" root "
                "\"b\" | \",\")");
    struct grammar_at where = { 0 };
    static const char open[] = "({1", shut[] = ")ab";
    char closers[900];
    bool fits = true;
    int n = 0;

    sample_grammar_begin(&where, g);
    for (int round = 0; fits && round < 40; round++) {
        sample_grammar_begin(&where, g);
        for (n = 0; fits && n < 900; n++) {
            int way = rand() % 3;

            closers[n] = shut[way];
            fits = sample_grammar_advance(&where, open[way], &err) == GG_OK;
        }
        fits = fits && sample_grammar_advance(&where, ',', &err) == GG_OK;
        while (fits && n > 0) {
            int32_t id = (uint8_t)closers[--n];

            fits = sample_grammar_allows(&where, id, &fits, &err) == GG_OK &&
                   fits && sample_grammar_advance(&where, id, &err) == GG_OK;
        }
    }
    ok(fits && n == 0, "stacks that are closed as they were opened");
    sample_grammar_leave(&where);
    gg_grammar_free(g);
}

static void
test_memory(void)
{
    struct gg_grammar *g = NULL;

    for (long n = 0; n < 400 && !g; n++) {
        mem_fail_after(n);
        g = compile(n % 2 ? LIST : "root ::= <think> !<[97]>+ </think>");
    }
    mem_fail_after(-1);
    ok(g != NULL, "each allocation may fail");
    gg_grammar_free(g);
}

/* ---- a sampler with one ---- */

static void
test_sampler(void)
{
    struct gg_sampler_params p = { .temperature = 1, .top_p = 1, .top_k = 2 };
    struct gg_sampler *s = NULL;
    struct gg_history *h = NULL;
    struct gg_draw d = { -1, 0 };
    float logits[N];
    char text[64] = "";
    int n = 0, n_wrong = 0;

    for (int i = 0; i < N; i++)
        logits[i] = (float)(i % 17);
    p.grammar = compile("root ::= [ab]{3} \"!\"");
    if (new_said(&p, &s, &err) == GG_OK && gg_history_new(s, &h, &err) == GG_OK)
        while (n < 9 && d.id != EOG &&
               gg_sampler_next(s, h, NULL, logits, N, 0, (uint64_t)n, &d,
                               &err) == GG_OK) {
            n++;
            if (d.id != EOG)
                strncat(text, bytes + at[d.id], at[d.id + 1] - at[d.id]);
            n_wrong += gg_history_is_complete(h) != (strlen(text) == 4);
        }
    is(n_wrong, 0, "and whether it is complete is known at each token");
    ok(d.id == EOG && strlen(text) == 4 && strspn(text, "ab") == 3 &&
           text[3] == '!',
       "what is drawn follows it, and ends with it");
    ok(gg_sampler_next(s, h, (const int32_t[]){ 'x' }, logits, 1, 0, 9, &d,
                       &err) == GG_ERR_FORMAT &&
           strstr(err.message, "the grammar is complete"),
       "and then nothing fits");
    gg_history_free(h);
    gg_sampler_free(s);
    gg_grammar_free(p.grammar);
}

/* A text of random tokens: each draw with the grammar is the one without of
 * logits where all that does not fit is impossible. Returns how many differ. */
static int
compare_draws(struct gg_sampler_params p, const char *grammar)
{
    struct gg_sampler *s[2] = { NULL, NULL };
    struct gg_history *h[2] = { NULL, NULL };
    struct grammar_at where = { 0 };
    struct gg_grammar *g = compile(grammar);
    enum gg_status st = new_said(&p, &s[0], &err);
    int differ = 0;

    p.grammar = g;
    if (st == GG_OK)
        st = new_said(&p, &s[1], &err);
    for (int i = 0; st == GG_OK && i < 2; i++)
        st = gg_history_new(s[i], &h[i], &err);
    sample_grammar_begin(&where, g);
    for (uint64_t i = 0; st == GG_OK && i < 40; i++) {
        struct gg_draw d[2] = { { -1, 0 }, { -2, 0 } };
        float all[N], fit[N];

        for (int32_t id = 0; id < N && st == GG_OK; id++) {
            bool fits = false;

            st = sample_grammar_allows(&where, id, &fits, &err);
            all[id] = (float)(rand() % 4000) / 500;
            fit[id] = fits ? all[id] : -INFINITY;
        }
        if (st == GG_OK)
            st = gg_sampler_next(s[0], h[0], NULL, fit, N, 0, i, &d[0], &err);
        if (st == GG_OK)
            st = gg_sampler_next(s[1], h[1], NULL, all, N, 0, i, &d[1], &err);
        differ += d[0].id != d[1].id || d[0].logprob != d[1].logprob;
        if (d[0].id == EOG)
            break;
        if (st == GG_OK)
            st = sample_grammar_advance(&where, d[0].id, &err);
    }
    sample_grammar_leave(&where);
    for (int i = 0; i < 2; i++) {
        gg_history_free(h[i]);
        gg_sampler_free(s[i]);
    }
    gg_grammar_free(g);
    return st == GG_OK ? differ : -1;
}

static void
test_draws(void)
{
    static const struct gg_sampler_params chains[] = {
        { .temperature = 0, .top_p = 1 },
        { .temperature = 1, .top_p = 1, .top_k = 3 },
        { .temperature = 2, .top_p = 1, .top_k = N },
        { .temperature = 1, .top_p = 0.9f, .top_k = 70 },
        { .temperature = 2, .top_p = 1 },
        { .temperature = 2, .top_p = 0.9f, .min_p = 0.01f },
        { .temperature = 1, .top_p = 1, .typical_p = 0.7f },
        { .temperature = 1, .top_p = 1, .top_k = 9, .top_n_sigma = 1 },
        { .temperature = 1, .top_p = 1, .mirostat = 1, .mirostat_tau = 5 },
        { .temperature = 1, .top_p = 1, .mirostat = 2, .mirostat_tau = 5 },
    };
    int differ = 0;

    for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
        struct gg_sampler_params p = chains[i];

        p.seed = i;
        differ |= compare_draws(p, LIST);
        differ |= compare_draws(p, "root ::= [^x]+ | \"(a\" root");
        differ |= compare_draws(p, "root ::= [a-c(]{5,} \"!\"");
    }
    is(differ, 0, "draws as of logits without what does not fit");
}

int
main(void)
{
    test_texts();
    test_wrong();
    test_masks();
    test_many();
    test_memory();
    test_sampler();
    test_draws();
    return tap_done();
}
