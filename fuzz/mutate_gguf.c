/* mutate_gguf.c - mutates GGUF files by their structure: keys and tensors are
 * set to extremes, of a wrong type, missing, twice, exchanged
 *
 * Linked into a target it is its mutator, in half of all cases together with
 * that of libFuzzer, or of replay.c. A file is taken apart as far as it can be,
 * changed, and put together again: counts and the place of the data are right,
 * unless it was they that were changed. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum {
    MAX_PARTS = 1024,
    ROOM = 1 << 16, /* bytes of parts that were changed */
    ALIGNMENT = 32,
    N_TYPES = 13,
    STRING = 8,
    ARRAY = 9,
};

struct part {
    const uint8_t *p;
    size_t n;
};

struct parts {
    struct part list[MAX_PARTS];
    size_t n;
};

struct file {
    uint32_t version;
    uint64_t n_keys, n_tensors; /* as the head says */
    struct parts keys, tensors;
    struct part data; /* and whatever could not be taken apart */
    uint8_t room[ROOM];
    size_t used;
    uint64_t random; /* xorshift64* */
};

static uint64_t
draw(struct file *f)
{
    f->random ^= f->random >> 12;
    f->random ^= f->random << 25;
    f->random ^= f->random >> 27;
    return f->random * UINT64_C(0x2545f4914f6cdd1d);
}

static size_t
below(struct file *f, size_t n)
{
    return n ? (size_t)(draw(f) >> 33) % n : 0;
}

/* Numbers at which sizes, counts, places and indices go wrong. */
static uint64_t
extreme(struct file *f)
{
    static const uint64_t numbers[] = {
        0,           1,
        2,           3,
        7,           31,
        32,          33,
        255,         256,
        0x7fff,      0xffff,
        0x10000,     0x7fffffff,
        0x80000000,  0xffffffff,
        0x100000000, 0x3f800000,
        0x7f800000,  0x7fc00000,
        0xff800000,  0xbf800000,
        INT64_MAX,   1ull << 63,
        UINT64_MAX,  UINT64_MAX - 31,
        1ull << 62,  1ull << 61,
        1ull << 60,  1ull << 40,
    };
    size_t n = sizeof(numbers) / sizeof(numbers[0]);
    size_t i = below(f, n + 2);

    return i < n ? numbers[i] : draw(f) >> below(f, 64);
}

/* ---- taking apart -------------------------------------------------------- */

static uint64_t
number_at(const uint8_t *p, size_t n)
{
    uint64_t v = 0;

    memcpy(&v, p, n); /* this format and all that we run on: little-endian */
    return v;
}

static size_t
size_of(uint32_t type)
{
    static const uint8_t sizes[N_TYPES] = { 1, 1, 2, 2, 4, 4, 4,
                                            1, 0, 0, 8, 8, 8 };

    return type < N_TYPES ? sizes[type] : 0;
}

/* Bytes of a string at p, of those that are left; 0: it does not fit. */
static size_t
string_bytes(const uint8_t *p, size_t left)
{
    uint64_t n = left < 8 ? 0 : number_at(p, 8);

    return left < 8 || n > left - 8 ? 0 : 8 + (size_t)n;
}

static size_t
array_bytes(const uint8_t *p, size_t left)
{
    uint32_t type = left < 12 ? ARRAY : (uint32_t)number_at(p, 4);
    uint64_t n = left < 12 ? 0 : number_at(p + 4, 8);
    size_t at = 12;

    if (type == ARRAY || type >= N_TYPES || n > left)
        return 0;
    if (type != STRING)
        return n * size_of(type) > left - 12 ? 0 : 12 + n * size_of(type);
    for (; n > 0; n--) {
        size_t bytes = string_bytes(p + at, left - at);

        if (bytes == 0)
            return 0;
        at += bytes;
    }
    return at;
}

static size_t
value_bytes(uint32_t type, const uint8_t *p, size_t left)
{
    size_t n = type == STRING  ? string_bytes(p, left)
               : type == ARRAY ? array_bytes(p, left)
                               : size_of(type);

    return n > left ? 0 : n;
}

