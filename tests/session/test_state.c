/* test_state.c - states: what was saved goes on as if it had never stopped, in
 * whatever session; a crash leaves the old file or the new one; what is wrong
 * with a file is refused */
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include "core/crc32.h"
#include "core/file.h"
#include "core/mem.h"
#include "session/state.h"
#include "harness/session_test.h"

enum {
    N = 700, /* beyond two blocks of keys */
    CUT = 600,
};

static int32_t ids[N];
static char path[SCRATCH_PATH];

static const struct gg_state_sequence one_sequence = { .ids = ids,
                                                       .n_ids = CUT,
                                                       .n_held = CUT };
static const struct gg_state one = { .sequences = &one_sequence,
                                     .n_sequences = 1 };

static struct gg_session_params
params_of(enum gg_cache_type type)
{
    return (struct gg_session_params){ .n_ctx = N, .cache_type = type };
}

static struct gg_state_file *
must_open(struct gg_session *s)
{
    struct gg_state_file *f;

    must(gg_state_open(path, s, &f, &err));
    return f;
}

/* True: it is refused with these words, after the file's name. */
static bool
is_refused(struct gg_session *s, enum gg_status status, const char *words)
{
    struct gg_state_file *f = NULL;
    enum gg_status st = gg_state_open(path, s, &f, &err);

    gg_state_close(f);
    if (st == status && !f && scratch_names(err.message, path) &&
        strstr(err.message, words))
        return true;
    printf("# %d: %s\n", st, st == GG_OK ? "" : err.message);
    return false;
}

/* Saves ids[0..CUT) from a session of the model. */
static void
save_one(const struct gg_model *m, struct gg_session_params p)
{
    struct gg_session *s = new_session(m, p);

    eval_ids(s, 0, ids, 0, CUT, NULL);
    must(gg_session_save(s, &one, path, &err));
    gg_session_free(s);
}

/* Loads it to a slot of another one, and goes on to N. */
static bool
goes_on(const struct gg_model *m, struct gg_session_params p, int32_t slot,
        const float *truth)
{
    struct gg_session *s = new_session(m, p);
    struct gg_state_file *f = must_open(s);
    float out[V];
    bool good = gg_session_load(s, slot, f, 0) == CUT &&
                gg_session_length(s, slot) == CUT;

    gg_state_close(f);
    eval_ids(s, slot, ids, CUT, N, out);
    gg_session_free(s);
    return good && same(out, truth);
}

/* ---- the same bytes ------------------------------------------------------ */

static void
test_rounds(const char *name, const struct gg_model *m, enum gg_cache_type type)
{
    struct gg_session_params p = params_of(type), other = p;
    float truth[V];

    in_steps(m, p, ids, N, N, truth);
    p.n_batch = 300;
    save_one(m, p);
    printf("# %s, cache of type %d\n", name, (int)type);
    ok(goes_on(m, p, 0, truth), "the same logits");
    other.n_ctx = N + 900;
    other.n_slots = 3;
    other.n_batch = 7;
    other.n_threads = 2;
    ok(goes_on(m, other, 2, truth), "with more room, slots, smaller batches");
    save_one(m, other);
    ok(goes_on(m, p, 0, truth), "and back");
}

static void
set_window(struct gguf_context *gguf)
{
    gguf_set_val_u32(gguf, "llama.attention.sliding_window", 40);
}

/* ---- several sequences --------------------------------------------------- */

