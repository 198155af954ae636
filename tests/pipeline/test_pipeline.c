/* test_pipeline.c - ranks that have some layers each give the bits of one
 * process, and refuse what would not */
#include <config.h>

#include "api/model.h"
#include "fixtures/folder_case.h"
#include "fixtures/ranks.h"
#include "harness/session_test.h"

enum {
    N = 400, /* ids: more than one block of keys, and several batches */
    CUT = 300,
    ENCODED = 40, /* of an encoder, where there is one */
};

static int32_t ids[N];
static char path[SCRATCH_PATH];
static struct gg_session_params form; /* of the caches */

/* ---- what a session does ------------------------------------------------- */

struct results {
    float logits[6][V];
    float scores[CUT];
    int32_t kept, copied, loaded;
    int n;
};

static void
put(struct results *r, const float *logits)
{
    memcpy(r->logits[r->n++], logits, V * sizeof(*logits));
}

/* Two sequences at once. */
static void
decode_two(struct gg_session *s, size_t n_encoded, struct results *r)
{
    float a[V], b[V];
    struct gg_chunk chunks[2] = {
        { .slot = 0, .ids = ids + CUT, .n = 3, .rows.logits = a },
        { .slot = 1, .ids = ids, .n = n_encoded + 1, .rows.logits = b },
    };

    must(gg_session_eval(s, chunks, 2, &err));
    put(r, a);
    put(r, b);
}

/* Prompts in pieces, scores, slots that go back, are copied, saved, loaded. */
static struct results
run_session(const struct gg_model *m)
{
    struct gg_session_params p = form;
    struct gg_session *s;
    struct results r = { .n = 0 };
    struct gg_chunk scored = { .slot = 2, .ids = ids, .n = CUT };
    struct gg_state_sequence q = { .slot = 0, .ids = ids };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    struct gg_state_file *f;
    float out[V];

    p.n_ctx = N;
    p.n_slots = 3;
    p.n_batch = 64;
    p.n_threads = 2;
    p.n_encoder_ids = m->model->hp.n_encoder > 0 ? ENCODED : 0;
    s = new_session(m, p);
    eval_ids(s, 0, ids, 0, CUT, out);
    put(&r, out);
    scored.scores.logprobs = r.scores;
    must(gg_session_eval(s, &scored, 1, &err));
    decode_two(s, (size_t)p.n_encoder_ids, &r);
    r.kept = gg_session_truncate(s, 0, CUT);
    r.copied = gg_session_copy(s, 1, 0, r.kept);
    eval_ids(s, 1, ids, r.copied, CUT + 5, out);
    put(&r, out);
    q.n_ids = q.n_held = (size_t)gg_session_length(s, 0);
    if (q.n_ids > 0) {
        must(gg_session_save(s, &state, path, &err));
        must(gg_state_open(path, s, &f, &err));
        r.loaded = gg_session_load(s, 2, f, 0);
        gg_state_close(f);
    } else {
        gg_session_truncate(s, 2, 0);
    }
    eval_ids(s, 2, ids, r.loaded, CUT + 20, out);
    put(&r, out);
    gg_session_free(s);
    return r;
}

static bool
same_results(const struct results *a, const struct results *b)
{
    if (a->kept == b->kept && a->copied == b->copied &&
        a->loaded == b->loaded && a->n == b->n &&
        !memcmp(a->logits, b->logits, sizeof(a->logits)) &&
        !memcmp(a->scores, b->scores, (CUT - 1) * sizeof(*a->scores)))
        return true;
    printf("# kept %d %d, copied %d %d, loaded %d %d\n", a->kept, b->kept,
           a->copied, b->copied, a->loaded, b->loaded);
    for (int i = 0; i < a->n; i++)
        if (memcmp(a->logits[i], b->logits[i], sizeof(a->logits[i])))
            printf("# logits %d differ: %g %g\n", i, (double)a->logits[i][0],
                   (double)b->logits[i][0]);
    return false;
}

/* m, which it frees, and ranks that open `from`, four with such layers. */
static void
test_ranks(const char *name, struct gg_model *m, const char *from,
           const char *layers)
{
    static struct results one, many;
    char title[96];
    bool same = true;

    one = run_session(m);
    gg_model_free(m);
    for (int32_t n = 2; n <= 4 && same; n += 2) {
        ranks_begin(n, n == 4 ? layers : NULL, from);
        ranks_start();
        must(ranks_open(&m, &err));
        many = run_session(m);
        gg_model_free(m);
        same = ranks_end() == n - 1 && same_results(&one, &many);
    }
    snprintf(title, sizeof(title), "%s: 2 and 4 ranks give the bits of one",
             name);
    ok(same, title);
}

/* Models that keep something of each kind. */
static void
test_kind(const char *name, struct model_spec spec)
{
    if (spec.recurs)
        spec.recurs = "11011011";
    spec.n_layer = 8;
    spec.n_ctx = N;
    test_ranks(name, new_model(&spec), scratch_path(),
               strstr(name, "t5") ? "1,4,4,2" : "1,3,2,2");
}

#ifdef HAVE_JANSSON
/* A model whose layers hand more on than a hidden vector. */
static void
test_case(const char *folder, const char *name)
{
    const char *to = scratch_file(name);
    char from[1024], layers[32];
    struct folder_case c;
    struct gg_model *m;

    snprintf(from, sizeof(from), "%s/%s.case", folder, name);
    folder_case_write(from, scratch_file("case.gguf"), to, &c);
    must(gg_model_open(to, NULL, &m, &err));
    snprintf(layers, sizeof(layers), "1,%d,1,1", m->model->hp.n_layer - 3);
    test_ranks(name, m, to, layers);
}

