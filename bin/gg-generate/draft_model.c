/* draft_model.c - --draft: drafts by prompt lookup, by MTP layers, by a drafter
 * that reads the model's inside, or by a small model */
#include <config.h>

#include <gguf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gg-generate/generate.h"

/* MTP layers in a file of their own: no others are there. */
static bool
are_mtp_layers(const struct gguf_context *gguf, const char *arch)
{
    char key[96];

    snprintf(key, sizeof(key), "%.64s.nextn_predict_layers", arch);
    return gguf_find_key(gguf, key) >= 0 &&
           gguf_find_tensor(gguf, "blk.0.attn_norm.weight") < 0;
}

/* Whether the file is opened as a part of the model. */
static bool
is_part_of_model(const char *path)
{
    const struct gguf_context *gguf;
    struct gg_file *file;
    int64_t i;
    bool part = false;

    if (gg_file_open_metadata(path, 0, &file, NULL) != GG_OK)
        return false; /* which whoever opens it says */
    gguf = gg_file_gguf(file);
    i = gguf_find_key(gguf, "general.architecture");
    if (i >= 0 && gguf_get_kv_type(gguf, i) == GGUF_TYPE_STRING) {
        const char *arch = gguf_get_val_str(gguf, i);

        part = gg_model_drafts(arch) || are_mtp_layers(gguf, arch);
    }
    gg_file_close(file);
    return part;
}

/* Nothing is drawn, or nothing is to be drafted. */
static bool
drafts_none(const struct options *o)
{
    return o->sampling.none || o->choices.n > 0 ||
           (o->draft && !strcmp(o->draft, "none"));
}

static bool
is_automatic(const struct options *o)
{
    return !o->draft || !strcmp(o->draft, "auto");
}

/* Ranks of a pipeline evaluate several steps at once without drafts. */
void
draft_model_choose(struct options *o)
{
    const char *path;

    if (drafts_none(o))
        return;
    if (is_automatic(o)) {
        o->engine.mtp_if_able = !o->engine.mpi;
        return;
    }
    if (!strcmp(o->draft, "prompt"))
        return;
    path = strcmp(o->draft, "mtp") ? cli_model(o->draft, true) : NULL;
    o->engine.mtp = !path || is_part_of_model(path);
    o->engine.mtp_path = path;
}

static void
open_model(struct generate *g)
{
    const struct engine_options defaults = engine_options_default();
    struct engine_options own = g->o->engine;

    own.model = g->o->draft;
    own.adapters = defaults.adapters; /* those of another model */
    own.n_ctx = 0;
    own.max_ctx = gg_session_n_ctx(g->engine.session);
    own.mtp = own.mtp_if_able = false;
    own.shift = own.profile = own.verbose = false;
    own.rope_scaling = defaults.rope_scaling;
    own.rope_factor = defaults.rope_factor;
    own.rope_base = defaults.rope_base;
    own.rope_n_ctx = defaults.rope_n_ctx;
    own.devices = defaults.devices;
    own.devices.device = g->o->engine.devices.device;
    own.pipeline = NULL; /* it is small, and rank 0 has it alone */
    engine_open(&g->draft, &own, g->engine.n_slots, true);
    if (gg_vocab_fingerprint(g->draft.vocab) !=
        gg_vocab_fingerprint(g->engine.vocab))
        cli_die("--draft: %s: its vocabulary is not that of %s", g->draft.path,
                g->engine.path);
}

/* A model without MTP layers drafts nothing by itself. */
static bool
drafts(const struct generate *g)
{
    return !drafts_none(g->o) &&
           (!is_automatic(g->o) ||
            gg_session_mtp(g->engine.session, NULL, NULL) > 0);
}

void
draft_model_open(struct generate *g)
{
    struct gg_error err;

    if (drafts_none(g->o))
        cli_check(gg_engine_draft_none(g->engine.gg, &err), &err);
    if (!drafts(g))
        return;
    if (g->o->engine.mtp || is_automatic(g->o)) {
        cli_check(gg_engine_draft_mtp(g->engine.gg, &err), &err);
        return;
    }
    if (strcmp(g->o->draft, "prompt") != 0)
        open_model(g);
    cli_check(gg_engine_draft(g->engine.gg, g->draft.gg, &err), &err);
}

void
draft_model_close(struct generate *g)
{
    if (g->draft.gg)
        engine_close(&g->draft);
}

void
draft_model_describe(const struct generate *g)
{
    struct gg_draft_stats s = gg_engine_draft_stats(g->engine.gg);

    if (!drafts(g) && !s.n_drafted)
        return;
    cli_warn("draft: %" PRIu64 " ids drafted, %" PRIu64 " accepted; %.2f ids "
             "per evaluation",
             s.n_drafted, s.n_accepted,
             s.n_runs ? 1 + (double)s.n_accepted / (double)s.n_runs : 0);
}
