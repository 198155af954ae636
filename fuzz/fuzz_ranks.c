/* fuzz_ranks.c - what ranks of a pipeline send each other: done, or refused
 * with an error
 *
 * An input is what one rank of two gets: a byte that says which it is, the
 * length of the first of two streams, of commands or of replies, this stream,
 * and that of hidden vectors, which goes on with zeros. */
#include <gg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixtures/models.h"
#include "fixtures/ranks.h"
#include "fuzz.h"
#include "harness/scratch.h"

const char fuzz_name[] = "ranks";

enum {
    CTX = 600,
    SLOTS = 2,
    BATCH = 48,
    V = MODELS_N_VOCAB,
    HEAD = 1 + sizeof(uint32_t),
};

static char model_path[SCRATCH_PATH];

static void
check(bool right)
{
    if (!right)
        abort();
}

/* Windowed layers, others, and recurrent states in the second file. */
static void
start(size_t which)
{
    static const char *const names[] = { "gemma2-f32", "qwen35-f32" };
    struct model_spec spec;

    check(models_named(names[which % 2], &spec));
    spec.n_layer = 4;
    spec.n_embd = 32;
    spec.n_ff = 32;
    spec.n_ctx = CTX;
    strcpy(model_path, scratch_file(names[which % 2]));
    if (access(model_path, F_OK))
        check(models_write(&spec, model_path));
}

/* ---- a transport that has an input --------------------------------------- */

static struct {
    const uint8_t *first, *layers;
    size_t n_first, n_layers;
} in;

static bool
send_nothing(struct pipeline_transport *t, int32_t to, enum transport_tag tag,
             const void *bytes, size_t n)
{
    (void)t;
    (void)to;
    (void)tag;
    (void)bytes;
    (void)n;
    return true;
}

static void
at_most(int64_t *x, int64_t most)
{
    if (*x > most)
        *x %= most;
}

/* A session with all of the memory is no error. */
static void
make_small(void *bytes, size_t n)
{
    struct pipeline_command c;

    if (n != sizeof(c))
        return;
    memcpy(&c, bytes, n);
    if (c.op != PIPELINE_SESSION)
        return;
    at_most(&c.args[0], CTX);
    at_most(&c.args[1], SLOTS);
    at_most(&c.args[2], BATCH);
    memcpy(bytes, &c, n);
}

static bool
receive_input(struct pipeline_transport *t, int32_t from,
              enum transport_tag tag, void *bytes, size_t n)
{
    size_t some;

    (void)from;
    if (tag == TRANSPORT_LAYER) {
        some = n < in.n_layers ? n : in.n_layers;
        memset(bytes, 0, n);
        memcpy(bytes, in.layers, some);
        in.layers += some;
        in.n_layers -= some;
        return true;
    }
    if (n > in.n_first) {
        strcpy(t->error, "the end");
        return false;
    }
    memcpy(bytes, in.first, n);
    in.first += n;
    in.n_first -= n;
    make_small(bytes, n);
    return true;
}

static void
leave(struct pipeline_transport *t, bool failed)
{
    (void)t;
    (void)failed;
}

/* ---- the two ranks ------------------------------------------------------- */

static const int32_t ids[80] = { 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233 };

static enum gg_status
save(struct gg_session *s, size_t n)
{
    struct gg_state_sequence q = { .ids = ids, .n_ids = n, .n_held = n };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };
    struct gg_state_file *f;
    const char *path = scratch_file("state");
    enum gg_status st = gg_session_save(s, &state, path, NULL);

    if (st == GG_OK)
        st = gg_state_open(path, s, &f, NULL);
    if (st == GG_OK) {
        (void)gg_session_load(s, 1, f, 0);
        gg_state_close(f);
    }
    return st;
}

