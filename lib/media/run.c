/* run.c - from an input to its rows: one graph after the other */
#include <string.h>

#include "core/mem.h"
#include "media/graph.h"
#include "sched/sched.h"

/* ---- a graph ------------------------------------------------------------- */

static bool
start_graph(struct media_graph *m, struct media_encoder *e)
{
    struct compute *c = &e->compute;

    m->e = e;
    m->n = m->nx * m->ny;
    m->g.model = e->model;
    m->g.n_tokens = m->n;
    m->g.ctx = ggml_init((struct ggml_init_params){
        .mem_size = c->pool_size, .mem_buffer = c->pool, .no_alloc = true });
    m->order = mem_array((size_t)m->n, sizeof(*m->order));
    if (!m->g.ctx || !m->order)
        return false;
    m->g.cgraph = ggml_new_graph_custom(m->g.ctx, c->max_nodes, false);
    media_order_squares(m, 1);
    return true;
}

static void
end_graph(struct media_graph *m)
{
    for (int32_t i = 0; i < m->n_inputs; i++)
        mem_free(m->inputs[i].data);
    mem_free(m->order);
    ggml_free(m->g.ctx);
}

static void
expand(struct media_graph *m, struct ggml_tensor *t)
{
    ggml_set_output(t);
    ggml_build_forward_expand(m->g.cgraph, t);
}

static enum gg_status
compute(struct media_graph *m, struct media_encoder *e, struct gg_error *err)
{
    ggml_backend_sched_t sched = e->compute.sched;

    ggml_backend_sched_reset(sched);
    if (m->failed || !ggml_backend_sched_alloc_graph(sched, m->g.cgraph))
        return error_nomem(err);
    for (int32_t i = 0; i < m->n_inputs; i++) {
        struct media_input *in = &m->inputs[i];

        if (in->tensor->buffer)
            ggml_backend_tensor_set(in->tensor, in->data, 0,
                                    ggml_nbytes(in->tensor));
    }
    return session_compute_status(
        sched, ggml_backend_sched_graph_compute(sched, m->g.cgraph), err);
}

/* ---- rows ---------------------------------------------------------------- */

static enum gg_status
check_rows(const struct media_graph *m, const struct ggml_tensor *rows,
           size_t n, struct gg_error *err)
{
    if ((size_t)rows->ne[1] == n && rows->ne[0] == m->e->hp.width &&
        m->n_deeper == m->e->hp.n_deeper)
        return GG_OK;
    return error_set(err, GG_ERR_FORMAT,
                     "%lld rows of %lld values come out of the encoder, and "
                     "not %zu of %d",
                     (long long)rows->ne[1], (long long)rows->ne[0], n,
                     (int)m->e->hp.width);
}

static enum gg_status
run(struct media_graph *m, struct media_encoder *e, size_t n_rows, float *out,
    size_t stride, struct gg_error *err)
{
    struct ggml_tensor *rows = e->type->graph(m);
    enum gg_status st = check_rows(m, rows, n_rows, err);

    if (st != GG_OK)
        return st;
    expand(m, rows);
    for (int32_t i = 0; i < m->n_deeper; i++)
        expand(m, m->deeper[i]);
    st = compute(m, e, err);
    if (st != GG_OK)
        return st;
    ggml_backend_tensor_get(rows, out, 0, ggml_nbytes(rows));
    for (int32_t i = 0; i < m->n_deeper; i++)
        ggml_backend_tensor_get(m->deeper[i], out + (size_t)(i + 1) * stride, 0,
                                ggml_nbytes(m->deeper[i]));
    return session_compute_status(e->compute.sched, GGML_STATUS_SUCCESS, err);
}

static struct media_graph
graph_of(const struct media_encoder *e, const struct gg_piece *piece,
         struct media_size kept, const uint8_t *rgb, const float *mel)
{
    int32_t patch = rgb ? e->hp.patch : 1;

    return (struct media_graph){ .rgb = rgb,
                                 .mel = mel,
                                 .kept = kept,
                                 .nx = (int32_t)piece->width / patch,
                                 .ny =
                                     rgb ? (int32_t)piece->height / patch : 1 };
}

