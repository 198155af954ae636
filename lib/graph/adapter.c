/* adapter.c - finds what adapters change of a model */
#include "graph/adapter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/hash.h"
#include "core/mem.h"
#include "core/plant.h"
#include "gguf/adapter.h"
#include "graph/arch.h"
#include "graph/probe.h"

enum {
    MAX_RANK = 1 << 16,
    NODES_PER_PAIR = 4,
};

typedef bool
use_t(struct ggml_context *, ggml_backend_dev_t, struct ggml_tensor *);

/* One adapter. */
struct finder {
    struct model_loader *l;
    struct model_adapter *to;
    const struct gguf_context *gguf;
    float alpha;
};

enum {
    NOWHERE = -1,
    ELSEWHERE = MODEL_MAX_HOMES, /* in another process */
};

/* A tensor of the model that one of the adapter changes. */
struct target {
    struct ggml_tensor *t;
    int home;       /* or one of the above */
    bool looked_up; /* its rows are, by ids */
    use_t *use;
};

__attribute__((format(printf, 3, 4))) static void
bad_change(struct finder *f, const char *name, const char *fmt, ...)
{
    struct gg_error why;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(why.message, sizeof(why.message), fmt, ap);
    va_end(ap);
    f->l->status = gguf_bad_value(f->gguf, name, f->l->err, "%s", why.message);
}

/* ---- which tensor -------------------------------------------------------- */

static struct ggml_tensor *
tensor_elsewhere(const struct model *m, const char *name)
{
    return m->elsewhere ? ggml_get_tensor(m->elsewhere, name) : NULL;
}

/* The home that it is in. */
static int
home_with(const struct model *m, const struct ggml_tensor *t)
{
    for (int i = 0; t && i < m->n_homes; i++)
        if (ggml_get_tensor(m->homes[i].ctx, t->name) == t)
            return i;
    return t && tensor_elsewhere(m, t->name) == t ? ELSEWHERE : NOWHERE;
}

static use_t *
use_of(const struct ggml_tensor *t)
{
    if (ggml_n_dims(t) > 2)
        return graph_probe_mul_mat_id;
    return ggml_n_dims(t) > 1 ? graph_probe_mul_mat : NULL;
}

/* By its name in the file, as both of what embeds and what gives logits may be
 * one. */
static bool
find_target(const struct model *m, const char *base, struct target *out)
{
    *out = (struct target){ .home = NOWHERE };
    if (m->token_embd && strcmp(base, m->token_embd->name) == 0) {
        out->t = m->token_embd;
        out->looked_up = true;
        out->use = graph_probe_get_rows;
    } else if (strcmp(base, "output.weight") == 0) {
        out->t = m->output.weight;
        out->use = graph_probe_mul_mat;
    }
    for (int i = 0; i < m->n_homes && !out->t; i++)
        out->t = ggml_get_tensor(m->homes[i].ctx, base);
    if (!out->t)
        out->t = tensor_elsewhere(m, base);
    out->home = home_with(m, out->t);
    if (out->t && !out->use)
        out->use = use_of(out->t);
    return out->home != NOWHERE;
}

/* ---- shapes -------------------------------------------------------------- */

static bool
is_shape(const struct gguf_tensor *t, int64_t n0, int64_t n1, int64_t n2)
{
    return t->ne[0] == n0 && t->ne[1] == n1 && t->ne[2] == n2 && t->ne[3] == 1;
}

static void
check_pair(struct finder *f, const struct target *target,
           const struct gguf_tensor *a, const struct gguf_tensor *b)
{
    const int64_t *ne = target->t->ne;
    int64_t rank = b->ne[0];
    bool fits = target->looked_up ? is_shape(a, rank, ne[1], 1)
                                  : is_shape(a, ne[0], rank, ne[2]);

    if (!target->use)
        bad_change(f, a->name, "the model's is a vector, no matrix");
    else if (rank < 1 || rank > MAX_RANK)
        bad_change(f, b->name, "a rank of %lld is not in 1..%d",
                   (long long)rank, MAX_RANK);
    else if (!fits || !is_shape(b, rank, target->looked_up ? ne[0] : ne[1],
                                target->looked_up ? 1 : ne[2]))
        bad_change(f, a->name,
                   "with its lora_b its shape does not fit the model's: the "
                   "adapter was made for another one");
}

