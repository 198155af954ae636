/* test_mtp_folders.c - folders whose models have an MTP layer, made of those of
 * golden_folders.py: it is there, and the rest is what it was */
#include <config.h>

#include <stdio.h>

#include "fixtures/folder_case.h"
#include "fixtures/reference.h"
#include "harness/session_test.h"
#include "session/session.h"

enum {
    PAST = 40,
    STEPS = 3,
    TEXT = 1 << 20,
};

static int32_t ids[PAST + STEPS + 1];

struct kind {
    const char *name; /* of the case */
    int layer;        /* whose tensors the MTP layer's are like */
    int n_layer;      /* -1: its names begin with "mtp." */
    const char *norm; /* after the layer; or NULL */
};

/* ---- cases --------------------------------------------------------------- */

/* Whether {0,1,2} or 1 has the layer; *end gets what follows. */
static bool
has_layer(const char *list, int layer, const char **end)
{
    bool has = false;
    char *next;

    for (list += *list == '{'; *list && *list != '.'; list = next) {
        has |= strtol(list, &next, 10) == layer;
        next += *next == ',' || *next == '}';
    }
    *end = list;
    return has;
}

static void
put_beside(FILE *f, const struct kind *k)
{
    static const char *const names[2][4] = {
        { "eh_proj", "enorm", "hnorm", "shared_head.norm" },
        { "fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm" },
    };
    char prefix[64] = "mtp.";

    if (k->n_layer >= 0)
        snprintf(prefix, sizeof(prefix), "model.layers.%d.", k->n_layer);
    for (int i = 0; i < 4; i++)
        fprintf(f,
                i ? "tensor %s%s.weight 1 0.25 64\n"
                  : "tensor %s%s.weight 0 0.15 64 128\n",
                prefix, i == 3 && k->norm ? k->norm : names[k->n_layer < 0][i]);
}

/* The line of a tensor of the layer once more, as the MTP layer's. */
static void
put_again(FILE *f, const struct kind *k, const char *line)
{
    static const char layers[] = "tensor model.layers.";
    const char *rest;

    if (strncmp(line, layers, sizeof(layers) - 1) != 0 ||
        !has_layer(line + sizeof(layers) - 1, k->layer, &rest))
        return;
    if (k->n_layer < 0)
        fprintf(f, "tensor mtp.layers.0%s", rest);
    else
        fprintf(f, "tensor model.layers.%d%s", k->n_layer, rest);
}

/* The case with an MTP layer: to `to`. */
static void
write_case(const struct kind *k, const char *to)
{
    static char line[TEXT];
    char path[SCRATCH_PATH + 64];
    const char *source = getenv("top_srcdir");
    FILE *in, *out = fopen(to, "w");

    snprintf(path, sizeof(path), "%s/tests/fixtures/families/%s.case",
             source ? source : "..", k->name);
    in = fopen(path, "r");
    if (!in || !out) {
        printf("Bail out! %s\n", path);
        exit(99);
    }
    while (fgets(line, TEXT, in)) {
        fputs(line, out);
        put_again(out, k, line);
        if (!strncmp(line, "config", 6))
            put_beside(out, k);
    }
    fclose(in);
    fclose(out);
}

/* ---- models -------------------------------------------------------------- */

static struct gg_model *
open_folder(const char *path, bool mtp)
{
    const struct gg_model_params params = { .mtp = mtp };
    struct gg_model *m;

    must(gg_model_open(path, &params, &m, &err));
    return m;
}

static void
guess(struct gg_session *s, float out[STEPS][V])
{
    struct model_guess q = { .past = PAST, .ids = ids + PAST };

    for (q.n = 1; q.n <= STEPS; q.n++) {
        q.logits = out[q.n - 1];
        must(session_mtp_guess(s, &q, 1, &err));
    }
}

static void
check_formula(const char *folder, float out[STEPS][V])
{
    struct reference *r;
    double *truth = malloc(sizeof(*truth) * STEPS * V), worst = 0;

    folder_case_gguf(folder, scratch_file("folder.gguf"));
    r = reference_open(scratch_file("folder.gguf"));
    if (r)
        reference_mtp(r, ids, PAST, STEPS, truth);
    for (int i = 0; r && i < STEPS; i++) {
        double e = reference_nmse(out[i], truth + i * V, V);

        worst = e > worst || !(e == e) ? e : worst;
    }
    printf("# NMSE %.1e\n", worst);
    ok(r && worst < 1e-9, "what it drafts by is the formula");
    reference_free(r);
    free(truth);
}

static void
check_kind(const struct kind *k)
{
    char folder[SCRATCH_PATH + 80];
    const struct gg_session_params exact = { .cache_type = GG_CACHE_F32 };
    float out[STEPS][V], again[STEPS][V], a[V], b[V];
    struct gg_model *m, *plain;
    struct gg_session *s, *t;
    struct folder_case c;
    bool finite = true;

    snprintf(folder, sizeof(folder), "%s.%s", scratch_file("folder"), k->name);
    write_case(k, scratch_file("mtp.case"));
    folder_case_write(scratch_file("mtp.case"), scratch_file("case.gguf"),
                      folder, &c);
    m = open_folder(folder, true);
    plain = open_folder(folder, false);
    s = new_session(m, exact);
    t = new_session(plain, exact);
    eval_ids(s, 0, ids, 0, PAST, a);
    eval_ids(t, 0, ids, 0, PAST, b);
    is(gg_session_mtp(s, NULL, NULL), 1, k->name);
    ok(same(a, b), "logits are what they are without the layer");
    guess(s, out);
    gg_session_truncate(s, 0, 0);
    for (int i = 0; i < PAST; i++)
        eval_ids(s, 0, ids, i, i + 1, a);
    guess(s, again);
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < V; j++)
            finite = finite && out[i][j] - out[i][j] == 0;
    ok(finite && !memcmp(out, again, sizeof(out)),
       "it drafts, however ids came");
    ok(!same(out[0], out[1]) && !same(out[0], a), "and no step is another");
    if (!strcmp(k->name, "qwen35"))
        check_formula(folder, out);
    gg_session_free(s);
    gg_session_free(t);
    gg_model_free(m);
    gg_model_free(plain);
}

int
main(void)
{
    static const struct kind kinds[] = {
        { "qwen35", 3, -1, NULL },
        { "qwen35moe", 3, -1, NULL },
        { "qwen3next", 3, -1, NULL },
        { "glm4moe", 2, 3, NULL },
        { "deepseek3", 3, 4, NULL },
        { "deepseek32", 3, 4, NULL },
        { "glm-dsa", 4, 5, NULL },
        { "glm4moe-lite", 2, 3, NULL },
        { "bailingmoe3", 4, 5, "final_layernorm" },
        { "hy_v3", 2, 3, "final_layernorm" },
    };

#ifndef HAVE_JANSSON
    puts("1..0 # SKIP built without Jansson");
    return 0;
#endif
    fill_ids(ids, PAST + STEPS + 1);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        check_kind(&kinds[i]);
    return tap_done();
}
