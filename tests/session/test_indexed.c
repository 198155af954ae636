/* test_indexed.c - models whose attention reads what an indexer chooses: the
 * same bytes however ids come, the memory of the indexer's keys, ranks */
#include <config.h>

#include "fixtures/folder_case.h"
#include "fixtures/ranks.h"
#include "harness/session_test.h"
#include "session/impl.h"
#include "api/model.h"

enum {
    IDS = 700, /* more than a window keeps */
    OTHERS = 90,
    CTX = 1024,
    ALIGNED = 64, /* bytes that a tensor may take more */
};

static int32_t ids[IDS];

/* ---- bytes --------------------------------------------------------------- */

/* Evaluated with another sequence, a few ids of each at a time. */
static void
eval_beside(const struct gg_model *m, float out[V])
{
    const struct gg_session_params params = { .n_ctx = CTX,
                                              .n_slots = 2,
                                              .n_batch = 48 };
    struct gg_session *s = new_session(m, params);
    int done = 0;

    eval_ids(s, 1, ids, 0, OTHERS, NULL);
    for (int i = 0, n; done < IDS; i++, done += n) {
        struct gg_chunk c[2] = { { .slot = 1, .ids = ids + i, .n = 1 + i % 3 },
                                 { .slot = 0, .ids = ids + done } };

        n = 1 + i * 7 % 40;
        n = IDS - done < n ? IDS - done : n;
        c[1].n = (size_t)n;
        c[1].rows.logits = out;
        must(gg_session_eval(s, c, 2, &err));
    }
    gg_session_free(s);
}

static void
check_bytes(const struct gg_model *m, const char *name)
{
    struct gg_session_params one = { .n_ctx = CTX, .n_threads = 1 };
    struct gg_session_params small = { .n_ctx = CTX,
                                       .n_threads = 3,
                                       .n_batch = 5 };
    float truth[V], out[V];
    char text[100];
    bool good;

    in_steps(m, one, ids, IDS, IDS, truth);
    in_steps(m, small, ids, IDS, IDS, out);
    good = same(truth, out);
    in_steps(m, one, ids, 37, IDS, out);
    good = good && same(truth, out);
    eval_beside(m, out);
    snprintf(text, sizeof(text),
             "%s: the same bytes in batches, pieces, by threads, beside others",
             name);
    ok(good && same(truth, out), text);
}

/* Back to an earlier id, and on by others. */
static void
check_back(const struct gg_model *m, const char *name)
{
    const struct gg_session_params params = { .n_ctx = CTX, .n_slots = 2 };
    struct gg_session *s = new_session(m, params);
    int32_t other[IDS];
    float a[V], b[V];

    memcpy(other, ids, sizeof(ids));
    for (int i = IDS - 5; i < IDS; i++)
        other[i] = (ids[i] + 1) % V;
    eval_ids(s, 0, ids, 0, IDS, NULL);
    is(gg_session_truncate(s, 0, IDS - 5), IDS - 5, name);
    eval_ids(s, 0, other, IDS - 5, IDS, a);
    eval_ids(s, 1, other, 0, IDS, b);
    ok(same(a, b), "back to an id and on by others: as from the start");
    gg_session_free(s);
}

/* ---- memory -------------------------------------------------------------- */

static void
check_memory(const struct gg_model *m, const char *name)
{
    const struct gg_session_params params = { .n_ctx = CTX };
    struct gg_session *s = new_session(m, params);
    const struct model_hparams *hp = &m->model->hp;
    struct gg_memory needs;
    size_t sum = 0, most = 0, index = 0;
    bool each = true;

    must(gg_model_memory(m, &params, &needs, &err));
    for (int32_t i = 0; i < hp->n_layer; i++) {
        struct ggml_tensor *const *t = s->cache.layers[i].t;

        each = each && (t[CACHE_INDEX] != NULL) == (hp->layers[i].d_index > 0);
        index += t[CACHE_INDEX] ? ggml_nbytes(t[CACHE_INDEX]) : 0;
        for (int k = 0; k < CACHE_TENSORS; k++)
            sum += t[k] ? ggml_nbytes(t[k]) : 0;
        most += CACHE_TENSORS * ALIGNED;
    }
    ok(each && index > 0, name);
    ok(needs.cache >= sum && needs.cache <= sum + most,
       "memory that is needed has the keys of indexers in it");
    gg_session_free(s);
}

/* ---- ranks --------------------------------------------------------------- */

static void
check_ranks(const char *path, const float truth[V])
{
    const struct gg_session_params params = { .n_ctx = CTX };
    struct gg_model *m;
    float out[V];

    ranks_begin(2, "4,1", path);
    ranks_start();
    must(ranks_open(&m, &err));
    in_steps(m, params, ids, 100, IDS, out);
    gg_model_free(m);
    ok(ranks_end() == 1 && same(truth, out), "ranks compute the same bytes");
    ranks_begin(2, "3,2", path);
    ranks_start();
    ok(ranks_open(&m, &err) != GG_OK &&
           strstr(err.message, "cannot begin with layer 3"),
       "a rank begins with a layer that chooses itself");
    ranks_end();
}

static void
open_case(const char *name, char to[SCRATCH_PATH], struct gg_model **m)
{
    const char *source = getenv("top_srcdir");
    char path[1024];
    struct folder_case c;

    snprintf(path, sizeof(path), "%s/tests/fixtures/families/%s.case",
             source ? source : "..", name);
    snprintf(to, SCRATCH_PATH, "%s", scratch_file(name));
    folder_case_write(path, scratch_path(), to, &c);
    must(gg_model_open(to, NULL, m, &err));
}

/* Keys of blocks; of a table what the ids before say. */
static void
check_blocks(const char *name)
{
    char to[SCRATCH_PATH];
    struct gg_model *m;

    open_case(name, to, &m);
    check_bytes(m, name);
    gg_model_free(m);
}

static void
check_case(const char *name)
{
    const struct gg_session_params params = { .n_ctx = CTX };
    char to[SCRATCH_PATH];
    struct gg_model *m;
    float truth[V];

    open_case(name, to, &m);
    check_bytes(m, name);
    check_back(m, name);
    check_memory(m, name);
    in_steps(m, params, ids, IDS, IDS, truth);
    gg_model_free(m);
    if (!strcmp(name, "glm-dsa"))
        check_ranks(to, truth);
}

int
main(void)
{
#ifndef HAVE_JANSSON
    puts("1..0 # SKIP built without Jansson");
    return 0;
#endif
    fill_ids(ids, IDS);
    check_case("deepseek32");
    check_case("glm-dsa");
    check_case("dots3note");
    check_blocks("qwen4exp");
    return tap_done();
}