/* Delta rules and latent attention, with a bank or clamps; heads of a Mamba;
 * RWKV with few keys; streams, a table of n-grams, blocks that are chosen. */
static void
test_cases(void)
{
    static const char *const names[] = { "kimi-k3", "bailingmoe3", "lfm3",
                                         "plamo2",  "madlad",      "qwen4exp",
                                         "hy_v4",   "glm5-next" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        ok(folder_case_each("families", names[i], test_case), names[i]);
}
#endif

/* ---- what goes wrong ----------------------------------------------------- */

static bool
is_refused(const char *words)
{
    struct gg_model *m = NULL;
    enum gg_status st;

    ranks_start();
    st = ranks_open(&m, &err);
    gg_model_free(m);
    if (ranks_end() == ranks.n - 1 && st != GG_OK && strstr(err.message, words))
        return true;
    printf("# %d: %s\n", st, st == GG_OK ? "" : err.message);
    return false;
}

static struct model_spec
small(int n_layer, uint64_t seed)
{
    return (struct model_spec){ "llama", .n_head = 2, .n_layer = n_layer,
                                .seed = seed, .n_ctx = N };
}

/* The message that a rank sends about itself, if it is that; else NULL. */
static struct pipeline_hello *
hello_of(enum transport_tag tag, void *bytes, size_t n)
{
    bool is = tag == TRANSPORT_REPLY && n == sizeof(struct pipeline_hello);

    return is ? bytes : NULL;
}

/* It is not what rank 0 is. */
static void
change_build(int32_t from, enum transport_tag tag, char *bytes, size_t n)
{
    struct pipeline_hello *hello = hello_of(tag, bytes, n);

    (void)from;
    if (hello)
        hello->build ^= 1;
}

static void
change_kernels(int32_t from, enum transport_tag tag, char *bytes, size_t n)
{
    struct pipeline_hello *hello = hello_of(tag, bytes, n);

    (void)from;
    if (hello)
        strcpy(hello->kernels, "abacus");
}

static void
change_options(int32_t from, enum transport_tag tag, char *bytes, size_t n)
{
    struct pipeline_hello *hello = hello_of(tag, bytes, n);

    (void)from;
    if (hello)
        hello->extras ^= 1;
}

static void
test_other_ranks(void)
{
    ranks_begin(2, NULL, scratch_path());
    ranks.spoil = change_build;
    ok(is_refused("rank 1 is of another build of version "),
       "another build is refused, of the same version");
    ranks_begin(3, NULL, scratch_path());
    ranks.spoil = change_kernels;
    ok(is_refused("rank 1 has other kernels (abacus) than rank 0"),
       "and other kernels");
    ranks_begin(2, NULL, scratch_path());
    ranks.spoil = change_options;
    ok(is_refused("rank 1 has other adapters, MTP layers or rotary positions"),
       "and other adapters");
}

static void
test_refused(void)
{
    struct model_spec spec = small(3, 1), other = small(3, 2);

    if (!models_write(&other, path) || !models_write(&spec, scratch_path()))
        exit(99);
    ranks_begin(4, NULL, scratch_path());
    ok(is_refused("4 ranks are more than the model has layers"),
       "more ranks than layers are refused");
    ranks_begin(2, "2,2", scratch_path());
    ok(is_refused("the layers of all ranks are 4, and the model has 3"),
       "so are layers that the model has not");
    ranks_begin(3, NULL, scratch_path());
    ranks.other = path;
    ok(is_refused("rank 2 has another model in the file of that name"),
       "and another file in the place of the model");
    ranks_begin(2, NULL, scratch_path());
    ranks.other = "/nowhere/model.gguf";
    ok(is_refused("rank 1: /nowhere/model.gguf: "),
       "and none: rank 0 says what the other would say");
}

/* A rank that can send nothing more is the end, with a sentence. */
static void
test_lost(void)
{
    struct model_spec spec = small(4, 1);
    struct gg_chunk c = { .ids = ids, .n = 1 };
    struct gg_session *s;
    struct gg_model *m;
    float out[V];
    enum gg_status st;

    if (!models_write(&spec, scratch_path()))
        exit(99);
    ranks_begin(2, NULL, scratch_path());
    ranks_start();
    must(ranks_open(&m, &err));
    s = new_session(m, (struct gg_session_params){ .n_ctx = N });
    c.rows.logits = out;
    ranks.broken = 0;
    st = gg_session_eval(s, &c, 1, &err);
    ok(st == GG_ERR_IO && strstr(err.message, "the cable is cut"),
       "a lost transport is an error");
    st = gg_session_eval(s, &c, 1, &err);
    ok(st == GG_ERR_IO && strstr(err.message, "the cable is cut"),
       "and stays one");
    tap_done();
    /* the other waits for what never comes: as processes do, until the
     * launcher ends them */
    fflush(stdout);
    _exit(0);
}

int
main(void)
{
    /* all keys, or those in a window; states in all layers, in some, next to
     * keys; a short convolution */
    static const char *const names[] = { "llama-f32",  "gemma2-f32",
                                         "mamba2-f32", "qwen35-f32",
                                         "lfm2-f32",   "falcon-h1-f32",
                                         "rwkv7-f32",  "flan-t5-f32" };
    struct model_spec spec;

    fill_ids(ids, N);
    strcpy(path, scratch_file("other.gguf"));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (models_named(names[i], &spec))
            test_kind(names[i], spec);
        else
            ok(false, names[i]);
#ifdef HAVE_JANSSON
    test_cases();
#endif
    test_refused();
    test_other_ranks();
    test_lost();
    return 0; /* not reached */
}
