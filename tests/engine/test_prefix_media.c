/* test_prefix_media.c - the prefix cache with rows of media among the ids: the
 * same logits with it, however sessions number media; other media, or the same
 * with another layout, are not found */
#include "prefix_test.h"

enum {
    MEDIA = 3,
    ROWS = 30,
    ROW = 1000, /* what stands for row r of medium k is ROW * (1 + k) + r */
    PROMPTS = 9,
    WIDEST = 256,
};

/* Media that each session gets, in an order that changes. */
struct its {
    float rows[ROWS * WIDEST], deeper[ROWS * WIDEST];
    int32_t positions[3 * ROWS], blocks[ROWS];
    struct gg_medium medium;
};

static struct its media[MEDIA];
static int n_media = MEDIA;
static bool forget;
static int32_t numbered[MOST];

/* Positions of a picture of ROWS / 5 x 5; blocks of 12 rows. */
static void
make_media(size_t width, bool positions, bool blocks, bool deeper)
{
    for (int k = 0; k < MEDIA; k++) {
        struct its *x = &media[k];

        x->medium = (struct gg_medium){ .n = ROWS, .width = width };
        memset(x->medium.hash, k + 1, sizeof(x->medium.hash));
        for (size_t i = 0; i < ROWS * width; i++)
            x->rows[i] = (float)random_below(2001) / 1000 - 1;
        for (size_t i = 0; i < ROWS * width; i++)
            x->deeper[i] = (float)random_below(2001) / 1000 - 1;
        for (int i = 0; i < ROWS; i++) {
            x->positions[3 * i] = 0;
            x->positions[3 * i + 1] = i / 5;
            x->positions[3 * i + 2] = i % 5;
            x->blocks[i] = i < 24 ? i / 12 : -1;
        }
        x->medium.rows = x->rows;
        x->medium.deeper = deeper ? x->deeper : NULL;
        x->medium.n_deeper = deeper;
        x->medium.positions = positions ? x->positions : NULL;
        x->medium.blocks = blocks ? x->blocks : NULL;
    }
}

static const int32_t *
number(struct gg_session *s, const int32_t *its_ids, size_t n)
{
    int32_t first[MEDIA];
    int begin = (int)random_below(MEDIA);

    for (int i = 0; i < n_media; i++) {
        int k = (begin + i) % n_media;

        must(gg_session_add_rows(s, &media[k].medium, &first[k], &err));
    }
    for (size_t i = 0; i < n; i++)
        numbered[i] = its_ids[i] < ROW
                          ? its_ids[i]
                          : first[its_ids[i] / ROW - 1] + its_ids[i] % ROW;
    return numbered;
}

static void
put_medium(size_t at, int k)
{
    for (int i = 0; i < ROWS; i++)
        ids[at + (size_t)i] = ROW * (1 + k) + i;
}

/* The most of the first n ids that do not end in a block. */
static size_t
edge(size_t n)
{
    while (n > 0 && ids[n - 1] >= ROW && ids[n - 1] % ROW < 24 &&
           ids[n - 1] % ROW % 12 != 11)
        n--;
    return n;
}

/* Media come at random places from there on, no two in one another. */
static void
change_with_media(size_t from)
{
    size_t at = from;

    change_from(from);
    while ((at += random_below(200)) + ROWS < MOST) {
        put_medium(at, (int)random_below(MEDIA));
        at += ROWS;
    }
}

/* ---- the same logits ----------------------------------------------------- */

static void
give_sections(struct gguf_context *g)
{
    static const int32_t sections[4] = { 4, 2, 2, 0 };

    gguf_set_arr_data(g, "qwen2.rope.dimension_sections", GGUF_TYPE_INT32,
                      sections, 4);
}

static struct gg_model *
model_of(const char *name, struct model_spec *spec)
{
    if (!models_named(name, spec))
        exit(99);
    if (!strcmp(name, "qwen2-f32"))
        spec->spoil = give_sections;
    spec->n_ctx = MOST + 300;
    return new_model(spec);
}

static void
check_same(const char *name, bool positions, bool blocks, bool deeper)
{
    struct cached with,
        without = { .session = { .n_ctx = MOST }, .number = number };
    struct model_spec spec;
    struct gg_model *m = model_of(name, &spec);
    float truth[V], out[V];
    uint64_t found = 0;
    bool all = true;
    char title[120];

    make_media((size_t)gg_model_n_embd(m), positions, blocks, deeper);
    new_folder();
    change_with_media(0);
    for (int i = 0; i < PROMPTS && all; i++) {
        size_t n = edge(200 + random_below(MOST - 200));

        with = (struct cached){ .session = random_params(13),
                                .number = number,
                                .prefixes.folder = folder };
        run_prompt(m, &without, ids, n, truth);
        run_prompt(m, &with, ids, n, out);
        found += with.n_cached;
        all = same(out, truth);
        change_with_media(edge(n - random_below(150)));
    }
    snprintf(title, sizeof(title), "%s%s%s%s: the same logits", name,
             positions ? ", positions" : "", blocks ? ", blocks" : "",
             deeper ? ", deeper rows" : "");
    printf("# %d ids from %d files\n", (int)found, count_files(NULL));
    ok(all && found > 0, title);
    gg_model_free(m);
}

