/* test_shared_rows.c - slots that begin alike: no copy of the rows that they
 * have in common, and the bytes of sequences that each had a session of their
 * own, whatever happens to the slot that had these rows first */
#include <fcntl.h>
#include <unistd.h>

#include "api/model.h"
#include "core/mem.h"
#include "session/model.h"
#include "session/piece.h"
#include "session/session.h"
#include "harness/session_test.h"

enum {
    SLOTS = 7,
    N = 1100, /* more than four blocks of keys */
    STEPS = 100,
    PIECES = 12, /* of a sequence at most */
};

static int32_t common[N];
static char path[SCRATCH_PATH];
static uint64_t drawn;

static int
draw(int n)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (int)((drawn >> 33) % (uint64_t)n);
}

/* The ids that a slot should hold, and a session that computes them alone. */
struct alone {
    int32_t ids[N];
    int n;
    struct gg_session *session;
    int32_t has[N];
    int n_has;
};

struct bench {
    const struct gg_model *model;
    struct gg_session_params params;
    struct gg_session *session;
    struct alone slots[SLOTS];
    bool same;
};

static void
open_all(struct bench *b, const struct gg_model *m, struct gg_session_params p)
{
    *b = (struct bench){ .model = m, .params = p, .same = true };
    b->params.n_ctx = N;
    b->params.n_slots = SLOTS;
    b->session = new_session(m, b->params);
    p.n_ctx = N;
    p.n_threads = 1;
    p.n_batch = 200;
    for (int i = 0; i < SLOTS; i++)
        b->slots[i].session = new_session(m, p);
}

static void
close_all(struct bench *b)
{
    gg_session_free(b->session);
    for (int i = 0; i < SLOTS; i++)
        gg_session_free(b->slots[i].session);
}

/* Logits after the slot's ids, by the session that has no other. */
static void
compute_alone(struct alone *a, float *out)
{
    int same_ids = 0;

    while (same_ids < a->n - 1 && same_ids < a->n_has &&
           a->ids[same_ids] == a->has[same_ids])
        same_ids++;
    same_ids = gg_session_truncate(a->session, 0, same_ids);
    eval_ids(a->session, 0, a->ids, same_ids, a->n, out);
    memcpy(a->has, a->ids, sizeof(a->has));
    a->n_has = a->n;
}

/* ---- what is done to slots ----------------------------------------------- */

/* Adds n ids: mostly those of the text that all have in common. */
static void
add_random_ids(struct alone *a, int n)
{
    bool other = draw(3) == 0;

    for (int i = 0; i < n; i++, a->n++)
        a->ids[a->n] = other ? draw(V) : common[a->n];
}

static void
evaluate_some(struct bench *b)
{
    static const int lengths[] = { 1, 1, 1, 1, 2, 5, 40, 300 };
    static float out[SLOTS][V];
    struct gg_chunk chunks[SLOTS];
    int most = 1 + draw(SLOTS), n_chunks = 0, first = draw(SLOTS);
    float truth[V];

    for (int i = 0; i < most; i++) {
        int slot = (first + i) % SLOTS, n = lengths[draw(8)];
        struct alone *a = &b->slots[slot];

        if (a->n + n > N)
            continue;
        chunks[n_chunks] = (struct gg_chunk){ .slot = slot,
                                              .ids = a->ids + a->n,
                                              .n = (size_t)n,
                                              .rows.logits = out[slot] };
        n_chunks++;
        add_random_ids(a, n);
    }
    must(gg_session_eval(b->session, chunks, (size_t)n_chunks, &err));
    for (int i = 0; i < n_chunks; i++) {
        compute_alone(&b->slots[chunks[i].slot], truth);
        b->same = b->same && same(truth, out[chunks[i].slot]);
    }
}

static void
expect_held(struct bench *b, int slot, const struct alone *from, int n)
{
    if (&b->slots[slot] != from)
        memcpy(b->slots[slot].ids, from->ids, sizeof(from->ids));
    b->slots[slot].n = n;
    b->same = b->same && gg_session_length(b->session, slot) == n;
}

static void
copy_one(struct bench *b)
{
    int to = draw(SLOTS), from = draw(SLOTS);
    int n = b->slots[from].n - draw(4) * draw(100);

    n = gg_session_copy(b->session, to, from, n > 0 ? n : 0);
    expect_held(b, to, &b->slots[from], n);
}

