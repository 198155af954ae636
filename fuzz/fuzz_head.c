/* fuzz_head.c - heads of HTTP requests: what is taken does not depend on where
 * the bytes are cut, and a good one has one meaning
 *
 * The first byte says how long the pieces are. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gg-serve/head.h"

#include "fuzz.h"

const char fuzz_name[] = "head";

enum {
    MAX_BODY = 1000,
};

static void
check(bool right)
{
    if (!right)
        abort();
}

/* In pieces of n bytes, until all is taken, or no more is. */
static struct head
take(const char *text, size_t len, size_t n, size_t *taken)
{
    struct head h = { 0 };

    *taken = 0;
    while (*taken < len) {
        size_t piece = len - *taken < n ? len - *taken : n;
        size_t got = head_take(&h, text + *taken, piece, MAX_BODY);

        check(got <= piece);
        *taken += got;
        if (got < piece)
            break;
    }
    return h;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    struct head whole, parts;
    size_t n_whole, n_parts;

    if (size < 2)
        return 0;
    whole = take(text, size - 1, size, &n_whole);
    parts = take(text, size - 1, 1u + data[0] % 32, &n_parts);
    check(whole.at == parts.at && n_whole == n_parts);
    check(whole.at != HEAD_BAD || (whole.why && whole.status >= 400));
    check(whole.at != HEAD_BODY || whole.length <= MAX_BODY);
    check(whole.body <= whole.length);
    return 0;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    static const char *const heads[] = {
        "aGET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "bPOST /v1/messages HTTP/1.1\r\nHost: [::1]:8080\r\n"
        "Content-Length: 5\r\nX-Api-Key: k\r\n\r\n{\"a\"GET",
        "cPOST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "dPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "eGET / HTTP/1.0\nA : b\r\n c\r\n",
    };
    char *copy;

    if (i >= sizeof(heads) / sizeof(*heads))
        return NULL;
    *size = strlen(heads[i]);
    copy = malloc(*size);
    return copy ? memcpy(copy, heads[i], *size) : NULL;
}