static void
use_session(struct gg_session *s)
{
    static float logits[V], scores[80];
    struct gg_chunk c = { .ids = ids, .n = 70, .rows.logits = logits };
    size_t n;

    if (gg_session_eval(s, &c, 1, NULL) != GG_OK)
        return;
    (void)gg_session_truncate(s, 0, 66);
    (void)gg_session_copy(s, 1, 0, 64);
    n = (size_t)gg_session_length(s, 0);
    if (n > 0 && save(s, n) != GG_OK)
        return;
    (void)gg_session_truncate(s, 0, 0);
    c.n = 12;
    c.rows.logits = NULL;
    c.scores.logprobs = scores;
    if (gg_session_eval(s, &c, 1, NULL) == GG_OK)
        check(gg_session_length(s, 0) == 12);
}

static void
lead(struct pipeline *p)
{
    struct gg_model_params params = { .device = "cpu", .pipeline = &p->base };
    struct gg_session_params sp = {
        .n_ctx = CTX, .n_slots = SLOTS, .n_batch = BATCH, .n_threads = 1
    };
    struct gg_session *s = NULL;
    struct gg_model *m = NULL;

    if (gg_model_open(model_path, &params, &m, NULL) == GG_OK &&
        gg_session_new(m, &sp, &s, NULL) == GG_OK)
        use_session(s);
    gg_session_free(s);
    gg_model_free(m);
}

static void
follow(struct pipeline *p)
{
    static const struct gg_model_params params = { .device = "cpu" };
    static const struct gg_serve_params serve = { .n_threads = 1 };
    struct gg_error err = { "" };

    if (gg_pipeline_serve(&p->base, model_path, &params, &serve, &err) != GG_OK)
        check(err.message[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pipeline_transport t = { .version = TRANSPORT_VERSION,
                                    .size = 2,
                                    .n_local = 2,
                                    .send = send_nothing,
                                    .receive = receive_input,
                                    .leave = leave };
    struct pipeline *p = NULL;
    uint32_t n;

    if (size < HEAD)
        return 0;
    t.rank = data[0] & 1;
    start(data[0] >> 1);
    memcpy(&n, data + 1, sizeof(n));
    n = n < size - HEAD ? n : (uint32_t)(size - HEAD);
    in.first = data + HEAD;
    in.n_first = n;
    in.layers = in.first + n;
    in.n_layers = size - HEAD - n;
    check(pipeline_new(&t, NULL, &p, NULL) == GG_OK);
    if (t.rank == 0)
        lead(p);
    else
        follow(p);
    pipeline_free(p);
    return 0;
}

/* ---- the corpus: what real ranks send each other --------------------------
 */

static struct stream {
    uint8_t bytes[1 << 20];
    size_t n;
} streams[2][2]; /* from a rank: commands or replies, layers */

static void
record(int32_t from, enum transport_tag tag, char *bytes, size_t n)
{
    struct stream *s = &streams[from][tag == TRANSPORT_LAYER];

    check(n <= sizeof(s->bytes) - s->n);
    memcpy(s->bytes + s->n, bytes, n);
    s->n += n;
}

static void
run_ranks(void)
{
    for (int i = 0; i < 4; i++)
        streams[i / 2][i % 2].n = 0;
    ranks_begin(2, NULL, model_path);
    ranks.spoil = record;
    ranks_start();
    lead(ranks.lead);
    check(ranks_end() == 1);
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    const struct stream *from = streams[1 - i % 2];
    uint8_t *data;
    uint32_t n;

    if (i >= 4)
        return NULL;
    start(i >> 1);
    run_ranks();
    n = (uint32_t)from[0].n;
    *size = HEAD + from[0].n + from[1].n;
    data = malloc(*size);
    check(data != NULL);
    data[0] = (uint8_t)i;
    memcpy(data + 1, &n, sizeof(n));
    memcpy(data + HEAD, from[0].bytes, from[0].n);
    memcpy(data + HEAD + from[0].n, from[1].bytes, from[1].n);
    return data;
}
