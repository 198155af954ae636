/* test_stop.c - stop strings are found where a search of the whole text finds
 * them, and nothing waits that cannot become one */
#include "core/mem.h"
#include "engine/stop.h"
#include "harness/tap.h"

enum {
    ROUNDS = 20000,
    MOST = 4, /* strings */
    LEN = 6,  /* of the longest */
    TEXT = 40,
};

/* One text, the strings that end it, and what a plain search finds. */
struct search {
    const char *text;
    size_t len;
    const char *strings[MOST];
    size_t lens[MOST], n;
};

static struct gg_error err;
static struct engine_stop stop;
static struct engine_bytes out;
static uint64_t state = 7;

static size_t
draw_below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((state >> 33) % n);
}

/* Bytes of the longest string that text[0..end) ends with, or 0. */
static size_t
find_end(const struct search *s, size_t end)
{
    size_t best = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->lens[i] <= end && s->lens[i] > best &&
            !memcmp(s->text + end - s->lens[i], s->strings[i], s->lens[i]))
            best = s->lens[i];
    return best;
}

/* Bytes of the longest beginning of a string that text[0..end) ends with. */
static size_t
find_begun(const struct search *s, size_t end)
{
    size_t best = 0;

    for (size_t i = 0; i < s->n; i++)
        for (size_t n = 1; n < s->lens[i] && n <= end; n++)
            if (n > best && !memcmp(s->text + end - n, s->strings[i], n))
                best = n;
    return best;
}

static bool
is_out(const struct search *s, size_t len)
{
    return out.len == len && (!len || !memcmp(out.p, s->text, len));
}

/* Whether the strings, which were added to `list`, end the text as they should
 * where it comes in pieces of up to `most` bytes. */
static bool
is_right(const struct search *s, const struct gg_stop *list, size_t most)
{
    size_t at = 0, end = 0, longest = 0, len;
    const char *string;
    bool found = false;

    while (end < s->len && !longest)
        longest = find_end(s, ++end);
    out.len = 0;
    if (!engine_stop_start(&stop, list))
        return false;
    while (at < s->len && !found) {
        size_t n = 1 + draw_below(most);

        n = n < s->len - at ? n : s->len - at;
        if (!engine_stop_add(&stop, s->text + at, n, &out, &found))
            return false;
        at += n;
        if (found != (longest && at >= end) ||
            !is_out(s, found ? end - longest : at - find_begun(s, at)))
            return false;
    }
    if (!found)
        return engine_stop_end(&stop, &out) && is_out(s, s->len);
    string = engine_stop_found(&stop, &len);
    return string && len == longest &&
           !memcmp(string, s->text + end - longest, len);
}

static bool
search_right(const struct search *s)
{
    struct gg_stop *list;
    bool right = gg_stop_new(&list, &err) == GG_OK;

    for (size_t i = 0; i < s->n && right; i++)
        right = gg_stop_add(list, s->strings[i], s->lens[i], &err) == GG_OK;
    right = right && is_right(s, list, 1) && is_right(s, list, 5) &&
            is_right(s, list, s->len);
    gg_stop_free(list);
    return right;
}

/* ---- cases --------------------------------------------------------------- */

static void
check(const char *string, const char *text, const char *what)
{
    ok(search_right(&(struct search){ .text = text,
                                      .len = strlen(text),
                                      .strings = { string },
                                      .lens = { strlen(string) },
                                      .n = 1 }),
       what);
}

static void
print_bytes(const char *p, size_t len)
{
    printf(" '");
    for (size_t i = 0; i < len; i++)
        printf(p[i] ? "%c" : "0", p[i]);
    printf("'");
}

/* Few letters, so that strings begin within one another; one letter is NUL. */
static void
check_random(void)
{
    static const char letters[] = { 'a', 'b', '\0' };
    char text[TEXT], bytes[MOST][LEN];
    size_t wrong = 0;

    for (int round = 0; round < ROUNDS; round++) {
        size_t kinds = 2 + draw_below(2);
        struct search s = { .text = text,
                            .len = 1 + draw_below(TEXT),
                            .n = 1 + draw_below(MOST) };

        for (size_t i = 0; i < s.len; i++)
            text[i] = letters[draw_below(kinds)];
        for (size_t i = 0; i < s.n; i++) {
            s.strings[i] = bytes[i];
            s.lens[i] = 1 + draw_below(LEN);
            for (size_t k = 0; k < s.lens[i]; k++)
                bytes[i][k] = letters[draw_below(kinds)];
        }
        if (search_right(&s) || wrong++)
            continue;
        printf("#");
        for (size_t i = 0; i < s.n; i++)
            print_bytes(bytes[i], s.lens[i]);
        printf(" in");
        print_bytes(text, s.len);
        printf("\n");
    }
    is(wrong, 0, "strings and texts of few letters");
}

int
main(void)
{
    check("aab", "aaab and on", "a string within what began as one");
    check("\n\n#", "x\n\n\n# on", "one line end more");
    check("\n\n#", "x\n\n# on", "and none more");
    check("abacabad", "abacabacabad.", "a beginning that is long");
    check("aab", "aaaa", "a beginning at the end");
    check_random();
    mem_free(out.p);
    engine_stop_clear(&stop);
    return tap_done();
}
