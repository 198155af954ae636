/* plan.c - which tensors are quantised, and to what */
#include <config.h>

#include "common/quantize/plan.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/cli.h"
#include "common/gguf.h"
#include "common/quantize/matrices.h"

enum {
    MAX_LAYERS = 4096, /* as of lib/graph */
};

/* ---- what the model is --------------------------------------------------- */

static bool
find_key(const struct gguf_context *gguf, const char *name, int64_t *id)
{
    int64_t arch = gguf_find_key(gguf, "general.architecture");
    char key[160];

    if (arch < 0 || gguf_get_kv_type(gguf, arch) != GGUF_TYPE_STRING)
        return false;
    snprintf(key, sizeof(key), "%.*s.%s", (int)gguf_get_val_str_len(gguf, arch),
             gguf_get_val_str(gguf, arch), name);
    *id = gguf_find_key(gguf, key);
    return *id >= 0;
}

/* The first element of an array of a number for each layer; it is copied since
 * arrays of a file that is mapped have no alignment. */
static int64_t
first_number(const struct gguf_context *gguf, int64_t id)
{
    enum gguf_type type = gguf_get_arr_type(gguf, id);
    struct gguf_context *copy = gguf_init_empty();
    int64_t v = -1;

    gguf_check_memory(copy);
    if (gguf_get_arr_n(gguf, id) > 0 &&
        (type == GGUF_TYPE_INT32 || type == GGUF_TYPE_UINT32)) {
        gguf_copy_kv(copy, gguf, id);
        gguf_check_memory(copy);
        v = *(const uint32_t *)gguf_get_arr_data(copy, 0);
    }
    gguf_free(copy);
    return v;
}

static int32_t
key_number(const struct gguf_context *gguf, const char *name, int32_t other)
{
    int64_t id, v = -1;

    if (!find_key(gguf, name, &id))
        return other;
    if (gguf_get_kv_type(gguf, id) == GGUF_TYPE_UINT32)
        v = gguf_get_val_u32(gguf, id);
    else if (gguf_get_kv_type(gguf, id) == GGUF_TYPE_ARRAY &&
             gguf_get_arr_type(gguf, id) != GGUF_TYPE_STRING)
        v = first_number(gguf, id);
    return v < 0 || v > INT32_MAX ? other : (int32_t)v;
}

/* The models that llama.cpp counts as such, for whose values it takes more
 * bits. */
static bool
is_70b(const struct gguf_context *gguf, int32_t n_layer, bool grouped)
{
    if (matrices_of_architecture(gguf, "jais2"))
        return n_layer == 68;
    return n_layer == 80 &&
           ((matrices_of_architecture(gguf, "llama") && grouped) ||
            matrices_of_architecture(gguf, "qwen2") ||
            matrices_of_architecture(gguf, "deci") ||
            matrices_of_architecture(gguf, "olmo"));
}

static struct mixture_model
describe(const struct gguf_context *gguf, bool imatrix)
{
    int32_t heads = key_number(gguf, "attention.head_count", 1);
    int32_t shared = key_number(gguf, "attention.head_count_kv", heads);
    struct mixture_model m = {
        .projector = matrices_of_projector(gguf),
        .falcon = matrices_of_architecture(gguf, "falcon"),
        .ling3 = matrices_of_architecture(gguf, "bailingmoe3"),
        .glm5 = matrices_of_architecture(gguf, "glm5-next"),
        .imatrix = imatrix,
        .tied = gguf_find_tensor(gguf, "output.weight") < 0,
        .n_layer = key_number(gguf, "block_count", 1),
        .n_gqa = shared > 0 ? heads / shared : 1,
        .n_expert = key_number(gguf, "expert_count", 0),
    };

    if (m.n_layer < 0 || m.n_layer > MAX_LAYERS)
        m.n_layer = MAX_LAYERS;
    m.of_70b = is_70b(gguf, m.n_layer, heads != shared);
    return m;
}

/* ---- --tensor ------------------------------------------------------------ */

static enum ggml_type
type_named(const char *name)
{
    for (int i = 0; i < GGML_TYPE_COUNT; i++)
        if (strcasecmp(ggml_type_name((enum ggml_type)i), name) == 0)
            return (enum ggml_type)i;
    cli_misuse("--tensor: '%s' is no type of a tensor", name);
}

void
type_choices_add(struct type_choices *c, const char *argument)
{
    const char *equals = strrchr(argument, '=');
    size_t len = equals ? (size_t)(equals - argument) : 0;
    char *pattern;

    if (len == 0)
        cli_misuse("--tensor: '%s' is not PATTERN=TYPE", argument);
    pattern = cli_copy(argument, len);
    c->list = cli_alloc(c->list, c->n + 1, sizeof(*c->list));
    c->list[c->n++] =
        (struct type_choice){ pattern, type_named(equals + 1), false };
}

void
type_choices_clear(struct type_choices *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].pattern);
    free(c->list);
}

/* The last pattern that fits; NULL: none. */
static const struct type_choice *
choice_for(struct type_choices *c, const char *name)
{
    struct type_choice *last = NULL;

    for (size_t i = 0; i < c->n; i++)
        if (fnmatch(c->list[i].pattern, name, 0) == 0) {
            c->list[i].used = true;
            last = &c->list[i];
        }
    return last;
}

