/* multiply.cu - rows of weights in blocks, times a few columns
 *
 * Decoding is bound by memory: the weights are read once, in pieces of 16
 * bytes whatever the layout of blocks, into a ring in shared memory that is
 * the warp's own, and opened from there. A warp has two rows (or one row of
 * two matrices), and a lane a unit of 32 values of each in every step: it
 * opens both, then meets all columns. */
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

struct source {
    const char *rows[ROWS];
    int64_t size; /* bytes of a row */
};

/* Starts the copies of step `s` to a place of the ring. */
template <class T>
DEVICE void
fetch(const struct source *from, int64_t s, char *place)
{
    const int bytes = step<T>::bytes;
    int64_t at = s * bytes;

    if (at < from->size) {
        int64_t left = from->size - at;
        int n = left < bytes ? (int)left : bytes;

        UNROLL for (int r = 0; r < ROWS; r++)
        {
            const char *p = from->rows[r] + at;
            int before = (int)((uintptr_t)p & 15);

            for (int i = (int)lane_id() * 16; i < before + n; i += LANES * 16)
                copy_async(place + r * step<T>::room + i, p - before + i);
        }
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

/* A unit of a column. */
struct part {
    uint32_t q[UNIT / 4];
    struct figures f;
};

DEVICE struct part
load_part(const struct product *p, int64_t column, int64_t n)
{
    const char *at = p->columns + column * p->column_stride;
    uint4 a = load_vector<uint4>(at + n * UNIT);
    uint4 b = load_vector<uint4>(at + n * UNIT + 16);
    struct part c = { { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w }, {} };

    c.f = ((const struct figures *)(const void *)(at + p->k))[n];
    return c;
}

/* The lane's unit of step s of the only column, if there is such a step: asked
 * for while the weights are on their way. */
template <int COLUMNS>
DEVICE struct part
begin_part(const struct product *p, const struct work *t, int64_t s)
{
    int64_t n = s * LANES + lane_id();
    struct part none = {};

    return COLUMNS == 1 && n * UNIT < p->k ? load_part(p, column_of(p, t, 0), n)
                                           : none;
}

/* The lane's unit of step s, of both rows, times all columns; `begun` is that
 * of the only one. */
template <class T, int COLUMNS>
DEVICE void
multiply_step(const struct product *p, const struct work *t,
              const struct source *from, int64_t s, const char *place,
              const struct part *begun, float (*sum)[COLUMNS])
{
    int64_t n = s * LANES + lane_id();
    int block = (int)lane_id() / T::units, part = (int)lane_id() % T::units;
    struct unit u[ROWS];

    if (n * UNIT >= p->k)
        return;
    UNROLL for (int r = 0; r < ROWS; r++)
    {
        int before =
            (int)((uintptr_t)(from->rows[r] + s * step<T>::bytes) & 15);

        T::open(place + r * step<T>::room + before + block * T::size, part,
                &u[r]);
    }
    UNROLL for (int c = 0; c < COLUMNS; c++)
    {
        struct part one;

        if (c >= t->n)
            break;
        one = COLUMNS == 1 ? *begun : load_part(p, column_of(p, t, c), n);
        UNROLL for (int r = 0; r < ROWS; r++) sum[r][c] =
            add_unit<T>(sum[r][c], &u[r], one.q, &one.f);
    }
}

/* The first steps of two rows. */
template <class T>
DEVICE void
begin_rows(const struct source *from, char *ring)
{
    UNROLL for (int s = 0; s < RING - 1; s++)
        fetch<T>(from, s, ring + s * ROWS * step<T>::room);
}

/* All steps of two rows, which were begun; the sums of the lanes. */
template <class T, int COLUMNS>
DEVICE void
multiply_rows(const struct product *p, const struct work *t,
              const struct source *from, char *ring, float (*sum)[COLUMNS])
{
    const int room = ROWS * step<T>::room;
    int64_t n = (p->k + LANES * UNIT - 1) / (LANES * UNIT);
    struct part part = begin_part<COLUMNS>(p, t, 0);

    for (int64_t s = 0; s < n; s++) {
        int64_t next = s + RING - 1;
        struct part ahead = begin_part<COLUMNS>(p, t, s + 1);

        copy_wait<RING - 2>();
        warp_barrier(); /* all have what all fetched, and are done with s - 1 */
        fetch<T>(from, next, ring + next % RING * room);
        multiply_step<T, COLUMNS>(p, t, from, s, ring + s % RING * room, &part,
                                  sum);
        part = ahead;
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
        int64_t row;
        struct work t = find_work(&p, item, tiles, COLUMNS, &row);
        struct source from = { {}, p.k / T::values * T::size };
        float sum[ROWS][COLUMNS] = {};
        bool any = row < t.n_rows && t.n > 0;

        if (any) {
            from.rows[0] = t.rows + row * p.w.nb[1];
            from.rows[1] = second_row(&p, &t, row);
            begin_rows<T>(&from, ring);
        }
        if (p.early && item == block_id())
            take_turn();
        if (!any)
            continue;
        multiply_rows<T, COLUMNS>(&p, &t, &from, ring, sum);
        store_sums<COLUMNS>(&p, &t, row, sum,
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
    int64_t n = items_of(p);

    if (n == 0)
        return;
    if (single_columns(p))
        start<T, 1>(c, p, n);
    else
        start<T, MOST_COLUMNS>(c, p, n);
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