/* Many slots begin like one. */
static void
copy_to_all(struct bench *b)
{
    int from = draw(SLOTS), n = b->slots[from].n - draw(20);

    for (int i = 0; i < SLOTS && n > 0; i++)
        if (i != from && draw(4) > 0) {
            int held = gg_session_copy(b->session, i, from, n);

            expect_held(b, i, &b->slots[from], held);
        }
}

static void
cut_one(struct bench *b)
{
    int slot = draw(SLOTS), n = draw(b->slots[slot].n + 1);

    n = gg_session_truncate(b->session, slot, draw(3) == 0 ? 0 : n);
    expect_held(b, slot, &b->slots[slot], n);
}

static void
release_one(struct bench *b)
{
    int slot = draw(SLOTS);

    session_release(b->session, slot);
    expect_held(b, slot, &b->slots[slot], 0);
}

static void
save_one(struct bench *b)
{
    int from = draw(SLOTS), to = draw(SLOTS);
    struct alone *a = &b->slots[from];
    struct gg_state_sequence q = { .ids = a->ids,
                                   .n_ids = (size_t)a->n,
                                   .n_held = (size_t)a->n,
                                   .slot = from };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    struct gg_state_file *f;

    if (a->n == 0)
        return;
    must(gg_session_save(b->session, &state, path, &err));
    must(gg_state_open(path, b->session, &f, &err));
    expect_held(b, to, a, gg_session_load(b->session, to, f, 0));
    gg_state_close(f);
}

/* Rows of a piece that is written and read, whoever owns their blocks. */
static char *
pass_through_file(struct gg_session *s, int slot, struct piece *p)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    bool nomem;
    char *rows;

    if (fd < 0)
        exit(99);
    must(session_piece_write(s, slot, p, fd, &err));
    if (!session_piece_read(s, fd, p))
        exit(99);
    rows = session_piece_rows(s, fd, p, &nomem);
    close(fd);
    if (!rows)
        exit(99);
    return rows;
}

/* A slot gets another's sequence, or its own, by pieces whose edges are not
 * those of blocks. */
static void
put_pieces(struct bench *b)
{
    struct gg_session *s = b->session;
    int from = draw(SLOTS), to = draw(SLOTS), n = 0;
    struct alone *a = &b->slots[from];
    struct piece pieces[PIECES];
    char *rows[PIECES];

    if (a->n == 0 || !session_piece_has(s, from, 0, a->n))
        return;
    for (int first = 0; first < a->n; n++) {
        struct piece *p = &pieces[n];
        int left = a->n - first, size = 100 + draw(PIECE_IDS - 99);

        *p = (struct piece){ .first = first, .ids = a->ids + first };
        p->n = left < size ? left : size;
        p->state = p->n == left && session_piece_recurs(s);
        rows[n] = pass_through_file(s, from, p);
        first += p->n;
    }
    if (!session_piece_assume(s, to, a->ids, a->n, NULL))
        exit(99);
    for (int i = 0; i < n; i++) {
        const struct piece *p = &pieces[i];

        session_piece_put(s, to, p, rows[i], p->first, p->first + p->n, a->n);
        mem_free(rows[i]);
    }
    expect_held(b, to, a, a->n);
}

static void
test_random_steps(const struct gg_model *m, const char *name,
                  struct gg_session_params p)
{
    static void (*const kinds[])(struct bench *) = {
        evaluate_some, evaluate_some, evaluate_some, copy_one,
        copy_one,      copy_to_all,   copy_to_all,   cut_one,
        cut_one,       release_one,   save_one,      put_pieces,
    };
    static struct bench b;
    char title[120];

    drawn = 5;
    open_all(&b, m, p);
    for (int i = 0; i < STEPS && b.same; i++)
        kinds[draw(sizeof(kinds) / sizeof(kinds[0]))](&b);
    snprintf(title, sizeof(title), "%s, cache of type %d, %d threads, %d ids",
             name, (int)p.cache_type, p.n_threads, p.n_batch);
    ok(b.same, title);
    close_all(&b);
}

/* ---- models -------------------------------------------------------------- */

