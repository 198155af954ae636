/* test_gg_arguments.c - no argument of a function of <gg.h> and
 * <gg-stream.h> ends the process
 *
 * Each function of the headers has a test of its name here, which is checked
 * against the headers themselves. */
#include <fcntl.h>
#include <gg-stream.h>
#include <math.h>

#include "harness/header_functions.h"
#include "harness/session_test.h"

static const char grammar_text[] = "root ::= [a-z]+";

static struct gg_file *file;
static struct gg_model *model;
static const struct gg_vocab *vocab;
static struct gg_session *session;         /* two slots, the first with 3 ids */
static struct gg_sampler *sampler, *bound; /* plain; held to the grammar */
static struct gg_grammar *grammar;
static struct gg_history *history; /* of the plain one */
static int null_fd;

static int32_t ids[4] = { 5, 6, 7, 8 };
static float logits[V];
static char buf[64];
static size_t n;
static struct gg_encoded encoded;

/* That is said, with a word. */
static bool
refused(enum gg_status st)
{
    bool said = st == GG_ERR_ARG && err.message[0];

    err.message[0] = '\0';
    return said;
}

/* ---- without a handle ---------------------------------------------------- */

static bool
status_string(void)
{
    return strcmp(gg_status_string((enum gg_status) - 1), "unknown status") ==
               0 &&
           strcmp(gg_status_string((enum gg_status)10), "unknown status") == 0;
}

static bool
escape(void)
{
    char c = 'x';

    gg_escape(&c, 0, "ab", 2);
    gg_escape(NULL, 0, "ab", 2);
    gg_escape(buf, sizeof(buf), NULL, 2);
    return c == 'x' && buf[0] == '\0' && *gg_escape(&c, 1, "ab", 2) == '\0';
}

static bool
version(void)
{
    return gg_version()[0] != '\0';
}

/* That of the header is the package's, too. */
static bool
version_number(void)
{
    char text[32];

    snprintf(text, sizeof(text), "%d.%d.%d", GG_VERSION_MAJOR, GG_VERSION_MINOR,
             GG_VERSION_PATCH);
    return gg_version_number() == GG_VERSION && strcmp(gg_version(), text) == 0;
}

static bool
default_threads(void)
{
    return gg_default_threads() > 0;
}

static bool
log_sum_exp(void)
{
    return gg_log_sum_exp(NULL, 3) == -INFINITY &&
           gg_log_sum_exp(logits, 0) == -INFINITY;
}

/* ---- files --------------------------------------------------------------- */

static bool
set_open_callback(void)
{
    struct gg_file *f;

    gg_set_open_callback(NULL, NULL);
    must(gg_file_open(scratch_path(), &f, &err));
    gg_file_close(f);
    return true;
}

static bool
file_open(void)
{
    struct gg_file *f = NULL;

    return refused(gg_file_open(NULL, &f, &err)) && !f &&
           refused(gg_file_open(scratch_path(), NULL, &err)) &&
           gg_file_open("", &f, &err) == GG_ERR_IO && !f;
}

static bool
file_open_metadata(void)
{
    struct gg_file *f = NULL;

    return refused(gg_file_open_metadata(NULL, 0, &f, &err)) &&
           refused(gg_file_open_metadata(scratch_path(), 0, NULL, &err)) &&
           refused(gg_file_open_metadata(scratch_path(), 2, &f, &err)) &&
           gg_file_open_metadata("", 0, &f, &err) == GG_ERR_IO && !f;
}

static bool
file_open_adapter(void)
{
    struct gg_file *f = NULL;

    return refused(gg_file_open_adapter(NULL, NULL, &f, &err)) &&
           refused(gg_file_open_adapter(scratch_path(), NULL, NULL, &err)) &&
           gg_file_open_adapter("", NULL, &f, &err) != GG_OK && !f;
}

static bool
file_close(void)
{
    gg_file_close(NULL);
    return true;
}

static bool
file_gguf(void)
{
    return !gg_file_gguf(NULL);
}

static bool
file_format(void)
{
    return !gg_file_format(NULL);
}

static bool
file_data(void)
{
    int64_t end = gguf_get_n_tensors(gg_file_gguf(file));

    return !gg_file_data(NULL, 0) && !gg_file_data(file, -1) &&
           !gg_file_data(file, end) && !gg_file_data(file, INT64_MAX) &&
           gg_file_data(file, end - 1);
}

static bool
file_read_(void)
{
    buf[0] = 'x';
    gg_file_read(NULL, 0, buf);
    gg_file_read(file, -1, buf);
    gg_file_read(file, INT64_MAX, buf);
    gg_file_read(file, 0, NULL);
    return buf[0] == 'x';
}

static bool
file_forget_(void)
{
    gg_file_forget(NULL, 0);
    gg_file_forget(file, -1);
    gg_file_forget(file, INT64_MAX);
    return true;
}

/* ---- vocabulary ---------------------------------------------------------- */

static bool
vocab_open(void)
{
    struct gg_vocab *v = NULL;

    return refused(gg_vocab_open(NULL, &v, &err)) && !v &&
           refused(gg_vocab_open(scratch_path(), NULL, &err));
}

static bool
vocab_free(void)
{
    gg_vocab_free(NULL);
    return true;
}

static bool
vocab_note(void)
{
    return !gg_vocab_note(NULL);
}

static bool
vocab_size(void)
{
    return gg_vocab_size(NULL) == 0;
}

static bool
vocab_fingerprint(void)
{
    return gg_vocab_fingerprint(NULL) == 0;
}

static bool
vocab_bos(void)
{
    return gg_vocab_bos(NULL) == -1;
}

static bool
vocab_eos(void)
{
    return gg_vocab_eos(NULL) == -1;
}

static bool
vocab_add_bos(void)
{
    return !gg_vocab_add_bos(NULL);
}

static bool
vocab_add_eos(void)
{
    return !gg_vocab_add_eos(NULL);
}

static bool
vocab_is_eog(void)
{
    return !gg_vocab_is_eog(NULL, 1) && !gg_vocab_is_eog(vocab, -1) &&
           !gg_vocab_is_eog(vocab, INT32_MAX);
}

