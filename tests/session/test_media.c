/* test_media.c - rows in the place of embeddings: copies of what stands after
 * the embedding's scale and norm give the tokens' own bytes */
#include <config.h>

#include <dirent.h>
#include <math.h>

#include "fixtures/folder_case.h"
#include "fixtures/ranks.h"
#include "media_test.h"

enum {
    N = 60,
    FROM = 20, /* the first that rows take the place of, */
    ROWS = 12, /* and how many */
    END = FROM + ROWS,
};

static int32_t ids[N];     /* tokens */
static int32_t row_ids[N]; /* with rows among them */

static int32_t
add(struct gg_session *s, const struct gg_medium *x)
{
    int32_t first;

    must(gg_session_add_rows(s, x, &first, &err));
    return first;
}

/* row_ids: ids[FROM..END) are rows from `first` on. */
static void
put_rows(int32_t first)
{
    memcpy(row_ids, ids, sizeof(ids));
    for (int32_t i = 0; i < ROWS; i++)
        row_ids[FROM + i] = first + i;
}

/* Logits of all ids, when they come `step` at a time. */
static float *
all_logits(struct gg_session *s, const int32_t *list, int step)
{
    size_t row = V;
    float *out = calloc(N * row, sizeof(*out));

    gg_session_truncate(s, 0, 0);
    for (int i = 0; i < N; i += step) {
        int n = i + step < N ? step : N - i;
        struct gg_chunk c = { .ids = list + i, .n = (size_t)n };

        c.rows.n_last = (size_t)n;
        c.rows.logits = out + (size_t)i * row;
        must(gg_session_eval(s, &c, 1, &err));
    }
    return out;
}

static bool
all_same(const float *a, float *b)
{
    bool good = !memcmp(a, b, N * V * sizeof(*a));

    free(b);
    return good;
}

/* ---- families ------------------------------------------------------------ */

static void
ok_of(const char *name, const char *what, bool good)
{
    char title[160];

    snprintf(title, sizeof(title), "%s: %s", name, what);
    ok(good, title);
}

/* One at a time, in batches, and all at once. */
static void
check_steps(const char *name, const struct gg_model *m,
            const struct gg_medium *x)
{
    static const int batches[] = { 512, 7 };
    bool good = true;

    for (int i = 0; i < 2; i++) {
        struct gg_session *s =
            new_session(m, (struct gg_session_params){ .n_batch = batches[i],
                                                       .n_ctx = 64 });
        float *truth = all_logits(s, ids, N);

        put_rows(add(s, x));
        good = good && all_same(truth, all_logits(s, row_ids, N));
        good = good && all_same(truth, all_logits(s, row_ids, 1));
        good = good && all_same(truth, all_logits(s, row_ids, 5));
        good = good && all_same(truth, all_logits(s, ids, 9));
        free(truth);
        gg_session_free(s);
    }
    ok_of(name, "copies of embeddings give the tokens' bytes", good);
}

/* The token that a row of a medium counts as, where the model reads ids after
 * their embeddings, too; -1: it does not. */
static int32_t
counts_as(const struct model *m)
{
    if (m->hp.ngrams.n > 0)
        return m->hp.ngrams.medium;
    if (m->layer_embd || m->hp.n_hash > 0 || m->hp.switches.n > 0)
        return m->hp.pad;
    return -1;
}

static void
check_model(const char *name, const struct gg_model *m)
{
    struct gg_medium x;
    float *rows;

    if (m->model->hp.encoder || m->model->hp.n_encoder > 0)
        return;
    fill_ids(ids, N);
    for (int i = FROM; i < END && counts_as(m->model) >= 0; i++)
        ids[i] = counts_as(m->model);
    rows = copies_of(m, ids + FROM, ROWS);
    x = medium_of(m, rows, ROWS, 1);
    check_steps(name, m, &x);
    free(rows);
}

