/* test_core.c - checked sums, cursor, hash, escape, memory, errors */
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/cursor.h"
#include "core/error.h"
#include "core/escape.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/mem.h"
#include "harness/tap.h"

static void
test_check(void)
{
    size_t n = 42;

    ok(check_add(1, 2, &n) && n == 3, "a sum");
    ok(check_add(SIZE_MAX, 0, &n) && n == SIZE_MAX, "the largest sum");
    ok(!check_add(SIZE_MAX, 1, &n), "a sum that wraps");
    ok(check_mul(3, 5, &n) && n == 15, "a product");
    ok(check_mul(SIZE_MAX, 0, &n) && n == 0, "a product with zero");
    ok(!check_mul(SIZE_MAX / 2 + 1, 2, &n), "one that wraps");
    ok(check_align(33, 32, &n) && n == 64 && check_align(64, 32, &n) &&
           n == 64 && check_align(0, 32, &n) && n == 0,
       "rounding up");
    ok(check_align(SIZE_MAX - 31, 32, &n) && n == SIZE_MAX - 31 &&
           !check_align(SIZE_MAX - 30, 32, &n),
       "rounding up at the end of the range");
    ok(!check_power_of_two(0) && check_power_of_two(1) &&
           !check_power_of_two(3) && check_power_of_two((uint64_t)1 << 63) &&
           !check_power_of_two(UINT64_MAX),
       "powers of two");
}

static void
test_cursor(void)
{
    static const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    struct cursor c = cursor_over(data, sizeof(data));

    ok(cursor_u8(&c) == 1 && cursor_u16(&c) == 0x0302 &&
           cursor_u32(&c) == 0x07060504 && cursor_left(&c) == 3,
       "little-endian numbers");
    ok(cursor_u32(&c) == 0 && c.bad && cursor_left(&c) == 3,
       "a read that does not fit yields zero and moves nothing");
    ok(cursor_u8(&c) == 0 && !cursor_take(&c, 1) && !cursor_holds(&c, 0, 1),
       "nor does any after it");
    c = cursor_over(data, sizeof(data));
    ok(cursor_take(&c, sizeof(data)) == data && !c.bad && cursor_take(&c, 0),
       "all may be taken, and then nothing");
    ok(!cursor_take(&c, UINT64_MAX) && c.bad, "a length that would wrap");
    c = cursor_over(data, sizeof(data));
    ok(cursor_holds(&c, 10, 1) && !cursor_holds(&c, 11, 1) &&
           cursor_holds(&c, 2, 4) && !cursor_holds(&c, 3, 4) &&
           !cursor_holds(&c, (uint64_t)1 << 61, 8),
       "what can follow");
    c = cursor_over(NULL, 0);
    ok(cursor_left(&c) == 0 && cursor_u64(&c) == 0 && c.bad, "over nothing");
}

/* FNV-1a's published values for "", "a" and "foobar". */
static void
test_hash_values(void)
{
    ok(hash_bytes(HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325) &&
           hash_bytes(HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c) &&
           hash_bytes(HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8),
       "FNV-1a");
    is(hash_bytes(hash_bytes(HASH_START, "foo", 3), "bar", 3),
       hash_bytes(HASH_START, "foobar", 6), "which chains");
}

static void
test_hash_map(void)
{
    enum {
        N = 5000
    };
    static char names[N][12];
    struct hash_map map = { 0 };
    uint32_t found = 42;
    bool right = true;

    ok(!hash_map_find(&map, "x", 1, &found), "nothing is in an empty map");
    ok(hash_map_init(&map, N), "room for many");
    for (uint32_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof(names[i]), "name%u", i);
        right &= hash_map_add(&map, names[i], strlen(names[i]), i) == i;
    }
    ok(right, "each is new");
    is(hash_map_add(&map, "name7", 5, 9999), 7, "one that is there stays");
    for (uint32_t i = 0; i < N; i++)
        right &= hash_map_find(&map, names[i], strlen(names[i]), &found) &&
                 found == i;
    ok(right, "each is found");
    ok(!hash_map_find(&map, "name", 4, &found) &&
           !hash_map_find(&map, "name70000", 9, &found),
       "no other is");
    ok(hash_map_add(&map, "", 0, 77) == 77 &&
           hash_map_find(&map, "", 0, &found) && found == 77,
       "the empty string is one");
    hash_map_clear(&map);
    hash_map_clear(&map);
    ok(!hash_map_init(&map, SIZE_MAX), "no room for all");
}

