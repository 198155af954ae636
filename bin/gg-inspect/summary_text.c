/* summary_text.c - what a user asks first, in aligned lines or as JSON */
#include <config.h>

#include "gg-inspect/model_summary.h"

#include <inttypes.h>
#include <string.h>

#include "common/json.h"

enum {
    MAX_SHOWN = 60, /* characters of a name */
};

/* ---- for people --------------------------------------------------------- */

static void
label(const char *name)
{
    printf("%-13s", name);
}

static void
put_text(const struct text *t)
{
    value_put_escaped(stdout, t->s, t->len, MAX_SHOWN);
}

/* "16", or "16 to 32" */
static void
put_range(const struct range *r)
{
    printf("%" PRIu64, r->min);
    if (r->max != r->min)
        printf(" to %" PRIu64, r->max);
}

static void
put_range_line(const char *name, const struct range *r)
{
    if (!r->max)
        return;
    label(name);
    put_range(r);
    putchar('\n');
}

static void
text_family(const struct model_summary *s)
{
    label("family");
    if (s->architecture.s) {
        put_text(&s->architecture);
        puts(s->known    ? ""
             : s->drafts ? ", a drafter for another model"
                         : ", not known to gg-eval");
    } else {
        puts("none is named");
    }
}

static void
text_files(const struct model_summary *s)
{
    if (s->split_count.max <= 1)
        return;
    label("files");
    if (s->n_files > 1)
        printf("%" PRIu64 "\n", s->n_files);
    else
        printf("number %" PRIu64 " of %" PRIu64
               "; the others are not counted here\n",
               s->split_no.max + 1, s->split_count.max);
}

/* The type that comes after that one in the order of bytes; -1: none. */
static int
next_type(const struct model_summary *s, const struct totals *after)
{
    int best = -1;

    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const struct totals *t = &s->by_type[i];

        if (t->tensors &&
            (!after || t->bytes < after->bytes ||
             (t->bytes == after->bytes && t > after)) &&
            (best < 0 || t->bytes > s->by_type[best].bytes))
            best = i;
    }
    return best;
}

/* The one that takes most room comes first. */
static void
text_types(const struct model_summary *s)
{
    const char *comma = "";

    label("types");
    for (int i = next_type(s, NULL); i >= 0; i = next_type(s, &s->by_type[i])) {
        printf("%s%s %" PRId64, comma, ggml_type_name((enum ggml_type)i),
               s->by_type[i].tensors);
        comma = ", ";
    }
    putchar('\n');
}

static void
text_size(const struct model_summary *s)
{
    char buf[32];

    if (s->all.values) {
        label("parameters");
        fputs(value_thousands(buf, s->all.values), stdout);
        if (s->active)
            printf(", %s of them active", value_thousands(buf, s->active));
        if (s->size_label.s) {
            fputs(", labelled ", stdout);
            put_text(&s->size_label);
        }
        putchar('\n');
    }
    label("size");
    fputs(value_bytes(buf, s->file_bytes), stdout);
    if (s->all.values)
        printf(", %.2f bits per weight",
               8.0 * (double)s->all.bytes / (double)s->all.values);
    putchar('\n');
    if (s->all.values)
        text_types(s);
}

static void
text_context(const struct model_summary *s)
{
    char buf[32];

    if (!s->context.max)
        return;
    label("context");
    put_range(&s->context);
    if (s->scaling.s || s->scaling_factor > 0 || s->scaling_from.max)
        fputs(", scaling", stdout);
    if (s->scaling.s) {
        putchar(' ');
        put_text(&s->scaling);
    }
    if (s->scaling_factor > 0)
        printf(" x %s", value_float(buf, s->scaling_factor, true));
    if (s->scaling_from.max) {
        fputs(" from ", stdout);
        put_range(&s->scaling_from);
    }
    puts(s->frequency_factors ? ", frequency factors" : "");
}

/* "32 / 8 x 64": queries, keys and values, numbers of each. */
static void
text_heads(const struct model_summary *s)
{
    if (!s->heads.max)
        return;
    label("heads");
    put_range(&s->heads);
    fputs(" / ", stdout);
    put_range(&s->heads_kv);
    if (s->key_length.max) {
        fputs(" x ", stdout);
        put_range(&s->key_length);
    }
    if (s->value_length.max != s->key_length.max) {
        fputs(" and ", stdout);
        put_range(&s->value_length);
    }
    putchar('\n');
}

