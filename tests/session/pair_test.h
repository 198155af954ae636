/* pair_test.h - pairs of a model and what drafts for it */
#ifndef SESSION_PAIR_TEST_H
#define SESSION_PAIR_TEST_H

#include <stdio.h>

#include "harness/session_test.h"

static const char *name; /* titles begin with it */

static inline void
okn(bool good, const char *what)
{
    char title[160];

    snprintf(title, sizeof(title), "%s: %s", name, what);
    ok(good, title);
}

/* The model with what it drafts by: layers of its own, or those of a file. */
static inline struct gg_model *
open_model(const char *path, const char *mtp_path)
{
    const struct gg_model_params params = { .mtp = true, .mtp_path = mtp_path };
    struct gg_model *m;

    must(gg_model_open(path, &params, &m, &err));
    return m;
}

static inline void
write_spec(struct model_spec spec, const char *path)
{
    if (!models_write(&spec, path))
        exit(99);
}

static inline struct model_spec
named(const char *model)
{
    struct model_spec spec;

    if (!models_named(model, &spec))
        exit(99);
    return spec;
}

/* Opening ends with that status, and a message that says so. */
static inline bool
opens_as(const char *path, const struct gg_model_params *params,
         enum gg_status st, const char *says)
{
    struct gg_model *m = NULL;
    enum gg_status is_now = gg_model_open(path, params, &m, &err);
    bool good = is_now == st && (st == GG_OK || strstr(err.message, says));

    if (!good)
        printf("# %d: %s\n", (int)is_now, err.message);
    gg_model_free(is_now == GG_OK ? m : NULL);
    return good;
}

#endif
