/* arguments_vocab.c - arguments of functions of vocabularies */
#include "api/arguments.h"

static bool
vocab_open(void)
{
    struct gg_vocab *v = NULL;

    return refused(gg_vocab_open(NULL, &v, &err)) && !v &&
           refused(gg_vocab_open(model_path, NULL, &err));
}

static bool
vocab_free(void)
{
    gg_vocab_free(NULL);
    return true;
}

static bool
vocab_note(void)
{
    return !gg_vocab_note(NULL);
}

static bool
vocab_size(void)
{
    return gg_vocab_size(NULL) == 0;
}

static bool
vocab_fingerprint(void)
{
    return gg_vocab_fingerprint(NULL) == 0;
}

static bool
vocab_bos(void)
{
    return gg_vocab_bos(NULL) == -1;
}

static bool
vocab_decoder_start(void)
{
    return gg_vocab_decoder_start(NULL) == -1;
}

static bool
vocab_eos(void)
{
    return gg_vocab_eos(NULL) == -1;
}

static bool
vocab_add_bos(void)
{
    return !gg_vocab_add_bos(NULL);
}

static bool
vocab_add_eos(void)
{
    return !gg_vocab_add_eos(NULL);
}

static bool
vocab_is_eog(void)
{
    return !gg_vocab_is_eog(NULL, 1) && !gg_vocab_is_eog(vocab, -1) &&
           !gg_vocab_is_eog(vocab, INT32_MAX);
}

static bool
vocab_eog_ids(void)
{
    n = 7;
    return !gg_vocab_eog_ids(NULL, &n) && n == 0 &&
           gg_vocab_eog_ids(vocab, NULL) == gg_vocab_eog_ids(vocab, &n);
}

static bool
vocab_suppressed_ids(void)
{
    n = 7;
    return !gg_vocab_suppressed_ids(NULL, &n) && n == 0 &&
           gg_vocab_suppressed_ids(vocab, NULL) ==
               gg_vocab_suppressed_ids(vocab, &n);
}

static bool
vocab_sampling(void)
{
    return !gg_vocab_sampling(NULL) && !gg_vocab_sampling(vocab);
}

static bool
sampling_of_file(void)
{
    char line[4] = "abc";

    return gg_sampling_of_file(NULL, line, sizeof(line)) == 0 && !*line &&
           gg_sampling_of_file(NULL, NULL, 7) == 0;
}

static bool
vocab_type(void)
{
    return gg_vocab_type(NULL, 0) == GG_TOKEN_UNUSED &&
           gg_vocab_type(vocab, -1) == GG_TOKEN_UNUSED &&
           gg_vocab_type(vocab, gg_vocab_size(vocab)) == GG_TOKEN_UNUSED &&
           gg_vocab_type(vocab, INT32_MIN) == GG_TOKEN_UNUSED;
}

static bool
vocab_token(void)
{
    n = 7;
    return !gg_vocab_token(vocab, 1 << 20, &n) && n == 0 &&
           !gg_vocab_token(vocab, -1, &n) && !gg_vocab_token(NULL, 0, &n) &&
           gg_vocab_token(vocab, 0, NULL);
}

static bool
vocab_find(void)
{
    return gg_vocab_find(NULL, "a", 1) == -1 &&
           gg_vocab_find(vocab, NULL, 1) == -1 &&
           gg_vocab_find(vocab, NULL, 0) == -1;
}

static bool
vocab_encode(void)
{
    encoded.n = 7;
    return refused(gg_vocab_encode(NULL, "a", 1, 0, ids, 4, &encoded, &err)) &&
           refused(
               gg_vocab_encode(vocab, NULL, 1, 0, ids, 4, &encoded, &err)) &&
           refused(
               gg_vocab_encode(vocab, "a", 1, 0, NULL, 4, &encoded, &err)) &&
           refused(gg_vocab_encode(vocab, "a", 1, 0, ids, 4, NULL, &err)) &&
           encoded.n == 7 &&
           gg_vocab_encode(vocab, NULL, 0, ~0u & ~(unsigned)GG_ENCODE_GREEDY,
                           NULL, 0, &encoded, NULL) != GG_ERR_FORMAT;
}

static bool
infill_refused(const struct gg_vocab *v, const char *prefix, const char *suffix,
               int32_t *to, struct gg_encoded *made)
{
    return refused(
        gg_vocab_encode_infill(v, prefix, 1, suffix, 1, 0, to, 4, made, &err));
}

