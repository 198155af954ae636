/* test_own_ids.c - ids of another vocabulary, from $GG_TEST_VOCAB, are told
 * from those of a text of one's own, also where a model drew it */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/own_ids.h"
#include "harness/tap.h"

const char cli_name[] = "test_own_ids";

enum {
    N = 5,
    CAP = 4096,
};

static const char text[] =
    "The mill by the river was built in 1823, when the valley had no road but "
    "a track for mules. Its first owner, a carpenter from the coast, had "
    "learnt to make wheels for ships and saw no reason why a wheel should not "
    "turn in fresh water as well. For forty years the farmers brought their "
    "corn to him, and later to his daughter, who kept the books, repaired the "
    "dam after each flood, and wrote down how high the water stood. Her notes "
    "are still in the county's archive: \"March 9th: 2.4 metres, the lower "
    "door is gone\"; \"May 1st: low, grinding by night only\".\n\n"
    "In 1911 a fire took the roof. The stones, which weigh more than a tonne "
    "each, fell through two floors and lie today where they fell. After the "
    "war the building became a school, then a store for wool, and at last "
    "nothing at all; children said that it was haunted, and boys from the "
    "village climbed in through the window of the counting room to prove that "
    "they were not afraid. What they found were swallows, rusted tools and a "
    "ledger whose last entry was a debt of 12 shillings that nobody had ever "
    "paid. The new owners, an engineer and a teacher of music, have replaced "
    "the wheel by a small turbine. It gives about 30 kilowatts in spring and "
    "less than a third of that in August, which is enough for the house, the "
    "workshop and most of the street.\n";

static const char *const names[N] = { "gpt-2", "llama-spm", "falcon",
                                      "deepseek-llm", "bert-bge" };
static struct gg_vocab *vocabs[N];
static int32_t ids[N][CAP];
static size_t counts[N];

static bool
is_foreign(int vocab, const int32_t *of, size_t n, bool apart)
{
    struct own_ids *o = malloc(sizeof(*o));
    bool foreign;

    own_ids_start(o, vocabs[vocab], "ids", "model", false);
    for (size_t i = 0; i < n; i += apart ? 1 : n)
        own_ids_see(o, &(struct gg_line){ .kind = GG_LINE_IDS,
                                          .ids = of + i,
                                          .n_ids = apart ? 1 : n });
    foreign = own_ids_look_foreign(o);
    free(o);
    return foreign;
}

static void
test_own(int v)
{
    char what[80];

    snprintf(what, sizeof(what), "%s: own ids, in one line and in many",
             names[v]);
    ok(!is_foreign(v, ids[v], counts[v], false) &&
           !is_foreign(v, ids[v], counts[v], true),
       what);
    snprintf(what, sizeof(what), "%s: a few own ids", names[v]);
    ok(!is_foreign(v, ids[v] + 7, 20, false), what);
}

/* As models draw: now and then two tokens that are one otherwise. */
static void
test_drawn(int v)
{
    static int32_t odd[2 * CAP];
    size_t n = 0;
    char what[80];

    for (size_t i = 0; i < counts[v]; i++) {
        size_t len;
        const char *token = gg_vocab_token(vocabs[v], ids[v][i], &len);
        int32_t first = -1, second = -1;

        if (i % 40 == 20)
            for (size_t at = 1; at < len && (first < 0 || second < 0); at++) {
                first = gg_vocab_find(vocabs[v], token, at);
                second = gg_vocab_find(vocabs[v], token + at, len - at);
            }
        if (first >= 0 && second >= 0)
            odd[n++] = first;
        odd[n++] = first >= 0 && second >= 0 ? second : ids[v][i];
    }
    snprintf(what, sizeof(what), "%s: ids with %zu odd ones", names[v],
             n - counts[v]);
    ok(!is_foreign(v, odd, n, false), what);
}

/* At a temperature far too high any id is drawn. */
static void
test_random(int v)
{
    static int32_t any[400];
    uint64_t x = 1;
    char what[80];

    for (size_t i = 0; i < 400; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        any[i] = (int32_t)((x >> 33) % gg_vocab_size(vocabs[v]));
    }
    snprintf(what, sizeof(what), "%s: ids drawn at random", names[v]);
    ok(!is_foreign(v, any, 400, false) && !is_foreign(v, any, 40, false), what);
}

/* Words in pieces, without any that an English text has. */
static void
test_others(int v)
{
    static const char *const texts[] = {
        "Der Mühlenbesitzer, ein Zimmermann von der Küste, hatte gelernt, "
        "Räder "
        "für Schiffe zu bauen; vierzig Jahre lang brachten ihm die Bauern ihr "
        "Korn, und später seiner Tochter, die nach jedem Hochwasser den Damm "
        "ausbesserte und aufschrieb, wie hoch das Wasser stand.",
        "Её первый владелец научился делать колёса для кораблей и не видел "
        "причины, почему бы колесу не вращаться и в пресной воде.",
        "static void *\nallocateNodeList(struct nodePool *pool, size_t "
        "nNodes)\n"
        "{\n    for (size_t i = 0; i < nNodes; i++)\n        pool->nodes[i] = "
        "(struct node){ .nextFree = i + 1, .isUsed = false };\n}\n",
        "1,1,2,3,5,8,13,21,34,55,89,144,233,377,610,987,1597,2584,4181,6765",
    };
    bool silent = true;
    char what[80];

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        static int32_t own[CAP];
        struct gg_encoded got = { 0 };

        if (gg_vocab_encode(vocabs[v], texts[i], strlen(texts[i]), 0, own, CAP,
                            &got, NULL) != GG_OK)
            silent = false;
        silent = silent && !is_foreign(v, own, got.n, false);
    }
    snprintf(what, sizeof(what), "%s: German, Russian, code, numbers",
             names[v]);
    ok(silent, what);
}

/* Ids of each other vocabulary. */
static void
test_foreign(void)
{
    int n = 0, found = 0;

    for (int from = 0; from < N; from++)
        for (int to = 0; to < N; to++) {
            bool possible = from != to;

            for (size_t i = 0; i < counts[from]; i++)
                possible = possible && ids[from][i] < gg_vocab_size(vocabs[to]);
            if (!possible)
                continue;
            n++;
            found += is_foreign(to, ids[from], counts[from], false);
        }
    printf("# %d of %d\n", found, n);
    ok(n > 10 && found == n, "ids of each other vocabulary are told");
}

static bool
open_vocab(const char *folder, int v)
{
    struct gg_encoded got = { 0 };
    struct gg_error err;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s.gguf", folder, names[v]);
    if (gg_vocab_open(path, &vocabs[v], &err) != GG_OK ||
        gg_vocab_encode(vocabs[v], text, strlen(text), 0, ids[v], CAP, &got,
                        &err) != GG_OK)
        printf("# %s\n", err.message);
    counts[v] = got.n;
    return got.n > 200;
}

int
main(void)
{
    const char *folder = getenv("GG_TEST_VOCAB");
    bool opened = true;

    if (!folder) {
        puts("1..0 # SKIP GG_TEST_VOCAB names no folder of vocabularies");
        return 0;
    }
    for (int v = 0; v < N; v++)
        opened = open_vocab(folder, v) && opened;
    ok(opened, "vocabularies are there");
    for (int v = 0; v < N && opened; v++) {
        test_own(v);
        test_drawn(v);
        test_random(v);
        test_others(v);
    }
    test_foreign();
    for (int v = 0; v < N; v++)
        gg_vocab_free(vocabs[v]);
    return tap_done();
}
