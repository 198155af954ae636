/* test_shared_shift.c - sequences whose slots have blocks of keys in common:
 * the logits of sequences without others, while contexts are full and shift,
 * and one that has the blocks ends */
#include "engine_test.h"

enum {
    SLOTS = 4,
    COMMON = 560, /* more than two blocks of keys */
    CTX = 640,
    STEPS = 26,
    END = 13, /* before this step one sequence ends */
    STEP = 9, /* ids: the context is full after nine of them */
};

/* Ids that sequence k gets in a step. */
static void
make_ids(int k, int step, int32_t to[STEP])
{
    for (int i = 0; i < STEP; i++)
        to[i] = (k * 91 + step * 17 + i * i * 5) % V;
}

static struct gg_sequence *
begin(struct bench *b)
{
    struct gg_sequence *q;

    must(gg_sequence_new(b->engine, &q, &err));
    must(gg_sequence_put(q, ids, COMMON, &err));
    return q;
}

/* Logits of all steps of sequence k, which is alone. */
static void
run_alone(const struct gg_model *m, int k, int n, float out[][V])
{
    struct gg_query q = { 0 };
    struct bench b;
    int32_t its[STEP];

    open_bench(&b, m, 1, CTX, (struct gg_engine_params){ .shift = true });
    q.sequence = begin(&b);
    for (int i = 0; i < n; i++) {
        make_ids(k, i, its);
        must(gg_sequence_put(q.sequence, its, STEP, &err));
        q.rows.logits = out[i];
        must(gg_engine_eval(b.engine, &q, 1, &err));
    }
    gg_sequence_free(q.sequence);
    close_bench(&b);
}

/* Sequences side by side; sequence 0 ends in the middle, and one that begins
 * anew takes its place. */
struct many {
    struct bench b;
    struct gg_query q[SLOTS];
    float truth[SLOTS + 1][STEPS][V], out[SLOTS][V];
    size_t shared; /* bytes at most */
    bool shifted;
};

static void
open_many(struct many *m, const struct gg_model *model)
{
    *m = (struct many){ .shared = 0 };
    for (int k = 0; k <= SLOTS; k++)
        run_alone(model, k, STEPS, m->truth[k]);
    open_bench(&m->b, model, SLOTS, CTX,
               (struct gg_engine_params){ .shift = true });
    for (int k = 0; k < SLOTS; k++) {
        m->q[k].sequence = begin(&m->b);
        m->q[k].rows.logits = m->out[k];
    }
}

static void
close_many(struct many *m)
{
    for (int k = 0; k < SLOTS; k++)
        gg_sequence_free(m->q[k].sequence);
    close_bench(&m->b);
}

/* Whether slot k has the logits of a sequence alone after a step of its own. */
static bool
is_right(const struct many *m, int k, int step)
{
    if (k == 0 && step >= END)
        return same(m->out[k], m->truth[SLOTS][step - END]);
    return same(m->out[k], m->truth[k][step]);
}

static bool
run_step(struct many *m, int step)
{
    size_t shared;
    bool right = true;

    for (int k = 0; k < SLOTS; k++) {
        bool again = k == 0 && step >= END;
        int32_t its[STEP];

        make_ids(again ? SLOTS : k, again ? step - END : step, its);
        must(gg_sequence_put(m->q[k].sequence, its, STEP, &err));
    }
    must(gg_engine_eval(m->b.engine, m->q, SLOTS, &err));
    for (int k = 0; k < SLOTS; k++) {
        right = right && is_right(m, k, step);
        m->shifted = m->shifted || gg_sequence_dropped(m->q[k].sequence) > 0;
    }
    shared = gg_session_shared(m->b.session, NULL);
    m->shared = shared > m->shared ? shared : m->shared;
    return right;
}

static void
check_model(const char *name)
{
    static struct many many;
    struct model_spec spec;
    struct gg_model *m;
    bool right = true;

    if (!models_named(name, &spec))
        exit(99);
    spec.n_ctx = CTX;
    m = new_model(&spec);
    open_many(&many, m);
    for (int i = 0; i < STEPS && right; i++) {
        if (i == END) {
            gg_sequence_free(many.q[0].sequence);
            many.q[0].sequence = begin(&many.b);
        }
        right = run_step(&many, i);
    }
    ok(right && many.shifted, name);
    ok(many.shared > 0, "blocks were shared");
    close_many(&many);
    gg_model_free(m);
}

int
main(void)
{
    fill_ids(ids, COMMON);
    check_model("llama-f32");
    check_model("gemma3-f32");
    check_model("gpt2-f32");
    check_model("qwen35-f32");
    return tap_done();
}
