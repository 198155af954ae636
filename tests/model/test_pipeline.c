/* test_pipeline.c - ranks that have some layers each give the bits of one
 * process: threads of this one, that send each other copies of bytes */
#include <pthread.h>

#include "api/model.h"
#include "core/mem.h"
#include "core/thread.h"
#include "harness/session_test.h"
#include "model/pipeline.h"

enum {
    N = 400, /* ids: more than one block of keys, and several batches */
    CUT = 300,
    MAX = 4, /* ranks */
};

static int32_t ids[N];
static char path[SCRATCH_PATH];

/* ---- a transport within the process ---------------------------------------
 */

struct parcel {
    struct parcel *next;
    int32_t from, to;
    enum transport_tag tag;
    size_t n;
    char bytes[];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t came;
    struct parcel *first, **end;
    int32_t
        broken; /* this rank sends nothing more than what it has; -1: none */
    struct model_transport ranks[MAX];
    int32_t numbers[MAX];
} post = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .came = PTHREAD_COND_INITIALIZER,
           .broken = -1 };

static bool
post_send(struct model_transport *t, int32_t to, enum transport_tag tag,
          const void *bytes, size_t n)
{
    struct parcel *p = malloc(sizeof(*p) + n);

    if (t->rank == post.broken && tag == TRANSPORT_LAYER) {
        free(p);
        snprintf(t->error, sizeof(t->error), "the cable is cut");
        return false;
    }
    *p = (struct parcel){ NULL, t->rank, to, tag, n };
    memcpy(p->bytes, bytes, n);
    pthread_mutex_lock(&post.lock);
    *post.end = p;
    post.end = &p->next;
    pthread_cond_broadcast(&post.came);
    pthread_mutex_unlock(&post.lock);
    return true;
}

static struct parcel *
take(int32_t from, int32_t to, enum transport_tag tag)
{
    struct parcel **at = &post.first, *p;

    while (*at && ((*at)->from != from || (*at)->to != to || (*at)->tag != tag))
        at = &(*at)->next;
    p = *at;
    if (!p)
        return NULL;
    *at = p->next;
    if (post.end == &p->next)
        post.end = at;
    return p;
}

static bool
post_receive(struct model_transport *t, int32_t from, enum transport_tag tag,
             void *bytes, size_t n)
{
    struct parcel *p;
    bool fits;

    pthread_mutex_lock(&post.lock);
    while (!(p = take(from, t->rank, tag)))
        pthread_cond_wait(&post.came, &post.lock);
    pthread_mutex_unlock(&post.lock);
    fits = p->n == n;
    if (fits)
        memcpy(bytes, p->bytes, n);
    else
        snprintf(t->error, sizeof(t->error), "%zu bytes, not %zu", p->n, n);
    free(p);
    return fits;
}

static void
post_leave(struct model_transport *t, bool failed)
{
    (void)t;
    (void)failed;
}

/* ---- the ranks --------------------------------------------------------------
 */

static struct job {
    int32_t n; /* ranks */
    const char *layers;
    const char *other; /* the last rank's model, if it has another */
    struct gg_pipeline *lead;
    pthread_t threads[MAX];
    enum gg_status ended[MAX];
    struct gg_error errors[MAX];
} job;

static struct gg_pipeline *
join(int32_t rank)
{
    struct gg_pipeline *p = NULL;
    struct gg_error e;

    post.ranks[rank] = (struct model_transport){ .version = TRANSPORT_VERSION,
                                                 .rank = rank,
                                                 .size = job.n,
                                                 .n_local = job.n,
                                                 .send = post_send,
                                                 .receive = post_receive,
                                                 .leave = post_leave };
    if (model_pipeline_new(&post.ranks[rank], job.layers, &p, &e) != GG_OK) {
        printf("Bail out! %s\n", e.message);
        exit(99);
    }
    return p;
}

static void *
serve(void *arg)
{
    static const struct gg_model_params params = { .device = "cpu" };
    int32_t rank = *(int32_t *)arg;
    struct gg_pipeline *p = join(rank);
    bool last = rank == job.n - 1;

    job.ended[rank] =
        gg_pipeline_serve(p, last && job.other ? job.other : scratch_path(),
                          &params, 1, &job.errors[rank]);
    model_pipeline_free(p);
    return NULL;
}

static void
begin_job(int32_t n, const char *layers)
{
    job = (struct job){ .n = n, .layers = layers };
    post.first = NULL;
    post.end = &post.first;
    post.broken = -1;
}

static void
start_ranks(void)
{
    job.lead = join(0);
    for (int32_t i = 1; i < job.n; i++) {
        post.numbers[i] = i;
        if (thread_start(&job.threads[i], serve, &post.numbers[i]))
            exit(99);
    }
}

