/* replay.c - runs a fuzz target without libFuzzer
 *
 * As a test (no argument): the corpus, then mutations of it with a fixed seed.
 * With files: those. With -w FOLDER: writes the corpus for libFuzzer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz.h"

enum {
    MUTATIONS = 20, /* of each input of the corpus in turn, and again */
    SECONDS = 1,
    MORE = 4096, /* bytes that a mutator of the target's own may add */
};

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
    __attribute__((weak));

/* xorshift64* */
static uint64_t
draw(void)
{
    static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* In memory of exactly its size, so that a sanitizer sees what is read beyond
 * it. */
static void
try(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Values that sizes, counts and offsets go wrong at. */
static uint64_t
odd_number(void)
{
    static const uint64_t numbers[] = {
        0, 1, 2, 31, 32, 33, 63, 64, 0x7fffffff, 0xffff, 1u << 31, 0xffffffff
    };
    uint64_t r = draw();

    switch (r & 3) {
    case 0:
        return UINT64_C(1) << (r >> 2 & 63);
    case 1:
        return ~(r >> 2 & 63);
    default:
        return numbers[(r >> 2) % (sizeof(numbers) / sizeof(numbers[0]))];
    }
}

/* Changes the first *size bytes a little; never makes them more. */
static void
mutate(uint8_t *data, size_t *size)
{
    uint64_t number;
    size_t at, n;

    for (unsigned times = draw() % 4 + 1; times && *size; times--) {
        at = draw() % *size;
        switch (draw() % 4) {
        case 0:
            data[at] ^= (uint8_t)(1u << (draw() & 7));
            break;
        case 1:
            data[at] = (uint8_t)draw();
            break;
        case 2:
            number = odd_number();
            n = *size - at < 8 ? *size - at : 8;
            memcpy(data + at, &number, draw() & 1 && n > 4 ? 4 : n);
            break;
        default:
            if (draw() % 8 == 0)
                *size = at;
        }
    }
}

static void
try_mutations(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + MORE);

    if (!copy)
        abort();
    for (int i = 0; i < MUTATIONS; i++) {
        size_t left = size;

        if (size)
            memcpy(copy, data, size);
        if (LLVMFuzzerCustomMutator && i % 2)
            left = LLVMFuzzerCustomMutator(copy, size, size + MORE,
                                           (unsigned)draw());
        else
            mutate(copy, &left);
        try(copy, left);
    }
    free(copy);
}

/* Goes through the corpus; returns its number of inputs. */
static size_t
each_input(void (*f)(const uint8_t *data, size_t size))
{
    size_t size, n = 0;
    uint8_t *data;

    for (; (data = fuzz_corpus(n, &size)); n++) {
        f(data, size);
        free(data);
    }
    return n;
}

static void
replay_corpus(void)
{
    clock_t until;
    size_t rounds = 0, n = each_input(try);

    printf("ok 1 - %s: the corpus\n# %zu inputs\n", fuzz_name, n);
    fflush(stdout);
    until = clock() + (clock_t)SECONDS * CLOCKS_PER_SEC;
    for (; clock() < until; rounds++)
        each_input(try_mutations);
    printf("ok 2 - %s: mutations of it\n# %zu of them\n1..2\n", fuzz_name,
           rounds * n * MUTATIONS);
}

static int
replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t n = 0, got;

    if (!f) {
        perror(path);
        return EXIT_FAILURE;
    }
    do {
        data = realloc(data, n + 65536);
        if (!data)
            abort();
        got = fread(data + n, 1, 65536, f);
        n += got;
    } while (got);
    fclose(f);
    try(data, n);
    free(data);
    return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    int status = EXIT_SUCCESS;

    if (argc == 1)
        replay_corpus();
    if (argc == 3 && strcmp(argv[1], "-w") == 0)
        return fuzz_write_corpus(argv[2]);
    for (int i = 1; i < argc; i++)
        status |= replay_file(argv[i]);
    return status;
}