static void
test_sequences(const struct gg_model *m)
{
    struct gg_session_params p = { .n_ctx = 400, .n_slots = 3 };
    struct gg_session *s = new_session(m, p), *t;
    const struct gg_state_sequence list[] = {
        { UINT64_MAX, 7, ids, 30, 1, 29, 1 },
        { 3, 0, ids + 5, 300, 0, 0, -1 },
        { 0, (UINT64_C(1) << 62) - 1, ids + 9, 100, 0, 60, 0 },
    };
    const struct gg_state_range gone[] = { { 1, 2 }, { 4, 90 } };
    const struct gg_state state = { true,     list,       3,     gone, 2,
                                    "chatml", 1700000000, false, 0,    NULL };
    const struct gg_state *got;
    struct gg_state_file *f;
    float truth[V], out[V];
    bool good = true;

    eval_ids(s, 1, ids, 0, 29, NULL);
    eval_ids(s, 0, ids + 9, 0, 60, NULL);
    must(gg_session_save(s, &state, path, &err));
    p.n_slots = 1;
    p.n_ctx = 120;
    t = new_session(m, p);
    f = must_open(t);
    got = gg_state_get(f);
    ok(got->numbered && got->n_sequences == 3 && got->n_forgotten == 2 &&
           !memcmp(got->forgotten, gone, sizeof(gone)) &&
           !strcmp(got->chat, "chatml") && got->date == 1700000000,
       "what was said of the state");
    for (int i = 0; i < 3; i++) {
        const struct gg_state_sequence *a = &list[i], *b = &got->sequences[i];

        good = good && a->number == b->number && a->n_ids == b->n_ids &&
               a->n_dropped == b->n_dropped && a->n_held == b->n_held &&
               a->n_pending == b->n_pending && b->slot == -1 &&
               !memcmp(a->ids, b->ids, a->n_ids * sizeof(*ids));
    }
    ok(good, "and of its sequences");
    eval_ids(s, 0, ids + 9, 60, 100, truth);
    ok(gg_session_load(t, 0, f, 1) == 0 && gg_session_length(t, 0) == 0,
       "one without keys and values");
    is(gg_session_load(t, 0, f, 2), 60, "one that has some");
    eval_ids(t, 0, ids + 9, 60, 100, out);
    ok(same(out, truth), "goes on");
    eval_ids(s, 1, ids, 29, 30, truth);
    is(gg_session_load(t, 0, f, 0), 29, "another one in its place");
    eval_ids(t, 0, ids, 29, 30, out);
    ok(same(out, truth), "goes on, too");
    gg_state_close(f);
    gg_session_free(t);
    p.n_ctx = 59;
    t = new_session(m, p);
    f = must_open(t);
    eval_ids(t, 0, ids, 0, 9, NULL);
    ok(gg_session_load(t, 0, f, 2) == 0 && gg_session_length(t, 0) == 0,
       "what the context has no room for is left");
    gg_state_close(f);
    gg_session_free(t);
    gg_session_free(s);
}

static void
test_empty(const struct gg_model *m)
{
    const struct gg_state none = { .numbered = true };
    struct gg_session *s = new_session(m, params_of(GG_CACHE_F16));
    struct gg_state_file *f;

    must(gg_session_save(s, &none, path, &err));
    f = must_open(s);
    ok(gg_state_get(f)->n_sequences == 0 && gg_state_get(f)->numbered,
       "a state without sequences");
    gg_state_close(f);
    gg_session_free(s);
}

/* ---- what is refused ---------------------------------------------------- */

static void
test_others(const struct gg_model *m)
{
    struct model_spec spec = { "llama", .n_head = 2, .seed = 4, .n_ctx = N };
    const struct gg_model_params rope = { .rope_factor = 2 };
    struct gg_model *other = new_model(&spec);
    struct gg_session *s;

    save_one(m, params_of(GG_CACHE_F16));
    s = new_session(other, params_of(GG_CACHE_F16));
    ok(is_refused(s, GG_ERR_UNSUPPORTED, "another model"), "another model");
    gg_session_free(s);
    gg_model_free(other);
    s = new_session(m, params_of(GG_CACHE_F32));
    ok(is_refused(s, GG_ERR_UNSUPPORTED, "of type f16, not f32: the cache"),
       "another type");
    gg_session_free(s);
    spec.seed = 3; /* the same model */
    if (!models_write(&spec, scratch_path()))
        exit(99);
    must(gg_model_open(scratch_path(), &rope, &other, &err));
    s = new_session(other, params_of(GG_CACHE_F16));
    ok(is_refused(s, GG_ERR_UNSUPPORTED, "rotary"), "other positions");
    gg_session_free(s);
    gg_model_free(other);
    other = new_model(&spec);
    s = new_session(other, params_of(GG_CACHE_F16));
    gg_state_close(must_open(s));
    ok(true, "the same model, opened anew, is not another");
    gg_session_free(s);
    gg_model_free(other);
}