static void
check_family(const char *name)
{
    struct model_spec spec;
    struct gg_model *m;

    if (!models_named(name, &spec))
        exit(99);
    m = new_model(&spec);
    check_model(name, m);
    gg_model_free(m);
}

/* MTP layers read rows, too. */
static void
check_mtp(void)
{
    struct gg_model_params params = { .mtp = true };
    struct model_spec spec;
    struct gg_model *m;

    if (!models_named("qwen35mtp-f32", &spec) ||
        !models_write(&spec, scratch_path()))
        exit(99);
    must(gg_model_open(scratch_path(), &params, &m, &err));
    check_model("with MTP layers", m);
    gg_model_free(m);
}

static void
check_families(void)
{
    const char *family;
    char name[80];

    for (size_t i = 0; (family = models_any_family(i)); i++) {
        struct model_spec spec;

        snprintf(name, sizeof(name), "%s-f32", family);
        if (models_named(name, &spec) && spec.part != MODELS_MTP)
            check_family(name);
    }
}

#ifdef HAVE_JANSSON
static void
check_case(const char *folder, const char *name)
{
    const char *to = scratch_file(name);
    struct folder_case c;
    struct gg_model *m;
    char path[1200];

    snprintf(path, sizeof(path), "%s/%s.case", folder, name);
    folder_case_write(path, scratch_path(), to, &c);
    must(gg_model_open(to, NULL, &m, &err));
    check_model(name, m);
    gg_model_free(m);
}

static void
check_cases(void)
{
    const char *source = getenv("top_srcdir");
    struct dirent **list;
    char folder[900];
    int n;

    snprintf(folder, sizeof(folder), "%s/tests/fixtures/families",
             source ? source : "..");
    n = scandir(folder, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char *end = strstr(list[i]->d_name, ".case");

        if (end) {
            *end = '\0';
            check_case(folder, list[i]->d_name);
        }
        free(list[i]);
    }
    ok(n > 2, "there are cases");
    if (n >= 0)
        free(list);
}
#else
static void
check_cases(void)
{
    puts("# families that come as folders: built without Jansson");
}
#endif

/* ---- blocks -------------------------------------------------------------- */

static float *rows;

/* The model, and rows of ids[FROM..END). */
static struct gg_model *
open_named(const char *name)
{
    struct model_spec spec;
    struct gg_model *m;

    if (!models_named(name, &spec))
        exit(99);
    m = new_model(&spec);
    fill_ids(ids, N);
    free(rows);
    rows = copies_of(m, ids + FROM, ROWS);
    return m;
}

/* Before the block all is as it was; of it and after it nothing. */
static void
check_blocks(const char *name)
{
    struct gg_model *m = open_named(name);
    struct gg_session *s = new_session(
        m, (struct gg_session_params){ .n_batch = 15, .n_ctx = 64 });
    struct gg_medium x = medium_of(m, rows, ROWS, 2);
    int32_t blocks[ROWS] = { 0 };
    float *truth = all_logits(s, ids, N), *first;

    x.blocks = blocks;
    put_rows(add(s, &x));
    first = all_logits(s, row_ids, N);
    ok_of(name, "a block changes nothing in front of it",
          !memcmp(first, truth, FROM * V * sizeof(*first)));
    ok_of(name, "its first row sees the others",
          !same(first + FROM * V, truth + FROM * V));
    ok_of(name, "its batches may end anywhere else",
          all_same(first, all_logits(s, row_ids, FROM + ROWS)) &&
              all_same(first, all_logits(s, row_ids, END / 2 * 2)));
    gg_session_free(s);
    s = new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    for (int i = 0; i < ROWS; i++)
        blocks[i] = i; /* each alone: they see as tokens do */
    put_rows(add(s, &x));
    ok_of(name, "blocks of one row are as tokens",
          all_same(truth, all_logits(s, row_ids, 7)));
    free(first);
    free(truth);
    gg_session_free(s);
    gg_model_free(m);
}

