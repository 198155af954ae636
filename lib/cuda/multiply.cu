/* multiply.cu - rows of weights in blocks, times a few columns
 *
 * Decoding is bound by memory: the weights are read once, in pieces of 16
 * bytes whatever the layout of blocks, into a ring in shared memory that is
 * the warp's own, and opened from there. A warp has pairs of rows, one after
 * another (or of one row of two matrices), and a lane a unit of 32 values of
 * both in every step: it opens both, then meets all columns. */
#include "cuda/formats.h"
#include "cuda/formats_list.h"
#include "cuda/functions.h"
#include "cuda/product.h"
#include "cuda/quantize.h"

#define WARPS PRODUCT_WARPS
#define ROWS  2 /* of a warp */
#define RING  3 /* steps that are under way */

/* Bytes of a row in a step of a warp; and of a place in the ring, which also
 * has what lies before the first byte up to a multiple of 16. */
template <class T> struct step {
    enum {
        bytes = T::size * (LANES / T::units),
        room = (bytes + 15 + 15) / 16 * 16
    };
};

/* Where a warp reads: a step of a pair of rows. */
struct place {
    const char *rows[ROWS];
    int64_t row;
    int step, pairs; /* of its pairs that are left, this one too */
};

/* Steps of a row. */
DEVICE int
steps_of(const struct product *p)
{
    return (int)((p->k + LANES * UNIT - 1) / (LANES * UNIT));
}

DEVICE void
find_pair(const struct product *p, const struct work *t, struct place *at)
{
    at->rows[0] = t->rows + at->row * p->w.nb[1];
    at->rows[1] = second_row(p, t, at->row);
}

/* Goes on by a step; true: to another pair, or the end. */
DEVICE bool
go_on(const struct product *p, const struct work *t, struct place *at)
{
    if (++at->step < steps_of(p))
        return false;
    at->step = 0;
    at->row += rows_of_pair(p);
    if (--at->pairs > 0)
        find_pair(p, t, at);
    return true;
}

/* Starts to copy a step, if any is left, to a place of the ring. */
template <class T>
DEVICE void
fetch(const struct product *p, const struct work *t, struct place *at, char *to)
{
    if (at->pairs > 0) {
        const int bytes = step<T>::bytes;
        int64_t first = (int64_t)at->step * bytes;
        int64_t left = p->k / T::values * T::size - first;
        int n = left < bytes ? (int)left : bytes;

        UNROLL for (int r = 0; r < ROWS; r++)
        {
            const char *from = at->rows[r] + first;
            int before = (int)((uintptr_t)from & 15);

            for (int i = (int)lane_id() * 16; i < before + n; i += LANES * 16)
                copy_async(to + r * step<T>::room + i, from - before + i);
        }
        go_on(p, t, at);
    }
    copy_commit();
}

/* Adds a unit's part: `q` are 32 values of a column. */
template <class T>
DEVICE float
add_unit(float sum, const struct unit *u, const uint32_t *q,
         const struct figures *f)
{
    const int groups = T::group == 16 ? 2 : 1;

    UNROLL for (int g = 0; g < groups; g++)
    {
        int dot = 0, total = groups == 2 ? f->sums[g] : f->sums[0] + f->sums[1];

        UNROLL for (int i = g * 4; i < (groups == 2 ? g * 4 + 4 : 8); i++) dot =
            dp4a(u->codes[i], q[i], dot);
        if (T::offset != 0)
            dot -= T::offset * total;
        sum = fmaf((float)dot, u->scale[g] * f->d, sum);
        if (T::min != 0)
            sum = fmaf(-u->min[g], f->d * (float)total, sum);
    }
    return sum;
}

/* Unit n of a column. */
DEVICE void
load_column(const struct product *p, int64_t column, int64_t n, uint32_t *q,
            struct figures *f)
{
    const char *at = p->columns + column * p->column_stride;
    uint4 a = load_vector<uint4>(at + n * UNIT);
    uint4 b = load_vector<uint4>(at + n * UNIT + 16);

    q[0] = a.x, q[1] = a.y, q[2] = a.z, q[3] = a.w;
    q[4] = b.x, q[5] = b.y, q[6] = b.z, q[7] = b.w;
    *f = ((const struct figures *)(const void *)(at + p->k))[n];
}

