/* test_projector_truth.c - projectors of $GG_TEST_MEDIA: the pixels that
 * encoders get, exactly, rows within an NMSE of 1e-5, and how many there are
 * and at which positions */
#include <config.h>

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gg-media.h>

#include "harness/scratch.h"
#include "harness/tap.h"

#ifdef HAVE_JANSSON

#include <jansson.h>

enum {
    MAX_NAME = 512,
    MAX_PARTS = 64,
};

static const char *folder;
static struct gg_error err;

/* ---- files --------------------------------------------------------------- */

/* All that a stream has; NULL: nothing. */
static char *
read_stream(FILE *f, size_t *size)
{
    size_t room = 1 << 20, n = 0, got;
    char *data = malloc(room);

    while (data && (got = fread(data + n, 1, room - n, f)) > 0) {
        n += got;
        if (n == room)
            data = realloc(data, room *= 2);
    }
    *size = n;
    return data;
}

static char *
read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *data = f ? read_stream(f, size) : NULL;

    if (f)
        fclose(f);
    return data;
}

/* NAME/mmproj.gguf.xz into a file of its own. */
static bool
unpack(const char *name, const char *to)
{
    char command[SCRATCH_PATH + 2 * MAX_NAME];

    snprintf(command, sizeof(command), "xz -dc '%s/%s/mmproj.gguf.xz' >'%s'",
             folder, name, to);
    return system(command) == 0;
}

static struct gg_decoded *
decode(const char *path)
{
    size_t size = 0;
    char *data = read_file(path, &size);
    struct gg_decoded *m = NULL;
    struct gg_decode_limits limits = { 0 };

    if (data && gg_media_decode(data, size, &limits, &m, &err) != GG_OK) {
        printf("# %s: %s\n", path, err.message);
        m = NULL;
    }
    free(data);
    return m;
}

/* The values of an .npy file of f32; *width is the length of a row. */
static float *
read_npy(const char *path, size_t *n, size_t *width)
{
    size_t size = 0, head;
    char *data = read_file(path, &size), *shape;
    float *x = NULL;

    if (data && size > 10) {
        head = 10 + (size_t)(uint8_t)data[8] + ((size_t)(uint8_t)data[9] << 8);
        *n = (size - head) / sizeof(float);
        x = malloc(size - head);
        memcpy(x, data + head, size - head);
        data[head - 1] = '\0';
        shape = strstr(data + 10, "'shape': (");
        shape = shape ? strchr(shape, ',') : NULL;
        *width = shape ? strtoul(shape + 1, NULL, 10) : 0;
    }
    free(data);
    return x;
}

/* ---- one case ------------------------------------------------------------ */

struct run {
    struct gg_projector *projector;
    const char *name;
    const json_t *of; /* the case */
    const char *case_name;
    size_t chunk, pixels; /* media chunks so far, pictures */
    double error, sum;
    float *want;
    size_t n_want, at; /* values of the truth, and those compared */
    bool same_chunks, same_pixels, same_positions;
};

static bool
is_medium(const json_t *chunk)
{
    const char *type = json_string_value(json_object_get(chunk, "type"));

    return type && strcmp(type, "text") != 0;
}

/* Media chunk i of the case. */
static const json_t *
media_chunk(const struct run *r, size_t i)
{
    const json_t *chunks = json_object_get(r->of, "chunks");

    for (size_t k = 0; k < json_array_size(chunks); k++)
        if (is_medium(json_array_get(chunks, k)) && i-- == 0)
            return json_array_get(chunks, k);
    return NULL;
}

static int64_t
chunk_int(const json_t *chunk, const char *key)
{
    return json_integer_value(json_object_get(chunk, key));
}

static void
compare_picture(struct run *r, const struct gg_piece *p, const uint8_t *rgb)
{
    char path[2 * MAX_NAME];
    struct gg_decoded *m;

    snprintf(path, sizeof(path), "%s/%s/%s.pix%zu.png", folder, r->name,
             r->case_name, r->pixels++);
    m = decode(path);
    r->same_pixels = r->same_pixels && m && m->width == p->width &&
                     m->height == p->height &&
                     memcmp(m->rgb, rgb, (size_t)p->width * p->height * 3) == 0;
    gg_decoded_free(m);
}

static void
compare_piece(struct run *r, struct gg_media_plan *plan, size_t i)
{
    const struct gg_piece *p = &plan->pieces[i];
    const json_t *chunk = media_chunk(r, r->chunk++);
    const uint8_t *rgb;
    const float *mel;

    r->same_chunks =
        r->same_chunks && chunk &&
        (chunk_int(chunk, "n_rows") == (int64_t)p->n ||
         strcmp(r->name, "voxtral") == 0) && /* whose truth has other rows */
        json_is_true(json_object_get(chunk, "non_causal")) == p->block &&
        (chunk_int(chunk, "n_pos") == p->n_positions ||
         strcmp(r->name, "voxtral") == 0);
    if (gg_media_plan_input(plan, i, &rgb, &mel, &err) != GG_OK)
        r->same_pixels = false;
    else if (rgb)
        compare_picture(r, p, rgb);
}

static void
compare_row(struct run *r, const float *row, size_t n)
{
    for (size_t i = 0; i < n && r->at < r->n_want; i++, r->at++) {
        double d = (double)row[i] - (double)r->want[r->at];

        r->error += d * d;
        r->sum += (double)r->want[r->at] * (double)r->want[r->at];
    }
}

static void
compare_rows(struct run *r, const struct gg_medium *m)
{
    for (size_t i = 0; i < m->n; i++) {
        compare_row(r, m->rows + i * m->width, m->width);
        for (size_t k = 0; k < m->n_deeper; k++)
            compare_row(r, m->deeper + (k * m->n + i) * m->width, m->width);
    }
}

