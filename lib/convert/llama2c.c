/* llama2c.c - checkpoints of llama2.c, versions 0 to 2, and tokenizer.bin
 *
 * Source: export.py, tokenizer.py, run.c and runq.c of karpathy/llama2.c.
 * Version 0 has no magic: seven numbers, then all weights as f32; a vocabulary
 * that is negative says that the output has weights of its own. Version 1 has
 * a header of 256 bytes and another order; in version 2 matrices are int8 in
 * groups with an f32 scale each. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "convert/model.h"
#include "convert/tokens.h"
#include "core/check.h"
#include "core/cursor.h"
#include "core/mem.h"
#include "core/plant.h"

#define MAGIC     0x616b3432u
#define TOKENIZER "tokenizer.bin"

enum {
    HEADER = 256, /* bytes, from version 1 on */
    MAX_VALUE = 1 << 24,
    MAX_LAYERS = 512, /* GGUF files are built in time square to this */
    MAX_TOKEN = 1 << 16,
};

struct checkpoint {
    struct convert_model *out;
    uint32_t version;
    uint32_t dim, n_ff, n_layer, n_head, n_head_kv, n_vocab, n_ctx;
    bool own_output;
    uint32_t group; /* values to a scale; 0: weights are f32 */
    struct cursor c;
    enum gg_status status; /* of the first failure */
    struct gg_error *err;
};

/* ---- the header --------------------------------------------------------- */

static void
read_sizes(struct checkpoint *p)
{
    int32_t vocab;

    p->dim = cursor_u32(&p->c);
    p->n_ff = cursor_u32(&p->c);
    p->n_layer = cursor_u32(&p->c);
    p->n_head = cursor_u32(&p->c);
    p->n_head_kv = cursor_u32(&p->c);
    vocab = (int32_t)cursor_u32(&p->c);
    p->n_ctx = cursor_u32(&p->c);
    p->own_output = p->version == 0 && vocab < 0;
    p->n_vocab = p->own_output ? 0u - (uint32_t)vocab : (uint32_t)vocab;
}

static void
read_header(struct checkpoint *p, const struct file_map *map)
{
    p->c = cursor_over(map->data, map->size);
    if (cursor_u32(&p->c) != MAGIC) {
        p->c = cursor_over(map->data, map->size);
        read_sizes(p);
        return;
    }
    p->version = cursor_u32(&p->c);
    read_sizes(p);
    p->own_output = cursor_u8(&p->c) == 0;
    if (p->version == 2)
        p->group = cursor_u32(&p->c);
    p->c = cursor_over(map->data, map->size);
    (void)cursor_take(&p->c, HEADER);
}

static bool
sizes_make_sense(const struct checkpoint *p)
{
    const uint32_t all[] = { p->dim,       p->n_ff,    p->n_layer, p->n_head,
                             p->n_head_kv, p->n_vocab, p->n_ctx };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i] == 0 || all[i] > MAX_VALUE)
            return false;
    return p->n_layer <= MAX_LAYERS && p->n_head_kv <= p->n_head &&
           p->n_head % p->n_head_kv == 0 && p->dim % p->n_head == 0;
}

static uint64_t
kv_dim(const struct checkpoint *p)
{
    return (uint64_t)p->dim / p->n_head * p->n_head_kv;
}

/* Bytes of a version 0 file with these sizes. All are at most 2^24, and layers
 * 2^9: nothing wraps. */
static uint64_t
size_of_version_0(const struct checkpoint *p)
{
    uint64_t d = p->dim, kv = kv_dim(p);
    uint64_t layer = 2 * d + 2 * d * d + 2 * d * kv + 3 * d * p->n_ff;
    uint64_t table = (uint64_t)p->n_vocab * d;
    uint64_t angles = (uint64_t)p->n_ctx * (d / p->n_head / 2) * 2;

    return 28 + 4 * (p->n_layer * layer + d + angles +
                     table * (p->own_output ? 2 : 1));
}

bool
convert_is_llama2c(const struct file_map *map, const char **name)
{
    struct checkpoint p = { 0 };

    *name = "llama2.c";
    read_header(&p, map);
    if (p.version)
        return true;
    return !p.c.bad && sizes_make_sense(&p) &&
           size_of_version_0(&p) == map->size;
}

/* ---- weights ------------------------------------------------------------ */

static void
checkpoint_cut_off(struct checkpoint *p)
{
    (void)convert_bad(p->out, p->err,
                      "its weights end past the end of the "
                      "file");
    p->status = GG_ERR_TRUNCATED;
}

