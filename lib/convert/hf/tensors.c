/* tensors.c - what becomes of the tensors of a folder */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/hf/families.h"
#include "convert/hf/layout.h"
#include "convert/hf/packed.h"
#include "core/check.h"
#include "core/mem.h"
#include "gguf/adapter.h"

enum {
    NAME = 256,
};

/* T5's is the first. */
#define TIED "scale_decoder_outputs|tie_word_embeddings"

static enum ggml_type
read_as(const struct safetensors_tensor *t)
{
    return t->packed ? t->packed->floats : t->type;
}

static enum ggml_type
check_type(struct hf *h, const struct safetensors_tensor *t)
{
    enum ggml_type type = read_as(t);

    if (type != GGML_TYPE_F32 && type != GGML_TYPE_F16 &&
        type != GGML_TYPE_BF16 && type != GGML_TYPE_F64)
        core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                      "%s: values of type %s%s are not read", t->name, t->dtype,
                      h->quantized ? " without scales" : "");
    return type;
}

/* Vectors, and what must stay exact, are F32; else what all parts are. */
static enum ggml_type
type_of_parts(struct hf *h, const struct hf_conversion *g)
{
    enum ggml_type type = read_as(g->first);

    if (convert_hf_blocks_of(g) != GGML_TYPE_COUNT)
        return convert_hf_blocks_of(g);
    if (g->how & HF_IDS && (type == GGML_TYPE_I32 || type == GGML_TYPE_I64))
        return GGML_TYPE_I32;
    for (size_t i = 0; i < g->rows.n_from; i++) {
        enum ggml_type t = check_type(h, g->rows.from[i]);

        if (t != type)
            type = GGML_TYPE_F32;
    }
    if (type == GGML_TYPE_F64 || g->ne[1] * g->ne[2] == 1 ||
        convert_hf_is_scaled(&g->rows) || g->first->n_dims == 1 ||
        g->how & (HF_F32 | HF_PLUS_1) || strstr(g->name, ".bias"))
        return GGML_TYPE_F32;
    return type;
}

enum ggml_type
convert_hf_type_of(struct hf *h, const struct safetensors_tensor *t,
                   const struct hf_rows *rows)
{
    enum ggml_type type = check_type(h, t);

    return type == GGML_TYPE_F64 || convert_hf_is_scaled(rows) ? GGML_TYPE_F32
                                                               : type;
}

/* B of an adapter's matrices has the rows of the weight; A stays. */
static void
set_scale(struct hf *h, struct hf_conversion *g)
{
    char base[GGML_MAX_NAME];

    if (gguf_adapter_split_name(g->name, base) != GGUF_ADAPTER_A)
        h->family->scale(h, base, &g->rows);
}

/* Takes over `from`. */
static void
add_tensor_from(struct hf *h, const char *name, unsigned how,
                const struct safetensors_tensor **from, size_t n)
{
    struct hf_conversion g = { .first = from[0],
                               .name = name,
                               .how = how,
                               .rows = { .from = from, .n_from = n } };

    convert_hf_lay_out(h, &g);
    if (how & HF_PLUS_1)
        g.rows.add = 1;
    g.rows.times = h->times;
    if (convert_hf_good(h) && h->family->scale)
        set_scale(h, &g);
    g.type = convert_hf_good(h) ? type_of_parts(h, &g) : GGML_TYPE_F32;
    if (convert_hf_good(h))
        convert_hf_note_rounding(h, &g);
    if (convert_hf_good(h))
        convert_hf_add_whole(h, &g);
    convert_hf_add(h, name, g.type, g.ne, &g.rows);
}

void
convert_hf_add_from(struct hf *h, const char *name,
                    const struct safetensors_tensor *from)
{
    const struct safetensors_tensor **all = mem_array(1, sizeof(from));

    if (!all) {
        h->here.status = error_nomem(h->here.err);
        return;
    }
    all[0] = from;
    add_tensor_from(h, name, 0, all, 1);
}

bool
convert_hf_read_vector(struct hf *h, const char *name, int32_t n, float *out)
{
    const struct safetensors_tensor *t =
        convert_hf_weights_find(&h->weights, name);
    struct hf_rows r = { .from = &t,
                         .n_from = 1,
                         .n_blocks = 1,
                         .n_rows = 1,
                         .length = n,
                         .step = 1 };

    if (!t || t->n != (size_t)n)
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is %s", name,
                      t ? "no vector" : "missing");
    else if (check_type(h, t) != GGML_TYPE_COUNT && convert_hf_good(h))
        convert_hf_rows_make(&r, 0, 1, GGML_TYPE_F32, out);
    return convert_hf_good(h);
}

