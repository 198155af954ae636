/* multiply_tiles.cu - rows of weights in blocks, times some columns, with
 * tensor cores
 *
 * As multiply.cu, for up to 32 columns: a block has 16 rows of weights or 32
 * (or 16 of two matrices), each of its warps a part of their steps. A lane
 * opens units of 32 values, as bytes, into shared memory, where a warp finds
 * them as fragments of matrices; products of bytes with the columns' are exact,
 * and each unit's are scaled and added to sums of floats. At last the warps'
 * sums are added, in order. */
#include "cuda/formats.h"
#include "cuda/formats_list.h"
#include "cuda/functions.h"
#include "cuda/product.h"
#include "cuda/quantize.h"

#define TILE    16 /* rows of a fragment */
#define COLUMNS 32
#define EIGHTS  (COLUMNS / 8)

/* A number of which a float's bits are an integer's with as little added as
 * is added to these: sums of bytes need no conversion. */
#define BASE_BITS  0x4b400000
#define BASE_FLOAT 12582912.0f

/* Of a step of a warp: units of a row, and their bytes; the room of a row in
 * the ring, with what lies before up to a multiple of 16, and of an opened
 * row: odd multiples of 16, so that eight rows lie in different banks. */
template <class T, int M> struct step {
    enum {
        units = T::units > 4 ? T::units : 4,
        bytes = T::size * (units / T::units),
        room = ((bytes + 15 + 15) / 16 | 1) * 16,
        width = units * UNIT + 16,
        rows = M * TILE,
        groups = UNIT / T::group,
        warps = M == 1 ? 8 : 4, /* of a block */
        biased = T::min != 0 || T::offset != 0,
        depth = M == 1 ? 3 : 2,          /* steps that are under way */
        figures = units * groups * rows, /* scales, and as many biases */
        ring = depth * rows * room,
        all = ring + rows * width + figures * 4 * (1 + biased)
    };
};

/* What a warp works with in shared memory. */
struct bench {
    char *ring, *opened;
    float *scales, *biases;
};

template <class T, int M>
DEVICE struct bench
lay_out(char *shared)
{
    struct bench b;

    b.ring = shared + warp_id() * step<T, M>::all;
    b.opened = b.ring + step<T, M>::ring;
    b.scales =
        (float *)(void *)(b.opened + step<T, M>::rows * step<T, M>::width);
    b.biases = b.scales + step<T, M>::figures;
    return b;
}

/* The block's rows. Offsets of 32 bits reach them, and all columns: see
 * is_near(). */
struct group {
    const char *rows, *rows2; /* the first, and of the other matrix */
    uint32_t stride;
    int last; /* stands for those behind it */
};

DEVICE struct group
find_group(const struct product *p, const struct work *t, int64_t first)
{
    int64_t left = t->n_rows - first - 1, at = first * p->w.nb[1];
    struct group g;

    g.rows = t->rows + at;
    g.rows2 = p->w2 ? t->rows2 + at : NULL;
    g.stride = (uint32_t)p->w.nb[1];
    g.last = left < 2 * TILE ? (int)left : 2 * TILE;
    return g;
}

/* Row r: TILE and on are those of the other matrix, if there is one. */
DEVICE const char *
row_of(const struct group *g, int r)
{
    const char *rows = g->rows;

    if (g->rows2 && r >= TILE) {
        rows = g->rows2;
        r -= TILE;
    }
    return rows + (uint32_t)(r < g->last ? r : g->last) * g->stride;
}

/* Starts the copies of step s, if there is such a one: some lanes a row. */
template <class T, int M>
DEVICE void
fetch(const struct product *p, const struct group *g, int s, char *to)
{
    const int pieces = step<T, M>::room / 16, each = 4;
    int at = s * step<T, M>::bytes;
    int left = (int)(p->k / T::values) * T::size - at;
    int n = left < step<T, M>::bytes ? left : (int)step<T, M>::bytes;

    if (n > 0)
        UNROLL for (int i = 0; i < step<T, M>::rows / (LANES / each); i++)
        {
            int r = i * (LANES / each) + (int)lane_id() / each;
            const char *from = row_of(g, r) + at;
            int before = (int)((uint32_t)(uintptr_t)from & 15);
            char *row = to + r * step<T, M>::room;

            UNROLL for (int j = 0; j < pieces; j += each)
            {
                int place = (j + (int)lane_id() % each) * 16;

                if (place < before + n)
                    copy_async(row + place, from - before + place);
            }
        }
    copy_commit();
}

/* Opens a step; units beyond a row's end become 0. Where a unit has one scale,
 * words 0, 2, 4 and 6 come first: a lane then meets neighbours of a column. */