static size_t
key_bytes(const uint8_t *p, size_t left)
{
    size_t name = string_bytes(p, left), value;

    if (name == 0 || left - name < 4)
        return 0;
    value = value_bytes((uint32_t)number_at(p + name, 4), p + name + 4,
                        left - name - 4);
    return value ? name + 4 + value : 0;
}

static size_t
tensor_bytes(const uint8_t *p, size_t left)
{
    size_t name = string_bytes(p, left);
    uint64_t dims = name && left - name >= 4 ? number_at(p + name, 4) : 99;
    size_t n = name + 4 + 8 * (size_t)dims + 12;

    return dims > 8 || n > left ? 0 : n;
}

/* Takes parts off the front of *rest. */
static void
take(struct parts *to, struct part *rest, uint64_t most,
     size_t (*bytes)(const uint8_t *p, size_t left))
{
    size_t n;

    while (to->n < most && to->n < MAX_PARTS &&
           (n = bytes(rest->p, rest->n)) > 0) {
        to->list[to->n++] = (struct part){ rest->p, n };
        rest->p += n;
        rest->n -= n;
    }
}

static bool
take_apart(struct file *f, const uint8_t *data, size_t size)
{
    struct part rest = { data + 24, size - 24 };
    size_t pad;

    if (size < 24 || memcmp(data, "GGUF", 4) != 0)
        return false;
    f->version = (uint32_t)number_at(data + 4, 4);
    f->n_tensors = number_at(data + 8, 8);
    f->n_keys = number_at(data + 16, 8);
    take(&f->keys, &rest, f->n_keys, key_bytes);
    if (f->keys.n == f->n_keys)
        take(&f->tensors, &rest, f->n_tensors, tensor_bytes);
    pad = (ALIGNMENT - (size_t)(rest.p - data) % ALIGNMENT) % ALIGNMENT;
    if (f->tensors.n == f->n_tensors && pad <= rest.n) {
        rest.p += pad;
        rest.n -= pad;
    }
    f->data = rest;
    return true;
}

/* ---- changing ------------------------------------------------------------ */

/* A copy that can be changed, with room for `more` bytes; NULL: there is none.
 */
static uint8_t *
copy(struct file *f, struct part *part, size_t more)
{
    uint8_t *to = f->room + f->used;

    if (part->n + more > ROOM - f->used)
        return NULL;
    memcpy(to, part->p, part->n);
    memset(to + part->n, 0, more);
    f->used += part->n + more;
    part->p = to;
    return to;
}

static void
put(uint8_t *p, uint64_t v, size_t n)
{
    memcpy(p, &v, n);
}

static void
remove_part(struct parts *l, size_t i)
{
    memmove(l->list + i, l->list + i + 1, (l->n - i - 1) * sizeof(*l->list));
    l->n--;
}

static void
repeat_part(struct file *f, struct parts *l, size_t i)
{
    if (l->n == MAX_PARTS)
        return;
    l->list[l->n] = l->list[i];
    l->n++;
    if (below(f, 2)) { /* elsewhere than at the end */
        struct part last = l->list[l->n - 1];
        size_t to = below(f, l->n);

        l->list[l->n - 1] = l->list[to];
        l->list[to] = last;
    }
}

static void
exchange_parts(struct file *f, struct parts *l, size_t i)
{
    size_t k = below(f, l->n);
    struct part other = l->list[k];

    l->list[k] = l->list[i];
    l->list[i] = other;
}

/* True: it was one of these, which all parts have. */
static bool
change_list(struct file *f, struct parts *l, size_t i)
{
    switch (below(f, 8)) {
    case 0:
        remove_part(l, i);
        return true;
    case 1:
        repeat_part(f, l, i);
        return true;
    case 2:
        exchange_parts(f, l, i);
        return true;
    default:
        return false;
    }
}

