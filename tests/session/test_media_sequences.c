/* test_media_sequences.c - rows in caches of each type, around states, and
 * media that are wrong, in any order */
#include <math.h>

#include "media_test.h"

enum {
    N = 48,
    FROM = 15, /* the first that rows take the place of, */
    ROWS = 12, /* and how many */
    END = FROM + ROWS,
};

static int32_t ids[N];
static int32_t row_ids[N]; /* with rows among them */
static float *rows;

static void
put_rows(struct gg_session *s, const struct gg_medium *x)
{
    int32_t first;

    must(gg_session_add_rows(s, x, &first, &err));
    memcpy(row_ids, ids, sizeof(ids));
    for (int32_t i = 0; i < ROWS; i++)
        row_ids[FROM + i] = first + i;
}

/* The logits of the last id, when they come `step` at a time. */
static void
last_logits(struct gg_session *s, const int32_t *list, int step, float *out)
{
    gg_session_truncate(s, 0, 0);
    for (int i = 0; i < N; i += step)
        eval_ids(s, 0, list, i, i + step < N ? i + step : N, out);
}

/* ---- caches -------------------------------------------------------------- */

static bool
same_in_steps(const struct gg_model *m, struct gg_session_params p,
              const struct gg_medium *x, const float *truth)
{
    static const int steps[] = { N, END, 7, 1 };
    struct gg_session *s = new_session(m, p);
    bool good = true;
    float got[V];

    put_rows(s, x);
    for (int i = 0; i < 4; i++) {
        if (x->blocks && steps[i] < END)
            continue;
        last_logits(s, row_ids, steps[i], got);
        good = good && same(got, truth);
    }
    gg_session_free(s);
    return good;
}

static void
check_cache(const struct gg_model *m, enum gg_cache_type type, const char *name)
{
    static const int batches[] = { 512, 13 }, threads[] = { 1, 3 };
    struct gg_session_params p = { .n_ctx = 64, .cache_type = type };
    struct gg_medium x = medium_of(m, rows, ROWS, 1), block = x;
    int32_t blocks[ROWS] = { 0 };
    bool tokens = true, whole = true;
    float truth[V], seen[V];
    struct gg_session *s = new_session(m, p);
    char title[80];

    memset(block.hash, 2, sizeof(block.hash));
    block.blocks = blocks;
    last_logits(s, ids, N, truth);
    put_rows(s, &block);
    last_logits(s, row_ids, N, seen);
    gg_session_free(s);
    for (int i = 0; i < 4; i++) {
        p.n_batch = batches[i / 2];
        p.n_threads = threads[i % 2];
        tokens = tokens && same_in_steps(m, p, &x, truth);
        whole = whole && same_in_steps(m, p, &block, seen);
    }
    snprintf(title, sizeof(title), "%s: rows are as tokens", name);
    ok(tokens, title);
    snprintf(title, sizeof(title), "%s: a block is the same in any batch",
             name);
    ok(whole && !same(seen, truth), title);
}

static void
check_caches(const struct gg_model *m)
{
    check_cache(m, GG_CACHE_F16, "f16");
    check_cache(m, GG_CACHE_F32, "f32");
    check_cache(m, GG_CACHE_BF16, "bf16");
    check_cache(m, GG_CACHE_Q8_0, "q8_0");
    check_cache(m, GG_CACHE_Q5_0, "q5_0");
    check_cache(m, GG_CACHE_Q4_0, "q4_0");
}

/* ---- states -------------------------------------------------------------- */

/* A state of the first n ids, of a session with media in the order `media`. */
static void
save_first(const struct gg_model *m, const struct gg_medium *x, int n,
           const char *path)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    struct gg_state_sequence q = { .ids = row_ids,
                                   .n_ids = (size_t)n,
                                   .n_held = (size_t)n };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    float out[V];

    put_rows(s, x);
    eval_ids(s, 0, row_ids, 0, n, out);
    must(gg_session_save(s, &state, path, &err));
    gg_session_free(s);
}

/* Goes on in a session in which another medium came first. */
static bool
goes_on(const struct gg_model *m, const struct gg_medium *other,
        const struct gg_medium *x, const char *path, int n, float *out)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    struct gg_state_file *f;
    int32_t first;
    bool good;

    must(gg_session_add_rows(s, other, &first, &err));
    put_rows(s, x);
    must(gg_state_open(path, s, &f, &err));
    good = gg_session_load(s, 0, f, 0) == n &&
           !memcmp(gg_state_get(f)->sequences[0].ids, row_ids,
                   (size_t)n * sizeof(*row_ids));
    gg_state_close(f);
    if (good)
        eval_ids(s, 0, row_ids, n, N, out);
    gg_session_free(s);
    return good;
}

/* In front of the rows, amid them, at their end, and after them. */
static void
check_states(const struct gg_model *m)
{
    static const int places[] = { FROM, FROM + 5, END, END + 9 };
    struct gg_medium x = medium_of(m, rows, ROWS, 1);
    struct gg_medium other = medium_of(m, rows, ROWS - 2, 2);
    const char *path = scratch_file("state");
    bool good = true;
    float truth[V], got[V];
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_ctx = 64 });

    last_logits(s, ids, N, truth);
    gg_session_free(s);
    for (int i = 0; i < 4; i++) {
        save_first(m, &x, places[i], path);
        good = good && goes_on(m, &other, &x, path, places[i], got) &&
               same(got, truth);
    }
    ok(good, "states in front of rows, amid and after them go on");
}

