/* gguf_cases.c - GGUF files, good and hostile, written byte by byte */
#include "gguf_cases.h"

#include <stdlib.h>
#include <string.h>

void
put_bytes(struct bytes *b, const void *data, size_t n)
{
    if (b->n + n > b->cap) {
        b->cap = 2 * (b->n + n);
        b->data = realloc(b->data, b->cap);
        if (!b->data)
            abort();
    }
    if (n)
        memcpy(b->data + b->n, data, n);
    b->n += n;
}

void
put_u8(struct bytes *b, uint8_t v)
{
    put_bytes(b, &v, sizeof(v));
}

void
put_u32(struct bytes *b, uint32_t v)
{
    put_bytes(b, &v, sizeof(v));
}

void
put_u64(struct bytes *b, uint64_t v)
{
    put_bytes(b, &v, sizeof(v));
}

void
put_f32(struct bytes *b, float v)
{
    put_bytes(b, &v, sizeof(v));
}

void
put_str(struct bytes *b, const char *s)
{
    put_u64(b, strlen(s));
    put_bytes(b, s, strlen(s));
}

void
put_pad(struct bytes *b, size_t alignment)
{
    while (b->n % alignment)
        put_u8(b, 0);
}

void
put_head(struct bytes *b, uint32_t version, uint64_t n_tensors, uint64_t n_kv)
{
    put_bytes(b, "GGUF", 4);
    put_u32(b, version);
    put_u64(b, n_tensors);
    put_u64(b, n_kv);
}

void
put_key(struct bytes *b, const char *key, uint32_t type)
{
    put_str(b, key);
    put_u32(b, type);
}

void
put_array(struct bytes *b, const char *key, uint32_t type, uint64_t n)
{
    put_key(b, key, GGUF_TYPE_ARRAY);
    put_u32(b, type);
    put_u64(b, n);
}

void
put_kv_u32(struct bytes *b, const char *key, uint32_t v)
{
    put_key(b, key, GGUF_TYPE_UINT32);
    put_u32(b, v);
}

void
put_kv_str(struct bytes *b, const char *key, const char *v)
{
    put_key(b, key, GGUF_TYPE_STRING);
    put_str(b, v);
}

void
put_tensor1(struct bytes *b, const char *name, uint64_t ne0, uint32_t type,
            uint64_t offset)
{
    put_str(b, name);
    put_u32(b, 1);
    put_u64(b, ne0);
    put_u32(b, type);
    put_u64(b, offset);
}

void
put_tensor2(struct bytes *b, const char *name, uint64_t ne0, uint64_t ne1,
            uint32_t type, uint64_t offset)
{
    put_str(b, name);
    put_u32(b, 2);
    put_u64(b, ne0);
    put_u64(b, ne1);
    put_u32(b, type);
    put_u64(b, offset);
}

void
put_small_file(struct bytes *b)
{
    put_head(b, 3, 2, 6);
    put_kv_str(b, "general.architecture", "test");
    put_kv_u32(b, "test.block_count", 7);
    put_key(b, "test.epsilon", GGUF_TYPE_FLOAT32);
    put_f32(b, 1e-5f);
    put_key(b, "test.flag", GGUF_TYPE_BOOL);
    put_u8(b, 1);
    put_array(b, "test.ids", GGUF_TYPE_INT32, 3);
    for (uint32_t i = 0; i < 3; i++)
        put_u32(b, i - 1);
    put_array(b, "test.tokens", GGUF_TYPE_STRING, 3);
    put_str(b, "one");
    put_str(b, "");
    put_str(b, "three");
    put_tensor2(b, "a.weight", 4, 2, GGML_TYPE_F32, 0);
    put_tensor1(b, "b.weight", 32, GGML_TYPE_Q8_0, 32);
    put_pad(b, 32);
    for (int i = 0; i < 8; i++)
        put_f32(b, (float)i - 2);
    put_u8(b, 0x00), put_u8(b, 0x3c); /* scale 1.0 */
    for (int i = 0; i < 32; i++)
        put_u8(b, (uint8_t)i);
}

/* ---- heads and counts ---- */

static void
empty(struct bytes *b)
{
    put_bytes(b, "", 0);
}

static void
magic_only(struct bytes *b)
{
    put_bytes(b, "GGUF", 4);
}

static void
other_magic(struct bytes *b)
{
    put_bytes(b, "ggjt\3\0\0\0and so on, and so on", 28);
}

