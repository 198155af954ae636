/* prefix_test.h - what tests of the prefix cache share */
#ifndef PREFIX_TEST_H
#define PREFIX_TEST_H

#include <dirent.h>
#include <sys/stat.h>

#include "engine_test.h"

enum {
    MOST = 700, /* of ids */
};

/* Calls about files that were written. */
struct told {
    int n;
    uint64_t bytes;
    char why[200];
};

static char folder[SCRATCH_PATH];

static inline void
tell(void *data, uint64_t bytes, const char *why_not)
{
    struct told *t = data;

    t->n += bytes > 0;
    t->bytes += bytes;
    if (why_not)
        snprintf(t->why, sizeof(t->why), "%s", why_not);
}

/* An empty folder for files. */
static inline void
new_folder(void)
{
    static int n;
    char name[40];

    snprintf(name, sizeof(name), "cache-%d", n++);
    strcpy(folder, scratch_file(name));
    if (mkdir(folder, 0700))
        exit(99);
}

/* How many files the folder has; *name: the path of the last by name. */
static inline int
count_files(char name[SCRATCH_PATH])
{
    DIR *d = opendir(folder);
    char last[256] = "";
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.' && ++n && strcmp(e->d_name, last) > 0)
            snprintf(last, sizeof(last), "%s", e->d_name);
    if (d)
        closedir(d);
    if (name)
        snprintf(name, SCRATCH_PATH, "%.3800s/%.200s", folder, last);
    return n;
}

/* ---- drawn at random ----------------------------------------------------- */

static inline uint32_t
random_below(uint32_t n)
{
    static uint32_t seed = 1;

    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

/* Other tokens from there on. */
static inline void
change_from(size_t from)
{
    for (size_t i = from; i < MOST; i++)
        ids[i] = (int32_t)random_below(V);
}

/* Batches have `least` ids or more. */
static inline struct gg_session_params
random_params(int32_t least)
{
    const int32_t batches[] = { least, 64, 200, 512 };

    return (struct gg_session_params){
        .n_ctx = MOST + (int32_t)random_below(300),
        .n_slots = 1 + (int32_t)random_below(2),
        .n_batch = batches[random_below(4)],
        .n_threads = 1 + (int32_t)random_below(2),
    };
}

/* ---- prompts ------------------------------------------------------------- */

struct cached {
    struct gg_session_params session;
    struct gg_prefix_params prefixes; /* folder NULL: none */
    const float *scales;
    const char *user;
    /* Gives the session media. Returns the prompt with its numbers of rows. */
    const int32_t *(*number)(struct gg_session *s, const int32_t *prompt,
                             size_t n);
    uint64_t n_cached; /* result */
};

/* The logits after the prompt, in an engine of its own. */
static inline enum gg_status
try_prompt(const struct gg_model *m, struct cached *c, const int32_t *prompt,
           size_t n, float out[V])
{
    struct gg_session *s = NULL;
    struct gg_engine *e = NULL;
    struct gg_query q = { .rows.logits = out };
    enum gg_status st = gg_session_new(m, &c->session, &s, &err);

    if (st == GG_OK)
        st = gg_engine_new(m, s, NULL, &e, &err);
    if (st == GG_OK && c->prefixes.folder)
        st = gg_engine_cache_prefixes(e, &c->prefixes, &err);
    if (st == GG_OK)
        st = gg_sequence_new(e, &q.sequence, &err);
    if (st == GG_OK && c->number)
        prompt = c->number(s, prompt, n);
    if (st == GG_OK)
        st = gg_sequence_put(q.sequence, prompt, n, &err);
    if (st == GG_OK && c->scales)
        st = gg_sequence_set_scales(q.sequence, c->scales, &err);
    if (st == GG_OK && c->user)
        st = gg_sequence_set_key(q.sequence, c->user, &err);
    if (st == GG_OK)
        st = gg_engine_eval(e, &q, 1, &err);
    c->n_cached = gg_engine_cached(e);
    gg_sequence_free(q.sequence);
    gg_engine_free(e);
    gg_session_free(s);
    return st;
}

static inline void
run_prompt(const struct gg_model *m, struct cached *c, const int32_t *prompt,
           size_t n, float out[V])
{
    must(try_prompt(m, c, prompt, n, out));
}

#endif
