/* model_summary.c - gathers what a user asks first about a model
 *
 * Whatever a key holds, nothing here fails: what makes no sense is left out. */
#include <config.h>

#include "gg-inspect/model_summary.h"

#include <gg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MAX_ARCH = 64,
    MAX_KEY = 128,
};

/* ---- keys of the family ------------------------------------------------- */

/* "llama.block_count"; a name that no key can begin with gives none. */
static const char *
own_key(char buf[MAX_KEY], const struct model_summary *s, const char *name)
{
    size_t len = s->architecture.len;

    if (!s->architecture.s || len > MAX_ARCH)
        len = 0;
    snprintf(buf, MAX_KEY, "%.*s.%s", (int)len, len ? s->architecture.s : "",
             name);
    return buf;
}

static struct range
own_range(const struct gguf_context *ctx, const struct model_summary *s,
          const char *name)
{
    char key[MAX_KEY];

    return meta_range(ctx, own_key(key, s, name));
}

static struct range
first_of(struct range a, struct range b)
{
    return a.max ? a : b;
}

/* Some families have none, though their converters write one. */
static struct range
window_of(const struct gguf_context *ctx, const struct model_summary *s)
{
    int32_t n = gg_model_window(ctx);

    return s->known ? (struct range){ (uint64_t)n, (uint64_t)n }
                    : own_range(ctx, s, "attention.sliding_window");
}

static void
get_shape(const struct gguf_context *ctx, struct model_summary *s)
{
    struct range each = { 0, 0 };

    s->context = own_range(ctx, s, "context_length");
    s->layers = own_range(ctx, s, "block_count");
    s->embedding = own_range(ctx, s, "embedding_length");
    s->heads = own_range(ctx, s, "attention.head_count");
    s->heads_kv =
        first_of(own_range(ctx, s, "attention.head_count_kv"), s->heads);
    if (s->heads.max)
        each.min = each.max = s->embedding.max / s->heads.max;
    s->key_length = first_of(own_range(ctx, s, "attention.key_length"), each);
    s->value_length =
        first_of(own_range(ctx, s, "attention.value_length"), each);
    s->feed_forward = own_range(ctx, s, "feed_forward_length");
    s->window = window_of(ctx, s);
}

static void
get_experts(const struct gguf_context *ctx, struct model_summary *s)
{
    s->experts = own_range(ctx, s, "expert_count");
    s->experts_used = own_range(ctx, s, "expert_used_count");
    s->experts_shared = own_range(ctx, s, "expert_shared_count");
    if (s->experts.max)
        s->feed_forward = first_of(
            own_range(ctx, s, "expert_feed_forward_length"), s->feed_forward);
}

