/* media_writer.c - rows stream: media to bytes */
#include <config.h>

#include <gg-stream.h>
#include <string.h>

#include "core/mem.h"
#include "core/order.h"
#include "stream/media.h"
#include "stream/record.h"

struct gg_rows_writer {
    int fd;
    struct gg_rows_head head; /* without the writer's name */
    uint64_t count;           /* records after the head */
    uint8_t *pieces;          /* of the medium that is being written */
    size_t pieces_cap;
    char *text;
    size_t text_cap;
};

static enum gg_status
write_rows_head(int fd, const struct gg_rows_head *head, struct gg_error *err)
{
    const char *writer = head->writer ? head->writer : "";
    uint8_t fixed[MEDIA_HEAD];
    struct stream_record r;
    enum gg_status st;

    memcpy(fixed, head->projector, GG_MEDIUM_HASH);
    core_store_le32(fixed + 32, (uint32_t)head->first);
    core_store_le32(fixed + 36, (uint32_t)head->width);
    core_store_le32(fixed + 40, (uint32_t)head->n_deeper);
    core_store_le32(fixed + 44, (uint32_t)strlen(writer));
    stream_record_begin(&r, KIND_HEAD);
    stream_record_add(&r, fixed, sizeof(fixed));
    stream_record_add(&r, writer, strlen(writer));
    stream_record_pad(&r);
    st = stream_record_write_preamble(fd, MEDIA_MAGIC, MEDIA_VERSION, err);
    return st == GG_OK ? stream_record_send(fd, &r, err) : st;
}

enum gg_status
gg_rows_writer_new(int fd, const struct gg_rows_head *head,
                   struct gg_rows_writer **out, struct gg_error *err)
{
    struct gg_rows_writer *w;
    enum gg_status st;

    if (!head || !out)
        return error_null(err);
    st = stream_media_check_head(head, GG_ERR_ARG, err);
    if (st != GG_OK)
        return st;
    w = mem_zalloc(sizeof(*w));
    if (!w)
        return error_nomem(err);
    w->fd = fd;
    w->head = *head;
    w->head.writer = NULL;
    st = write_rows_head(fd, head, err);
    if (st == GG_OK)
        *out = w;
    else
        gg_rows_writer_free(w);
    return st;
}

void
gg_rows_writer_free(struct gg_rows_writer *writer)
{
    if (!writer)
        return;
    mem_free(writer->pieces);
    mem_free(writer->text);
    mem_free(writer);
}

/* ---- A medium ------------------------------------------------------------ */

static void
store_piece(uint8_t *to, const struct gg_piece *p, size_t n_text)
{
    bool rows = p->kind == GG_PIECE_ROWS;

    core_store_le32(to, (uint32_t)p->kind);
    core_store_le32(to + 4, (uint32_t)n_text);
    core_store_le32(to + 8, rows ? (uint32_t)p->first : 0);
    core_store_le32(to + 12, rows ? (uint32_t)p->n : 0);
    core_store_le32(to + 16, rows ? (uint32_t)p->n_positions : 0);
    core_store_le32(to + 20, rows ? p->width : 0);
    core_store_le32(to + 24, rows ? p->height : 0);
    core_store_le32(to + 28, rows && p->block ? MEDIA_BLOCK : 0);
}

/* Bytes of the pieces, and of their texts, which are *n_text. */
static enum gg_status
store_pieces(struct gg_rows_writer *w, const struct gg_media_rows *rows,
             size_t *n_text, struct gg_error *err)
{
    size_t n = rows->n_pieces;

    *n_text = 0;
    if (!mem_grow(&w->pieces, &w->pieces_cap, n, MEDIA_PIECE))
        return error_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const char *text = rows->pieces[i].text;
        size_t len = text ? strlen(text) : 0;

        if (!mem_grow(&w->text, &w->text_cap, *n_text + len, 1))
            return error_nomem(err);
        if (len)
            memcpy(w->text + *n_text, text, len);
        *n_text += len;
        store_piece(w->pieces + i * MEDIA_PIECE, &rows->pieces[i], len);
    }
    return GG_OK;
}