/* One character of the name, or its length. */
static void
change_name(struct file *f, struct part *part)
{
    uint8_t *p = copy(f, part, 0);
    uint64_t n = p ? number_at(p, 8) : 0;

    if (p && n > 0 && below(f, 4))
        p[8 + below(f, (size_t)n)] = (uint8_t)draw(f);
    else if (p)
        put(p, extreme(f), 8);
}

/* The number, the length of a string, or the count of an array; or some element
 * of it. */
static void
change_value(struct file *f, struct part *key)
{
    size_t at = string_bytes(key->p, key->n) + 4, n;
    uint32_t type = (uint32_t)number_at(key->p + at - 4, 4), of = type;
    uint8_t *p = copy(f, key, 0);

    if (!p)
        return;
    if (type == STRING) {
        put(p + at, extreme(f), 8);
    } else if (type == ARRAY) {
        of = (uint32_t)number_at(p + at, 4);
        n = size_of(of) ? (key->n - at - 12) / size_of(of) : 0;
        if (n > 0 && below(f, 4))
            put(p + at + 12 + size_of(of) * below(f, n), extreme(f),
                size_of(of));
        else if (below(f, 2))
            put(p + at + 4, extreme(f), 8);
        else
            put(p + at, below(f, N_TYPES + 1), 4);
    } else {
        put(p + at, extreme(f), size_of(type));
    }
}

/* Another type: of the same bytes, or with a value of its own. */
static void
change_type(struct file *f, struct part *key)
{
    size_t at = string_bytes(key->p, key->n);
    uint32_t type = (uint32_t)below(f, N_TYPES + 1);
    bool own = below(f, 4);
    struct part head = { key->p, own ? at + 4 : key->n };
    uint8_t *p = copy(f, &head, own ? 32 : 0);

    if (!p)
        return;
    put(p + at, type, 4);
    if (own && size_of(type))
        put(p + at + 4, extreme(f), size_of(type));
    else if (own && type == STRING)
        put(p + at + 4, below(f, 9), 8);
    else if (own && type == ARRAY) {
        put(p + at + 4, below(f, 2) ? 4 : STRING, 4);
        put(p + at + 8, below(f, 3), 8);
    }
    head.n = own ? at + 4 + value_bytes(type, p + at + 4, 32) : key->n;
    *key = head;
}

/* It gets the type and the value of another key. */
static void
take_value(struct file *f, struct part *key)
{
    const struct part *other = &f->keys.list[below(f, f->keys.n)];
    size_t name = string_bytes(key->p, key->n);
    size_t from = string_bytes(other->p, other->n), n = other->n - from;
    struct part head = { key->p, name };
    uint8_t *p = from ? copy(f, &head, n) : NULL;

    if (!p)
        return;
    memcpy(p + name, other->p + from, n);
    *key = (struct part){ p, name + n };
}

/* A part that was changed once may be no whole part any more. */
static void
change_key(struct file *f)
{
    size_t i = below(f, f->keys.n);
    const struct part *key = &f->keys.list[i];

    if (f->keys.n == 0 || key_bytes(key->p, key->n) != key->n ||
        change_list(f, &f->keys, i))
        return;
    switch (below(f, 8)) {
    case 0:
        change_name(f, &f->keys.list[i]);
        break;
    case 1:
    case 2:
        change_type(f, &f->keys.list[i]);
        break;
    case 3:
        take_value(f, &f->keys.list[i]);
        break;
    default:
        change_value(f, &f->keys.list[i]);
    }
}

/* More dimensions, or fewer. */
static void
change_dimensions(struct file *f, struct part *tensor, size_t at, size_t n)
{
    uint8_t tail[12], *p;
    size_t to = below(f, 7);

    memcpy(tail, tensor->p + at + 4 + 8 * n, 12);
    p = copy(f, tensor, 7 * 8);
    if (!p)
        return;
    put(p + at, to, 4);
    for (size_t i = n; i < to; i++)
        put(p + at + 4 + 8 * i, below(f, 2) ? 1 : extreme(f), 8);
    memcpy(p + at + 4 + 8 * to, tail, 12);
    tensor->n = at + 4 + 8 * to + 12;
}

