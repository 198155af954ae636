/* test_draft_file.c - a table of drafts as a file: what is read is what was
 * written, and nothing that is damaged or another vocabulary's */
#include <unistd.h>

#include "core/crc32.h"
#include "core/mem.h"
#include "core/order.h"
#include "engine/draft.h"
#include "engine/draft_table.h"
#include "engine_test.h"

enum {
    HEAD = 32,
    ROOM = 4096,
};

static struct bench b;
static uint8_t file[ROOM], again[ROOM];

/* The engine's table as a file. */
static size_t
table_to(uint8_t *out)
{
    FILE *f = tmpfile();
    size_t n;

    if (!f)
        exit(99);
    must(gg_engine_draft_write(b.engine, fileno(f), &err));
    rewind(f);
    n = fread(out, 1, ROOM, f);
    fclose(f);
    return n;
}

static void
start_again(void)
{
    must(gg_engine_draft(b.engine, NULL, &err));
}

static enum gg_status
read_table(const uint8_t *data, size_t size)
{
    uint8_t *copy = mem_array(size, 1); /* so that what is beyond is seen */
    enum gg_status st;

    memcpy(copy, data, size);
    st = gg_engine_draft_read(b.engine, copy, size, &err);
    mem_free(copy);
    return st;
}

static bool
table_knows(const int32_t *text, size_t n, const char *key)
{
    uint64_t place;

    return engine_table_find(b.engine->draft->table, text, n, key, &place) == n;
}

static void
fix_sum(uint8_t *data, size_t size)
{
    uint32_t crc = crc32_bytes(0, data, 28);

    core_store_le32(data + 28, crc32_bytes(crc, data + HEAD, size - HEAD));
}

/* The file with other bytes at an offset, and a right sum. */
static enum gg_status
read_changed(size_t size, size_t at, uint32_t v)
{
    uint8_t changed[ROOM];

    memcpy(changed, file, size);
    core_store_le32(changed + at, v);
    if (at != 28)
        fix_sum(changed, size);
    return read_table(changed, size);
}

static void
check_damaged(size_t size)
{
    int32_t first[] = { 1, 2, 3 };
    bool refused = true;

    start_again();
    for (size_t n = 0; n < size; n++)
        refused = refused && read_table(file, n) == GG_ERR_FORMAT;
    ok(refused, "a file that was cut off is refused");
    for (size_t i = 0; i < 8 * size; i++) {
        memcpy(again, file, size);
        again[i / 8] ^= (uint8_t)(1 << i % 8);
        refused = refused && read_table(again, size) != GG_OK;
    }
    ok(refused, "and one with a bit that changed");
    memcpy(again, file, size);
    ok(read_table(again, size + 4) == GG_ERR_FORMAT, "more bytes than it says");
    is(read_changed(size, HEAD, V), GG_ERR_FORMAT, "an id too large");
    is(read_changed(size, HEAD, (uint32_t)-2), GG_ERR_FORMAT, "one too small");
    is(read_changed(size, 8, 2), GG_ERR_UNSUPPORTED, "another version");
    is(read_changed(size, 12, V + 1), GG_ERR_ARG, "another vocabulary");
    is(read_changed(size, 20, 7), GG_ERR_ARG, "one of the same size");
    is(read_changed(size, 24, UINT32_MAX), GG_ERR_FORMAT, "very many ids");
    ok(!table_knows(first, 3, NULL), "nothing of these is known");
}

static void
check_want_of_memory(size_t size)
{
    int32_t first[] = { 1, 2, 3 };
    enum gg_status st = GG_ERR_NOMEM;
    bool right = true;

    for (long k = 0; st == GG_ERR_NOMEM && k < 50; k++) {
        start_again();
        mem_fail_after(k);
        st = gg_engine_draft_read(b.engine, file, size, &err);
        mem_fail_after(-1);
        right = right && (st == GG_OK || !table_knows(first, 3, NULL));
    }
    ok(right && st == GG_OK, "without memory it is not read");
    mem_fail_after(0);
    st = gg_engine_draft_write(b.engine, 1, &err);
    mem_fail_after(-1);
    is(st, GG_ERR_NOMEM, "nor written");
    is(gg_engine_draft_write(b.engine, -1, &err), GG_ERR_IO,
       "nor to what is not open");
}

int
main(void)
{
    const struct model_spec spec = plain_model;
    struct gg_model *m = new_model(&spec);
    const int32_t one[] = { 1, 2, 3, 4 }, two[] = { 5, 6, 7, 8, 9 };
    struct draft_table *t;
    size_t size;

    fill_ids(ids, 4);
    open_bench(&b, m, 1, 64, (struct gg_engine_params){ 0 });
    start_again();
    size = table_to(file);
    ok(size == HEAD && read_table(file, size) == GG_OK, "an empty table");
    t = b.engine->draft->table;
    engine_table_add(t, one, 4, NULL);
    engine_table_add(t, ids, 4, "key");
    engine_table_add(t, two, 5, NULL);
    size = table_to(file);
    is(size, HEAD + 11 * sizeof(int32_t), "texts with a key are not written");
    start_again();
    is(read_table(file, size), GG_OK, "a table is read");
    ok(table_knows(one, 3, NULL) && table_knows(two, 4, NULL) &&
           table_knows(two, 4, "key") && !table_knows(ids, 3, "key"),
       "its texts are known, to all keys");
    ok(table_to(again) == size && !memcmp(file, again, size),
       "and written again");
    check_damaged(size);
    check_want_of_memory(size);
    close_bench(&b);
    gg_model_free(m);
    return tap_done();
}
