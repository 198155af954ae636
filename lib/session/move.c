/* move.c - a device fails, and its layers move to other homes */
#include "session/move.h"

#include <stdio.h>

#include "core/mem.h"
#include "session/needs.h"
#include "session/offload.h"

static bool
is_in(model_home_set set, int home)
{
    return (set >> home) & 1;
}

model_home_set
session_devices_of(const struct model *m)
{
    return (model_home_set)((1U << m->n_homes) - 1) & ~(model_home_set)1;
}

model_home_set
session_find_lost(const struct model *m)
{
    model_home_set lost = 0;

    for (int i = 1; i < m->n_homes; i++) {
        size_t available, total = 0;

        ggml_backend_dev_memory(m->homes[i].device, &available, &total);
        if (total == 0)
            lost |= (model_home_set)1 << i;
    }
    return lost;
}

/* ---- who has room -------------------------------------------------------- */

static bool
is_with_output(const struct model_needs *n, struct model_span s)
{
    return s.end > n->n;
}

/* Bytes that a home needs for these layers of another, of which it has nothing
 * yet. */
static uint64_t
need_of_more(const struct model_needs *n, const struct model_home *from)
{
    struct model_span rest = from->spans[MODEL_REST];
    struct model_span experts = from->spans[MODEL_EXPERTS];
    uint64_t sum = 0;

    for (int32_t i = rest.first; i < rest.end && i < n->n; i++)
        sum += n->layers[MODEL_REST][i];
    for (int32_t i = experts.first; i < experts.end && i < n->n; i++)
        sum += n->layers[MODEL_EXPERTS][i];
    if (is_with_output(n, rest))
        sum += n->back[MODEL_REST];
    if (is_with_output(n, experts))
        sum += n->back[MODEL_EXPERTS];
    return rest.first == 0 ? sum + n->front : sum;
}

/* Whether a home has room for what is to come, next to the weights that it
 * has. */
static bool
has_room(const struct model_needs *n, const struct model_home *to,
         const struct model_home *from)
{
    struct model_span own = to->spans[MODEL_REST];
    uint64_t need = need_of_more(n, from);
    size_t available, total;

    for (int32_t i = own.first; i < own.end && i < n->n; i++)
        need += n->kept[i];
    return need <= session_offload_room(to->device, &available, &total);
}

/* ---- the table of homes -------------------------------------------------- */

static bool
is_empty(struct model_span s)
{
    return s.first >= s.end;
}

/* Joins two spans of layers, one of which follows the other. */
static struct model_span
joined_span(struct model_span a, struct model_span b)
{
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    return (struct model_span){ a.first < b.first ? a.first : b.first,
                                a.end > b.end ? a.end : b.end };
}

static bool
are_neighbours(const struct model_home *a, const struct model_home *b)
{
    return a->spans[MODEL_REST].end == b->spans[MODEL_REST].first;
}

static void
give_layers(struct model_home *to, const struct model_home *from)
{
    for (int part = 0; part < MODEL_PARTS; part++)
        to->spans[part] = joined_span(to->spans[part], from->spans[part]);
}

/* Home i's layers go to the next; that may be lost, too, and gives them on. */
static void
give_away(const struct model_needs *n, struct model *m, model_home_set lost,
          int i)
{
    struct model_home *own = &m->homes[i];
    struct model_home *next = i + 1 < m->n_homes ? own + 1 : NULL;
    struct model_home *before = i > 1 ? own - 1 : NULL;

    if (next && are_neighbours(own, next) &&
        (is_in(lost, i + 1) || has_room(n, next, own)))
        give_layers(next, own);
    else if (before && !is_in(lost, i - 1) && are_neighbours(before, own) &&
             has_room(n, before, own))
        give_layers(before, own);
}

/* The homes that are left. What none of them has is the CPU's. */
static void
leave_homes(const struct model_needs *n, struct model *m, model_home_set lost)
{
    int left = 1;

    for (int i = 1; i < m->n_homes; i++)
        if (is_in(lost, i))
            give_away(n, m, lost, i);
    for (int i = 1; i < m->n_homes; i++)
        if (!is_in(lost, i))
            m->homes[left++] = m->homes[i];
    m->n_homes = left;
}