/* A block is whole, in a chunk as in a slot. */
static void
check_edges(void)
{
    struct gg_model *m = open_named("llama-f32");
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_slots = 2, .n_ctx = 64 });
    struct gg_medium x = medium_of(m, rows, ROWS, 2);
    int32_t blocks[ROWS] = { 0 };
    struct gg_chunk c = { .ids = row_ids };
    bool refused = true;

    x.blocks = blocks;
    put_rows(add(s, &x));
    for (int n = FROM + 1; n < END; n++) {
        c.n = (size_t)n;
        refused = refused && gg_session_eval(s, &c, 1, &err) == GG_ERR_ARG;
    }
    ok(refused && strstr(err.message, "not whole"),
       "a part of a block is refused");
    c.n = N;
    must(gg_session_eval(s, &c, 1, &err));
    ok(gg_session_copy(s, 1, 0, FROM + 5) == FROM &&
           gg_session_copy(s, 1, 0, END) == END,
       "copies end at a block's edge");
    ok(gg_session_truncate(s, 0, END - 1) == FROM,
       "what is cut ends at a block's edge");
    gg_session_free(s);
    gg_model_free(m);
}

static void
check_refused(void)
{
    struct gg_model *m = open_named("llama-f32");
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_batch = 8, .n_ctx = 64 });
    struct gg_medium x = medium_of(m, rows, ROWS, 2), y;
    int32_t blocks[ROWS] = { 0 }, positions[3 * ROWS] = { 0 }, first, again;
    int32_t after = V + ROWS;
    struct gg_chunk c = { .ids = &after, .n = 1 };

    must(gg_session_add_rows(s, &x, &first, &err));
    must(gg_session_add_rows(s, &x, &again, &err));
    ok(first == V && again == V, "the same medium has the same ids");
    ok(gg_session_eval(s, &c, 1, &err) == GG_ERR_ARG,
       "an id after the last row is refused");
    y = x;
    y.n = ROWS - 1;
    ok(gg_session_add_rows(s, &y, &again, &err) == GG_ERR_ARG,
       "other rows with the same hash are refused");
    y = x;
    y.width--;
    ok(gg_session_add_rows(s, &y, &again, &err) == GG_ERR_ARG,
       "rows of another width are refused");
    y = medium_of(m, rows, ROWS, 3);
    y.blocks = blocks;
    ok(gg_session_add_rows(s, &y, &again, &err) == GG_ERR_ARG,
       "a block that is longer than a batch is refused");
    y.blocks = NULL;
    y.positions = positions;
    ok(gg_session_add_rows(s, &y, &again, &err) == GG_ERR_UNSUPPORTED,
       "positions that the model has no place for are refused");
    y.positions = NULL;
    y.n_deeper = (size_t)m->model->hp.n_layer;
    y.deeper = rows;
    ok(gg_session_add_rows(s, &y, &again, &err) == GG_ERR_UNSUPPORTED,
       "rows after layers that there are not are refused");
    rows[3] = (float)NAN;
    y.n_deeper = 0;
    ok(gg_session_add_rows(s, &y, &again, &err) == GG_ERR_ARG,
       "a value that is no number is refused");
    gg_session_free(s);
    gg_model_free(m);
}

/* ---- positions in time, height and width --------------------------------- */

static void
give_sections(struct gguf_context *g)
{
    static const int32_t sections[4] = { 4, 2, 2, 0 };

    gguf_set_arr_data(g, "qwen2.rope.dimension_sections", GGUF_TYPE_INT32,
                      sections, 4);
}

/* Positions of text are the same three times; what follows a picture goes on
 * after its largest. */
