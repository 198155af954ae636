/* bench.h - the parts of gg-bench */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <ggml.h>

#include "common/engine.h"

enum {
    BENCH_MAX_VALUES = 64, /* of a list */
    BENCH_MAX_RUNS = 10000,
    BENCH_MAX_BATCH = 4096,
};

/* ---- options: options.c ---- */

enum bench_form {
    BENCH_TABLE,
    BENCH_TSV,
    BENCH_JSON
};

struct bench_list {
    int32_t p[BENCH_MAX_VALUES];
    size_t n;
};

struct bench_options {
    struct engine_options engine; /* not all of it has options */
    const char *models[BENCH_MAX_VALUES];
    size_t n_models;
    struct bench_list prompts, counts, depths, batches, threads;
    struct bench_list both[2];             /* of a prompt and then ids */
    struct bench_list types, keys, values; /* enum gg_cache_type */
    int32_t runs;
    int form;               /* enum bench_form */
    double bandwidth, peak; /* GB/s, GOP/s; 0: they are measured */
    bool bounds;            /* these alone */
};

/* Reads the command line; ends the tool where it is wrong. */
void
bench_parse(int argc, char **argv, struct bench_options *o);

/* ---- what a model takes at least: work.c ---- */

struct bench_work {
    enum ggml_type type;    /* of most weights */
    double bytes;           /* of weights that an id reads */
    double ops, output_ops; /* multiplications and additions of products with
                               weights that an id takes, of the output apart */
};

void
bench_work(const char *path, struct bench_work *work);

/* ---- tests and runs ---- */

/* Ids that are evaluated in each of `batch` sequences, which hold `depth` ids
 * before: a prompt at once, then some one by one. */
struct bench_test {
    int32_t prompt, generate, depth, batch;
};

struct bench_model {
    char *path;
    const char *name; /* of the path: without folders, if no other has it */
    struct gg_model *model;
    struct bench_work work;
    bool is_encoder;
};

/* A model as some options have it. */
struct bench_setup {
    const struct bench_model *model;
    int32_t threads;
    struct engine_cache cache;
    struct gg_session *session;
    const char *product; /* type of numbers of most products: "int8" */
    const struct bounds_peak *peak; /* NULL: none is measured */
};

/* A machine's GB/s and GOP/s; 0: not known. */
struct bench_bound {
    double bandwidth, peak;
};

struct bench_result {
    struct bench_setup *setup;
    struct bench_test test;
    double bytes[2], ops[2]; /* of prefill and of decoding, at least */
    bool is_memory;          /* the bound is memory */
    size_t n;                /* runs */
    double *rates;           /* tokens per second of each, */
    double *fractions;       /* of what the bound allows */
    double *bounds;          /* GB/s, or GOP/s */
};

struct bench {
    const struct bench_options *o;
    struct bench_model *models;
    struct bench_setup *setups;
    struct bench_result *results;
    size_t n_models, n_setups, n_results;
};

/* Opens the models, and starts the sessions: plan.c. */
void
bench_plan(struct bench *b, const struct bench_options *o);
void
bench_free(struct bench *b);

/* Runs all tests in turn, as often as is wanted: measure.c. */
void
bench_run(struct bench *b);

/* ---- what is printed: report.c ---- */

void
bench_report(const struct bench *b);

/* The machine's bounds, which are measured. */
void
bench_report_bounds(const struct bench_options *o);

#endif
