/* charsmap.c - SentencePiece's normalisation: what characters become */
#include "vocab/charsmap.h"

#include <string.h>

#define KEY "tokenizer.ggml.precompiled_charsmap"

#define VALUE  (UINT32_C(1) << 31)
#define FAR    (UINT32_C(1) << 9)
#define VALUED (UINT32_C(1) << 8)

static uint32_t
little_endian(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 |
           p[0];
}

/* A place that is not there has no unit: 0, which nothing leads to. */
static uint32_t
unit(const struct charsmap *map, size_t i)
{
    return i < map->n_units ? little_endian(map->units + 4 * i) : 0;
}

static uint32_t
offset(uint32_t u)
{
    return (u & ~VALUE) >> 10 << (u & FAR ? 8 : 0);
}

static enum gg_status
check_values(const struct charsmap *map, const struct gguf_context *gguf,
             struct gg_error *err)
{
    for (size_t i = 0; i < map->n_units; i++) {
        uint32_t u = unit(map, i);

        if ((u & VALUE) && (u & ~VALUE) >= map->n_texts)
            return gguf_bad_value(gguf, KEY, err,
                                  "unit %zu points outside the texts", i);
    }
    return GG_OK;
}

static enum gg_status
check_texts(const struct charsmap *map, const struct gguf_context *gguf,
            struct gg_error *err)
{
    const uint8_t *p = map->texts, *end = p + map->n_texts;

    if (map->n_texts == 0 || end[-1] != 0)
        return gguf_bad_value(gguf, KEY, err, "the texts do not end");
    while (p < end) {
        size_t n = strlen((const char *)p);

        if (n > CHARSMAP_MAX_TEXT)
            return gguf_bad_value(gguf, KEY, err,
                                  "a text of %zu bytes, more than %d", n,
                                  CHARSMAP_MAX_TEXT);
        p += n + 1;
    }
    return GG_OK;
}

enum gg_status
vocab_charsmap_load(struct charsmap *map, const struct gguf_context *gguf,
                    struct gg_error *err)
{
    int64_t key = gguf_find_key(gguf, KEY);
    enum gguf_type type = GGUF_TYPE_UINT8;
    struct gguf_array a = { 0 };
    struct charsmap m;
    enum gg_status st;
    size_t size;

    if (key < 0)
        return GG_OK;
    if (gguf_get_kv_type(gguf, key) == GGUF_TYPE_ARRAY &&
        gguf_get_arr_type(gguf, key) == GGUF_TYPE_INT8)
        type = GGUF_TYPE_INT8; /* some files have it so */
    st = gguf_get_array(gguf, KEY, type, &a, err);
    if (st != GG_OK || a.n == 0)
        return st;
    size = a.n < 4 ? 0 : little_endian(a.data);
    if (a.n < 4 || size > a.n - 4 || size % 4 != 0)
        return gguf_bad_value(gguf, KEY, err,
                              "a trie of %zu bytes does not fit in %zu", size,
                              a.n);
    m.units = (const uint8_t *)a.data + 4;
    m.n_units = size / 4;
    m.texts = m.units + size;
    m.n_texts = a.n - 4 - size;
    st = check_texts(&m, gguf, err);
    if (st == GG_OK)
        st = check_values(&m, gguf, err);
    if (st == GG_OK)
        *map = m;
    return st;
}

const uint8_t *
vocab_charsmap_find(const struct charsmap *map, const uint8_t *p, size_t len,
                    size_t *n_key, size_t *n)
{
    const uint8_t *found = NULL;
    size_t at = 0;

    if (map->n_units == 0)
        return NULL;
    at ^= offset(unit(map, 0));
    for (size_t i = 0; i < len && i < CHARSMAP_MAX_KEY && p[i]; i++) {
        uint32_t u = unit(map, at ^= p[i]);

        if ((u & (VALUE | 0xff)) != p[i])
            break;
        at ^= offset(u);
        if (u & VALUED) {
            u = unit(map, at);
            if (u & VALUE) { /* else the file is damaged */
                found = map->texts + (u & ~VALUE);
                *n_key = i + 1;
            }
        }
    }
    if (found)
        *n = strlen((const char *)found);
    return found;
}

bool
vocab_charsmap_goes_on(const struct charsmap *map, const uint8_t *p, size_t len)
{
    size_t at = offset(unit(map, 0));

    for (size_t i = 0; i < len; i++) {
        uint32_t u = unit(map, at ^= p[i]);

        if ((u & (VALUE | 0xff)) != p[i])
            return false;
        at ^= offset(u);
    }
    return true;
}
