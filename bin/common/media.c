/* media.c - the media of a rows stream */
#include <config.h>

#include "common/media.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *
media_kind_name(enum gg_media_kind kind)
{
    return kind == GG_MEDIA_SOUND ? "sound" : "image";
}

const char *
media_a_kind(enum gg_media_kind kind)
{
    return kind == GG_MEDIA_SOUND ? "a sound" : "an image";
}

/* ---- Reading ------------------------------------------------------------- */

static const void *
copy_numbers(const void *p, size_t n)
{
    void *copy = p ? cli_alloc(NULL, n, 4) : NULL;

    return copy ? memcpy(copy, p, 4 * n) : NULL;
}

static const struct gg_piece *
copy_pieces(const struct gg_piece *from, size_t n)
{
    struct gg_piece *pieces = cli_alloc(NULL, n, sizeof(*pieces));

    for (size_t i = 0; i < n; i++) {
        pieces[i] = from[i];
        if (from[i].text)
            pieces[i].text = cli_copy(from[i].text, strlen(from[i].text));
    }
    return pieces;
}

static void
copy_values(struct gg_medium *m)
{
    size_t n = m->n * m->width;

    m->rows = copy_numbers(m->rows, n);
    m->deeper = m->n_deeper ? copy_numbers(m->deeper, n * m->n_deeper) : NULL;
    m->positions = copy_numbers(m->positions, 3 * m->n);
    m->blocks = copy_numbers(m->blocks, m->n);
}

static void
free_values(struct gg_medium *m)
{
    free((void *)m->rows);
    free((void *)m->deeper);
    free((void *)m->positions);
    free((void *)m->blocks);
    m->rows = m->deeper = NULL;
    m->positions = m->blocks = NULL;
}

static struct media_item *
add_item(struct media *m)
{
    m->items = cli_alloc(m->items, m->n + 1, sizeof(*m->items));
    m->items[m->n] = (struct media_item){ .first = m->end };
    return &m->items[m->n++];
}

size_t
media_find_hash(const struct media *m, const uint8_t hash[GG_MEDIUM_HASH])
{
    size_t i = 0;

    while (i < m->n &&
           (m->items[i].failure ||
            memcmp(m->items[i].rows.medium.hash, hash, GG_MEDIUM_HASH) != 0))
        i++;
    return i;
}

/* The item of an equal medium before it; NULL: there is none. */
static const struct media_item *
find_equal(const struct media *m, const struct gg_medium *medium)
{
    size_t i = media_find_hash(m, medium->hash);

    return i < m->n ? &m->items[i] : NULL;
}

static void
add_hash(struct media *m, const struct gg_medium *medium)
{
    m->hashes = cli_alloc(m->hashes, m->n_hashes + 1, GG_MEDIUM_HASH);
    memcpy(m->hashes + m->n_hashes++ * GG_MEDIUM_HASH, medium->hash,
           GG_MEDIUM_HASH);
}

static struct media_item *
add_rows_item(struct media *m, const struct gg_media_rows *rows, bool values)
{
    struct media_item *item = add_item(m);

    item->rows = *rows;
    item->rows.pieces = copy_pieces(rows->pieces, rows->n_pieces);
    if (values)
        copy_values(&item->rows.medium);
    else
        item->rows.medium = (struct gg_medium){ .n = rows->medium.n };
    memcpy(item->rows.medium.hash, rows->medium.hash, GG_MEDIUM_HASH);
    return item;
}

void
media_append_first(struct media *m, const struct gg_media_rows *rows,
                   int32_t first)
{
    add_rows_item(m, rows, false)->first = first;
    add_hash(m, &rows->medium);
    m->end = first + (int32_t)rows->medium.n;
}

void
media_append(struct media *m, const struct gg_media_rows *rows, bool values)
{
    const struct media_item *equal = find_equal(m, &rows->medium);
    int32_t first = equal ? equal->first : m->end;
    struct media_item *item;
    bool again;

    if (equal && equal->rows.medium.n != rows->medium.n)
        cli_die("%s: media %td and %zu have the same pixels or samples, and "
                "%zu and %zu rows",
                m->name, equal - m->items + 1, m->n + 1, equal->rows.medium.n,
                rows->medium.n);
    if (rows->medium.n > (size_t)(INT32_MAX - m->end))
        cli_die("%s: more rows than there are ids", m->name);
    again = equal != NULL;
    item = add_rows_item(m, rows, values);
    item->first = first;
    item->again = again;
    if (!again) {
        add_hash(m, &rows->medium);
        m->end += (int32_t)rows->medium.n;
    }
}

