/* kernel_bench.h - check_kernels --bench: the time of each slot in each set of
 * instructions, against plain C and the set before it
 *
 * Included after the makers of operands. Tab-separated, under a head; one
 * thread, operands in cache but for the first shape of products. */
#ifndef KERNEL_BENCH_H
#define KERNEL_BENCH_H

enum {
    RUNS = 7,         /* the median counts */
    RUN_US = 1000,    /* a run takes at least so long */
    MAX_SETS = 8,     /* of instructions */
    VALUES = LONGEST, /* of a row */
};

/* One slot with its operands. */
struct timed {
    const char *slot, *size;
    void (*call)(const struct cpu_kernels *k, void *arg);
    void *arg;
    double bytes, ops; /* of a call; 0: not told */
};

static int
by_size(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;

    return (d > 0) - (d < 0);
}

static double
us_of(const struct timed *t, const struct cpu_kernels *k, int calls)
{
    int64_t start = ggml_cycles(); /* nanoseconds */

    for (int i = 0; i < calls; i++)
        t->call(k, t->arg);
    return (double)(ggml_cycles() - start) * 1e-3;
}

/* Microseconds a call. */
static double
time_of(const struct timed *t, const struct cpu_kernels *k)
{
    double all[RUNS];
    int calls = 1;

    while (us_of(t, k, calls) < RUN_US)
        calls *= 2;
    for (int i = 0; i < RUNS; i++)
        all[i] = us_of(t, k, calls) / calls;
    qsort(all, RUNS, sizeof(*all), by_size);
    return all[RUNS / 2];
}

static void
print_time(const struct timed *t, const struct cpu_kernels *k, double us,
           double plain, double before)
{
    printf("%s\t%s\t%s\t%.3f", t->slot, t->size, k->name, us);
    t->bytes > 0 ? printf("\t%.1f", t->bytes / us * 1e-3) : printf("\t-");
    t->ops > 0 ? printf("\t%.1f", t->ops / us * 1e-3) : printf("\t-");
    printf("\t%.2f\t%.2f\n", plain / us, before / us);
    fflush(stdout);
}

/* ---- slots --------------------------------------------------------------- */

#define ROW_SLOT(name, statement)                                              \
    static void call_##name(const struct cpu_kernels *k, void *arg)            \
    {                                                                          \
        (void)arg;                                                             \
        statement;                                                             \
    }

static volatile float bench_sink;

ROW_SLOT(add, k->add(VALUES, ya, xs, zs))
ROW_SLOT(sub, k->sub(VALUES, ya, xs, zs))
ROW_SLOT(mul, k->mul(VALUES, ya, xs, zs))
ROW_SLOT(div, k->div(VALUES, ya, xs, zs))
ROW_SLOT(swiglu, k->swiglu(VALUES, ya, xs, zs))
ROW_SLOT(geglu, k->geglu(VALUES, ya, xs, zs))
ROW_SLOT(swiglu_oai, k->swiglu_oai(VALUES, ya, xs, zs, 1.702f, 7))
ROW_SLOT(exp, k->exp(VALUES, ya, xs))
ROW_SLOT(silu, k->silu(VALUES, ya, xs))
ROW_SLOT(gelu, k->gelu(VALUES, ya, xs))
ROW_SLOT(gelu_erf, k->gelu_erf(VALUES, ya, xs))
ROW_SLOT(gelu_quick, k->gelu_quick(VALUES, ya, xs))
ROW_SLOT(sigmoid, k->sigmoid(VALUES, ya, xs))
ROW_SLOT(tanh, k->tanh(VALUES, ya, xs))
ROW_SLOT(scale, k->scale(VALUES, ya, xs, 0.7f, 0.2f))
ROW_SLOT(sum, bench_sink = k->sum(VALUES, xs))
ROW_SLOT(sum_squares, bench_sink = k->sum_squares(VALUES, xs, 0.3f))
ROW_SLOT(max, bench_sink = k->max(VALUES, xs))
ROW_SLOT(exp_sum, bench_sink = k->exp_sum(VALUES, ya, xs, 3))
ROW_SLOT(rotate, k->rotate(VALUES / 2, ya, ya + VALUES / 2, xs, xs + VALUES / 2,
                           zs, zs + VALUES / 2))
ROW_SLOT(rotate_pairs, k->rotate_pairs(VALUES, ya, xs, zs, zs))