static void
head_cut(struct bytes *b)
{
    put_head(b, 3, 0, 0);
    b->n--;
}

static void
version_0(struct bytes *b)
{
    put_head(b, 0, 0, 0);
}

static void
version_1(struct bytes *b)
{
    put_bytes(b, "GGUF\1\0\0\0\0\0\0\0\0\0\0\0", 16);
}

static void
version_2(struct bytes *b)
{
    put_small_file(b);
    b->data[4] = 2;
}

static void
version_4(struct bytes *b)
{
    put_head(b, 4, 0, 0);
}

static void
big_endian(struct bytes *b)
{
    put_head(b, 0x03000000, 0, 0);
}

static void
n_kv_lies(struct bytes *b)
{
    put_head(b, 3, 0, UINT64_C(1) << 63);
    put_kv_u32(b, "k", 1);
}

static void
n_kv_wraps(struct bytes *b)
{
    put_head(b, 3, 0, UINT64_MAX);
    put_kv_u32(b, "k", 1);
}

static void
n_kv_one_more(struct bytes *b)
{
    put_head(b, 3, 0, 2);
    put_kv_str(b, "k", "a long enough value to leave room for a second key");
}

static void
n_tensors_lies(struct bytes *b)
{
    put_head(b, 3, UINT64_C(1) << 60, 0);
    put_tensor1(b, "t", 1, 0, 0);
}

static void
n_tensors_one_more(struct bytes *b)
{
    put_head(b, 3, 2, 0);
    put_tensor1(b, "t", 8, GGML_TYPE_F32, 0);
    put_pad(b, 32);
    for (int i = 0; i < 8; i++)
        put_f32(b, 0);
}

/* ---- strings and arrays ---- */

static void
key_length_wraps(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_u64(b, UINT64_MAX); /* + 1 byte for a NUL is 0 */
    put_bytes(b, "general.architecture", 20);
}

static void
string_length_wraps(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_key(b, "k", GGUF_TYPE_STRING);
    put_u64(b, UINT64_MAX - 7);
    put_bytes(b, "xxxxxxxx", 8);
}

static void
string_past_end(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_key(b, "k", GGUF_TYPE_STRING);
    put_u64(b, 9);
    put_bytes(b, "xxxxxxxx", 8);
}

static void
element_length_wraps(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_array(b, "k", GGUF_TYPE_STRING, 2);
    put_str(b, "x");
    put_u64(b, UINT64_MAX - 8);
}

/* Short, and a reader that counts to 2^63 never ends. */
static void
array_2_63(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_array(b, "abc", GGUF_TYPE_UINT8, UINT64_C(1) << 63);
}

static void
array_bytes_wrap(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_array(b, "k", GGUF_TYPE_UINT64, UINT64_C(1) << 61); /* * 8 is 0 */
    put_u64(b, 0);
}

static void
array_strings_lie(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_array(b, "tokenizer.ggml.tokens", GGUF_TYPE_STRING,
              UINT64_C(1) << 60); /* * 16 is 0 */
    put_str(b, "x");
}

static void
array_one_more(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_array(b, "k", GGUF_TYPE_INT32, 3);
    put_u64(b, 0);
}

static void
array_nested(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_array(b, "k", GGUF_TYPE_ARRAY, 1);
    put_u32(b, GGUF_TYPE_UINT8);
    put_u64(b, 1);
    put_u8(b, 0);
}

static void
array_unknown(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_array(b, "k", 13, 1);
    put_u64(b, 0);
}

static void
value_unknown(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_key(b, "k", UINT32_MAX);
    put_u64(b, 0);
}

static void
bool_of_two(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_key(b, "k", GGUF_TYPE_BOOL);
    put_u8(b, 2);
}

static void
bool_of_seven(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_array(b, "k", GGUF_TYPE_BOOL, 3);
    put_bytes(b, "\1\0\7", 3);
}

static void
empty_values(struct bytes *b)
{
    put_head(b, 3, 0, 4);
    put_kv_str(b, "a", "");
    put_array(b, "b", GGUF_TYPE_STRING, 0);
    put_array(b, "c", GGUF_TYPE_FLOAT64, 0);
    put_array(b, "d", GGUF_TYPE_STRING, 1);
    put_str(b, "");
}

/* ---- names of keys ---- */

static void
key_empty(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_kv_str(b, "", "a value");
}

