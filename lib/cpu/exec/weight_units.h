/* weight_units.h - weights in units that are read and dropped, and which of
 * them stay in memory
 *
 * Tensors that every graph needs whole stay, if there is room. Of the others
 * two ways of use are told apart:
 * - chosen: experts that a router chose for a few ids. They stay, and those
 *   that were chosen least recently give way.
 * - scanned: all units in turn, as a prompt needs them. Whatever was used last
 *   is needed last again, so that giving way to the next ones would leave
 *   nothing for the next scan: a fixed part stays, spread evenly, so that
 *   reading is spread evenly, and the other units pass. */
#ifndef CPU_EXEC_WEIGHT_UNITS_H
#define CPU_EXEC_WEIGHT_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/file.h"

/* Bytes of a unit of tensors that are not cut into experts. */
#define WEIGHT_UNIT_BYTES ((size_t)2 << 20)

enum {
    WEIGHT_UNIT_VICTIMS = 16,
};

/* Bytes of a tensor's experts that are computed together, at most about: the
 * next ones are read meanwhile. */
#define WEIGHT_PART_BYTES ((size_t)16 << 20)
/* Bytes of such a tensor that pass at once: what a disk reads while attention
 * is computed. */
#define WEIGHT_AHEAD_BYTES (4 * WEIGHT_PART_BYTES)

enum weight_unit_state {
    UNIT_ABSENT,
    UNIT_WANTED, /* somebody waits for it, and it is in a queue */
    UNIT_READING,
    UNIT_PRESENT,
    UNIT_DROPPING,
};

/* How a unit that is in memory, or was, counts. */
enum weight_unit_count {
    UNIT_UNCOUNTED, /* as all that stays always */
    UNIT_KEPT,
    UNIT_PASSING,
};

struct weight_unit {
    const char *at;
    size_t n; /* bytes */
    const struct file_map *map;
    enum weight_unit_state state;
    bool whole;   /* of a tensor that graphs need whole */
    bool scanned; /* by the graph, */
    bool fixed;   /* and then it stays */
    bool chosen;  /* by the last use */
    bool again;   /* it is wanted while it is being dropped */
    enum weight_unit_count count;
    bool marked;      /* while those that are used are counted */
    int slot;         /* that holds it, see weight_slots.h; -1: its pages do */
    int uses;         /* by what is computed now */
    int newer, older; /* of those that are kept and may give way; or -1 */
};

struct weight_tensor {
    const char *data;
    size_t size, unit; /* bytes */
    int first, n;      /* units */
    bool whole;
    const struct file_map *map;
};

/* All zero, but for newest and oldest: -1, none. */
struct weight_units {
    struct weight_tensor *tensors; /* by address */
    size_t n_tensors, cap_tensors;
    struct weight_unit *list; /* in the order of graphs */
    size_t n, cap;
    uint64_t room;          /* bytes in memory at most */
    uint64_t always;        /* of tensors that stay: struct comment above */
    uint64_t whole, others; /* bytes of all tensors, by kind */
    uint64_t ahead;         /* that pass at once, while units are scanned */
    uint64_t fixed;         /* bytes that a scan keeps at most */
    uint64_t kept, passing; /* bytes that are there, or being read */
    uint64_t slots;         /* bytes of memory for those that pass */
    int newest, oldest;     /* use of those that may give way */
};

/* Units that have to be dropped before another one is read. */
struct weight_victims {
    int list[WEIGHT_UNIT_VICTIMS], n;
};

/* The tensor there, which is added where it is new: of units of so many bytes;
 * `whole`: graphs need all of it. NULL: no memory. It is valid until the next
 * call. */
const struct weight_tensor *
cpu_units_tensor(struct weight_units *u, const struct weight_tensor *t);

/* Another graph begins, and it scans n units from `first` on. */
void
cpu_units_begin(struct weight_units *u);
void
cpu_units_scan(struct weight_units *u, int first, int n);

/* Bytes that may be in memory, from now on. */
void
cpu_units_set_room(struct weight_units *u, uint64_t room);

/* Unit i is about to be read. Returns whether it may, and what has to be
 * dropped before; one that somebody waits for always may. */
bool
cpu_units_admit(struct weight_units *u, int i, bool urgent,
                struct weight_victims *victims);

/* Unit i is used now, and not any more. Returns whether it is to be dropped. */
void
cpu_units_use(struct weight_units *u, int i, bool chosen);
bool
cpu_units_release(struct weight_units *u, int i);

/* Unit i, which was admitted, is not read after all. */
void
cpu_units_withdraw(struct weight_units *u, int i);

/* Whether unit i only passes, and nobody uses it: then it is to be dropped, and
 * does not count any more. */
bool
cpu_units_expire(struct weight_units *u, int i);

/* The system may have dropped what was thought to be in memory: it is read
 * again, which costs little where it is there, and counts as before. */
void
cpu_units_forget(struct weight_units *u);

/* The unit that the byte is in; NULL: none. */
const struct weight_unit *
cpu_units_at(const struct weight_units *u, const char *p);

/* The units of t that n bytes at `data` are in: *first, and how many. */
int
cpu_units_of(const struct weight_tensor *t, const void *data, size_t n,
             int *first);

void
cpu_units_clear(struct weight_units *u);

#endif
