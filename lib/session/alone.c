/* alone.c - a model that one process evaluates: nobody is to be told */
#include "session/batches.h"

static enum gg_status
divide(struct gg_pipeline *p, struct model *m, struct gg_error *err)
{
    (void)p, (void)m, (void)err;
    return GG_OK;
}

static enum gg_status
agree(struct gg_pipeline *p, enum gg_status st, struct gg_error *err)
{
    (void)p, (void)err;
    return st;
}

static void
close_model(struct gg_pipeline *p)
{
    (void)p;
}

static enum gg_status
begin(struct gg_session *s, struct gg_error *err)
{
    (void)s, (void)err;
    return GG_OK;
}

static void
end(struct gg_session *s)
{
    (void)s;
}

static enum gg_status
tell(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
     struct gg_error *err)
{
    (void)s, (void)chunks, (void)n_chunks, (void)err;
    return GG_OK;
}

static enum gg_status
wait_for(struct gg_session *s, uint64_t ticket, struct gg_error *err)
{
    (void)s, (void)ticket, (void)err;
    return GG_OK;
}

static void
cut(struct gg_session *s, int32_t slot, int32_t n)
{
    (void)s, (void)slot, (void)n;
}

static void
copy(struct gg_session *s, int32_t to, int32_t from, int32_t n)
{
    (void)s, (void)to, (void)from, (void)n;
}

static void
draft(struct gg_session *s, int32_t slot, int32_t past, int32_t n)
{
    (void)s, (void)slot, (void)past, (void)n;
}

static void
hold(struct gg_session *s, const struct gg_chunk *chunk)
{
    (void)s, (void)chunk;
}

static enum gg_status
rows(struct gg_session *s, const struct gg_medium *medium, struct gg_error *err)
{
    (void)s, (void)medium, (void)err;
    return GG_OK;
}

/* All layers are here, so that nobody asks for others' rows. */
static enum gg_status
save(struct gg_session *s, const struct pipeline_rows *rows, char *to,
     struct gg_error *err)
{
    (void)s, (void)rows, (void)to;
    return error_set(err, GG_ERR_ARG, "no other process has the layer");
}

static void
load(struct gg_session *s, const struct pipeline_rows *rows, const char *from)
{
    (void)s, (void)rows, (void)from;
}

static const struct pipeline_calls calls = {
    .divide = divide,
    .agree = agree,
    .close = close_model,
    .begin = begin,
    .end = end,
    .tell = tell,
    .eval = session_run_batches,
    .wait = wait_for,
    .cut = cut,
    .copy = copy,
    .draft = draft,
    .hold = hold,
    .rows = rows,
    .save = save,
    .load = load,
};

struct gg_pipeline session_alone = { .call = &calls, .n = 1, .n_local = 1 };