static void
key_with_nul(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_u64(b, 3);
    put_bytes(b, "a\0b", 3);
    put_u32(b, GGUF_TYPE_UINT32);
    put_u32(b, 0);
}

static void
long_key(struct bytes *b, size_t n)
{
    put_head(b, 3, 0, 1);
    put_u64(b, n);
    while (n--)
        put_u8(b, 'k');
    put_u32(b, GGUF_TYPE_UINT32);
    put_u32(b, 0);
}

static void
key_longest(struct bytes *b)
{
    long_key(b, 65535);
}

static void
key_too_long(struct bytes *b)
{
    long_key(b, 65536);
}

static void
key_twice(struct bytes *b)
{
    put_head(b, 3, 0, 3);
    put_kv_u32(b, "test.block_count", 1);
    put_kv_u32(b, "other", 1);
    put_kv_u32(b, "test.block_count", 1000000);
}

static void
key_escape(struct bytes *b)
{
    put_head(b, 3, 0, 2);
    put_kv_u32(b, "\33[2J\r\n\302\233x\377", 1);
    put_kv_u32(b, "\33[2J\r\n\302\233x\377", 1);
}

/* ---- alignment ---- */

static void
aligned(struct bytes *b, uint32_t alignment, size_t really)
{
    put_head(b, 3, 1, 1);
    put_kv_u32(b, "general.alignment", alignment);
    put_tensor1(b, "t", 2, GGML_TYPE_F32, 0);
    put_pad(b, really);
    put_u64(b, 0);
}

static void
alignment_0(struct bytes *b)
{
    aligned(b, 0, 1);
}

static void
alignment_3(struct bytes *b)
{
    aligned(b, 3, 3);
}

static void
alignment_4(struct bytes *b)
{
    aligned(b, 4, 4);
}

static void
alignment_8(struct bytes *b)
{
    aligned(b, 8, 8);
}

static void
alignment_64k(struct bytes *b)
{
    aligned(b, 65536, 65536);
}

static void
alignment_128k(struct bytes *b)
{
    aligned(b, 131072, 131072);
}

static void
alignment_2g(struct bytes *b)
{
    aligned(b, 0x80000000, 32);
}

static void
alignment_past_end(struct bytes *b)
{
    aligned(b, 65536, 32);
}

static void
alignment_u64(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_key(b, "general.alignment", GGUF_TYPE_UINT64);
    put_u64(b, 32);
}

static void
alignment_string(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_kv_str(b, "general.alignment", "32");
}

static void
alignment_array(struct bytes *b)
{
    put_head(b, 3, 0, 1);
    put_array(b, "general.alignment", GGUF_TYPE_UINT32, 1);
    put_u32(b, 32);
}

/* ---- one tensor ---- */

static void
data(struct bytes *b, size_t n)
{
    put_pad(b, 32);
    while (n--)
        put_u8(b, 0);
}

static void
one_tensor(struct bytes *b, uint64_t ne0, uint64_t ne1, uint32_t type,
           uint64_t offset)
{
    put_head(b, 3, 1, 0);
    put_tensor2(b, "t", ne0, ne1, type, offset);
    data(b, 64);
}

static void
name_empty(struct bytes *b)
{
    put_head(b, 3, 1, 0);
    put_tensor2(b, "", 1, 1, GGML_TYPE_F32, 0);
    data(b, 64);
}

static void
name_with_nul(struct bytes *b)
{
    put_head(b, 3, 1, 0);
    put_tensor1(b, "abc", 1, GGML_TYPE_F32, 0);
    b->data[24 + 8 + 1] = '\0';
    data(b, 64);
}

#define TEN "0123456789"

static void
name_longest(struct bytes *b)
{
    put_head(b, 3, 1, 0);
    put_tensor1(b, TEN TEN TEN TEN TEN TEN "123", 1, GGML_TYPE_F32, 0);
    data(b, 4);
}

static void
name_too_long(struct bytes *b)
{
    put_head(b, 3, 1, 0);
    put_tensor1(b, TEN TEN TEN TEN TEN TEN "1234", 1, GGML_TYPE_F32, 0);
    data(b, 4);
}

static void
name_twice(struct bytes *b)
{
    put_head(b, 3, 2, 0);
    put_tensor1(b, "blk.0.attn_q.weight", 8, GGML_TYPE_F32, 0);
    put_tensor1(b, "blk.0.attn_q.weight", 8, GGML_TYPE_F32, 32);
    data(b, 64);
}

