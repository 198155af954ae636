/* test_poison.c - a model with a tensor of NaN, or of infinities, answers
 * nothing: its logits are no numbers, or it is refused
 *
 * Each kind of tensor of each family, with the prompt at once and id by id,
 * with all types of caches. */
#include <math.h>
#include <stdio.h>

#include "harness/session_test.h"

enum {
    N = 24, /* beyond a small batch of queries */
    NAME = 64,
};

static int32_t ids[N];

/* Kinds of tensors that logits need not depend on. */
struct exempt {
    const char *family; /* its first letters; NULL: any */
    const char *part;   /* of the tensor's name */
    bool infinite;      /* only if it is infinite */
    const char *why;
};

static const struct exempt exempts[] = {
    { NULL, "nextn", false, "MTP layers are not evaluated" },
    { NULL, "rope_factors_long", false, "the context is short" },
};

static bool
is_exempt(const char *family, const char *tensor, bool infinite)
{
    for (size_t i = 0; i < sizeof(exempts) / sizeof(exempts[0]); i++) {
        const struct exempt *e = &exempts[i];

        if ((!e->family || !strncmp(family, e->family, strlen(e->family))) &&
            strstr(tensor, e->part) && (infinite || !e->infinite))
            return true;
    }
    return false;
}

static bool
all_finite(const float *logits)
{
    bool all = true;

    for (int i = 0; i < V; i++)
        all = all && isfinite(logits[i]);
    return all;
}

/* Whether it answers: with finite logits after N ids, `step` at a time. */
static bool
answers(const struct gg_model *m, enum gg_cache_type type, int step)
{
    struct gg_session_params params = { .cache_type = type,
                                        .n_ctx = 64,
                                        .n_threads = 1 + step % 3 };
    struct gg_session *s;
    float logits[V];

    if (gg_session_new(m, &params, &s, &err) != GG_OK)
        return false; /* of heads that are no whole blocks of the type */
    for (int i = 0; i < N; i += step)
        eval_ids(s, 0, ids, i, i + step < N ? i + step : N, logits);
    gg_session_free(s);
    return all_finite(logits);
}

static void
check_tensor(const char *family, const struct model_spec *spec)
{
    static const enum gg_cache_type types[] = { GG_CACHE_F16, GG_CACHE_F32,
                                                GG_CACHE_Q8_0 };
    struct gg_model *m;
    char title[200];
    bool good = true;

    if (!models_write(spec, scratch_path()))
        exit(99);
    if (gg_model_open(scratch_path(), NULL, &m, &err) == GG_OK) {
        for (int i = 0; i < 3; i++)
            good = good && !answers(m, types[i], N) && !answers(m, types[i], 1);
        gg_model_free(m);
    }
    snprintf(title, sizeof(title), "%s, %s %s", family, spec->nan,
             spec->infinite ? "infinite" : "NaN");
    ok(good, title);
}

/* A tensor's name without its layer's number. */
static void
kind_of(const char *name, char *kind)
{
    int layer = 0, n = 0;

    if (sscanf(name, "blk.%d.%n", &layer, &n) == 1 && n > 0)
        name += n;
    snprintf(kind, NAME, "%s", name);
}

/* Whether a tensor before it is of its kind. */
static bool
is_repeated(const struct gguf_context *g, int64_t i)
{
    char kind[NAME], before[NAME];

    kind_of(gguf_get_tensor_name(g, i), kind);
    while (i-- > 0) {
        kind_of(gguf_get_tensor_name(g, i), before);
        if (!strcmp(kind, before))
            return true;
    }
    return false;
}

static void
check_family(const char *family)
{
    struct gguf_init_params params = { .no_alloc = true };
    struct model_spec spec;
    struct gguf_context *g;
    char name[NAME];

    snprintf(name, sizeof(name), "%s-f32", family);
    if (!models_named(name, &spec) || !models_write(&spec, scratch_path()) ||
        !(g = gguf_init_from_file(scratch_path(), params)))
        exit(99);
    for (int64_t i = 0; i < 2 * gguf_get_n_tensors(g); i++) {
        const char *tensor = gguf_get_tensor_name(g, i / 2);

        spec.nan = tensor;
        spec.infinite = i % 2;
        if (!is_repeated(g, i / 2) &&
            !is_exempt(family, tensor, spec.infinite))
            check_tensor(family, &spec);
    }
    gguf_free(g);
}

int
main(int argc, char **argv)
{
    const char *family;

    fill_ids(ids, N);
    for (size_t i = 0; (family = models_any_family(i)); i++) {
        struct model_spec spec;
        char name[NAME];

        snprintf(name, sizeof(name), "%s-f32", family);
        if (!models_named(name, &spec) || (argc > 1 && strcmp(family, argv[1])))
            continue;
        if (!strstr(spec.arch, "bert") && !strstr(spec.arch, "embedding"))
            check_family(family);
    }
    return tap_done();
}
