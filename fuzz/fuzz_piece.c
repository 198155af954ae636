/* fuzz_piece.c - files of a prefix cache: refused, or pieces after which a slot
 * can go on
 *
 * Sums catch what is changed at random, so each input is tried as it is and
 * with its sums put right; by a session with windowed layers, and one with
 * recurrent layers. */
#include <fcntl.h>
#include <gg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/crc32.h"
#include "core/mem.h"
#include "fixtures/models.h"
#include "fuzz.h"
#include "harness/scratch.h"
#include "session/impl.h"
#include "session/piece.h"

const char fuzz_name[] = "piece";

enum {
    CTX = 64,
    V = MODELS_N_VOCAB,
    ROWS = 6, /* of a medium, of which the first four are a block */
    KINDS = 2,
    HEAD = 72, /* bytes, and where numbers are in it: */
    HEAD_IDS = 20,
    HEAD_SIZE = 24,
    HEAD_MEDIA = 32,
    TABLE_ROW = 40,
    ALIGNMENT = 32,
};

static struct gg_model *models[KINDS];
static struct gg_session *sessions[KINDS];

static void
check(bool right)
{
    if (!right)
        abort();
}

/* ---- sessions ------------------------------------------------------------ */

static void
end(void)
{
    for (int i = 0; i < KINDS; i++) {
        gg_session_free(sessions[i]);
        gg_model_free(models[i]);
    }
}

static void
add_rows(int kind)
{
    static const int32_t blocks[ROWS] = { 0, 0, 0, 0, -1, -1 };
    size_t width = (size_t)gg_model_n_embd(models[kind]);
    float *rows = calloc(ROWS * width, sizeof(*rows));
    struct gg_medium medium = {
        .n = ROWS, .width = width, .rows = rows, .blocks = blocks
    };
    int32_t first;

    check(rows &&
          gg_session_add_rows(sessions[kind], &medium, &first, NULL) == GG_OK);
    check(first == V);
    free(rows);
}

static void
start_kind(int kind, const char *name)
{
    struct gg_session_params params = gg_session_params_default();
    const char *path = scratch_path();
    struct model_spec spec;

    check(models_named(name, &spec));
    spec.n_ctx = CTX;
    check(models_write(&spec, path));
    params.n_slots = 2;
    params.n_threads = 1;
    params.n_batch = 8;
    check(gg_model_open(path, NULL, &models[kind], NULL) == GG_OK);
    unlink(path); /* it stays mapped, and inputs are other files */
    check(gg_session_new(models[kind], &params, &sessions[kind], NULL) ==
          GG_OK);
    add_rows(kind);
}

/* The sessions serve all inputs. */
static void
start(void)
{
    if (sessions[0])
        return;
    atexit(end);
    start_kind(0, "gemma3-f32");
    start_kind(1, "mamba2-f32");
}

/* ---- an input ------------------------------------------------------------ */

/* Whether a sequence could have these ids, and go on after them. */
static bool
are_a_sequence(const struct gg_session *s, const struct piece *p,
               const int32_t *ids, int32_t n)
{
    size_t size = (size_t)n;

    for (int32_t i = 0; i < n; i++)
        if (ids[i] < 0)
            return false;
    return session_media_broken(&s->media, ids, size) == size &&
           session_edge(s, ids, size) == size &&
           (p->state || !session_piece_recurs(s));
}

static void
go_on(struct gg_session *s)
{
    struct gg_chunk chunk = { .ids = (int32_t[]){ 5 }, .n = 1, .slot = 1 };
    static float logits[V];

    chunk.rows.logits = logits;
    check(gg_session_eval(s, &chunk, 1, NULL) == GG_OK);
}

/* After `first` ids of no matter. */
static void
use_piece(struct gg_session *s, const struct piece *p, const char *rows)
{
    int32_t n = p->first + p->n, ids[CTX];

    for (int32_t i = 0; i < p->first; i++)
        ids[i] = 1;
    memcpy(ids + p->first, p->ids, (size_t)p->n * sizeof(*ids));
    if (!are_a_sequence(s, p, ids, n))
        return;
    check(session_piece_assume(s, 1, ids, n, NULL));
    session_piece_put(s, 1, p, rows, p->first, n, n);
    check(gg_session_length(s, 1) == n);
    go_on(s);
}