static void
check_replacement(struct finder *f, const struct target *target,
                  const struct gguf_tensor *t)
{
    const struct ggml_tensor *of = target->t;

    if (!is_shape(t, of->ne[0], of->ne[1], of->ne[2]))
        bad_change(f, t->name,
                   "its shape is not the model's: the adapter was made for "
                   "another one");
    else if (of->type == GGML_TYPE_F32 && t->type != GGML_TYPE_F32 &&
             (!target->use || strstr(t->name, ".bias")))
        bad_change(f, t->name, "type is %s, not f32", ggml_type_name(t->type));
}

/* ---- tensors ------------------------------------------------------------- */

static bool
can_use(struct finder *f, const struct target *target, use_t *use,
        const struct gguf_tensor *t)
{
    struct model_loader *l = f->l;
    struct ggml_tensor *w;

    if (!use || target->home == ELSEWHERE)
        return true;
    ggml_reset(l->weight);
    w = ggml_new_tensor(l->weight, t->type, t->n_dims, t->ne);
    return use(l->scratch, l->model->homes[target->home].device, w);
}

/* A tensor next to the one that it changes; NULL: failed. */
static struct ggml_tensor *
new_part(struct finder *f, const struct target *target, use_t *use,
         const struct gguf_tensor *t)
{
    struct ggml_tensor *r;

    if (f->l->status != GG_OK)
        return NULL;
    if (!can_use(f, target, use, t)) {
        bad_change(f, t->name,
                   "type is %s, which the device cannot compute "
                   "with",
                   ggml_type_name(t->type));
        f->l->status = GG_ERR_UNSUPPORTED;
        return NULL;
    }
    r = ggml_new_tensor(target->home == ELSEWHERE ? f->to->elsewhere
                                                  : f->to->ctx[target->home],
                        t->type, t->n_dims, t->ne);
    if (r)
        ggml_set_name(r, t->name);
    else
        f->l->status = error_nomem(f->l->err);
    return r;
}

static void
add_change(struct finder *f, const struct target *target,
           struct model_change change)
{
    struct model_change *c = target->looked_up
                                 ? &f->to->embedding
                                 : &f->to->changes[f->to->n_changes++];

    if (target->looked_up && c->of)
        bad_change(f, target->t->name, "is changed twice");
    change.of = target->t;
    *c = change;
}

static void
find_pair(struct finder *f, const struct gguf_tensor *a, const char *base)
{
    char name[GGML_MAX_NAME];
    const struct gguf_tensor *b = NULL;
    struct target target;
    use_t *use;

    if (gguf_adapter_part_name(base, GGUF_ADAPTER_B, name))
        b = gguf_tensor_named(f->gguf, name);
    if (!b) {
        bad_change(f, a->name, "there is no lora_b that goes with it");
        return;
    }
    if (!find_target(f->l->model, base, &target)) {
        bad_change(f, a->name,
                   "the model has no such matrix: the adapter was made for "
                   "another one");
        return;
    }
    check_pair(f, &target, a, b);
    use = target.looked_up ? graph_probe_mul_mat : target.use;
    add_change(f, &target,
               (struct model_change){
                   .a = new_part(f, &target, target.use, a),
                   .b = new_part(f, &target, use, b),
                   .scale = gguf_adapter_scale(f->alpha, b->ne[0]),
               });
}

static void
find_whole(struct finder *f, const struct gguf_tensor *t)
{
    struct target target;

    if (!find_target(f->l->model, t->name, &target)) {
        bad_change(f, t->name,
                   "the model has no such tensor: the adapter was made for "
                   "another one");
        return;
    }
    check_replacement(f, &target, t);
    add_change(
        f, &target,
        (struct model_change){ .a = new_part(f, &target, target.use, t) });
}

static void
find_change(struct finder *f, const struct gguf_tensor *t)
{
    char base[GGML_MAX_NAME], a[GGML_MAX_NAME];

    switch (gguf_adapter_split_name(t->name, base)) {
    case GGUF_ADAPTER_A:
        find_pair(f, t, base);
        break;
    case GGUF_ADAPTER_B:
        if (!gguf_adapter_part_name(base, GGUF_ADAPTER_A, a) ||
            !gguf_tensor_named(f->gguf, a))
            bad_change(f, t->name, "there is no lora_a that goes with it");
        break;
    default:
        find_whole(f, t);
    }
}

/* ---- control vectors ----------------------------------------------------- */