static void
with_dims(struct bytes *b, uint32_t n)
{
    put_head(b, 3, 1, 0);
    put_str(b, "t");
    put_u32(b, n);
    for (uint32_t i = 0; i < 5 && i < n; i++)
        put_u64(b, 1);
    put_u32(b, GGML_TYPE_F32);
    put_u64(b, 0);
    data(b, 64);
}

static void
dims_0(struct bytes *b)
{
    with_dims(b, 0);
}

static void
dims_4(struct bytes *b)
{
    with_dims(b, 4);
}

static void
dims_5(struct bytes *b)
{
    with_dims(b, 5);
}

static void
dims_max(struct bytes *b)
{
    with_dims(b, UINT32_MAX);
}

static void
dimension_0(struct bytes *b)
{
    one_tensor(b, 4, 0, GGML_TYPE_F32, 0);
}

/* Nothing is in it, but who counts its rows must get a number. */
static void
product_with_0_wraps(struct bytes *b)
{
    put_head(b, 3, 1, 0);
    put_str(b, "t");
    put_u32(b, 3);
    put_u64(b, 0);
    put_u64(b, UINT64_C(1) << 40);
    put_u64(b, UINT64_C(1) << 40);
    put_u32(b, GGML_TYPE_F32);
    put_u64(b, 0);
    data(b, 64);
}

static void
put_tensor0(struct bytes *b, const char *name, uint32_t type, uint64_t offset)
{
    put_str(b, name);
    put_u32(b, 0);
    put_u32(b, type);
    put_u64(b, offset);
}

/* One element is no block. */
static void
blocks_0(struct bytes *b)
{
    put_head(b, 3, 1, 0);
    put_tensor0(b, "t", GGML_TYPE_Q8_0, 0);
    data(b, 64);
}

/* As gguf-py writes them: without bytes, or without dimensions; the last one
 * begins where the file, which is not padded, has ended. */
static void
no_bytes(struct bytes *b)
{
    put_head(b, 3, 7, 1);
    put_kv_str(b, "general.architecture", "test");
    put_tensor1(b, "empty.weight", 0, GGML_TYPE_F32, 0);
    put_tensor2(b, "no_rows.weight", 32, 0, GGML_TYPE_Q8_0, 0);
    put_tensor2(b, "no_columns.weight", 0, 3, GGML_TYPE_F16, 0);
    put_tensor0(b, "scalar", GGML_TYPE_F32, 0);
    put_tensor2(b, "full.weight", 4, 2, GGML_TYPE_F32, 32);
    put_tensor1(b, "short.weight", 1, GGML_TYPE_F32, 64);
    put_tensor1(b, "last.weight", 0, GGML_TYPE_F32, 96);
    put_pad(b, 32);
    put_f32(b, 2.5f);
    put_pad(b, 32);
    for (int i = 0; i < 9; i++)
        put_f32(b, (float)i);
}

static void
dimension_negative(struct bytes *b)
{
    one_tensor(b, UINT64_MAX, 1, GGML_TYPE_F32, 0);
}

static void
product_wraps(struct bytes *b)
{
    one_tensor(b, UINT64_C(1) << 32, UINT64_C(1) << 32, GGML_TYPE_I8, 0);
}

/* As unsigned 64 bits the product is 16. */
static void
product_wraps_to_little(struct bytes *b)
{
    put_head(b, 3, 1, 0);
    put_str(b, "t");
    put_u32(b, 4);
    put_u64(b, UINT64_C(1) << 31);
    put_u64(b, UINT64_C(1) << 31);
    put_u64(b, 4);
    put_u64(b, (UINT64_C(1) << 60) + 1);
    put_u32(b, GGML_TYPE_F32);
    put_u64(b, 0);
    data(b, 64);
}

static void
bytes_wrap(struct bytes *b)
{
    one_tensor(b, UINT64_C(1) << 62, 1, GGML_TYPE_F32, 0); /* * 4 is 0 */
}

/* Elements that count in 63 bits, in blocks of 32 whose 34 bytes do not. */
static void
block_bytes_wrap(struct bytes *b)
{
    one_tensor(b, UINT64_C(1) << 32, (UINT64_C(1) << 31) - 1, GGML_TYPE_Q8_0,
               0);
}

