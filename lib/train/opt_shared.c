/* opt_shared.c - parts of ggml_opt that several of its files use */
#include "train/opt.h"

const char *
ggml_opt_optimizer_name(enum ggml_opt_optimizer_type o)
{
    switch (o) {
    case GGML_OPT_OPTIMIZER_TYPE_ADAMW:
        return "adamw";
    case GGML_OPT_OPTIMIZER_TYPE_SGD:
        return "sgd";
    default:
        return "undefined";
    }
}

/* splitmix64; the few numbers more that some remainders have do not matter. */
uint64_t
train_opt_draw(struct ggml_opt_context *c, uint64_t n)
{
    uint64_t x = c->random += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) % n;
}

struct ggml_context *
train_opt_new_context(size_t n)
{
    struct ggml_init_params params = { .mem_size = n * ggml_tensor_overhead(),
                                       .no_alloc = true };
    struct ggml_context *ctx = ggml_init(params);

    GGML_ASSERT(ctx);
    return ctx;
}
