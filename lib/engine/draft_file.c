/* draft_file.c - the table of prompt lookup as a file: gg-stream(5)
 *
 * A head, and the ids of texts, -1 after each. It is read whole and checked
 * before anything of it counts. */
#include <string.h>

#include "core/crc32.h"
#include "core/cursor.h"
#include "core/error.h"
#include "core/file.h"
#include "core/mem.h"
#include "engine/draft.h"
#include "engine/draft_table.h"

static const char magic[] = "\x8bGGD\r\n\x1a\n";

enum {
    VERSION = 1,
    HEAD = 32,
    CRC_AT = 28, /* that of all other bytes */
};

static uint32_t
sum_file(const uint8_t *file, size_t size)
{
    return crc32_bytes(crc32_bytes(0, file, CRC_AT), file + HEAD, size - HEAD);
}

/* The table of an engine that has one. */
static enum gg_status
find_table(const struct gg_engine *e, struct gg_error *err)
{
    if (!e)
        return error_null(err);
    if (!e->draft || !e->draft->table)
        return error_set(err, GG_ERR_ARG,
                         "the engine does not draft by prompt lookup");
    return GG_OK;
}

/* ---- reading ------------------------------------------------------------- */

static enum gg_status
check_table_head(const struct gg_engine *e, const uint8_t *file, size_t size,
                 struct gg_error *err)
{
    struct cursor c = cursor_over(file, size);
    const void *first = cursor_take(&c, sizeof(magic) - 1);
    uint32_t version = cursor_u32(&c), n_vocab = cursor_u32(&c);
    uint64_t print = cursor_u64(&c);
    uint32_t n = cursor_u32(&c), crc = cursor_u32(&c);

    if (c.bad || memcmp(first, magic, sizeof(magic) - 1) != 0)
        return error_set(err, GG_ERR_FORMAT, "not a table of drafts");
    if (version != VERSION)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "a table of drafts of version %u", version);
    if (n > TABLE_MOST || cursor_left(&c) != (size_t)n * sizeof(int32_t))
        return error_set(err, GG_ERR_FORMAT,
                         "the table of drafts has another size than its head "
                         "says");
    if (crc != sum_file(file, size))
        return error_set(err, GG_ERR_FORMAT,
                         "the table of drafts is damaged: its CRC differs");
    if (n_vocab != (uint32_t)gg_vocab_size(e->vocab) ||
        print != gg_vocab_fingerprint(e->vocab))
        return error_set(err, GG_ERR_ARG,
                         "the table of drafts is that of another vocabulary");
    return GG_OK;
}

static enum gg_status
check_table_ids(const struct gg_engine *e, const int32_t *ids, size_t n,
                struct gg_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] < -1 || ids[i] >= gg_vocab_size(e->vocab))
            return error_set(err, GG_ERR_FORMAT,
                             "the table of drafts has an id that the "
                             "vocabulary lacks");
    return GG_OK;
}

static void
share_texts(struct draft_table *t, const int32_t *ids, size_t n)
{
    size_t from = 0;

    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0) {
            engine_table_share(t, ids + from, i - from);
            from = i + 1;
        }
    engine_table_share(t, ids + from, n - from);
}

enum gg_status
gg_engine_draft_read(struct gg_engine *engine, const void *data, size_t size,
                     struct gg_error *err)
{
    enum gg_status st = find_table(engine, err);
    size_t n = size < HEAD ? 0 : (size - HEAD) / sizeof(int32_t);
    int32_t *ids;

    if (st == GG_OK && !data && size)
        st = error_null(err);
    if (st == GG_OK)
        st = check_table_head(engine, data, size, err);
    if (st != GG_OK)
        return st;
    ids = mem_array(n, sizeof(*ids));
    if (!ids)
        return error_nomem(err);
    if (n)
        memcpy(ids, (const uint8_t *)data + HEAD, n * sizeof(*ids));
    core_le_array(ids, n, sizeof(*ids));
    st = check_table_ids(engine, ids, n, err);
    if (st == GG_OK)
        share_texts(engine->draft->table, ids, n);
    mem_free(ids);
    return st;
}

/* ---- writing ------------------------------------------------------------- */

static void
write_table_head(const struct gg_engine *e, uint8_t *file, size_t n)
{
    memcpy(file, magic, sizeof(magic) - 1);
    core_store_le32(file + 8, VERSION);
    core_store_le32(file + 12, (uint32_t)gg_vocab_size(e->vocab));
    core_store_le64(file + 16, gg_vocab_fingerprint(e->vocab));
    core_store_le32(file + 24, (uint32_t)n);
    core_store_le32(file + CRC_AT, sum_file(file, HEAD + n * sizeof(int32_t)));
}

enum gg_status
gg_engine_draft_write(const struct gg_engine *engine, int fd,
                      struct gg_error *err)
{
    enum gg_status st = find_table(engine, err);
    uint8_t *file;
    int32_t *ids;
    size_t n;

    if (st != GG_OK)
        return st;
    file = mem_array(HEAD / sizeof(*ids) + TABLE_MOST, sizeof(*ids));
    if (!file)
        return error_nomem(err);
    ids = (int32_t *)(void *)(file + HEAD);
    n = engine_table_list(engine->draft->table, ids);
    core_le_array(ids, n, sizeof(*ids));
    write_table_head(engine, file, n);
    st = file_write_all(fd, file, HEAD + n * sizeof(*ids), err);
    mem_free(file);
    return st;
}
