/* batch.c - goes on from several texts at once: batch MODEL TEXT...
 *
 * All are evaluated together; each is what it would be alone. */
#include "common.h"

struct item {
    struct gg_sequence *sequence;
    struct gg_text *text;
};

static void
start(struct gg_engine *engine, const struct gg_vocab *vocab, const char *text,
      struct gg_sampler *sampler, uint64_t number, struct item *item)
{
    struct gg_text_params params = { .sampler = sampler,
                                     .sequence = number,
                                     .max_ids = 30 };
    struct ids ids;

    encode(vocab, text, &ids);
    must(gg_sequence_new(engine, &item->sequence, &err));
    must(gg_sequence_put(item->sequence, ids.list, ids.n, &err));
    must(gg_text_new(item->sequence, &params, &item->text, &err));
    free(ids.list);
}

/* One step of all that have not ended; how many these are. */
static size_t
step(struct gg_engine *engine, struct item *items, size_t n,
     struct gg_text **scratch)
{
    size_t going = 0;

    for (size_t i = 0; i < n; i++)
        if (gg_text_finish(items[i].text) == GG_FINISH_NONE)
            scratch[going++] = items[i].text;
    must(gg_engine_step(engine, scratch, going, &err));
    return going;
}

int
main(int argc, char **argv)
{
    enum {
        MOST = 64
    };
    struct gg_session_params session_params = { .n_slots = 8, .n_ctx = 256 };
    struct gg_sampler_params sampling = gg_sampler_params_default();
    struct gg_sampler *sampler;
    struct gg_model *model;
    struct gg_session *session;
    struct gg_engine *engine;
    struct item items[MOST];
    struct gg_text *scratch[MOST];
    size_t n = argc > 2 ? (size_t)argc - 2 : 0;

    if (n == 0 || n > MOST)
        return 2;
    must(gg_model_open(argv[1], NULL, &model, &err));
    must(gg_session_new(model, &session_params, &session, &err));
    must(gg_engine_new(model, session, NULL, &engine, &err));
    must(gg_sampler_new(&sampling, &sampler, &err));
    for (size_t i = 0; i < n; i++)
        start(engine, gg_model_vocab(model), argv[i + 2], sampler, i + 1,
              &items[i]);
    while (step(engine, items, n, scratch) > 0)
        ;
    for (size_t i = 0; i < n; i++) {
        printf("%s", argv[i + 2]);
        put_text(items[i].text);
        putchar('\n');
        gg_text_free(items[i].text);
        gg_sequence_free(items[i].sequence);
    }
    gg_sampler_free(sampler);
    gg_engine_free(engine);
    gg_session_free(session);
    gg_model_free(model);
    return 0;
}