/* Divisors for long contexts and for short ones: keys differ. */
static void
test_long(void)
{
    struct gg_model *m = new_model(&(struct model_spec){
        "phi3", .rope_long = true, .n_ctx = 96, .seed = 2,
        .keys = {
            { "rope.scaling.original_context_length", 'u', 32, NULL } } });
    struct gg_session_params p = { .n_ctx = 32 };
    struct gg_session *s = new_session(m, p);
    struct gg_state_sequence q = { .ids = ids, .n_ids = 20, .n_held = 20 };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };

    eval_ids(s, 0, ids, 0, 20, NULL);
    must(gg_session_save(s, &state, path, &err));
    gg_session_free(s);
    p.n_ctx = 96;
    s = new_session(m, p);
    ok(is_refused(s, GG_ERR_UNSUPPORTED, "of no more than 32"),
       "a context that turns keys otherwise");
    gg_session_free(s);
    gg_model_free(m);
}

static size_t
read_all(const char *name, uint8_t *data, size_t size)
{
    FILE *f = fopen(name, "rb");
    size_t n = f ? fread(data, 1, size, f) : 0;

    if (!f || fclose(f))
        exit(99);
    return n;
}

static void
write_all(const uint8_t *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, n, f) != n || fclose(f))
        exit(99);
}

/* Every byte counts, but for those between tensors. */
static void
test_damage(const struct gg_model *m)
{
    static uint8_t data[1 << 20];
    struct gg_session *s = new_session(m, params_of(GG_CACHE_F16));
    struct gg_state_sequence q = { .ids = ids, .n_ids = 3, .n_held = 3 };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    struct gg_state_file *f;
    int accepted = 0, crc = 0, n_cut = 0;
    size_t n;

    eval_ids(s, 0, ids, 0, 3, NULL);
    must(gg_session_save(s, &state, path, &err));
    n = read_all(path, data, sizeof(data));
    for (size_t i = 0; i < n; i += 1 + i / 300) {
        data[i] ^= 0x10;
        write_all(data, n);
        f = NULL;
        if (gg_state_open(path, s, &f, &err) == GG_OK)
            accepted++;
        else
            crc += strstr(err.message, "CRC") != NULL;
        gg_state_close(f);
        data[i] ^= 0x10;
    }
    printf("# of %zu bytes; %d in gaps, %d by CRC\n", n, accepted, crc);
    ok(accepted < 100 && crc > 200, "a bit that is wrong is noticed");
    accepted = 0;
    for (size_t i = 0; i < n; i += 1 + i / 100, n_cut++) {
        write_all(data, i);
        f = NULL;
        accepted += gg_state_open(path, s, &f, &err) == GG_OK;
        gg_state_close(f);
    }
    ok(accepted == 0 && n_cut > 100, "a file that was cut off is refused");
    write_all(data, n);
    gg_state_close(must_open(s));
    ok(true, "the file as it was is not");
    gg_session_free(s);
}

static void
test_models_file(const struct gg_model *m)
{
    struct gg_session *s = new_session(m, params_of(GG_CACHE_F16));
    char kept[sizeof(path)];

    strcpy(kept, path);
    strcpy(path, scratch_path());
    ok(is_refused(s, GG_ERR_FORMAT, "is no state"), "a model is no state");
    strcpy(path, scratch_folder);
    is(gg_session_save(s, &one, path, &err), GG_ERR_ARG,
       "a folder is not written over");
    strcpy(path, kept);
    gg_session_free(s);
}

/* All of a head, and nothing after it. */
static void
test_no_tensors(const struct gg_model *m)
{
    struct gg_session *s = new_session(m, params_of(GG_CACHE_F16));
    struct gguf_context *g = gguf_init_empty();

    gguf_set_val_str(g, "general.type", STATE_TYPE);
    gguf_set_val_u32(g, STATE_KEY_VERSION, STATE_VERSION);
    if (!gguf_write_to_file(g, path, false))
        exit(99);
    gguf_free(g);
    ok(is_refused(s, GG_ERR_FORMAT, "crc32: is missing"),
       "a state without a tensor is refused");
    gg_session_free(s);
}