static void
add_values(struct stream_record *r, const struct gg_medium *m)
{
    size_t n = m->n * m->width;

    stream_record_numbers(r, m->rows, n, 4);
    stream_record_pad(r);
    stream_record_numbers(r, m->deeper, m->n_deeper * n, 4);
    stream_record_pad(r);
    stream_record_numbers(r, m->positions, m->positions ? 3 * m->n : 0, 4);
    stream_record_pad(r);
    stream_record_numbers(r, m->blocks, m->blocks ? m->n : 0, 4);
    stream_record_pad(r);
}

static enum gg_status
write_medium(struct gg_rows_writer *w, const struct gg_media_rows *rows,
             struct gg_error *err)
{
    const struct gg_medium *m = &rows->medium;
    uint32_t flags = (m->positions ? (uint32_t)MEDIA_POSITIONS : 0) |
                     (m->blocks ? (uint32_t)MEDIA_BLOCKS : 0);
    uint8_t fixed[MEDIA_MEDIUM] = { 0 };
    struct stream_record r;
    size_t n_text = 0;
    enum gg_status st = store_pieces(w, rows, &n_text, err);

    if (st != GG_OK)
        return st;
    memcpy(fixed, m->hash, GG_MEDIUM_HASH);
    core_store_le32(fixed + 32, (uint32_t)rows->kind);
    core_store_le32(fixed + 36, (uint32_t)rows->n_pieces);
    core_store_le32(fixed + 40, (uint32_t)m->n);
    core_store_le32(fixed + 44, flags);
    core_store_le32(fixed + 48, (uint32_t)n_text);
    stream_record_begin(&r, KIND_MEDI);
    stream_record_add(&r, fixed, sizeof(fixed));
    stream_record_add(&r, w->pieces, rows->n_pieces * MEDIA_PIECE);
    stream_record_add(&r, w->text, n_text);
    stream_record_pad(&r);
    add_values(&r, m);
    return stream_record_send(w->fd, &r, err);
}

static enum gg_status
check_and_write_medium(struct gg_rows_writer *w,
                       const struct gg_media_rows *rows, struct gg_error *err)
{
    enum gg_status st;

    if (!rows || !rows->pieces || !rows->medium.rows ||
        (rows->medium.n_deeper && !rows->medium.deeper))
        return error_null(err);
    st = stream_media_check(&w->head, rows, GG_ERR_ARG, err);
    return st == GG_OK ? write_medium(w, rows, err) : st;
}

static enum gg_status
write_media_failure(int fd, const char *message, struct gg_error *err)
{
    uint8_t fixed[FORMAT_FAIL] = { 0 };
    uint32_t len = (uint32_t)strnlen(message, FORMAT_MESSAGE_MAX);
    struct stream_record r;

    core_store_le32(fixed + 8, len);
    stream_record_begin(&r, KIND_FAIL);
    stream_record_add(&r, fixed, sizeof(fixed));
    stream_record_add(&r, message, len);
    stream_record_pad(&r);
    return stream_record_send(fd, &r, err);
}

enum gg_status
gg_rows_write(struct gg_rows_writer *writer,
              const struct gg_rows_record *record, struct gg_error *err)
{
    enum gg_status st;

    if (!writer || !record)
        return error_null(err);
    switch (record->kind) {
    case GG_ROWS_MEDIUM:
        st = check_and_write_medium(writer, record->rows, err);
        break;
    case GG_ROWS_ERROR:
        if (!record->message)
            return error_null(err);
        st = write_media_failure(writer->fd, record->message, err);
        break;
    case GG_ROWS_END:
        return stream_record_number(writer->fd, KIND_DONE, writer->count, err);
    default:
        return error_set(err, GG_ERR_ARG, "a head is written by opening");
    }
    if (st == GG_OK)
        writer->count++;
    return st;
}
