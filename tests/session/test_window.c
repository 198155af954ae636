/* test_window.c - windowed layers: what they see, and the same bytes whatever
 * is kept */
#include "api/model.h"
#include "session/cache.h"
#include "session/model.h"
#include "fixtures/ref_device.h"
#include "harness/session_test.h"

enum {
    N = 1200,  /* many times what a slot keeps of a small window */
    FEW = 300, /* more than a block of keys */
};

static int32_t ids[N];
static uint32_t window; /* of the next model */

static void
set_window(struct gguf_context *gguf)
{
    gguf_set_val_u32(gguf, "llama.attention.sliding_window", window);
}

enum layers {
    WINDOWED,
    ALTERNATING, /* the second layer sees all keys */
};

static struct gg_model *
windowed_model(uint32_t w, enum layers layers, int n_layer)
{
    struct model_spec spec = { "llama",   .n_head = 2, .n_layer = n_layer,
                               .seed = 9, .n_ctx = N,  .spoil = set_window };
    struct gg_model *m;

    window = w;
    m = new_model(&spec);
    if (layers == ALTERNATING)
        m->model->layers[1].windowed = false;
    return m;
}

static struct gg_session_params
params_of(int n_batch)
{
    return (struct gg_session_params){ .n_batch = n_batch,
                                       .cache_type = GG_CACHE_F16 };
}

/* ---- what is seen -------------------------------------------------------- */

/* Logits after N ids, one of which is another. */
static void
with_other(const struct gg_model *m, int at, float *out)
{
    int32_t id = ids[at];

    ids[at] = (id + 1) % V;
    in_steps(m, params_of(64), ids, N, N, out);
    ids[at] = id;
}

/* In a model of one layer, what lies before the window has no effect. */
static void
check_seen(int w)
{
    struct gg_model *m = windowed_model((uint32_t)w, WINDOWED, 1);
    float truth[V], out[V];
    char title[80];

    in_steps(m, params_of(64), ids, N, N, truth);
    with_other(m, N - w - 1, out);
    snprintf(title, sizeof(title), "a window of %d hides the key before", w);
    ok(same(out, truth), title);
    with_other(m, N - w, out);
    snprintf(title, sizeof(title), "and shows its first");
    ok(!same(out, truth), title);
    gg_model_free(m);
}

/* A window as long as the sequence is none. */
static void
check_wide(void)
{
    struct gg_model *m = windowed_model(N, WINDOWED, 2);
    float truth[V], out[V];
    struct gg_session_params p = params_of(0);
    struct gg_memory wide, none;

    in_steps(m, p, ids, N, N, out);
    must(gg_model_memory(m, &p, &wide, &err));
    gg_model_free(m);
    m = windowed_model(0, WINDOWED, 2);
    in_steps(m, p, ids, N, N, truth);
    must(gg_model_memory(m, &p, &none, &err));
    gg_model_free(m);
    ok(same(out, truth) && wide.cache == none.cache,
       "a window that holds everything is none");
}

/* ---- the same bytes ------------------------------------------------------ */

/* In batches of N all keys are kept, and the mask alone makes the window. */
static void
all_kept(const struct gg_model *m, enum gg_cache_type type, float *out)
{
    struct gg_session_params p = params_of(N);

    p.cache_type = type;
    in_steps(m, p, ids, N, N, out);
}

/* In steps of `step` ids; where that is 1, only the last `singles` ids. */
static void
in_cuts(const struct gg_model *m, struct gg_session_params p, int step,
        int singles, float *out)
{
    struct gg_session *s;

    if (step > 1) {
        in_steps(m, p, ids, step, N, out);
        return;
    }
    s = new_session(m, p);
    if (singles < N)
        eval_ids(s, 0, ids, 0, N - singles, NULL);
    for (int i = N - singles; i < N; i++)
        eval_ids(s, 0, ids, i, i + 1, out);
    gg_session_free(s);
}