static void
half_a_block(struct bytes *b)
{
    one_tensor(b, 33, 1, GGML_TYPE_Q8_0, 0);
}

static void
type_removed(struct bytes *b)
{
    one_tensor(b, 32, 1, 4, 0);
}

static void
type_removed_36(struct bytes *b)
{
    one_tensor(b, 32, 1, 36, 0);
}

static void
type_count(struct bytes *b)
{
    one_tensor(b, 32, 1, GGML_TYPE_COUNT, 0);
}

static void
type_negative(struct bytes *b)
{
    one_tensor(b, 32, 1, UINT32_MAX, 0);
}

static void
room_too_small(struct bytes *b)
{
    one_tensor(b, 17, 1, GGML_TYPE_F32, 0); /* 68 bytes, and 64 are there */
}

static void
offset_unaligned(struct bytes *b)
{
    one_tensor(b, 1, 1, GGML_TYPE_F32, 8);
}

static void
offset_beyond(struct bytes *b)
{
    one_tensor(b, 1, 1, GGML_TYPE_F32, UINT64_C(1) << 40);
}

static void
offset_wraps(struct bytes *b)
{
    one_tensor(b, 8, 1, GGML_TYPE_F32, UINT64_MAX - 31); /* + 32 is 0 */
}

static void
offset_just_beyond(struct bytes *b)
{
    one_tensor(b, 1, 1, GGML_TYPE_F32, 64);
}

static void
tensor_cut(struct bytes *b)
{
    put_head(b, 3, 1, 0);
    put_tensor1(b, "tensor", 8, GGML_TYPE_F32, 0);
    b->n -= 4;
}

static void
no_data(struct bytes *b)
{
    put_head(b, 3, 1, 0);
    put_tensor1(b, "t", 8, GGML_TYPE_F32, 0);
    put_pad(b, 32);
}

/* ---- several tensors ---- */

static void
two_tensors(struct bytes *b, uint64_t first, uint64_t second)
{
    put_head(b, 3, 2, 0);
    put_tensor1(b, "one", 16, GGML_TYPE_F32, first);
    put_tensor1(b, "two", 16, GGML_TYPE_F32, second);
    data(b, 256);
}

static void
overlap(struct bytes *b)
{
    two_tensors(b, 0, 32);
}

static void
same_place(struct bytes *b)
{
    two_tensors(b, 64, 64);
}

static void
out_of_order(struct bytes *b)
{
    two_tensors(b, 192, 32); /* and with gaps */
}

/* The sum of the sizes wraps to 64, and each alone fits 63 bits. */
static void
sum_wraps(struct bytes *b)
{
    const uint64_t half = (UINT64_C(1) << 63) - 64;

    put_head(b, 3, 3, 0);
    put_tensor1(b, "one", half, GGML_TYPE_I8, 0);
    put_tensor1(b, "two", half, GGML_TYPE_I8, half);
    put_tensor1(b, "three", 192, GGML_TYPE_I8, 2 * half);
    data(b, 64);
}

/* ---- sound, and not fit to be seen ---- */

/* Names and strings that would move a cursor or end a line; numbers that JSON
 * has not; a tensor with what makes statistics stumble. */
static void
nasty(struct bytes *b)
{
    static const char text[] = "\33[31mred\n\"q\" \\ \0 \377 \302\233 \303\251";

    put_head(b, 3, 3, 5);
    put_kv_u32(b, "\33[2Jkey\n", 1);
    put_key(b, "text", GGUF_TYPE_STRING);
    put_u64(b, sizeof(text) - 1);
    put_bytes(b, text, sizeof(text) - 1);
    put_array(b, "floats", GGUF_TYPE_FLOAT32, 5);
    put_u32(b, 0x7fc00000), put_u32(b, 0x7f800000), put_u32(b, 0xff800000);
    put_f32(b, 0.1f), put_f32(b, -0.0f);
    put_array(b, "texts", GGUF_TYPE_STRING, 3);
    put_str(b, "a\nb"), put_str(b, "\t\"\\"), put_str(b, "\355\240\200");
    put_key(b, "big", GGUF_TYPE_UINT64);
    put_u64(b, UINT64_MAX);
    put_tensor2(b, "\33]0;title\7", 4, 2, GGML_TYPE_F32, 0);
    put_tensor1(b, "ints", 4, GGML_TYPE_I32, 32);
    put_tensor1(b, "other", 64, GGML_TYPE_Q8_1, 64);
    put_pad(b, 32);
    put_u32(b, 0x7fc00000), put_u32(b, 0x7f800000), put_u32(b, 0xff800000);
    put_f32(b, 0), put_f32(b, -0.0f), put_f32(b, 3), put_f32(b, -1),
        put_f32(b, 2);
    put_u32(b, 1), put_u32(b, 2), put_u32(b, 3), put_u32(b, (uint32_t)-4);
    data(b, 96);
}

