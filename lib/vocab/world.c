/* world.c - RWKV's World vocabulary: at each place the longest token
 *
 * Tokens are any bytes, written as Python writes them: \t, \n, \r, \xHH, and a
 * character after a backslash for itself. */
#include "vocab/world.h"
#include "core/plant.h"

static int
hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that text[0..len), after a backslash, stands for, and in *used how
 * many characters do; -1: none. */
static int
escaped(const char *text, size_t len, size_t *used)
{
    int high, low;

    *used = 1;
    if (len == 0)
        return -1;
    switch (*text) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 'x':
        break;
    default:
        return (uint8_t)*text;
    }
    if (len < 3)
        return -1;
    *used = 3;
    high = hex_value(text[1]);
    low = hex_value(text[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool
vocab_world_bytes(const char *text, size_t len, uint8_t *out, size_t *n)
{
    size_t used = 1;

    *n = 0;
    for (size_t at = 0; at < len; at += used) {
        int byte = (uint8_t)text[at];

        used = 1;
        if (byte == '\\') {
            byte = escaped(text + at + 1, len - at - 1, &used);
            used++;
        }
        if (byte < 0)
            return false;
        out[(*n)++] = (uint8_t)byte;
    }
    return true;
}

enum gg_status
vocab_load_world(struct gg_vocab *v, const struct gguf_context *gguf,
                 struct gg_error *err)
{
    enum gg_status st = vocab_load_joints(v, err);

    if (st == GG_OK)
        st = vocab_load_trie(v, gguf, err);
    gg_plant("World vocabulary");
    return st;
}

void
vocab_world_encode(const struct gg_vocab *v, const uint8_t *p, size_t at,
                   size_t len, struct vocab_out *out)
{
    for (size_t end = at + len, n; at < end; at += n) {
        int32_t id = vocab_trie_longest(&v->trie, p + at, end - at, &n);

        n = id < 0 ? 1 : n;
        id = id < 0 ? v->unk : id;
        if (id >= 0)
            vocab_emit_range(out, id, at, at + n);
        else
            vocab_leave_out(out, p + at, n);
    }
}
