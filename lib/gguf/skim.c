/* skim.c - reads a file's metadata, and no byte more */
#include "gguf/skim.h"

#include "core/check.h"
#include "core/mem.h"

enum {
    HEAD = 24,       /* magic, version, counts */
    MIN_KV = 14,     /* length, one byte of key, type, one byte of value */
    MIN_TENSOR = 25, /* length, one byte of name, dimensions, type, offset */
    PIECE = 1 << 20, /* what is read at once */
};

struct skim {
    struct gguf_source *source;
    uint8_t *data;
    size_t n, cap; /* bytes that were read */
    size_t pos;    /* where the next value begins */
    uint64_t sure; /* bytes that must follow pos, by all that was read: these
                      are read ahead */
    bool swap;     /* the file has the other byte order */
    bool no_memory;
};

size_t
gguf_source_read(struct gguf_source *s, void *out, size_t size)
{
    size_t n = 0, got, want;

    do {
        want = size - n;
        if (want > s->limit - s->at)
            want = (size_t)(s->limit - s->at);
        if (s->chunk && want > s->chunk)
            want = s->chunk;
        got = want ? s->callback(s->userdata, (char *)out + n, s->at, want) : 0;
        got = got < want ? got : want;
        s->at += got;
        n += got;
    } while (want && got == want);
    return n;
}

/* So many more bytes; false: there are none, or no memory. */
static bool
skim_more(struct skim *s, size_t size)
{
    if (!mem_grow(&s->data, &s->cap, s->n + size, 1)) {
        s->no_memory = true;
        return false;
    }
    s->n += gguf_source_read(s->source, s->data + s->n, size);
    return true;
}

/* Bytes that are known to follow. */
static bool
expect(struct skim *s, uint64_t n, size_t size)
{
    return !__builtin_mul_overflow(n, size, &n) &&
           !__builtin_add_overflow(s->sure, n, &s->sure);
}

/* Moves over n bytes that were expected; they are there until the next call.
 * NULL: the file ends before. */
static const uint8_t *
take_bytes(struct skim *s, uint64_t n)
{
    while (s->n - s->pos < n) {
        uint64_t more = s->sure - (s->n - s->pos);
        size_t size = more < PIECE ? (size_t)more : PIECE, had = s->n;

        if (!skim_more(s, size) || s->n == had)
            return NULL;
    }
    s->sure -= n;
    s->pos += (size_t)n;
    return s->data + s->pos - n;
}

static bool
take_u32(struct skim *s, uint32_t *v)
{
    const uint8_t *p = take_bytes(s, sizeof(*v));

    if (p)
        memcpy(v, p, sizeof(*v));
    if (p && s->swap)
        *v = __builtin_bswap32(*v);
    return p != NULL;
}

static bool
take_u64(struct skim *s, uint64_t *v)
{
    const uint8_t *p = take_bytes(s, sizeof(*v));

    if (p)
        memcpy(v, p, sizeof(*v));
    if (p && s->swap)
        *v = __builtin_bswap64(*v);
    return p != NULL;
}

/* A length n and n bytes, `counted` of which are expected already. */
static bool
skim_string(struct skim *s, uint64_t counted)
{
    uint64_t n;

    if (!take_u64(s, &n) || n < counted || !expect(s, n - counted, 1))
        return false;
    return take_bytes(s, n) != NULL;
}

static bool
skim_array(struct skim *s)
{
    uint32_t type;
    uint64_t n;
    size_t size;

    if (!take_u32(s, &type) || !take_u64(s, &n) || !gguf_type_is_value(type))
        return false;
    size = gguf_type_bytes((enum gguf_type)type);
    if (!expect(s, n, size ? size : sizeof(n)))
        return false;
    if (size)
        return take_bytes(s, n * size) != NULL;
    while (n > 0 && skim_string(s, 0))
        n--;
    return n == 0;
}

static bool
skim_kv(struct skim *s)
{
    uint32_t type;
    size_t size;

    if (!skim_string(s, 1) || !take_u32(s, &type))
        return false;
    if (type == GGUF_TYPE_ARRAY)
        return expect(s, 11, 1) && skim_array(s);
    if (!gguf_type_is_value(type))
        return false;
    size = gguf_type_bytes((enum gguf_type)type);
    if (!expect(s, size ? size - 1 : sizeof(uint64_t) - 1, 1))
        return false;
    return size ? take_bytes(s, size) != NULL : skim_string(s, 0);
}

static bool
skim_tensor(struct skim *s)
{
    uint32_t n;

    return skim_string(s, 1) && take_u32(s, &n) && n <= GGML_MAX_DIMS &&
           expect(s, n, sizeof(uint64_t)) &&
           take_bytes(s, n * sizeof(uint64_t) + 12) != NULL;
}

static void
skim_all(struct skim *s)
{
    uint64_t n_tensors, n_kv;
    uint32_t version;
    const uint8_t *magic;

    s->sure = HEAD;
    magic = take_bytes(s, 4);
    if (!magic || memcmp(magic, GGUF_MAGIC, 4) != 0 || !take_u32(s, &version))
        return;
    s->swap = gguf_is_swapped(version);
    if (!take_u64(s, &n_tensors) || !take_u64(s, &n_kv) ||
        !expect(s, n_tensors, MIN_TENSOR) || !expect(s, n_kv, MIN_KV))
        return;
    while (n_kv > 0 && skim_kv(s))
        n_kv--;
    while (n_kv == 0 && n_tensors > 0 && skim_tensor(s))
        n_tensors--;
}

enum gg_status
gguf_skim(struct gguf_source *source, uint8_t **data, size_t *size,
          struct gg_error *err)
{
    struct skim s = { .source = source };

    skim_all(&s);
    *data = s.data;
    *size = s.n;
    return s.no_memory ? error_nomem(err) : GG_OK;
}