static void
check_cuts(const struct gg_model *m, const char *name, int singles)
{
    static const struct {
        int n_batch, step;
    } cuts[] = {
        { 0, N },   { 7, N },    { 64, N },    { 300, 77 }, { 1, 1 },
        { 64, 65 }, { 513, 33 }, { 200, 700 }, { 64, 1 },   { 256, N }
    };
    static size_t turn; /* all cuts for one model, every second for others */
    size_t first = singles == N ? 0 : turn++ % 2, step = singles == N ? 1 : 2;
    float truth[V], out[V];
    char title[80];
    bool all = true;

    all_kept(m, GG_CACHE_F16, truth);
    for (size_t i = first; i < sizeof(cuts) / sizeof(cuts[0]); i += step) {
        struct gg_session_params p = params_of(cuts[i].n_batch);

        in_cuts(m, p, cuts[i].step, singles, out);
        all = all && same(out, truth);
        if (i % 3)
            continue;
        p.n_ctx = 5000;
        p.n_threads = 3;
        in_cuts(m, p, cuts[i].step, singles, out);
        all = all && same(out, truth);
    }
    snprintf(title, sizeof(title), "%s: the same bytes as if all were kept",
             name);
    ok(all, title);
}

static void
check_neighbours(const struct gg_model *m, enum gg_cache_type type)
{
    struct gg_session_params p = params_of(100);
    struct gg_session *s;
    float truth[V], out[V], alone[V], other[V];

    all_kept(m, type, truth);
    p.n_slots = 3;
    p.cache_type = type;
    s = new_session(m, p);
    for (int i = 0; i < N; i += 300) {
        struct gg_chunk c[] = {
            { .slot = 1, .ids = ids + i / 3, .n = 1 },
            { .slot = 2, .ids = ids + i, .n = 300, .rows.logits = out },
            { .ids = ids + N / 2 + i / 2, .n = 150, .rows.logits = other },
        };

        must(gg_session_eval(s, c, 3, &err));
    }
    ok(same(out, truth), "and beside neighbours");
    gg_session_truncate(s, 2, 0);
    eval_ids(s, 2, ids, N / 2, N, alone);
    ok(same(alone, other), "who have theirs");
    gg_session_free(s);
}

/* Families whose layers alternate, with scales, caps and norms of their own. */
static void
check_family(const char *name)
{
    struct model_spec spec;
    struct gg_model *m;

    if (!models_named(name, &spec)) {
        ok(false, name);
        return;
    }
    spec.n_ctx = N;
    m = new_model(&spec);
    check_cuts(m, name, FEW);
    gg_model_free(m);
}

/* ---- going back ---------------------------------------------------------- */

static void
check_truncate(const struct gg_model *m)
{
    struct gg_session *s = new_session(m, params_of(64));
    float truth[V], out[V];
    bool all = true;
    int lost = 0;

    all_kept(m, GG_CACHE_F16, truth);
    for (int n = N - 1; n > 0; n -= 119) {
        int held;

        eval_ids(s, 0, ids, gg_session_length(s, 0), N, out);
        all = all && same(out, truth);
        held = gg_session_truncate(s, 0, n);
        all =
            all && (held == n || held == 0) && gg_session_length(s, 0) == held;
        lost += held == 0;
    }
    ok(all, "truncate tells what is left, and that is enough to go on");
    ok(lost > 0, "far back that is nothing");
    eval_ids(s, 0, ids, gg_session_length(s, 0), 200, NULL);
    is(gg_session_truncate(s, 0, 1), 1, "what was never moved is kept");
    eval_ids(s, 0, ids, 1, N, out);
    ok(same(out, truth), "and of use");
    gg_session_free(s);
}

static void
check_copy(const struct gg_model *m)
{
    struct gg_session_params p = params_of(64);
    struct gg_session *s;
    float truth[V], out[V];
    bool all = true;

    all_kept(m, GG_CACHE_F16, truth);
    p.n_slots = 3;
    s = new_session(m, p);
    for (int n = 10; n < N; n += 149) {
        eval_ids(s, 1, ids, gg_session_length(s, 1), n, NULL);
        all = all && gg_session_copy(s, 2, 1, n) == n;
        eval_ids(s, 2, ids, n, N, out);
        all = all && same(out, truth);
    }
    ok(all, "a copy goes on as the slot that it was made of");
    ok(gg_session_copy(s, 0, 1, 5) == 0 && gg_session_length(s, 0) == 0,
       "what is lost cannot be copied");
    eval_ids(s, 0, ids, 0, N, out);
    ok(same(out, truth), "then all is evaluated");
    gg_session_free(s);
}

