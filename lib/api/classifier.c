/* classifier.c - heads with labels: names of scores, and probabilities */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/model.h"
#include "core/error.h"
#include "graph/arch.h"

/* The file's key of that name; false: it has none, or another type. */
static bool
find_text(const struct gg_model *m, const char *name, struct gguf_str *out)
{
    char key[128];

    snprintf(key, sizeof(key), "%s.%s", m->model->arch->name, name);
    return gguf_find_key(m->file.gguf, key) >= 0 &&
           gguf_get_str(m->file.gguf, key, out, NULL) == GG_OK;
}

/* A classifier of ids has one right label an id, whatever its file says. */
static enum gg_status
read_problem(const struct gg_model *m, struct gg_classifier *c,
             struct gg_error *err)
{
    static const char *const names[] = {
        [GG_PROBLEM_ONE] = "single_label_classification",
        [GG_PROBLEM_MANY] = "multi_label_classification",
        [GG_PROBLEM_NONE] = "regression",
    };
    struct gguf_str s;

    c->problem = c->n == 1 ? GG_PROBLEM_MANY : GG_PROBLEM_ONE;
    if (c->pooling == GG_POOL_TOKENS)
        c->problem = GG_PROBLEM_ONE;
    else if (find_text(m, "classifier.problem_type", &s)) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (s.n == strlen(names[i]) && !memcmp(s.s, names[i], s.n)) {
                if (i != GG_PROBLEM_ONE || c->n > 1)
                    c->problem = (enum gg_problem)i;
                return GG_OK;
            }
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "%s.classifier.problem_type: is not known here",
                         m->model->arch->name);
    }
    return GG_OK;
}

enum gg_status
gg_model_classifier(const struct gg_model *model, struct gg_classifier *out,
                    struct gg_error *err)
{
    struct gg_classifier c = { .n = gg_model_n_scores(model) };
    enum gg_status st;

    if (!model || !out)
        return error_null(err);
    if (c.n == 0)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the file has no classifier (cls.output)");
    c.pooling = model->model->hp.rank_pooling == GG_POOL_NONE ? GG_POOL_TOKENS
                                                              : GG_POOL_RANK;
    st = read_problem(model, &c, err);
    if (st == GG_OK)
        *out = c;
    return st;
}

const char *
gg_model_label(const struct gg_model *model, int32_t i, size_t *len)
{
    struct gguf_array list;
    char key[128];

    if (len)
        *len = 0;
    if (!model || !len || i < 0 || i >= gg_model_n_scores(model))
        return NULL;
    snprintf(key, sizeof(key), "%s.classifier.output_labels",
             model->model->arch->name);
    if (gguf_find_key(model->file.gguf, key) < 0 ||
        gguf_get_array(model->file.gguf, key, GGUF_TYPE_STRING, &list, NULL) !=
            GG_OK ||
        (size_t)i >= list.n)
        return NULL;
    *len = list.strings[i].n;
    return list.strings[i].s;
}

/* ---- probabilities ------------------------------------------------------- */

static void
softmax(const float *scores, double *p, int32_t n)
{
    double highest = (double)scores[0], sum = 0;

    for (int32_t i = 1; i < n; i++)
        highest = fmax(highest, (double)scores[i]);
    for (int32_t i = 0; i < n; i++)
        sum += p[i] = exp((double)scores[i] - highest);
    for (int32_t i = 0; i < n; i++)
        p[i] /= sum;
}

enum gg_status
gg_classifier_rate(const struct gg_classifier *classifier, const float *scores,
                   double *p, struct gg_error *err)
{
    if (!classifier || !scores || !p)
        return error_null(err);
    if (classifier->n < 1 ||
        (unsigned)classifier->problem > (unsigned)GG_PROBLEM_NONE)
        return error_set(err, GG_ERR_ARG, "a classifier that is none");
    if (classifier->problem == GG_PROBLEM_ONE) {
        softmax(scores, p, classifier->n);
        return GG_OK;
    }
    for (int32_t i = 0; i < classifier->n; i++)
        p[i] = classifier->problem == GG_PROBLEM_NONE
                   ? (double)scores[i]
                   : 1 / (1 + exp(-(double)scores[i]));
    return GG_OK;
}