static bool
shows(const char *s, size_t len, const char *want)
{
    char buf[64];

    return strcmp(escape_bytes(buf, sizeof(buf), s, len), want) == 0;
}

static void
test_escape(void)
{
    char buf[8];

    ok(shows("abc def~", 8, "abc def~"), "plain text stays");
    ok(shows("\n\r\t\\", 4, "\\n\\r\\t\\\\"), "line ends, tab, backslash");
    ok(shows("\33[2J\0\177", 6, "\\x1b[2J\\x00\\x7f"), "control characters");
    ok(shows("\303\251\342\202\254\360\237\230\200", 9,
             "\303\251\342\202\254\360\237\230\200"),
       "UTF-8 stays");
    ok(shows("\302\233", 2, "\\xc2\\x9b"), "C1 does not");
    ok(shows("\300\200\340\200\200\360\200\200\200", 9,
             "\\xc0\\x80\\xe0\\x80\\x80\\xf0\\x80\\x80\\x80"),
       "nor does what is overlong");
    ok(shows("\355\240\200\364\220\200\200\377\303", 9,
             "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xff\\xc3"),
       "nor surrogates, what is beyond Unicode, what is cut");
    is(strcmp(escape_bytes(buf, sizeof(buf), "abcdefghij", 10), "abcdefg"), 0,
       "it is cut to fit");
    is(strcmp(escape_bytes(buf, sizeof(buf), "abcde\33x", 7), "abcde"), 0,
       "between characters");
    is(escape_bytes(buf, 1, "abc", 3), "", "down to nothing");
}

static void
test_grow(void)
{
    int *p = NULL;
    size_t cap = 0;
    bool right = true;

    for (size_t i = 0; i < 1000; i++) {
        right &= mem_grow(&p, &cap, i + 1, sizeof(*p)) && cap > i;
        p[i] = (int)i;
    }
    for (size_t i = 0; i < 1000; i++)
        right &= p[i] == (int)i;
    ok(right, "an array grows and keeps what it holds");
    ok(!mem_grow(&p, &cap, SIZE_MAX, sizeof(*p)) && p[999] == 999,
       "not beyond what can be counted");
    mem_fail_after(0);
    ok(!mem_grow(&p, &cap, 100000, sizeof(*p)) && p[999] == 999,
       "on failure it stays");
    mem_fail_after(-1);
    mem_free(p);
}

/* Much of it, so that whole pages go back; its neighbours stay. */
static void
test_zero(void)
{
    enum {
        SIZE = 5 << 20,
        EDGE = 77
    };
    char *p = mem_aligned(64, SIZE);
    bool zero = true, kept = true;

    memset(p, 7, SIZE);
    mem_zero(p + EDGE, SIZE - 2 * EDGE);
    for (size_t i = 0; i < SIZE; i++)
        if (i < EDGE || i >= SIZE - EDGE)
            kept &= p[i] == 7;
        else
            zero &= p[i] == 0;
    ok(zero && kept, "much memory is made zero, and no more");
    memset(p + EDGE, 8, SIZE - 2 * EDGE);
    is(p[SIZE / 2], 8, "and is written again");
    mem_free(p);
}

