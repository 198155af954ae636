/* time.c - clocks, files, identities: small services of the tensor interface */
#include <config.h>

#include <ggml.h>
#include <string.h>
#include <time.h>

static int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void
ggml_time_init(void)
{
}

int64_t
ggml_time_ms(void)
{
    return now_ns() / 1000000;
}

int64_t
ggml_time_us(void)
{
    return now_ns() / 1000;
}

int64_t
ggml_cycles(void)
{
    return now_ns();
}

int64_t
ggml_cycles_per_ms(void)
{
    return 1000000;
}

FILE *
ggml_fopen(const char *fname, const char *mode)
{
    return fopen(fname, mode);
}

bool
ggml_guid_matches(ggml_guid_t a, ggml_guid_t b)
{
    return memcmp(a, b, sizeof(ggml_guid)) == 0;
}