static void
try_session(struct gg_session *s, int fd)
{
    int32_t ids[PIECE_IDS];
    struct piece p = { .ids = ids };
    bool nomem;
    char *rows;

    if (!session_piece_read(s, fd, &p))
        return;
    check(p.n > 0 && p.n <= PIECE_IDS && p.first >= 0);
    for (int32_t i = 0; i < p.n; i++)
        check(ids[i] >= -1 && ids[i] < s->media.n_ids);
    rows = session_piece_rows(s, fd, &p, &nomem);
    if (rows && p.first < CTX && p.first + p.n < CTX)
        use_piece(s, &p, rows);
    mem_free(rows);
    gg_session_truncate(s, 1, 0);
    go_on(s);
    gg_session_truncate(s, 1, 0);
}

static void
try(const uint8_t *data, size_t size)
{
    const char *path = scratch_path();
    int fd;

    fuzz_write(path, data, size);
    fd = open(path, O_RDONLY);
    check(fd >= 0);
    for (int i = 0; i < KINDS; i++)
        try_session(sessions[i], fd);
    close(fd);
}

static uint64_t
aligned(uint64_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint32_t
number_at(const uint8_t *data, size_t at)
{
    uint32_t n;

    memcpy(&n, data + at, sizeof(n));
    return n;
}

/* Puts sums of what is there in the place of those that are; false: there are
 * none. */
static bool
repair(uint8_t *data, size_t size)
{
    uint64_t head, rows, sums, n;
    uint32_t crc;

    if (size < HEAD)
        return false;
    memcpy(&n, data + HEAD_SIZE, sizeof(n));
    head = HEAD + (uint64_t)number_at(data, HEAD_IDS) * sizeof(int32_t) +
           (uint64_t)number_at(data, HEAD_MEDIA) * TABLE_ROW;
    rows = aligned(head);
    sums = aligned(rows + n);
    if (n > size || sums > size || size - sums < 2 * sizeof(crc))
        return false;
    crc = crc32_bytes(0, data, head);
    memcpy(data + sums, &crc, sizeof(crc));
    crc = crc32_bytes(0, data + rows, n);
    memcpy(data + sums + sizeof(crc), &crc, sizeof(crc));
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    start();
    return fuzz_repaired(data, size, try, repair);
}

/* ---- the corpus ---------------------------------------------------------- */

static int32_t tokens[40] = { 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233 };
static int32_t with_rows[20] = { 1, 2, V,     V + 1, V + 2, V + 3, V + 4,
                                 3, V, V + 1, V + 2, V + 3, 4 };

static const struct {
    int kind;
    int32_t *ids;
    struct piece piece;
} seeds[] = {
    { 0, tokens, { .n = 40 } },
    { 0, tokens, { .first = 16, .n = 20 } },
    { 0, with_rows, { .n = 20 } },
    { 0, with_rows, { .first = 4, .n = 16 } },
    { 1, tokens, { .n = 40, .state = true } },
    { 1, with_rows, { .first = 1, .n = 19, .state = true } },
};

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    struct gg_session *s;
    struct gg_chunk chunk = { 0 };
    struct piece p;
    int fd;

    if (i >= sizeof(seeds) / sizeof(seeds[0]))
        return NULL;
    start();
    s = sessions[seeds[i].kind];
    p = seeds[i].piece;
    p.ids = seeds[i].ids + p.first;
    chunk.ids = seeds[i].ids;
    chunk.n = (size_t)(p.first + p.n);
    gg_session_truncate(s, 0, 0);
    check(gg_session_eval(s, &chunk, 1, NULL) == GG_OK);
    fd = open(scratch_path(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(fd >= 0 && session_piece_write(s, 0, &p, fd, NULL) == GG_OK);
    close(fd);
    return fuzz_file(scratch_path(), 0, size);
}