static bool
stop_at_zero(void *data)
{
    int *countdown = data;

    return *countdown >= 0 && (*countdown)-- == 0;
}

/* Stopped somewhere, a slot holds what it held, or nothing. */
static void
check_abort(const struct gg_model *m)
{
    enum {
        HELD = 300
    };
    int countdown = -1, kept = 0, lost = 0;
    struct gg_session_params p = params_of(64);
    struct gg_session *s;
    float truth[V], out[V];
    bool all = true;

    all_kept(m, GG_CACHE_F16, truth);
    p.abort = stop_at_zero;
    p.abort_data = &countdown;
    p.n_slots = 2;
    s = new_session(m, p);
    eval_ids(s, 1, ids, 0, 700, NULL); /* nobody names this one */
    for (int nodes = 3; nodes < 550; nodes += 75) {
        struct gg_chunk c = { .ids = ids + HELD, .n = N - HELD };

        gg_session_truncate(s, 0, 0);
        eval_ids(s, 0, ids, 0, HELD, NULL);
        countdown = nodes;
        all = all && gg_session_eval(s, &c, 1, &err) == GG_ERR_ABORTED;
        countdown = -1;
        kept += gg_session_length(s, 0) == HELD;
        lost += gg_session_length(s, 0) == 0;
        eval_ids(s, 0, ids, gg_session_length(s, 0), N, out);
        all = all && same(out, truth);
    }
    ok(all && kept > 0 && lost > 0 && gg_session_length(s, 1) == 700,
       "after a failure a slot holds what it held, or nothing");
    eval_ids(s, 1, ids, 700, N, out);
    ok(same(out, truth), "a slot that was not named is as it was");
    gg_session_free(s);
}

/* ---- another device ------------------------------------------------------ */

/* Where the program cannot look at the memory, rows move all the same. */
static void
check_device(void)
{
    static const struct gg_model_params params;
    ggml_backend_dev_t dev = ggml_backend_reg_dev_get(ref_device_reg(), 0);
    struct gg_model *m = windowed_model(100, WINDOWED, 2), there = *m;
    struct gg_session_params p = params_of(64);
    struct model_files files = { .file = &m->file };
    struct gg_memory told;
    struct gg_session *s;
    float truth[V], out[V];
    size_t cache, compute;

    must(session_load_model(&files, &(struct model_devices){ { dev }, 1 },
                            &params, &there.model, &err));
    there.model->layers[1].windowed = false;
    all_kept(&there, GG_CACHE_F16, truth);
    p.n_slots = 2;
    s = new_session(&there, p);
    eval_ids(s, 0, ids, 0, N, out);
    ok(same(out, truth), "another device: the same bytes as if all were kept");
    gg_session_truncate(s, 0, N - 1);
    is(gg_session_copy(s, 1, 0, N - 1), N - 1, "a copy there");
    eval_ids(s, 1, ids, N - 1, N, out);
    ok(same(out, truth), "is as good");
    must(gg_model_memory(&there, &p, &told, &err));
    gg_session_memory(s, &cache, &compute);
    ok(told.cache == cache && told.compute == compute,
       "its memory is told, too");
    gg_session_free(s);
    session_free_model(there.model);
    gg_model_free(m);
}

/* ---- layout -------------------------------------------------------------- */

static uint32_t
next_random(void)
{
    static uint32_t state = 12345;

    return (state = state * 1664525 + 1013904223) >> 8;
}

static bool
covers(const struct cache *c, enum cache_kind kind, int past, int n,
       const struct cache_range *r)
{
    const struct cache_part *p = &c->parts[kind];
    int first = p->window && past >= p->window ? past - p->window + 1 : 0;

    return r->start <= first && r->start % CACHE_BLOCK == 0 &&
           r->start + r->n >= past + n && r->n % CACHE_BLOCK == 0 &&
           r->row >= 0 && r->row + r->n <= p->n_rows &&
           r->row + p->base[1] == r->start;
}

