/* trie.c - the pieces of a vocabulary that a text begins with, byte by byte */
#include "vocab/trie.h"

#include "core/mem.h"
#include "vocab/vocab.h"

enum {
    FIRST_NODES = 1 << 10
};

static void
put_child(struct trie *t, uint32_t parent, uint32_t child)
{
    size_t i = vocab_trie_hash(t, parent, (uint8_t)child);

    while (t->edges[i].child)
        i = (i + 1) & t->edge_mask;
    t->edges[i] = (struct trie_edge){ parent, child };
}

/* Room for twice as many nodes; half of the slots stay free. */
static bool
grow_trie(struct trie *t)
{
    uint32_t cap = t->cap ? 2 * t->cap : FIRST_NODES;
    struct trie_edge *old = t->edges, *edges = mem_array(2 * (size_t)cap, 8);
    size_t n_old = t->cap ? t->edge_mask + 1 : 0, cap_ids = t->cap;

    if (!edges || !mem_grow(&t->ids, &cap_ids, cap, sizeof(*t->ids))) {
        mem_free(edges);
        return false;
    }
    t->edges = edges;
    t->edge_mask = 2 * (size_t)cap - 1;
    t->cap = cap;
    for (size_t i = 0; i < n_old; i++)
        if (old[i].child)
            put_child(t, old[i].parent, old[i].child);
    mem_free(old);
    return true;
}

static enum trie_status
add_child(struct trie *t, uint32_t *node, uint8_t byte)
{
    uint32_t child = t->n ? t->n : 1; /* 0 is the root */

    if (child >= TRIE_MAX_NODES)
        return TRIE_FULL;
    if (child >= t->cap && !grow_trie(t))
        return TRIE_NOMEM;
    if (*node == TRIE_ROOT)
        t->first[byte] = child;
    else
        put_child(t, *node, child << 8 | byte);
    t->ids[child] = -1;
    t->n = child + 1;
    *node = child;
    return TRIE_OK;
}

enum trie_status
vocab_trie_add(struct trie *t, const uint8_t *p, size_t len, int32_t id)
{
    enum trie_status st = TRIE_OK;
    uint32_t node = TRIE_ROOT;

    for (size_t i = 0; i < len && st == TRIE_OK; i++) {
        uint32_t next = t->cap ? vocab_trie_step(t, node, p[i]) : TRIE_NONE;

        if (next == TRIE_NONE)
            st = add_child(t, &node, p[i]);
        else
            node = next;
    }
    if (st == TRIE_OK && t->ids[node] < 0)
        t->ids[node] = id;
    return st;
}

void
vocab_trie_clear(struct trie *t)
{
    mem_free(t->ids);
    mem_free(t->edges);
    *t = (struct trie){ 0 };
}

enum gg_status
vocab_load_trie(struct gg_vocab *v, const struct gguf_context *gguf,
                struct gg_error *err)
{
    enum trie_status st = TRIE_OK;
    size_t n;

    v->trie.seed = v->seed;
    for (int32_t id = 0; st == TRIE_OK && id < v->n; id++) {
        const uint8_t *p = vocab_bytes(v, id, &n);

        if (v->types[id] & VOCAB_PIECE)
            st = vocab_trie_add(&v->trie, p, n, id);
    }
    if (st == TRIE_FULL)
        return gguf_bad_value(gguf, "tokenizer.ggml.tokens", err,
                              "more than %d different beginnings of tokens",
                              TRIE_MAX_NODES);
    return st == TRIE_OK ? GG_OK : error_nomem(err);
}