static bool
vocab_eog_ids(void)
{
    n = 7;
    return !gg_vocab_eog_ids(NULL, &n) && n == 0 &&
           gg_vocab_eog_ids(vocab, NULL) == gg_vocab_eog_ids(vocab, &n);
}

static bool
vocab_type(void)
{
    return gg_vocab_type(NULL, 0) == GG_TOKEN_UNUSED &&
           gg_vocab_type(vocab, -1) == GG_TOKEN_UNUSED &&
           gg_vocab_type(vocab, gg_vocab_size(vocab)) == GG_TOKEN_UNUSED &&
           gg_vocab_type(vocab, INT32_MIN) == GG_TOKEN_UNUSED;
}

static bool
vocab_token(void)
{
    n = 7;
    return !gg_vocab_token(vocab, 1 << 20, &n) && n == 0 &&
           !gg_vocab_token(vocab, -1, &n) && !gg_vocab_token(NULL, 0, &n) &&
           gg_vocab_token(vocab, 0, NULL);
}

static bool
vocab_find(void)
{
    return gg_vocab_find(NULL, "a", 1) == -1 &&
           gg_vocab_find(vocab, NULL, 1) == -1 &&
           gg_vocab_find(vocab, NULL, 0) == -1;
}

static bool
vocab_encode(void)
{
    encoded.n = 7;
    return refused(gg_vocab_encode(NULL, "a", 1, 0, ids, 4, &encoded, &err)) &&
           refused(
               gg_vocab_encode(vocab, NULL, 1, 0, ids, 4, &encoded, &err)) &&
           refused(
               gg_vocab_encode(vocab, "a", 1, 0, NULL, 4, &encoded, &err)) &&
           refused(gg_vocab_encode(vocab, "a", 1, 0, ids, 4, NULL, &err)) &&
           encoded.n == 7 &&
           gg_vocab_encode(vocab, NULL, 0, ~0u & ~(unsigned)GG_ENCODE_GREEDY,
                           NULL, 0, &encoded, NULL) != GG_ERR_FORMAT;
}

static bool
infill_refused(const struct gg_vocab *v, const char *prefix, const char *suffix,
               int32_t *to, struct gg_encoded *made)
{
    return refused(
        gg_vocab_encode_infill(v, prefix, 1, suffix, 1, 0, to, 4, made, &err));
}

static bool
vocab_encode_infill(void)
{
    encoded.n = 7;
    return infill_refused(NULL, "a", "b", ids, &encoded) &&
           infill_refused(vocab, NULL, "b", ids, &encoded) &&
           infill_refused(vocab, "a", NULL, ids, &encoded) &&
           infill_refused(vocab, "a", "b", NULL, &encoded) &&
           infill_refused(vocab, "a", "b", ids, NULL) && encoded.n == 7 &&
           gg_vocab_encode_infill(vocab, "a", 1, "b", 1, 0, ids, 4, &encoded,
                                  NULL) == GG_ERR_UNSUPPORTED;
}

static bool
vocab_cut(void)
{
    return gg_vocab_cut(NULL, "a b", 3, 0) == 0 &&
           gg_vocab_cut(vocab, NULL, 3, ~0u) == 0;
}

static bool
vocab_find_control(void)
{
    return gg_vocab_find_control(NULL, "a", 1, &n) == -1 &&
           gg_vocab_find_control(vocab, NULL, 1, &n) == -1 &&
           gg_vocab_find_control(vocab, "<|im_end|>", 10, NULL) < V;
}

static bool
vocab_offsets(void)
{
    static const int32_t wild[] = { -1, INT32_MAX };
    struct gg_range r[2];

    return refused(gg_vocab_offsets(NULL, "a", 1, 0, ids, 1, r, &err)) &&
           refused(gg_vocab_offsets(vocab, NULL, 1, 0, ids, 1, r, &err)) &&
           refused(gg_vocab_offsets(vocab, "a", 1, 0, NULL, 1, r, &err)) &&
           refused(gg_vocab_offsets(vocab, "a", 1, 0, ids, 1, NULL, &err)) &&
           refused(gg_vocab_offsets(vocab, "a", 1, 0, wild, 2, r, &err)) &&
           refused(gg_vocab_offsets(vocab, "a", 1, ~0u, wild + 1, 1, r, &err));
}

static bool
vocab_decode_ids(void)
{
    static const int32_t wild[] = { -1, INT32_MAX };
    struct gg_decode_state s = { 0 };
    size_t k;

#define DECODE(v, s, i, n, b, c, d, l)                                         \
    gg_vocab_decode_ids(v, s, i, n, ~0u, b, c, d, l, &err)
    return refused(DECODE(NULL, &s, ids, 1, buf, 9, &n, &k)) &&
           refused(DECODE(vocab, NULL, ids, 1, buf, 9, &n, &k)) &&
           refused(DECODE(vocab, &s, NULL, 1, buf, 9, &n, &k)) &&
           refused(DECODE(vocab, &s, ids, 1, NULL, 9, &n, &k)) &&
           refused(DECODE(vocab, &s, ids, 1, buf, 9, NULL, &k)) &&
           refused(DECODE(vocab, &s, ids, 1, buf, 9, &n, NULL)) &&
           DECODE(vocab, &s, wild, 1, buf, 9, &n, &k) == GG_ERR_FORMAT &&
           DECODE(vocab, &s, wild + 1, 1, buf, 9, &n, &k) == GG_ERR_FORMAT;
#undef DECODE
}

static bool
vocab_decode(void)
{
    struct gg_decode_state s = { 0 };

#define DECODE(v, s, id, b, c, n) gg_vocab_decode(v, s, id, 0, b, c, n, &err)
    return refused(DECODE(NULL, &s, 1, buf, 9, &n)) &&
           refused(DECODE(vocab, NULL, 1, buf, 9, &n)) &&
           refused(DECODE(vocab, &s, 1, NULL, 9, &n)) &&
           refused(DECODE(vocab, &s, 1, buf, 9, NULL)) &&
           DECODE(vocab, &s, V, buf, 9, &n) == GG_ERR_FORMAT &&
           DECODE(vocab, &s, -1, buf, 9, &n) == GG_ERR_FORMAT;
#undef DECODE
}

/* ---- conversations ------------------------------------------------------- */