static void
text_experts(const struct model_summary *s)
{
    if (!s->experts.max)
        return;
    label("experts");
    put_range(&s->experts);
    if (s->experts_used.max) {
        fputs(", used ", stdout);
        put_range(&s->experts_used);
    }
    if (s->experts_shared.max) {
        fputs(", shared ", stdout);
        put_range(&s->experts_shared);
    }
    putchar('\n');
}

/* The kind that the key's value stands for. */
static const char *
kind_of_vocabulary(const struct text *name)
{
    static const char *const kinds[][2] = {
        { "gpt2", "byte-level BPE" }, { "llama", "SentencePiece" },
        { "bert", "WordPiece" },      { "t5", "Unigram" },
        { "rwkv", "greedy" },         { "gemma4", "BPE of characters" },
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (name->len == strlen(kinds[i][0]) &&
            memcmp(name->s, kinds[i][0], name->len) == 0)
            return kinds[i][1];
    return NULL;
}

static void
text_kind(const struct text *name)
{
    const char *kind = kind_of_vocabulary(name);

    put_text(name);
    if (kind)
        printf(" (%s)", kind);
}

/* Files of the other kinds name one as well, which nobody follows. */
static bool
has_split_rule(const struct model_summary *s)
{
    return s->split.s && s->vocab.len == 4 && !memcmp(s->vocab.s, "gpt2", 4);
}

static void
text_vocabulary(const struct model_summary *s)
{
    if (s->vocab.s || s->n_vocab) {
        label("vocabulary");
        if (s->vocab.s)
            text_kind(&s->vocab);
        if (s->n_vocab)
            printf("%s%" PRIu64 " tokens", s->vocab.s ? ", " : "", s->n_vocab);
        if (has_split_rule(s)) {
            fputs(", split rule ", stdout);
            put_text(&s->split);
        }
        putchar('\n');
    }
    if (!s->chat.s && !s->vocab.s)
        return;
    label("template");
    if (!s->chat.s)
        fputs("none", stdout);
    else if (s->chat_parses)
        printf("Jinja, %zu bytes", s->chat.len);
    else
        printf("%zu bytes; %s", s->chat.len, s->chat_error.message);
    for (size_t i = 0; i < s->n_chats; i++) {
        fputs(i ? ", " : "; others: ", stdout);
        put_text(&s->chats[i]);
    }
    putchar('\n');
}

/* A value that is not the file's is out of range. */
static void
put_sampling(void *data, const char *key, const char *value, const char *whose)
{
    bool *more = data;
    bool used = strcmp(whose, "file") == 0;

    printf("%s%s %s%s", *more ? ", " : "", key, value,
           used ? "" : " (out of range: not used)");
    *more = true;
}

static void
text_sampling(const struct model_summary *s)
{
    bool more = false;

    if (!s->sampling_line)
        return;
    label("sampling");
    file_sampling_list(&s->sampling, put_sampling, &more);
    putchar('\n');
}

/* Prints the summary of a state, a file that is no model. */
static void
text_state(const struct model_summary *s)
{
    char buf[32];

    label("state");
    fputs("of gg-eval or gg-generate with a model of family ", stdout);
    put_text(&s->state_of);
    putchar('\n');
    label("sequences");
    printf("%" PRIu64, s->state_sequences);
    printf(", %s ids\n", value_thousands(buf, s->state_ids));
    if (s->chat.s) {
        label("template");
        put_text(&s->chat);
        putchar('\n');
    }
    label("size");
    puts(value_bytes(buf, s->file_bytes));
    text_types(s);
}

static void
text_name(const struct model_summary *s)
{
    if (!s->name.s)
        return;
    label("name");
    put_text(&s->name);
    putchar('\n');
}

/* Nor is this one. */
static void
text_adapter(const struct model_summary *s)
{
    adapter_text_kind(&s->adapter);
    text_name(s);
    text_size(s);
    adapter_text_targets(&s->adapter);
}

static void
text_projector(const struct model_summary *s)
{
    projector_text_kind(&s->projector);
    text_name(s);
    text_size(s);
    projector_text_parts(&s->projector);
}

void
model_summary_text(const struct model_summary *s)
{
    if (s->state) {
        text_state(s);
        return;
    }
    if (s->adapter.kind != ADAPTER_NONE) {
        text_adapter(s);
        return;
    }
    if (s->projector.is_projector) {
        text_projector(s);
        return;
    }
    text_family(s);
    text_name(s);
    text_files(s);
    text_size(s);
    text_context(s);
    put_range_line("layers", &s->layers);
    put_range_line("embedding", &s->embedding);
    text_heads(s);
    put_range_line("feed-forward", &s->feed_forward);
    text_experts(s);
    put_range_line("window", &s->window);
    text_vocabulary(s);
    text_sampling(s);
}

/* ---- as JSON ------------------------------------------------------------ */

static void
member(const char *name)
{
    printf(",\n    \"%s\": ", name);
}

static void
put_json_text(const char *name, const struct text *t)
{
    if (!t->s)
        return;
    member(name);
    cli_json_put(t->s, t->len);
}

/* Names of other templates than the default one. */
static void
put_json_chats(const struct model_summary *s)
{
    if (!s->n_chats)
        return;
    member("templates");
    for (size_t i = 0; i < s->n_chats; i++) {
        putchar(i ? ',' : '[');
        cli_json_put(s->chats[i].s, s->chats[i].len);
    }
    putchar(']');
}

static void
put_json_number(const char *name, uint64_t n)
{
    if (!n)
        return;
    member(name);
    printf("%" PRIu64, n);
}

/* A number, or [least, largest]. */
static void
put_json_range(const char *name, const struct range *r)
{
    if (r->min == r->max) {
        put_json_number(name, r->max);
        return;
    }
    member(name);
    printf("[%" PRIu64 ", %" PRIu64 "]", r->min, r->max);
}

static void
put_json_sizes(const struct model_summary *s)
{
    put_json_number("parameters", s->all.values);
    put_json_number("active_parameters", s->active);
    put_json_number("files", s->n_files);
    put_json_number("bytes", s->file_bytes);
    if (s->all.values) {
        member("bits_per_weight");
        printf("%.4f", 8.0 * (double)s->all.bytes / (double)s->all.values);
    }
}

static void
put_json_shape(const struct model_summary *s)
{
    char buf[32];

    put_json_range("context_length", &s->context);
    put_json_text("rope_scaling", &s->scaling);
    if (s->scaling_factor > 0) {
        member("rope_scaling_factor");
        fputs(value_float(buf, s->scaling_factor, true), stdout);
    }
    put_json_range("rope_original_context_length", &s->scaling_from);
    put_json_range("layers", &s->layers);
    put_json_range("embedding_length", &s->embedding);
    put_json_range("heads", &s->heads);
    put_json_range("heads_kv", &s->heads_kv);
    put_json_range("key_length", &s->key_length);
    put_json_range("value_length", &s->value_length);
    put_json_range("feed_forward_length", &s->feed_forward);
    put_json_range("experts", &s->experts);
    put_json_range("experts_used", &s->experts_used);
    put_json_range("experts_shared", &s->experts_shared);
    put_json_range("window", &s->window);
}

static void
put_json_sampling(void *data, const char *key, const char *value,
                  const char *whose)
{
    bool *more = data;

    printf("%s\"%s\": {\"value\": ", *more ? ", " : "", key);
    cli_json_put(value, strlen(value));
    printf(", \"counts\": %s}", strcmp(whose, "file") ? "false" : "true");
    *more = true;
}

static void
json_sampling(const struct model_summary *s)
{
    bool more = false;

    if (!s->sampling_line)
        return;
    member("sampling");
    putchar('{');
    file_sampling_list(&s->sampling, put_json_sampling, &more);
    putchar('}');
}

void
model_summary_json(const struct model_summary *s)
{
    printf(",\n  \"summary\": {\n    \"known\": %s",
           s->known ? "true" : "false");
    if (s->state) {
        printf(",\n    \"state\": true");
        put_json_text("state_of", &s->state_of);
        put_json_number("sequences", s->state_sequences);
        put_json_number("ids", s->state_ids);
    }
    if (s->adapter.kind != ADAPTER_NONE)
        adapter_text_json(&s->adapter);
    else if (s->projector.is_projector)
        projector_text_json(&s->projector);
    put_json_text("architecture", &s->architecture);
    put_json_text("name", &s->name);
    put_json_text("size_label", &s->size_label);
    put_json_sizes(s);
    put_json_shape(s);
    put_json_text("vocabulary", &s->vocab);
    put_json_number("tokens", s->n_vocab);
    put_json_text("split_rule", &s->split);
    if (s->chat.s) {
        member("template");
        fputs(s->chat_parses ? "\"jinja\"" : "null", stdout);
    }
    put_json_number("template_bytes", s->chat.len);
    put_json_chats(s);
    json_sampling(s);
    fputs("\n  }", stdout);
}