/* The file, whose head has changed; it goes. */
static void
write_changed(struct gguf_context *g, struct ggml_context *ctx)
{
    static uint8_t data[1 << 22];
    size_t head = gguf_get_meta_size(g), n;
    uint32_t crc;

    if (!gguf_write_to_file(g, path, false))
        exit(99);
    n = read_all(path, data, sizeof(data));
    crc = crc32_bytes(0, data, head);
    memcpy(data + head +
               gguf_get_tensor_offset(g, gguf_find_tensor(g, STATE_CRC)),
           &crc, sizeof(crc));
    write_all(data, n);
    gguf_free(g);
    ggml_free(ctx);
}

/* Without the kinds of layers. */
static struct gguf_context *
read_state(struct ggml_context **ctx)
{
    const struct gguf_init_params params = { .ctx = ctx };
    struct gguf_context *g = gguf_init_from_file(path, params);

    if (!g)
        exit(99);
    gguf_remove_key(g, STATE_KEY_LAYERS);
    return g;
}

/* Version 1 had no kinds: the file as it would have been. */
static void
test_old(const struct gg_model *m, const char *name)
{
    struct ggml_context *ctx;
    struct gguf_context *g;
    float truth[V];

    in_steps(m, params_of(GG_CACHE_F16), ids, CUT, N, truth);
    save_one(m, params_of(GG_CACHE_F16));
    g = read_state(&ctx);
    gguf_set_val_u32(g, STATE_KEY_VERSION, 1);
    write_changed(g, ctx);
    ok(goes_on(m, params_of(GG_CACHE_F16), 0, truth), name);
}

/* Layers of a kind that is not the model's, or not said. */
static void
test_kinds(const struct gg_model *m)
{
    struct gg_session *s = new_session(m, params_of(GG_CACHE_F16));
    const int32_t kinds[] = { 0, 2 };
    struct ggml_context *ctx;
    struct gguf_context *g;

    save_one(m, params_of(GG_CACHE_F16));
    g = read_state(&ctx);
    write_changed(g, ctx);
    ok(is_refused(s, GG_ERR_FORMAT, "state.layers: no kind for each layer"),
       "a state without kinds of layers");
    save_one(m, params_of(GG_CACHE_F16));
    g = read_state(&ctx);
    gguf_set_arr_data(g, STATE_KEY_LAYERS, GGUF_TYPE_INT32, kinds, 2);
    write_changed(g, ctx);
    ok(is_refused(s, GG_ERR_UNSUPPORTED,
                  "layer 1 keeps what is of kind 2, not 0"),
       "a kind that is not the model's");
    gg_session_free(s);
}

static void
test_arguments(const struct gg_model *m)
{
    struct gg_session *s = new_session(m, params_of(GG_CACHE_F16));
    struct gg_state_sequence q = one_sequence;
    const struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    const int32_t bad = V;

    unlink(path);
    q.slot = 1;
    is(gg_session_save(s, &state, path, &err), GG_ERR_ARG, "no such slot");
    q.slot = 0;
    q.n_held = CUT + 1;
    is(gg_session_save(s, &state, path, &err), GG_ERR_ARG, "too much held");
    q = (struct gg_state_sequence){ .ids = &bad, .n_ids = 1, .slot = -1 };
    ok(gg_session_save(s, &state, path, &err) == GG_ERR_ARG &&
           access(path, F_OK) != 0,
       "an id that is none; nothing was written");
    gg_session_free(s);
}

/* ---- crashes ------------------------------------------------------------ */

/* Removes files next to the state and the model; returns their number. */
static int
remove_others(void)
{
    DIR *d = opendir(scratch_folder);
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d))) {
        if (strncmp(e->d_name, "state.", 6) != 0)
            continue;
        n += unlink(scratch_file(e->d_name)) == 0;
    }
    if (d)
        closedir(d);
    return n;
}

/* Saves 1 id over CUT of them, or over nothing, and is killed after `steps`
 * steps; false: it was not. */
static bool
save_killed(struct gg_session *s, const struct gg_state *state, long steps)
{
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        file_die_after(steps);
        _exit(gg_session_save(s, state, path, NULL));
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(99);
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGKILL;
    if (status)
        exit(99);
    return false;
}

