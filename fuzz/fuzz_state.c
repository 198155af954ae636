/* fuzz_state.c - files of states: rejected with an error, or valid, and the
 * sequences in them can go on
 *
 * Sums catch what is changed at random, so each input is tried as it is and
 * with its sums put right. */
#include <gg.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/crc32.h"
#include "fuzz.h"
#include "gguf/reader.h"
#include "fixtures/models.h"
#include "harness/scratch.h"
#include "session/impl.h"

const char fuzz_name[] = "state";

enum {
    CTX = 64,
    SLOTS = 2,
    V = MODELS_N_VOCAB,
    ROWS = 6, /* of a medium, of which the first four are a block */
    WIDTH = 32,
};

static struct gg_model *model;
static struct gg_session *session;

static void
check(bool right)
{
    if (!right)
        abort();
}

/* ---- a session ---------------------------------------------------------- */

static void
end(void)
{
    gg_session_free(session);
    gg_model_free(model);
}

static void
add_rows(void)
{
    static float rows[ROWS * WIDTH];
    static const int32_t blocks[ROWS] = { 0, 0, 0, 0, -1, -1 };
    struct gg_medium medium = {
        .n = ROWS, .width = WIDTH, .rows = rows, .blocks = blocks
    };
    int32_t first;

    check(gg_session_add_rows(session, &medium, &first, NULL) == GG_OK &&
          first == V);
}

/* Windowed layers and others; the session serves all inputs. */
static void
start(void)
{
    const struct model_spec spec = { "gemma3",     .n_layer = 2,
                                     .n_ctx = CTX, .n_embd = WIDTH,
                                     .n_ff = 32,   .seed = 1 };
    struct gg_session_params params = gg_session_params_default();
    const char *path = scratch_path();

    if (session)
        return;
    atexit(end);
    check(models_write(&spec, path));
    params.n_slots = SLOTS;
    params.n_threads = 1;
    params.n_batch = 8;
    check(gg_model_open(path, NULL, &model, NULL) == GG_OK);
    unlink(path); /* it stays mapped, and inputs are other files */
    check(gg_session_new(model, &params, &session, NULL) == GG_OK);
    add_rows();
}

/* ---- an input ----------------------------------------------------------- */

static void
check_state(const struct gg_state *s)
{
    check(s->numbered || s->n_sequences <= 1);
    for (size_t i = 0; i < s->n_sequences; i++) {
        const struct gg_state_sequence *q = &s->sequences[i];

        check(q->n_ids > 0 && q->n_held + q->n_pending <= q->n_ids);
        for (size_t k = 0; k < q->n_ids; k++)
            check(q->ids[k] >= 0 && q->ids[k] < session->media.n_ids);
    }
}

/* The first of them goes on, and can be saved. */
static void
go_on(const struct gg_state_file *file)
{
    const struct gg_state *s = gg_state_get(file);
    struct gg_chunk chunk = { .ids = (int32_t[]){ 5 }, .n = 1, .slot = 1 };
    static float logits[V];
    int32_t n;

    check_state(s);
    if (s->n_sequences == 0)
        return;
    n = gg_session_load(session, 1, file, 0);
    check(n == 0 || (size_t)n == s->sequences[0].n_held);
    check(n <= CTX && n == gg_session_length(session, 1));
    chunk.rows.logits = logits;
    if (n < CTX)
        check(gg_session_eval(session, &chunk, 1, NULL) == GG_OK);
}

static void
try(const uint8_t *data, size_t size)
{
    struct gg_state_file *file = NULL;
    struct gg_error err = { "" };
    const char *path = scratch_path();

    fuzz_write(path, data, size);
    if (gg_state_open(path, session, &file, &err) == GG_OK)
        go_on(file);
    else
        check(!file && scratch_names(err.message, path));
    gg_state_close(file);
    gg_session_truncate(session, 1, 0);
    session_media_cut(&session->media, 1); /* what states know of others */
}

/* Puts the sums of what is there in the place of those that are; false: there
 * is none for them. */
static bool
repair(uint8_t *data, size_t size)
{
    const struct gguf_tensor *sums;
    struct gguf_context *g;
    bool good = false;
    int64_t n;

    if (gguf_parse(data, size, NULL, &g, NULL) != GG_OK)
        return false;
    n = gguf_get_n_tensors(g);
    sums = gguf_tensor_named(g, "crc32");
    if (sums && n > 0 && sums->size >= 4 * (size_t)n) {
        uint8_t *to = data + ((const uint8_t *)sums->data - data);
        uint32_t crc = crc32_bytes(0, data, gguf_get_data_offset(g));

        memcpy(to, &crc, 4);
        for (int64_t i = 0; i < n - 1; i++) {
            const struct gguf_tensor *t = gguf_tensor(g, i);

            crc = crc32_bytes(0, t->data, t->size);
            memcpy(to + 4 * (i + 1), &crc, 4);
        }
        good = true;
    }
    gguf_free(g);
    return good;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    start();
    return fuzz_repaired(data, size, try, repair);
}

/* ---- the corpus --------------------------------------------------------- */

static const int32_t ids[40] = { 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233 };
static const struct gg_state_sequence two[] = {
    { 7, 3, ids, 40, 1, 38, 0 },
    { UINT64_MAX, 0, ids + 3, 5, 0, 0, -1 },
};
static const struct gg_state_range gone[] = { { 0, 1 }, { 3, 6 } };
static const struct gg_state_sequence one = { 0, 0, ids, 20, 0, 20, 0 };

static const int32_t with_rows[12] = { 1,     2,     V, V + 1, V + 2, V + 3,
                                       V + 4, V + 5, 3, V,     V + 1, 4 };
static const struct gg_state_sequence media = { 0, 0, with_rows, 12, 0, 9, 1 };

static const struct gg_state states[] = {
    { .sequences = &media, .n_sequences = 1 },
    { .numbered = true,
      .sequences = two,
      .n_sequences = 2,
      .forgotten = gone,
      .n_forgotten = 2 },
    { .sequences = &one,
      .n_sequences = 1,
      .chat = "chatml",
      .date = 1234567890,
      .has_mirostat = true,
      .mirostat = 4.5 },
    { .numbered = true },
};

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    struct gg_chunk chunks[] = {
        { .ids = ids, .n = 38 },
        { .slot = 1, .ids = with_rows, .n = 9 },
    };

    if (i >= sizeof(states) / sizeof(states[0]))
        return NULL;
    start();
    gg_session_truncate(session, 0, 0);
    gg_session_truncate(session, 1, 0);
    check(gg_session_eval(session, chunks, 2, NULL) == GG_OK);
    check(gg_session_save(session, &states[i], scratch_path(), NULL) == GG_OK);
    return fuzz_file(scratch_path(), 0, size);
}
