/* engine.c - a model gets an engine; the whole loop in one call */
#include <string.h>

#include "api/model.h"
#include "core/error.h"
#include "core/mem.h"
#include "engine/engine.h"

enum gg_status
gg_engine_new(const struct gg_model *model, struct gg_session *session,
              const struct gg_engine_params *params, struct gg_engine **out,
              struct gg_error *err)
{
    static const struct gg_engine_params defaults;
    enum gg_status st;

    if (!model || !session || !out)
        return error_null(err);
    params = params ? params : &defaults;
    st = ERROR_RESERVED(params, err);
    return st == GG_OK ? engine_new(model->vocab, session, params, out, err)
                       : st;
}

/* Objects that gg_generate() makes and frees. */
struct generation {
    struct gg_session *session;
    struct gg_engine *engine;
    struct gg_sampler *sampler;
    struct gg_sequence *sequence;
    struct gg_text *text;
};

static void
clear_generation(struct generation *g)
{
    gg_text_free(g->text);
    gg_sequence_free(g->sequence);
    gg_sampler_free(g->sampler);
    gg_engine_free(g->engine);
    gg_session_free(g->session);
}

static enum gg_status
put_prompt(const struct gg_vocab *v, const char *prompt, size_t len,
           struct gg_sequence *q, struct gg_error *err)
{
    size_t cap = 2 * len + 3;
    struct gg_encoded made = { 0 };
    int32_t *ids = mem_array(cap, sizeof(*ids));
    unsigned flags = (gg_vocab_add_bos(v) ? GG_ENCODE_BOS : 0) |
                     (gg_vocab_decoder_start(v) >= 0 ? GG_ENCODE_EOS : 0);
    enum gg_status st =
        ids ? gg_vocab_encode(v, prompt, len, flags, ids, cap, &made, err)
            : error_nomem(err);

    if (st == GG_OK && made.n > cap)
        st = error_set(err, GG_ERR_UNSUPPORTED,
                       "the prompt has more tokens than bytes");
    if (st == GG_OK)
        st = gg_sequence_put(q, ids, made.n, err);
    mem_free(ids);
    return st;
}

static enum gg_status
start_generation(struct generation *g, const struct gg_model *m,
                 const char *prompt, size_t len,
                 const struct gg_generate_params *p, struct gg_error *err)
{
    struct gg_sampler_params sampling =
        p->sampling ? *p->sampling : gg_sampler_params_default();
    struct gg_text_params params = { .max_ids = p->max_ids };
    enum gg_status st = gg_session_new(m, p->session, &g->session, err);

    if (st == GG_OK)
        st = gg_engine_new(m, g->session, NULL, &g->engine, err);
    if (st == GG_OK)
        st = gg_sampler_new(&sampling, &g->sampler, err);
    if (st == GG_OK)
        st = gg_sequence_new(g->engine, &g->sequence, err);
    if (st == GG_OK)
        st = put_prompt(m->vocab, prompt, len, g->sequence, err);
    params.sampler = g->sampler;
    return st == GG_OK ? gg_text_new(g->sequence, &params, &g->text, err) : st;
}

/* An error of the text itself is one of the call. */
static enum gg_status
generate_text(struct generation *g, gg_write_callback write, void *data,
              struct gg_error *err)
{
    enum gg_status st = GG_OK;
    bool more = true;

    while (st == GG_OK && more && gg_text_finish(g->text) == GG_FINISH_NONE) {
        const char *bytes;
        size_t n;

        st = gg_engine_step(g->engine, &g->text, 1, err);
        bytes = gg_text_take(g->text, &n);
        more = st == GG_OK && (n == 0 || write(data, bytes, n));
    }
    if (st == GG_OK && gg_text_error(g->text))
        st = error_set(err, GG_ERR_FORMAT, "%s", gg_text_error(g->text));
    return st;
}

enum gg_status
gg_generate(const struct gg_model *model, const char *prompt, size_t len,
            const struct gg_generate_params *params, gg_write_callback write,
            void *data, struct gg_error *err)
{
    static const struct gg_generate_params defaults;
    struct generation g = { 0 };
    enum gg_status st;

    if (!model || (!prompt && len) || !write)
        return error_null(err);
    params = params ? params : &defaults;
    st = ERROR_RESERVED(params, err);
    if (st == GG_OK)
        st = start_generation(&g, model, prompt, len, params, err);
    if (st == GG_OK)
        st = generate_text(&g, write, data, err);
    clear_generation(&g);
    return st;
}