/* Ids come in any pieces: what they see is always there. */
static bool
sound(struct cache *c, int n_batch)
{
    bool all = true;

    for (int past = 0, n; past < 20000; past += n) {
        n = 1 + (int)(next_random() % (unsigned)n_batch);
        session_cache_make_room(c, 1, past, n);
        for (int kind = 0; kind < CACHE_KINDS; kind++) {
            struct cache_range r = session_cache_seen(c, kind, 1, past, n);

            all = all && covers(c, kind, past, n, &r);
        }
    }
    return all;
}

/* Ids come one by one: how often the graph changes. */
static int
changes(struct cache *c, int n_ids)
{
    struct cache_range before[CACHE_KINDS] = { { 0 } };
    int changed = 0;

    for (int past = 0; past < n_ids; past++) {
        bool other = false;

        session_cache_make_room(c, 1, past, 1);
        for (int kind = 0; kind < CACHE_KINDS; kind++) {
            struct cache_range r = session_cache_seen(c, kind, 1, past, 1);

            other = other || r.row != before[kind].row || r.n != before[kind].n;
            before[kind] = r;
        }
        changed += other;
    }
    return changed;
}

static void
check_layout(void)
{
    static const int windows[] = { 1, 128, 255, 256, 257, 1000, 4096 };
    static const int batches[] = { 1, 2, 256, 300, 512 };
    const struct cache_form halves = { .types = { GGML_TYPE_F16,
                                                  GGML_TYPE_F16 } };
    bool all = true, rare = true;

    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        struct gg_model *m =
            windowed_model((uint32_t)windows[i], ALTERNATING, 2);

        for (size_t j = 0; j < sizeof(batches) / sizeof(batches[0]); j++) {
            struct cache c;

            must(session_cache_init(&c, m->model, &halves, 2, 21000, batches[j],
                                    &err));
            all = all && sound(&c, batches[j]);
            rare = rare && changes(&c, 5120) <= 5120 / CACHE_BLOCK;
            session_cache_clear(&c);
        }
        gg_model_free(m);
    }
    ok(all, "what is seen is kept, in whole blocks");
    ok(rare, "while ids come one by one, graphs last for a block of keys");
}

static void
check_size(void)
{
    struct gg_model *m = windowed_model(200, WINDOWED, 2);
    struct gg_session_params p = params_of(64);
    struct gg_memory small, large;

    p.n_ctx = 2000;
    must(gg_model_memory(m, &p, &small, &err));
    p.n_ctx = 2000000;
    must(gg_model_memory(m, &p, &large, &err));
    /* 2 layers, keys and values of 64 halves; 200 + 64 and up to 3 blocks */
    ok(small.cache == large.cache && small.compute == large.compute &&
           large.cache <= (uint64_t)2 * 2 * 64 * 2 * (264 + 3 * 256),
       "windowed layers need no memory for long contexts");
    gg_model_free(m);
}

int
main(void)
{
    static const int windows[] = { 5, 100, 256, 511 };

    fill_ids(ids, N);
    check_seen(1);
    check_seen(100);
    check_seen(257);
    check_wide();
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        uint32_t w = (uint32_t)windows[i];
        struct gg_model *m = windowed_model(w, WINDOWED, 2);
        char name[32];

        snprintf(name, sizeof(name), "window %d", windows[i]);
        check_cuts(m, name, FEW);
        gg_model_free(m);
        m = windowed_model(w, ALTERNATING, 2);
        snprintf(name, sizeof(name), "window %d, alternating", windows[i]);
        check_cuts(m, name, w == 100 ? N : FEW);
        if (w == 100 || w == 256) {
            check_neighbours(m, GG_CACHE_F16);
            check_neighbours(m, GG_CACHE_Q8_0);
            check_truncate(m);
            check_copy(m);
            check_abort(m);
        }
        gg_model_free(m);
    }
    check_family("mistral-q8_0");
    check_family("gemma2-f32");
    check_family("gemma3-f16");
    check_device();
    check_layout();
    check_size();
    return tap_done();
}
