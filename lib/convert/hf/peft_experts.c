/* peft_experts.c - adapters of parameters with the matrices of all experts
 *
 * PEFT has A and B of a parameter of n experts as those of two linear
 * layers: rows of A are the experts', one after the other (n x rank), columns
 * of B belong to the experts in turn (rank x n). What is in and what is out it
 * takes from the parameter's shape, in some versions the other way round than
 * the module computes: then what is added is the transpose of B A. Parameters
 * of one module wrap one another in their order: the last is the outermost. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/layout.h"
#include "convert/hf/peft.h"
#include "core/mem.h"

enum {
    NAME = 256,
    FULL = NAME + 96,
};

/* Parameters of a module, in its order. */
static const char *const parameters[] = { "gate_up_proj", "up_proj",
                                          "down_proj" };

enum {
    N_PARAMETERS = sizeof(parameters) / sizeof(parameters[0]),
};

/* Tensors that they become; rows are halves where a table does not say
 * otherwise. */
static const struct {
    const char *to, *parameter;
    enum hf_layout part;
} roles[] = {
    { "ffn_gate_up_exps", "gate_up_proj", HF_AS_FOUND },
    { "ffn_gate_exps", "gate_up_proj", HF_GATES },
    { "ffn_up_exps", "gate_up_proj", HF_UPS },
    { "ffn_up_exps", "up_proj", HF_AS_FOUND },
    { "ffn_down_exps", "down_proj", HF_AS_FOUND },
};

/* A parameter. */
struct fused {
    const char *name; /* with its module's */
    const struct safetensors_tensor *a, *b;
    int64_t rank, n_out;
    bool down;   /* its rows, not its columns, are as long as the embedding */
    bool turned; /* (B A)^T is added */
};

static void
bad_fused(struct hf_peft *p, const char *name, const char *what)
{
    core_json_bad(&p->h->here, GG_ERR_UNSUPPORTED, "%s: %s", name, what);
}

/* ---- which are changed --------------------------------------------------- */