/* One f32 tensor of n_in x n_out from `data`. */
static void
add_f32(struct checkpoint *p, const char *name, uint64_t n_in, uint64_t n_out,
        const uint8_t *data)
{
    struct convert_tensor t = {
        .blocks = { GGML_TYPE_F32, sizeof(float), NULL },
        .data = data,
    };
    int64_t ne[2] = { (int64_t)n_in, (int64_t)n_out };

    p->status = convert_add(p->out, name, ne, &t, p->err);
}

static void
add_groups(struct checkpoint *p, const char *name, uint64_t n_in,
           uint64_t n_out, const uint8_t *values, const uint8_t *scales)
{
    struct convert_tensor t = {
        .blocks = { GGML_TYPE_Q8_0, 32, NULL },
        .data = values,
        .scales = scales,
        .group = p->group,
    };
    int64_t ne[2] = { (int64_t)n_in, (int64_t)n_out };

    p->status = convert_add(p->out, name, ne, &t, p->err);
}

/* The next `count` tensors of n_in x n_out in f32, one for each layer. */
static void
take_f32(struct checkpoint *p, const char *name, uint64_t n_in, uint64_t n_out,
         uint32_t count)
{
    char full[GGML_MAX_NAME];

    for (uint32_t i = 0; i < count && p->status == GG_OK; i++) {
        const uint8_t *data = cursor_take(&p->c, n_in * n_out * sizeof(float));

        convert_name(full, name, i);
        if (data)
            add_f32(p, full, n_in, n_out, data);
        else
            checkpoint_cut_off(p);
    }
}

/* The next `count` matrices, which version 2 has in groups, each tensor with
 * its scales after it. */
static void
take(struct checkpoint *p, const char *name, uint64_t n_in, uint64_t n_out,
     uint32_t count)
{
    char full[GGML_MAX_NAME];

    if (p->group == 0) {
        take_f32(p, name, n_in, n_out, count);
        return;
    }
    for (uint32_t i = 0; i < count && p->status == GG_OK; i++) {
        uint64_t n = n_in * n_out;
        const uint8_t *values = cursor_take(&p->c, n);
        const uint8_t *scales = cursor_take(&p->c, n / p->group * 4);

        convert_name(full, name, i);
        if (scales)
            add_groups(p, full, n_in, n_out, values, scales);
        else
            checkpoint_cut_off(p);
    }
}

static void
take_matrices(struct checkpoint *p)
{
    uint64_t d = p->dim, kv = kv_dim(p);

    take(p, "blk.%d.attn_q.weight", d, d, p->n_layer);
    take(p, "blk.%d.attn_k.weight", d, kv, p->n_layer);
    take(p, "blk.%d.attn_v.weight", d, kv, p->n_layer);
    take(p, "blk.%d.attn_output.weight", d, d, p->n_layer);
}

static void
take_feed_forward(struct checkpoint *p)
{
    take(p, "blk.%d.ffn_gate.weight", p->dim, p->n_ff, p->n_layer);
    take(p, "blk.%d.ffn_down.weight", p->n_ff, p->dim, p->n_layer);
    take(p, "blk.%d.ffn_up.weight", p->dim, p->n_ff, p->n_layer);
}

static void
take_version_0(struct checkpoint *p)
{
    uint64_t angles = (uint64_t)p->n_ctx * (p->dim / p->n_head / 2) * 2;

    take(p, "token_embd.weight", p->dim, p->n_vocab, 1);
    take(p, "blk.%d.attn_norm.weight", p->dim, 1, p->n_layer);
    take_matrices(p);
    take(p, "blk.%d.ffn_norm.weight", p->dim, 1, p->n_layer);
    take_feed_forward(p);
    take(p, "output_norm.weight", p->dim, 1, 1);
    (void)cursor_take(&p->c, angles * sizeof(float));
    if (p->own_output)
        take(p, "output.weight", p->dim, p->n_vocab, 1);
}

static void
take_later(struct checkpoint *p)
{
    take_f32(p, "blk.%d.attn_norm.weight", p->dim, 1, p->n_layer);
    take_f32(p, "blk.%d.ffn_norm.weight", p->dim, 1, p->n_layer);
    take_f32(p, "output_norm.weight", p->dim, 1, 1);
    take(p, "token_embd.weight", p->dim, p->n_vocab, 1);
    take_matrices(p);
    take_feed_forward(p);
    if (p->own_output)
        take(p, "output.weight", p->dim, p->n_vocab, 1);
}