static void
test_mem(void)
{
    char *p;
    void *q;

    ok(!mem_array(SIZE_MAX / 2, 3), "an array that wraps");
    ok(!mem_strndup("x", SIZE_MAX), "a string that wraps");
    p = mem_strndup("abc", 2);
    ok(p && strcmp(p, "ab") == 0, "a string that is cut");
    mem_free(p);
    q = mem_alloc(0);
    ok(q, "nothing is something");
    mem_free(q);
    q = mem_aligned(256, 100);
    ok(q && (uintptr_t)q % 256 == 0, "aligned");
    mem_free(q);
    mem_free(NULL);
    mem_fail_after(1);
    p = mem_alloc(1);
    ok(p && !mem_alloc(1) && !mem_zalloc(1) && !mem_array(1, 1) &&
           !mem_realloc(p, 2) && !mem_dup("x", 1) && !mem_strndup("x", 1) &&
           !mem_aligned(16, 1),
       "failures on request");
    mem_fail_after(-1);
    mem_free(p);
}

static void
test_error(void)
{
    struct gg_error err = { "" };
    char longer[600];

    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    ok(error_set(&err, GG_ERR_IO, "%s: %d", "a", 5) == GG_ERR_IO &&
           strcmp(err.message, "a: 5") == 0,
       "a sentence");
    ok(error_prefix(&err, GG_ERR_IO, "%s", "file") == GG_ERR_IO &&
           strcmp(err.message, "file: a: 5") == 0,
       "with something before it");
    error_set(&err, GG_ERR_IO, "%s", longer);
    is(strlen(err.message), sizeof(err.message) - 1, "a long one is cut");
    error_prefix(&err, GG_ERR_IO, "%s", longer);
    is(strlen(err.message), sizeof(err.message) - 1, "also behind a prefix");
    error_set(&err, GG_ERR_IO, "why");
    error_prefix(&err, GG_ERR_IO, "%s/\u00e9%0250d", longer, 7);
    ok(strlen(err.message) == 253 + 5 && !strncmp(err.message, "...000", 6) &&
           !strcmp(err.message + 246, "0000007: why"),
       "of a long path the end is shown, and the reason");
    error_prefix(&err, GG_ERR_IO, "%s/\u00e9%0249d", longer, 7);
    ok(!strncmp(err.message, "...000", 6), "from a whole character on");
    error_set(&err, GG_ERR_IO, "\033[2J\n\x9b%s", "\\x1b");
    error_prefix(&err, GG_ERR_IO, "a\033b\u00e9");
    ok(!strcmp(err.message, "a\\x1bb\u00e9: \\x1b[2J\\n\\x9b\\x1b"),
       "control characters are escaped, and nothing twice");
    ok(error_set(NULL, GG_ERR_ARG, "x") == GG_ERR_ARG &&
           error_prefix(NULL, GG_ERR_ARG, "x") == GG_ERR_ARG &&
           error_nomem(NULL) == GG_ERR_NOMEM,
       "nobody has to listen");
    for (int i = -1; i < 12; i++)
        if (!gg_status_string((enum gg_status)i)[0])
            longer[0] = '\0';
    ok(longer[0] && strcmp(gg_status_string(GG_EOF), "end of input") == 0,
       "each status has a name");
}

static void
hear(enum ggml_log_level level, const char *text, void *data)
{
    snprintf(data, 32, "%d %s", level, text);
}

static void
test_log(void)
{
    char heard[32] = "";

    log_say(GGML_LOG_LEVEL_WARN, "nobody hears this");
    ggml_log_set(hear, heard);
    log_say(GGML_LOG_LEVEL_WARN, "%s", "word");
    ggml_log_set(NULL, NULL);
    is(heard, "3 word", "the log callback");
}

int
main(void)
{
    test_check();
    test_cursor();
    test_hash_values();
    test_hash_map();
    test_escape();
    test_grow();
    test_zero();
    test_mem();
    test_error();
    test_log();
    return tap_done();
}
