/* inspect.h - the parts of gg-inspect */
#ifndef INSPECT_H
#define INSPECT_H

#include <gg.h>
#include <gguf.h>
#include <pthread.h>
#include <stdio.h>

#include "common/engine.h"

/* The order in which tensors are listed: that of the file, or of --sort. */
enum inspect_order {
    ORDER_FILE,
    ORDER_NAME,
    ORDER_SIZE,
    ORDER_TYPE,
};

struct inspect_options {
    const char *path;
    const char *other;  /* --diff's second file */
    const char *key;    /* -k */
    const char *tensor; /* --tensor */
    bool json, metadata, tensors, nul_ended, verbose;
    bool quiet;
    enum inspect_order sort;
    bool png;                         /* standard output gets a picture */
    const char *hash_list;            /* --hash-check */
    int n_threads;                    /* 0: as many as there are processors */
    struct gg_session_params session; /* for --memory, */
    struct engine_cache cache;        /* with this */
    struct adapter_options adapters;  /* for --memory */
    const char *parts;  /* ranks, for --memory: "4", or "24,24,16,16" */
    const char *mmproj; /* the projector that --memory counts, too */
    struct {
        uint32_t width, height;
    } image; /* that figures of projectors are for */
};

/* ---- value.c: values as text ---- */

/* Writes bytes so that they are safe on a terminal. Where there are more than
 * `max` (0: any number), the first of them and "...". */
void
value_put_escaped(FILE *f, const char *s, size_t len, size_t max);

/* As value_put_escaped(), between quotes, with a backslash before quotes. */
void
value_put_quoted(FILE *f, const char *s, size_t len, size_t max);

/* Columns that value_put_escaped() fills with all of it. */
size_t
value_width(const char *s, size_t len);

/* A float with as many digits as it takes to read the same one back. */
const char *
value_float(char buf[32], double x, bool is_f32);

/* A number, from memory of no alignment: "12", "-0.5", "true", "nan". Returns
 * buf. */
const char *
value_number(char buf[32], enum gguf_type type, const void *p);

/* Bytes of a number. */
size_t
value_size(enum gguf_type type);

/* The i-th element of the array, or (i = 0) the value itself. */
const void *
value_at(const struct gguf_context *ctx, int64_t key, size_t i);

/* "u32", "str[3]" */
const char *
value_type(char buf[48], const struct gguf_context *ctx, int64_t key);

/* The elements of an array; 1 for anything else. */
size_t
value_count(const struct gguf_context *ctx, int64_t key);

/* The bytes of string i of the key; *len gets their number. */
const char *
value_string(const struct gguf_context *ctx, int64_t key, size_t i,
             size_t *len);

/* The type of the value, or of the array's elements. */
enum gguf_type
value_element_type(const struct gguf_context *ctx, int64_t key);

/* "1.24 B", "135 M", "7" */
const char *
value_thousands(char buf[32], uint64_t n);

/* "1.2 MB" */
const char *
value_bytes(char buf[32], uint64_t n);

/* ---- totals.c: tensors by type ---- */

struct totals {
    int64_t tensors;
    uint64_t values, bytes;
};

/* Adds up all tensors: by type, and all of them. A file can describe at most
 * 2^63 bytes of data; `values` stays at its maximum where it would wrap. */
void
totals_count(const struct gguf_context *ctx,
             struct totals by_type[GGML_TYPE_COUNT], struct totals *all);

/* The product of the dimensions. */
uint64_t
totals_values(const struct gguf_context *ctx, int64_t tensor);

/* Dimensions up to the last that is not 1; at least 1. */
int
totals_dims(const struct gguf_context *ctx, int64_t tensor);

/* ---- open.c ---- */

struct inspected {
    const char *path;
    const struct gguf_context *gguf;
    struct gg_file *file;
    bool is_read; /* of a GGUF file data are read, not mapped */

    /* For tensor_source.h: bytes of tensors in memory that were made of others.
     */
    size_t held, largest;
    pthread_mutex_t lock;
    pthread_cond_t freed;
};

/* Metadata and tables of the file, and, unless it is wanted alone, of the other
 * shards if it is the first of a split model and they are there. Ends the tool
 * where it cannot. */