enum gg_status
media_run(struct media_encoder *e, const struct gg_piece *piece,
          struct media_size kept, const uint8_t *rgb, const float *mel,
          float *out, size_t stride, struct gg_error *err)
{
    struct media_graph m = graph_of(e, piece, kept, rgb, mel);
    enum gg_status st = start_graph(&m, e)
                            ? run(&m, e, piece->n, out, stride, err)
                            : error_nomem(err);

    end_graph(&m);
    return st;
}

/* ---- memory -------------------------------------------------------------- */

/* Bytes of the graph's buffers and of its inputs. */
static enum gg_status
measure_graph(struct media_graph *m, struct media_encoder *e, uint64_t *bytes,
              struct gg_error *err)
{
    size_t sizes[MODEL_MAX_HOMES] = { 0 };

    expand(m, e->type->graph(m));
    for (int32_t i = 0; i < m->n_deeper; i++)
        expand(m, m->deeper[i]);
    if (m->failed || !sched_measure(e->compute.sched, m->g.cgraph, sizes))
        return error_nomem(err);
    *bytes = e->compute.pool_size;
    for (int i = 0; i < e->compute.n_backends; i++)
        *bytes += sizes[i];
    for (int32_t i = 0; i < m->n_inputs; i++)
        *bytes += ggml_nbytes(m->inputs[i].tensor);
    return GG_OK;
}

static enum gg_status
measure_piece(struct media_encoder *e, struct media_plan *p, size_t i,
              uint64_t *bytes, struct gg_error *err)
{
    const uint8_t *rgb;
    const float *mel;
    enum gg_status st = gg_media_plan_input(&p->plan, i, &rgb, &mel, err);
    struct media_graph m;

    if (st != GG_OK)
        return st;
    m = graph_of(e, &p->pieces[i], p->views[i].kept, rgb, mel);
    st = start_graph(&m, e) ? measure_graph(&m, e, bytes, err)
                            : error_nomem(err);
    end_graph(&m);
    return st;
}

/* Runs of rows are encoded one after the other. */
enum gg_status
gg_projector_memory(struct gg_projector *projector, struct gg_media_plan *plan,
                    struct gg_projector_memory *out, struct gg_error *err)
{
    struct media_plan *p = (struct media_plan *)plan;
    struct gg_projector_memory memory = { 0 };
    enum gg_status st = GG_OK;

    if (!projector || !out)
        return error_null(err);
    for (int64_t i = 0; i < gguf_get_n_tensors(projector->file.gguf); i++)
        memory.weights += gguf_get_tensor_size(projector->file.gguf, i);
    for (size_t i = 0; plan && i < plan->n_pieces && st == GG_OK; i++) {
        uint64_t bytes = 0;

        if (p->pieces[i].kind != GG_PIECE_ROWS)
            continue;
        st = measure_piece(projector->encoders[plan->kind], p, i, &bytes, err);
        memory.compute = bytes > memory.compute ? bytes : memory.compute;
    }
    if (plan)
        memory.rows = plan->n_rows * (uint64_t)p->encoder->hp.width *
                      (1 + (uint64_t)p->encoder->hp.n_deeper) * sizeof(float);
    if (st == GG_OK)
        *out = memory;
    return st;
}

/* ---- a medium ------------------------------------------------------------ */

struct rows {
    struct gg_media_rows rows; /* the first member */
    struct gg_piece *pieces;
    float *values; /* rows, and then those for deeper layers */
    int32_t *positions, *blocks;
};

void
gg_media_rows_free(struct gg_media_rows *rows)
{
    struct rows *r = (struct rows *)rows;

    if (!r)
        return;
    media_pieces_free(r->pieces, r->rows.n_pieces);
    mem_free(r->values);
    mem_free(r->positions);
    mem_free(r->blocks);
    mem_free(r);
}