static bool
chat_at(void)
{
    return !gg_chat_at(SIZE_MAX) && !gg_chat_at(10000);
}

static bool
chat_name(void)
{
    return !gg_chat_name(NULL);
}

static bool
chat_find(void)
{
    return !gg_chat_find(NULL) && !gg_chat_find("");
}

static bool
chat_parse(void)
{
    struct gg_chat_template *t;

    return refused(gg_chat_parse(NULL, 1, &t, &err)) &&
           refused(gg_chat_parse("a", 1, NULL, &err)) &&
           gg_chat_parse("{{", 2, &t, &err) == GG_ERR_FORMAT;
}

static bool
chat_open(void)
{
    struct gg_chat_template *t;

    return refused(gg_chat_open(NULL, NULL, &t, &err)) &&
           refused(gg_chat_open(vocab, NULL, NULL, &err)) &&
           gg_chat_open(vocab, "none", &t, &err) == GG_ERR_UNSUPPORTED;
}

static bool
chat_takes_date(void)
{
    struct gg_chat_template *t = NULL, *u = NULL;
    bool good =
        gg_chat_parse("{{ strftime_now('%Y') }}", 24, &t, &err) == GG_OK &&
        gg_chat_parse("now", 3, &u, &err) == GG_OK && gg_chat_takes_date(t) &&
        !gg_chat_takes_date(u);

    gg_chat_free(t);
    gg_chat_free(u);
    return good && !gg_chat_takes_date(NULL);
}

static bool
chat_free(void)
{
    gg_chat_free(NULL);
    return true;
}

static bool
vocab_chat_source(void)
{
    n = 7;
    gg_vocab_chat_source(vocab, NULL, NULL);
    return !gg_vocab_chat_source(NULL, NULL, &n) && n == 0;
}

static bool
chat_encode(void)
{
    const struct gg_chat_template *t = gg_chat_at(0);
    struct gg_message m[] = { { GG_ROLE_USER, "a", 1 },
                              { (enum gg_role)99, "a", 1 },
                              { GG_ROLE_USER, NULL, 1 },
                              { GG_ROLE_USER, "a", 1 } };
    struct gg_encoded *e = &encoded;

    const struct gg_chat_params zero = { 0 }, one = { .first = 1 },
                                two = { .first = 2 },
                                most = { .first = SIZE_MAX },
                                reserved = { .reserved = { 1 } };

#define ENCODE(v, t, m, n, params, i, out)                                     \
    gg_chat_encode(v, t, m, n, &params, i, 4, out, &err)
    return refused(ENCODE(NULL, t, m, 1, zero, ids, e)) &&
           refused(ENCODE(vocab, NULL, m, 1, zero, ids, e)) &&
           refused(ENCODE(vocab, t, NULL, 1, zero, ids, e)) &&
           refused(ENCODE(vocab, t, m, 0, zero, ids, e)) &&
           refused(ENCODE(vocab, t, m, 1, two, ids, e)) &&
           refused(ENCODE(vocab, t, m, 1, most, ids, e)) &&
           refused(ENCODE(vocab, t, m, 1, reserved, ids, e)) &&
           refused(ENCODE(vocab, t, m, 2, zero, ids, e)) &&
           refused(ENCODE(vocab, t, m + 2, 1, zero, ids, e)) &&
           refused(ENCODE(vocab, t, m, 1, one, ids, e)) &&
           refused(ENCODE(vocab, t, m, 1, zero, NULL, e)) &&
           refused(ENCODE(vocab, t, m, 1, zero, ids, NULL));
#undef ENCODE
}

static bool
chat_render(void)
{
    const struct gg_message m = { GG_ROLE_USER, "a", 1 };
    struct gg_chat_template *t;
    char text[8];
    size_t len;
    bool good;

    if (gg_chat_parse("b", 1, &t, &err) != GG_OK)
        return false;
    good =
        refused(gg_chat_render(NULL, t, &m, 1, NULL, text, 8, &len, &err)) &&
        refused(
            gg_chat_render(vocab, NULL, &m, 1, NULL, text, 8, &len, &err)) &&
        refused(gg_chat_render(vocab, t, &m, 0, NULL, text, 8, &len, &err)) &&
        refused(gg_chat_render(vocab, t, &m, 1, NULL, NULL, 8, &len, &err)) &&
        refused(gg_chat_render(vocab, t, &m, 1, NULL, text, 8, NULL, &err)) &&
        gg_chat_render(vocab, gg_chat_at(0), &m, 1, NULL, text, 8, &len,
                       &err) == GG_ERR_UNSUPPORTED &&
        gg_chat_render(vocab, t, &m, 1, NULL, NULL, 0, &len, &err) == GG_OK &&
        len == 1;
    gg_chat_free(t);
    return good;
}

static bool
chat_reader_new(void)
{
    struct gg_chat_reader *r = NULL;

    return refused(gg_chat_reader_new(NULL, gg_chat_at(0), NULL, &r, &err)) &&
           refused(gg_chat_reader_new(vocab, NULL, NULL, &r, &err)) &&
           refused(
               gg_chat_reader_new(vocab, gg_chat_at(0), NULL, NULL, &err)) &&
           !r;
}

static bool
chat_reader_free(void)
{
    gg_chat_reader_free(NULL);
    return true;
}

static bool
chat_reader_thinks(void)
{
    return !gg_chat_reader_thinks(NULL);
}

static bool
chat_reasoning(void)
{
    return !gg_chat_reasoning(NULL, true) &&
           !gg_chat_reasoning(gg_chat_at(0), false);
}

static bool
chat_reads(void)
{
    return !gg_chat_reads(NULL, "a") && !gg_chat_reads(gg_chat_at(0), "a");
}

static bool
chat_calls_open(void)
{
    struct gg_chat_calls *c = NULL;

    return refused(gg_chat_calls_open(NULL, gg_chat_at(0), &c, &err)) &&
           refused(gg_chat_calls_open(vocab, NULL, &c, &err)) &&
           refused(gg_chat_calls_open(vocab, gg_chat_at(0), NULL, &err)) && !c;
}

static bool
chat_calls_free(void)
{
    gg_chat_calls_free(NULL);
    return true;
}

