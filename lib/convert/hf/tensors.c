/* tensors.c - what becomes of the tensors of a folder */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/check.h"
#include "core/mem.h"
#include "gguf/adapter.h"

enum {
    NAME = 256,
};

/* A tensor: where its values come from, and what it becomes. */
struct conversion {
    const struct safetensors_tensor
        *first; /* of the experts, or the only one */
    const char *name;
    unsigned how;
    int64_t ne[GGML_MAX_DIMS];
    struct hf_rows rows;
};

static void
bad_tensor(struct hf *h, const struct conversion *g, const char *what)
{
    core_json_bad(&h->here, GG_ERR_FORMAT, "%s: %s", g->first->name, what);
}

/* ---- shapes -------------------------------------------------------------- */

static void
lay_out_column(struct conversion *g)
{
    struct hf_rows *r = &g->rows;

    r->step = r->row = 1;
    r->length = r->n_blocks = 1;
    r->n_rows = (int64_t)g->first->n;
    g->ne[0] = g->ne[2] = g->ne[3] = 1;
    g->ne[1] = r->n_rows;
}

/* Blocks of rows: those of an expert each, or one. Vectors are one row, or, of
 * experts, a row each. */
static void
lay_out_tensor(struct hf *h, struct conversion *g)
{
    const struct safetensors_tensor *t = g->first;
    struct hf_rows *r = &g->rows;
    int n = t->n_dims;

    if (n > 3 && g->how & HF_DECAYS) {
        lay_out_column(g);
        return;
    }
    if (n < 1 || n > 3 || t->n == 0) {
        bad_tensor(h, g, "has a shape that fits nothing");
        return;
    }
    r->step = 1;
    r->length = t->shape[n - 1];
    r->n_rows = n > 1 ? t->shape[n - 2] : 1;
    r->n_blocks = n > 2 ? t->shape[0] : (int64_t)r->n_from;
    r->row = (size_t)r->length;
    r->block = r->n_from > 1 ? 0 : (size_t)(r->n_rows * r->length);
    g->ne[0] = r->length;
    g->ne[1] = r->n_rows;
    g->ne[2] = r->n_blocks;
    g->ne[3] = 1;
}

/* Blocks of MXFP4: a row there is one here. */
static void
lay_out_mxfp4(struct hf *h, struct conversion *g)
{
    const struct safetensors_tensor *t = g->first;
    struct hf_rows *r = &g->rows;

    if (!t->scales || t->n_dims != 4) {
        bad_tensor(h, g, "is not quantised as the configuration says");
        return;
    }
    r->step = 1;
    r->length = t->shape[2] * t->shape[3] * 2;
    r->n_rows = t->shape[1];
    r->n_blocks = t->shape[0];
    r->row = (size_t)r->length;
    r->block = r->row * (size_t)r->n_rows;
    if (g->how & (HF_EVEN | HF_ODD)) {
        if (r->n_rows % 2)
            bad_tensor(h, g, "has an odd number of rows");
        r->n_rows /= 2;
        r->first = g->how & HF_ODD ? r->row : 0;
        r->row *= 2;
    }
    g->ne[0] = r->length;
    g->ne[1] = r->n_rows;
    g->ne[2] = r->n_blocks;
    g->ne[3] = 1;
}

static void
transpose(struct conversion *g)
{
    struct hf_rows *r = &g->rows;
    int64_t n = r->length;

    r->step = r->row;
    r->row = 1;
    r->length = r->n_rows;
    r->n_rows = n;
    g->ne[0] = r->length;
    g->ne[1] = r->n_rows;
}

static bool
is_turned(const struct hf *h, const struct conversion *g)
{
    const struct hf_rows *r = &g->rows;
    bool both = g->how & (HF_GATES | HF_UPS);

    if (g->how & HF_EITHER)
        return (both ? r->length : r->n_rows) != h->n_embd;
    return g->how & HF_TRANSPOSE && g->first->n_dims > 1;
}

/* Gates and ups by halves of each block. */
static void
take_half(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (r->n_rows % 2) {
        bad_tensor(h, g, "has an odd number of rows");
        return;
    }
    r->n_rows /= 2;
    g->ne[1] = r->n_rows;
    if (g->how & HF_UPS)
        r->first = (size_t)r->n_rows * r->row;
}

/* Gates and ups alternate, in the columns of a matrix or the values of a row.
 */