static struct gg_model *
named_model(const char *name)
{
    struct model_spec spec;

    if (!models_named(name, &spec)) {
        printf("Bail out! no model %s\n", name);
        exit(99);
    }
    spec.n_ctx = N;
    return new_model(&spec);
}

static void
test_families(void)
{
    static const char *const names[] = {
        "llama-f32",  "gpt2-q8_0",  "gemma3-f16", "gpt-oss-f32",
        "qwen35-f32", "gemma2-f32", "lfm2-f32",
    };
    struct gg_session_params p = { .n_batch = 150, .n_threads = 2 };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct gg_model *m = named_model(names[i]);

        test_random_steps(m, names[i], p);
        gg_model_free(m);
    }
}

static void
test_cache_types(void)
{
    static const enum gg_cache_type types[] = { GG_CACHE_F32, GG_CACHE_BF16,
                                                GG_CACHE_Q8_0, GG_CACHE_Q5_0,
                                                GG_CACHE_Q4_0 };
    struct gg_model *m = new_model(&(struct model_spec){
        "llama", .n_head = 2, .n_head_kv = 1, .seed = 3, .n_ctx = N });

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        test_random_steps(
            m, "llama",
            (struct gg_session_params){ .cache_type = types[i],
                                        .n_batch = 30 + 100 * (int)i,
                                        .n_threads = 1 + (int)i });
    gg_model_free(m);
}

/* Scores count distances, which differ for the same key. */
static void
test_alibi(void)
{
    struct gg_model *m = new_model(
        &(struct model_spec){ "llama", .n_head = 4, .seed = 3, .n_ctx = N });

    m->model->hp.attn_max_bias = 8;
    test_random_steps(
        m, "ALiBi",
        (struct gg_session_params){ .n_batch = 100, .n_threads = 2 });
    gg_model_free(m);
}

/* ---- memory -------------------------------------------------------------- */

/* Slots hold one prefix of 1,024 ids, and 20 each. */
static void
test_used_memory(void)
{
    struct gg_model *m =
        new_model(&(struct model_spec){ "llama", .seed = 3, .n_ctx = N });
    struct gg_session *s = new_session(
        m, (struct gg_session_params){ .n_ctx = N, .n_slots = SLOTS });
    size_t one, all, row;
    int32_t n_slots;

    eval_ids(s, 0, common, 0, 1024, NULL);
    one = gg_session_used(s);
    row = one / 1024;
    is((int64_t)session_growth(s, 3, 1044, 0, 1024), (int64_t)(20 * row),
       "a slot that is to refer to rows grows by its own");
    is((int64_t)session_growth(s, 3, 1044, -1, 0), (int64_t)(1044 * row),
       "and otherwise by all");
    for (int i = 1; i < SLOTS; i++)
        is(gg_session_copy(s, i, 0, 1024), 1024, "a copy");
    is((int64_t)gg_session_used(s), (int64_t)one, "copies take no memory");
    is((int64_t)gg_session_shared(s, &n_slots), (int64_t)one,
       "all of it is shared");
    is(n_slots, SLOTS, "by all slots");
    for (int i = 0; i < SLOTS; i++)
        eval_ids(s, i, common + i, 0, 20, NULL);
    all = gg_session_used(s);
    is((int64_t)all, (int64_t)(one + 20 * SLOTS * row), "but for what is new");
    session_release(s, 0);
    is((int64_t)gg_session_used(s), (int64_t)(all - 20 * row),
       "who had them first goes, and they stay");
    is((int64_t)gg_session_shared(s, &n_slots), (int64_t)(1024 * row),
       "still shared");
    is(n_slots, SLOTS - 1, "by the others");
    gg_session_truncate(s, 1, 600);
    is((int64_t)gg_session_shared(s, NULL), (int64_t)(1024 * row),
       "also after one goes back");
    for (int i = 1; i < SLOTS; i++)
        session_release(s, i);
    is((int64_t)gg_session_used(s), 0, "until all have gone");
    is((int64_t)gg_session_shared(s, &n_slots), 0, "and nothing is shared");
    is(n_slots, 0, "by nobody");
    gg_session_free(s);
    gg_model_free(m);
}

int
main(void)
{
    fill_ids(common, N);
    strcpy(path, scratch_path());
    test_used_memory();
    test_families();
    test_cache_types();
    test_alibi();
    return tap_done();
}
