/* test_prefix_files.c - files of the prefix cache: damaged and foreign ones
 * leave nothing and are removed; no memory, no room, two writers */
#include "prefix_test.h"

#include <fcntl.h>

#include "core/mem.h"

static void
fill_prompt(void)
{
    for (int i = 0; i < MOST; i++)
        ids[i] = (i * 37 + i * i % 11) % V;
}

static size_t
read_file(const char *path, uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(data, 1, size, f) : 0;

    if (!f || fclose(f))
        exit(99);
    return n;
}

static void
write_file(const char *path, const uint8_t *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, n, f) != n || fclose(f))
        exit(99);
}

/* ---- files that are wrong ------------------------------------------------ */

struct damage {
    const struct gg_model *m;
    struct cached c;
    float truth[V];
    char path[SCRATCH_PATH]; /* of a piece */
    uint8_t data[1 << 20];
    size_t n;
    bool is_recurrent;
};

/* True: the logits are right, and the file is as it was, or gone: states are
 * not written where few ids were evaluated. */
static bool
is_survived(struct damage *d, bool *used)
{
    static uint8_t data[sizeof(d->data)];
    float out[V];
    size_t n;

    run_prompt(d->m, &d->c, ids, 300, out);
    *used = d->c.n_cached > 280;
    if (access(d->path, F_OK))
        return same(out, d->truth) && d->is_recurrent;
    n = read_file(d->path, data, sizeof(data));
    return same(out, d->truth) && n == d->n && memcmp(data, d->data, n) == 0;
}

static void
check_bits(struct damage *d)
{
    int n_used = 0, n = 0, n_bad = 0;
    bool used;

    for (size_t i = 0; i < d->n; i += 1 + i / 40, n++) {
        d->data[i] ^= 4;
        write_file(d->path, d->data, d->n);
        d->data[i] ^= 4;
        n_bad += !is_survived(d, &used) && !used;
        n_used += used;
        write_file(d->path, d->data, d->n);
    }
    printf("# %d bits, %d of no use, %d bad\n", n, n_used, n_bad);
    ok(n_bad == 0 && n_used < n / 8, "a bit that is wrong is noticed");
}

static void
check_lengths(struct damage *d)
{
    bool all = true, used;

    for (size_t i = 0; i < d->n && all; i += 1 + i / 9) {
        write_file(d->path, d->data, i);
        all = is_survived(d, &used) && !used;
    }
    ok(all, "a file that was cut off");
    d->data[d->n] = 0;
    write_file(d->path, d->data, d->n + 1);
    ok(is_survived(d, &used) && !used, "a file that is too long");
}

/* A system that stopped had written the name and the size, and data in part:
 * the rest is zeros. The slot is as if the file had not been there. */
static void
check_torn(struct damage *d)
{
    static uint8_t data[sizeof(d->data)];
    bool all = true, used;
    int n = 0;

    for (size_t i = 0; i + 32 < d->n && all; i += 1 + i / 6, n++) {
        memset(data, 0, d->n);
        memcpy(data, d->data, i);
        write_file(d->path, data, d->n);
        all = is_survived(d, &used) && !used;
    }
    printf("# %d files\n", n);
    ok(all, "a file whose tail is zeros");
    for (size_t i = 0; i + 4096 < d->n && all; i += 4096) {
        memcpy(data, d->data, d->n);
        memset(data + i, 0, 4096);
        write_file(d->path, data, d->n);
        all = is_survived(d, &used) && !used;
    }
    ok(all, "a file in which a page is zeros");
}

/* One file has another's name; and such that are none. */
static void
check_foreign(struct damage *d)
{
    char other[SCRATCH_PATH];
    uint8_t *data = malloc(sizeof(d->data));
    float out[V];
    bool used;
    size_t n;

    run_prompt(d->m, &d->c, ids + 7, 300, out);
    unlink(d->path);
    (void)count_files(other);
    n = read_file(other, data, sizeof(d->data));
    write_file(d->path, data, n);
    ok(is_survived(d, &used) && !used, "the piece of another prompt");
    unlink(d->path);
    if (symlink(other, d->path))
        exit(99);
    run_prompt(d->m, &d->c, ids, 300, out);
    ok(same(out, d->truth), "a link");
    unlink(d->path);
    write_file(d->path, d->data, d->n);
    snprintf(other, sizeof(other), "%.3800s/zzzz", folder);
    write_file(other, data, 9);
    snprintf(other, sizeof(other), "%.3800s/new-123456", folder);
    write_file(other, data, 9);
    ok(is_survived(d, &used) && used, "files of other names");
    free(data);
}

static void
check_damage(const char *name)
{
    struct damage *d = calloc(1, sizeof(*d));
    struct model_spec spec;
    struct gg_model *m;
    struct cached without = { .session = { .n_ctx = MOST } };

    if (!d || !models_named(name, &spec))
        exit(99);
    printf("# %s\n", name);
    spec.n_ctx = MOST;
    d->is_recurrent = spec.recurs;
    d->m = m = new_model(&spec);
    new_folder();
    d->c = (struct cached){ .session = { .n_ctx = MOST },
                            .prefixes.folder = folder };
    run_prompt(m, &without, ids, 300, d->truth);
    run_prompt(m, &d->c, ids, 300, d->truth);
    (void)count_files(d->path);
    d->n = read_file(d->path, d->data, sizeof(d->data));
    if (d->n == sizeof(d->data))
        exit(99);
    check_bits(d);
    check_lengths(d);
    check_torn(d);
    check_foreign(d);
    gg_model_free(m);
    free(d);
}

