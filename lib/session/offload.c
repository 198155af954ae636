/* offload.c - layer offload: which layers devices compute, which the CPU
 *
 * The CPU takes the first layers and the embeddings, devices the last and the
 * output: between two of them a batch's activations cross the bus once. */
#include "session/offload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "session/divide.h"

bool
session_offload_bytes(const struct model *m, uint64_t *bytes)
{
    struct model_needs n;

    if (!session_needs_count(&n, m, session_needs_positions(m, 0)))
        return false;
    for (int32_t i = 0; i < n.n; i++)
        bytes[i] = session_needs_layer(&n, i, 0);
    bytes[n.n] = n.front + n.back[MODEL_REST] + n.back[MODEL_EXPERTS];
    session_needs_clear(&n);
    return true;
}

uint64_t
session_offload_room(ggml_backend_dev_t device, size_t *available,
                     size_t *total)
{
    uint64_t rest;

    ggml_backend_dev_memory(device, available, total);
    rest = *total / 8;
    if (rest > (uint64_t)1 << 30)
        rest = (uint64_t)1 << 30;
    return *available > rest ? *available - rest : 0;
}

/* ---- words -------------------------------------------------------------- */

static const char *
show_size(char buf[24], uint64_t bytes)
{
    if (bytes >= (uint64_t)1 << 30)
        snprintf(buf, 24, "%.1f GiB", (double)bytes / 0x1p30);
    else
        snprintf(buf, 24, "%.1f MiB", (double)bytes / 0x1p20);
    return buf;
}

const char *
session_home_names(const struct model *m, char buf[MODEL_HOME_NAMES])
{
    size_t used = 0;

    buf[0] = '\0';
    for (int i = 1; i < m->n_homes && used < MODEL_HOME_NAMES; i++)
        used += (size_t)snprintf(buf + used, MODEL_HOME_NAMES - used, "%s%s",
                                 i > 1 ? ", " : "",
                                 ggml_backend_dev_name(m->homes[i].device));
    return buf;
}

/* ---- what there is ------------------------------------------------------- */

/* Devices, and what of the model they have room for. */
struct offload {
    struct model *m;
    const struct gg_model_params *params;
    struct model_needs needs;
    struct model_division division;
    struct model_parts parts;
    int32_t given[MODEL_MAX_HOMES]; /* layers of each, if they were listed */
    uint64_t available;             /* on all devices */
    bool silent;                    /* some device does not answer */
};

static bool
are_listed(const struct offload *o)
{
    return o->params->n_device_layers > 0;
}

static enum gg_status
take_list(struct offload *o, struct gg_error *err)
{
    const struct gg_model_params *p = o->params;
    int n = o->m->n_homes - 1;
    int64_t sum = 0;

    if (!are_listed(o))
        return GG_OK;
    if (p->n_device_layers != (size_t)n)
        return error_set(err, GG_ERR_ARG,
                         "GPU layers are given for %zu devices, and "
                         "%d device%s named",
                         p->n_device_layers, n, n == 1 ? " is" : "s are");
    for (int i = 0; i < n; i++) {
        o->given[i] = p->device_layers[i];
        sum += o->given[i];
    }
    if (sum <= o->m->hp.n_layer)
        return GG_OK;
    return error_set(err, GG_ERR_ARG,
                     "%" PRId64 " GPU layers for all devices together, and "
                     "the model has %d layers",
                     sum, (int)o->m->hp.n_layer);
}

/* One without memory: it was lost, or is another program's alone. Its layers
 * are the next one's, or, of the last, those of the one before it. */
static void
drop_device(struct offload *o, int i)
{
    struct model *m = o->m;
    int to = i + 2 < m->n_homes ? i + 1 : i - 1;

    snprintf(m->note, sizeof(m->note), "%s does not answer",
             ggml_backend_dev_name(m->homes[i + 1].device));
    o->silent = true;
    if (to >= 0)
        o->given[to] += o->given[i];
    m->n_homes--;
    for (; i + 1 < m->n_homes; i++) {
        m->homes[i + 1] = m->homes[i + 2];
        o->given[i] = o->given[i + 1];
    }
}

