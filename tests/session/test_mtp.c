/* test_mtp.c - MTP layers: the logits of the formula in double precision,
 * however ids came; and the model's own, which do not change */
#include "fixtures/adapters.h"
#include "gguf/reader.h"
#include "session/caches_test.h"
#include "session/draft_test.h"

/* 20 ids, others at rest, and the last two. */
static bool
eval_resting(struct gg_session *s, struct gg_session *plain)
{
    float a[V], b[V];
    bool all = true;

    eval_ids(s, 0, ids, 0, 20, a);
    eval_ids(plain, 0, ids, 0, 20, b);
    for (int at = 20; at < PAST; at++) {
        session_mtp_rest(s, at < PAST - 2);
        eval_ids(s, 0, ids, at, at + 1, a);
        eval_ids(plain, 0, ids, at, at + 1, b);
        all = all && same(a, b);
    }
    return all;
}

/* Layers that rest see nothing of what is evaluated meanwhile, whatever there
 * is in its place. */
static void
check_rest(const struct gg_model *m)
{
    struct gg_session *s = new_slots(m, 1), *t = new_slots(m, 1);
    struct gg_session *all = new_slots(m, 1);
    float fed[STEPS][V], first[STEPS][V], second[STEPS][V], out[V];
    int32_t others[PAST];

    for (int i = 0; i < PAST; i++)
        others[i] = ids[PAST - 1 - i];
    eval_ids(s, 0, others, 0, PAST, out);
    gg_session_truncate(s, 0, 0);
    okn(eval_resting(s, all), "at rest the model's logits do not change");
    gg_session_truncate(all, 0, 0);
    (void)eval_resting(t, all);
    guess(s, 0, first);
    guess(t, 0, second);
    guess(all, 0, fed);
    okn(same(first[0], second[0]), "what is there from before is not seen");
    okn(!same(first[0], fed[0]), "and keys of then are missing");
    session_mtp_rest(s, true);
    eval_ids(s, 0, ids, PAST, PAST + 1, out);
    okn(session_mtp_can(s, 0, PAST + 1), "hidden vectors are kept");
    eval_ids(s, 0, ids, PAST + 1, PAST + 4, out);
    okn(!session_mtp_can(s, 0, PAST + 4), "but not those of prompts");
    gg_session_free(s);
    gg_session_free(t);
    gg_session_free(all);
}

static void
check_model(const char *called, int n_mtp)
{
    struct gg_model *m;
    struct reference *r;

    name = called;
    write_spec(named(called), scratch_path());
    r = reference_open(scratch_path());
    truth = malloc(sizeof(*truth) * STEPS * V);
    okn(r != NULL, "the reference knows it");
    reference_mtp(r, ids, PAST, STEPS, truth);
    m = open_model(scratch_path(), NULL);
    check_chunks(m);
    check_rejected(m);
    check_accepted(m);
    check_slots(m);
    check_prefix(m);
    check_bytes(m);
    check_memory(m, n_mtp);
    check_state(m);
    check_rest(m);
    gg_model_free(m);
    reference_free(r);
    free(truth);
}

/* ---- adapters ------------------------------------------------------------ */

static void
guess_with(float opened, const float *scales, float out[][V])
{
    struct gg_adapter use = { .path = scratch_file("lora.gguf"),
                              .scale = opened };
    const struct gg_model_params params = { .mtp = true,
                                            .adapters = &use,
                                            .n_adapters = 1 };
    struct gg_chunk c = { .ids = ids, .n = PAST, .scales = scales };
    struct gg_session *s;
    struct gg_model *m;

    must(gg_model_open(scratch_path(), &params, &m, &err));
    s = new_session(m, (struct gg_session_params){ 0 });
    must(gg_session_eval(s, &c, 1, &err));
    guess(s, 0, out);
    gg_session_free(s);
    gg_model_free(m);
}

/* Drafts have the scales of their slot. */
static void
check_adapters(void)
{
    struct adapter_spec a = { .only = "token_embd.weight" };
    const float one = 1, none = 0;
    float as_opened[STEPS][V], own[STEPS][V], without[STEPS][V];
    struct model_spec spec = named("qwen35mtp-f32");
    char path[SCRATCH_PATH];

    name = "adapters";
    spec.untied = true;
    write_spec(spec, scratch_path());
    strcpy(path, scratch_file("lora.gguf"));
    if (!adapters_write(&a, scratch_path(), path))
        exit(99);
    guess_with(1, NULL, as_opened);
    guess_with(0, &one, own);
    guess_with(1, &none, without);
    okn(same(own[0], as_opened[0]), "a draft has those of its slot");
    okn(!same(own[0], without[0]), "and not those of the model");
}

/* ---- files --------------------------------------------------------------- */

