/* fuzz.h - what a fuzz target gives to whatever drives it
 *
 * A target is a file fuzz_NAME.c with a function, a corpus and a name. It is a
 * test with replay.c, or, after configure --enable-fuzzer, runs under
 * libFuzzer. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tries one input, which must end well whatever it is. Returns 0. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A target may have a mutator that knows its format; as libFuzzer's. */
size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* The corpus is made by code: input number i, until NULL is returned. The
 * caller frees it. */
uint8_t *
fuzz_corpus(size_t i, size_t *size);

/* Writes it as files; returns the status to exit with. */
int
fuzz_write_corpus(const char *folder);

/* For targets that work with files, or abort(): all of one, after `room` free
 * bytes, which the caller frees; and its size. */
uint8_t *
fuzz_file(const char *path, size_t room, size_t *size);
void
fuzz_write(const char *path, const void *data, size_t size);

/* For targets of files with sums: tries the input, and again as `repair` makes
 * it, where that returns true. Returns 0. */
int
fuzz_repaired(const uint8_t *data, size_t size,
              void (*try)(const uint8_t *data, size_t size),
              bool (*repair)(uint8_t *data, size_t size));

/* The target's name: "gguf". */
extern const char fuzz_name[];

#endif