/* ---- names --------------------------------------------------------------- */

static bool
same_shape(const struct safetensors_tensor *a,
           const struct safetensors_tensor *b)
{
    return a->n_dims == b->n_dims &&
           !memcmp(a->shape, b->shape, (size_t)a->n_dims * sizeof(*a->shape));
}

static bool
is_shards(unsigned how)
{
    return (how & HF_LAYOUT) == HF_SHARDS;
}

/* Part i of n: the last one may have fewer rows. */
static bool
is_next_shard(const struct safetensors_tensor *t,
              const struct safetensors_tensor *first, bool last)
{
    return t->n_dims == 2 && first->n_dims == 2 &&
           t->shape[1] == first->shape[1] &&
           (t->shape[0] == first->shape[0] ||
            (last && t->shape[0] > 0 && t->shape[0] < first->shape[0]));
}

/* `from` with its %d, if it has one, replaced by the expert. */
static void
expert_name(char out[NAME], const char *from, int32_t expert)
{
    const char *at = strstr(from, "%d");

    if (at)
        snprintf(out, NAME, "%.*s%d%s", (int)(at - from), from, (int)expert,
                 at + 2);
    else
        snprintf(out, NAME, "%s", from);
}

bool
convert_hf_take(struct hf *h, const char *from, const char *to, unsigned how)
{
    bool many = strstr(from, "%d") != NULL;
    size_t n = many ? (size_t)h->n_expert >> (how & HF_HALF ? 1 : 0) : 1;
    bool shards = is_shards(how);
    const struct safetensors_tensor **all, *t;
    char name[NAME];

    n = shards && many ? (size_t)h->n_shards : n;
    expert_name(name, from, 0);
    if (n == 0 || !convert_hf_weights_find(&h->weights, name))
        return false;
    all = mem_array(n, sizeof(const struct safetensors_tensor *));
    if (!all) {
        h->here.status = error_nomem(h->here.err);
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        expert_name(name, from, (int32_t)i);
        all[i] = t = convert_hf_weights_find(&h->weights, name);
        if (!t)
            core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is missing", name);
        else if (shards ? !is_next_shard(t, all[0], i == n - 1)
                        : !same_shape(t, all[0]))
            core_json_bad(&h->here, GG_ERR_FORMAT,
                          "%s: has another shape than %s", name, all[0]->name);
        if (!convert_hf_good(h)) {
            mem_free(all);
            return true;
        }
    }
    add_tensor_from(h, to, how, all, n);
    return true;
}

/* Weight and bias. */
static bool
take_both(struct hf *h, const char *prefix, const char *to_prefix,
          const struct hf_name *name)
{
    char from[NAME], to[NAME];
    bool exact = name->how & HF_EXACT, found;

    snprintf(from, NAME, "%s%s%s", prefix, name->from, exact ? "" : ".weight");
    snprintf(to, NAME, "%s%s%s", is_shards(name->how) ? "" : to_prefix,
             name->to, exact ? "" : ".weight");
    found = convert_hf_take(h, from, to, name->how);
    if (!found && !(name->how & (HF_OPTIONAL | HF_OR_NEXT)))
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is missing", from);
    if (!found || exact || !convert_hf_good(h))
        return found;
    snprintf(from, NAME, "%s%s.bias", prefix, name->from);
    snprintf(to, NAME, "%s%s.bias", to_prefix, name->to);
    convert_hf_take(h, from, to, name->how & ~(unsigned)HF_PLUS_1);
    return true;
}

/* Whether the layer of that prefix is of the name's kind. */
static bool
counts(struct hf *h, const char *prefix, const struct hf_name *name)
{
    char at[NAME];
    bool recurs;

    if (!(name->how & (HF_RECURRENT | HF_ATTENDING)))
        return true;
    snprintf(at, NAME, "%s%s", prefix, h->family->recurrent);
    recurs = convert_hf_weights_find(&h->weights, at) != NULL;
    return recurs == ((name->how & HF_RECURRENT) != 0);
}

void
convert_hf_take_list(struct hf *h, const char *prefix, const char *to_prefix,
                     const struct hf_name *name)
{
    for (; name && name->from && convert_hf_good(h); name++) {
        bool next = name->how & HF_OR_NEXT;

        if (!counts(h, prefix, name))
            continue;
        if (take_both(h, prefix, to_prefix, name) && next)
            name++;
    }
}