static void
take_alternate(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;
    bool matrix = g->first->n_dims > 2;

    if (r->length % 2) {
        bad_tensor(h, g, "has an odd number of columns");
        return;
    }
    r->first = g->how & HF_ODD ? 1 : 0;
    if (matrix)
        transpose(g);
    if (matrix) {
        r->row = 2;
        r->n_rows /= 2;
    } else {
        r->step = 2;
        r->length /= 2;
    }
    g->ne[0] = r->length;
    g->ne[1] = r->n_rows;
}

/* A vector whose values change places is a column. */
static void
make_column(struct conversion *g)
{
    if (g->first->n_dims == 1) {
        g->rows.n_rows = g->rows.length;
        g->rows.length = 1;
        g->rows.row = 1;
    }
}

static void
set_order(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;
    int64_t heads = g->how & HF_HEADS_K ? h->n_head_kv : h->n_head;

    if (g->how & (HF_HEADS_Q | HF_HEADS_K)) {
        make_column(g);
        if (h->heads_by_layer)
            heads = r->n_rows < h->d_head ? 1 : r->n_rows / h->d_head;
        r->order = HF_PAIRS;
        r->n_head = (int32_t)heads;
        if (r->n_rows % heads || r->n_rows / heads % 2)
            bad_tensor(h, g, "its rows are not those of the heads");
    } else if (g->how & HF_QKV) {
        make_column(g);
        r->order = HF_PARTS;
        r->n_head = h->n_head;
        r->n_head_kv = h->n_head_kv;
        heads = h->n_head + 2 * (int64_t)h->n_head_kv;
        if (h->n_head % h->n_head_kv || r->n_rows % heads)
            bad_tensor(h, g, "its rows are not those of the heads");
    }
}

/* Of each group, or of the whole, the rows of its queries, keys or values. */
static void
take_part(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;
    int64_t groups = g->how & HF_GROUPED ? h->n_head_kv : 1;
    int64_t q = h->n_head / groups, k = h->n_head_kv / groups, d;

    make_column(g);
    d = r->n_rows / (groups * (q + 2 * k));
    if (g->first->n_dims > 2 || h->n_head % groups || d < 2 || d % 2 ||
        r->n_blocks != 1 || r->n_rows != d * groups * (q + 2 * k)) {
        bad_tensor(h, g, "its rows are not those of the heads");
        return;
    }
    r->block = (size_t)(r->n_rows / groups) * r->row;
    r->first = (size_t)(g->how & HF_ONLY_Q   ? 0
                        : g->how & HF_ONLY_K ? q
                                             : q + k);
    r->first *= (size_t)d * r->row;
    r->n_blocks = groups;
    r->n_head = (int32_t)(g->how & HF_ONLY_Q ? q : k);
    r->n_rows = r->n_head * d;
    r->order = g->how & HF_ONLY_V ? HF_AS_IS : HF_PAIRS;
    g->ne[g->first->n_dims - 1] = groups * r->n_rows;
}

static void
fill_vocabulary(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (r->n_rows >= h->n_vocab)
        return;
    r->order = HF_FILLED;
    r->n_head = (int32_t)r->n_rows;
    r->n_rows = g->ne[1] = h->n_vocab;
}

/* RoBERTa counts positions from behind what pads. */
static void
drop_padding(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (r->n_rows <= h->n_pad) {
        bad_tensor(h, g, "has no rows but those of what pads");
        return;
    }
    r->first = (size_t)h->n_pad * r->row;
    r->n_rows -= h->n_pad;
    g->ne[1] = r->n_rows;
}

static void
unstack(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (h->n_expert < 1 || r->n_blocks != 1 || r->n_rows % h->n_expert) {
        bad_tensor(h, g, "its rows are not those of the experts");
        return;
    }
    r->n_blocks = h->n_expert;
    r->n_rows /= h->n_expert;
    r->block = (size_t)r->n_rows * r->row;
    g->ne[1] = r->n_rows;
    g->ne[2] = r->n_blocks;
}

/* ---- latent attention, delta rules --------------------------------------- */

/* Of each head the rows that make its key, whose columns they become, or those
 * of its value. */
static void
take_latent(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;
    bool keys = g->how & HF_LATENT_K;
    int64_t each = (int64_t)h->d_own + h->d_value;

    if (h->d_own < 1 || h->d_value < 1 || g->first->n_dims != 2 ||
        r->n_rows != each * h->n_head) {
        bad_tensor(h, g, "its rows are not those of the heads");
        return;
    }
    r->n_blocks = g->ne[2] = h->n_head;
    r->n_rows = g->ne[1] = keys ? h->d_own : h->d_value;
    r->block = (size_t)each * r->row;
    r->first = keys ? 0 : (size_t)h->d_own * r->row;
    if (keys)
        transpose(g);
}