static enum gg_status
plan_move(const struct model *from, model_home_set lost, int64_t n_ctx,
          struct model **out, struct gg_error *err)
{
    struct model *m = mem_zalloc(sizeof(*m));
    struct model_needs needs;

    if (!m || !session_needs_count(&needs, from, n_ctx)) {
        mem_free(m);
        return error_nomem(err);
    }
    m->file = from->file;
    m->files = from->files;
    m->arch = from->arch;
    m->hp = from->hp;
    m->end = m->hp.n_layer;
    m->pipeline = &session_alone;
    m->named = from->named;
    m->n_homes = from->n_homes;
    for (int i = 0; i < m->n_homes; i++) {
        m->homes[i] = from->homes[i];
        m->homes[i].ctx = NULL;
        m->homes[i].whole = false;
    }
    leave_homes(&needs, m, lost);
    session_needs_clear(&needs);
    *out = m;
    return GG_OK;
}

/* ---- moving -------------------------------------------------------------- */

/* Homes of `from` whose devices are these homes of m. */
static model_home_set
same_homes(const struct model *from, const struct model *m, model_home_set set)
{
    model_home_set out = 0;

    for (int i = 1; i < from->n_homes; i++)
        for (int k = 1; k < m->n_homes; k++)
            if (is_in(set, k) && m->homes[k].device == from->homes[i].device)
                out |= (model_home_set)1 << i;
    return out;
}

static enum gg_status
move_once(const struct model *from, model_home_set *lost, int64_t n_ctx,
          struct model **out, struct gg_error *err)
{
    static const struct gg_model_params none;
    model_home_set failed = 0;
    enum gg_status st = plan_move(from, *lost, n_ctx, out, err);

    if (st != GG_OK)
        return st;
    st = session_take_weights(&none, from, *out, &failed, err);
    if (st == GG_OK)
        return st;
    *lost |= same_homes(from, *out, failed | session_find_lost(*out));
    session_free_model(*out);
    return st;
}

enum gg_status
session_move_model(const struct model *from, model_home_set *lost,
                   int64_t n_ctx, struct model **out, struct gg_error *err)
{
    model_home_set all = session_devices_of(from), tried;
    enum gg_status st;

    do {
        if (from->named && *lost == all)
            return error_set(err, GG_ERR_IO, "no device is left");
        tried = *lost;
        st = move_once(from, lost, n_ctx, out, err);
        if (st != GG_OK && tried != all && *lost == tried)
            *lost = all; /* nobody knows which has failed */
    } while (st != GG_OK && tried != all);
    return st;
}

/* Homes that have parts of layers now which were a lost one's. */
static model_home_set
who_took(const struct model *from, model_home_set lost, const struct model *to)
{
    model_home_set out = 0;

    for (int32_t layer = 0; layer <= from->hp.n_layer; layer++)
        for (enum model_part part = 0; part < MODEL_PARTS; part++)
            if (is_in(lost, graph_home_of(from, layer, part)))
                out |= (model_home_set)1 << graph_home_of(to, layer, part);
    return out;
}

void
session_move_words(const struct model *from, model_home_set lost,
                   const struct model *to, const char *message, char *buf,
                   size_t size)
{
    model_home_set took = who_took(from, lost, to);
    const char *between = "";
    char names[MODEL_HOME_NAMES];
    size_t used = 0;

    if (to->n_homes == 1) {
        snprintf(buf, size, "%.200s: the CPU computes", message);
        return;
    }
    names[0] = '\0';
    for (int i = to->n_homes; i-- > 0 && used < sizeof(names);)
        if (is_in(took, i)) {
            used += (size_t)snprintf(
                names + used, sizeof(names) - used, "%s%s", between,
                i ? ggml_backend_dev_name(to->homes[i].device) : "the CPU");
            between = ", ";
        }
    snprintf(buf, size, "%.160s: its layers move to %s", message, names);
}