static enum gg_status
look_at_devices(struct offload *o, struct gg_error *err)
{
    struct model *m = o->m;
    struct model_division *d = &o->division;
    size_t used;

    for (int i = 0; i + 1 < m->n_homes;) {
        size_t available, total;
        uint64_t room =
            session_offload_room(m->homes[i + 1].device, &available, &total);

        if (total == 0) {
            drop_device(o, i);
            continue;
        }
        d->room[i++] = room ? room : 1;
        o->available += available;
    }
    d->n = m->n_homes - 1;
    if (d->n == 0 && m->named)
        return error_set(err, GG_ERR_IO, "%s", m->note);
    used = strlen(m->note);
    if (o->silent && d->n == 0)
        snprintf(m->note + used, sizeof(m->note) - used, ": the CPU computes");
    return GG_OK;
}

/* ---- who computes -------------------------------------------------------- */

static bool
has_named_device(const struct gg_model_params *params)
{
    return params->device && strcmp(params->device, "auto") != 0;
}

static int32_t
experts_from(const struct offload *o)
{
    int32_t n = o->params->cpu_experts, all = o->m->hp.n_layer;

    if (n == GG_EXPERTS_AS_FITS)
        return MODEL_AS_FITS;
    if (n == GG_EXPERTS_NO_LAYERS)
        return 0;
    return n == GG_EXPERTS_ALL_LAYERS || n > all ? all + 1 : n;
}

/* Where nobody said which, one that has room for all is enough: that with the
 * most. */
static void
choose_one(struct offload *o)
{
    struct model_division *d = &o->division, one = *d;
    struct model *m = o->m;
    int best = -1;

    for (int i = 0; i < d->n; i++) {
        struct model_parts parts;
        int32_t want =
            d->most >= 0 && d->most < m->hp.n_layer ? d->most : m->hp.n_layer;

        one.n = 1;
        one.room[0] = d->room[i];
        one.most = MODEL_AS_FITS;
        if (one.experts_from == MODEL_AS_FITS)
            one.experts_from = 0;
        session_divide(&one, &parts);
        if (parts.n >= want && (best < 0 || d->room[i] > d->room[best]))
            best = i;
    }
    if (best < 0)
        return;
    m->homes[1] = m->homes[best + 1];
    m->n_homes = 2;
    d->room[0] = d->room[best];
    d->n = 1;
}

static void
divide_list(struct offload *o)
{
    for (int i = 0; i < o->division.n; i++) {
        o->parts.layers[i] = o->given[i];
        o->parts.n += o->given[i];
    }
    o->parts.experts_from = session_divide_experts(&o->division, &o->parts);
}

/* Layers of later processes, which take nothing here. */
static int32_t
layers_after(const struct model *m)
{
    return m->hp.n_layer - m->end;
}

static void
divide(struct offload *o)
{
    struct model_division *d = &o->division;

    d->needs = &o->needs;
    d->experts_from = experts_from(o);
    d->most = o->params->gpu_layers > 0
                  ? o->params->gpu_layers + layers_after(o->m)
                  : MODEL_AS_FITS;
    if (are_listed(o)) {
        divide_list(o);
        return;
    }
    if (!o->m->named)
        choose_one(o);
    session_divide(d, &o->parts);
}

/* ---- what is said -------------------------------------------------------- */

/* "CUDA0 has 2.0 GiB free" */
static void
show_room(const struct offload *o, char *buf, size_t size)
{
    char names[MODEL_HOME_NAMES], free[24];
    bool one = o->m->n_homes == 2;

    snprintf(buf, size, "%s %s %s free%s", session_home_names(o->m, names),
             one ? "has" : "have", show_size(free, o->available),
             one ? "" : " together");
}