static void
put_one_tensor(struct bytes *b, const char *name)
{
    put_tensor1(b, name, 8, GGML_TYPE_F32, 0);
    put_pad(b, 32);
    for (int i = 0; i < 8; i++)
        put_f32(b, (float)i);
}

/* ---- what gg-inspect says first ---- */

static void
put_kv_f32(struct bytes *b, const char *key, float v)
{
    put_key(b, key, GGUF_TYPE_FLOAT32);
    put_f32(b, v);
}

/* A mixture of experts with all keys; 4 of its 8 x 64 x 64 weights are used. */
static void
mixture(struct bytes *b)
{
    put_head(b, 3, 3, 24);
    put_kv_str(b, "general.architecture", "nobodys");
    put_kv_str(b, "general.name", "A mixture");
    put_kv_str(b, "general.size_label", "8x4K");
    put_kv_u32(b, "nobodys.context_length", 131072);
    put_kv_str(b, "nobodys.rope.scaling.type", "yarn");
    put_kv_f32(b, "nobodys.rope.scaling.factor", 4);
    put_kv_u32(b, "nobodys.rope.scaling.original_context_length", 32768);
    put_kv_u32(b, "nobodys.block_count", 2);
    put_kv_u32(b, "nobodys.embedding_length", 64);
    put_kv_u32(b, "nobodys.attention.head_count", 8);
    put_array(b, "nobodys.attention.head_count_kv", GGUF_TYPE_INT32, 2);
    put_u32(b, 2), put_u32(b, 4);
    put_kv_u32(b, "nobodys.attention.key_length", 24);
    put_kv_u32(b, "nobodys.attention.value_length", 16);
    put_kv_u32(b, "nobodys.feed_forward_length", 256);
    put_kv_u32(b, "nobodys.expert_feed_forward_length", 64);
    put_kv_u32(b, "nobodys.expert_count", 8);
    put_kv_u32(b, "nobodys.expert_used_count", 4);
    put_kv_u32(b, "nobodys.expert_shared_count", 1);
    put_kv_u32(b, "nobodys.attention.sliding_window", 1024);
    put_kv_str(b, "tokenizer.ggml.model", "gpt2");
    put_kv_str(b, "tokenizer.ggml.pre", "llama-bpe");
    put_array(b, "tokenizer.ggml.tokens", GGUF_TYPE_STRING, 3);
    put_str(b, "a"), put_str(b, "b"), put_str(b, "c");
    put_kv_str(b, "tokenizer.chat_template", "{{ '<|im_start|>' + role }}");
    put_kv_u32(b, "general.file_type", 0);
    put_str(b, "blk.0.ffn_up_exps.weight"), put_u32(b, 3);
    put_u64(b, 64), put_u64(b, 64), put_u64(b, 8);
    put_u32(b, GGML_TYPE_Q8_0), put_u64(b, 0);
    put_tensor2(b, "token_embd.weight", 64, 3, GGML_TYPE_F32, 34816);
    put_tensor1(b, "rope_freqs.weight", 8, GGML_TYPE_F32, 35584);
    put_pad(b, 32);
    for (int i = 0; i < 35616 / 4; i++)
        put_u32(b, 0);
}

