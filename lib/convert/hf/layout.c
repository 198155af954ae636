/* layout.c - which rows of a folder's tensors make up one of ours */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/layout_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum hf_layout
convert_hf_layout_of(const struct hf_conversion *g)
{
    return (enum hf_layout)(g->how & HF_LAYOUT);
}

void
convert_hf_bad_tensor(struct hf *h, const struct hf_conversion *g,
                      const char *what)
{
    core_json_bad(&h->here, GG_ERR_FORMAT, "%s: %s", g->first->name, what);
}

void
convert_hf_lay_out_column(struct hf_conversion *g)
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
lay_out_tensor(struct hf *h, struct hf_conversion *g)
{
    const struct safetensors_tensor *t = g->first;
    struct hf_rows *r = &g->rows;
    int n = t->n_dims;

    if (n > 3 && g->how & HF_DECAYS) {
        convert_hf_lay_out_column(g);
        return;
    }
    if (n < 1 || n > 3 || t->n == 0) {
        convert_hf_bad_tensor(h, g, "has a shape that fits nothing");
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
lay_out_mxfp4(struct hf *h, struct hf_conversion *g)
{
    if (g->first->packed && g->first->n_dims == 3)
        lay_out_tensor(h, g);
    else
        convert_hf_bad_tensor(h, g,
                              "is not quantised as the configuration says");
}

/* Every second row of these, from the first or the second on. */
static void
take_alternate_rows(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (r->n_rows % 2)
        convert_hf_bad_tensor(h, g, "has an odd number of rows");
    r->n_rows /= 2;
    r->first = convert_hf_layout_half(g->how) == HF_ODD ? r->row : 0;
    r->row *= 2;
    g->ne[1] = r->n_rows;
}

/* ---- rows and columns ---------------------------------------------------- */

void
convert_hf_transpose_rows(struct hf_conversion *g)
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

static void
turn(struct hf *h, struct hf_conversion *g)
{
    (void)h;
    if (g->first->n_dims > 1)
        convert_hf_transpose_rows(g);
}

static void
turn_either(struct hf *h, struct hf_conversion *g)
{
    if (g->rows.n_rows != h->n_embd)
        convert_hf_transpose_rows(g);
}

/* ---- gates and ups ------------------------------------------------------- */

/* Gates and ups by halves of each block. */
static void
take_half(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (r->n_rows % 2) {
        convert_hf_bad_tensor(h, g, "has an odd number of rows");
        return;
    }
    r->n_rows /= 2;
    g->ne[1] = r->n_rows;
    if (convert_hf_layout_half(g->how) == HF_UPS)
        r->first = (size_t)r->n_rows * r->row;
}

static void
take_half_columns(struct hf *h, struct hf_conversion *g)
{
    turn(h, g);
    take_half(h, g);
}

static void
take_half_either(struct hf *h, struct hf_conversion *g)
{
    if (g->rows.length != h->n_embd)
        convert_hf_transpose_rows(g);
    take_half(h, g);
}

/* Gates and ups alternate, in the columns of a matrix or the values of a row.
 */
static void
take_alternate(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;
    bool matrix = g->first->n_dims > 2;

    if (r->length % 2) {
        convert_hf_bad_tensor(h, g, "has an odd number of columns");
        return;
    }
    r->first = convert_hf_layout_half(g->how) == HF_ODD ? 1 : 0;
    if (matrix)
        convert_hf_transpose_rows(g);
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

/* ---- heads --------------------------------------------------------------- */

/* A vector whose values change places is a column. */
void
convert_hf_make_column(struct hf_conversion *g)
{
    if (g->first->n_dims == 1) {
        g->rows.n_rows = g->rows.length;
        g->rows.length = 1;
        g->rows.row = 1;
    }
}

/* Rows of each head in pairs; of a layer with as many as its rows make. */
static void
pair_rows(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;
    int64_t heads =
        convert_hf_layout_of(g) == HF_HEADS_K ? h->n_head_kv : h->n_head;

    convert_hf_make_column(g);
    if (h->heads_by_layer)
        heads = r->n_rows < h->d_head ? 1 : r->n_rows / h->d_head;
    r->order = HF_PAIRS;
    r->n_head = (int32_t)heads;
    if (r->n_rows % heads || r->n_rows / heads % 2)
        convert_hf_bad_tensor(h, g, "its rows are not those of the heads");
}

static void
order_parts(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;
    int64_t heads = h->n_head + 2 * (int64_t)h->n_head_kv;

    convert_hf_make_column(g);
    r->order = HF_PARTS;
    r->n_head = h->n_head;
    r->n_head_kv = h->n_head_kv;
    if (h->n_head % h->n_head_kv || r->n_rows % heads)
        convert_hf_bad_tensor(h, g, "its rows are not those of the heads");
}

/* Rows of queries, keys or values, of each group or of the whole. */
static void
take_part(struct hf *h, struct hf_conversion *g)
{
    enum hf_layout is = convert_hf_layout_of(g);
    bool values = is == HF_ONLY_V || is == HF_GROUP_V;
    bool queries = is == HF_ONLY_Q || is == HF_GROUP_Q;
    bool whole = is == HF_ONLY_Q || is == HF_ONLY_K || is == HF_ONLY_V;
    struct hf_rows *r = &g->rows;
    int64_t groups = whole ? 1 : h->n_head_kv, d;
    int64_t q = h->n_head / groups, k = h->n_head_kv / groups;

    convert_hf_make_column(g);
    d = r->n_rows / (groups * (q + 2 * k));
    if (g->first->n_dims > 2 || h->n_head % groups || d < 2 || d % 2 ||
        r->n_blocks != 1 || r->n_rows != d * groups * (q + 2 * k)) {
        convert_hf_bad_tensor(h, g, "its rows are not those of the heads");
        return;
    }
    r->block = (size_t)(r->n_rows / groups) * r->row;
    r->first = (size_t)(queries ? 0 : values ? q + k : q) * (size_t)d * r->row;
    r->n_blocks = groups;
    r->n_head = (int32_t)(queries ? q : k);
    r->n_rows = r->n_head * d;
    r->order = values ? HF_AS_IS : HF_PAIRS;
    g->ne[g->first->n_dims - 1] = groups * r->n_rows;
}

/* ---- tables, experts ----------------------------------------------------- */

static void
fill_vocabulary(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (r->n_rows >= h->n_vocab)
        return;
    r->order = HF_FILLED;
    r->n_head = (int32_t)r->n_rows;
    r->n_rows = g->ne[1] = h->n_vocab;
}

/* RoBERTa counts positions from after those of padding. */
static void
drop_padding(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (r->n_rows <= h->n_pad) {
        convert_hf_bad_tensor(h, g, "has no rows but those of what pads");
        return;
    }
    r->first = (size_t)h->n_pad * r->row;
    r->n_rows -= h->n_pad;
    g->ne[1] = r->n_rows;
}

static void
unstack(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;

    if (h->n_expert < 1 || r->n_blocks != 1 || r->n_rows % h->n_expert) {
        convert_hf_bad_tensor(h, g, "its rows are not those of the experts");
        return;
    }
    r->n_blocks = h->n_expert;
    r->n_rows /= h->n_expert;
    r->block = (size_t)r->n_rows * r->row;
    g->ne[1] = r->n_rows;
    g->ne[2] = r->n_blocks;
}

static void
unstack_columns(struct hf *h, struct hf_conversion *g)
{
    unstack(h, g);
    if (convert_hf_good(h))
        turn(h, g);
}

/* ---- parts of a table, indexers ------------------------------------------ */

/* The last one may have fewer rows. */
static void
join_shards(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;
    const struct safetensors_tensor *last = r->from[r->n_from - 1];

    if (g->first->n_dims != 2) {
        convert_hf_bad_tensor(h, g, "is no matrix");
        return;
    }
    r->lacks = r->n_rows - last->shape[0];
    g->ne[1] = r->n_rows * r->n_blocks - r->lacks;
    g->ne[2] = 1;
}

static void
take_index(struct hf *h, struct hf_conversion *g)
{
    int64_t queries = (int64_t)h->index.n_head * h->index.d;
    struct hf_rows *r = &g->rows;
    bool key = convert_hf_layout_of(g) == HF_INDEX_K;

    if (g->first->n_dims != 2 || queries < 1 ||
        r->n_rows != queries + h->index.d) {
        convert_hf_bad_tensor(h, g,
                              "its rows are not those of the heads and a key");
        return;
    }
    r->first = key ? (size_t)queries * r->row : 0;
    r->n_rows = g->ne[1] = key ? h->index.d : queries;
}

/* ---- matrices with adapters ---------------------------------------------- */

/* Queries and keys, which stand before values. */
static void
pair_fused(struct hf *h, struct hf_conversion *g)
{
    struct hf_rows *r = &g->rows;
    int64_t heads = h->n_head + 2 * (int64_t)h->n_head_kv;

    r->order = HF_PAIRS;
    r->n_head = (int32_t)heads;
    r->kept = r->n_rows / heads * (heads - h->n_head_kv);
    if (r->n_rows % heads || r->n_rows / heads % 2)
        convert_hf_bad_tensor(h, g, "its rows are not those of the heads");
}

/* n x 1 x rows x columns. */
static void
lay_out_adapters(struct hf *h, struct hf_conversion *g)
{
    const struct safetensors_tensor *t = g->first;
    struct hf_rows *r = &g->rows;
    enum hf_layout is = convert_hf_layout_of(g);
    int64_t heads = is == HF_ADAPTERS_Q   ? h->n_head
                    : is == HF_ADAPTERS_K ? h->n_head_kv
                                          : 0;

    if (t->n_dims != 4 || t->shape[1] != 1 || t->n == 0 ||
        (heads && (t->shape[2] % heads || t->shape[2] / heads % 2))) {
        convert_hf_bad_tensor(h, g, "has a shape that fits nothing");
        return;
    }
    r->blank = r->step = 1;
    r->length = g->ne[0] = t->shape[3];
    r->n_rows = g->ne[1] = t->shape[2];
    r->n_blocks = g->ne[2] = t->shape[0] + 1;
    r->row = (size_t)r->length;
    r->block = r->row * (size_t)r->n_rows;
    r->order = heads ? HF_PAIRS : HF_AS_IS;
    r->n_head = (int32_t)heads;
    g->ne[3] = 1;
}

/* ---- all of it ----------------------------------------------------------- */

static const struct layout {
    void (*change)(struct hf *h, struct hf_conversion *g);
    enum hf_side side;
    enum hf_layout half; /* HF_GATES, HF_UPS, HF_EVEN, HF_ODD; or all rows */
    bool mxfp4;
    bool filters; /* of more dimensions; filters.c has them */
    bool adapters;
} layouts[HF_LAYOUTS] = {
    [HF_AS_FOUND] = { .side = HF_OF_NEITHER },
    [HF_TRANSPOSE] = { .change = turn, .side = HF_OF_NEITHER },
    [HF_EITHER] = { .change = turn_either },
    [HF_HEADS_Q] = { .change = pair_rows, .side = HF_OF_ROWS },
    [HF_HEADS_K] = { .change = pair_rows, .side = HF_OF_ROWS },
    [HF_QKV] = { .change = order_parts, .side = HF_OF_ROWS },
    [HF_ONLY_Q] = { .change = take_part, .side = HF_OF_ROWS },
    [HF_ONLY_K] = { .change = take_part, .side = HF_OF_ROWS },
    [HF_ONLY_V] = { .change = take_part, .side = HF_OF_ROWS },
    [HF_GROUP_Q] = { .change = take_part, .side = HF_OF_ROWS },
    [HF_GROUP_K] = { .change = take_part, .side = HF_OF_ROWS },
    [HF_GROUP_V] = { .change = take_part, .side = HF_OF_ROWS },
    [HF_LATENT_K] = { .change = convert_hf_take_latent },
    [HF_LATENT_V] = { .change = convert_hf_take_latent },
    [HF_GATES] = { .change = take_half, .half = HF_GATES },
    [HF_UPS] = { .change = take_half, .half = HF_UPS },
    [HF_GATE_COLUMNS] = { .change = take_half_columns, .half = HF_GATES },
    [HF_UP_COLUMNS] = { .change = take_half_columns, .half = HF_UPS },
    [HF_GATES_EITHER] = { .change = take_half_either, .half = HF_GATES },
    [HF_UPS_EITHER] = { .change = take_half_either, .half = HF_UPS },
    [HF_EVEN] = { .change = take_alternate, .half = HF_EVEN },
    [HF_ODD] = { .change = take_alternate, .half = HF_ODD },
    [HF_STACKED] = { .change = unstack },
    [HF_STACKED_COLUMNS] = { .change = unstack_columns },
    [HF_MXFP4] = { .mxfp4 = true },
    [HF_MXFP4_EVEN] = { .change = take_alternate_rows,
                        .half = HF_EVEN,
                        .mxfp4 = true },
    [HF_MXFP4_ODD] = { .change = take_alternate_rows,
                       .half = HF_ODD,
                       .mxfp4 = true },
    [HF_VOCAB] = { .change = fill_vocabulary },
    [HF_POSITIONS] = { .change = drop_padding },
    [HF_SHARDS] = { .change = join_shards },
    [HF_INDEX_Q] = { .change = take_index },
    [HF_INDEX_K] = { .change = take_index },
    [HF_GROUPED] = { .change = convert_hf_part_groups, .side = HF_OF_ROWS },
    [HF_SQUEEZE] = { .change = convert_hf_squeeze },
    [HF_TILED_ROWS] = { .change = convert_hf_tile_rows, .side = HF_OF_ROWS },
    [HF_SQUEEZE_TILED] = { .change = convert_hf_squeeze_tiled },
    [HF_TILED_COLUMNS] = { .change = convert_hf_tile_columns,
                           .side = HF_OF_COLUMNS },
    [HF_DELTA_QKV] = { .change = convert_hf_take_delta, .side = HF_OF_ROWS },
    [HF_DELTA_GATES] = { .change = convert_hf_take_delta, .side = HF_OF_ROWS },
    [HF_PAIRED_QKV] = { .change = pair_fused, .side = HF_OF_ROWS },
    [HF_ADAPTERS] = { .adapters = true },
    [HF_ADAPTERS_Q] = { .adapters = true },
    [HF_ADAPTERS_K] = { .adapters = true },
    [HF_MIXES] = { .change = convert_hf_take_mixes },
    [HF_FILTERS] = { .filters = true },
    [HF_FRAME_1] = { .filters = true },
    [HF_FRAME_2] = { .filters = true },
    [HF_PIXELS] = { .filters = true },
    [HF_THIRD_1] = { .filters = true },
    [HF_THIRD_2] = { .filters = true },
    [HF_THIRD_3] = { .filters = true },
};

static const struct layout *
find_layout(unsigned how)
{
    assert((how & HF_LAYOUT) < HF_LAYOUTS);
    return &layouts[how & HF_LAYOUT];
}

enum hf_side
convert_hf_layout_side(unsigned how)
{
    return find_layout(how)->side;
}

enum hf_layout
convert_hf_layout_half(unsigned how)
{
    return find_layout(how)->half;
}

bool
convert_hf_is_mxfp4(unsigned how)
{
    return find_layout(how)->mxfp4;
}

void
convert_hf_lay_out(struct hf *h, struct hf_conversion *g)
{
    const struct layout *layout = find_layout(g->how);

    if (layout->filters)
        convert_hf_lay_out_filters(h, g);
    else if (layout->mxfp4)
        lay_out_mxfp4(h, g);
    else if (layout->adapters)
        lay_out_adapters(h, g);
    else
        lay_out_tensor(h, g);
    if (convert_hf_good(h) && layout->change)
        layout->change(h, g);
    g->rows.decays = g->how & HF_DECAYS;
    g->rows.softplus = g->how & HF_SOFTPLUS;
    if (g->first->n_dims == 2 && g->how & HF_EXACT &&
        strstr(g->name, ".bias")) {
        g->ne[1] = g->rows.n_rows; /* a row an expert */
        g->ne[2] = 1;
    }
}

#endif