static const struct {
    const char *slot;
    void (*call)(const struct cpu_kernels *k, void *arg);
} row_slots[] = {
    { "add", call_add },
    { "sub", call_sub },
    { "mul", call_mul },
    { "div", call_div },
    { "swiglu", call_swiglu },
    { "geglu", call_geglu },
    { "swiglu_oai", call_swiglu_oai },
    { "exp", call_exp },
    { "silu", call_silu },
    { "gelu", call_gelu },
    { "gelu_erf", call_gelu_erf },
    { "gelu_quick", call_gelu_quick },
    { "sigmoid", call_sigmoid },
    { "tanh", call_tanh },
    { "scale", call_scale },
    { "sum", call_sum },
    { "sum_squares", call_sum_squares },
    { "max", call_max },
    { "exp_sum", call_exp_sum },
    { "rotate", call_rotate },
    { "rotate_pairs", call_rotate_pairs },
};

/* Operands of the slots whose type is one of many. */
struct typed {
    enum ggml_type type;
    char *rows;
    struct operands *operands;
    struct cpu_panel panel;
    struct cpu_small_batch meeting;
};

static void
call_multiply(const struct cpu_kernels *k, void *arg)
{
    const struct typed *t = arg;

    k->mul_mat[t->type].multiply(&t->operands->b);
}

static void
call_prepare(const struct cpu_kernels *k, void *arg)
{
    const struct typed *t = arg;

    k->mul_mat[t->type].prepare(t->operands->x, t->operands->cols_b,
                                t->operands->b.k);
}

static void
call_to_float(const struct cpu_kernels *k, void *arg)
{
    const struct typed *t = arg;

    k->to_float[t->type](t->rows, ya, VALUES);
}

static void
call_from_float(const struct cpu_kernels *k, void *arg)
{
    const struct typed *t = arg;

    k->from_float[t->type](xs, t->rows, VALUES);
}

static void
call_add_weighted_rows(const struct cpu_kernels *k, void *arg)
{
    const struct typed *t = arg;

    k->add_weighted_rows[t->type](&t->meeting);
}

static void
call_dot_rows(const struct cpu_kernels *k, void *arg)
{
    const struct typed *t = arg;

    k->dot_rows[t->type](&t->meeting);
}

static void
call_multiply_panel(const struct cpu_kernels *k, void *arg)
{
    const struct typed *t = arg;

    k->multiply_panel(&t->panel);
}

static void
call_multiply_lanes(const struct cpu_kernels *k, void *arg)
{
    const struct typed *t = arg;

    k->multiply_lanes(&t->panel);
}

/* ---- tables of times ----------------------------------------------------- */

/* The sets that this machine has, plain C first. */
struct sets {
    const struct cpu_kernels *k[MAX_SETS];
    int n;
    const char *word; /* part of the slots' names; or a set's; or NULL */
};

static bool
is_wanted(const struct sets *s, const char *slot)
{
    for (int i = 0; i < s->n; i++)
        if (s->word && !strcmp(s->word, s->k[i]->name))
            return true;
    return !s->word || strstr(slot, s->word);
}

/* False: the word names another set. */
static bool
is_shown(const struct sets *s, int i)
{
    for (int j = 0; j < s->n; j++)
        if (s->word && !strcmp(s->word, s->k[j]->name))
            return i == j;
    return true;
}

static void
bench_slot(const struct sets *s, const struct timed *t)
{
    double plain = 0, before = 0;

    if (!is_wanted(s, t->slot))
        return;
    for (int i = 0; i < s->n; i++) {
        double us = time_of(t, s->k[i]);

        plain = i ? plain : us;
        before = i ? before : us;
        if (is_shown(s, i))
            print_time(t, s->k[i], us, plain, before);
        before = us;
    }
}

static void
bench_rows(const struct sets *s)
{
    fill(xs, VALUES, 3);
    fill(zs, VALUES, 3);
    for (size_t i = 0; i < sizeof(row_slots) / sizeof(row_slots[0]); i++)
        bench_slot(s, &(struct timed){ .slot = row_slots[i].slot,
                                       .size = "1024",
                                       .call = row_slots[i].call });
}

/* Columns are as the set's own prepare() leaves them. */
static void
bench_product(const struct sets *s, enum ggml_type type, int64_t n,
              int64_t n_rows, int64_t n_cols)
{
    const struct cpu_kernels *c = s->k[0];
    double plain = 0, before = 0;
    char slot[60], size[60];

    snprintf(slot, sizeof(slot), "mul_mat %s", ggml_type_name(type));
    snprintf(size, sizeof(size), "%d x %d x %d", (int)n, (int)n_rows,
             (int)n_cols);
    for (int i = 0; i < s->n && is_wanted(s, slot); i++) {
        struct operands o = { 0 };
        struct typed typed = { .type = type, .operands = &o };
        struct timed t = { slot,
                           size,
                           call_multiply,
                           &typed,
                           (double)ggml_row_size(type, n) * (double)n_rows,
                           2.0 * (double)(n * n_rows * n_cols) };
        double us;

        make_operands(&o, c, s->k[i], type, n, n_rows, n_cols);
        us = time_of(&t, s->k[i]);
        plain = i ? plain : us;
        if (is_shown(s, i))
            print_time(&t, s->k[i], us, plain, i ? before : us);
        before = us;
        free_operands(&o);
    }
}

