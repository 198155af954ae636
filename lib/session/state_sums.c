/* state_sums.c - the sums of a state: each byte is as it was written */
#include "session/state_open.h"

#include <string.h>

#include "core/crc32.h"
#include "core/escape.h"

static enum gg_status
check_head(const struct opener *o, const struct gguf_tensor *sums)
{
    uint32_t crc =
        crc32_bytes(0, o->f->file.maps[0].data, gguf_get_data_offset(o->gguf));

    if (memcmp(sums->data, &crc, sizeof(crc)) != 0)
        return session_state_refuse(
            o, GG_ERR_FORMAT, "the file is damaged: the head's CRC is wrong");
    return GG_OK;
}

/* In pieces that stay in a processor's cache. */
static enum gg_status
check_data(const struct opener *o, const struct gguf_tensor *t,
           const uint8_t *sum)
{
    size_t piece = ggml_type_size(t->type) * 1024, n;
    const uint8_t *p = t->data;
    char name[4 * GGML_MAX_NAME];
    bool finite = true;
    uint32_t crc = 0;

    for (size_t left = t->size; left; left -= n) {
        n = left < piece ? left : piece;
        crc = crc32_bytes(crc, p, n);
        finite &= ggml_validate_row_data(t->type, p, n);
        p += n;
    }
    escape_bytes(name, sizeof(name), t->name, strlen(t->name));
    if (memcmp(sum, &crc, sizeof(crc)) != 0)
        return session_state_refuse(
            o, GG_ERR_FORMAT, "the file is damaged: the CRC of %s is wrong",
            name);
    if (!finite)
        return session_state_refuse(o, GG_ERR_FORMAT,
                                    "%s: a value is not finite", name);
    return GG_OK;
}

/* Checks each tensor in the order of the table, but the last, that of the
 * sums. */
enum gg_status
session_state_check_sums(const struct opener *o)
{
    const struct gguf_tensor *sums = gguf_tensor_named(o->gguf, STATE_CRC);
    int64_t n = gguf_get_n_tensors(o->gguf);
    enum gg_status st = GG_OK;

    for (int64_t i = 0; i < n - 1 && st == GG_OK; i++)
        st = check_data(o, gguf_tensor(o->gguf, i),
                        (const uint8_t *)sums->data + 4 * (i + 1));
    return st;
}

/* It is the last, and as long as it must be. */
enum gg_status
session_state_find_sums(struct opener *o)
{
    int64_t n = gguf_get_n_tensors(o->gguf);
    const struct gguf_tensor *sums;
    enum gg_status st;

    if (n == 0)
        return session_state_refuse(o, GG_ERR_FORMAT, "%s: is missing",
                                    STATE_CRC);
    st = session_state_find(o, STATE_CRC, GGML_TYPE_I32, n, 1, &sums);
    if (st == GG_OK && gguf_tensor(o->gguf, n - 1) != sums)
        return session_state_refuse(o, GG_ERR_FORMAT, "%s: is not the last",
                                    STATE_CRC);
    return st == GG_OK ? check_head(o, sums) : st;
}