static bool
chat_calls_name(void)
{
    return !*gg_chat_calls_name(NULL);
}

static bool
chat_calls_read(void)
{
    struct gg_calls_read out;
    enum gg_status st =
        gg_chat_calls_read(NULL, NULL, "a", 1, NULL, 0, &out, &err);

    return st == GG_ERR_ARG || st == GG_ERR_UNSUPPORTED;
}

static bool
chat_calls_grammar(void)
{
    size_t size;
    enum gg_status st =
        gg_chat_calls_grammar(NULL, "[]", NULL, NULL, 0, &size, &err);

    return st == GG_ERR_ARG || st == GG_ERR_UNSUPPORTED;
}

static bool
session_snapshots(void)
{
    size_t bytes = 7;

    return gg_session_snapshots(NULL, &bytes) == 0 && bytes == 0 &&
           gg_session_snapshots(NULL, NULL) == 0;
}

/* ---- models -------------------------------------------------------------- */

static bool
model_open(void)
{
    static const int32_t none_of_one[] = { 1, -1 };
    static const struct gg_model_params wrong[] = {
        { .device = "nonesuch" },
        { .device = "cuda:-1" },
        { .device = "" },
        { .rope_scaling = "nonesuch" },
        { .rope_factor = -1 },
        { .rope_factor = NAN },
        { .rope_base = -1 },
        { .rope_base = INFINITY },
        { .rope_n_ctx = -1 },
        { .gpu_layers = -1 },
        { .n_ctx = -1 },
        { .reserved = { 1 } },
        { .cpu_experts = -3 },
        { .n_device_layers = 1 },
        { .device_layers = none_of_one, .n_device_layers = 2 },
    };
    struct gg_model *m = NULL;
    bool right = refused(gg_model_open(NULL, NULL, &m, &err)) &&
                 refused(gg_model_open(scratch_path(), NULL, NULL, &err));

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (!refused(gg_model_open(scratch_path(), &wrong[i], &m, &err))) {
            printf("# parameters %zu\n", i);
            right = false;
        }
    return right && !m;
}

static bool
model_free(void)
{
    gg_model_free(NULL);
    return true;
}

static bool
model_note(void)
{
    return !gg_model_note(NULL);
}

static bool
model_device(void)
{
    return !gg_model_device(NULL);
}

static bool
model_device_description(void)
{
    return !gg_model_device_description(NULL);
}

static bool
model_n_adapters(void)
{
    uint64_t bytes = 7;

    return gg_model_n_adapters(NULL, &bytes) == 0 && bytes == 0 &&
           gg_model_n_adapters(NULL, NULL) == 0;
}

static bool
model_gpu_layers(void)
{
    return gg_model_gpu_layers(NULL) == 0;
}

static bool
model_n_homes(void)
{
    return gg_model_n_homes(NULL) == 0 && gg_model_n_homes(model) == 1;
}

static bool
model_home(void)
{
    struct gg_home home = { .weights = 7 };

    return !gg_model_home(NULL, 0, &home) && !gg_model_home(model, 0, NULL) &&
           !gg_model_home(model, 1, &home) && home.weights == 7;
}

static bool
model_n_layers(void)
{
    return gg_model_n_layers(NULL) == 0 && gg_model_n_layers(model) > 0;
}

static bool
model_home_of_layer(void)
{
    return gg_model_home_of(NULL, 0, false) == 0 &&
           gg_model_home_of(model, -1, true) == 0 &&
           gg_model_home_of(model, INT32_MAX, false) == 0;
}

static bool
model_known(void)
{
    return !gg_model_known(NULL) && !gg_model_known("");
}

/* Without a launcher, or anything to join. */
static bool
pipeline_join(void)
{
    struct gg_pipeline *p = NULL;

    return refused(gg_pipeline_join(NULL, NULL, NULL, &err)) &&
           refused(gg_pipeline_join(NULL, NULL, &p, &err)) && !p;
}

static bool
pipeline_rank(void)
{
    return gg_pipeline_rank(NULL) == 0;
}

static bool
pipeline_size(void)
{
    return gg_pipeline_size(NULL) == 1;
}

static bool
pipeline_serve(void)
{
    return refused(gg_pipeline_serve(NULL, NULL, NULL, NULL, &err));
}

static bool
pipeline_ask(void)
{
    const void *bytes = NULL;
    size_t size = 0;

    return refused(gg_pipeline_ask(NULL, 1, &bytes, &size, &err)) && !bytes;
}

static bool
numa_start(void)
{
    return refused(gg_numa_init((enum gg_numa)3, NULL, &err)) &&
           refused(gg_numa_init((enum gg_numa)(-1), NULL, &err)) &&
           gg_numa_init(GG_NUMA_OFF, NULL, NULL) == GG_OK;
}

static bool
numa_nodes(void)
{
    int32_t index = 7, n_cpus = 7;

    return gg_numa_nodes(-1, NULL, NULL) == 0 &&
           gg_numa_nodes(0, &index, &n_cpus) == 0 && index == -1 && n_cpus == 0;
}

/* A rank that is nowhere has no sessions. */
static bool
pipeline_plan(void)
{
    struct gg_pipeline *p = NULL;
    struct gg_model_params params = { .device = "cpu" };
    struct gg_model *m = NULL;
    struct gg_session *s = NULL;
    int32_t first, end;
    bool right = refused(gg_pipeline_plan(0, 1, NULL, NULL, &err)) &&
                 refused(gg_pipeline_plan(-1, 2, NULL, &p, &err)) &&
                 refused(gg_pipeline_plan(2, 2, NULL, &p, &err)) &&
                 refused(gg_pipeline_plan(0, 1000, NULL, &p, &err)) &&
                 refused(gg_pipeline_plan(0, 2, "1", &p, &err)) && !p;

    must(gg_pipeline_plan(1, 2, NULL, &p, &err));
    params.pipeline = p;
    must(gg_model_open(scratch_path(), &params, &m, &err));
    right = right && gg_model_layers(m, &first, &end) == 2 && first == 1 &&
            end == 2 && refused(gg_session_new(m, NULL, &s, &err)) && !s;
    gg_model_free(m);
    gg_pipeline_leave(p);
    return right;
}

