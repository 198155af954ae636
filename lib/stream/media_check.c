/* media_check.c - what reader and writer of the rows stream agree on */
#include <config.h>

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "stream/media.h"

enum gg_status
stream_media_check_head(const struct gg_rows_head *head, enum gg_status wrong,
                        struct gg_error *err)
{
    if (head->first < 1 || head->first > INT32_MAX - MEDIA_ROWS_MAX)
        return error_set(err, wrong, "rows that begin at id %ld",
                         (long)head->first);
    if (head->width < 1 || head->width > MEDIA_WIDTH_MAX)
        return error_set(err, wrong, "rows of %zu values", head->width);
    if (head->n_deeper > MEDIA_DEEPER_MAX)
        return error_set(err, wrong, "rows for %zu deeper layers",
                         head->n_deeper);
    if (head->writer && strlen(head->writer) > FORMAT_WRITER_MAX)
        return error_set(err, wrong, "the writer's name is too long");
    return GG_OK;
}

/* ---- Pieces -------------------------------------------------------------- */

/* Positions that a run of rows takes. */
static int32_t
positions_of(const struct gg_medium *m, const struct gg_piece *run)
{
    int32_t last = 0;

    if (!m->positions)
        return (int32_t)run->n;
    for (size_t i = 3 * run->first; i < 3 * (run->first + run->n); i++)
        last = m->positions[i] > last ? m->positions[i] : last;
    return last + 1;
}

/* Rows of a block have a number that no row before has; others have none. */
static bool
blocks_are_right(const struct gg_medium *m, const struct gg_piece *run,
                 int32_t *last)
{
    int32_t number = run->block && m->blocks ? m->blocks[run->first] : -1;

    if (run->block && number <= *last)
        return false;
    for (size_t i = run->first; m->blocks && i < run->first + run->n; i++)
        if (m->blocks[i] != number)
            return false;
    *last = run->block ? number : *last;
    return true;
}

static enum gg_status
check_run(const struct gg_medium *m, const struct gg_piece *run, size_t done,
          int32_t *last, enum gg_status wrong, struct gg_error *err)
{
    if (run->text || run->n < 1 || run->first != done || run->n > m->n - done)
        return error_set(err, wrong,
                         "a run of rows %zu to %zu after %zu of %zu",
                         run->first, run->first + run->n, done, m->n);
    if (run->n_positions != positions_of(m, run))
        return error_set(err, wrong, "a run of %zu rows takes %ld positions",
                         run->n, (long)run->n_positions);
    if (!blocks_are_right(m, run, last))
        return error_set(err, wrong, "a run of rows and its block differ");
    return GG_OK;
}

static enum gg_status
check_pieces(const struct gg_media_rows *rows, enum gg_status wrong,
             struct gg_error *err)
{
    size_t done = 0, text = 0;
    enum gg_status st = GG_OK;
    int32_t last = -1;

    for (size_t i = 0; st == GG_OK && i < rows->n_pieces; i++) {
        const struct gg_piece *p = &rows->pieces[i];

        if ((unsigned)p->kind > GG_PIECE_ORDINAL)
            return error_set(err, wrong, "a piece of kind %u",
                             (unsigned)p->kind);
        if (p->kind == GG_PIECE_ROWS) {
            st = check_run(&rows->medium, p, done, &last, wrong, err);
            done += p->n;
        } else if (!p->text || !*p->text) {
            return error_set(err, wrong, "a piece without text");
        } else {
            text += strlen(p->text);
        }
    }
    if (st == GG_OK && done != rows->medium.n)
        return error_set(err, wrong, "pieces of %zu rows, not %zu", done,
                         rows->medium.n);
    if (st == GG_OK && text > MEDIA_TEXT_MAX)
        return error_set(err, wrong, "texts of %zu bytes", text);
    return st;
}

/* ---- Rows ---------------------------------------------------------------- */

static bool
all_finite(const float *x, size_t n)
{
    size_t i = 0;

    while (i < n && isfinite(x[i]))
        i++;
    return i == n;
}

static enum gg_status
check_values(const struct gg_medium *m, enum gg_status wrong,
             struct gg_error *err)
{
    size_t n = m->n * m->width;

    if (!all_finite(m->rows, n) || !all_finite(m->deeper, m->n_deeper * n))
        return error_set(err, wrong, "a value that is no finite number");
    for (size_t i = 0; m->positions && i < 3 * m->n; i++)
        if (m->positions[i] < 0 || m->positions[i] >= MEDIA_ROWS_MAX)
            return error_set(err, wrong, "position %ld", (long)m->positions[i]);
    for (size_t i = 0; m->blocks && i < m->n; i++)
        if (m->blocks[i] < -1)
            return error_set(err, wrong, "block %ld", (long)m->blocks[i]);
    return GG_OK;
}

enum gg_status
stream_media_check(const struct gg_rows_head *head,
                   const struct gg_media_rows *rows, enum gg_status wrong,
                   struct gg_error *err)
{
    const struct gg_medium *m = &rows->medium;
    enum gg_status st;

    if ((unsigned)rows->kind > GG_MEDIA_SOUND)
        return error_set(err, wrong, "a medium of kind %u",
                         (unsigned)rows->kind);
    if (m->n < 1 || m->n > MEDIA_ROWS_MAX)
        return error_set(err, wrong, "a medium of %zu rows", m->n);
    if (rows->n_pieces < 1 || rows->n_pieces > MEDIA_PIECES_MAX)
        return error_set(err, wrong, "a medium of %zu pieces", rows->n_pieces);
    if (m->width != head->width || m->n_deeper != head->n_deeper)
        return error_set(err, wrong,
                         "rows of %zu values and for %zu deeper layers, where "
                         "the head says %zu and %zu",
                         m->width, m->n_deeper, head->width, head->n_deeper);
    st = check_values(m, wrong, err);
    return st == GG_OK ? check_pieces(rows, wrong, err) : st;
}