static void
note_offload(struct offload *o)
{
    struct model *m = o->m;
    char room[160], takes[24], *note = m->note;
    int n = (int)(o->parts.n - layers_after(m));
    int all = (int)(m->end - m->first); /* of this process */
    int without = (int)(o->parts.experts_from - m->first);
    bool layers = n < all && o->division.most == MODEL_AS_FITS;
    bool experts = o->division.experts_from == MODEL_AS_FITS && without > 0;
    const char *they = m->n_homes == 2 ? "it computes" : "they compute";

    if (are_listed(o))
        layers = false;
    if (without > all)
        without = all;
    show_room(o, room, sizeof(room));
    show_size(takes, session_needs_all(&o->needs));
    if (layers && n <= 0)
        snprintf(note, sizeof(m->note),
                 "%s, too little for any layer of the model, which takes %s: "
                 "the CPU computes",
                 room, takes);
    else if (layers)
        snprintf(note, sizeof(m->note),
                 "%s, and the model takes %s: %s %d of %d layers%s, the CPU "
                 "the others",
                 room, takes, they, n, all,
                 experts ? " without their experts" : "");
    else if (experts && n > 0)
        snprintf(note, sizeof(m->note),
                 "%s, and the model takes %s: the CPU computes the experts of "
                 "%d of %d layers",
                 room, takes, without, all);
}

static enum gg_status
too_little(const struct offload *o, struct gg_error *err)
{
    char room[160], takes[24];

    show_room(o, room, sizeof(room));
    return error_set(err, GG_ERR_NOMEM,
                     "%s, too little for any layer of the model, which takes "
                     "%s",
                     room, show_size(takes, session_needs_all(&o->needs)));
}

/* ---- all of it ---------------------------------------------------------- */

/* One without layers is none. */
static void
set_homes(struct model *m, const struct model_parts *parts)
{
    int n = m->n_homes, first = m->hp.n_layer - parts->n, left = parts->n;

    m->n_homes = 1;
    for (int i = 1; i < n; i++) {
        int32_t here = parts->layers[i - 1], end = first + here;
        int32_t experts = parts->experts_from;
        struct model_home *h;

        if (here == 0)
            continue;
        left -= here;
        end += left == 0; /* the output, too */
        experts = experts < first ? first : experts > end ? end : experts;
        h = &m->homes[m->n_homes++];
        *h = (struct model_home){
            .device = m->homes[i].device,
            .spans = { [MODEL_REST] = { first, end },
                       [MODEL_EXPERTS] = { experts, end } },
        };
        first = end;
    }
}

/* Some layers, or experts, have no room on devices. */
static bool
leaves_layers(const struct offload *o)
{
    const struct model *m = o->m;

    return o->parts.n - layers_after(m) < m->end - m->first ||
           o->parts.experts_from > m->first;
}

/* Layers that merely may be used do not take the room of others. */
static bool
drops_mtp(struct offload *o)
{
    bool drops =
        o->m->hp.n_mtp > 0 && o->params->mtp_if_able && !o->params->mtp;

    if (drops)
        o->m->hp.n_mtp = 0;
    return drops;
}

static bool
count_needs(struct offload *o)
{
    return session_needs_count(&o->needs, o->m,
                               session_needs_positions(o->m, o->params->n_ctx));
}

static enum gg_status
offload(struct offload *o, struct gg_error *err)
{
    struct model *m = o->m;
    bool automatic = !are_listed(o) && o->params->gpu_layers == 0;

    divide(o);
    if (leaves_layers(o) && drops_mtp(o)) {
        session_needs_clear(&o->needs);
        if (!count_needs(o))
            return error_nomem(err);
        divide(o);
    }
    if (!o->silent)
        note_offload(o);
    if (automatic && o->parts.n == 0 && m->named)
        return too_little(o, err);
    set_homes(m, &o->parts);
    return GG_OK;
}

/* Layers that are given to devices that there are none of are the CPU's. */
static void
keep_layers(const struct offload *o)
{
    if (are_listed(o) || o->params->gpu_layers > 0)
        snprintf(
            o->m->note, sizeof(o->m->note), "%s: the CPU computes all layers",
            o->m->named ? "no device but the CPU is named" : "there is no GPU");
}

enum gg_status
session_offload_layers(const struct gg_model_params *params, struct model *m,
                       struct gg_error *err)
{
    struct offload o = { .m = m, .params = params };
    enum gg_status st;

    m->named = has_named_device(params);
    if (m->n_homes == 1) {
        keep_layers(&o);
        return GG_OK;
    }
    st = take_list(&o, err);
    if (st == GG_OK)
        st = look_at_devices(&o, err);
    if (st != GG_OK || m->n_homes == 1)
        return st;
    if (!count_needs(&o))
        return error_nomem(err);
    st = offload(&o, err);
    session_needs_clear(&o.needs);
    return st;
}