static void
squeeze(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (g->first->n_dims == 1) {
        lay_out_column(g);
        return;
    }
    if (r->n_rows != 1) {
        bad_tensor(h, g, "has a shape that fits nothing");
        return;
    }
    r->n_rows = g->ne[1] = r->n_blocks;
    r->n_blocks = g->ne[2] = 1;
    r->block *= (size_t)r->n_rows;
}

/* A vector becomes a row for each group. */
static void
part_groups(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (h->delta.n_key < 1 || r->length % h->delta.n_key) {
        bad_tensor(h, g, "its values are not those of the groups");
        return;
    }
    r->n_rows = g->ne[1] = h->delta.n_key;
    r->length = g->ne[0] = r->length / h->delta.n_key;
    r->row = (size_t)r->length;
}

/* Queries and keys stand in front of values, where there are any. */
static void
tile_rows(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;
    int64_t v = (int64_t)h->delta.n_value * h->delta.d_value;
    int64_t qk = 2 * (int64_t)h->delta.n_key * h->delta.d_key;

    make_column(g);
    r->order = HF_TILED;
    r->n_head = h->delta.n_key;
    r->n_head_kv = h->delta.n_value / h->delta.n_key;
    r->kept = r->n_rows == qk + v ? qk : 0;
    if (r->n_blocks != 1 || (r->n_rows - r->kept) % h->delta.n_value)
        bad_tensor(h, g, "its rows are not those of the heads");
}

static void
tile_columns(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;

    r->n_groups = h->delta.n_key;
    r->n_each = h->delta.n_value / h->delta.n_key;
    if (r->length % h->delta.n_value)
        bad_tensor(h, g, "its columns are not those of the heads");
}

/* Queries, keys, values and gates stand group by group. */
static void
take_delta(struct hf *h, struct conversion *g)
{
    struct hf_rows *r = &g->rows;
    int64_t groups = h->delta.n_key, d = h->delta.d_key;
    int64_t v = (int64_t)h->delta.n_value / groups * h->delta.d_value;

    if (g->first->n_dims != 2 || r->n_rows != groups * 2 * (d + v)) {
        bad_tensor(h, g, "its rows are not those of the heads");
        return;
    }
    if (g->how & HF_DELTA_QKV) {
        r->order = HF_FLAT;
        r->n_head = h->delta.n_key;
        r->kept = d;
        r->n_rows = g->ne[1] = groups * (2 * d + v);
        return;
    }
    r->block = (size_t)(2 * (d + v)) * r->row;
    r->first = (size_t)(2 * d + v) * r->row;
    r->n_blocks = groups;
    r->n_rows = v;
    g->ne[1] = groups * v;
}

static void
set_recurrent(struct hf *h, struct conversion *g)
{
    g->rows.decays = g->how & HF_DECAYS;
    if (convert_hf_good(h) && g->how & (HF_LATENT_K | HF_LATENT_V))
        take_latent(h, g);
    if (convert_hf_good(h) && g->how & HF_SQUEEZE)
        squeeze(h, g);
    if (convert_hf_good(h) && g->how & HF_GROUPED && g->first->n_dims == 1 &&
        !(g->how & (HF_ONLY_Q | HF_ONLY_K | HF_ONLY_V)))
        part_groups(h, g);
    if (convert_hf_good(h) && g->how & HF_TILED_ROWS)
        tile_rows(h, g);
    if (convert_hf_good(h) && g->how & HF_TILED_COLUMNS)
        tile_columns(h, g);
    if (convert_hf_good(h) && g->how & (HF_DELTA_QKV | HF_DELTA_GATES))
        take_delta(h, g);
}

/* What is quantised already becomes BF16. */
static enum ggml_type
read_as(const struct safetensors_tensor *t)
{
    return t->open ? GGML_TYPE_BF16 : t->type;
}

static enum ggml_type
check_type(struct hf *h, const struct safetensors_tensor *t)
{
    enum ggml_type type = read_as(t);

    if (type != GGML_TYPE_F32 && type != GGML_TYPE_F16 &&
        type != GGML_TYPE_BF16 && type != GGML_TYPE_F64)
        core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                      "%s: values of type %s%s are not read", t->name, t->dtype,
                      h->quantized ? " without scales" : "");
    return type;
}