/* ---- all of them --------------------------------------------------------- */

/* Whether the model was saved without what stands on top of its layers: by its
 * class, or as its names lack the outermost part. */
static bool
is_bare(const struct hf *h)
{
    const json_t *list = json_object_get(h->document, "architectures");
    const char *class = json_string_value(json_array_get(list, 0));

    return (class && strcmp(class, h->class)) ||
           convert_hf_weights_are_bare(&h->weights,
                                       convert_hf_whole(h->family)->from);
}

/* Whether the output is the embedding's matrix. A drafter's own one is not. */
static bool
is_tied(struct hf *h)
{
    return !h->family->drafts &&
           core_json_bool(&h->config, TIED, h->family->tied);
}

/* Where it is, one that is there all the same is a copy of it. A bare model has
 * none. */
static void
check_output(struct hf *h)
{
    const struct hf_name *name = convert_hf_whole(h->family);
    bool said = core_json_find(&h->config, TIED) != NULL;
    bool tied = is_tied(h);
    bool found = false;
    char from[NAME];

    for (; name->from; name++) {
        snprintf(from, NAME, "%s.weight", name->from);
        if (!strcmp(name->to, "output"))
            found = found || convert_hf_weights_find(&h->weights, from);
    }
    if (said && !tied && !found && !is_bare(h))
        core_json_bad(&h->here, GG_ERR_FORMAT, "lm_head.weight: is missing");
}

static void
take_whole(struct hf *h)
{
    bool tied = is_tied(h);
    const struct hf_name *name = convert_hf_whole(h->family);

    for (; name->from && convert_hf_good(h); name++) {
        bool next = name->how & HF_OR_NEXT;

        if (strcmp(name->to, "output") || (!tied && !h->answers))
            next &= take_both(h, "", "", name);
        name += next;
    }
}

/* Tensors of pictures and sounds, by a part of their names. */
static const char *const media_parts[] = {
    "vision_tower.",
    "multi_modal_projector.",
    "patch_merge_mlp.",
    "vision_embedder.",
    "embed_vision.",
    "visual.",
    "mlp_AR.",
    "vision_model.",
    "audio_tower.",
    "embed_audio.",
    "model.connector.",
    "mlp1.",
    NULL,
};
/* Tensors that are no weights, or that an encoder was trained with. */
static const char *const left_out[] = {
    "rotary_emb.",
    ".attn.bias",
    ".attn.masked_bias",
    "attention.bias",
    "attention.masked_bias",
    "masked_bias",
    "embeddings.position_ids",
    "pooler.dense.",
    "cls.predictions.",
    "cls.seq_relationship.",
    NULL,
};

static bool
is_in(const char *name, const char *const *parts)
{
    for (; parts && *parts; parts++)
        if (strstr(name, *parts))
            return true;
    return false;
}

/* ---- MTP layers ---------------------------------------------------------- */

static const struct hf_name mtp_names[] = {
    { "eh_proj", "nextn.eh_proj", 0 },
    { "enorm", "nextn.enorm", 0 },
    { "hnorm", "nextn.hnorm", 0 },
    { "embed_tokens", "nextn.embed_tokens", HF_OPTIONAL },
    { "shared_head.norm", "nextn.shared_head_norm", HF_OPTIONAL },
    { "shared_head.head", "nextn.shared_head_head", HF_OPTIONAL },
    { 0 },
};
const struct hf_mtp convert_hf_mtp = { .names = mtp_names };

/* The prefix of the names of MTP layer i. */
static void
mtp_prefix(const struct hf *h, int32_t i, char to[NAME])
{
    const char *own = h->family->mtp->layers;

    snprintf(to, NAME, "%s%d.", own ? own : convert_hf_layers(h->family),
             (int)(own ? i : h->n_layer + i));
}

/* The prefix of what stands next to it. */
static void
mtp_outside(const struct hf *h, int32_t i, char to[NAME])
{
    if (h->family->mtp->outside)
        snprintf(to, NAME, "%s", h->family->mtp->outside);
    else
        mtp_prefix(h, i, to);
}

