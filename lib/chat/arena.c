/* arena.c - memory that is freed as a whole */
#include <config.h>

#include "chat/arena.h"

#include <stdint.h>
#include <string.h>

#include "core/mem.h"

enum {
    ALIGN = 16,
    BLOCK = 1 << 14, /* the least block; later ones are larger */
    MOST = 1 << 20,
};

struct chat_arena_block {
    struct chat_arena_block *next;
    size_t size; /* of `bytes` */
    _Alignas(ALIGN) char bytes[];
};

static size_t
rounded(size_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static struct chat_arena_block *
add_block(struct chat_arena *a, size_t size)
{
    size_t usual = a->total < BLOCK ? BLOCK : a->total > MOST ? MOST : a->total;
    size_t n = size > usual ? size : usual;
    struct chat_arena_block *b;

    if (n > a->limit - a->total)
        n = size;
    if (n > a->limit - a->total)
        return NULL;
    b = mem_alloc(sizeof(*b) + n);
    if (!b)
        return NULL;
    *b = (struct chat_arena_block){ .next = a->blocks, .size = n };
    a->blocks = b;
    a->used = 0;
    a->total += n;
    return b;
}

void *
chat_arena_alloc(struct chat_arena *a, size_t size)
{
    struct chat_arena_block *b = a->blocks;
    size_t n = rounded(size);
    void *p;

    if (size > SIZE_MAX / 2)
        return NULL;
    if (!b || n > b->size - a->used)
        b = add_block(a, n);
    if (!b)
        return NULL;
    p = b->bytes + a->used;
    a->used += n;
    return p;
}

void *
chat_arena_grow(struct chat_arena *a, void *p, size_t old, size_t size)
{
    struct chat_arena_block *b = a->blocks;
    size_t had = rounded(old), n = rounded(size);
    void *copy;

    if (size <= old && p)
        return p;
    if (p && size < SIZE_MAX / 2 && (char *)p + had == b->bytes + a->used &&
        n - had <= b->size - a->used) {
        a->used += n - had;
        return p;
    }
    copy = chat_arena_alloc(a, size);
    if (copy && old)
        memcpy(copy, p, old);
    return copy;
}

void
chat_arena_rewind(struct chat_arena *a, const struct chat_arena *before)
{
    struct chat_arena_block *b = a->blocks;

    while (b != before->blocks) {
        struct chat_arena_block *next = b->next;

        mem_free(b);
        b = next;
    }
    *a = *before;
}

void
chat_arena_clear(struct chat_arena *a)
{
    const struct chat_arena none = { .limit = a->limit };

    chat_arena_rewind(a, &none);
}