/* Vectors, and what must stay exact, are F32; else what all parts are. */
static enum ggml_type
type_of_parts(struct hf *h, const struct conversion *g)
{
    enum ggml_type type = read_as(g->first);

    if (g->how & HF_MXFP4)
        return GGML_TYPE_MXFP4;
    for (size_t i = 0; i < g->rows.n_from; i++) {
        enum ggml_type t = check_type(h, g->rows.from[i]);

        if (t != type)
            type = GGML_TYPE_F32;
    }
    if (type == GGML_TYPE_F64 || g->ne[1] * g->ne[2] == 1 ||
        convert_hf_is_scaled(&g->rows) ||
        g->first->n_dims == 1 || g->how & (HF_F32 | HF_PLUS_1) ||
        strstr(g->name, ".bias"))
        return GGML_TYPE_F32;
    return type;
}

enum ggml_type
convert_hf_type_of(struct hf *h, const struct safetensors_tensor *t,
                   const struct hf_rows *rows)
{
    enum ggml_type type = check_type(h, t);

    return type == GGML_TYPE_F64 || convert_hf_is_scaled(rows) ? GGML_TYPE_F32
                                                               : type;
}

/* Of an adapter's matrices B has the rows of the weight; A stays. */
static void
set_scale(struct hf *h, struct conversion *g)
{
    char base[GGML_MAX_NAME];

    if (gguf_adapter_split_name(g->name, base) != GGUF_ADAPTER_A)
        h->family->scale(h, base, &g->rows);
}

/* Takes over `from`. */
static void
add_tensor_from(struct hf *h, const char *name, unsigned how,
                const struct safetensors_tensor **from, size_t n)
{
    struct conversion g = { .first = from[0],
                            .name = name,
                            .how = how,
                            .rows = { .from = from, .n_from = n } };

    if (how & HF_MXFP4)
        lay_out_mxfp4(h, &g);
    else
        lay_out_tensor(h, &g);
    if (convert_hf_good(h) && how & HF_STACKED)
        unstack(h, &g);
    if (convert_hf_good(h) && is_turned(h, &g))
        transpose(&g);
    if (convert_hf_good(h) && how & (HF_GATES | HF_UPS))
        take_half(h, &g);
    if (convert_hf_good(h) && how & (HF_EVEN | HF_ODD) && !(how & HF_MXFP4))
        take_alternate(h, &g);
    if (convert_hf_good(h))
        set_order(h, &g);
    if (convert_hf_good(h) && how & (HF_ONLY_Q | HF_ONLY_K | HF_ONLY_V))
        take_part(h, &g);
    if (convert_hf_good(h) && how & HF_VOCAB)
        fill_vocabulary(h, &g);
    if (convert_hf_good(h) && how & HF_POSITIONS)
        drop_padding(h, &g);
    set_recurrent(h, &g);
    if (g.first->n_dims == 2 && how & HF_EXACT && strstr(name, ".bias")) {
        g.ne[1] = g.rows.n_rows; /* a row an expert */
        g.ne[2] = 1;
    }
    if (how & HF_PLUS_1)
        g.rows.add = 1;
    g.rows.times = h->times;
    if (convert_hf_good(h) && h->family->scale)
        set_scale(h, &g);
    convert_hf_add(h, name,
                   convert_hf_good(h) ? type_of_parts(h, &g) : GGML_TYPE_F32,
                   g.ne, &g.rows);
}

void
convert_hf_add_from(struct hf *h, const char *name,
                    const struct safetensors_tensor *from)
{
    const struct safetensors_tensor **all = mem_array(1, sizeof(from));

    if (!all) {
        h->here.status = error_nomem(h->here.err);
        return;
    }
    all[0] = from;
    add_tensor_from(h, name, 0, all, 1);
}

/* ---- names --------------------------------------------------------------- */

static bool
same_shape(const struct safetensors_tensor *a,
           const struct safetensors_tensor *b)
{
    return a->n_dims == b->n_dims &&
           !memcmp(a->shape, b->shape, (size_t)a->n_dims * sizeof(*a->shape));
}

/* `from` with its %d, if it has one, replaced by the expert. */
static void
expert_name(char out[NAME], const char *from, int32_t expert)
{
    const char *at = strstr(from, "%d");

    if (at)
        snprintf(out, NAME, "%.*s%d%s", (int)(at - from), from, (int)expert,
                 at + 2);
    else
        snprintf(out, NAME, "%s", from);
}