/* A family that has it next to the layers has but one. */
int32_t
convert_hf_count_mtp(struct hf *h)
{
    enum {
        MOST = 64
    };
    const struct hf_mtp *m = h->family->mtp;
    char outside[NAME], name[2 * NAME];
    int32_t n = 0;

    for (; m && n < (m->outside ? 1 : MOST); n++) {
        mtp_outside(h, n, outside);
        snprintf(name, sizeof(name), "%s%s.weight", outside, m->names->from);
        if (!convert_hf_weights_find(&h->weights, name))
            break;
    }
    return n;
}

static void
take_mtp(struct hf *h, int32_t i)
{
    char from[NAME], to[64];

    snprintf(to, sizeof(to), "blk.%d.", (int)(h->n_layer + i));
    mtp_prefix(h, i, from);
    for (int k = 0; k < HF_LISTS; k++)
        convert_hf_take_list(h, from, to, h->family->layer[k]);
    mtp_outside(h, i, from);
    convert_hf_take_list(h, from, to, h->family->mtp->names);
}

/* ---- the rest ------------------------------------------------------------ */

/* A layer for ids beyond the next, of a family whose are left out. */
static bool
is_after(struct hf *h, const char *name)
{
    int64_t n = core_json_int(&h->config, "num_nextn_predict_layers", 0, 64, 0);
    const char *layers = convert_hf_layers(h->family),
               *at = strstr(name, layers);
    long layer;

    if (!at && strchr(layers, '.')) /* without its outermost part */
        at = strstr(name, layers = strchr(layers, '.') + 1) == name ? name
                                                                    : NULL;
    layer = at ? strtol(at + strlen(layers), NULL, 10) : 0;
    return at && h->n_mtp == 0 && layer >= h->n_layer && layer < h->n_layer + n;
}

static void
check_left(struct hf *h)
{
    const char *const *own = h->family->left_out;

    for (size_t i = 0; i < h->weights.n && convert_hf_good(h); i++) {
        const char *name = h->weights.tensors[i]->name;
        bool known = h->weights.used[i];

        known = known || is_in(name, media_parts) || is_in(name, left_out) ||
                is_in(name, own) || is_after(h, name);
        if (!known)
            core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                          "%s: %s has no such tensor here", name, h->class);
    }
}

void
convert_hf_check_media_left(struct hf *h, const char *model)
{
    for (size_t i = 0; i < h->weights.n && convert_hf_good(h); i++) {
        const char *name = h->weights.tensors[i]->name;

        if (!h->weights.used[i] && is_in(name, media_parts) &&
            !is_in(name, left_out))
            core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                          "%s: the projector of %s has no such tensor here",
                          name, model);
    }
}

static void
check_rows(struct hf *h, const char *tensor, const char *setting, int64_t n)
{
    const struct gguf_tensor *t = gguf_tensor_named(h->gguf, tensor);

    if (convert_hf_good(h) && t && t->ne[1] != n)
        core_json_bad(&h->here, GG_ERR_FORMAT,
                      "%s has %lld rows, but %s is %lld", tensor,
                      (long long)t->ne[1], setting, (long long)n);
}

/* The names of a layer, in all of its lists. */
static void
take_layer(struct hf *h, const char *layers, const char *layers_to, int32_t i,
           const struct hf_name *const *lists, int n)
{
    char from[NAME], to[64];

    snprintf(from, NAME, "%s%d.", layers, (int)i);
    snprintf(to, sizeof(to), "%s%d.", layers_to, (int)i);
    for (int k = 0; k < n; k++)
        convert_hf_take_list(h, from, to, lists[k]);
}

void
convert_hf_add_tensors(struct hf *h)
{
    const struct hf_family *f = h->family;

    if (!f->encoder && !f->drafts)
        check_output(h);
    take_whole(h);
    for (int32_t i = 0; i < h->n_layer && convert_hf_good(h); i++)
        take_layer(h, convert_hf_layers(f), convert_hf_layers_to(f), i,
                   f->layer, HF_LISTS);
    for (int32_t i = 0; i < h->n_decoder && convert_hf_good(h); i++)
        take_layer(h, f->decoder, "dec.blk.", i, &f->decoder_layer, 1);
    for (int32_t i = 0; i < h->n_mtp && convert_hf_good(h); i++)
        take_mtp(h, i);
    if (convert_hf_good(h)) {
        check_rows(h, "token_embd.weight", "vocab_size", h->n_vocab);
        if (h->n_kinds)
            check_rows(h, "token_types.weight", "type_vocab_size", h->n_kinds);
        check_left(h);
    }
}

#endif
