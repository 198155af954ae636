/* arguments_sessions.c - arguments of functions of sessions and their states */
#include "api/arguments.h"

/* ---- sessions ----------------------------------------------------------- */

static const struct gg_session_params wrong_params[] = {
    { .n_ctx = -1 },
    { .n_ctx = INT32_MAX },
    { .n_slots = -1 },
    { .n_slots = INT32_MAX },
    { .n_batch = -1 },
    { .n_batch = INT32_MAX },
    { .n_threads = -1 },
    { .n_threads = INT32_MAX },
    { .cache_type = (enum gg_cache_type) - 1 },
    { .cache_type = (enum gg_cache_type)6 },
    { .value_type = (enum gg_cache_type)6, .has_value_type = true },
    { .reserved = { 1 } },
};

enum {
    N_WRONG = sizeof(wrong_params) / sizeof(wrong_params[0])
};

static bool
session_params_default(void)
{
    return gg_session_params_default().n_ctx == 0;
}

static bool
session_new(void)
{
    struct gg_session *s = NULL;
    bool right = refused(gg_session_new(NULL, NULL, &s, &err)) &&
                 refused(gg_session_new(model, NULL, NULL, &err));

    for (int i = 0; i < N_WRONG; i++)
        right &= refused(gg_session_new(model, &wrong_params[i], &s, &err));
    return right && !s;
}

static bool
model_memory(void)
{
    struct gg_memory m = { .weights = 7 };
    bool right = refused(gg_model_memory(NULL, NULL, &m, &err)) &&
                 refused(gg_model_memory(model, NULL, NULL, &err));

    for (int i = 0; i < N_WRONG; i++)
        right &= refused(gg_model_memory(model, &wrong_params[i], &m, &err));
    return right && m.weights == 7;
}

static bool
model_home_memory(void)
{
    struct gg_memory m = { .weights = 7 };
    bool right = refused(gg_model_home_memory(NULL, 0, NULL, &m, &err)) &&
                 refused(gg_model_home_memory(model, 1, NULL, &m, &err)) &&
                 refused(gg_model_home_memory(model, 0, NULL, NULL, &err));

    for (int i = 0; i < N_WRONG; i++)
        right &=
            refused(gg_model_home_memory(model, 0, &wrong_params[i], &m, &err));
    return right && m.weights == 7;
}

static bool
session_free(void)
{
    gg_session_free(NULL);
    return true;
}

static bool
session_n_ctx(void)
{
    return gg_session_n_ctx(NULL) == 0;
}

static bool
session_n_slots(void)
{
    return gg_session_n_slots(NULL) == 0;
}

/* Each chunk has one thing wrong. */
static bool
session_eval(void)
{
    static const int32_t wild[] = { 1, V, -1 };
    static struct gg_best none = { .k = 1 };
    static struct gg_best most = { .k = SIZE_MAX, ids, logits, 0, 0 };
    static const struct gg_chunk wrong[] = {
        { .slot = -1, .ids = ids, .n = 1 },
        { .slot = 2, .ids = ids, .n = 1 },
        { .slot = INT32_MAX, .ids = ids, .n = 1 },
        { .ids = NULL, .n = 1 },
        { .ids = ids, .n = 0 },
        { .ids = wild, .n = 2 },
        { .ids = wild + 2, .n = 1 },
        { .ids = ids,
          .n = 1,
          .scores.next = wild,
          .scores.n_next = 2,
          .scores.logprobs = logits },
        { .ids = ids, .n = 1, .rows.n_last = 2, .rows.logits = logits },
        { .ids = ids, .n = 1, .rows.n_last = SIZE_MAX, .rows.best = &none },
        { .ids = ids, .n = 1, .scores.first = 2 },
        { .ids = ids, .n = 1, .rows.best = &none },
        { .ids = ids, .n = 1, .rows.best = &most },
        { .ids = ids, .n = 1, .embed.values = logits, (enum gg_pooling)9 },
    };
    struct gg_chunk twice[] = { { .ids = ids, .n = 1 },
                                { .ids = ids, .n = 1 } };
    bool right = refused(gg_session_eval(NULL, twice, 1, &err)) &&
                 refused(gg_session_eval(session, NULL, 1, &err)) &&
                 refused(gg_session_eval(session, twice, 2, &err)) &&
                 gg_session_eval(session, NULL, 0, &err) == GG_OK;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (!refused(gg_session_eval(session, &wrong[i], 1, &err))) {
            printf("# chunk %zu\n", i);
            right = false;
        }
    return right && gg_session_length(session, 0) == 3;
}