/* Tensors of divisors: for all layers, or (longrope) two sets. */
static bool
has_factors(const struct gguf_context *ctx)
{
    static const char *const names[] = { "rope_freqs.weight",
                                         "blk.0.rope_freqs.weight",
                                         "rope_factors_long.weight",
                                         "blk.0.rope_factors_long.weight" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (gguf_find_tensor(ctx, names[i]) >= 0)
            return true;
    return false;
}

static void
get_scaling(const struct gguf_context *ctx, struct model_summary *s)
{
    char key[MAX_KEY];

    s->scaling = meta_text(ctx, own_key(key, s, "rope.scaling.type"));
    s->scaling_factor = meta_float(ctx, own_key(key, s, "rope.scaling.factor"));
    if (s->scaling_factor <= 0)
        s->scaling_factor =
            meta_float(ctx, own_key(key, s, "rope.scale_linear"));
    s->scaling_from = own_range(ctx, s, "rope.scaling.original_context_length");
    s->frequency_factors = has_factors(ctx);
}

/* "tool_use" of tokenizer.chat_template.tool_use */
static void
get_named_chats(const struct gguf_context *ctx, struct model_summary *s)
{
    static const char prefix[] = "tokenizer.chat_template.";
    size_t n = sizeof(prefix) - 1, most = sizeof(s->chats) / sizeof(*s->chats);

    for (int64_t i = 0; i < gguf_get_n_kv(ctx) && s->n_chats < most; i++) {
        const char *key = gguf_get_key(ctx, i);

        if (strncmp(key, prefix, n) == 0 &&
            gguf_get_kv_type(ctx, i) == GGUF_TYPE_STRING)
            s->chats[s->n_chats++] = (struct text){ key + n, strlen(key) - n };
    }
}

static void
get_chat(const struct gguf_context *ctx, struct model_summary *s)
{
    struct gg_chat_template *chat = NULL;

    s->chat = meta_text(ctx, "tokenizer.chat_template");
    get_named_chats(ctx, s);
    if (s->chat.s &&
        gg_chat_parse(s->chat.s, s->chat.len, &chat, &s->chat_error) == GG_OK)
        s->chat_parses = true;
    gg_chat_free(chat);
}

static void
get_vocabulary(const struct gguf_context *ctx, struct model_summary *s)
{
    int64_t embd = gguf_find_tensor(ctx, "token_embd.weight");

    s->vocab = meta_text(ctx, "tokenizer.ggml.model");
    s->split = meta_text(ctx, "tokenizer.ggml.pre");
    s->n_vocab = meta_count(ctx, "tokenizer.ggml.tokens");
    if (!s->n_vocab)
        s->n_vocab = own_range(ctx, s, "vocab_size").max;
    if (!s->n_vocab && embd >= 0)
        s->n_vocab = (uint64_t)gguf_get_tensor_ne(ctx, embd)[1];
}

static uint64_t
length_of(const struct gguf_context *ctx, const char *tensor, int dim)
{
    int64_t id = gguf_find_tensor(ctx, tensor);

    return id < 0 ? 0 : (uint64_t)gguf_get_tensor_ne(ctx, id)[dim];
}

static void
get_sampling(const struct gguf_context *ctx, struct model_summary *s)
{
    size_t n = gg_sampling_of_file(ctx, NULL, 0);

    if (!n)
        return;
    s->sampling_line = cli_alloc(NULL, n + 1, 1);
    gg_sampling_of_file(ctx, s->sampling_line, n + 1);
    s->sampling = sampling_options_default();
    file_sampling_take(&s->sampling, s->sampling_line, NULL);
}

/* gg-stream(5) */
static void
get_state(const struct gguf_context *ctx, struct model_summary *s)
{
    struct text type = meta_text(ctx, "general.type");

    s->state = type.len == 8 && memcmp(type.s, "gg-state", 8) == 0;
    if (!s->state)
        return;
    s->state_of = meta_text(ctx, "state.model.architecture");
    s->state_sequences = length_of(ctx, "sequences", 1);
    s->state_ids = length_of(ctx, "ids", 0);
    s->chat = meta_text(ctx, "state.chat_template");
}

/* ---- parameters --------------------------------------------------------- */

/* "blk.0.ffn_up_exps.weight" has all experts of a layer; in older files
 * "blk.0.ffn_up.7.weight" has one of them. */
static bool
is_expert(const char *name)
{
    const char *p = strstr(name, ".ffn_");

    if (!p)
        return false;
    if (strstr(p, "_exps.") || strstr(p, "_chexps."))
        return true;
    p = strchr(p + 1, '.');
    return p && p[1] >= '0' && p[1] <= '9';
}

static uint64_t
count_active(const struct gguf_context *ctx, const struct model_summary *s)
{
    uint64_t of_experts = 0;
    double share;

    if (!s->experts.max || !s->experts_used.max ||
        s->experts_used.max >= s->experts.max)
        return 0;
    share = (double)s->experts_used.max / (double)s->experts.max;
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++)
        if (is_expert(gguf_get_tensor_name(ctx, i)) &&
            __builtin_add_overflow(of_experts, totals_values(ctx, i),
                                   &of_experts))
            return 0;
    if (!of_experts || of_experts > s->all.values)
        return 0;
    return s->all.values - of_experts +
           (uint64_t)((double)of_experts * share + 0.5);
}

static void
get_files(const struct gguf_context *ctx, const struct inspect_options *o,
          struct model_summary *s)
{
    struct stat st;

    s->n_files = (uint64_t)gguf_get_n_shards(ctx);
    s->split_no = meta_range(ctx, "split.no");
    s->split_count = meta_range(ctx, "split.count");
    for (int64_t i = 0; i < gguf_get_n_shards(ctx); i++) {
        const char *name = gguf_get_shard_name(ctx, i);

        if (stat(name ? name : o->path, &st) == 0)
            s->file_bytes += (uint64_t)st.st_size;
    }
}

/* Answers of the library about its name, NUL-ended. */
static bool
ask(const struct text *architecture, bool (*is_so)(const char *name))
{
    char name[MAX_ARCH + 1];

    if (!architecture->s || architecture->len > MAX_ARCH ||
        memchr(architecture->s, '\0', architecture->len))
        return false;
    memcpy(name, architecture->s, architecture->len);
    name[architecture->len] = '\0';
    return is_so(name);
}

static bool
is_known(const struct text *architecture)
{
    return ask(architecture, gg_model_known);
}

void
model_summary_make(const struct gguf_context *ctx,
                   const struct inspect_options *o, struct model_summary *out)
{
    struct model_summary *s = out;

    memset(s, 0, sizeof(*s));
    s->architecture = meta_text(ctx, "general.architecture");
    s->name = meta_text(ctx, "general.name");
    s->size_label = meta_text(ctx, "general.size_label");
    s->known = is_known(&s->architecture);
    s->drafts = ask(&s->architecture, gg_model_drafts);
    totals_count(ctx, s->by_type, &s->all);
    get_files(ctx, o, s);
    get_shape(ctx, s);
    get_experts(ctx, s);
    get_scaling(ctx, s);
    get_vocabulary(ctx, s);
    get_chat(ctx, s);
    get_sampling(ctx, s);
    get_state(ctx, s);
    s->active = count_active(ctx, s);
    adapter_summary_make(ctx, &s->adapter);
    projector_summary_make(ctx, o, &s->projector);
    if (s->projector.is_projector)
        s->known = s->projector.opens;
    if (s->adapter.kind == ADAPTER_OTHER)
        s->known = false;
    else if (s->adapter.kind == ADAPTER_CONTROL)
        s->known = !s->adapter.family.s || is_known(&s->adapter.family);
}

void
model_summary_clear(struct model_summary *s)
{
    adapter_summary_clear(&s->adapter);
    free(s->sampling_line);
}
