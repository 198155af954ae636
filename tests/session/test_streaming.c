/* test_streaming.c - weights that are larger than memory: the same bytes as
 * without a limit, whatever room there is, in any batches and threads */
#include <stdio.h>

#include "harness/session_test.h"
#include "session/streaming.h"

enum {
    N = 60,
    PROMPT = 48, /* in which nearly all experts are chosen; then few ids */
};

static int32_t ids[N];

static const struct model_spec mixture = {
    "qwen3moe",         .n_layer = 3,      .n_embd = 128,         .n_head = 2,
    .n_head_kv = 1,     .d_key = 64,       .n_ff = 160,           .n_expert = 8,
    .n_expert_used = 2, .n_ff_expert = 96, .type = GGML_TYPE_F32, .untied = true
};
static const struct model_spec dense = { "llama",       .n_layer = 5,
                                         .n_embd = 128, .n_head = 2,
                                         .n_ff = 384,   .type = GGML_TYPE_F32 };

/* Logits of a prompt, of three ids at once, and of single ones. */
static void
eval_all(const struct gg_model *m, const char *room, int n_threads, float *out)
{
    struct gg_session *s;
    int at = PROMPT + 3;

    if (room)
        setenv(STREAMING_ROOM, room, 1);
    else
        unsetenv(STREAMING_ROOM);
    s = new_session(
        m, (struct gg_session_params){ .n_ctx = N, .n_threads = n_threads });
    if (gg_session_streams(s, NULL, NULL) != (room != NULL))
        printf("# streaming is %s\n", room ? "missing" : "on");
    eval_ids(s, 0, ids, 0, PROMPT, out);
    eval_ids(s, 0, ids, PROMPT, at, out + V);
    for (int i = 2; at < N; i++, at++)
        eval_ids(s, 0, ids, at, at + 1, out + i * V);
    gg_session_free(s);
}

static void
test_same_bytes(const struct model_spec *spec)
{
    static const char *const rooms[] = { "1",    "40K",  "200K",
                                         "500K", "900K", "1500K" };
    static float wanted[N * V], got[N * V];
    struct gg_model *m = new_model(spec);
    bool same = true;

    eval_all(m, NULL, 2, wanted);
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
        for (int threads = 1; threads <= 3; threads++) {
            memset(got, 0, sizeof(got));
            eval_all(m, rooms[i], threads, got);
            if (memcmp(got, wanted, sizeof(got)) == 0)
                continue;
            printf("# %s with %s, %d threads\n", spec->arch, rooms[i], threads);
            same = false;
        }
    ok(same, spec->arch);
    gg_model_free(m);
}

static void
test_decision(void)
{
    struct gg_model *m = new_model(&mixture);
    struct gg_session *s;
    uint64_t weights, room;

    setenv(STREAMING_ROOM, "100K", 1);
    s = new_session(m, (struct gg_session_params){ .n_ctx = N });
    ok(gg_session_streams(s, &weights, &room) && weights > 100 << 10 &&
           room == 100 << 10,
       "more weights than memory");
    gg_session_free(s);
    setenv(STREAMING_ROOM, "1G", 1);
    s = new_session(m, (struct gg_session_params){ .n_ctx = N });
    ok(!gg_session_streams(s, &weights, &room) && weights == 0 && room == 0,
       "less weights than memory");
    gg_session_free(s);
    gg_model_free(m);
}

static void
test_words(void)
{
    is(session_streaming_room("7"), 7, "bytes");
    is(session_streaming_room("3K"), 3 << 10, "KiB");
    is(session_streaming_room("12M"), 12 << 20, "MiB");
    ok(session_streaming_room("5G") == (uint64_t)5 << 30, "GiB");
    is(session_streaming_room(""), 0, "nothing");
    is(session_streaming_room("-1"), 0, "less than nothing");
    is(session_streaming_room("5T"), 0, "another unit");
    is(session_streaming_room("5Kx"), 0, "more text");
    is(session_streaming_room("99999999999999999G"), 0, "too much");
}

int
main(void)
{
    fill_ids(ids, N);
    test_words();
    test_decision();
    test_same_bytes(&mixture);
    test_same_bytes(&dense);
    return tap_done();
}