bool
convert_hf_take(struct hf *h, const char *from, const char *to, unsigned how)
{
    bool many = strstr(from, "%d") != NULL;
    size_t n = many ? (size_t)h->n_expert >> (how & HF_HALF ? 1 : 0) : 1;
    const struct safetensors_tensor **all, *t;
    char name[NAME];

    expert_name(name, from, 0);
    if (n == 0 || !convert_hf_weights_find(&h->weights, name))
        return false;
    all = mem_array(n, sizeof(const struct safetensors_tensor *));
    if (!all) {
        h->here.status = error_nomem(h->here.err);
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        expert_name(name, from, (int32_t)i);
        all[i] = t = convert_hf_weights_find(&h->weights, name);
        if (!t)
            core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is missing", name);
        else if (!same_shape(t, all[0]))
            core_json_bad(&h->here, GG_ERR_FORMAT,
                          "%s: has another shape than %s", name, all[0]->name);
        if (!convert_hf_good(h)) {
            mem_free(all);
            return true;
        }
    }
    add_tensor_from(h, to, how, all, n);
    return true;
}

/* Weight and bias. */
static bool
take_both(struct hf *h, const char *prefix, const char *to_prefix,
          const struct hf_name *name)
{
    char from[NAME], to[NAME];
    bool exact = name->how & HF_EXACT, found;

    snprintf(from, NAME, "%s%s%s", prefix, name->from, exact ? "" : ".weight");
    snprintf(to, NAME, "%s%s%s", to_prefix, name->to, exact ? "" : ".weight");
    found = convert_hf_take(h, from, to, name->how);
    if (!found && !(name->how & (HF_OPTIONAL | HF_OR_NEXT)))
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is missing", from);
    if (!found || exact || !convert_hf_good(h))
        return found;
    snprintf(from, NAME, "%s%s.bias", prefix, name->from);
    snprintf(to, NAME, "%s%s.bias", to_prefix, name->to);
    convert_hf_take(h, from, to, name->how & ~(unsigned)HF_PLUS_1);
    return true;
}

static void
take_list(struct hf *h, const char *prefix, const char *to_prefix,
          const struct hf_name *name)
{
    for (; name && name->from && convert_hf_good(h); name++) {
        bool next = name->how & HF_OR_NEXT;

        if (take_both(h, prefix, to_prefix, name) && next)
            name++;
    }
}

/* ---- all of them --------------------------------------------------------- */

/* Whether the output is the embedding's matrix: then one that is there all the
 * same is a copy of it. */
static void
check_output(struct hf *h)
{
    const struct hf_name *name = h->family->whole;
    bool said = core_json_find(&h->config, "tie_word_embeddings") != NULL;
    bool tied =
        core_json_bool(&h->config, "tie_word_embeddings", h->family->tied);
    bool found = false;
    char from[NAME];

    for (; name->from; name++) {
        snprintf(from, NAME, "%s.weight", name->from);
        if (!strcmp(name->to, "output"))
            found = found || convert_hf_weights_find(&h->weights, from);
    }
    if (said && !tied && !found)
        core_json_bad(&h->here, GG_ERR_FORMAT, "lm_head.weight: is missing");
}

static void
take_whole(struct hf *h)
{
    bool tied =
        core_json_bool(&h->config, "tie_word_embeddings", h->family->tied);
    const struct hf_name *name = h->family->whole;

    for (; name->from && convert_hf_good(h); name++) {
        bool next = name->how & HF_OR_NEXT;

        if (strcmp(name->to, "output") || (!tied && !h->answers))
            next &= take_both(h, "", "", name);
        name += next;
    }
}

/* What is no weight, or belongs to pictures, or to what an encoder was trained
 * with, by a part of its name. */
static const char *const left_out[] = {
    "rotary_emb.",
    ".attn.bias",
    ".attn.masked_bias",
    "attention.bias",
    "attention.masked_bias",
    "vision_tower.",
    "multi_modal_projector.",
    "vision_embedder.",
    "embed_vision.",
    "visual.",
    "mlp_AR.",
    "vision_model.",
    "audio_tower.",
    "embed_audio.",
    "masked_bias",
    "embeddings.position_ids",
    "pooler.dense.",
    "cls.predictions.",
    "cls.seq_relationship.",
};