void
inspect_open(const char *path, bool alone, struct inspected *out);
void
inspect_close(struct inspected *f);

/* ---- text.c, json.c, raw.c: the ways to show a file ---- */

void
text_show(const struct inspected *f, const struct inspect_options *o);
/* A value on one line, escaped; strings and lists are cut unless `all`. One
 * element of an array, or (i = 0) what is none; at most `max` characters of a
 * string (0: all). */
void
text_put_value(FILE *f, const struct gguf_context *ctx, int64_t key, bool all);
void
text_put_element(FILE *f, const struct gguf_context *ctx, int64_t key, size_t i,
                 size_t max);
void
inspect_json_show(const struct inspected *f, const struct inspect_options *o);
/* The value of o->key; status 1 where there is none. */
void
raw_show(const struct gguf_context *ctx, const struct inspect_options *o);

/* An object with the file's path, and the name of another member. */
void
inspect_json_begin(const struct inspected *f, const char *member);

/* ---- value_stats.c: the values of one tensor ---- */

enum {
    HISTOGRAM_BINS = 20,
};

struct value_stats {
    uint64_t n, finite, zeros, nan, inf;
    double min, max, mean, rms; /* of the finite ones */
    double sigma;               /* the standard deviation */
};

/* Reads the data once; its type must be known (tensor_source.h). Ends the tool
 * where it cannot. */
void
value_stats_compute(struct inspected *f, int64_t tensor,
                    struct value_stats *out);

/* Adds to bins[0..n) how many values lie in each of the equal steps from `from`
 * to `to`, which belongs to the last; others are not counted. */
void
value_stats_bins(struct inspected *f, int64_t tensor, double from, double to,
                 uint64_t *bins, int n);

/* How many finite values lie further than `far` from the mean. */
uint64_t
value_stats_outliers(struct inspected *f, int64_t tensor,
                     const struct value_stats *s, double far);

/* ---- memory.c: --memory ---- */

/* Ends the tool where the model cannot be run. */
void
memory_show(struct inspect_options *o);

/* ---- tensor.c: --tensor ---- */

/* Returns the status to exit with. */
int
tensor_show(struct inspected *f, const struct inspect_options *o);

/* ---- select.c ---- */

/* True if --tensor, by name or by a pattern of the shell, asks for it; it asks
 * for all where it was not given. */
bool
select_fits(const struct inspected *f, const struct inspect_options *o,
            int64_t tensor);

/* All of these, which the caller frees. */
int64_t *
select_all(const struct inspected *f, const struct inspect_options *o,
           int64_t *n);
/* As select_all(); ends the tool where --tensor was given and there is none. */
int64_t *
select_tensors(const struct inspected *f, const struct inspect_options *o,
               int64_t *n);

/* All tensors of the file in that order: names and types by their bytes, sizes
 * from the largest; equal ones as in the file. The caller frees them. */
int64_t *
select_sorted(const struct gguf_context *ctx, enum inspect_order order);

/* "256x1408" */
const char *
select_shape(char buf[96], const struct gguf_context *ctx, int64_t tensor);

/* ---- hash.c: --hash, --hash-check ---- */

int
hash_show(struct inspected *f, const struct inspect_options *o);
/* Returns the status to exit with: 1 where something differs. */
int
hash_check(struct inspected *f, const struct inspect_options *o);

/* ---- diff.c: --diff ---- */

/* Returns the status to exit with: 1 where they differ. */
int
diff_show(struct inspected *a, struct inspected *b,
          const struct inspect_options *o);

/* ---- check.c: --check ---- */

/* Returns the status to exit with: 1 where there is an error. */
int
check_show(struct inspected *f, const struct inspect_options *o);

/* ---- bins.c: --histogram ---- */

int
bins_show(struct inspected *f, const struct inspect_options *o);

/* ---- array.c: --npy ---- */

int
npy_show(struct inspected *f, const struct inspect_options *o);

/* ---- stats_table.c: --stats ---- */

int
stats_table_show(struct inspected *f, const struct inspect_options *o);

#endif