template <class T, int M>
DEVICE void
open_step(const struct product *p, const struct group *g, int s,
          const char *from, const struct bench *b)
{
    const int units = step<T, M>::units, rows = step<T, M>::rows;
    const int groups = step<T, M>::groups;

    UNROLL for (int i = 0; i < rows * units / LANES; i++)
    {
        int unit = (int)lane_id() % units;
        int r = i * (LANES / units) + (int)lane_id() / units;
        int before =
            (int)((uint32_t)(uintptr_t)(row_of(g, r) + s * step<T, M>::bytes) &
                  15);
        char *to = b->opened + r * step<T, M>::width + unit * UNIT;
        struct unit u = {};
        uint32_t *w = u.codes;

        if ((s * units + unit) * UNIT < (int)p->k)
            T::open(from + r * step<T, M>::room + before +
                        unit / T::units * T::size,
                    unit % T::units, &u);
        uint4 even = { w[0], w[2], w[4], w[6] };
        uint4 odd = { w[1], w[3], w[5], w[7] };
        uint4 low = { w[0], w[1], w[2], w[3] };
        uint4 high = { w[4], w[5], w[6], w[7] };

        store_vector(to, groups == 1 ? even : low);
        store_vector(to + 16, groups == 1 ? odd : high);
        UNROLL for (int i = 0; i < groups; i++)
        {
            int at = (unit * groups + i) * rows + r;

            b->scales[at] = u.scale[i];
            if (step<T, M>::biased)
                b->biases[at] =
                    (T::min ? u.min[i] : 0) + u.scale[i] * (float)T::offset;
        }
    }
}

/* Where a lane finds columns: of each eight, its bytes of the one with its
 * number, `each` of them, and figures of two. */
struct columns {
    const char *all;
    uint32_t bytes[EIGHTS], figures[EIGHTS][2];
    int eights;
    int units; /* of a column */
};

DEVICE struct columns
find_columns(const struct product *p, const struct work *t, int each)
{
    int part = (int)lane_id() % 4 * each;
    int g = (int)lane_id() / 4, two = (int)lane_id() % 4 * 2;
    struct columns c;

    c.all = p->columns;
    c.eights = (t->n + 7) / 8;
    c.units = (int)(p->k / UNIT);
    UNROLL for (int j = 0; j < EIGHTS; j++)
    {
        int at = 8 * j + g, of = 8 * j + two, last = t->n - 1;
        int64_t column = t->first + (at < last ? at : last);

        c.bytes[j] = (uint32_t)(column * p->column_stride + part);
        UNROLL for (int i = 0; i < 2; i++)
        {
            column = t->first + (of + i < last ? of + i : last);
            c.figures[j][i] = (uint32_t)(column * p->column_stride + p->k);
        }
        hold(&c.bytes[j]);
        hold(&c.figures[j][0]);
        hold(&c.figures[j][1]);
    }
    return c;
}

/* What the lane meets of a unit of eight columns. */
struct met {
    uint32_t bytes[2];
    struct figures f[2]; /* `sums` where weights have a bias */
};

template <class T>
DEVICE struct met
load_met(const struct columns *c, int j, int n)
{
    const char *at = c->all + (c->bytes[j] + (uint32_t)n * UNIT);
    struct met m;

    if (T::group == UNIT) {
        uint2 two = load_vector<uint2>(at);

        m.bytes[0] = two.x, m.bytes[1] = two.y;
    } else {
        m.bytes[0] = load_vector<uint32_t>(at);
        m.bytes[1] = load_vector<uint32_t>(at + 16);
    }
    UNROLL for (int i = 0; i < 2; i++)
    {
        uint32_t behind = (uint32_t)n * (uint32_t)sizeof(struct figures);
        const void *figures = c->all + (c->figures[j][i] + behind);
        const struct figures *f = (const struct figures *)figures;

        m.f[i].d = f->d;
        if (T::min != 0 || T::offset != 0)
            m.f[i].sums[0] = f->sums[0], m.f[i].sums[1] = f->sums[1];
    }
    return m;
}

/* The same of all columns, if there is a unit n: on their way from the second
 * cache while others are met. */
template <class T>
DEVICE void
load_unit(const struct columns *c, int n, struct met *met)
{
    if (n < c->units)
        UNROLL for (int j = 0; j < EIGHTS; j++) if (j < c->eights) met[j] =
            load_met<T>(c, j, n);
}

/* Adds 16 rows' products with eight columns: `scale` and `bias` are of rows
 * lane / 4 and 8 further on, of each group. */