static bool
is_in(const char *name, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n && parts[i]; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

/* ---- MTP layers ---------------------------------------------------------- */

static const struct hf_name mtp_names[] = {
    { "eh_proj", "nextn.eh_proj", 0 },
    { "enorm", "nextn.enorm", 0 },
    { "hnorm", "nextn.hnorm", 0 },
    { "embed_tokens", "nextn.embed_tokens", HF_OPTIONAL },
    { "shared_head.norm", "nextn.shared_head_norm", HF_OPTIONAL },
    { "shared_head.head", "nextn.shared_head_head", HF_OPTIONAL },
    { 0 },
};
const struct hf_mtp convert_hf_mtp = { .names = mtp_names };

/* What the names of MTP layer i begin with. */
static void
mtp_prefix(const struct hf *h, int32_t i, char to[NAME])
{
    const char *own = h->family->mtp->layers;

    snprintf(to, NAME, "%s%d.", own ? own : h->family->layers,
             (int)(own ? i : h->n_layer + i));
}

/* And of what stands beside it. */
static void
mtp_beside(const struct hf *h, int32_t i, char to[NAME])
{
    if (h->family->mtp->beside)
        snprintf(to, NAME, "%s", h->family->mtp->beside);
    else
        mtp_prefix(h, i, to);
}

/* Where it stands beside, there is but one. */
int32_t
convert_hf_count_mtp(struct hf *h)
{
    enum {
        MOST = 64
    };
    const struct hf_mtp *m = h->family->mtp;
    char beside[NAME], name[2 * NAME];
    int32_t n = 0;

    for (; m && n < (m->beside ? 1 : MOST); n++) {
        mtp_beside(h, n, beside);
        snprintf(name, sizeof(name), "%s%s.weight", beside, m->names->from);
        if (!convert_hf_weights_find(&h->weights, name))
            break;
    }
    return n;
}

static void
take_mtp(struct hf *h, int32_t i)
{
    char from[NAME], to[64];

    snprintf(to, sizeof(to), "blk.%d.", (int)(h->n_layer + i));
    mtp_prefix(h, i, from);
    for (int k = 0; k < HF_LISTS; k++)
        take_list(h, from, to, h->family->layer[k]);
    mtp_beside(h, i, from);
    take_list(h, from, to, h->family->mtp->names);
}

/* ---- the rest ------------------------------------------------------------ */

/* A layer for ids beyond the next, of a family whose are left out. */
static bool
is_behind(struct hf *h, const char *name)
{
    int64_t n = core_json_int(&h->config, "num_nextn_predict_layers", 0, 64, 0);
    const char *at = strstr(name, h->family->layers);
    long layer = at ? strtol(at + strlen(h->family->layers), NULL, 10) : 0;

    return at && h->n_mtp == 0 && layer >= h->n_layer && layer < h->n_layer + n;
}

static void
check_left(struct hf *h)
{
    const char *const *own = h->family->left_out;

    for (size_t i = 0; i < h->weights.n && convert_hf_good(h); i++) {
        const char *name = h->weights.tensors[i]->name;
        bool known = h->weights.used[i];

        known = known ||
                is_in(name, left_out, sizeof(left_out) / sizeof(left_out[0])) ||
                (own && is_in(name, own, SIZE_MAX)) || is_behind(h, name);
        if (!known)
            core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                          "%s: %s has no such tensor here", name,
                          h->family->model);
    }
}

static void
check_rows(struct hf *h, const char *tensor, const char *setting, int64_t n)
{
    const struct gguf_tensor *t = gguf_tensor_named(h->gguf, tensor);

    if (convert_hf_good(h) && t && t->ne[1] != n)
        core_json_bad(&h->here, GG_ERR_FORMAT,
                      "%s has %lld rows, but %s is %lld", tensor,
                      (long long)t->ne[1], setting, (long long)n);
}

void
convert_hf_add_tensors(struct hf *h)
{
    char from[NAME], to[64];

    if (!h->family->encoder)
        check_output(h);
    take_whole(h);
    for (int32_t i = 0; i < h->n_layer && convert_hf_good(h); i++) {
        snprintf(from, NAME, "%s%d.", h->family->layers, (int)i);
        snprintf(to, sizeof(to), "%s%d.",
                 h->family->to ? h->family->to : "blk.", (int)i);
        for (int k = 0; k < HF_LISTS; k++)
            take_list(h, from, to, h->family->layer[k]);
    }
    for (int32_t i = 0; i < h->n_mtp && convert_hf_good(h); i++)
        take_mtp(h, i);
    if (convert_hf_good(h)) {
        check_rows(h, "token_embd.weight", "vocab_size", h->n_vocab);
        if (h->n_kinds)
            check_rows(h, "token_types.weight", "type_vocab_size", h->n_kinds);
        check_left(h);
    }
}

#endif
