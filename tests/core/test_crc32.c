/* test_crc32.c - our CRC-32 is zlib's */
#include <stdlib.h>
#include <zlib.h>

#include "core/crc32.h"
#include "harness/tap.h"

static int
differs(const unsigned char *data, size_t size, uint32_t start)
{
    return crc32_bytes(start, data, size) !=
           (uint32_t)crc32(start, data, (uInt)size);
}

int
main(void)
{
    static unsigned char data[70000];
    int wrong = 0;

    srand(1);
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (unsigned char)(rand() >> 7);
    /* The check value that the catalogue of CRCs gives for CRC-32. */
    is(crc32_bytes(0, "123456789", 9), 0xcbf43926, "check value");
    ok(crc32_bytes(0x12345678, NULL, 0) == 0x12345678, "nothing changes it");
    for (size_t n = 1; n <= 1200; n++)
        for (size_t at = 0; at < 17; at += 4)
            wrong += differs(data + at, n, (uint32_t)(n * 2654435761u));
    is(wrong, 0, "every length to 1200 at several offsets, chained");
    wrong = 0;
    for (size_t n = 65000; n < 65200; n++)
        wrong += differs(data, n, 0);
    is(wrong, 0, "long ones");
    return tap_done();
}