/* The lane's unit of a step, of both rows, times all columns. */
template <class T, int COLUMNS>
DEVICE void
multiply_step(const struct product *p, const struct work *t,
              const struct place *at, const char *shared, float (*sum)[COLUMNS])
{
    int64_t n = at->step * LANES + lane_id();
    int block = (int)lane_id() / T::units, part = (int)lane_id() % T::units;
    struct unit u[ROWS];

    if (n * UNIT >= p->k)
        return;
    UNROLL for (int r = 0; r < ROWS; r++)
    {
        const char *from = at->rows[r] + (int64_t)at->step * step<T>::bytes;
        int before = (int)((uintptr_t)from & 15);

        T::open(shared + r * step<T>::room + before + block * T::size, part,
                &u[r]);
    }
    UNROLL for (int c = 0; c < COLUMNS; c++)
    {
        uint32_t q[UNIT / 4];
        struct figures f;

        if (c >= t->n)
            break;
        load_column(p, column_of(p, t, c), n, q, &f);
        UNROLL for (int r = 0; r < ROWS; r++) sum[r][c] =
            add_unit<T>(sum[r][c], &u[r], q, &f);
    }
}

/* The first steps. */
template <class T>
DEVICE void
begin(const struct product *p, const struct work *t, struct place *ahead,
      char *ring)
{
    UNROLL for (int s = 0; s < RING - 1; s++)
        fetch<T>(p, t, ahead, ring + s * ROWS * step<T>::room);
}

/* All steps of all pairs from `at` on, the first of which were begun; what is
 * fetched, `ahead`, is the next pair's while the end of one is met. */
template <class T, int COLUMNS>
DEVICE void
multiply_pairs(const struct product *p, const struct work *t, struct place at,
               struct place *ahead, char *ring, float *room)
{
    const int size = ROWS * step<T>::room;
    float sum[ROWS][COLUMNS] = {};
    int now = 0, next = RING - 1;

    while (at.pairs > 0) {
        int64_t row = at.row;

        copy_wait<RING - 2>();
        warp_barrier(); /* all have what all fetched, and are done with it */
        fetch<T>(p, t, ahead, ring + next * size);
        multiply_step<T, COLUMNS>(p, t, &at, ring + now * size, sum);
        now = now + 1 < RING ? now + 1 : 0;
        next = next + 1 < RING ? next + 1 : 0;
        if (go_on(p, t, &at)) {
            store_sums<COLUMNS>(p, t, row, sum, room);
            UNROLL for (int c = 0; c < COLUMNS; c++) sum[0][c] = sum[1][c] = 0;
        }
    }
    copy_wait<0>();
    warp_barrier();
}

/* A block's group of rows, and the tile of columns it meets. */
template <class T, int COLUMNS>
KERNEL
BOUNDS(WARPS *LANES, COLUMNS == 1 ? 6 : 4)
    multiply_blocks(struct product p, int64_t tiles, int64_t n_items)
{
    SHARED(char, shared, WARPS *RING *ROWS *step<T>::room);
    SHARED(float, sums, WARPS *ROWS *COLUMNS);
    char *ring = shared + warp_id() * (RING * ROWS * step<T>::room);

    if (!p.early)
        take_turn();
    for (int64_t item = block_id(); item < n_items; item += grid_size()) {
        struct place at = {}, ahead;
        struct work t = find_work(&p, item, tiles, COLUMNS, &at.row);

        at.pairs = t.n > 0 ? pairs_of(&p, &t, at.row) : 0;
        if (at.pairs > 0)
            find_pair(&p, &t, &at);
        ahead = at;
        begin<T>(&p, &t, &ahead, ring);
        if (p.early && item == block_id())
            take_turn();
        multiply_pairs<T, COLUMNS>(&p, &t, at, &ahead, ring,
                                   sums + warp_id() * (ROWS * COLUMNS));
    }
}

template <class T, int COLUMNS>
static void
start(struct cuda_ctx *c, const struct product *p, int64_t n)
{
    PREFER_SHARED((multiply_blocks<T, COLUMNS>));
    LAUNCH((multiply_blocks<T, COLUMNS>), shape_of(n, WARPS * LANES), c, *p,
           tiles_of(p), n);
}

template <class T>
static void
launch(struct cuda_ctx *c, const struct product *p)
{
    struct product shared = *p;
    int64_t n = share_pairs(c, &shared);

    if (n == 0)
        return;
    if (single_columns(p))
        start<T, 1>(c, &shared, n);
    else
        start<T, MOST_COLUMNS>(c, &shared, n);
}

void
cuda_multiply_blocks(struct cuda_ctx *c, const struct product *p)
{
    switch (p->w.type) {
#define LAUNCH_TYPE(name, which)                                               \
    case which:                                                                \
        launch<open_##name>(c, p);                                             \
        break;
        CUDA_FORMATS(LAUNCH_TYPE)
#undef LAUNCH_TYPE
    }
}