static bool
has_blocks(const struct media_plan *p)
{
    for (size_t i = 0; i < p->plan.n_pieces; i++)
        if (p->pieces[i].block)
            return true;
    return false;
}

static bool
room_for_rows(struct rows *r, const struct media_plan *p)
{
    const struct media_hparams *hp = &p->encoder->hp;
    size_t n = p->plan.n_rows;

    r->values = mem_array(n * (size_t)hp->width,
                          (1 + (size_t)hp->n_deeper) * sizeof(*r->values));
    if (p->encoder->type->sections)
        r->positions = mem_array(n, 3 * sizeof(*r->positions));
    if (has_blocks(p))
        r->blocks = mem_array(n, sizeof(*r->blocks));
    r->pieces = media_pieces_copy(p->pieces, p->plan.n_pieces);
    r->rows.pieces = r->pieces;
    r->rows.n_pieces = r->pieces ? p->plan.n_pieces : 0;
    return r->values && r->pieces &&
           (r->positions || !p->encoder->type->sections) &&
           (r->blocks || !has_blocks(p));
}

/* Time, height, width of each row from where the run begins. */
static void
set_positions(const struct media_encoder *e, const struct gg_piece *piece,
              int32_t *to)
{
    int32_t side = e->hp.patch * e->hp.merge;
    int32_t nx = (int32_t)piece->width / side;

    for (int32_t i = 0; i < (int32_t)piece->n; i++) {
        to[3 * i] = 0;
        to[3 * i + 1] = i / nx;
        to[3 * i + 2] = i % nx;
    }
}

static void
describe(struct rows *r, const struct media_plan *p)
{
    const struct media_hparams *hp = &p->encoder->hp;
    size_t n = p->plan.n_rows;
    int32_t block = 0;

    r->rows.kind = p->plan.kind;
    r->rows.medium = (struct gg_medium){
        .n = n,
        .width = (size_t)hp->width,
        .rows = r->values,
        .deeper = hp->n_deeper ? r->values + n * (size_t)hp->width : NULL,
        .n_deeper = (size_t)hp->n_deeper,
        .positions = r->positions,
        .blocks = r->blocks
    };
    memcpy(r->rows.medium.hash, p->plan.hash, GG_MEDIUM_HASH);
    for (size_t i = 0; i < p->plan.n_pieces; i++) {
        const struct gg_piece *piece = &p->pieces[i];

        if (piece->kind != GG_PIECE_ROWS)
            continue;
        if (r->positions)
            set_positions(p->encoder, piece, r->positions + 3 * piece->first);
        for (size_t k = 0; k < piece->n && r->blocks; k++)
            r->blocks[piece->first + k] = piece->block ? block : -1;
        block++;
    }
}

static enum gg_status
encode_piece(struct gg_projector *projector, struct media_plan *p, size_t i,
             struct rows *r, struct gg_error *err)
{
    size_t width = (size_t)p->encoder->hp.width;
    const uint8_t *rgb;
    const float *mel;
    enum gg_status st = gg_media_plan_input(&p->plan, i, &rgb, &mel, err);

    return st == GG_OK ? media_run(projector->encoders[p->plan.kind],
                                   &p->pieces[i], p->views[i].kept, rgb, mel,
                                   r->values + p->pieces[i].first * width,
                                   p->plan.n_rows * width, err)
                       : st;
}

enum gg_status
gg_projector_encode(struct gg_projector *projector, struct gg_media_plan *plan,
                    struct gg_media_rows **out, struct gg_error *err)
{
    struct media_plan *p = (struct media_plan *)plan;
    struct rows *r = mem_zalloc(sizeof(*r));
    enum gg_status st = r && room_for_rows(r, p) ? GG_OK : error_nomem(err);

    for (size_t i = 0; i < plan->n_pieces && st == GG_OK; i++)
        if (p->pieces[i].kind == GG_PIECE_ROWS)
            st = encode_piece(projector, p, i, r, err);
    if (st == GG_OK) {
        describe(r, p);
        *out = &r->rows;
    } else {
        gg_media_rows_free(&r->rows);
    }
    return st;
}