static void
check_positions(void)
{
    struct model_spec spec;
    struct gg_model *m;
    struct gg_session *s;
    int32_t p[3 * ROWS];
    struct gg_medium x;
    float *truth, *flat;

    if (!models_named("qwen2-f32", &spec))
        exit(99);
    spec.spoil = give_sections;
    m = new_model(&spec);
    fill_ids(ids, N);
    free(rows);
    rows = copies_of(m, ids + FROM, ROWS);
    s = new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    truth = all_logits(s, ids, N);
    for (int i = 0; i < 3 * ROWS; i++)
        p[i] = i / 3;
    x = medium_of(m, rows, ROWS, 1);
    x.positions = p;
    put_rows(add(s, &x));
    ok(all_same(truth, all_logits(s, row_ids, N)) &&
           all_same(truth, all_logits(s, row_ids, 7)),
       "positions that are those of text give the same bytes");
    for (int i = 0; i < ROWS; i++) {
        p[3 * i] = 0;
        p[3 * i + 1] = i / 4;
        p[3 * i + 2] = i % 4;
    }
    x = medium_of(m, rows, ROWS, 2);
    x.positions = p;
    put_rows(add(s, &x));
    flat = all_logits(s, row_ids, N);
    ok(memcmp(truth, flat, N * V * sizeof(*flat)) &&
           !memcmp(truth, flat, (FROM + 1) * V * sizeof(*flat)),
       "those of a picture do not, from its second row on");
    ok(all_same(flat, all_logits(s, row_ids, 1)) &&
           all_same(flat, all_logits(s, row_ids, 9)),
       "in any steps the same");
    free(truth);
    free(flat);
    gg_session_free(s);
    gg_model_free(m);
}

/* ---- rows after layers --------------------------------------------------- */

static void
check_deeper(void)
{
    struct gg_model *m = open_named("llama-f32");
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    size_t n = ROWS * (size_t)gg_model_n_embd(m);
    float *deeper = calloc(n, sizeof(*deeper));
    struct gg_medium x = medium_of(m, rows, ROWS, 1);
    float *truth = all_logits(s, ids, N), *other;

    x.deeper = deeper;
    x.n_deeper = 1;
    put_rows(add(s, &x));
    ok(all_same(truth, all_logits(s, row_ids, N)),
       "zeros after a layer change nothing");
    for (size_t i = 0; i < n; i++)
        deeper[i] = rows[i];
    x = medium_of(m, rows, ROWS, 2);
    x.deeper = deeper;
    x.n_deeper = 1;
    put_rows(add(s, &x));
    other = all_logits(s, row_ids, N);
    ok(!memcmp(truth, other, FROM * V * sizeof(*other)) &&
           !same(truth + FROM * V, other + FROM * V),
       "others do, from the first row on");
    ok(all_same(other, all_logits(s, row_ids, 1)), "in any steps the same");
    free(other);
    free(truth);
    free(deeper);
    gg_session_free(s);
    gg_model_free(m);
}

/* ---- scores -------------------------------------------------------------- */

static void
check_scores(void)
{
    struct gg_model *m = open_named("llama-f32");
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    struct gg_medium x = medium_of(m, rows, ROWS, 1);
    float truth[N - 1], got[N - 1];
    struct gg_chunk c = { .ids = ids, .n = N, .scores.logprobs = truth };
    bool good = true;

    put_rows(add(s, &x));
    must(gg_session_eval(s, &c, 1, &err));
    gg_session_truncate(s, 0, 0);
    c.ids = row_ids;
    c.scores.logprobs = got;
    must(gg_session_eval(s, &c, 1, &err));
    for (int i = 1; i < N; i++)
        good = good && got[i - 1] == (i >= FROM && i < END ? 0 : truth[i - 1]);
    ok(good, "rows are not scored, and all others as they were");
    gg_session_truncate(s, 0, 0);
    c.n = FROM;
    c.scores.next = row_ids + FROM;
    ok(gg_session_eval(s, &c, 1, &err) == GG_ERR_ARG,
       "a row's probability is refused");
    gg_session_free(s);
    gg_model_free(m);
}

/* ---- states ---------------------------------------------------------------
 */