/* How many layers draft where they merely may; -1: the model does not open. */
static int
count_if_able(const char *path)
{
    const struct gg_model_params params = { .mtp_if_able = true };
    struct gg_session *s;
    struct gg_model *m;
    int n;

    if (gg_model_open(path, &params, &m, &err) != GG_OK)
        return -1;
    s = new_session(m, gg_session_params_default());
    n = gg_session_mtp(s, NULL, NULL);
    gg_session_free(s);
    gg_model_free(m);
    return n;
}

static void
refused(const char *path, bool mtp, const char *mtp_path, enum gg_status st,
        const char *says, const char *what)
{
    const struct gg_model_params params = { .mtp = mtp, .mtp_path = mtp_path };

    ok(opens_as(path, &params, st, says), what);
}

static void
check_refused(void)
{
    struct model_spec spec = named("qwen35mtp-f32");
    const char *path = scratch_path();

    spec.n_mtp = 0;
    write_spec(spec, path);
    refused(path, true, NULL, GG_ERR_UNSUPPORTED, "no MTP layers",
            "a model without MTP layers");
    is(count_if_able(path), 0, "has none to use if it is able");
    spec = named("qwen35mtp-f32");
    spec.skip = "blk.4.nextn.enorm.weight";
    write_spec(spec, path);
    refused(path, true, NULL, GG_ERR_FORMAT, "blk.4.nextn.enorm",
            "a layer without its norm");
    is(count_if_able(path), 0, "is passed over");
    spec = named("qwen35mtp-f32");
    spec.shrink = "blk.4.nextn.eh_proj.weight";
    write_spec(spec, path);
    refused(path, true, NULL, GG_ERR_FORMAT, "shape",
            "a matrix of another shape");
    spec = named("qwen35mtp-f32");
    spec.extra = "blk.4.nextn.other.weight";
    write_spec(spec, path);
    refused(path, true, NULL, GG_ERR_UNSUPPORTED, "no such tensor",
            "a tensor that nobody reads");
    write_spec((struct model_spec){ .arch = "llama", .n_mtp = 1 }, path);
    refused(path, true, NULL, GG_ERR_UNSUPPORTED, "not known here",
            "a family whose layers are not known");
    is(count_if_able(path), 0, "uses none");
    write_spec(named("mimo2mtp-f32"), path);
    is(count_if_able(path), 3, "those that are known are used");
    is(count_if_able("/nonesuch"), -1, "no file is no model");
}

/* The layers in a file of their own: the same as in the model's. */
static void
check_apart(void)
{
    const char *path = scratch_path(), *mtp = scratch_file("mtp.gguf");
    const char *all = scratch_file("all.gguf");
    struct gg_model *m, *whole;
    struct gg_session *s, *t;
    float a[STEPS][V], b[STEPS][V], out[V];

    name = "a file apart";
    write_spec(named("qwen35trunk-f32"), path);
    write_spec(named("qwen35head-f32"), mtp);
    write_spec(named("qwen35mtp-f32"), all);
    m = open_model(path, mtp);
    whole = open_model(all, NULL);
    s = new_session(m, gg_session_params_default());
    t = new_session(whole, gg_session_params_default());
    eval_ids(s, 0, ids, 0, PAST, out);
    eval_ids(t, 0, ids, 0, PAST, out);
    guess(s, 0, a);
    guess(t, 0, b);
    okn(!memcmp(a, b, sizeof(a)), "the same bytes");
    gg_session_free(s);
    gg_session_free(t);
    gg_model_free(m);
    gg_model_free(whole);
    refused(mtp, false, NULL, GG_ERR_FORMAT, "blk.0.attn_norm",
            "such a file is no model");
    refused(all, true, mtp, GG_ERR_FORMAT, "occurs",
            "layers that the model has, too");
    refused(path, true, path, GG_ERR_UNSUPPORTED, "no MTP layers",
            "a file that has none");
    write_spec(named("mimo2mtp-f32"), mtp);
    refused(path, true, mtp, GG_ERR_FORMAT, "another model",
            "layers of another model");
    refused(path, true, "/nonesuch", GG_ERR_IO, "nonesuch",
            "a file that is not there");
}

static void
check_types(void)
{
    struct gg_model *m;

    name = "an MTP layer that is sure";
    write_spec(named("qwen35sure-f32"), scratch_path());
    m = open_model(scratch_path(), NULL);
    check_cache_types(m, ids, PAST);
    gg_model_free(m);
}

int
main(void)
{
    fill_ids(ids, PAST + MOST + 1);
    check_model("qwen35mtp-f32", 1);
    check_model("mimo2mtp-f32", 3);
    check_adapters();
    check_apart();
    check_types();
    check_refused();
    return tap_done();
}
