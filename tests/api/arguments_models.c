/* arguments_models.c - arguments of functions of models */
#include "api/arguments.h"

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
                 refused(gg_model_open(model_path, NULL, NULL, &err));

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (!refused(gg_model_open(model_path, &wrong[i], &m, &err))) {
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
model_home_of(void)
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

static bool
model_drafts(void)
{
    return !gg_model_drafts(NULL) && !gg_model_drafts("llama") &&
           gg_model_drafts("eagle3") && !gg_model_known("eagle3");
}

static bool
model_drafter(void)
{
    return !gg_model_drafter(NULL) && !gg_model_drafter(model);
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
model_window(void)
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
model_classifier(void)
{
    struct gg_classifier c = { .n = 7 };

    return refused(gg_model_classifier(NULL, &c, &err)) &&
           refused(gg_model_classifier(model, NULL, &err)) &&
           gg_model_classifier(model, &c, &err) == GG_ERR_UNSUPPORTED &&
           c.n == 7;
}

static bool
model_label(void)
{
    size_t len = 7;

    return !gg_model_label(NULL, 0, &len) && len == 0 &&
           !gg_model_label(model, 0, &len) &&
           !gg_model_label(model, -1, &len) && !gg_model_label(model, 0, NULL);
}

static bool
classifier_rate(void)
{
    static const float scores[] = { 0, 0 };
    struct gg_classifier c = { .n = 2 };
    struct gg_classifier none = { .n = 0 }, odd = { .n = 2, .problem = 3 };
    double p[2] = { 7, 7 };

    return refused(gg_classifier_rate(NULL, scores, p, &err)) &&
           refused(gg_classifier_rate(&c, NULL, p, &err)) &&
           refused(gg_classifier_rate(&c, scores, NULL, &err)) &&
           refused(gg_classifier_rate(&none, scores, p, &err)) &&
           refused(gg_classifier_rate(&odd, scores, p, &err)) && p[0] > 6 &&
           gg_classifier_rate(&c, scores, p, &err) == GG_OK && p[0] < 0.6 &&
           p[1] > 0.4;
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
model_vector_length(void)
{
    return gg_model_vector_length(NULL, GG_POOL_MEAN) == 0 &&
           gg_model_vector_length(NULL, GG_POOL_NONE) == 0 &&
           gg_model_vector_length(NULL, GG_POOL_TOKENS) == 0;
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

const struct argument_test arguments_models[] = {
    TEST(model_open),       TEST(model_layers),
    TEST(model_free),       TEST(model_note),
    TEST(model_device),     TEST(model_device_description),
    TEST(model_drafter),    TEST(model_drafts),
    TEST(model_gpu_layers), TEST(model_n_homes),
    TEST(model_home),       TEST(model_n_layers),
    TEST(model_home_of),    TEST(model_n_adapters),
    TEST(model_known),      TEST(model_family),
    TEST(model_n_scores),   TEST(model_vector_length),
    TEST(model_classifier), TEST(model_label),
    TEST(classifier_rate),  TEST(model_window),
    TEST(model_vocab),      TEST(model_architecture),
    TEST(model_n_vocab),    TEST(model_n_ctx_train),
    TEST(model_n_embd),     TEST(model_is_encoder),
    TEST(model_pooling),    { .name = NULL },
};
