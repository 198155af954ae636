/* test_importance.c - importance matrices: what a sound one gives, and that a
 * hostile one gets a sentence */
#include <math.h>

#include "common/quantize/importance.h"
#include "fixtures/importance_cases.h"
#include "harness/scratch.h"
#include "harness/tap.h"

static const char *
write_case(const struct importance_case *c)
{
    const char *path = scratch_path();
    struct bytes b = BYTES_HERE;
    FILE *f = fopen(path, "wb");

    importance_build(c, &b);
    if (!f || fwrite(b.data, 1, b.n, f) != b.n || fclose(f))
        exit(99);
    free(b.data);
    return path;
}

/* All that the tool asks for. */
static enum gg_status
read_all(const struct importance *m, const struct gguf_context *model,
         struct gg_error *err)
{
    enum gg_status st = GG_OK;
    float *weights;

    for (int64_t i = 0; st == GG_OK && i < gguf_get_n_tensors(model); i++) {
        st = importance_weights(m, model, i, &weights, err);
        for (int k = 0; weights && k < IMPORTANCE_COLUMNS * (i ? 2 : 1); k++)
            if (!(weights[k] >= 0) || isinf(weights[k]))
                st = GG_ERR_ARG;
        free(weights);
    }
    return st;
}

static bool
says(const struct gg_error *err, const char *part)
{
    if (scratch_names(err->message, scratch_path()) &&
        strstr(err->message, part) && !strchr(err->message, '\n'))
        return true;
    printf("# %s\n", err->message);
    return false;
}

static void
test_case(const struct importance_case *c, const struct gguf_context *model)
{
    struct importance m;
    struct gg_error err = { "" };
    const char *path = write_case(c);
    enum gg_status st = importance_open(&m, path, &err);

    if (!c->message) {
        ok(st == GG_OK && read_all(&m, model, &err) == GG_OK, c->name);
    } else if (c->late) {
        ok(st == GG_OK && read_all(&m, model, &err) == GG_ERR_FORMAT &&
               says(&err, c->message),
           c->name);
    } else {
        ok((st == GG_ERR_FORMAT || st == GG_ERR_TRUNCATED) && !m.file &&
               says(&err, c->message),
           c->name);
    }
    if (st == GG_OK)
        importance_close(&m);
}

static void
test_weights(const struct gguf_context *model)
{
    struct importance m;
    float *w = NULL;
    int32_t n = 0;

    ok(importance_open(&m, write_case(&importance_cases[0]), NULL) == GG_OK &&
           importance_count(&m, model, &n, NULL) == GG_OK && n == 2,
       "both tensors are found");
    ok(importance_weights(&m, model, 1, &w, NULL) == GG_OK && w &&
           w[0] == 0.5f / 7 && w[256] == 256.5f / 7 && w[511] == 511.5f / 7,
       "weights are mean squares, expert after expert");
    free(w);
    importance_close(&m);
}

static void
test_unused_expert(const struct gguf_context *model)
{
    const struct importance_case c = { .tensor = 3, .set = true };
    struct importance m;
    float *w = NULL;

    ok(importance_open(&m, write_case(&c), NULL) == GG_OK &&
           importance_weights(&m, model, 1, &w, NULL) == GG_OK && w &&
           w[0] == 1 && w[255] == 1 && w[256] == 256.5f / 7,
       "an expert that was never used has ones");
    free(w);
    importance_close(&m);
}

static void
test_other_model(void)
{
    struct gguf_context *none = gguf_init_empty();
    struct importance m;
    struct gg_error err = { "" };
    int32_t n;

    ok(importance_open(&m, write_case(&importance_cases[0]), &err) == GG_OK &&
           importance_count(&m, none, &n, &err) == GG_ERR_FORMAT &&
           says(&err, "no tensor of the model is in it"),
       "a model of other tensors");
    importance_close(&m);
    gguf_free(none);
}

/* Cut anywhere it is not taken. */
static void
test_cut(void)
{
    struct importance_case c = importance_cases[0];
    struct bytes b = BYTES_HERE;
    size_t taken = 0;

    importance_build(&c, &b);
    for (c.cut = 1; c.cut <= b.n; c.cut += c.cut < 3000 ? 97 : 1) {
        struct importance m;

        if (importance_open(&m, write_case(&c), NULL) == GG_OK) {
            importance_close(&m);
            taken++;
        }
    }
    is(taken, 0, "cut anywhere");
    free(b.data);
}

int
main(void)
{
    struct gguf_context *model = importance_model();

    for (size_t i = 0; i < n_importance_cases; i++)
        test_case(&importance_cases[i], model);
    test_weights(model);
    test_unused_expert(model);
    test_other_model();
    test_cut();
    gguf_free(model);
    return tap_done();
}