template <class T>
DEVICE void
add_products(const uint32_t *a, const struct met *m, const float (*scale)[2],
             const float (*bias)[2], float *sum)
{
    const int groups = UNIT / T::group;

    UNROLL for (int g = 0; g < groups; g++)
    {
        int dot[4] = { BASE_BITS, BASE_BITS, BASE_BITS, BASE_BITS };

        if (groups == 1)
            multiply_16x8x32(dot, a, m->bytes);
        else
            multiply_bytes_16x8x16(dot, a + 2 * g, m->bytes[g]);
        UNROLL for (int i = 0; i < 4; i++)
        {
            const struct figures *f = &m->f[i % 2];
            float v = float_of((uint32_t)dot[i]) - BASE_FLOAT;

            sum[i] = fmaf(v, scale[g][i / 2] * f->d, sum[i]);
            if (T::min != 0 || T::offset != 0) {
                int total = groups == 2 ? f->sums[g] : f->sums[0] + f->sums[1];

                sum[i] = fmaf(-bias[g][i / 2], f->d * (float)total, sum[i]);
            }
        }
    }
}

/* A unit of the opened rows, the warp's own: fragments, scales and biases. */
template <class T, int M> struct fragment {
    uint32_t a[M][4];
    float scale[M][UNIT / T::group][2], bias[M][UNIT / T::group][2];
};

template <class T, int M>
DEVICE void
load_fragment(const struct bench *b, int unit, struct fragment<T, M> *f)
{
    const int groups = step<T, M>::groups;
    int lane = (int)lane_id();

    UNROLL for (int m = 0; m < M; m++)
    {
        load_matrices(f->a[m],
                      b->opened + (m * TILE + lane % TILE) * step<T, M>::width +
                          unit * UNIT + lane / TILE * 16);
        UNROLL for (int i = 0; i < 2 * groups; i++)
        {
            int at = (unit * groups + i / 2) * step<T, M>::rows + m * TILE +
                     i % 2 * 8 + lane / 4;

            f->scale[m][i / 2][i % 2] = b->scales[at];
            f->bias[m][i / 2][i % 2] = step<T, M>::biased ? b->biases[at] : 0;
        }
    }
}

/* Opened step s times all columns; `met` is its first unit's, and then the
 * warp's next step's. */
template <class T, int M>
DEVICE void
multiply_step(const struct columns *c, int s, const struct bench *b,
              struct met *met, float (*sum)[EIGHTS][4])
{
    const int units = step<T, M>::units;
    int first = s * units;

    for (int unit = 0; unit < units && first + unit < c->units; unit++) {
        int follows = unit + 1 < units ? first + unit + 1
                                       : first + step<T, M>::warps * units;
        struct fragment<T, M> f;
        struct met next[EIGHTS];

        load_unit<T>(c, follows, next);
        load_fragment<T, M>(b, unit, &f);
        UNROLL for (int j = 0; j < EIGHTS; j++)
        {
            if (j < c->eights)
                UNROLL for (int m = 0; m < M; m++) add_products<T>(
                    f.a[m], &met[j], f.scale[m], f.bias[m], sum[m][j]);
            met[j] = next[j];
        }
    }
}

/* All steps of a warp. The launch before has ended only behind take_turn(). */
template <class T, int M>
DEVICE void
multiply_steps(const struct product *p, const struct work *t, int64_t first,
               bool wait, const struct bench *b, float (*sum)[EIGHTS][4])
{
    const int size = step<T, M>::rows * step<T, M>::room;
    const int depth = step<T, M>::depth, warps = step<T, M>::warps;
    struct columns c = find_columns(p, t, T::group == UNIT ? 8 : 4);
    struct group g = find_group(p, t, first);
    int n = (c.units + step<T, M>::units - 1) / step<T, M>::units;
    int now = 0, next = depth - 1;
    struct met met[EIGHTS];

    UNROLL for (int i = 0; i < depth - 1; i++)
        fetch<T, M>(p, &g, (int)warp_id() + i * warps, b->ring + i * size);
    if (wait)
        take_turn();
    load_unit<T>(&c, (int)warp_id() * step<T, M>::units, met);
    for (int s = (int)warp_id(); s < n; s += warps) {
        copy_wait<depth - 2>();
        warp_barrier(); /* all have what all fetched, and are done with it */
        fetch<T, M>(p, &g, s + (depth - 1) * warps, b->ring + next * size);
        open_step<T, M>(p, &g, s, b->ring + now * size, b);
        warp_barrier();
        multiply_step<T, M>(&c, s, b, met, sum);
        now = now + 1 < depth ? now + 1 : 0;
        next = next + 1 < depth ? next + 1 : 0;
    }
    copy_wait<0>();
}

#define SUM_STRIDE(M) ((M)*TILE + 4) /* keeps columns in different banks */
#define SUMS(M)       (COLUMNS * SUM_STRIDE(M))