static void
change_tensor(struct file *f)
{
    size_t i = below(f, f->tensors.n), at, n;
    struct part *t = &f->tensors.list[i];
    uint8_t *p;

    if (f->tensors.n == 0 || tensor_bytes(t->p, t->n) != t->n ||
        change_list(f, &f->tensors, i))
        return;
    at = string_bytes(t->p, t->n);
    n = (size_t)number_at(t->p + at, 4);
    switch (below(f, 8)) {
    case 0:
        change_name(f, t);
        return;
    case 1:
        change_dimensions(f, t, at, n);
        return;
    default:
        break;
    }
    p = copy(f, t, 0);
    if (!p)
        return;
    switch (below(f, 6)) {
    case 0: /* its type */
        put(p + t->n - 12, below(f, 8) ? below(f, 45) : extreme(f), 4);
        break;
    case 1: /* the place of its data */
        put(p + t->n - 8, extreme(f), 8);
        break;
    case 2:
        put(p + t->n - 8, number_at(p + t->n - 8, 8) + ALIGNMENT, 8);
        break;
    default:
        if (n > 0)
            put(p + at + 4 + 8 * below(f, n), extreme(f), 8);
    }
}

static void
change_head(struct file *f, bool *counts)
{
    switch (below(f, 4)) {
    case 0:
        f->version = (uint32_t)(below(f, 2) ? below(f, 5) : extreme(f));
        break;
    case 1:
        f->data.n = below(f, f->data.n + 1);
        break;
    case 2:
        f->n_keys = below(f, 2) ? f->keys.n + 1 : extreme(f);
        *counts = true;
        break;
    default:
        f->n_tensors = below(f, 2) ? f->tensors.n + 1 : extreme(f);
        *counts = true;
    }
}

/* ---- putting together ---------------------------------------------------- */

/* False: there is no room for all of it, and the end is left out. */
static bool
add(uint8_t *to, size_t *used, size_t most, const void *data, size_t n)
{
    size_t some = n < most - *used ? n : most - *used;

    memcpy(to + *used, data, some);
    *used += some;
    return some == n;
}

static size_t
put_together(const struct file *f, uint8_t *to, size_t most)
{
    static const uint8_t zeros[ALIGNMENT];
    uint8_t head[24] = "GGUF";
    size_t used = 0;
    bool all = true;

    put(head + 4, f->version, 4);
    put(head + 8, f->n_tensors, 8);
    put(head + 16, f->n_keys, 8);
    add(to, &used, most, head, sizeof(head));
    for (size_t i = 0; i < f->keys.n && all; i++)
        all = add(to, &used, most, f->keys.list[i].p, f->keys.list[i].n);
    for (size_t i = 0; i < f->tensors.n && all; i++)
        all = add(to, &used, most, f->tensors.list[i].p, f->tensors.list[i].n);
    add(to, &used, most, zeros, (ALIGNMENT - used % ALIGNMENT) % ALIGNMENT);
    add(to, &used, most, f->data.p, f->data.n);
    return used;
}

/* libFuzzer's own; not there without it. */
size_t
LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static struct file f; /* large */
    static uint8_t *old;
    static size_t room;
    bool counts = false;

    f.keys.n = f.tensors.n = f.used = 0;
    f.random = (seed + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    if (size > room) {
        free(old);
        old = malloc(room = size);
    }
    if (!old || size < 24 || (LLVMFuzzerMutate && below(&f, 2)))
        return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, most) : size;
    memcpy(old, data, size);
    if (!take_apart(&f, old, size))
        return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, most) : size;
    for (size_t n = 1 + below(&f, 3); n > 0; n--)
        switch (below(&f, 8)) {
        case 0:
            change_head(&f, &counts);
            break;
        case 1:
        case 2:
        case 3:
            change_tensor(&f);
            break;
        default:
            change_key(&f);
        }
    if (!counts) {
        f.n_keys = f.keys.n;
        f.n_tensors = f.tensors.n;
    }
    return put_together(&f, data, most);
}