/* Keys that gg-inspect looks for, with values that mean nothing. */
static void
nonsense(struct bytes *b)
{
    put_head(b, 3, 1, 16);
    put_kv_str(b, "general.architecture", "llama");
    put_kv_u32(b, "general.name", 7);
    put_kv_str(b, "general.size_label", "\033[2J");
    put_kv_str(b, "llama.context_length", "long");
    put_kv_f32(b, "llama.rope.scaling.factor", __builtin_nanf(""));
    put_key(b, "llama.block_count", GGUF_TYPE_INT32);
    put_u32(b, UINT32_MAX); /* -1 */
    put_array(b, "llama.embedding_length", GGUF_TYPE_STRING, 1);
    put_str(b, "64");
    put_kv_u32(b, "llama.attention.head_count", UINT32_MAX);
    put_array(b, "llama.attention.head_count_kv", GGUF_TYPE_UINT32, 0);
    put_kv_f32(b, "llama.feed_forward_length", 1e30f);
    put_kv_u32(b, "llama.expert_count", 3);
    put_kv_u32(b, "llama.expert_used_count", 4);
    put_array(b, "tokenizer.ggml.model", GGUF_TYPE_STRING, 0);
    put_kv_str(b, "tokenizer.ggml.tokens", "none");
    put_array(b, "tokenizer.chat_template", GGUF_TYPE_UINT8, 1);
    put_u8(b, 1);
    put_kv_str(b, "split.count", "many");
    put_one_tensor(b, "blk.0.ffn_up_exps.weight");
}

/* ---- shards ---- */

static void
put_split(struct bytes *b, uint16_t no, uint16_t count, uint32_t tensors)
{
    put_key(b, "split.no", GGUF_TYPE_UINT16);
    put_bytes(b, &no, sizeof(no));
    put_key(b, "split.count", GGUF_TYPE_UINT16);
    put_bytes(b, &count, sizeof(count));
    put_key(b, "split.tensors.count", GGUF_TYPE_INT32);
    put_u32(b, tensors);
}

/* The second of two files; the first is the small one. */
static void
split_second(struct bytes *b)
{
    put_head(b, 3, 1, 3);
    put_split(b, 1, 2, 3);
    put_one_tensor(b, "c.weight");
}

static void
split_same_name(struct bytes *b)
{
    put_head(b, 3, 1, 3);
    put_split(b, 1, 2, 3);
    put_one_tensor(b, "a.weight");
}

static void
split_empty(struct bytes *b)
{
    put_head(b, 3, 0, 3);
    put_split(b, 1, 2, 2);
}

static void
split_65535(struct bytes *b)
{
    put_head(b, 3, 0, 3);
    put_split(b, 65534, 65535, 0);
}

static void
split_no_past(struct bytes *b)
{
    put_head(b, 3, 0, 3);
    put_split(b, 2, 2, 0);
}

static void
split_aligned(struct bytes *b)
{
    put_head(b, 3, 1, 4);
    put_kv_u32(b, "general.alignment", 4096);
    put_split(b, 3, 4, UINT32_MAX);
    put_tensor1(b, "c.weight", 8, GGML_TYPE_F32, 0);
    put_pad(b, 4096);
    for (int i = 0; i < 8; i++)
        put_f32(b, (float)i);
}

#define BAD(f)       #f, f, GG_ERR_FORMAT
#define CUT(f)       #f, f, GG_ERR_TRUNCATED
#define FOREIGN(f)   #f, f, GG_ERR_UNSUPPORTED
#define GOOD(f)      #f, f, GG_OK, ""
#define MORE         "more than the file can hold"
#define MIDDLE       "file ends in the middle"
#define PAST         "t: data ends past end of file"
#define BAD_NAME     "name is empty"
#define NOT_POWER    "is not a power of two from 8 to 65536"
#define NOT_U32      "general.alignment: not of type u32"
#define UNCOUNTABLE  "t: so many elements cannot be counted"
#define UNKNOWN_TYPE "is unknown or was removed"