/* ---- media that are wrong ------------------------------------------------ */

static uint32_t seed = 1;

static uint32_t
draw(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

/* Numbers that one medium is made of. */
struct parts {
    float rows[2 * ROWS * 64], deeper[3 * ROWS * 64];
    int32_t blocks[ROWS], positions[3 * ROWS];
};

/* A medium with a fault, or with none. */
static struct gg_medium
odd_medium(const struct gg_model *m, struct parts *p)
{
    static const int32_t odd[] = { INT32_MIN, -1, 0, 1, 1 << 20, INT32_MAX };
    struct gg_medium x = medium_of(m, p->rows, ROWS, 1 + (int)draw(4));

    memcpy(p->rows, rows, ROWS * x.width * sizeof(*rows));
    memcpy(p->deeper, rows, ROWS * x.width * sizeof(*rows));
    for (int i = 0; i < ROWS; i++)
        p->blocks[i] = odd[draw(6)];
    for (int i = 0; i < 3 * ROWS; i++)
        p->positions[i] = odd[draw(6)];
    switch (draw(12)) {
    case 0:
        x.n = draw(2) ? 0 : SIZE_MAX / 8;
        break;
    case 1:
        x.n = 1 + draw(ROWS);
        break;
    case 2:
        x.width = draw(2) ? 0 : x.width + 1;
        break;
    case 3:
        x.width = SIZE_MAX / 4;
        break;
    case 4:
        x.rows = NULL;
        break;
    case 5:
        p->rows[draw(ROWS * 64)] = draw(2) ? (float)NAN : INFINITY;
        break;
    case 6:
        x.blocks = p->blocks;
        break;
    case 7:
        x.positions = p->positions;
        break;
    case 8:
        x.n_deeper = 1 + draw(3);
        break;
    case 9:
        x.n_deeper = 1;
        x.deeper = p->deeper;
        break;
    case 10:
        x.n_deeper = SIZE_MAX / 64;
        x.deeper = p->deeper;
        break;
    case 11:
        x.reserved[draw(4)] = 1;
        break;
    }
    return x;
}

/* Ids that no session takes, or that one may. */
static enum gg_status
eval_odd(struct gg_session *s, int32_t last)
{
    int32_t list[5], n = 1 + (int32_t)draw(5);
    struct gg_chunk c = { .ids = list, .n = (size_t)n };
    enum gg_status st;

    for (int32_t i = 0; i < n; i++)
        list[i] = draw(3) ? V + (int32_t)draw((uint32_t)(last - V + 3)) - 1
                          : (int32_t)draw(V);
    gg_session_truncate(s, 0, 0);
    st = gg_session_eval(s, &c, 1, &err);
    return st;
}

/* A session says what is wrong with any media, or goes on as one that has been
 * given the tokens alone. */
static void
check_hostile(const struct gg_model *m)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_ctx = 64, .n_batch = 9 });
    struct parts *p = calloc(1, sizeof(*p));
    bool told = true, good = true;
    int taken = 0, refused = 0, evaluated = 0;
    int32_t last = V;
    float truth[V], got[V];

    last_logits(s, ids, N, truth);
    for (int i = 0; i < 600; i++) {
        struct gg_medium x = odd_medium(m, p);
        int32_t first = -1;
        enum gg_status st;

        err.message[0] = '\0';
        st = gg_session_add_rows(s, &x, &first, &err);
        taken += st == GG_OK;
        refused += st != GG_OK;
        if (st == GG_OK && first + (int32_t)x.n > last)
            last = first + (int32_t)x.n;
        told = told && (st == GG_OK ? first >= V : err.message[0] != '\0') &&
               (st == GG_OK || st == GG_ERR_ARG || st == GG_ERR_UNSUPPORTED);
        st = eval_odd(s, last);
        evaluated += st == GG_OK;
        told = told && (st == GG_OK || st == GG_ERR_ARG);
        if (i % 60)
            continue;
        last_logits(s, ids, N, got);
        good = good && same(got, truth);
    }
    printf("# %d taken, %d refused, %d evaluated\n", taken, refused, evaluated);
    ok(told && taken > 9 && refused > 99 && evaluated > 99,
       "media that are wrong are refused in words");
    ok(good, "and the session goes on as before");
    free(p);
    gg_session_free(s);
}

static void
check_null(const struct gg_model *m)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    struct gg_medium x = medium_of(m, rows, ROWS, 1);
    int32_t first;

    ok(gg_session_add_rows(NULL, &x, &first, &err) == GG_ERR_ARG &&
           gg_session_add_rows(s, NULL, &first, &err) == GG_ERR_ARG &&
           gg_session_add_rows(s, &x, NULL, &err) == GG_ERR_ARG,
       "null pointers are refused");
    gg_session_free(s);
}

int
main(void)
{
    struct gg_model *m = new_model(
        &(struct model_spec){ "llama", .n_head = 2, .seed = 3, .n_ctx = 64 });

    fill_ids(ids, N);
    rows = copies_of(m, ids + FROM, ROWS);
    check_caches(m);
    check_states(m);
    check_hostile(m);
    check_null(m);
    free(rows);
    gg_model_free(m);
    return tap_done();
}
