/* weight_units.c - weights in units, and which of them stay in memory */
#include "cpu/exec/weight_units.h"

#include <string.h>

#include "core/mem.h"

/* ---- order of use -------------------------------------------------------- */

/* Units that are kept and may give way are linked by their last use. */
static void
link_newest(struct weight_units *u, int i)
{
    u->list[i].older = u->newest;
    u->list[i].newer = -1;
    if (u->newest >= 0)
        u->list[u->newest].newer = i;
    else
        u->oldest = i;
    u->newest = i;
}

static void
unlink_unit(struct weight_units *u, int i)
{
    const struct weight_unit *unit = &u->list[i];

    if (unit->newer >= 0)
        u->list[unit->newer].older = unit->older;
    else
        u->newest = unit->older;
    if (unit->older >= 0)
        u->list[unit->older].newer = unit->newer;
    else
        u->oldest = unit->newer;
}

/* ---- tensors ------------------------------------------------------------- */

/* Where the tensor is, or belongs. */
static size_t
place_of_tensor(const struct weight_units *u, const char *data)
{
    size_t low = 0, high = u->n_tensors;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (u->tensors[mid].data < data)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool
add_units(struct weight_units *u, struct weight_tensor *t)
{
    size_t n = (t->size + t->unit - 1) / t->unit;

    if (n > INT32_MAX - u->n ||
        !mem_grow(&u->list, &u->cap, u->n + n, sizeof(*u->list)))
        return false;
    t->first = (int)u->n;
    t->n = (int)n;
    for (size_t i = 0; i < n; i++) {
        size_t at = i * t->unit, left = t->size - at;

        u->list[u->n++] = (struct weight_unit){
            .at = t->data + at,
            .n = left < t->unit ? left : t->unit,
            .map = t->map,
            .whole = t->whole,
            .slot = -1,
        };
    }
    return true;
}

/* A tensor that is needed whole is needed at once. */
static uint64_t
bytes_at_once(const struct weight_tensor *t)
{
    return t->whole || t->size < WEIGHT_AHEAD_BYTES ? t->size
                                                    : WEIGHT_AHEAD_BYTES;
}

/* Whether the unit may give way to others. */
static bool
gives_way(const struct weight_units *u, const struct weight_unit *unit)
{
    return !unit->whole || u->always == 0;
}

/* Bytes that the graph scans, but for those that stay always. */
static uint64_t
count_scanned(const struct weight_units *u)
{
    uint64_t n = 0;

    for (size_t i = 0; i < u->n; i++)
        if (u->list[i].scanned && gives_way(u, &u->list[i]))
            n += u->list[i].n;
    return n;
}

/* Bytes of two tensors that pass: of one at work, and of the next. But more
 * than a part of the room had better stay. */
static uint64_t
count_ahead(const struct weight_units *u, uint64_t room)
{
    uint64_t largest = 0, least = 0, n;

    for (size_t i = 0; i < u->n_tensors; i++) {
        const struct weight_tensor *t = &u->tensors[i];

        if (t->whole && u->always > 0)
            continue;
        n = bytes_at_once(t);
        largest = n > largest ? n : largest;
        n = t->whole ? n : 2 * WEIGHT_PART_BYTES;
        least = n > least ? n : least;
    }
    n = 2 * largest;
    if (n > room / 4)
        n = room / 4 > least ? room / 4 : least;
    n = n < 2 * largest ? n : 2 * largest;
    return n < room ? n : room;
}

/* Bytes of tensors that are needed whole stay if a quarter is left. */
static void
divide_room(struct weight_units *u)
{
    bool stay = u->whole <= u->room - u->room / 4;
    uint64_t room, all;

    u->always = stay ? u->whole : 0;
    room = u->room - u->always;
    all = count_scanned(u);
    u->ahead = count_ahead(u, room);
    if (all <= room)
        u->fixed = all;
    else
        u->fixed = room - u->ahead;
}

/* Marks as many bytes as stay, evenly. */
static void
mark_fixed(struct weight_units *u)
{
    uint64_t all = count_scanned(u);
    double share = all ? (double)u->fixed / (double)all : 0, sum = 0;

    for (size_t i = 0; i < u->n; i++) {
        struct weight_unit *unit = &u->list[i];

        unit->fixed = false;
        if (!unit->scanned || !gives_way(u, unit))
            continue;
        sum += share * (double)unit->n;
        if (sum < (double)unit->n)
            continue;
        unit->fixed = true;
        sum -= (double)unit->n;
    }
}

/* Units that the graph does not scan give way first. */
static void
order_kept(struct weight_units *u)
{
    int scanned = -1, i, next; /* the newest of those that are */

    for (i = u->oldest; i >= 0 && i != scanned; i = next) {
        next = u->list[i].newer;
        if (!u->list[i].scanned)
            continue;
        unlink_unit(u, i);
        link_newest(u, i);
        scanned = scanned >= 0 ? scanned : i;
    }
}

void
cpu_units_begin(struct weight_units *u)
{
    for (size_t i = 0; i < u->n; i++)
        u->list[i].scanned = false;
}

void
cpu_units_scan(struct weight_units *u, int first, int n)
{
    for (int i = first; i < first + n; i++)
        u->list[i].scanned = true;
}

void
cpu_units_set_room(struct weight_units *u, uint64_t room)
{
    u->room = room;
    divide_room(u);
    mark_fixed(u);
    order_kept(u);
}

const struct weight_tensor *
cpu_units_tensor(struct weight_units *u, const struct weight_tensor *t)
{
    size_t at = place_of_tensor(u, t->data);
    struct weight_tensor added = *t;

    if (at < u->n_tensors && u->tensors[at].data == t->data)
        return &u->tensors[at];
    if (!mem_grow(&u->tensors, &u->cap_tensors, u->n_tensors + 1,
                  sizeof(*u->tensors)) ||
        !add_units(u, &added))
        return NULL;
    memmove(&u->tensors[at + 1], &u->tensors[at],
            (u->n_tensors++ - at) * sizeof(*u->tensors));
    u->tensors[at] = added;
    *(t->whole ? &u->whole : &u->others) += t->size;
    return &u->tensors[at];
}

const struct weight_unit *
cpu_units_at(const struct weight_units *u, const char *p)
{
    size_t at = place_of_tensor(u, p + 1);
    const struct weight_tensor *t = at > 0 ? &u->tensors[at - 1] : NULL;

    if (!t || (size_t)(p - t->data) >= t->size)
        return NULL;
    return &u->list[t->first + (int)((size_t)(p - t->data) / t->unit)];
}

int
cpu_units_of(const struct weight_tensor *t, const void *data, size_t n,
             int *first)
{
    size_t begin = (size_t)((const char *)data - t->data);
    size_t end = begin + n < t->size ? begin + n : t->size;

    *first = t->first + (int)(begin / t->unit);
    return begin < end ? (int)((end - 1) / t->unit - begin / t->unit) + 1 : 0;
}

/* ---- room ---------------------------------------------------------------- */

/* Whether nobody reads or drops the unit, or is about to. */
static bool
is_settled(const struct weight_unit *unit)
{
    return unit->state == UNIT_PRESENT || unit->state == UNIT_ABSENT;
}

/* The unit that gives way; -1: none can. */
static int
find_victim(const struct weight_units *u)
{
    int i = u->oldest;

    while (i >= 0 && (u->list[i].uses > 0 || u->list[i].state != UNIT_PRESENT))
        i = u->list[i].newer;
    return i;
}

static void
drop_kept(struct weight_units *u, int i)
{
    struct weight_unit *unit = &u->list[i];

    unlink_unit(u, i);
    u->kept -= unit->n;
    unit->count = UNIT_UNCOUNTED;
    unit->state = UNIT_DROPPING;
}

/* Units that pass may lie in memory that was taken for others before. */
static bool
is_room_full(const struct weight_units *u, const struct weight_unit *unit)
{
    uint64_t kept = u->kept + (unit->chosen ? unit->n : 0);
    uint64_t passing = u->passing + (unit->chosen ? 0 : unit->n);

    passing = passing > u->slots ? passing : u->slots;
    return kept + passing > u->room - u->always;
}

/* Whether a unit that is scanned and stays takes the place of others. */
static bool
replaces(const struct weight_units *u, const struct weight_unit *unit)
{
    return unit->fixed && !unit->chosen && u->kept + unit->n > u->fixed;
}

static void
give_way(struct weight_units *u, const struct weight_unit *unit,
         struct weight_victims *victims)
{
    bool full, may;
    int i;

    while (victims->n < WEIGHT_UNIT_VICTIMS) {
        full = is_room_full(u, unit);
        may = unit->chosen || u->kept > u->fixed;
        if (!(full && may) && !replaces(u, unit))
            return;
        i = find_victim(u);
        if (i < 0 || (!(full && may) && u->list[i].scanned))
            return;
        drop_kept(u, i);
        victims->list[victims->n++] = i;
    }
}

bool
cpu_units_admit(struct weight_units *u, int i, bool urgent,
                struct weight_victims *victims)
{
    struct weight_unit *unit = &u->list[i];
    bool stays;

    victims->n = 0;
    if (!gives_way(u, unit) || unit->count != UNIT_UNCOUNTED)
        return true;
    give_way(u, unit, victims);
    if (is_room_full(u, unit) && !urgent)
        return false;
    stays = unit->chosen ? !is_room_full(u, unit)
                         : unit->fixed && u->kept + unit->n <= u->fixed;
    unit->count = stays ? UNIT_KEPT : UNIT_PASSING;
    *(stays ? &u->kept : &u->passing) += unit->n;
    if (stays)
        link_newest(u, i);
    return true;
}

void
cpu_units_use(struct weight_units *u, int i, bool chosen)
{
    struct weight_unit *unit = &u->list[i];

    unit->uses++;
    unit->chosen = chosen;
    if (!chosen || unit->count != UNIT_KEPT)
        return;
    unlink_unit(u, i);
    link_newest(u, i);
}

bool
cpu_units_expire(struct weight_units *u, int i)
{
    struct weight_unit *unit = &u->list[i];

    if (!is_settled(unit) || unit->uses > 0 || unit->count != UNIT_PASSING)
        return false;
    u->passing -= unit->n;
    unit->count = UNIT_UNCOUNTED;
    unit->state = UNIT_DROPPING;
    return true;
}

void
cpu_units_withdraw(struct weight_units *u, int i)
{
    struct weight_unit *unit = &u->list[i];

    if (unit->count == UNIT_PASSING)
        u->passing -= unit->n;
    else if (unit->count == UNIT_KEPT) {
        unlink_unit(u, i);
        u->kept -= unit->n;
    }
    unit->count = UNIT_UNCOUNTED;
}

bool
cpu_units_release(struct weight_units *u, int i)
{
    u->list[i].uses--;
    return cpu_units_expire(u, i);
}

void
cpu_units_forget(struct weight_units *u)
{
    for (size_t i = 0; i < u->n; i++)
        if (u->list[i].state == UNIT_PRESENT)
            u->list[i].state = UNIT_ABSENT;
}

void
cpu_units_clear(struct weight_units *u)
{
    mem_free(u->tensors);
    mem_free(u->list);
    *u = (struct weight_units){ .newest = -1, .oldest = -1 };
}
