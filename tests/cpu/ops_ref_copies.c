/* ops_ref_copies.c - cases of ops of what moves and copies */
#include "cpu/ops_ref.h"

BUILD(repeat, ggml_repeat_4d(g, a, 3 * n[0], n[1], 2 * n[2], n[3]))
BUILD(concat, ggml_concat(g, a, OTHER, c->arg))
BUILD(pad, ggml_pad_ext(g, a, 1, 2, 0, 3, 2, 0, 1, 1))
BUILD(pad_circular, ggml_pad_ext_circular(g, a, 1, 2, 0, 3, 2, 0, 1, 1))
BUILD(reflect, ggml_pad_reflect_1d(g, a, 4, 9))
BUILD(roll, ggml_roll(g, a, -3, 2, 1, 0))
BUILD(diag, ggml_diag(g, a))
BUILD(tri, ggml_tri(g, a, (enum ggml_tri_type)c->arg))
BUILD(duplicate, ggml_dup(g, a))
BUILD(cont, ggml_cont(g, ggml_permute(g, a, 1, 0, 3, 2)))
BUILD(copy, ggml_cpy(g, a, own(OTHER)))
BUILD(cast, ggml_cast(g, a, c->other))

static struct ggml_tensor *
get_rows(const struct op_case *c)
{
    made.limit = (int)c->ne[1];
    return ggml_get_rows(made.nodes, first(c),
                         in(GGML_TYPE_I32, 5, c->ne[2], c->ne[3], 1));
}

static struct ggml_tensor *
set_rows(const struct op_case *c)
{
    struct ggml_tensor *rows = in(GGML_TYPE_F32, c->ne[0], 5, c->ne[2], 1);

    made.limit = (int)c->ne[1];
    return ggml_set_rows(made.nodes, own(first(c)), rows,
                         in(c->other, 5, 1, 1, 1));
}

const struct op_case ref_copies[] = {
    CASE("get_rows", get_rows, 0, EACH, F32, 0, 13, 2, 2, 0),
    CASE("cast from", cast, 0, EACH, F32, 0, 5, 2, 1, 0),
    CASE("cast to", cast, 1e-12, F32, EACH, 0, 5, 2, 1, 0),
    CASE("repeat", repeat, 0, F32, F32, 17, 3, 2, 2, 0),
    CASE("repeat F16", repeat, 0, F16, F32, 17, 3, 2, 2, 0),
    CASE("concat Q8_0", concat, 0, Q8_0, Q8_0, 96, 3, 2, 1, 0),
    CASE("concat Q4_K", concat, 0, Q4_K, Q4_K, 256, 3, 2, 1, 1),
    CASE("concat rows", concat, 0, F32, F32, 17, 3, 2, 2, 0),
    CASE("concat planes", concat, 0, F16, F16, 17, 3, 2, 2, 2),
    CASE("pad", pad, 0, F32, F32, 31, 3, 5, 2, 0),
    CASE("pad of F16", pad, 0, F16, F32, 31, 3, 5, 2, 0),
    CASE("pad_circular", pad_circular, 0, F32, F32, 31, 3, 5, 2, 0),
    CASE("pad_reflect_1d", reflect, 0, F32, F32, 17, 5, 3, 2, 0),
    CASE("roll", roll, 0, F32, F32, 17, 5, 3, 2, 0),
    CASE("diag", diag, 0, F32, F32, 17, 1, 3, 2, 0),
    CASE("diag F16", diag, 0, F16, F32, 17, 1, 3, 2, 0),
    CASE("tri", tri, 0, F32, F32, 17, 17, 3, 2, 1),
    CASE("dup", duplicate, 0, F32, F32, 33, 3, 2, 2, 0),
    CASE("cont of a permuted", cont, 0, F32, F32, 33, 3, 2, 2, 0),
    CASE("cont of a permuted, F16", cont, 0, F16, F32, 33, 3, 2, 2, 0),
    CASE("cpy to F16", copy, 0, F32, F16, 33, 3, 2, 2, 0),
    CASE("cpy from BF16", copy, 0, BF16, F32, 33, 3, 2, 2, 0),
    CASE("set_rows", set_rows, 0, F32, I64, 33, 9, 2, 1, 0),
    CASE("set_rows of F16", set_rows, 0, F16, I32, 33, 9, 2, 1, 0),
    { .name = NULL },
};
