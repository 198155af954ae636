/* test_media_held.c - rows that a session does not have, or not any more: what
 * slots hold of them goes on, and nothing of them is evaluated */
#include <config.h>

#include "media_test.h"

#include <gguf.h>

enum {
    N = 40,
    FROM = 10, /* the first that rows take the place of, */
    ROWS = 8,  /* and how many */
    END = FROM + ROWS,
};

static struct gg_model *model;
static struct gg_medium medium, other;
static int32_t row_ids[N]; /* with rows among them */
static float truth[MODELS_N_VOCAB];

static void
ok_of(const char *name, const char *what, bool good)
{
    char title[160];

    snprintf(title, sizeof(title), "%s: %s", name, what);
    ok(good, title);
}

static struct gg_session *
start(void)
{
    return new_session(model, (struct gg_session_params){ .n_ctx = 64 });
}

static int32_t
add(struct gg_session *s, const struct gg_medium *x)
{
    int32_t first;

    must(gg_session_add_rows(s, x, &first, &err));
    return first;
}

static void
number_rows(int32_t first)
{
    for (int32_t i = 0; i < N; i++)
        row_ids[i] = i >= FROM && i < END ? first + i - FROM : 3 + i;
}

static enum gg_status
eval_all(struct gg_session *s)
{
    struct gg_chunk c = { .ids = row_ids, .n = N };

    gg_session_truncate(s, 0, 0);
    return gg_session_eval(s, &c, 1, &err);
}

/* The ids from number `from` on give the last logits. */
static bool
goes_on(struct gg_session *s, int from)
{
    float out[MODELS_N_VOCAB];

    gg_session_truncate(s, 0, from);
    if (gg_session_length(s, 0) != from)
        return false;
    eval_ids(s, 0, row_ids, from, N, out);
    return same(out, truth);
}

/* ---- states -------------------------------------------------------------- */

static void
save(struct gg_session *s, const char *path)
{
    struct gg_state_sequence q = { .ids = row_ids, .n_ids = N, .n_held = END };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };

    gg_session_truncate(s, 0, END);
    must(gg_session_save(s, &state, path, &err));
}

static void
check_state(const char *name, const char *path)
{
    struct gg_session *s = start();
    struct gg_state_file *f;
    int32_t first;

    add(s, &other);
    must(gg_state_open(path, s, &f, &err));
    number_rows(MODELS_N_VOCAB + ROWS);
    ok_of(name, "ids of a state get the next numbers",
          !memcmp(gg_state_get(f)->sequences[0].ids, row_ids, sizeof(row_ids)));
    ok_of(name, "it goes on without its rows",
          gg_session_load(s, 0, f, 0) == END && goes_on(s, END));
    ok_of(name, "which cannot be evaluated again",
          eval_all(s) == GG_ERR_ARG && strstr(err.message, "01010101"));
    ok_of(name, "until they are given, with the same ids",
          gg_session_add_rows(s, &medium, &first, &err) == GG_OK &&
              first == MODELS_N_VOCAB + ROWS && goes_on(s, 0));
    gg_state_close(f);
    gg_session_free(s);
}

static void
check_others(const char *name, const char *path)
{
    struct gg_medium x = medium;
    struct gg_session *s = start();
    struct gg_state_file *f;

    x.blocks = NULL;
    x.positions = NULL;
    add(s, &x);
    ok_of(name, "a state of rows that see others is refused",
          gg_state_open(path, s, &f, &err) == GG_ERR_UNSUPPORTED &&
              strstr(err.message, "01010101"));
    gg_session_free(s);
}

/* ---- rows that are forgotten --------------------------------------------- */

static void
check_forgotten(const char *name)
{
    struct gg_session *s = start();
    int32_t first = add(s, &medium);

    number_rows(first);
    ok_of(name, "rows give what they give", goes_on(s, 0));
    gg_session_forget_rows(s, first);
    ok_of(name, "what a slot holds of forgotten rows stays",
          goes_on(s, END + 1) && goes_on(s, END));
    ok_of(name, "they are not evaluated", eval_all(s) == GG_ERR_ARG);
    gg_session_forget_rows(s, first);
    ok_of(name, "they come again with the same ids",
          add(s, &medium) == first && goes_on(s, 0));
    gg_session_forget_rows(s, first - 1);
    gg_session_forget_rows(s, first + 1);
    ok_of(name, "an id that begins no medium forgets nothing",
          eval_all(s) == GG_OK);
    gg_session_free(s);
}

static void
give_sections(struct gguf_context *g)
{
    static const int32_t sections[4] = { 4, 2, 2, 0 };

    gguf_set_arr_data(g, "qwen2.rope.dimension_sections", GGUF_TYPE_INT32,
                      sections, 4);
}

static void
check_family(const char *name, bool positions)
{
    const char *path = scratch_file("state");
    struct model_spec spec;
    int32_t blocks[ROWS] = { 0 }, places[3 * ROWS];
    struct gg_session *s;
    float *rows;

    if (!models_named(name, &spec))
        exit(99);
    spec.spoil = positions ? give_sections : NULL;
    model = new_model(&spec);
    number_rows(0);
    for (int i = 0; i < ROWS; i++)
        row_ids[FROM + i] = 3 + FROM + i;
    rows = copies_of(model, row_ids + FROM, ROWS);
    for (int i = 0; i < 3 * ROWS; i++)
        places[i] = i % 3 ? i / 3 % 4 : 0;
    medium = medium_of(model, rows, ROWS, 1);
    other = medium_of(model, rows, ROWS, 2);
    medium.blocks = blocks;
    medium.positions = positions ? places : NULL;
    s = start();
    number_rows(add(s, &medium));
    eval_ids(s, 0, row_ids, 0, N, truth);
    save(s, path);
    gg_session_free(s);
    check_forgotten(name);
    check_state(name, path);
    check_others(name, path);
    free(rows);
    gg_model_free(model);
}

int
main(void)
{
    check_family("llama-f32", false);
    check_family("qwen2-f32", true);
    return tap_done();
}
