/* cache.c - the caches of a vocabulary that are not in use */
#include "vocab/cache.h"

#include <stdatomic.h>

#include "core/mem.h"

enum {
    KEPT = 16,          /* as many as threads may want at once */
    LONG_TEXT = 1 << 14 /* bytes that are worth a cache */
};

struct cache_store {
    _Atomic(struct cache *) spare[KEPT];
    atomic_size_t bytes; /* of the texts that had none */
};

struct cache_store *
vocab_cache_store_new(void)
{
    return mem_zalloc(sizeof(struct cache_store));
}

void
vocab_cache_store_free(struct cache_store *s)
{
    for (int i = 0; s && i < KEPT; i++)
        mem_free(atomic_load(&s->spare[i]));
    mem_free(s);
}

/* Memory that no word has come to stays untouched. */
static struct cache *
new_cache(void)
{
    enum {
        LINE = 64
    };
    size_t words = sizeof(struct cache_word[CACHE_WAYS]) << CACHE_BITS;
    struct cache *c = mem_zalloc(sizeof(*c) + LINE + words);
    uintptr_t at = (uintptr_t)(c + 1);

    if (c)
        c->words = (void *)((at + LINE - 1) & ~(uintptr_t)(LINE - 1));
    return c;
}

struct cache *
vocab_cache_take(struct cache_store *s, size_t len)
{
    for (int i = 0; i < KEPT; i++) {
        struct cache *c =
            atomic_load_explicit(&s->spare[i], memory_order_relaxed);

        c = c ? atomic_exchange(&s->spare[i], NULL) : NULL;
        if (c)
            return c;
    }
    return len < LONG_TEXT && atomic_fetch_add(&s->bytes, len) < LONG_TEXT
               ? NULL
               : new_cache();
}

void
vocab_cache_give(struct cache_store *s, struct cache *c)
{
    for (int i = 0; c && i < KEPT; i++) {
        struct cache *none = NULL;

        if (atomic_compare_exchange_strong(&s->spare[i], &none, c))
            c = NULL;
    }
    mem_free(c);
}