static void
save_rows(struct gg_session *s, const char *path)
{
    struct gg_state_sequence q = { .ids = row_ids, .n_ids = N, .n_held = END };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    struct gg_chunk c = { .ids = row_ids, .n = END };

    gg_session_truncate(s, 0, 0);
    must(gg_session_eval(s, &c, 1, &err));
    must(gg_session_save(s, &state, path, &err));
}

/* Goes on where rows have other numbers. */
static bool
goes_on(struct gg_session *s, const struct gg_state_file *f, const float *truth)
{
    const struct gg_state_sequence *q = &gg_state_get(f)->sequences[0];
    float out[V];

    return q->n_ids == N && !memcmp(q->ids, row_ids, sizeof(row_ids)) &&
           gg_session_load(s, 0, f, 0) == END &&
           (eval_ids(s, 0, q->ids, END, N, out), same(out, truth)) &&
           gg_session_truncate(s, 0, END - 1) == FROM;
}

static void
check_states(void)
{
    struct gg_model *m = open_named("llama-f32");
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    struct gg_medium x = medium_of(m, rows, ROWS, 1), other = x, loose = x;
    int32_t blocks[ROWS] = { 0 };
    const char *path = scratch_file("state");
    struct gg_state_file *f;
    float *truth;

    x.blocks = blocks;
    memset(other.hash, 2, sizeof(other.hash));
    put_rows(add(s, &x));
    truth = all_logits(s, row_ids, N);
    save_rows(s, path);
    gg_session_free(s);
    s = new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    add(s, &loose);
    ok(gg_state_open(path, s, &f, &err) == GG_ERR_UNSUPPORTED &&
           strstr(err.message, "0101010101"),
       "a state of rows that are others here is refused");
    gg_session_free(s);
    s = new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    add(s, &other);
    put_rows(add(s, &x));
    must(gg_state_open(path, s, &f, &err));
    ok(row_ids[FROM] == V + ROWS && goes_on(s, f, truth + (N - 1) * V),
       "where rows have other numbers, a state gets these, and goes on");
    gg_state_close(f);
    gg_session_free(s);
    free(truth);
    gg_model_free(m);
}

/* ---- ranks --------------------------------------------------------------- */

static void
check_ranks(const char *name)
{
    struct gg_model *one = open_named(name), *m;
    struct gg_session *s =
        new_session(one, (struct gg_session_params){ .n_ctx = 64 });
    struct gg_medium x = medium_of(one, rows, ROWS, 1);
    int32_t blocks[ROWS] = { 0 };
    float *deeper = calloc(ROWS * x.width, sizeof(*deeper)), *truth, *got;

    memcpy(deeper, rows, ROWS * x.width * sizeof(*deeper));
    x.blocks = blocks;
    x.deeper = deeper;
    x.n_deeper = 1;
    put_rows(add(s, &x));
    truth = all_logits(s, row_ids, N);
    gg_session_free(s);
    ranks_begin(2, NULL, scratch_path());
    ranks_start();
    must(ranks_open(&m, &err));
    s = new_session(m, (struct gg_session_params){ .n_ctx = 64 });
    put_rows(add(s, &x));
    got = all_logits(s, row_ids, N);
    ok_of(name, "two ranks give the bytes of one",
          !memcmp(got, truth, N * V * sizeof(*got)) &&
              all_same(got, all_logits(s, row_ids, FROM + ROWS)));
    gg_session_free(s);
    gg_model_free(m);
    ok_of(name, "and the other one was served well", ranks_end() == 1);
    free(got);
    free(truth);
    free(deeper);
    gg_model_free(one);
}

int
main(void)
{
    check_blocks("llama-f32");
    check_blocks("gemma3-f32");
    check_edges();
    check_refused();
    check_positions();
    check_deeper();
    check_scores();
    check_states();
    check_ranks("llama-f32");
    check_ranks("gemma2-f32");
    check_mtp();
    check_families();
    check_cases();
    free(rows);
    return tap_done();
}