static size_t
ids_in_file(struct gg_session *s)
{
    struct gg_state_file *f = must_open(s);
    size_t n = gg_state_get(f)->sequences[0].n_ids;

    gg_state_close(f);
    return n;
}

static void
test_crash(const struct gg_model *m)
{
    struct gg_state_sequence q = { .ids = ids, .n_ids = N, .n_held = N };
    const struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    struct gg_session *s = new_session(m, params_of(GG_CACHE_F32));
    int n_old = 0, n_new = 0, n_left = 0, n_none = 0, step;
    bool killed = true, good = true;

    eval_ids(s, 0, ids, 0, N, NULL);
    must(gg_session_save(s, &one, path, &err));
    for (step = 0; killed; step++) {
        size_t n;

        killed = save_killed(s, &state, step);
        n = ids_in_file(s);
        good = good && (n == CUT || n == N) && (n == N || !n_new);
        n_old += n == CUT;
        n_new += n == N;
        n_left += remove_others();
        if (n == N)
            must(gg_session_save(s, &one, path, &err));
    }
    printf("# %d steps: old %d times, new %d\n", step, n_old, n_new);
    ok(good && n_old >= 5 && n_new == 2,
       "killed at every step, the file is the old one or the new one");
    is(n_left, n_old - 1,
       "a temporary file stays where it could not be "
       "removed, and nowhere else");
    for (step = 0; save_killed(s, &state, step) && step < n_old; step++) {
        n_none += access(path, F_OK) != 0;
        unlink(path);
        remove_others();
        if (step == 0)
            n_none = 0;
    }
    is(n_none, n_old - 1, "where there was none, there is none");
    ok(ids_in_file(s) == N || access(path, F_OK) == 0, "or a whole one");
    gg_session_free(s);
}

static void
test_memory(const struct gg_model *m)
{
    struct gg_session *s = new_session(m, params_of(GG_CACHE_F16));
    struct gg_state_file *f = NULL;
    enum gg_status st = GG_ERR_NOMEM;
    bool good = true;
    long n = 0;

    must(gg_session_save(s, &one, path, &err));
    for (; st != GG_OK && n < 1000; n++) {
        mem_fail_after(n);
        st = gg_session_save(s, &one, path, &err);
        mem_fail_after(-1);
        good = good && (st == GG_OK || st == GG_ERR_NOMEM || st == GG_ERR_IO);
    }
    ok(good && st == GG_OK && n > 5 && remove_others() == 0,
       "saving without memory");
    for (n = 0, st = GG_ERR_NOMEM; st != GG_OK && n < 1000; n++) {
        mem_fail_after(n);
        st = gg_state_open(path, s, &f, &err);
        mem_fail_after(-1);
        good = good && (st == GG_OK || (st == GG_ERR_NOMEM && !f));
    }
    ok(good && st == GG_OK && n > 5, "and loading");
    gg_state_close(f);
    gg_session_free(s);
}

int
main(void)
{
    struct model_spec spec = { "llama", .n_head = 2, .seed = 3, .n_ctx = N };
    struct gg_model *m;

    strcpy(path, scratch_file("state"));
    fill_ids(ids, N);
    spec.spoil = set_window;
    m = new_model(&spec);
    test_rounds("windowed", m, GG_CACHE_F16);
    test_old(m, "a state of version 1, with windows, is read");
    gg_model_free(m);
    spec.spoil = NULL;
    m = new_model(&spec);
    test_rounds("all keys", m, GG_CACHE_F16);
    test_rounds("all keys", m, GG_CACHE_Q8_0);
    test_rounds("all keys", m, GG_CACHE_F32);
    test_rounds("all keys", m, GG_CACHE_Q4_0);
    test_rounds("all keys", m, GG_CACHE_Q5_0);
    test_rounds("all keys", m, GG_CACHE_BF16);
    test_sequences(m);
    test_empty(m);
    test_others(m);
    test_damage(m);
    test_models_file(m);
    test_no_tensors(m);
    test_old(m, "a state of version 1 is read");
    test_kinds(m);
    test_arguments(m);
    test_crash(m);
    test_memory(m);
    gg_model_free(m);
    test_long();
    return tap_done();
}