const struct gguf_case gguf_cases[] = {
    { "small", put_small_file, GG_OK, "" },
    { BAD(empty), "not a GGUF file" },
    { CUT(magic_only), MIDDLE },
    { BAD(other_magic), "not a GGUF file" },
    { CUT(head_cut), MIDDLE },
    { FOREIGN(version_0), "version 0" },
    { FOREIGN(version_1), "version 1, which is not read any more" },
    { GOOD(version_2) },
    { FOREIGN(version_4), "version 4" },
    { FOREIGN(big_endian), "big-endian" },
    { BAD(n_kv_lies), MORE },
    { BAD(n_kv_wraps), MORE },
    { CUT(n_kv_one_more), "key 1: " MIDDLE },
    { BAD(n_tensors_lies), MORE },
    { BAD(n_tensors_one_more), "tensor 1: its " BAD_NAME },
    { CUT(key_length_wraps), "key 0: " MIDDLE },
    { CUT(string_length_wraps), "k: " MIDDLE },
    { CUT(string_past_end), "k: " MIDDLE },
    { CUT(element_length_wraps), "k: " MIDDLE },
    { BAD(array_2_63), "abc: claims 9223372036854775808 elements, " MORE },
    { BAD(array_bytes_wrap), MORE },
    { BAD(array_strings_lie), "tokenizer.ggml.tokens: claims" },
    { BAD(array_one_more), MORE },
    { FOREIGN(array_nested), "k: an array of elements of type 9" },
    { FOREIGN(array_unknown), "k: an array of elements of type 13" },
    { BAD(value_unknown), "k: a value of the unknown type 4294967295" },
    { GOOD(bool_of_two) },
    { GOOD(bool_of_seven) },
    { GOOD(empty_values) },
    { BAD(key_empty), "key 0: its " BAD_NAME },
    { BAD(key_with_nul), "key 0: its " BAD_NAME },
    { GOOD(key_longest) },
    { BAD(key_too_long), "key 0: its " BAD_NAME },
    { BAD(key_twice), "test.block_count: the key occurs twice" },
    { BAD(key_escape), "\\x1b[2J\\r\\n\\xc2\\x9bx\\xff: the key occurs twice" },
    { BAD(alignment_0), "general.alignment: 0 " NOT_POWER },
    { BAD(alignment_3), "general.alignment: 3 " NOT_POWER },
    { BAD(alignment_4), "general.alignment: 4 " NOT_POWER },
    { GOOD(alignment_8) },
    { GOOD(alignment_64k) },
    { BAD(alignment_128k), NOT_POWER },
    { BAD(alignment_2g), "general.alignment: 2147483648 " NOT_POWER },
    { CUT(alignment_past_end), PAST },
    { BAD(alignment_u64), NOT_U32 },
    { BAD(alignment_string), NOT_U32 },
    { BAD(alignment_array), NOT_U32 },
    { BAD(name_empty), "tensor 0: its " BAD_NAME },
    { BAD(name_with_nul), "tensor 0: its " BAD_NAME },
    { GOOD(name_longest) },
    { BAD(name_too_long), "tensor 0: its " BAD_NAME },
    { BAD(name_twice), "blk.0.attn_q.weight: the name occurs twice" },
    { GOOD(dims_0) },
    { GOOD(dims_4) },
    { BAD(dims_5), "t: 5 dimensions" },
    { BAD(dims_max), "t: 4294967295 dimensions" },
    { GOOD(dimension_0) },
    { BAD(product_with_0_wraps), UNCOUNTABLE },
    { BAD(blocks_0), "t: rows of 1, but q8_0 comes in blocks of 32" },
    { GOOD(no_bytes) },
    { BAD(dimension_negative), "t: dimension 0 is 18446744073709551615" },
    { BAD(product_wraps), UNCOUNTABLE },
    { BAD(product_wraps_to_little), UNCOUNTABLE },
    { BAD(bytes_wrap), UNCOUNTABLE },
    { BAD(block_bytes_wrap), UNCOUNTABLE },
    { BAD(half_a_block), "t: rows of 33, but q8_0 comes in blocks of 32" },
    { FOREIGN(type_removed), "t: its type 4 " UNKNOWN_TYPE },
    { FOREIGN(type_removed_36), "t: its type 36 " UNKNOWN_TYPE },
    { FOREIGN(type_count), "t: its type 43 " UNKNOWN_TYPE },
    { FOREIGN(type_negative), UNKNOWN_TYPE },
    { CUT(room_too_small), PAST },
    { BAD(offset_unaligned), "t: its offset 8 is not a multiple of 32" },
    { CUT(offset_beyond), PAST },
    { CUT(offset_wraps), PAST },
    { CUT(offset_just_beyond), PAST },
    { CUT(tensor_cut), "tensor: " MIDDLE },
    { CUT(no_data), PAST },
    { BAD(overlap), "two: its data overlaps that of another tensor" },
    { BAD(same_place), "its data overlaps that of another tensor" },
    { GOOD(out_of_order) },
    { GOOD(nasty) },
    { CUT(sum_wraps), "one: data ends past end of file" },
    { GOOD(mixture) },
    { GOOD(nonsense) },
    { GOOD(split_second) },
    { GOOD(split_same_name) },
    { GOOD(split_empty) },
    { GOOD(split_65535) },
    { GOOD(split_no_past) },
    { GOOD(split_aligned) },
};

const size_t n_gguf_cases = sizeof(gguf_cases) / sizeof(gguf_cases[0]);