/* Returns how many of the others were served well to their end. */
static int
end_job(void)
{
    struct pipeline_command c = { .op = PIPELINE_LEAVE };
    int good = 0;

    (void)model_pipeline_tell_all(job.lead, &c, NULL, NULL);
    for (int32_t i = 1; i < job.n; i++) {
        pthread_join(job.threads[i], NULL);
        good += job.ended[i] == GG_OK;
    }
    model_pipeline_free(job.lead);
    while (post.first) {
        struct parcel *p = post.first;

        post.first = p->next;
        free(p);
    }
    return good;
}

static enum gg_status
open_lead(struct gg_model **m)
{
    struct gg_model_params params = { .device = "cpu" };

    params.pipeline = job.lead;
    return gg_model_open(scratch_path(), &params, m, &err);
}

/* ---- what a session does
 * ------------------------------------------------------ */

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
decode_two(struct gg_session *s, struct results *r)
{
    float a[V], b[V];
    struct gg_chunk chunks[2] = {
        { .slot = 0, .ids = ids + CUT, .n = 3, .rows.logits = a },
        { .slot = 1, .ids = ids, .n = 1, .rows.logits = b },
    };

    must(gg_session_eval(s, chunks, 2, &err));
    put(r, a);
    put(r, b);
}

/* Prompts in pieces, scores, slots that go back, are copied, saved, loaded. */
static struct results
run_session(const struct gg_model *m)
{
    struct gg_session_params p = {
        .n_ctx = N, .n_slots = 3, .n_batch = 64, .n_threads = 2
    };
    struct gg_session *s = new_session(m, p);
    struct results r = { .n = 0 };
    struct gg_chunk scored = { .slot = 2, .ids = ids, .n = CUT };
    struct gg_state_sequence q = { .slot = 0, .ids = ids };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    struct gg_state_file *f;
    float out[V];

    eval_ids(s, 0, ids, 0, CUT, out);
    put(&r, out);
    scored.scores.logprobs = r.scores;
    must(gg_session_eval(s, &scored, 1, &err));
    decode_two(s, &r);
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

/* Of models that keep something of each kind. */
static void
test_kind(const char *name, struct model_spec spec)
{
    static struct results one, many;
    struct gg_model *m;
    char title[96];
    bool same = true;

    if (spec.recurs)
        spec.recurs = "11011011";
    spec.n_layer = 8;
    spec.n_ctx = N;
    m = new_model(&spec);
    one = run_session(m);
    gg_model_free(m);
    for (int32_t n = 2; n <= 4 && same; n += 2) {
        begin_job(n, n == 4 ? "1,3,2,2" : NULL);
        start_ranks();
        must(open_lead(&m));
        many = run_session(m);
        gg_model_free(m);
        same = end_job() == n - 1 && same_results(&one, &many);
    }
    snprintf(title, sizeof(title), "%s: 2 and 4 ranks give the bits of one",
             name);
    ok(same, title);
}

/* ---- what goes wrong
 * ----------------------------------------------------------- */

static bool
is_refused(const char *words)
{
    struct gg_model *m = NULL;
    enum gg_status st;

    start_ranks();
    st = open_lead(&m);
    gg_model_free(m);
    if (end_job() == job.n - 1 && st != GG_OK && strstr(err.message, words))
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

static void
test_refused(void)
{
    struct model_spec spec = small(3, 1), other = small(3, 2);

    if (!models_write(&other, path) || !models_write(&spec, scratch_path()))
        exit(99);
    begin_job(4, NULL);
    ok(is_refused("4 ranks are more than the model has layers"),
       "more ranks than layers are refused");
    begin_job(2, "2,2");
    ok(is_refused("--layers are 4 together, and the model has 3"),
       "so are layers that the model has not");
    begin_job(3, NULL);
    job.other = path;
    ok(is_refused("rank 2 has another model in the file of that name"),
       "and another file in the place of the model");
    begin_job(2, NULL);
    job.other = "/nowhere/model.gguf";
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
    begin_job(2, NULL);
    start_ranks();
    must(open_lead(&m));
    s = new_session(m, (struct gg_session_params){ .n_ctx = N });
    c.rows.logits = out;
    post.broken = 0;
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
    /* all keys, or those in a window; states in all layers, in some, beside
     * keys; a short convolution */
    static const char *const names[] = { "llama-f32",  "gemma2-f32",
                                         "mamba2-f32", "qwen35-f32",
                                         "lfm2-f32",   "falcon-h1-f32",
                                         "rwkv7-f32" };
    struct model_spec spec;

    fill_ids(ids, N);
    strcpy(path, scratch_file("other.gguf"));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (models_named(names[i], &spec))
            test_kind(names[i], spec);
        else
            ok(false, names[i]);
    test_refused();
    test_lost();
    return 0; /* not reached */
}
