/* prefix_load.c - pieces of a prefix cache get into a slot: all that were
 * found, or, where one is damaged, those that are found without it */
#include <fcntl.h>
#include <unistd.h>

#include "core/mem.h"
#include "engine/prefix.h"

enum {
    TRIES = 8, /* with damaged files */
};

enum outcome {
    LOADED,
    DAMAGED, /* a file, which was removed */
    GIVEN_UP,
};

/* The file is used now: its first byte is written again, which needs no right
 * but that. */
static void
touch_piece(int fd)
{
    char byte;

    if (pread(fd, &byte, 1, 0) == 1)
        (void)!pwrite(fd, &byte, 1, 0);
}

/* For reading and, as far as that is allowed, for writing. */
static int
open_piece(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    return fd < 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : fd;
}

/* Rows of positions from..to - 1, and the states after them. */
static enum outcome
read_piece(struct gg_sequence *q, int32_t slot, int fd, int32_t from,
           int32_t to)
{
    struct gg_session *s = q->engine->session;
    int32_t ids[PIECE_IDS];
    struct piece p = { .ids = ids };
    bool nomem = false;
    char *rows = session_piece_read(s, fd, &p)
                     ? session_piece_rows(s, fd, &p, &nomem)
                     : NULL;

    if (!rows || from < p.first || to > p.first + p.n) {
        mem_free(rows);
        return nomem ? GIVEN_UP : DAMAGED;
    }
    session_piece_put(s, slot, &p, rows, from, to, q->engine->prefixes->plan.n);
    mem_free(rows);
    touch_piece(fd);
    return LOADED;
}

static enum outcome
load_use(struct gg_sequence *q, int32_t slot, const struct prefix_use *use,
         int32_t from, int32_t to)
{
    char *path = engine_prefix_path(q->engine->prefixes, use->name.text);
    int fd = path ? open_piece(path) : -1;
    enum outcome done = path ? DAMAGED : GIVEN_UP;

    if (fd >= 0)
        done = read_piece(q, slot, fd, from, to);
    if (fd >= 0 && done == DAMAGED && unlink(path))
        done = GIVEN_UP;
    if (fd >= 0)
        close(fd);
    mem_free(path);
    return done;
}

/* The piece that reaches furthest of those that have the row of position
 * `at`. */
static const struct prefix_use *
find_use(const struct prefix_plan *plan, int32_t at, int32_t *end)
{
    const struct prefix_use *best = NULL;

    *end = at;
    for (size_t i = 0; i < plan->n_uses; i++) {
        const struct prefix_use *u = &plan->uses[i];

        if (u->name.first <= at && u->name.first + u->n > *end) {
            *end = u->name.first + u->n;
            best = u;
        }
    }
    if (*end > plan->n)
        *end = plan->n;
    return best;
}

static const struct prefix_use *
find_state(const struct prefix_plan *plan)
{
    for (size_t i = 0; i < plan->n_uses; i++)
        if (plan->uses[i].state &&
            plan->uses[i].name.first + plan->uses[i].n == plan->n)
            return &plan->uses[i];
    return NULL;
}

static enum outcome
load_plan(struct gg_sequence *q, int32_t slot)
{
    const struct prefix_plan *plan = &q->engine->prefixes->plan;
    struct gg_session *s = q->engine->session;
    enum outcome done = LOADED;
    const struct prefix_use *use;
    int32_t at = 0, end;

    if (!session_piece_assume(s, slot, q->ids, plan->n, q->scales))
        return GIVEN_UP;
    for (; at < plan->n && done == LOADED; at = end) {
        use = find_use(plan, at, &end);
        done = use ? load_use(q, slot, use, at, end) : GIVEN_UP;
    }
    if (done == LOADED && session_piece_recurs(s)) {
        use = find_state(plan);
        done = use ? load_use(q, slot, use, plan->n, plan->n) : GIVEN_UP;
    }
    return done;
}

size_t
engine_prefix_load(struct gg_sequence *q, int32_t slot)
{
    const struct prefix_plan *plan = &q->engine->prefixes->plan;
    enum outcome done = DAMAGED;

    for (int i = 0; i < TRIES && done == DAMAGED && plan->n > 0; i++) {
        done = load_plan(q, slot);
        if (done == LOADED) {
            q->engine->prefixes->n_cached += (uint64_t)plan->n;
            return (size_t)plan->n;
        }
        gg_session_truncate(q->engine->session, slot, 0);
        if (done == DAMAGED)
            engine_prefix_look(q, q->limit);
        q->stored = (size_t)plan->covered;
    }
    return 0;
}