static bool
model_layers(void)
{
    int32_t first = 7, end = 7;

    return gg_model_layers(NULL, &first, &end) == 0 && first == 0 && end == 0 &&
           gg_model_layers(model, NULL, &end) == 2 && end == 2 &&
           gg_model_layers(model, &first, NULL) == 2 && first == 0;
}

static bool
pipeline_leave(void)
{
    gg_pipeline_leave(NULL);
    return true;
}

static bool
model_window_of(void)
{
    return gg_model_window(NULL) == 0;
}

static bool
model_family(void)
{
    size_t i = 0;

    while (gg_model_family(i))
        i++;
    return i > 20 && !gg_model_family(SIZE_MAX) &&
           gg_model_known(gg_model_family(i - 1));
}

static bool
model_n_scores(void)
{
    return gg_model_n_scores(NULL) == 0;
}

static bool
model_vocab(void)
{
    return !gg_model_vocab(NULL);
}

static bool
model_architecture(void)
{
    return !gg_model_architecture(NULL);
}

static bool
model_n_vocab(void)
{
    return gg_model_n_vocab(NULL) == 0;
}

static bool
model_n_ctx_train(void)
{
    return gg_model_n_ctx_train(NULL) == 0;
}

static bool
model_n_embd(void)
{
    return gg_model_n_embd(NULL) == 0;
}

static bool
model_is_encoder(void)
{
    return !gg_model_is_encoder(NULL);
}

static bool
model_pooling(void)
{
    enum gg_pooling p;

    return refused(gg_model_pooling(NULL, &p, &err)) &&
           refused(gg_model_pooling(model, NULL, &err));
}

