/* adapter_summary.c - gathers what a file that changes a model changes of it
 *
 * Whatever it holds, nothing here fails. */
#include <config.h>

#include "gg-inspect/adapter_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

#define VECTOR "direction."

static bool
text_is(const struct text *t, const char *what)
{
    return t->s && t->len == strlen(what) && memcmp(t->s, what, t->len) == 0;
}

/* ---- names --------------------------------------------------------------- */

/* Takes the ending off the name. */
static bool
cut_ending(char *name, const char *ending)
{
    size_t n = strlen(name), end = strlen(ending);

    if (n <= end || strcmp(name + n - end, ending) != 0)
        return false;
    name[n - end] = '\0';
    return true;
}

/* The layer of "blk.7.attn_q", and of "enc.blk.7.attn_q", whose name becomes
 * "attn_q", "enc.attn_q"; -1: there is none. */
static int64_t
cut_layer(char *name)
{
    char *at = strstr(name, "blk."), *end;
    long layer;

    if (!at || (at > name && at[-1] != '.') || at[4] < '0' || at[4] > '9')
        return -1;
    layer = strtol(at + 4, &end, 10);
    if (*end != '.' || layer > INT32_MAX)
        return -1;
    memmove(at, end + 1, strlen(end + 1) + 1);
    return layer;
}

/* The other part of a pair; -1: there is none. */
static int64_t
other_part(const struct gguf_context *ctx, const char *base, const char *suffix)
{
    char name[GGML_MAX_NAME + 16];

    snprintf(name, sizeof(name), "%s%s", base, suffix);
    return gguf_find_tensor(ctx, name);
}

/* ---- tensors ------------------------------------------------------------- */

/* lora_a has the rank as its number of rows, or, where rows are looked up, as
 * that of its columns. */
static bool
is_rank_of(const struct gguf_context *ctx, int64_t a, int64_t rank)
{
    const int64_t *ne = gguf_get_tensor_ne(ctx, a);

    return ne[0] == rank || ne[1] == rank;
}

static void
add_pair(const struct gguf_context *ctx, int64_t a, int64_t b,
         struct adapter_change *c)
{
    c->odd = a < 0 || b < 0;
    if (b >= 0)
        c->rank = (uint64_t)gguf_get_tensor_ne(ctx, b)[0];
    if (c->odd)
        return;
    c->odd = !is_rank_of(ctx, a, (int64_t)c->rank);
    c->values = totals_values(ctx, a) + totals_values(ctx, b);
}

/* Reads the change that tensor i is the first part of. */
static bool
read_change(const struct gguf_context *ctx, int64_t i, struct adapter_change *c)
{
    char base[GGML_MAX_NAME];
    int64_t other;

    snprintf(base, sizeof(base), "%s", gguf_get_tensor_name(ctx, i));
    *c =
        (struct adapter_change){ .tensor = i, .values = totals_values(ctx, i) };
    if (cut_ending(base, ".lora_a")) {
        add_pair(ctx, i, other_part(ctx, base, ".lora_b"), c);
    } else if (cut_ending(base, ".lora_b")) {
        other = other_part(ctx, base, ".lora_a");
        if (other >= 0)
            return false;
        add_pair(ctx, -1, i, c);
    }
    cut_ending(base, ".weight");
    c->layer = cut_layer(base);
    memcpy(c->module, base, sizeof(base));
    return true;
}

/* "direction.7" */
static bool
read_direction(const struct gguf_context *ctx, int64_t i,
               struct adapter_change *c)
{
    const char *name = gguf_get_tensor_name(ctx, i);
    size_t n = sizeof(VECTOR) - 1;
    unsigned long layer;
    char end;

    *c = (struct adapter_change){ .tensor = i,
                                  .values = totals_values(ctx, i),
                                  .layer = -1 };
    if (strncmp(name, VECTOR, n) == 0 &&
        sscanf(name + n, "%9lu%c", &layer, &end) == 1)
        c->layer = (int64_t)layer;
    c->odd = c->layer < 1;
    if (c->odd)
        c->layer = -1;
    return true;
}

static int
by_module(const void *a, const void *b)
{
    const struct adapter_change *x = a, *y = b;
    int order = strcmp(x->module, y->module);

    if (order == 0)
        order = (x->rank > y->rank) - (x->rank < y->rank);
    if (order == 0)
        order = x->odd - y->odd;
    if (order == 0)
        order = (x->layer > y->layer) - (x->layer < y->layer);
    return order ? order : (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

static void
widen_range(struct range *r, uint64_t v)
{
    r->min = v < r->min ? v : r->min;
    r->max = v > r->max ? v : r->max;
}

static void
read_changes(const struct gguf_context *ctx, struct adapter_summary *a)
{
    int64_t n = gguf_get_n_tensors(ctx);

    a->changes = cli_alloc(NULL, (size_t)n + 1, sizeof(*a->changes));
    a->rank.min = a->layers.min = UINT64_MAX;
    for (int64_t i = 0; i < n; i++) {
        struct adapter_change *c = &a->changes[a->n];

        if (!(a->kind == ADAPTER_CONTROL ? read_direction : read_change)(ctx, i,
                                                                         c))
            continue;
        a->n++;
        if (c->rank)
            widen_range(&a->rank, c->rank);
        if (c->layer >= 0)
            widen_range(&a->layers, (uint64_t)c->layer);
    }
    if (a->rank.max == 0)
        a->rank.min = 0;
    if (a->n > 1)
        qsort(a->changes, a->n, sizeof(*a->changes), by_module);
}

/* ---- all of it ----------------------------------------------------------- */

static enum adapter_kind
kind_of(const struct gguf_context *ctx, const struct adapter_summary *a)
{
    struct text family = meta_text(ctx, "general.architecture");
    struct text what = meta_text(ctx, "general.type");

    if (text_is(&family, "controlvector"))
        return ADAPTER_CONTROL;
    if (!text_is(&what, "adapter"))
        return ADAPTER_NONE;
    return text_is(&a->type, "lora") ? ADAPTER_LORA : ADAPTER_OTHER;
}

void
adapter_summary_make(const struct gguf_context *ctx,
                     struct adapter_summary *out)
{
    struct adapter_summary *a = out;

    *a = (struct adapter_summary){ .type = meta_text(ctx, "adapter.type") };
    a->kind = kind_of(ctx, a);
    if (a->kind == ADAPTER_NONE)
        return;
    a->family =
        meta_text(ctx, a->kind == ADAPTER_CONTROL ? "controlvector.model_hint"
                                                  : "general.architecture");
    a->alpha = meta_float(ctx, "adapter.lora.alpha");
    a->has_alpha = a->alpha != 0;
    if (a->kind != ADAPTER_OTHER)
        read_changes(ctx, a);
}

void
adapter_summary_clear(struct adapter_summary *a)
{
    free(a->changes);
    *a = (struct adapter_summary){ 0 };
}

double
adapter_summary_scale(const struct adapter_summary *a, uint64_t rank)
{
    return a->has_alpha && rank ? a->alpha / (double)rank : 1;
}