static void
find_direction(struct finder *f, const struct gguf_tensor *t)
{
    const struct model *m = f->l->model;
    size_t n = strlen(GGUF_ADAPTER_VECTOR);
    struct target target = { 0 };
    char *end = NULL;
    long layer = 0;

    if (strncmp(t->name, GGUF_ADAPTER_VECTOR, n) == 0 && t->name[n] >= '0' &&
        t->name[n] <= '9')
        layer = strtol(t->name + n, &end, 10);
    if (!end || *end || layer < 1 || layer >= m->hp.n_layer) {
        bad_change(f, t->name, "names no layer from 1 to %d, the model's last",
                   (int)m->hp.n_layer - 1);
    } else if (t->type != GGML_TYPE_F32 || !is_shape(t, m->hp.n_embd, 1, 1)) {
        bad_change(f, t->name, "is no vector of %d values of type f32",
                   (int)m->hp.n_embd);
    } else if (f->to->directions[layer]) {
        bad_change(f, t->name, "names a layer for the second time");
    } else {
        target.home = graph_has_layer(m, (int32_t)layer)
                          ? graph_home_of(m, (int32_t)layer, MODEL_REST)
                          : ELSEWHERE;
        f->to->directions[layer] = new_part(f, &target, NULL, t);
    }
}

/* ---- files --------------------------------------------------------------- */

static int
by_address(const void *a, const void *b)
{
    const struct model_change *x = a, *y = b;

    return x->of < y->of ? -1 : x->of > y->of;
}

/* No tensor has two. */
static void
sort_changes(struct finder *f)
{
    struct model_change *c = f->to->changes;
    size_t n = f->to->n_changes;

    if (n > 1)
        qsort(c, n, sizeof(*c), by_address);
    for (size_t i = 1; i < n && f->l->status == GG_OK; i++)
        if (c[i].of == c[i - 1].of)
            bad_change(f, c[i].of->name, "is changed twice");
}

/* That of a file which has the model's family in it. */
static void
check_family(struct finder *f)
{
    static const char key[] = "general.architecture";
    const char *own = f->l->model->arch->name;
    struct gguf_str s = { "", 0 };
    enum gg_status st = gguf_get_str(f->gguf, key, &s, f->l->err);

    if (st != GG_OK)
        f->l->status = st;
    else if (s.n != strlen(own) || memcmp(s.s, own, s.n) != 0)
        bad_change(f, key, "the adapter is not of the model's family, %s", own);
}

static void
start_lora(struct finder *f)
{
    size_t n = (size_t)gguf_get_n_tensors(f->gguf);

    check_family(f);
    if (f->l->status == GG_OK)
        f->l->status =
            gguf_opt_f32(f->gguf, GGUF_ADAPTER_ALPHA, &f->alpha, f->l->err);
    f->to->changes = mem_array(n, sizeof(*f->to->changes));
    if (!f->to->changes && f->l->status == GG_OK)
        f->l->status = error_nomem(f->l->err);
}

static void
start_control(struct finder *f)
{
    f->to->directions =
        mem_array((size_t)f->l->model->hp.n_layer, sizeof(*f->to->directions));
    if (!f->to->directions)
        f->l->status = error_nomem(f->l->err);
}