/* Compares positions of the run of rows that is chunk i. */
static void
compare_positions(struct run *r, const struct gg_medium *m, size_t first,
                  size_t i)
{
    const json_t *chunk = media_chunk(r, i);
    const json_t *all = json_object_get(chunk, "pos_txy");
    int64_t from = chunk_int(chunk, "pos0");

    for (size_t k = 0; m->positions && k < json_array_size(all); k++) {
        const json_t *txy = json_array_get(all, k);
        const int32_t *p = m->positions + 3 * (first + k);

        /* time, width, height there */
        r->same_positions =
            r->same_positions &&
            json_integer_value(json_array_get(txy, 0)) == from + p[0] &&
            json_integer_value(json_array_get(txy, 1)) == from + p[2] &&
            json_integer_value(json_array_get(txy, 2)) == from + p[1];
    }
}

static void
compare_medium(struct run *r, const char *file)
{
    char path[2 * MAX_NAME];
    struct gg_decoded *m;
    struct gg_media_plan *plan = NULL;
    struct gg_media_rows *rows = NULL;
    size_t chunk = r->chunk;

    snprintf(path, sizeof(path), "%s/images/%s", folder, file);
    m = decode(path);
    if (!m || gg_projector_plan(r->projector, m, &plan, &err) != GG_OK ||
        gg_projector_encode(r->projector, plan, &rows, &err) != GG_OK)
        printf("# %s\n", err.message);
    gg_decoded_free(m);
    for (size_t i = 0; rows && i < plan->n_pieces; i++)
        if (plan->pieces[i].kind == GG_PIECE_ROWS) {
            compare_positions(r, &rows->medium, plan->pieces[i].first, chunk++);
            compare_piece(r, plan, i);
        }
    if (rows)
        compare_rows(r, &rows->medium);
    gg_media_rows_free(rows);
    gg_media_plan_free(plan);
}

static size_t
count_chunks(const struct run *r)
{
    size_t n = 0;

    while (media_chunk(r, n))
        n++;
    return n;
}

static void
compare_case(struct gg_projector *projector, const char *name, const json_t *of)
{
    struct run r = { .projector = projector,
                     .name = name,
                     .of = of,
                     .case_name =
                         json_string_value(json_object_get(of, "name")),
                     .same_chunks = true,
                     .same_pixels = true,
                     .same_positions = true };
    const json_t *media = json_object_get(of, "media");
    char path[2 * MAX_NAME], what[2 * MAX_NAME];
    size_t width;

    snprintf(path, sizeof(path), "%s/%s/%s.rows.npy", folder, name,
             r.case_name);
    r.want = read_npy(path, &r.n_want, &width);
    for (size_t i = 0; i < json_array_size(media); i++)
        compare_medium(&r, json_string_value(json_array_get(media, i)));
    snprintf(what, sizeof(what), "%s %s: rows", name, r.case_name);
    ok(r.want && r.at == r.n_want && r.error <= 1e-5 * r.sum, what);
    printf("# NMSE %.3g\n", r.error / r.sum);
    snprintf(what, sizeof(what), "%s %s: runs of rows", name, r.case_name);
    ok(r.same_chunks && r.chunk == count_chunks(&r), what);
    snprintf(what, sizeof(what), "%s %s: pixels", name, r.case_name);
    ok(r.same_pixels, what);
    snprintf(what, sizeof(what), "%s %s: positions", name, r.case_name);
    ok(r.same_positions, what);
    free(r.want);
}

/* ---- all of them --------------------------------------------------------- */

static void
compare_fixture(const char *name)
{
    char path[2 * MAX_NAME];
    struct gg_projector_params params = { .n_threads = 1 };
    struct gg_projector *projector;
    const char *file;
    json_t *truth;
    const json_t *cases;

    snprintf(path, sizeof(path), "%s/%s/truth.json", folder, name);
    truth = json_load_file(path, 0, NULL);
    if (!truth)
        return;
    file = scratch_file("mmproj.gguf");
    if (!unpack(name, file) ||
        gg_projector_open(file, &params, &projector, &err) != GG_OK) {
        printf("# %s\n", err.message);
        ok(false, name);
        json_decref(truth);
        return;
    }
    cases = json_object_get(truth, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++)
        compare_case(projector, name, json_array_get(cases, i));
    gg_projector_free(projector);
    json_decref(truth);
}

static void
find_module(void)
{
    const char *top = getenv("top_builddir");
    char path[2 * MAX_NAME];

    snprintf(path, sizeof(path), "%s/lib/.libs/gg-media-%s.so", top ? top : ".",
             PACKAGE_VERSION);
    if (access(path, R_OK) == 0)
        setenv("GG_MEDIA_MODULE", path, 0);
}

static bool
can_decode(void)
{
    char path[2 * MAX_NAME];
    struct gg_decoded *m;

    snprintf(path, sizeof(path), "%s/images/a.png", folder);
    m = decode(path);
    gg_decoded_free(m);
    return m != NULL;
}

int
main(void)
{
    struct dirent **names;
    int n;

    folder = getenv("GG_TEST_MEDIA");
    n = folder ? scandir(folder, &names, NULL, alphasort) : -1;
    find_module();
    if (n < 0 || !can_decode()) {
        printf("1..0 # SKIP no $GG_TEST_MEDIA, or no decoder of PNG\n");
        return 0;
    }
    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.')
            compare_fixture(names[i]->d_name);
        free(names[i]);
    }
    free(names);
    return tap_done();
}

#else

int
main(void)
{
    printf("1..0 # SKIP no Jansson\n");
    return 0;
}

#endif