/* ---- how much is found --------------------------------------------------- */

static struct cached
cached_prompt(void)
{
    return (struct cached){ .session = { .n_ctx = MOST },
                            .number = number,
                            .prefixes.folder = folder };
}

static int
found_of(const struct gg_model *m, size_t n)
{
    float truth[V], out[V];
    struct cached c = cached_prompt();
    struct cached without = { .session = c.session, .number = number };

    run_prompt(m, &without, ids, n, truth);
    run_prompt(m, &c, ids, n, out);
    if (!same(out, truth))
        ok(false, "other logits");
    return (int)c.n_cached;
}

/* One medium from id 150 on, another one from id 350 on. */
static void
fill_prompt(void)
{
    change_from(0);
    put_medium(150, 0);
    put_medium(350, 1);
}

static void
check_found(const struct gg_model *m)
{
    new_folder();
    fill_prompt();
    is(found_of(m, 600), 0, "a prompt with media");
    is(found_of(m, 600), 599, "is found, past its media");
    change_from(400);
    is(found_of(m, 600), 400, "and another one that begins like it");
    put_medium(350, 2);
    is(found_of(m, 600), 350, "or has another medium");
    put_medium(350, 1);
    memmove(ids + 151, ids + 150, 200 * sizeof(*ids));
    ids[150] = 5;
    is(found_of(m, 600), 150, "or has one elsewhere");
}

/* The identity is the same; values, positions or blocks are not. */
static void
check_others(const struct gg_model *m)
{
    struct its *x = &media[0];
    float value = x->rows[7];

    new_folder();
    fill_prompt();
    is(found_of(m, 600), 0, "media of one identity");
    x->rows[7] += 1;
    is(found_of(m, 600), 150, "with another value");
    x->rows[7] = value;
    is(found_of(m, 600), 599, "with the same values");
    x->medium.blocks = x->blocks;
    is(found_of(m, 600), 150, "with blocks");
    is(found_of(m, 600), 599, "whose rows are found then");
    change_from(400);
    put_medium(160, 0);
    put_medium(150, 0);
    x->medium.blocks = NULL;
    x->medium.hash[3]++;
    is(found_of(m, 600), 150, "another identity");
    x->medium.hash[3]--;
}

/* A prompt that ends in a piece's block goes on before the block. */
static void
check_edges(const struct gg_model *m)
{
    int32_t next;

    make_media((size_t)gg_model_n_embd(m), false, true, false);
    new_folder();
    fill_prompt();
    is(found_of(m, 600), 0, "a prompt with blocks");
    next = ids[374];
    is(found_of(m, 374), 362, "its last row is that of a block");
    ids[374] = next == 3 ? 4 : 3;
    is(found_of(m, 375), 374, "a text after a block");
}

/* Values come, are hashed or not, and go. */
static const int32_t *
number_and_forget(struct gg_session *s, const int32_t *its_ids, size_t n)
{
    const int32_t *list = number(s, its_ids, n);

    for (size_t i = 0; i < n; i++)
        if (forget && list[i] >= V && its_ids[i] % ROW == 0)
            gg_session_forget_rows(s, list[i]);
    return list;
}

/* Files name media that the session does not have, and stay. */
static void
check_absent(const struct gg_model *m)
{
    struct cached c = cached_prompt();
    float out[V];
    int n;

    make_media((size_t)gg_model_n_embd(m), false, false, false);
    new_folder();
    fill_prompt();
    is(found_of(m, 600), 0, "a prompt");
    n = count_files(NULL);
    change_from(150);
    n_media = 0;
    is(found_of(m, 300), 150, "the text before media that are not here");
    n_media = MEDIA;
    ok(count_files(NULL) >= n, "no file is removed");
    fill_prompt();
    forget = true;
    c.number = number_and_forget;
    is(try_prompt(m, &c, ids, 600, out), GG_ERR_ARG,
       "rows without values are not evaluated");
    forget = false;
}

int
main(void)
{
    struct gg_model *m;
    struct model_spec spec;

    check_same("llama-f32", false, false, false);
    check_same("llama-f32", false, true, true);
    check_same("gemma3-f32", false, true, false);
    check_same("qwen35-f32", false, true, true);
    check_same("qwen2-f32", true, false, true);
    check_same("mamba2-f32", false, true, false);
    m = model_of("llama-f32", &spec);
    make_media((size_t)gg_model_n_embd(m), false, false, false);
    check_found(m);
    check_others(m);
    check_edges(m);
    check_absent(m);
    gg_model_free(m);
    return tap_done();
}