static void
bench_prepare(const struct sets *s, enum ggml_type type)
{
    const struct cpu_kernels *best = s->k[s->n - 1];
    struct operands o = { 0 };
    struct typed typed = { .type = type, .operands = &o };
    char slot[60];

    snprintf(slot, sizeof(slot), "prepare %s", ggml_type_name(type));
    for (int i = 0; i < s->n; i++)
        if (!s->k[i]->mul_mat[type].prepare)
            return;
    make_operands(&o, s->k[0], best, type, 2048, 1, 1);
    bench_slot(s, &(struct timed){ .slot = slot,
                                   .size = "2048",
                                   .call = call_prepare,
                                   .arg = &typed });
    free_operands(&o);
}

static void
bench_products(const struct sets *s, enum ggml_type type)
{
    bench_product(s, type, 2048, 1024, 1);
    bench_product(s, type, 2048, 64, 1);
    bench_product(s, type, 2048, 64, 8);
    bench_product(s, type, 2048, 64, 192);
    bench_product(s, type, 768, 512, 1);
    bench_prepare(s, type);
}

/* As four queries that decode: 64 keys or values of 64 floats. */
static void
bench_few(const struct sets *s, struct typed *typed, struct timed *t)
{
    float *a = room(4 * 64 * 4), *c = room(4 * 64 * 4);
    char slot[60];

    fill(a, 4 * 64, 1);
    typed->meeting = (struct cpu_small_batch){
        .m = 4,
        .n = 64,
        .k = 64,
        .a = a,
        .b = typed->rows,
        .c = c,
        .a_stride = 64,
        .c_stride = 64,
        .b_stride = ggml_row_size(typed->type, 64),
    };
    t->slot = slot;
    t->size = "4 x 64 x 64";
    t->ops = 2.0 * 4 * 64 * 64;
    t->call = call_dot_rows;
    snprintf(slot, sizeof(slot), "dot_rows %s", ggml_type_name(typed->type));
    bench_slot(s, t);
    t->call = call_add_weighted_rows;
    snprintf(slot, sizeof(slot), "add_weighted_rows %s",
             ggml_type_name(typed->type));
    bench_slot(s, t);
    mem_free(a);
    mem_free(c);
}

/* Conversion, and attention's products, of a type that attention reads. */
static void
bench_cached(const struct sets *s, enum ggml_type type)
{
    struct typed typed = { .type = type, .rows = room(256 * 128 * 4) };
    struct timed t = { .arg = &typed, .size = "1024" };
    char slot[60];

    memset(typed.rows, 0, 256 * 128 * 4);
    t.slot = slot;
    t.call = call_to_float;
    snprintf(slot, sizeof(slot), "to_float %s", ggml_type_name(type));
    if (s->k[0]->to_float[type])
        bench_slot(s, &t);
    t.call = call_from_float;
    snprintf(slot, sizeof(slot), "from_float %s", ggml_type_name(type));
    if (s->k[0]->from_float[type])
        bench_slot(s, &t);
    bench_few(s, &typed, &t);
    mem_free(typed.rows);
}

/* As attention uses them: queries of 64 values, 64 keys. */
static void
bench_panel(const struct sets *s)
{
    float *a = room(192 * 64 * 4), *b = room(64 * 64 * 4),
          *c = room(192 * 64 * 4);
    struct typed typed = { .panel = { 192, 64, 64, a, b, c, 64, 64, 64,
                                      false } };
    struct timed t = { .slot = "multiply_panel",
                       .size = "192 x 64 x 64",
                       .call = call_multiply_panel,
                       .arg = &typed,
                       .ops = 2.0 * 192 * 64 * 64 };

    fill(a, 192 * 64, 1);
    fill(b, 64 * 64, 1);
    bench_slot(s, &t);
    t.slot = "multiply_lanes";
    t.call = call_multiply_lanes;
    bench_slot(s, &t);
    mem_free(a);
    mem_free(b);
    mem_free(c);
}

static void
bench(const struct sets *s)
{
    printf("slot\tsize\tset\tus\tGB/s\tGOP/s\tto c\tto the one before\n");
    for (int i = 0; i < N_TYPES; i++)
        bench_products(s, weight_types[i]);
    for (int i = 0; i < N_TYPES; i++)
        if (s->k[0]->dot_rows[weight_types[i]])
            bench_cached(s, weight_types[i]);
    bench_panel(s);
    bench_rows(s);
}

#endif