static const char *
last_name(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

/* Whether PEFT finds the parameter by what target_parameters says. */
static bool
is_found_by(const char *name, const char *target)
{
    size_t n = strlen(name), m = strlen(target);

    return m > 0 && m <= n && strcmp(name + n - m, target) == 0 &&
           (m == n || name[n - m - 1] == '.');
}

static bool
is_targeted(const struct hf_peft *p, const char *name)
{
    const json_t *value;
    size_t i;

    json_array_foreach(
        (json_t *)(uintptr_t)p->parameters, i,
        value) if (json_is_string(value) &&
                   is_found_by(name, json_string_value(value))) return true;
    return false;
}

/* Which of a module's parameters; N_PARAMETERS: none of these. */
static size_t
parameter_index(const char *name)
{
    size_t i = 0;

    while (i < N_PARAMETERS && strcmp(parameters[i], last_name(name)) != 0)
        i++;
    return i;
}

static void
sibling_name(const char *name, const char *parameter, char out[FULL])
{
    snprintf(out, FULL, "%.*s%s", (int)(last_name(name) - name), name,
             parameter);
}

/* How many others of the module are wrapped around it; what is not known among
 * them is an error, as its place is not known. */
static int
count_around(struct hf_peft *p, const char *name)
{
    size_t own = parameter_index(name), i;
    char other[FULL];
    const json_t *value;
    int n = 0;

    json_array_foreach((json_t *)(uintptr_t)p->parameters, i, value)
    {
        const char *target = json_string_value(value);

        sibling_name(name, target ? last_name(target) : "", other);
        if (target && is_found_by(other, target) &&
            parameter_index(target) == N_PARAMETERS &&
            strcmp(last_name(target), last_name(name)) != 0)
            bad_fused(p, other,
                      "adapters of such a parameter are not converted");
    }
    for (i = own + 1; i < N_PARAMETERS; i++) {
        sibling_name(name, parameters[i], other);
        n += is_targeted(p, other);
    }
    return n;
}

/* ---- shapes -------------------------------------------------------------- */

static const struct safetensors_tensor *
find_factor(struct hf_peft *p, const char *name, int around, const char *suffix)
{
    char full[FULL];
    int n =
        snprintf(full, FULL, "%.*s", (int)(last_name(name) - name - 1), name);

    while (around-- > 0 && n < FULL)
        n += snprintf(full + n, (size_t)(FULL - n), ".base_layer");
    if (n < FULL)
        snprintf(full + n, (size_t)(FULL - n), "%s", suffix);
    return convert_hf_weights_find(&p->h->weights, full);
}

/* Finds A and B, whose ranks fit the number of experts. */
static bool
find_fused(struct hf_peft *p, const char *name, struct fused *f)
{
    int around = count_around(p, name);
    int64_t n = p->h->n_expert, all;

    *f = (struct fused){ .name = name,
                         .down = strcmp(last_name(name), "down_proj") == 0 ||
                                 strstr(name, "output_linear.") != NULL };
    if (!convert_hf_good(p->h))
        return false;
    f->a = find_factor(p, name, around, ".lora_A.weight");
    f->b = find_factor(p, name, around, ".lora_B.weight");
    if (!f->a && !f->b) /* layers without experts have none */
        return false;
    if (!f->a || !f->b || f->a->n_dims != 2 || f->b->n_dims != 2) {
        bad_fused(p, name, "needs a lora_A and a lora_B, two matrices");
        return false;
    }
    all = f->a->shape[0];
    f->rank = n > 0 ? all / n : 0;
    if (n < 1 || all != f->rank * n || f->b->shape[1] != all || f->rank < 1) {
        bad_fused(p, f->a->name, "its rows are not those of the experts");
        return false;
    }
    return true;
}

/* 1: as the module computes; -1: turned; 0: it does not tell. */
static int
direction_of(struct hf_peft *p, const struct fused *f)
{
    int64_t in = f->a->shape[1], out = f->b->shape[0], d = p->h->n_embd;
    bool as_is = (f->down ? out : in) == d, turned = (f->down ? in : out) == d;

    if (!as_is && !turned)
        bad_fused(p, f->a->name, "its shape does not fit the model's");
    return as_is - turned;
}

/* A square matrix lies as others of the module do. */
static void
find_direction(struct hf_peft *p, struct fused *f)
{
    int direction = direction_of(p, f);
    char other[FULL];
    struct fused sibling;

    for (size_t i = 0; i < N_PARAMETERS && !direction; i++) {
        sibling_name(f->name, parameters[i], other);
        if (convert_hf_good(p->h) && strcmp(other, f->name) != 0 &&
            is_targeted(p, other) && find_fused(p, other, &sibling))
            direction = direction_of(p, &sibling);
    }
    if (!direction)
        bad_fused(p, f->name,
                  "a square matrix: which of its sides is in, and which is "
                  "out, differs among versions of PEFT");
    f->turned = direction < 0;
    f->n_out = f->turned ? f->a->shape[1] : f->b->shape[0];
}

/* ---- tensors ------------------------------------------------------------- */

static void
add_factor(struct hf_peft *p, const char *to, const char *suffix,
           const struct safetensors_tensor *t, struct hf_rows rows)
{
    struct hf *h = p->h;
    int64_t ne[GGML_MAX_DIMS] = { rows.length, rows.n_rows, rows.n_blocks, 1 };
    char name[FULL];

    if (snprintf(name, FULL, "%s%s", to, suffix) >= GGML_MAX_NAME)
        bad_fused(p, t->name, "the name is too long");
    rows.n_from = 1;
    rows.from = mem_array(1, sizeof(*rows.from));
    if (rows.from)
        rows.from[0] = t;
    else
        h->here.status = error_nomem(h->here.err);
    convert_hf_add(h, name, convert_hf_type_of(h, t, &rows), ne, &rows);
}

/* rank x in of each expert. */
static void
add_a(struct hf_peft *p, const struct fused *f, const char *to)
{
    size_t n = (size_t)p->h->n_expert, all = n * (size_t)f->rank;
    struct hf_rows r = { .n_blocks = p->h->n_expert, .n_rows = f->rank };

    if (f->turned) { /* B^T */
        r.length = f->b->shape[0];
        r.block = 1;
        r.row = n;
        r.step = all;
    } else {
        r.length = f->a->shape[1];
        r.row = (size_t)r.length;
        r.block = r.row * (size_t)f->rank;
        r.step = 1;
    }
    add_factor(p, to, ".weight.lora_a", f->turned ? f->b : f->a, r);
}

/* out x rank of each, or of out a part. */
static void
add_b(struct hf_peft *p, const struct fused *f, const char *to,
      enum hf_layout part)
{
    size_t n = (size_t)p->h->n_expert, all = n * (size_t)f->rank;
    bool half = part != HF_AS_FOUND;
    struct hf_rows r = { .n_blocks = p->h->n_expert,
                         .n_rows = half ? f->n_out / 2 : f->n_out,
                         .length = f->rank };

    if (half && f->n_out % 2)
        bad_fused(p, f->b->name, "has an odd number of rows");
    if (f->turned) { /* A^T */
        r.row = 1;
        r.step = (size_t)f->n_out;
        r.block = r.step * (size_t)f->rank;
    } else {
        r.row = all;
        r.step = n;
        r.block = 1;
    }
    if (part == HF_UPS)
        r.first = (size_t)r.n_rows * r.row;
    if (part == HF_ODD)
        r.first = r.row;
    if (part == HF_EVEN || part == HF_ODD)
        r.row *= 2;
    r.times = (float)convert_hf_peft_factor(p, f->name, f->rank);
    add_factor(p, to, ".weight.lora_b", f->turned ? f->a : f->b, r);
}

/* Models add the product of an adapter after a scale of the experts, folders
 * before it. */
static bool
are_scaled(const struct hf_peft *p)
{
    for (int k = 0; k < HF_LISTS; k++) {
        const struct hf_name *name = p->h->family->layer[k];

        for (; name && name->from; name++)
            if (strcmp(name->to, "ffn_down_exps.scale") == 0)
                return true;
    }
    return false;
}

/* Whether it is there, or, of gates and ups in one, gates alone are: models
 * have these where their files have a tensor an expert. */
static bool
is_made(const struct hf_peft *p, const char *to)
{
    const char *both = strstr(to, "ffn_gate_up_exps");
    char made[FULL];

    snprintf(made, FULL, "%.*sffn_gate_exps.weight.lora_b",
             (int)(both ? both - to : 0), to);
    if (both && gguf_find_tensor(p->h->gguf, made) >= 0)
        return true;
    snprintf(made, FULL, "%s.weight.lora_b", to);
    return gguf_find_tensor(p->h->gguf, made) >= 0;
}

/* The parameter `name`, if it is targeted, and nothing has come of it yet. */
static bool
take_fused(struct hf_peft *p, const char *name, const char *to,
           enum hf_layout part)
{
    struct fused f;

    if (!is_targeted(p, name) || is_made(p, to) || !find_fused(p, name, &f))
        return false;
    find_direction(p, &f);
    if (f.down && are_scaled(p))
        bad_fused(p, f.a->name,
                  "its experts have scales, in the model's weights, which "
                  "an adapter here would need");
    if (convert_hf_good(p->h)) {
        add_a(p, &f, to);
        add_b(p, &f, to, part);
    }
    return true;
}

/* ---- names --------------------------------------------------------------- */

/* "ffn_gate_exps" of "ffn_gate_exps.weight" */
static bool
is_role(const char *to, const char *role)
{
    size_t n = strlen(role);

    return strncmp(to, role, n) == 0 &&
           (to[n] == '\0' || strcmp(to + n, ".weight") == 0);
}

/* Takes it by its name in the table; newer models have in one parameter what
 * files have otherwise: then by the name next to it, or where most have it. */
static bool
take_role(struct hf_peft *p, const char *prefix, const char *to,
          const struct hf_name *name, size_t i)
{
    bool exact = name->how & HF_EXACT;
    enum hf_layout part = convert_hf_layout_half(name->how);
    int first = (int)strcspn(name->from, ".");
    char from[FULL];

    snprintf(from, FULL, "%s%s", prefix, name->from);
    if (exact && take_fused(p, from, to, part))
        return true;
    if (!exact && !strstr(name->from, ".%d"))
        return false;
    part = exact ? part : roles[i].part;
    snprintf(from, FULL, "%s%.*s.experts.%s", prefix, first, name->from,
             roles[i].parameter);
    if (take_fused(p, from, to, part))
        return true;
    snprintf(from, FULL, "%smlp.experts.%s", prefix, roles[i].parameter);
    return take_fused(p, from, to, part);
}

bool
convert_hf_peft_take_experts(struct hf_peft *p, const char *prefix,
                             const char *to_prefix, const struct hf_name *name)
{
    unsigned layout = name->how & HF_LAYOUT;
    char to[NAME];
    bool found = false;

    if (!p->parameters || layout == HF_STACKED ||
        layout == HF_STACKED_COLUMNS || convert_hf_is_mxfp4(layout))
        return false;
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (!is_role(name->to, roles[i].to) || !convert_hf_good(p->h) || found)
            continue;
        snprintf(to, NAME, "%s%s", to_prefix, roles[i].to);
        found = take_role(p, prefix, to, name, i);
    }
    return found;
}

#endif
