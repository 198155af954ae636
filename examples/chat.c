/* chat.c - a conversation on standard input and output: chat MODEL
 *
 * Each line is a message. What was said before stays in the sequence: only
 * what is new is evaluated. */
#include "common.h"

enum {
    MOST = 1000 /* messages */
};

struct chat {
    const struct gg_vocab *vocab;
    const struct gg_chat_template *template;
    struct gg_message messages[MOST];
    size_t n, done; /* messages; those that the sequence holds */
    struct gg_sampler *sampler;
    struct gg_sequence *sequence;
    struct gg_text *text; /* NULL before the first answer */
};

static void
add(struct chat *c, enum gg_role role, const char *content, size_t len)
{
    c->messages[c->n++] = (struct gg_message){ role, content, len };
}

/* The ids of all new messages, after an id that is pending. */
static void
encode_new(const struct chat *c, struct ids *out)
{
    int32_t pending = c->text ? gg_text_pending(c->text) : -1;
    const struct gg_chat_params params = { .flags = GG_CHAT_ANSWER,
                                           .first = c->done };
    size_t at = pending >= 0;
    struct gg_encoded made;

    out->cap = 4096;
    out->list = malloc(out->cap * sizeof(*out->list));
    if (!out->list)
        exit(1);
    out->list[0] = pending;
    must(gg_chat_encode(c->vocab, c->template, c->messages, c->n, &params,
                        out->list + at, out->cap - at, &made, &err));
    out->n = made.n + at;
    if (out->n > out->cap)
        exit(1);
}

static void
answer(struct chat *c, struct gg_engine *engine)
{
    struct gg_text_params params = { .sampler = c->sampler, .max_ids = 200 };
    struct ids ids;

    encode_new(c, &ids);
    if (c->text) {
        must(gg_text_continue(c->text, &params, ids.list, ids.n, &err));
    } else {
        must(gg_sequence_put(c->sequence, ids.list, ids.n, &err));
        must(gg_text_new(c->sequence, &params, &c->text, &err));
    }
    free(ids.list);
    while (gg_text_finish(c->text) == GG_FINISH_NONE) {
        must(gg_engine_step(engine, &c->text, 1, &err));
        put_text(c->text);
    }
    putchar('\n');
    add(c, GG_ROLE_ASSISTANT, NULL, 0); /* its ids are there */
    c->done = c->n;
}

int
main(int argc, char **argv)
{
    struct gg_sampler_params sampling = gg_sampler_params_default();
    struct gg_engine_params params = { .shift = true };
    static struct chat c;
    struct gg_chat_template *own = NULL;
    struct gg_model *model;
    struct gg_session *session;
    struct gg_engine *engine;
    char line[4096];

    if (argc != 2)
        return 2;
    must(gg_model_open(argv[1], NULL, &model, &err));
    must(gg_session_new(model, NULL, &session, &err));
    must(gg_engine_new(model, session, &params, &engine, &err));
    must(gg_sampler_new(&sampling, &c.sampler, &err));
    must(gg_sequence_new(engine, &c.sequence, &err));
    c.vocab = gg_model_vocab(model);
    if (gg_chat_open(c.vocab, NULL, &own, &err) == GG_OK)
        c.template = own;
    else
        c.template = gg_chat_find("vicuna");
    while (c.n + 2 <= MOST && fgets(line, sizeof(line), stdin)) {
        add(&c, GG_ROLE_USER, line, strcspn(line, "\n"));
        answer(&c, engine);
    }
    gg_text_free(c.text);
    gg_sequence_free(c.sequence);
    gg_sampler_free(c.sampler);
    gg_engine_free(engine);
    gg_session_free(session);
    gg_model_free(model);
    gg_chat_free(own);
    return 0;
}