static bool
vocab_encode_infill(void)
{
    encoded.n = 7;
    return infill_refused(NULL, "a", "b", ids, &encoded) &&
           infill_refused(vocab, NULL, "b", ids, &encoded) &&
           infill_refused(vocab, "a", NULL, ids, &encoded) &&
           infill_refused(vocab, "a", "b", NULL, &encoded) &&
           infill_refused(vocab, "a", "b", ids, NULL) && encoded.n == 7 &&
           gg_vocab_encode_infill(vocab, "a", 1, "b", 1, 0, ids, 4, &encoded,
                                  NULL) == GG_ERR_UNSUPPORTED;
}

static bool
vocab_cut(void)
{
    return gg_vocab_cut(NULL, "a b", 3, 0) == 0 &&
           gg_vocab_cut(vocab, NULL, 3, ~0u) == 0;
}

static bool
vocab_find_control(void)
{
    return gg_vocab_find_control(NULL, "a", 1, &n) == -1 &&
           gg_vocab_find_control(vocab, NULL, 1, &n) == -1 &&
           gg_vocab_find_control(vocab, "<|im_end|>", 10, NULL) < V;
}

static bool
vocab_offsets(void)
{
    static const int32_t wild[] = { -1, INT32_MAX };
    struct gg_range r[2];

    return refused(gg_vocab_offsets(NULL, "a", 1, 0, ids, 1, r, &err)) &&
           refused(gg_vocab_offsets(vocab, NULL, 1, 0, ids, 1, r, &err)) &&
           refused(gg_vocab_offsets(vocab, "a", 1, 0, NULL, 1, r, &err)) &&
           refused(gg_vocab_offsets(vocab, "a", 1, 0, ids, 1, NULL, &err)) &&
           refused(gg_vocab_offsets(vocab, "a", 1, 0, wild, 2, r, &err)) &&
           refused(gg_vocab_offsets(vocab, "a", 1, ~0u, wild + 1, 1, r, &err));
}

static bool
vocab_decode_ids(void)
{
    static const int32_t wild[] = { -1, INT32_MAX };
    struct gg_decode_state s = { 0 };
    size_t k;

#define DECODE(v, s, i, n, b, c, d, l)                                         \
    gg_vocab_decode_ids(v, s, i, n, ~0u, b, c, d, l, &err)
    return refused(DECODE(NULL, &s, ids, 1, buf, 9, &n, &k)) &&
           refused(DECODE(vocab, NULL, ids, 1, buf, 9, &n, &k)) &&
           refused(DECODE(vocab, &s, NULL, 1, buf, 9, &n, &k)) &&
           refused(DECODE(vocab, &s, ids, 1, NULL, 9, &n, &k)) &&
           refused(DECODE(vocab, &s, ids, 1, buf, 9, NULL, &k)) &&
           refused(DECODE(vocab, &s, ids, 1, buf, 9, &n, NULL)) &&
           DECODE(vocab, &s, wild, 1, buf, 9, &n, &k) == GG_ERR_FORMAT &&
           DECODE(vocab, &s, wild + 1, 1, buf, 9, &n, &k) == GG_ERR_FORMAT;
#undef DECODE
}

static bool
vocab_decode(void)
{
    struct gg_decode_state s = { 0 };

#define DECODE(v, s, id, b, c, n) gg_vocab_decode(v, s, id, 0, b, c, n, &err)
    return refused(DECODE(NULL, &s, 1, buf, 9, &n)) &&
           refused(DECODE(vocab, NULL, 1, buf, 9, &n)) &&
           refused(DECODE(vocab, &s, 1, NULL, 9, &n)) &&
           refused(DECODE(vocab, &s, 1, buf, 9, NULL)) &&
           DECODE(vocab, &s, V, buf, 9, &n) == GG_ERR_FORMAT &&
           DECODE(vocab, &s, -1, buf, 9, &n) == GG_ERR_FORMAT;
#undef DECODE
}

const struct argument_test arguments_vocab[] = {
    TEST(vocab_open),
    TEST(vocab_free),
    TEST(vocab_note),
    TEST(vocab_size),
    TEST(vocab_fingerprint),
    TEST(vocab_bos),
    TEST(vocab_decoder_start),
    TEST(vocab_eos),
    TEST(vocab_add_bos),
    TEST(vocab_add_eos),
    TEST(vocab_is_eog),
    TEST(vocab_eog_ids),
    TEST(vocab_suppressed_ids),
    TEST(vocab_sampling),
    TEST(sampling_of_file),
    TEST(vocab_type),
    TEST(vocab_token),
    TEST(vocab_find),
    TEST(vocab_encode),
    TEST(vocab_encode_infill),
    TEST(vocab_cut),
    TEST(vocab_find_control),
    TEST(vocab_offsets),
    TEST(vocab_decode_ids),
    TEST(vocab_decode),
    { .name = NULL },
};