/* ---- sessions ------------------------------------------------------------ */

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
    { .cache_type = (enum gg_cache_type)3 },
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
session_new_(void)
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
session_memory_(void)
{
    size_t a = 7, b = 7;

    gg_session_memory(session, NULL, NULL);
    gg_session_memory(NULL, &a, &b);
    return a == 0 && b == 0;
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
session_profile(void)
{
    n = 7;
    return !gg_session_profile(NULL, &n) && n == 0 &&
           !gg_session_profile(session, NULL);
}

/* ---- states -------------------------------------------------------------- */

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
state_open(void)
{
    struct gg_state_file *f = NULL;

    return refused(gg_state_open(NULL, session, &f, &err)) &&
           refused(gg_state_open(scratch_path(), NULL, &f, &err)) &&
           refused(gg_state_open(scratch_path(), session, NULL, &err)) && !f;
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

/* ---- samplers ------------------------------------------------------------ */

static bool
sample_grammar_new(void)
{
    struct gg_grammar *g = NULL;

    return refused(gg_grammar_new(NULL, "root ::= \"a\"", 12, &g, &err)) &&
           refused(gg_grammar_new(vocab, NULL, 12, &g, &err)) &&
           refused(gg_grammar_new(vocab, "root ::= \"a\"", 12, NULL, &err)) &&
           gg_grammar_new(vocab, NULL, 0, &g, &err) == GG_ERR_FORMAT && !g;
}

static bool
grammar_from_schema(void)
{
    struct gg_grammar *g = NULL;

    return refused(gg_grammar_from_schema(NULL, "{}", 2, &g, &err)) &&
           refused(gg_grammar_from_schema(vocab, NULL, 2, &g, &err)) &&
           refused(gg_grammar_from_schema(vocab, "{}", 2, NULL, &err)) &&
           gg_grammar_from_schema(vocab, NULL, 0, &g, &err) != GG_OK && !g;
}

static bool
grammar_free(void)
{
    gg_grammar_free(NULL);
    return true;
}

static bool
sampler_params_default(void)
{
    return gg_sampler_params_default().seed == 0;
}

/* Each member in turn is out of its range. */
static bool
sampler_new(void)
{
    static const struct gg_bias biases[] = { { -1, 1 }, { 1, NAN } };
    const struct gg_sampler_params d = gg_sampler_params_default();
    struct gg_sampler_params p[32];
    struct gg_sampler *s = NULL;
    bool right = refused(gg_sampler_new(&d, NULL, &err));
    int k = 0;

#define WRONG(member, value) (p[k] = d, p[k].member = value, k++)
    WRONG(temperature, -1);
    WRONG(temperature, NAN);
    WRONG(reserved[7], 1);
    WRONG(top_k, -2);
    WRONG(top_p, 2);
    WRONG(min_p, -1);
    WRONG(typical_p, 2);
    WRONG(top_n_sigma, -1);
    WRONG(xtc_probability, 2);
    WRONG(xtc_threshold, -1);
    WRONG(repeat_penalty, -1);
    WRONG(frequency_penalty, INFINITY);
    WRONG(presence_penalty, NAN);
    WRONG(penalty_last_n, -2);
    WRONG(dry_multiplier, -1);
    WRONG(dry_base, -1);
    WRONG(dry_allowed_length, -1);
    WRONG(dry_last_n, -2);
    WRONG(n_dry_breakers, 1);
    WRONG(n_bias, 1);
    WRONG(bias, &biases[0]);
    p[k - 1].n_bias = 1;
    WRONG(bias, &biases[1]);
    p[k - 1].n_bias = 1;
    WRONG(mirostat, 3);
    WRONG(mirostat_tau, -1);
    WRONG(mirostat_eta, 2);
#undef WRONG
    while (k-- > 0)
        if (!refused(gg_sampler_new(&p[k], &s, &err))) {
            printf("# parameters %d\n", k);
            right = false;
        }
    return right && !s;
}

static bool
sampler_free(void)
{
    gg_sampler_free(NULL);
    return true;
}

static bool
sampler_enough(void)
{
    return gg_sampler_enough(NULL) == 0;
}

static bool
sampler_remembers(void)
{
    return !gg_sampler_remembers(NULL);
}

static bool
sampler_candidates(void)
{
    static const int32_t wild[] = { -1, INT32_MAX };
    const struct gg_candidate *c = NULL;

#define TAKE(s, i, l, k, c, n) gg_sampler_candidates(s, i, l, k, c, n, &err)
    return refused(TAKE(NULL, NULL, logits, V, &c, &n)) &&
           refused(TAKE(sampler, NULL, NULL, V, &c, &n)) &&
           refused(TAKE(sampler, NULL, logits, V, NULL, &n)) &&
           refused(TAKE(sampler, NULL, logits, V, &c, NULL)) &&
           refused(TAKE(sampler, wild, logits, 2, &c, &n)) && !c &&
           TAKE(sampler, NULL, NULL, 0, &c, &n) != GG_OK;
#undef TAKE
}

static bool
history_new(void)
{
    struct gg_history *h = NULL;

    return refused(gg_history_new(NULL, &h, &err)) && !h &&
           refused(gg_history_new(sampler, NULL, &err));
}

static bool
history_free(void)
{
    gg_history_free(NULL);
    return true;
}

static bool
history_add(void)
{
    return refused(gg_history_add(NULL, ids, 1, &err)) &&
           refused(gg_history_add(history, NULL, 1, &err)) &&
           gg_history_add(history, NULL, 0, &err) == GG_OK;
}

static bool
history_is_complete(void)
{
    return !gg_history_is_complete(NULL);
}

static bool
history_mirostat(void)
{
    return gg_history_mirostat(NULL) == 0;
}

static bool
history_set_mirostat(void)
{
    gg_history_set_mirostat(NULL, 1);
    return true;
}

static bool
history_restart(void)
{
    gg_history_restart(NULL);
    return true;
}

/* Ids that no vocabulary has, and one that is there three times. */
static bool
sampler_next(void)
{
    static const int32_t wild[] = { -1, 5 }, far[] = { INT32_MAX, V };
    static const int32_t same[] = { 5, 5, 5 };
    struct gg_draw d = { .id = 7 };
    struct gg_history *h;
    bool right;

#define DRAW(s, h, i, l, n, d) gg_sampler_next(s, h, i, l, n, 0, 0, d, &err)
    must(gg_history_new(bound, &h, &err));
    right = refused(DRAW(NULL, NULL, NULL, logits, V, &d)) &&
            refused(DRAW(sampler, NULL, NULL, NULL, V, &d)) &&
            refused(DRAW(sampler, NULL, NULL, logits, V, NULL)) &&
            refused(DRAW(sampler, NULL, wild, logits, 2, &d)) &&
            refused(DRAW(bound, NULL, NULL, logits, V, &d)) &&
            refused(DRAW(bound, history, NULL, logits, V, &d)) &&
            refused(DRAW(bound, h, wild, logits, 2, &d)) &&
            DRAW(bound, h, far, logits, 2, &d) != GG_OK && d.id == 7;
    right &= DRAW(bound, h, same, logits, 3, &d) != GG_ERR_ARG;
#undef DRAW
    gg_history_free(h);
    return right;
}

static bool
sampler_draw(void)
{
    int32_t id;

#define DRAW(s, i, l, n, out) gg_sampler_draw(s, i, l, n, 0, 0, out, &err)
    return refused(DRAW(NULL, NULL, logits, V, &id)) &&
           refused(DRAW(sampler, NULL, NULL, V, &id)) &&
           refused(DRAW(sampler, NULL, logits, V, NULL)) &&
           refused(DRAW(bound, NULL, logits, V, &id)) &&
           DRAW(sampler, NULL, logits, 0, &id) != GG_OK;
#undef DRAW
}

/* ---- token streams ------------------------------------------------------- */

static bool
line_reader_new(void)
{
    struct gg_line_reader *r = NULL;

    return refused(gg_line_reader_new(0, NULL, &r, &err)) && !r &&
           refused(gg_line_reader_new(0, "name", NULL, &err));
}

static bool
line_reader_free(void)
{
    gg_line_reader_free(NULL);
    return true;
}

static bool
line_reader_split(void)
{
    gg_line_reader_split(NULL);
    return true;
}

static bool
line_reader_watch(void)
{
    gg_line_reader_watch(NULL, 0);
    return true;
}

static bool
line_read(void)
{
    struct gg_line_reader *r;
    struct gg_line line;
    bool right;

    must(gg_line_reader_new(-1, "none", &r, &err));
    right = refused(gg_line_read(NULL, &line, &err)) &&
            refused(gg_line_read(r, NULL, &err)) &&
            gg_line_read(r, &line, &err) == GG_ERR_IO;
    gg_line_reader_free(r);
    return right;
}

static bool
line_ready(void)
{
    return !gg_line_ready(NULL);
}

static bool
line_write(void)
{
    static const int32_t wild[] = { -1 };
    static const struct gg_line wrong[] = {
        { .kind = (enum gg_line_kind)3 },
        { .kind = (enum gg_line_kind) - 1 },
        { .kind = GG_LINE_IDS, .n_ids = 1 },
        { .kind = GG_LINE_IDS, .n_ids = 1, .ids = wild },
        { .kind = GG_LINE_ERROR },
    };
    struct gg_line good = { .kind = GG_LINE_IDS };
    bool right = refused(gg_line_write(null_fd, NULL, &err)) &&
                 gg_line_write(-1, &good, &err) == GG_ERR_IO;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        right &= refused(gg_line_write(null_fd, &wrong[i], &err));
    return right;
}

/* ---- logit streams ------------------------------------------------------- */

static bool
logit_reader_new(void)
{
    struct gg_logit_reader *r = NULL;

    return refused(gg_logit_reader_new(0, NULL, &r, &err)) && !r &&
           refused(gg_logit_reader_new(0, "name", NULL, &err));
}

static bool
logit_reader_free(void)
{
    gg_logit_reader_free(NULL);
    return true;
}

static bool
logit_reader_begin(void)
{
    struct gg_logit_reader *r;
    bool right;

    must(gg_logit_reader_new(-1, "none", &r, &err));
    right = refused(gg_logit_reader_begin(NULL, "a", 1, &err)) &&
            refused(gg_logit_reader_begin(r, NULL, 1, &err));
    gg_logit_reader_free(r);
    return right;
}

static bool
logit_read(void)
{
    struct gg_logit_reader *r;
    struct gg_logit_record record;
    bool right;

    must(gg_logit_reader_new(-1, "none", &r, &err));
    right = refused(gg_logit_read(NULL, &record, &err)) &&
            refused(gg_logit_read(r, NULL, &err)) &&
            gg_logit_read(r, &record, &err) == GG_ERR_IO;
    gg_logit_reader_free(r);
    return right;
}

static bool
logit_reader_logits(void)
{
    return !gg_logit_reader_logits(NULL);
}

static bool
logit_writer_new(void)
{
    static const struct gg_logit_head wrong[] = {
        { .n_vocab = 0 },
        { .n_vocab = UINT32_MAX },
        { .n_vocab = 9, .kind = (enum gg_vector_kind)2 },
        { .n_vocab = 9, .encoding = (enum gg_vector_encoding)3 },
        { .n_vocab = 9, .n_eog = 1 },
        { .n_vocab = 5, .n_eog = 1, .eog_ids = ids },
        { .n_vocab = 9, .n_eog = SIZE_MAX, .eog_ids = ids },
    };
    struct gg_logit_head good = { .n_vocab = 9 };
    struct gg_logit_writer *w = NULL;
    bool right = refused(gg_logit_writer_new(null_fd, NULL, &w, &err)) &&
                 refused(gg_logit_writer_new(null_fd, &good, NULL, &err)) &&
                 gg_logit_writer_new(-1, &good, &w, &err) == GG_ERR_IO;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        right &= refused(gg_logit_writer_new(null_fd, &wrong[i], &w, &err));
    return right && !w;
}

static bool
logit_writer_free(void)
{
    gg_logit_writer_free(NULL);
    return true;
}

static bool
logit_write(void)
{
    static const struct gg_logit_record wrong[] = {
        { .kind = GG_RECORD_HEAD },
        { .kind = (enum gg_record_kind)9 },
        { .kind = GG_RECORD_ERROR },
        { .kind = GG_RECORD_LOGITS },
        { .kind = GG_RECORD_LOGITS, .n_logits = V },
        { .kind = GG_RECORD_LOGITS, .logits = logits, .n_logits = 1 },
        { .kind = GG_RECORD_LOGITS,
          .logits = logits,
          .n_logits = V,
          .logit_ids = ids },
        { .kind = GG_RECORD_LOGITS,
          .logits = logits,
          .n_logits = V,
          .n_ids = 1 },
        { .kind = GG_RECORD_LOGITS,
          .logits = logits,
          .n_logits = V,
          .ids = ids,
          .n_ids = SIZE_MAX },
        { .kind = GG_RECORD_LOGITS,
          .logits = logits,
          .n_logits = V,
          .n_past = 1 },
        { .kind = GG_RECORD_LOGITS,
          .logits = logits,
          .n_logits = V,
          .past = ids,
          .n_past = SIZE_MAX },
    };
    struct gg_logit_head head = { .n_vocab = V };
    struct gg_logit_writer *w;
    bool right;

    must(gg_logit_writer_new(null_fd, &head, &w, &err));
    right = refused(gg_logit_write(NULL, &wrong[0], &err)) &&
            refused(gg_logit_write(w, NULL, &err));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (!refused(gg_logit_write(w, &wrong[i], &err))) {
            printf("# record %zu\n", i);
            right = false;
        }
    gg_logit_writer_free(w);
    return right;
}

/* ---- all of them --------------------------------------------------------- */

static const struct {
    const char *name;
    bool (*test)(void);
} tests[] = {
    { "gg_status_string", status_string },
    { "gg_escape", escape },
    { "gg_version", version },
    { "gg_version_number", version_number },
    { "gg_default_threads", default_threads },
    { "gg_set_open_callback", set_open_callback },
    { "gg_file_open", file_open },
    { "gg_file_open_metadata", file_open_metadata },
    { "gg_file_open_adapter", file_open_adapter },
    { "gg_file_close", file_close },
    { "gg_file_gguf", file_gguf },
    { "gg_file_format", file_format },
    { "gg_file_data", file_data },
    { "gg_file_read", file_read_ },
    { "gg_file_forget", file_forget_ },
    { "gg_vocab_open", vocab_open },
    { "gg_vocab_free", vocab_free },
    { "gg_vocab_note", vocab_note },
    { "gg_vocab_size", vocab_size },
    { "gg_vocab_fingerprint", vocab_fingerprint },
    { "gg_vocab_bos", vocab_bos },
    { "gg_vocab_eos", vocab_eos },
    { "gg_vocab_add_bos", vocab_add_bos },
    { "gg_vocab_add_eos", vocab_add_eos },
    { "gg_vocab_is_eog", vocab_is_eog },
    { "gg_vocab_eog_ids", vocab_eog_ids },
    { "gg_vocab_type", vocab_type },
    { "gg_vocab_token", vocab_token },
    { "gg_vocab_find", vocab_find },
    { "gg_vocab_encode", vocab_encode },
    { "gg_vocab_encode_infill", vocab_encode_infill },
    { "gg_vocab_cut", vocab_cut },
    { "gg_vocab_find_control", vocab_find_control },
    { "gg_vocab_offsets", vocab_offsets },
    { "gg_vocab_decode_ids", vocab_decode_ids },
    { "gg_vocab_decode", vocab_decode },
    { "gg_chat_at", chat_at },
    { "gg_chat_name", chat_name },
    { "gg_chat_find", chat_find },
    { "gg_chat_parse", chat_parse },
    { "gg_chat_open", chat_open },
    { "gg_chat_takes_date", chat_takes_date },
    { "gg_chat_free", chat_free },
    { "gg_vocab_chat_source", vocab_chat_source },
    { "gg_chat_encode", chat_encode },
    { "gg_chat_render", chat_render },
    { "gg_chat_reasoning", chat_reasoning },
    { "gg_chat_reads", chat_reads },
    { "gg_chat_calls_open", chat_calls_open },
    { "gg_chat_calls_free", chat_calls_free },
    { "gg_chat_calls_name", chat_calls_name },
    { "gg_chat_calls_read", chat_calls_read },
    { "gg_chat_calls_grammar", chat_calls_grammar },
    { "gg_session_snapshots", session_snapshots },
    { "gg_chat_reader_new", chat_reader_new },
    { "gg_chat_reader_free", chat_reader_free },
    { "gg_chat_reader_thinks", chat_reader_thinks },
    { "gg_model_open", model_open },
    { "gg_pipeline_ask", pipeline_ask },
    { "gg_pipeline_join", pipeline_join },
    { "gg_pipeline_rank", pipeline_rank },
    { "gg_pipeline_size", pipeline_size },
    { "gg_numa_init", numa_start },
    { "gg_numa_nodes", numa_nodes },
    { "gg_pipeline_plan", pipeline_plan },
    { "gg_model_layers", model_layers },
    { "gg_pipeline_serve", pipeline_serve },
    { "gg_pipeline_leave", pipeline_leave },
    { "gg_model_free", model_free },
    { "gg_model_note", model_note },
    { "gg_model_device", model_device },
    { "gg_model_device_description", model_device_description },
    { "gg_model_gpu_layers", model_gpu_layers },
    { "gg_model_n_homes", model_n_homes },
    { "gg_model_home", model_home },
    { "gg_model_n_layers", model_n_layers },
    { "gg_model_home_of", model_home_of_layer },
    { "gg_model_n_adapters", model_n_adapters },
    { "gg_model_known", model_known },
    { "gg_model_family", model_family },
    { "gg_model_n_scores", model_n_scores },
    { "gg_model_window", model_window_of },
    { "gg_model_vocab", model_vocab },
    { "gg_model_architecture", model_architecture },
    { "gg_model_n_vocab", model_n_vocab },
    { "gg_model_n_ctx_train", model_n_ctx_train },
    { "gg_model_n_embd", model_n_embd },
    { "gg_model_is_encoder", model_is_encoder },
    { "gg_model_pooling", model_pooling },
    { "gg_session_params_default", session_params_default },
    { "gg_session_new", session_new_ },
    { "gg_model_memory", model_memory },
    { "gg_model_home_memory", model_home_memory },
    { "gg_session_free", session_free },
    { "gg_session_n_ctx", session_n_ctx },
    { "gg_session_n_slots", session_n_slots },
    { "gg_session_eval", session_eval },
    { "gg_session_length", session_length },
    { "gg_session_truncate", session_truncate },
    { "gg_session_copy", session_copy },
    { "gg_session_memory", session_memory_ },
    { "gg_session_mtp", session_mtp },
    { "gg_session_used", session_used },
    { "gg_session_profile", session_profile },
    { "gg_session_save", session_save },
    { "gg_state_open", state_open },
    { "gg_state_close", state_close },
    { "gg_state_get", state_get },
    { "gg_session_load", session_load },
    { "gg_grammar_new", sample_grammar_new },
    { "gg_grammar_from_schema", grammar_from_schema },
    { "gg_grammar_free", grammar_free },
    { "gg_sampler_params_default", sampler_params_default },
    { "gg_sampler_new", sampler_new },
    { "gg_sampler_free", sampler_free },
    { "gg_sampler_enough", sampler_enough },
    { "gg_sampler_candidates", sampler_candidates },
    { "gg_history_new", history_new },
    { "gg_history_free", history_free },
    { "gg_history_add", history_add },
    { "gg_history_is_complete", history_is_complete },
    { "gg_history_mirostat", history_mirostat },
    { "gg_history_set_mirostat", history_set_mirostat },
    { "gg_history_restart", history_restart },
    { "gg_sampler_remembers", sampler_remembers },
    { "gg_sampler_next", sampler_next },
    { "gg_sampler_draw", sampler_draw },
    { "gg_log_sum_exp", log_sum_exp },
    { "gg_line_reader_new", line_reader_new },
    { "gg_line_reader_free", line_reader_free },
    { "gg_line_reader_split", line_reader_split },
    { "gg_line_reader_watch", line_reader_watch },
    { "gg_line_read", line_read },
    { "gg_line_ready", line_ready },
    { "gg_line_write", line_write },
    { "gg_logit_reader_new", logit_reader_new },
    { "gg_logit_reader_free", logit_reader_free },
    { "gg_logit_reader_begin", logit_reader_begin },
    { "gg_logit_read", logit_read },
    { "gg_logit_reader_logits", logit_reader_logits },
    { "gg_logit_writer_new", logit_writer_new },
    { "gg_logit_writer_free", logit_writer_free },
    { "gg_logit_write", logit_write },
};

enum {
    N_TESTS = sizeof(tests) / sizeof(tests[0])
};

static bool
has_test(const char *name, size_t len)
{
    for (int i = 0; i < N_TESTS; i++)
        if (strlen(tests[i].name) == len && !memcmp(tests[i].name, name, len))
            return true;
    return false;
}

static void
test_header(void)
{
    int n_gg = header_functions("include/gg.h", has_test);
    int n_stream = header_functions("include/gg-stream.h", has_test);

    ok(n_gg > 0 && n_stream > 0 && n_gg + n_stream == N_TESTS,
       "every function of the headers");
}

static void
begin(void)
{
    struct gg_sampler_params p = gg_sampler_params_default();
    struct gg_chunk c = { .ids = ids, .n = 3 };

    model = new_model(&(struct model_spec){ .arch = "llama" });
    vocab = gg_model_vocab(model);
    must(gg_file_open(scratch_path(), &file, &err));
    session = new_session(model, (struct gg_session_params){
                                     .n_ctx = 32,
                                     .n_slots = 2,

                                 });
    must(gg_session_eval(session, &c, 1, &err));
    must(gg_sampler_new(&p, &sampler, &err));
    must(gg_history_new(sampler, &history, &err));
    must(gg_grammar_new(vocab, grammar_text, strlen(grammar_text), &grammar,
                        &err));
    p.grammar = grammar;
    must(gg_sampler_new(&p, &bound, &err));
    null_fd = open("/dev/null", O_WRONLY);
}

static void
end(void)
{
    close(null_fd);
    gg_sampler_free(bound);
    gg_grammar_free(grammar);
    gg_history_free(history);
    gg_sampler_free(sampler);
    gg_session_free(session);
    gg_file_close(file);
    gg_model_free(model);
}

int
main(void)
{
    begin();
    test_header();
    for (int i = 0; i < N_TESTS; i++) {
        printf("# %s\n", tests[i].name);
        fflush(stdout);
        ok(tests[i].test(), tests[i].name);
    }
    end();
    return tap_done();
}
