/* test_head.c - heads of requests that two programs could read differently are
 * refused, wherever the bytes are cut */
#include <config.h>

#include <string.h>

#include "gg-serve/head.h"
#include "harness/tap.h"

enum {
    MAX_BODY = 100,
};

static const struct {
    const char *name, *text;
    int status;      /* 0: it is good */
    uint64_t length; /* of its body */
} heads[] = {
    { "a head without a body", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, 0 },
    { "a head with a body",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 0, 3 },
    { "blanks around a length",
      "POST / HTTP/1.1\r\ncontent-length: \t 3 \t\r\n\r\nabc", 0, 3 },
    { "the longest body", "POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n", 0,
      100 },
    { "a longer body", "POST / HTTP/1.1\r\nContent-Length: 101\r\n\r\n", 413,
      0 },
    { "a length of 2^64 and more",
      "POST / HTTP/1.1\r\nContent-Length: 18446744073709551617\r\n\r\n", 413,
      0 },
    { "two lengths",
      "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400,
      0 },
    { "two lengths in a line",
      "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 400, 0 },
    { "two numbers", "POST / HTTP/1.1\r\nContent-Length: 1 1\r\n\r\n", 400, 0 },
    { "a length with a sign", "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
      400, 0 },
    { "a length of nothing", "POST / HTTP/1.1\r\nContent-Length: \r\n\r\n", 400,
      0 },
    { "a length in hex", "POST / HTTP/1.1\r\nContent-Length: 0x1\r\n\r\n", 400,
      0 },
    { "Transfer-Encoding",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411, 0 },
    { "another Transfer-Encoding",
      "POST / HTTP/1.1\r\ntransfer-encoding: x\r\n\r\n", 411, 0 },
    { "LF alone", "GET / HTTP/1.1\nHost: a\n\n", 400, 0 },
    { "LF alone at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400, 0 },
    { "CR alone", "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400, 0 },
    { "a folded line", "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400, 0 },
    { "a blank in front of a colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400,
      0 },
    { "a line without a colon", "GET / HTTP/1.1\r\nHost\r\n\r\n", 400, 0 },
    { "a field without a name", "GET / HTTP/1.1\r\n: a\r\n\r\n", 400, 0 },
    { "two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, 0 },
    { "an empty request line", "\r\nGET / HTTP/1.1\r\n\r\n", 400, 0 },
    { "an escape", "GET / HTTP/1.1\r\nA: \033[2J\r\n\r\n", 400, 0 },
    { "DEL", "GET /\177 HTTP/1.1\r\n\r\n", 400, 0 },
};

/* In pieces of n bytes. */
static struct head
take_head(const char *text, size_t len, size_t n)
{
    struct head h = { 0 };

    for (size_t i = 0; i < len; i += n)
        head_take(&h, text + i, len - i < n ? len - i : n, MAX_BODY);
    return h;
}

static void
check_head(size_t i)
{
    size_t len = strlen(heads[i].text);

    for (size_t n = 1; n <= len; n++) {
        struct head h = take_head(heads[i].text, len, n);
        bool good =
            heads[i].status
                ? h.at == HEAD_BAD && h.status == heads[i].status && h.why
                : h.at == HEAD_BODY && h.length == heads[i].length;

        if (!good) {
            printf("# in pieces of %d\n", (int)n);
            ok(false, heads[i].name);
            return;
        }
    }
    ok(true, heads[i].name);
}

static void
test_nul(void)
{
    static const char text[] = "GET / HTTP/1.1\r\nA: b\0c\r\n\r\n";
    struct head h = take_head(text, sizeof(text) - 1, 7);

    ok(h.at == HEAD_BAD && h.status == 400, "NUL");
}

/* A line that is repeated. */
static struct head
take_lines(const char *line, int n)
{
    struct head h = { 0 };

    head_take(&h, "GET / HTTP/1.1\r\n", 16, MAX_BODY);
    for (int i = 0; i < n; i++)
        head_take(&h, line, strlen(line), MAX_BODY);
    head_take(&h, "\r\n", 2, MAX_BODY);
    return h;
}

static void
test_bounds(void)
{
    char line[HEAD_MAX_LINE + 16];
    struct head h = take_lines("A: b\r\n", HEAD_MAX_LINES);

    ok(h.at == HEAD_BODY, "as many lines as may be");
    h = take_lines("A: b\r\n", HEAD_MAX_LINES + 1);
    ok(h.at == HEAD_BAD && h.status == 431, "one line more");
    memset(line, 'a', sizeof(line));
    memcpy(line, "A:", 2);
    strcpy(line + HEAD_MAX_LINE, "\r\n");
    h = take_lines(line, 3);
    ok(h.at == HEAD_BODY, "long lines");
    h = take_lines(line, 4);
    ok(h.at == HEAD_BAD && h.status == 431, "a head that is too long");
    memset(line + HEAD_MAX_LINE, 'a', 4);
    strcpy(line + HEAD_MAX_LINE + 4, "\r\n");
    h = take_lines(line, 1);
    ok(h.at == HEAD_BAD && h.status == 431, "a line that is too long");
}

/* Bytes after a body wait for the answer. */
static void
test_rest(void)
{
    static const char text[] =
        "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /";
    struct head h = { 0 };
    size_t n = head_take(&h, text, sizeof(text) - 1, MAX_BODY);

    ok(n == sizeof(text) - 1 - 5 && h.at == HEAD_BODY && h.body == 0,
       "bytes after a body are not taken");
}

int
main(void)
{
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        check_head(i);
    test_nul();
    test_bounds();
    test_rest();
    return tap_done();
}
