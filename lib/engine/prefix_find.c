/* prefix_find.c - which pieces of a prefix cache a sequence begins with
 *
 * Pieces are looked at by the number of ids before them: one that begins where
 * others reach, or before, may reach further, as long as its ids are the
 * sequence's. So all that is found has no hole. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "engine/prefix.h"

struct finder {
    struct gg_sequence *q;
    struct prefix_plan *plan;
    struct prefix_hash hash;
    int32_t most;
    int32_t first; /* that the hashes are of; -1: of none */
    uint8_t before[SHA256_BYTES];
    char match[PREFIX_HEX + 1];
    int32_t ids[PIECE_IDS];
};

static bool
matches(struct finder *f, const struct prefix_name *name)
{
    uint8_t digest[SHA256_BYTES];
    struct prefix_hash further;

    if (name->first != f->first) {
        f->first = name->first;
        engine_prefix_digest(&f->hash, f->first, f->before);
        further = f->hash;
        engine_prefix_digest(&further, f->first + PREFIX_MATCH, digest);
        engine_prefix_hex(digest, f->match);
    }
    return memcmp(name->text + 13, f->match, PREFIX_HEX) == 0;
}

/* The first of its ids that is not the sequence's, or the number of these. */
static int32_t
count_common(const struct finder *f, const struct piece *p)
{
    int32_t n = f->most - p->first < p->n ? f->most - p->first : p->n, i = 0;

    while (i < n && p->ids[i] == f->q->ids[p->first + i])
        i++;
    return i;
}

/* False: it is not what its name says. */
static bool
read_use(struct finder *f, int fd, struct prefix_use *use)
{
    struct piece p = { .ids = f->ids };

    if (!session_piece_read(f->q->engine->session, fd, &p) ||
        p.first != use->name.first || p.n != use->name.n ||
        memcmp(p.key, f->before, sizeof(p.key)) != 0)
        return false;
    use->n = count_common(f, &p);
    use->state = p.state && use->n == p.n;
    return use->n >= PREFIX_MATCH;
}

/* False: no memory. */
static bool
add_use(struct prefix_plan *plan, const struct prefix_use *use)
{
    int32_t end = use->name.first + use->n;

    if (!mem_grow(&plan->uses, &plan->cap, plan->n_uses + 1, sizeof(*use)))
        return false;
    plan->uses[plan->n_uses++] = *use;
    if (end > plan->covered)
        plan->covered = end;
    return true;
}

/* One that is not whole goes. */
static bool
consider(struct finder *f, const struct prefix_name *name)
{
    struct prefix_use use = { .name = *name };
    char *path = engine_prefix_path(f->q->engine->prefixes, name->text);
    bool done = path;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;

    if (fd >= 0 && read_use(f, fd, &use))
        done = add_use(f->plan, &use);
    else if (fd >= 0)
        unlink(path);
    if (fd >= 0)
        close(fd);
    mem_free(path);
    return done;
}

static bool
look_at_all(struct finder *f, const struct prefix_name *names, size_t n)
{
    bool done = true;

    for (size_t i = 0; i < n && done; i++) {
        if (names[i].first > f->plan->covered)
            break;
        if (names[i].first + PREFIX_MATCH <= f->most && matches(f, &names[i]))
            done = consider(f, &names[i]);
    }
    return done;
}

/* Where recurrent layers can go on. */
static int32_t
last_state(const struct prefix_plan *plan)
{
    int32_t n = 0;

    for (size_t i = 0; i < plan->n_uses; i++) {
        int32_t end = plan->uses[i].name.first + plan->uses[i].n;

        if (plan->uses[i].state && end > n)
            n = end;
    }
    return n;
}

void
engine_prefix_look(struct gg_sequence *q, size_t most)
{
    struct prefix_plan *plan = &q->engine->prefixes->plan;
    struct finder f = {
        .q = q, .plan = plan, .most = engine_prefix_known(q, most), .first = -1
    };
    struct prefix_name *names = NULL;
    size_t n = 0;
    bool done;

    plan->n_uses = 0;
    plan->covered = plan->n = 0;
    done = engine_prefix_hash(q, &f.hash) &&
           engine_prefix_list(q->engine->prefixes, &names, &n) &&
           look_at_all(&f, names, n);
    mem_free(names);
    if (!done)
        plan->covered = 0;
    else if (session_piece_recurs(q->engine->session))
        plan->n = last_state(plan);
    else
        plan->n = plan->covered;
    /* a block of rows is evaluated at once */
    plan->n =
        (int32_t)session_edge(q->engine->session, q->ids, (size_t)plan->n);
}

size_t
engine_prefix_find(struct gg_sequence *q, size_t most, size_t shared)
{
    const struct gg_engine *e = q->engine;
    const struct prefix_plan *plan;

    if (!e->prefixes || e->score || most < shared + PREFIX_LEAST / 2)
        return 0;
    plan = &e->prefixes->plan;
    engine_prefix_look(q, most);
    q->stored = (size_t)plan->covered;
    q->split = plan->n < plan->covered ? (size_t)plan->covered : 0;
    return (size_t)plan->n >= shared + PREFIX_LEAST / 2 ? (size_t)plan->n : 0;
}
