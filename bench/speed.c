/* speed.c - tokens a second of a model: prefill, decoding
 *
 *   speed [--device DEVICE] [--bf16] MODEL THREADS NPROMPT NGEN [SEQUENCES]
 *       prints two numbers, tokens/s of prefill and of decoding: a prompt of
 *       NPROMPT ids, then NGEN ids one by one, in each of SEQUENCES (1) at
 * once;
 *       --bf16: as with --precision bf16
 *   speed --work MODEL
 *       prints four fields: the type of most weights, the bytes of weights
 *       that decoding a token reads, the multiplications and additions of
 *       products of weights that a prompt's token takes (the output's aside),
 *       and those of the output
 *
 * Nothing is sampled, and no text is made of anything: ids are drawn. The first
 * prompt and the first id are not counted, as pages come into memory; on a
 * device that was named the first is a whole one, as kernels and libraries are
 * loaded, and a prompt is one batch of up to 2,048 ids. */
#include <gg.h>
#include <gguf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM_UP = 16, /* ids of a prompt that is not counted */
    DEVICE_BATCH = 2048,
};

static struct gg_error err;

static void
must(enum gg_status status)
{
    if (status == GG_OK)
        return;
    fprintf(stderr, "speed: %s\n", err.message);
    exit(1);
}