/* Puts a warp's sums where all find them. */
template <int M>
DEVICE void
leave_sums(const float (*sum)[EIGHTS][4], float *room)
{
    int g = (int)lane_id() / 4, two = (int)lane_id() % 4 * 2;

    UNROLL for (int j = 0; j < EIGHTS; j++)
    {
        UNROLL for (int i = 0; i < 4 * M; i++)
        {
            int column = 8 * j + two + i % 2, r = i / 2 * 8 + g;

            room[column * SUM_STRIDE(M) + r] = sum[i / 4][j][i % 4];
        }
    }
}

template <int M>
DEVICE float
add_warps(const float *sums, int warps, int column, int r)
{
    float v = 0;

    for (int w = 0; w < warps; w++)
        v += sums[w * SUMS(M) + column * SUM_STRIDE(M) + r];
    return v;
}

template <int M>
DEVICE void
store_tile(const struct product *p, const struct work *t, int64_t first,
           const float *sums)
{
    int rows = p->w2 ? TILE : M * TILE, warps = (int)block_size() / LANES;

    for (int i = (int)thread_id(); i < rows * t->n; i += (int)block_size()) {
        int r = i % rows, column = i / rows;
        float v;

        if (first + r >= t->n_rows)
            continue;
        v = add_warps<M>(sums, warps, column, r);
        if (M > 1 && p->w2)
            v = apply_glu(p->end.glu, v,
                          add_warps<M>(sums, warps, column, TILE + r),
                          p->end.alpha, p->end.limit);
        store_result(t, t->first + column, first + r, v);
    }
}

template <class T, int M>
KERNEL BOUNDS((step<T, M>::warps * LANES), M == 1 ? 2 : 3)
    multiply_tiles(struct product p, int64_t tiles, int64_t n_items)
{
    SHARED_BYTES(shared);
    struct bench b = lay_out<T, M>(shared);
    float *sums = (float *)(void *)shared;

    if (!p.early)
        take_turn();
    for (int64_t item = block_id(); item < n_items; item += grid_size()) {
        int64_t row, tile, each = p.w2 ? TILE : M * TILE;
        float sum[M][EIGHTS][4] = {};
        struct work t;

        row = divide(item, tiles, &tile) * each;
        t = find_tile(&p, tile, COLUMNS);
        choose_sibling(&p, each, &t, &row);
        multiply_steps<T, M>(&p, &t, row, p.early && item == block_id(), &b,
                             sum);
        barrier(); /* all are done with what lies where sums come */
        leave_sums<M>(sum, sums + warp_id() * SUMS(M));
        barrier();
        store_tile<M>(&p, &t, row, sums);
        barrier();
    }
}

/* False: a block cannot have so much memory. */
template <class T, int M>
static bool
start(struct cuda_ctx *c, const struct product *p)
{
    int64_t tiles = p->x2 * p->x3 * cuda_pieces(p->n, COLUMNS);
    int64_t n = groups_of(p, p->w2 ? TILE : M * TILE) * tiles;
    const int warps = step<T, M>::warps;
    struct cuda_shape shape = shape_of(n, warps * LANES);
    size_t sums = warps * SUMS(M) * sizeof(float);

    shape.shared = (size_t)warps * step<T, M>::all;
    if (shape.shared < sums)
        shape.shared = sums;
    if (shape.shared > c->max_shared)
        return false;
    ALLOW_SHARED((multiply_tiles<T, M>), shape.shared);
    PREFER_SHARED((multiply_tiles<T, M>));
    LAUNCH((multiply_tiles<T, M>), shape, c, *p, tiles, n);
    return true;
}

/* More rows a block read columns less often, fewer keep a device busy. */
template <class T>
static bool
launch(struct cuda_ctx *c, const struct product *p)
{
    return p->w2 || groups_of(p, 2 * TILE) >= 2 * (int64_t)c->n_sm
               ? start<T, 2>(c, p)
               : start<T, 1>(c, p);
}

/* Whether offsets of 32 bits reach all. */
static bool
is_near(const struct product *p)
{
    return p->w.nb[1] < INT32_MAX / (2 * TILE) &&
           p->column_stride < INT32_MAX / (p->n * p->x2 * p->x3);
}

bool
cuda_multiply_tiles(struct cuda_ctx *c, const struct product *p)
{
    if (p->by_id || p->n <= MOST_COLUMNS || !is_near(p))
        return false;
    switch (p->w.type) {
#define LAUNCH_TYPE(name, which)                                               \
    case which:                                                                \
        return launch<open_##name>(c, p);
        CUDA_FORMATS(LAUNCH_TYPE)
#undef LAUNCH_TYPE
    default:
        return false;
    }
}
