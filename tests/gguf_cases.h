/* gguf_cases.h - GGUF files, good and hostile, written byte by byte
 *
 * Shared by the unit tests and the fuzz targets, whose corpus they are. They
 * are put together from the format's description and use none of our code. */
#ifndef GGUF_CASES_H
#define GGUF_CASES_H

#include <gg.h>
#include <gguf.h>

/* A file in memory; zero it first, free(b.data) at the end. Out of memory ends
 * the program. */
struct bytes {
    uint8_t *data;
    size_t n, cap;
};

void
put_bytes(struct bytes *b, const void *data, size_t n);
void
put_u8(struct bytes *b, uint8_t v);
void
put_u32(struct bytes *b, uint32_t v);
void
put_u64(struct bytes *b, uint64_t v);
void
put_f32(struct bytes *b, float v);
/* Length and bytes of a C string. */
void
put_str(struct bytes *b, const char *s);
/* Zeros up to a multiple of `alignment`. */
void
put_pad(struct bytes *b, size_t alignment);

void
put_head(struct bytes *b, uint32_t version, uint64_t n_tensors, uint64_t n_kv);
/* A key and the type; the value follows. */
void
put_key(struct bytes *b, const char *key, uint32_t type);
/* A key, and the head of an array; its elements follow. */
void
put_array(struct bytes *b, const char *key, uint32_t type, uint64_t n);
void
put_kv_u32(struct bytes *b, const char *key, uint32_t v);
void
put_kv_str(struct bytes *b, const char *key, const char *v);
void
put_tensor1(struct bytes *b, const char *name, uint64_t ne0, uint32_t type,
            uint64_t offset);
void
put_tensor2(struct bytes *b, const char *name, uint64_t ne0, uint64_t ne1,
            uint32_t type, uint64_t offset);

/* A small sound file that has some of everything: keys u32, f32, bool, str,
 * arrays of i32 and str; tensors a.weight F32 4 x 2, b.weight Q8_0 32. */
void
put_small_file(struct bytes *b);

struct gguf_case {
    const char *name;
    void (*build)(struct bytes *b);
    enum gg_status status;
    const char *message; /* a part of it */
};

extern const struct gguf_case gguf_cases[];
extern const size_t n_gguf_cases;

#endif