static void
take_weights(struct checkpoint *p)
{
    if (p->version == 0)
        take_version_0(p);
    else
        take_later(p);
    if (p->status == GG_OK && cursor_left(&p->c) > 0)
        p->status =
            convert_bad(p->out, p->err, "%zu bytes follow after the weights",
                        cursor_left(&p->c));
}

static void
set_keys(const struct checkpoint *p)
{
    struct convert_shape shape = {
        .architecture = "llama",
        .n_ctx = p->n_ctx,
        .n_embd = p->dim,
        .n_head = p->n_head,
        .n_head_kv = p->n_head_kv,
        .n_layer = p->n_layer,
        .n_ff = p->n_ff,
        .eps_key = "attention.layer_norm_rms_epsilon",
        .eps = 1e-5f,
    };

    convert_set_shape(p->out, &shape);
}

/* ---- tokenizer.bin ------------------------------------------------------- */

static enum gg_status
bad_tokens(const char *path, struct gg_error *err)
{
    error_set(err, GG_ERR_FORMAT, "is no tokenizer of so many tokens");
    return error_prefix(err, GG_ERR_FORMAT, "%s", path);
}

/* The length of the longest, then for each a score, a length, and bytes. */
static enum gg_status
take_tokens(struct checkpoint *p, const char *path, const struct file_map *map)
{
    struct cursor c = cursor_over(map->data, map->size);
    size_t n = p->n_vocab;
    struct gguf_str *tokens = mem_array(n, sizeof(*tokens));
    float *scores = mem_array(n, sizeof(*scores));
    enum gg_status st = tokens && scores ? GG_OK : error_nomem(p->err);

    (void)cursor_u32(&c);
    for (size_t i = 0; st == GG_OK && i < n; i++) {
        uint32_t len;

        scores[i] = cursor_f32(&c);
        len = cursor_u32(&c);
        tokens[i] = (struct gguf_str){ cursor_take(&c, len), len };
        if (c.bad || len > MAX_TOKEN)
            st = bad_tokens(path, p->err);
    }
    if (st == GG_OK && cursor_left(&c) > 0)
        st = bad_tokens(path, p->err);
    if (st == GG_OK)
        st = convert_tokens_set_spm(p->out, tokens, scores, n, p->err);
    mem_free(tokens);
    mem_free(scores);
    return st;
}

static enum gg_status
read_tokens(struct checkpoint *p)
{
    const char *model = p->out->path, *slash = strrchr(model, '/');
    size_t dir = slash ? (size_t)(slash + 1 - model) : 0;
    char *path = mem_alloc(dir + sizeof(TOKENIZER));
    struct file_map map;
    struct cursor c;
    enum gg_status st;

    if (!path)
        return error_nomem(p->err);
    memcpy(path, model, dir);
    memcpy(path + dir, TOKENIZER, sizeof(TOKENIZER));
    st = file_map(path, &map, p->err);
    if (st == GG_OK) {
        c = cursor_over(map.data, map.size);
        if (cursor_holds(&c, p->n_vocab, 8))
            st = take_tokens(p, path, &map);
        else
            st = bad_tokens(path, p->err);
        file_unmap(&map);
    }
    mem_free(path);
    return st;
}

/* ---- the file ----------------------------------------------------------- */

static enum gg_status
check_header(struct checkpoint *p)
{
    if (p->c.bad)
        return convert_bad(p->out, p->err, "its header is cut off");
    if (p->version > 2)
        return convert_bad(p->out, p->err,
                           "version %u of llama2.c's format is not known",
                           (unsigned)p->version);
    if (!sizes_make_sense(p))
        return convert_bad(p->out, p->err, "its sizes make no sense");
    if (p->version == 2 && (p->group == 0 || p->group % 32 ||
                            p->dim % p->group || p->n_ff % p->group))
        return convert_bad(p->out, p->err,
                           "groups of %u values do not fit its rows",
                           (unsigned)p->group);
    return GG_OK;
}

enum gg_status
convert_read_llama2c(struct convert_model *m, struct gg_error *err)
{
    struct checkpoint p = { .out = m, .err = err };

    read_header(&p, m->map);
    gg_plant("llama2.c");
    p.status = check_header(&p);
    if (p.status == GG_OK) {
        set_keys(&p);
        take_weights(&p);
    }
    return p.status == GG_OK ? read_tokens(&p) : p.status;
}