/* ---- what fails ---------------------------------------------------------- */

static void
check_memory(const struct gg_model *m)
{
    struct cached c = { .session = { .n_ctx = MOST, .n_threads = 1 } };
    float truth[V], out[V];
    int n_failed = 0, n_done = 0;
    bool all = true;

    run_prompt(m, &c, ids, 300, truth);
    new_folder();
    c.prefixes.folder = folder;
    for (long i = 0; all && n_done < 3; i++) {
        enum gg_status st;

        mem_fail_after(i);
        st = try_prompt(m, &c, ids, 300, out);
        mem_fail_after(-1);
        n_failed += st != GG_OK;
        n_done = st == GG_OK ? n_done + 1 : 0;
        all = st == GG_OK ? same(out, truth) : st == GG_ERR_NOMEM;
        if (i % 3 == 0 && all) {
            run_prompt(m, &c, ids, 300, out);
            all = same(out, truth);
        }
    }
    printf("# %d failures\n", n_failed);
    ok(all && n_failed > 20, "without memory nothing else is computed");
}

/* Pieces are not written, and nothing else happens. */
static void
check_no_room(const struct gg_model *m)
{
    struct told told = { 0 };
    struct cached c = { .session = { .n_ctx = MOST } };
    float truth[V], out[V];

    run_prompt(m, &c, ids, 600, truth);
    new_folder();
    c.prefixes = (struct gg_prefix_params){ .folder = folder,
                                            .stored = tell,
                                            .data = &told };
    run_prompt(m, &c, ids, 300, out);
    if (chmod(folder, 0500))
        exit(99);
    run_prompt(m, &c, ids, 600, out);
    ok(same(out, truth) && c.n_cached == 300, "a folder that is only read");
    if (geteuid() != 0)
        ok(told.why[0] != '\0', "and somebody is told");
    chmod(folder, 0700);
}

/* Two engines at once write the same, and each finds what the other wrote. */
static void
check_two(const struct gg_model *m)
{
    struct bench b[2];
    struct gg_prefix_params p = { .folder = folder };
    struct gg_query q[2] = { 0 };
    float truth[V], out[2][V];
    struct cached c = { .session = { .n_ctx = MOST } };

    new_folder();
    run_prompt(m, &c, ids, 600, truth);
    for (int i = 0; i < 2; i++) {
        open_bench(&b[i], m, 1, MOST, (struct gg_engine_params){ 0 });
        must(gg_engine_cache_prefixes(b[i].engine, &p, &err));
        must(gg_sequence_new(b[i].engine, &q[i].sequence, &err));
        q[i].rows.logits = out[i];
    }
    for (int k = 0; k < 600; k += 150)
        for (int i = 0; i < 2; i++) {
            must(gg_sequence_put(q[i].sequence, ids + k, 150, &err));
            must(gg_engine_eval(b[i].engine, &q[i], 1, &err));
        }
    ok(same(out[0], truth) && same(out[1], truth), "two writers");
    is(count_files(NULL), 4, "write each piece once");
    for (int i = 0; i < 2; i++) {
        gg_sequence_free(q[i].sequence);
        close_bench(&b[i]);
    }
}

/* Records that begin alike are evaluated together: files are read for one. */
static void
check_batch(const struct gg_model *m)
{
    enum {
        N = 4
    };
    struct bench b;
    struct gg_prefix_params p = { .folder = folder };
    struct gg_query q[N] = { 0 };
    float truth[N][V], out[N][V];
    struct cached c = { .session = { .n_ctx = MOST } };
    bool all = true;

    new_folder();
    c.prefixes.folder = folder;
    run_prompt(m, &c, ids, 400, truth[0]);
    c.prefixes.folder = NULL;
    open_bench(&b, m, N, MOST, (struct gg_engine_params){ 0 });
    must(gg_engine_cache_prefixes(b.engine, &p, &err));
    for (int i = 0; i < N; i++) {
        int32_t its[MOST];

        memcpy(its, ids, sizeof(its));
        its[350 + i] = (int32_t)i;
        run_prompt(m, &c, its, 450, truth[i]);
        must(gg_sequence_new(b.engine, &q[i].sequence, &err));
        must(gg_sequence_put(q[i].sequence, its, 450, &err));
        q[i].rows.logits = out[i];
    }
    must(gg_engine_eval(b.engine, q, N, &err));
    for (int i = 0; i < N; i++)
        all = all && same(out[i], truth[i]);
    ok(all, "a batch");
    ok(gg_engine_cached(b.engine) >= 350 && gg_engine_cached(b.engine) < 700,
       "one of it reads files, others copy its slot");
    for (int i = 0; i < N; i++)
        gg_sequence_free(q[i].sequence);
    close_bench(&b);
}

int
main(void)
{
    struct gg_model *m;

    fill_prompt();
    check_damage("llama-f32");
    check_damage("gemma3-f32");
    check_damage("qwen35-f32");
    m = new_model(&plain_model);
    check_memory(m);
    check_no_room(m);
    check_two(m);
    check_batch(m);
    gg_model_free(m);
    return tap_done();
}