void
media_set_head(struct media *m, const struct gg_rows_head *head)
{
    m->end = m->end ? m->end : head->first;
    m->head = *head;
    m->head.writer = NULL;
}

static void
take_rows_record(struct media *m, const struct gg_rows_record *r, bool values)
{
    if (r->kind == GG_ROWS_HEAD) {
        media_set_head(m, &r->head);
    } else if (r->kind == GG_ROWS_MEDIUM) {
        media_append(m, r->rows, values);
    } else if (r->kind == GG_ROWS_ERROR) {
        add_item(m)->failure = cli_copy(r->message, strlen(r->message));
    }
}

struct media *
media_new(const char *name)
{
    struct media *m = cli_alloc(NULL, 1, sizeof(*m));

    *m = (struct media){ .name = cli_copy(name, strlen(name)) };
    return m;
}

struct media *
media_read(const char *path, bool values)
{
    struct gg_rows_record record;
    struct gg_rows_reader *reader;
    struct gg_error err;
    enum gg_status st;
    int fd = cli_open_input(path);
    const char *name = cli_input_name(path);
    struct media *m = media_new(name);

    cli_check(gg_rows_reader_new(fd, name, &reader, &err), &err);
    while ((st = gg_rows_read(reader, &record, &err)) == GG_OK)
        take_rows_record(m, &record, values);
    if (st != GG_EOF)
        cli_check(st, &err);
    gg_rows_reader_free(reader);
    close(fd);
    return m;
}

void
media_free(struct media *m)
{
    for (size_t i = 0; m && i < m->n; i++) {
        struct gg_media_rows *rows = &m->items[i].rows;

        for (size_t k = 0; k < rows->n_pieces; k++)
            free((char *)rows->pieces[k].text);
        free((void *)rows->pieces);
        free_values(&rows->medium);
        free(m->items[i].failure);
    }
    if (m) {
        free(m->items);
        free(m->hashes);
        free(m->name);
    }
    free(m);
}

/* ---- Sessions ------------------------------------------------------------ */

size_t
media_longest_block(const struct media *m)
{
    size_t most = 0;

    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < m->items[i].rows.n_pieces; k++) {
            const struct gg_piece *p = &m->items[i].rows.pieces[k];

            most = p->block && p->n > most ? p->n : most;
        }
    return most;
}

static void
check_media_head(const struct media *m, const struct gg_model *model)
{
    int32_t first = gg_model_n_vocab(model);
    size_t width = (size_t)gg_model_n_embd(model);

    if (m->head.width != width)
        cli_die("%s: its rows have %zu values, and the model's embeddings %zu: "
                "they were made for another model",
                m->name, m->head.width, width);
    if (m->head.first != first)
        cli_die("%s: its rows begin at id %ld, and the model's at %ld: they "
                "were made for another model",
                m->name, (long)m->head.first, (long)first);
}

void
media_add(struct media *m, const struct gg_model *model,
          struct gg_session *session)
{
    check_media_head(m, model);
    for (size_t i = 0; i < m->n; i++) {
        struct media_item *item = &m->items[i];
        struct gg_error err;
        int32_t first;

        if (item->failure)
            continue;
        if (gg_session_add_rows(session, &item->rows.medium, &first, &err) !=
            GG_OK)
            cli_die("%s: medium %zu: %s", m->name, i + 1, err.message);
        free_values(&item->rows.medium);
    }
}

void
media_expect(const struct media *m, struct gg_line_reader *reader)
{
    struct gg_error err;

    if (m && m->n_hashes)
        cli_check(gg_line_reader_rows(reader, m->head.first, m->hashes,
                                      m->n_hashes, &err),
                  &err);
}

const struct media_item *
media_find(const struct media *m, int32_t id)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct media_item *item = &m->items[i];

        if (!item->failure && id >= item->first &&
            (size_t)(id - item->first) < item->rows.medium.n)
            return item;
    }
    return NULL;
}

void
media_describe(const struct media *m)
{
    char hash[2 * GG_MEDIUM_HASH + 1];

    for (size_t i = 0; i < GG_MEDIUM_HASH; i++)
        snprintf(hash + 2 * i, 3, "%02x", m->head.projector[i]);
    cli_warn("%s: %zu media, %ld rows of %zu values; projector %s", m->name,
             m->n, (long)(m->end - m->head.first), m->head.width, hash);
}