static bool
session_add_rows(void)
{
    static float rows[2];
    size_t width = (size_t)gg_model_n_embd(model);
    struct gg_medium none = { .n = 1, .width = width };
    struct gg_medium narrow = { .n = 1, .width = width + 1, .rows = rows };
    struct gg_medium empty = { .width = width, .rows = rows };
    struct gg_medium deep = {
        .n = 1, .width = width, .rows = rows, .n_deeper = 1
    };
    int32_t first = -5;

    return refused(gg_session_add_rows(NULL, &narrow, &first, &err)) &&
           refused(gg_session_add_rows(session, NULL, &first, &err)) &&
           refused(gg_session_add_rows(session, &none, &first, &err)) &&
           refused(gg_session_add_rows(session, &narrow, &first, &err)) &&
           refused(gg_session_add_rows(session, &empty, &first, &err)) &&
           refused(gg_session_add_rows(session, &deep, &first, &err)) &&
           refused(gg_session_add_rows(session, &narrow, NULL, &err)) &&
           first == -5;
}

static bool
session_forget_rows(void)
{
    gg_session_forget_rows(NULL, 0);
    gg_session_forget_rows(session, -1);
    gg_session_forget_rows(session, INT32_MAX);
    return gg_session_length(session, 0) == 3;
}

static bool
session_length(void)
{
    return gg_session_length(session, 5) == 0 &&
           gg_session_length(session, -1) == 0 &&
           gg_session_length(session, INT32_MIN) == 0 &&
           gg_session_length(NULL, 0) == 0 &&
           gg_session_length(session, 0) == 3;
}

static bool
session_truncate(void)
{
    return gg_session_truncate(NULL, 0, 0) == 0 &&
           gg_session_truncate(session, -1, 0) == 0 &&
           gg_session_truncate(session, 2, 0) == 0 &&
           gg_session_truncate(session, 0, -1) == 3 &&
           gg_session_truncate(session, 0, INT32_MAX) == 3;
}

static bool
session_copy(void)
{
    return gg_session_copy(NULL, 1, 0, 1) == 0 &&
           gg_session_copy(session, -1, 0, 1) == 0 &&
           gg_session_copy(session, 2, 0, 1) == 0 &&
           gg_session_copy(session, 1, -1, 1) == 0 &&
           gg_session_copy(session, 1, 2, 1) == 0 &&
           gg_session_copy(session, 0, 2, 1) == 3 &&
           gg_session_copy(session, 1, 0, -1) == 0 &&
           gg_session_copy(session, 0, 0, 3) == 3;
}

static bool
session_memory(void)
{
    size_t a = 7, b = 7;

    gg_session_memory(session, NULL, NULL);
    gg_session_memory(NULL, &a, &b);
    return a == 0 && b == 0;
}

static bool
session_streams(void)
{
    uint64_t a = 7, b = 7;

    return !gg_session_streams(session, NULL, NULL) &&
           !gg_session_streams(NULL, &a, &b) && a == 0 && b == 0;
}

static bool
session_mtp(void)
{
    size_t weights = 1, cache = 1;

    return gg_session_mtp(NULL, &weights, &cache) == 0 && weights == 0 &&
           cache == 0 && gg_session_mtp(session, NULL, NULL) == 0;
}

static bool
session_used(void)
{
    return gg_session_used(NULL) == 0;
}

static bool
session_shared(void)
{
    int32_t n_slots = 7;

    return gg_session_shared(NULL, &n_slots) == 0 && n_slots == 0 &&
           gg_session_shared(session, NULL) == 0;
}

static bool
session_profile(void)
{
    n = 7;
    return !gg_session_profile(NULL, &n) && n == 0 &&
           !gg_session_profile(session, NULL);
}

static bool
session_snapshots(void)
{
    size_t bytes = 7;

    return gg_session_snapshots(NULL, &bytes) == 0 && bytes == 0 &&
           gg_session_snapshots(NULL, NULL) == 0;
}

