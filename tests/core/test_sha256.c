/* test_sha256.c - SHA-256 of the examples of FIPS 180-4, and in pieces */
#include <stdio.h>
#include <string.h>

#include "core/sha256.h"
#include "harness/tap.h"

static const char *
hex_of(const char *text, size_t times)
{
    static char hex[2 * SHA256_BYTES + 1];
    uint8_t digest[SHA256_BYTES];
    struct sha256 h;

    sha256_start(&h);
    for (; times; times--)
        sha256_add(&h, text, strlen(text));
    sha256_end(&h, digest);
    for (int i = 0; i < SHA256_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return hex;
}

/* All splits of some lengths in two. */
static int
count_differing_splits(void)
{
    uint8_t data[300], whole[SHA256_BYTES], split[SHA256_BYTES];
    int differs = 0;
    struct sha256 h;

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * i);
    for (size_t n = 0; n < sizeof(data); n += 7)
        for (size_t at = 0; at <= n; at++) {
            sha256_start(&h);
            sha256_add(&h, data, n);
            sha256_end(&h, whole);
            sha256_start(&h);
            sha256_add(&h, data, at);
            sha256_add(&h, data + at, n - at);
            sha256_end(&h, split);
            differs += memcmp(whole, split, sizeof(whole)) != 0;
        }
    return differs;
}

int
main(void)
{
    is(hex_of("", 1),
       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
       "nothing");
    is(hex_of("abc", 1),
       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
       "a block");
    is(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1),
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
       "two blocks");
    is(hex_of("aaaaaaaaaa", 100000),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
       "a million");
    is(count_differing_splits(), 0, "in two pieces");
    return tap_done();
}