static bool
new_contexts(struct model_adapter *a, int n_homes, int64_t n_tensors)
{
    struct ggml_init_params params = {
        .mem_size = ((size_t)n_tensors + 1) * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    bool done = (a->elsewhere = ggml_init(params)) != NULL;

    for (int i = 0; i < n_homes; i++) {
        a->ctx[i] = ggml_init(params);
        done = done && a->ctx[i];
    }
    return done;
}

static void
find_changes(struct finder *f)
{
    enum gguf_adapter_kind kind = gguf_adapter_kind_of(f->gguf);
    int64_t n = gguf_get_n_tensors(f->gguf);

    if (!new_contexts(f->to, f->l->model->n_homes, n)) {
        f->l->status = error_nomem(f->l->err);
        return;
    }
    if (kind == GGUF_ADAPTER_LORA)
        start_lora(f);
    else if (kind == GGUF_ADAPTER_CONTROL)
        start_control(f);
    else
        bad_change(f, "general.type",
                   "the file is neither a LoRA adapter nor a control vector");
    for (int64_t i = 0; i < n && f->l->status == GG_OK; i++)
        if (kind == GGUF_ADAPTER_LORA)
            find_change(f, gguf_tensor(f->gguf, i));
        else
            find_direction(f, gguf_tensor(f->gguf, i));
    gg_plant("adapter");
    if (f->l->status == GG_OK)
        sort_changes(f);
}

enum gg_status
graph_adapters_find(struct model_loader *l)
{
    struct model *m = l->model;
    size_t n = m->files.n_adapters;

    if (l->status != GG_OK || n == 0)
        return l->status;
    m->adapters = mem_array(n, sizeof(*m->adapters));
    m->scales = mem_array(n, sizeof(*m->scales));
    if (!m->adapters || !m->scales)
        l->status = error_nomem(l->err);
    for (size_t i = 0; i < n && l->status == GG_OK; i++) {
        const struct model_adapter_file *from = &m->files.adapters[i];
        struct finder f = { .l = l,
                            .to = &m->adapters[i],
                            .gguf = from->file->gguf };

        m->adapters[i].file = from;
        m->scales[i] = from->scale;
        find_changes(&f);
    }
    return l->status;
}

void
graph_adapters_free(struct model *m)
{
    for (size_t i = 0; m->adapters && i < m->files.n_adapters; i++) {
        struct model_adapter *a = &m->adapters[i];

        for (int k = 0; k < MODEL_MAX_HOMES; k++)
            ggml_free(a->ctx[k]);
        ggml_free(a->elsewhere);
        mem_free(a->changes);
        mem_free(a->directions);
    }
    mem_free(m->adapters);
    mem_free(m->scales);
    m->adapters = NULL;
    m->scales = NULL;
}

/* ---- numbers ------------------------------------------------------------- */

uint64_t
graph_adapters_size_at(const struct model *m, int home)
{
    uint64_t n = 0;

    for (size_t i = 0; i < m->files.n_adapters; i++) {
        struct ggml_context *ctx = m->adapters[i].ctx[home];
        struct ggml_tensor *t = ggml_get_first_tensor(ctx);

        for (; t; t = ggml_get_next_tensor(ctx, t))
            n += ggml_nbytes(t);
    }
    return n;
}

uint64_t
graph_adapters_size(const struct model *m)
{
    uint64_t n = 0;

    for (int i = 0; i < m->n_homes; i++)
        n += graph_adapters_size_at(m, i);
    return n;
}

size_t
graph_adapters_max_nodes(const struct model *m)
{
    size_t loops =
        m->hp.n_loop > 0 ? (size_t)(m->hp.n_layer / m->hp.n_loop) + 1 : 1;
    size_t n = 0;

    for (size_t i = 0; i < m->files.n_adapters; i++)
        n += (m->adapters[i].n_changes + 1) * NODES_PER_PAIR * loops +
             2 * (size_t)m->hp.n_layer;
    return n;
}

/* With what is in no tensor, and in no key of an architecture. */
static uint64_t
add_to_hash(uint64_t h, const struct model_adapter_file *file, bool layered)
{
    const struct gguf_context *gguf = file->file->gguf;
    uint64_t own = gguf_fingerprint(gguf);
    int32_t layers[2] = { file->first, file->last };
    float alpha = 0;

    (void)gguf_opt_f32(gguf, GGUF_ADAPTER_ALPHA, &alpha, NULL);
    h = hash_bytes(h, &own, sizeof(own));
    h = hash_bytes(h, &alpha, sizeof(alpha));
    return layered ? hash_bytes(h, layers, sizeof(layers)) : h;
}

uint64_t
graph_adapter_fingerprint(const struct model_adapter *adapter)
{
    return add_to_hash(HASH_START, adapter->file, adapter->directions != NULL);
}

uint64_t
graph_files_fingerprint(const struct model_files *files)
{
    uint64_t h = HASH_START, mtp;

    for (size_t i = 0; i < files->n_adapters; i++) {
        const struct model_adapter_file *a = &files->adapters[i];

        h = add_to_hash(h, a, true);
        h = hash_bytes(h, &a->scale, sizeof(a->scale));
    }
    mtp = files->mtp ? gguf_fingerprint(files->mtp) : 0;
    return hash_bytes(h, &mtp, sizeof(mtp));
}

bool
graph_adapters_same(const struct model *m, const float *a, const float *b)
{
    for (size_t i = 0; i < m->files.n_adapters; i++)
        if (a[i] != b[i])
            return false;
    return true;
}
