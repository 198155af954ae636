/* test_encoder_folder.c - folders of BERT and nomic-bert: ids of texts, and
 * their vectors against a plain computation in double precision from the
 * tensors as they were before */
#include <config.h>

#include <math.h>

#include "harness/encode.h"
#include "fixtures/folder.h"
#include "fixtures/reference.h"
#include "harness/session_test.h"

enum {
    E = 64,
    MAX = 32,
};

/* ---- ids ----------------------------------------------------------------- */

/* By hand, from the list of words in folder_wordpiece.c: [CLS] is 2, [SEP] 3,
 * [UNK] 1; a letter that begins a word 19 and on, one within it 45 and on. */
static const struct {
    const char *text;
    int32_t ids[MAX];
} texts[] = {
    { "The cat sat on the mat.", { 2, 9, 10, 11, 12, 9, 13, 5, 3 } },
    { "unable, running?", { 2, 14, 18, 6, 16, 17, 8, 3 } },
    { "UNRUNNING", { 2, 14, 62, 65, 58, 17, 3 } },
    { " R\xc3\xa9sum\xc3\xa9 9 ", { 2, 36, 49, 63, 65, 57, 49, 1, 3 } },
    { "", { 2, 3 } },
};

enum {
    N_TEXTS = sizeof(texts) / sizeof(texts[0])
};

static size_t
length(const int32_t *ids)
{
    size_t n = 0;

    while (ids[n])
        n++;
    return n;
}

static void
check_ids(const struct gg_vocab *v, const char *name)
{
    bool good = true;
    char title[100];
    int32_t ids[MAX];
    size_t n;

    for (int i = 0; i < N_TEXTS; i++) {
        const char *text = texts[i].text;

        must(encode_ids(v, text, strlen(text), GG_ENCODE_BOS | GG_ENCODE_EOS,
                        ids, MAX, &n, &err));
        good = good && n == length(texts[i].ids) &&
               !memcmp(ids, texts[i].ids, n * sizeof(*ids));
    }
    snprintf(title, sizeof(title), "%s: ids of texts", name);
    ok(good, title);
}

/* ---- vectors ------------------------------------------------------------- */

static double
worst_error(const struct gg_model *m, const struct reference *r)
{
    static double truth[MAX * E];
    struct gg_session *s = new_session(m, gg_session_params_default());
    double worst = 0, want[E];
    float got[E];

    for (int i = 0; i < N_TEXTS; i++) {
        struct gg_chunk c = { .ids = texts[i].ids,
                              .n = length(texts[i].ids),
                              .embed.values = got,
                              .embed.pooling = GG_POOL_MEAN };

        reference_encode(r, c.ids, (int)c.n, truth);
        for (int j = 0; j < E; j++) {
            want[j] = 0;
            for (size_t k = 0; k < c.n; k++)
                want[j] += truth[k * E + (size_t)j] / (double)c.n;
        }
        gg_session_truncate(s, 0, 0);
        must(gg_session_eval(s, &c, 1, &err));
        worst = fmax(worst, reference_nmse(got, want, E));
    }
    gg_session_free(s);
    return worst;
}

static void
check(const char *name, double bound)
{
    struct model_spec spec;
    struct gg_model *m;
    struct reference *r;
    const char *folder = scratch_file(name);
    char title[100];
    double worst;

    if (!models_named(name, &spec) || !models_write(&spec, scratch_path()))
        exit(99);
    folder_write(name, scratch_path(), folder, 1, NULL);
    must(gg_model_open(folder, NULL, &m, &err));
    r = reference_open(scratch_path());
    check_ids(gg_model_vocab(m), name);
    worst = worst_error(m, r);
    snprintf(title, sizeof(title), "%s: NMSE %.1e <= %.0e", name, worst, bound);
    ok(worst <= bound, title);
    reference_free(r);
    gg_model_free(m);
}

int
main(void)
{
#ifndef HAVE_JANSSON
    puts("1..0 # SKIP built without Jansson");
    return 0;
#endif
    check("bert-f32", 1e-11);
    check("nomic-bert-f32", 1e-11);
    return tap_done();
}
