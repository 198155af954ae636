/* fuzz_charsmap.c - maps of characters: whatever a file has for one, a word, or
 * keys that are found in any text
 *
 * The input is the map; the text that it is asked about is its last bytes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "vocab/charsmap.h"

const char fuzz_name[] = "charsmap";

#define KEY "tokenizer.ggml.precompiled_charsmap"

enum {
    TEXT = 300
};

static void
check(bool right)
{
    if (!right)
        abort();
}

/* Each key that is found, of all texts that the last bytes hold. */
static void
ask(const struct charsmap *map, const uint8_t *text, size_t len)
{
    for (size_t at = 0; at < len; at++) {
        size_t n_key = 0, n = 0;
        const uint8_t *to =
            vocab_charsmap_find(map, text + at, len - at, &n_key, &n);

        if (!to)
            continue;
        check(n_key > 0 && n_key <= len - at && n_key <= CHARSMAP_MAX_KEY);
        check(n <= CHARSMAP_MAX_TEXT && to >= map->texts &&
              to + n < map->texts + map->n_texts && memchr(to, 0, n) == NULL);
        for (size_t i = 1; i <= n_key; i++)
            check(vocab_charsmap_goes_on(map, text + at, i));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gguf_context *g = gguf_init_empty();
    struct charsmap map = { 0 };
    struct gg_error err = { "" };
    size_t len = size < TEXT ? size : TEXT;
    enum gguf_type type =
        size % 2 ? GGUF_TYPE_INT8 : GGUF_TYPE_UINT8; /* both are found */

    check(g != NULL);
    gguf_set_arr_data(g, KEY, type, data, size);
    if (vocab_charsmap_load(&map, g, &err) == GG_OK)
        ask(&map, data + size - len, len);
    else
        check(err.message[0] && !map.units);
    gguf_free(g);
    return 0;
}

/* ---- the corpus ---------------------------------------------------------- */

/* A trie in the making: units by their places, all free at first. */
struct trie {
    uint32_t units[2048];
    size_t n;
};

static void
add_unit(struct trie *t, size_t at, uint32_t unit)
{
    t->units[at] = unit;
    if (at >= t->n)
        t->n = at + 1;
}

/* A key of which each byte has a block of 256 of its own. */
static void
add_key(struct trie *t, size_t *block, const char *key, uint32_t value)
{
    size_t node = 0;

    for (; *key; key++) {
        size_t child = ((size_t)(t->units[node] >> 10) ^ node) ^ (uint8_t)*key;

        if (t->units[child] == 0)
            add_unit(t, child,
                     (uint32_t)((child ^ (*block += 256)) << 10) |
                         (uint8_t)*key);
        node = child;
    }
    t->units[node] |= UINT32_C(1) << 8;
    add_unit(t, (t->units[node] >> 10) ^ node, UINT32_C(1) << 31 | value);
}

static uint8_t *
pack(const struct trie *t, const char *texts, size_t n_texts, const char *tail,
     size_t *size)
{
    uint32_t bytes = (uint32_t)t->n * 4;
    size_t n_tail = strlen(tail);
    uint8_t *data = malloc(4 + bytes + n_texts + n_tail + 1);

    check(data != NULL);
    memcpy(data, &bytes, 4);
    memcpy(data + 4, t->units, bytes);
    memcpy(data + 4 + bytes, texts, n_texts);
    memcpy(data + 4 + bytes + n_texts, tail, n_tail + 1);
    *size = 4 + bytes + n_texts + n_tail + 1;
    return data;
}

/* "a" to "b", a ligature to "fi", a wide letter to "A"; and less. */
uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    static const char texts[] = "b\0fi\0A\0";
    static const struct {
        const char *key;
        uint32_t value;
    } keys[] = { { "a", 0 }, { "\xef\xac\x81", 2 }, { "\xef\xbc\xa1", 5 } };
    struct trie t = { .units = { UINT32_C(256) << 10 }, .n = 1 };
    size_t block = 256;

    if (i > 3)
        return NULL;
    for (size_t k = 0; k < i; k++)
        add_key(&t, &block, keys[k].key, keys[k].value);
    return pack(&t, texts, sizeof(texts) - 1,
                "aba\xef\xac\x81\xef\xbc\xa1\xef\xff", size);
}