/* ---- states ------------------------------------------------------------- */

static const char *
state_path(void)
{
    return scratch_file("state.gguf");
}

static bool
session_save(void)
{
    static const int32_t wild[] = { V };
    static const struct gg_state_sequence wrong[] = {
        { .ids = NULL, .n_ids = 1 },
        { .ids = ids, .n_ids = 0 },
        { .ids = wild, .n_ids = 1 },
        { .ids = ids, .n_ids = 1, .slot = 2 },
        { .ids = ids, .n_ids = 1, .n_held = 2 },
        { .ids = ids, .n_ids = 1, .n_pending = 2 },
        { .ids = ids, .n_ids = 1, .number = 7 },
        { .ids = ids, .n_ids = 1, .n_dropped = UINT64_MAX },
    };
    struct gg_state s = { .n_sequences = 1 }, t = { .n_forgotten = 1 };
    bool right =
        refused(gg_session_save(session, &s, state_path(), &err)) &&
        refused(gg_session_save(session, &t, state_path(), &err)) &&
        refused(gg_session_save(session, NULL, state_path(), &err)) &&
        refused(gg_session_save(session, &s, NULL, &err)) &&
        refused(gg_session_save(NULL, &s, state_path(), &err)) &&
        refused(gg_session_save(session, &(struct gg_state){ 0 }, "/", &err));

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        s.sequences = &wrong[i];
        if (!refused(gg_session_save(session, &s, state_path(), &err))) {
            printf("# sequence %zu\n", i);
            right = false;
        }
    }
    return right && access(state_path(), F_OK) != 0;
}

static bool
session_write(void)
{
    static const struct gg_state_sequence wrong = { .ids = NULL, .n_ids = 1 };
    struct gg_state s = { .n_sequences = 1 }, none = { 0 };
    bool right = refused(gg_session_write(NULL, &none, 1, &err)) &&
                 refused(gg_session_write(session, NULL, 1, &err)) &&
                 refused(gg_session_write(session, &s, 1, &err)) &&
                 gg_session_write(session, &none, -1, &err) != GG_OK;

    s.sequences = &wrong;
    return right && refused(gg_session_write(session, &s, 1, &err));
}

static bool
state_open(void)
{
    struct gg_state_file *f = NULL;

    return refused(gg_state_open(NULL, session, &f, &err)) &&
           refused(gg_state_open(model_path, NULL, &f, &err)) &&
           refused(gg_state_open(model_path, session, NULL, &err)) && !f;
}

static bool
state_close(void)
{
    gg_state_close(NULL);
    return true;
}

static bool
state_get(void)
{
    return !gg_state_get(NULL);
}

static bool
session_load(void)
{
    struct gg_state_sequence q = { .ids = ids, .n_ids = 3, .n_held = 3 };
    struct gg_state s = { .sequences = &q, .n_sequences = 1 };
    struct gg_state_file *f;
    bool right;

    must(gg_session_save(session, &s, state_path(), &err));
    must(gg_state_open(state_path(), session, &f, &err));
    right = gg_session_load(NULL, 0, f, 0) == 0 &&
            gg_session_load(session, -1, f, 0) == 0 &&
            gg_session_load(session, 2, f, 0) == 0 &&
            gg_session_load(session, 0, NULL, 0) == 3 &&
            gg_session_load(session, 0, f, 1) == 3 &&
            gg_session_load(session, 1, f, SIZE_MAX) == 0;
    gg_state_close(f);
    unlink(state_path());
    return right;
}

const struct argument_test arguments_sessions[] = {
    TEST(session_snapshots), TEST(session_params_default),
    TEST(session_new),       TEST(model_memory),
    TEST(model_home_memory), TEST(session_free),
    TEST(session_n_ctx),     TEST(session_n_slots),
    TEST(session_add_rows),  TEST(session_forget_rows),
    TEST(session_eval),      TEST(session_length),
    TEST(session_truncate),  TEST(session_copy),
    TEST(session_memory),    TEST(session_mtp),
    TEST(session_streams),   TEST(session_used),
    TEST(session_shared),    TEST(session_profile),
    TEST(session_save),      TEST(session_write),
    TEST(state_open),        TEST(state_close),
    TEST(state_get),         TEST(session_load),
    { .name = NULL },
};