static void *
alloc(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p) {
        fputs("speed: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

/* ---- tokens a second ---------------------------------------------------- */

struct run {
    struct gg_session *session;
    int n_seq, n_prompt, n_gen, n_warm_up;
    int32_t n_vocab;
    int32_t *ids; /* n_seq rows of n_prompt */
    struct gg_chunk *chunks;
    float *logits; /* n_seq rows */
    uint64_t state;
};

static int32_t
draw(struct run *r)
{
    r->state = r->state * UINT64_C(6364136223846793005) + 1;
    return (int32_t)((r->state >> 33) % (uint64_t)r->n_vocab);
}

/* n new ids for every sequence; seconds that they took. */
static double
eval(struct run *r, int n)
{
    int64_t start;

    for (int s = 0; s < r->n_seq; s++) {
        int32_t *ids = r->ids + (size_t)s * (size_t)r->n_prompt;

        for (int i = 0; i < n; i++)
            ids[i] = draw(r);
        r->chunks[s] = (struct gg_chunk){
            .slot = s,
            .ids = ids,
            .n = (size_t)n,
            .rows.logits = r->logits + (size_t)s * (size_t)r->n_vocab,
        };
    }
    start = ggml_time_us();
    must(gg_session_eval(r->session, r->chunks, (size_t)r->n_seq, &err));
    return (double)(ggml_time_us() - start) * 1e-6;
}

static void
forget(struct run *r)
{
    for (int s = 0; s < r->n_seq; s++)
        gg_session_truncate(r->session, s, 0);
}

static void
print_rates(struct run *r)
{
    double prompt, gen = 0;

    eval(r, r->n_prompt < r->n_warm_up ? r->n_prompt : r->n_warm_up);
    forget(r);
    prompt = eval(r, r->n_prompt);
    if (r->n_gen)
        eval(r, 1);
    for (int i = 0; i < r->n_gen; i++)
        gen += eval(r, 1);
    printf("%.2f\t%.2f\n", r->n_seq * r->n_prompt / prompt,
           gen > 0 ? r->n_seq * r->n_gen / gen : 0);
}

static void
measure(const char *path, const char *device, bool bf16, int n_threads,
        struct run *r)
{
    struct gg_session_params params = gg_session_params_default();
    size_t n_seq = (size_t)r->n_seq;
    struct gg_model *model;

    must(gg_model_open(path, &(struct gg_model_params){ .device = device },
                       &model, &err));
    if (gg_model_note(model))
        fprintf(stderr, "speed: %s\n", gg_model_note(model));
    params.n_threads = n_threads;
    params.bf16 = bf16;
    params.n_slots = r->n_seq;
    params.n_ctx = r->n_prompt + r->n_gen + 1;
    r->n_warm_up = WARM_UP;
    if (device && strcmp(device, "cpu") != 0) {
        params.n_batch = DEVICE_BATCH;
        r->n_warm_up = r->n_prompt;
    }
    must(gg_session_new(model, &params, &r->session, &err));
    r->n_vocab = gg_model_n_vocab(model);
    r->ids = alloc(n_seq * (size_t)r->n_prompt, sizeof(*r->ids));
    r->chunks = alloc(n_seq, sizeof(*r->chunks));
    r->logits = alloc(n_seq * (size_t)r->n_vocab, sizeof(*r->logits));
    print_rates(r);
    free(r->ids);
    free(r->chunks);
    free(r->logits);
    gg_session_free(r->session);
    gg_model_free(model);
}

/* ---- work --------------------------------------------------------------- */

static double
number(const struct gguf_context *g, const char *name, double otherwise)
{
    int64_t arch = gguf_find_key(g, "general.architecture"), key;
    char full[128];

    if (arch < 0)
        return otherwise;
    snprintf(full, sizeof(full), "%s.%s", gguf_get_val_str(g, arch), name);
    key = gguf_find_key(g, full);
    if (key < 0 || gguf_get_kv_type(g, key) != GGUF_TYPE_UINT32)
        return otherwise;
    return gguf_get_val_u32(g, key);
}

struct work {
    double bytes, ops, output_ops;
    double by_type[GGML_TYPE_COUNT]; /* bytes */
};

/* Of experts a token takes some. A table of embeddings is looked up, and where
 * there is no output it is the output as well, which a prompt takes once. */
static void
add_tensor(const struct gguf_context *g, const struct ggml_tensor *t,
           struct work *w)
{
    double bytes = (double)ggml_nbytes(t), n = (double)ggml_nelements(t);
    bool output = !strcmp(t->name, "output.weight");

    if (!strcmp(t->name, "token_embd.weight"))
        output = gguf_find_tensor(g, "output.weight") < 0;
    else if (!strcmp(t->name, "position_embd.weight") ||
             !strcmp(t->name, "per_layer_token_embd.weight"))
        return;
    if (!strcmp(t->name, "token_embd.weight") && !output)
        return;
    if (strstr(t->name, "_exps.")) {
        double part =
            number(g, "expert_used_count", 1) / number(g, "expert_count", 1);

        bytes *= part;
        n *= part;
    }
    w->bytes += bytes;
    w->by_type[t->type] += bytes;
    if (ggml_n_dims(t) > 1)
        *(output ? &w->output_ops : &w->ops) += 2 * n;
}

static void
print_work(const char *path)
{
    struct ggml_context *ctx = NULL;
    struct gguf_init_params params = { .no_alloc = true, .ctx = &ctx };
    struct gguf_context *g = gguf_init_from_file(path, params);
    struct work w = { 0 };
    int most = 0;

    if (!g) {
        fprintf(stderr, "speed: %s: cannot be read\n", path);
        exit(1);
    }
    for (struct ggml_tensor *t = ggml_get_first_tensor(ctx); t;
         t = ggml_get_next_tensor(ctx, t))
        add_tensor(g, t, &w);
    for (int i = 0; i < GGML_TYPE_COUNT; i++)
        most = w.by_type[i] > w.by_type[most] ? i : most;
    printf("%s\t%.0f\t%.0f\t%.0f\n", ggml_type_name((enum ggml_type)most),
           w.bytes, w.ops, w.output_ops);
    ggml_free(ctx);
    gguf_free(g);
}

/* ------------------------------------------------------------------------- */

static int
count(const char *text, int least)
{
    int n = atoi(text);

    return n < least ? least : n;
}

int
main(int argc, char **argv)
{
    struct run r = { .n_seq = 1, .state = 1 };
    const char *device = "cpu";
    bool bf16 = false;

    if (argc > 2 && !strcmp(argv[1], "--device")) {
        device = argv[2];
        argc -= 2;
        argv += 2;
    }
    if (argc > 1 && !strcmp(argv[1], "--bf16")) {
        bf16 = true;
        argc--;
        argv++;
    }
    if (argc == 3 && !strcmp(argv[1], "--work")) {
        print_work(argv[2]);
    } else if (argc == 5 || argc == 6) {
        r.n_prompt = count(argv[3], 1);
        r.n_gen = count(argv[4], 0);
        if (argc == 6)
            r.n_seq = count(argv[5], 1);
        measure(argv[1], device, bf16, count(argv[2], 1), &r);
    } else {
        fputs("usage: speed [--device DEVICE] [--bf16] MODEL THREADS NPROMPT "
              "NGEN [SEQUENCES]\n"
              "       speed --work MODEL\n",
              stderr);
        return 2;
    }
    return fclose(stdout) != 0;
}