/* ---- the plan ------------------------------------------------------------ */

/* So few bits that nothing good comes of them without. */
static bool
needs_matrix(enum ggml_type type)
{
    return ggml_quantize_requires_imatrix(type) || type == GGML_TYPE_IQ1_M;
}

static void
check_type(const struct gguf_context *gguf, int64_t i, enum ggml_type to,
           bool weighted)
{
    enum ggml_type from = gguf_get_tensor_type(gguf, i);
    const char *name = gguf_get_tensor_name(gguf, i);
    const struct ggml_type_traits *t = ggml_get_type_traits(to);

    if (from == to)
        return;
    if (from != GGML_TYPE_F32 && !ggml_get_type_traits(from)->to_float)
        cli_die("%s: type %s cannot be turned into numbers", name,
                ggml_type_name(from));
    if (gguf_get_tensor_ne(gguf, i)[0] % t->blck_size)
        cli_die("%s: its rows are no whole blocks of %s", name, t->type_name);
    if (to != GGML_TYPE_F32 && !t->from_float_ref && !needs_matrix(to))
        cli_die("%s: there is no quantiser for type %s", name, t->type_name);
    if (needs_matrix(to) && !weighted)
        cli_die("%s: type %s needs an importance matrix that has it "
                "(--imatrix)",
                name, t->type_name);
}

static enum ggml_type
plan_tensor(const struct gguf_context *gguf, int64_t i, int32_t number,
            const struct mixture *mixture, const struct mixture_model *model,
            struct type_choices *choices, struct plan_counts *counts)
{
    const int64_t *ne = gguf_get_tensor_ne(gguf, i);
    struct mixture_tensor t = { gguf_get_tensor_name(gguf, i), ne[0], number,
                                ne[2] > 1 };
    enum ggml_type type;
    bool fits;
    const struct type_choice *chosen;

    if (!matrices_has(gguf, i))
        return gguf_get_tensor_type(gguf, i);
    chosen = choice_for(choices, t.name);
    if (chosen)
        return chosen->type;
    type = choices->pure || model->projector
               ? mixture_fit(mixture->type, t.row, &fits)
               : mixture_type(mixture, model, &t, &fits);
    counts->fell_back += !fits;
    /* BF16 has a range that F16 lacks */
    if (model->projector && !fits && type == GGML_TYPE_F16 &&
        gguf_get_tensor_type(gguf, i) == GGML_TYPE_BF16)
        return GGML_TYPE_BF16;
    return type;
}

enum ggml_type *
plan_types(const struct gguf_context *gguf, const struct mixture *mixture,
           struct type_choices *choices, const struct importance *importance,
           struct plan_counts *counts)
{
    struct mixture_model model = describe(gguf, importance->file != NULL);
    int64_t n = gguf_get_n_tensors(gguf);
    enum ggml_type *types = cli_alloc(NULL, n ? (size_t)n : 1, sizeof(*types));
    int32_t *numbers = cli_alloc(NULL, n ? (size_t)n : 1, sizeof(*numbers));
    struct gg_error err;
    bool has;

    model.n_values = matrices_number(gguf, numbers);

    for (int64_t i = 0; i < n; i++) {
        enum ggml_type from = gguf_get_tensor_type(gguf, i);

        types[i] =
            plan_tensor(gguf, i, numbers[i], mixture, &model, choices, counts);
        counts->quantised += types[i] != from && ggml_is_quantized(from) &&
                             ggml_is_quantized(types[i]);
        cli_check(importance_find(importance, gguf, i, &has, &err), &err);
        check_type(gguf, i, types[i], has);
    }
    free(numbers);
    for (size_t i = 0; i < choices->n; i++)
        if (!choices->list[i].used)
            cli_die("--tensor: no matrix is called %s",
                    choices->list[i].pattern);
    return types;
}

void
plan_tell(const struct plan_counts *counts)
{
    if (counts->quantised)
        cli_warn("the input is quantised already; tensors that lose a second "
                 "time: %" PRId64 "; better start with the original",
                 counts->quantised);
    if (counts->fell_back)
        cli_warn("tensors that get another type, as their rows are no whole "
                 "blocks of the one wanted: %" PRId64,
                 counts->fell_back);
}

struct gguf_context *
plan_gguf(const struct gguf_context *from, const enum ggml_type *types,
          const struct mixture *mixture)
{
    struct gguf_context *to = gguf_init_empty();

    gguf_check_memory(to);
    for (int64_t id = 0; id < gguf_get_n_kv(from); id++)
        if (strncmp(gguf_get_key(from, id), "split.", 6) != 0)
            gguf_copy_kv(to, from, id);
    gguf_set_val_u32(to, "general.file_type", (uint32_t)mixture->file_type);
    gguf_set_val_u32(to, "general.quantization_version", GGML_QNT_VERSION);
    for (int64_t i = 0; i < gguf_get_n_tensors(from); i++)
        gguf_add_like(to, from, i, types[i], NULL);
    return to;
}
