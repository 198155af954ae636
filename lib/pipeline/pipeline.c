/* pipeline.c - what the processes of a pipeline say to each other */
#include "pipeline/remote.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"

/* The outcome of something; of layers, whose bytes follow where all is well,
 * the text comes with a failure alone. */
struct verdict {
    int32_t status; /* enum gg_status */
    char text[400];
};

enum {
    MAX_COMMAND = 1 << 30, /* bytes that follow one */
};

/* ---- bytes -------------------------------------------------------------- */

/* The first failure sticks. */
static enum gg_status
fail(struct pipeline *p, struct gg_error *err)
{
    if (!p->failed)
        snprintf(p->why, sizeof(p->why), "MPI: %s", p->transport->error);
    p->failed = true;
    return error_set(err, GG_ERR_IO, "%s", p->why);
}

static enum gg_status
send_bytes(struct pipeline *p, int32_t to, enum transport_tag tag,
           const void *bytes, size_t n, struct gg_error *err)
{
    struct pipeline_transport *t = p->transport;

    return !p->failed && t->send(t, to, tag, bytes, n) ? GG_OK : fail(p, err);
}

static enum gg_status
receive_bytes(struct pipeline *p, int32_t from, enum transport_tag tag,
              void *bytes, size_t n, struct gg_error *err)
{
    struct pipeline_transport *t = p->transport;

    return !p->failed && t->receive(t, from, tag, bytes, n) ? GG_OK
                                                            : fail(p, err);
}

/* ---- commands ----------------------------------------------------------- */

enum gg_status
pipeline_tell(struct pipeline *p, int32_t rank,
              const struct pipeline_command *c, const void *bytes,
              struct gg_error *err)
{
    enum gg_status st;

    if (p->broken && c->op != PIPELINE_LEAVE)
        return error_set(err, GG_ERR_IO, "%s", p->why);
    st = send_bytes(p, rank, TRANSPORT_COMMAND, c, sizeof(*c), err);
    if (st == GG_OK && c->size)
        st =
            send_bytes(p, rank, TRANSPORT_COMMAND, bytes, (size_t)c->size, err);
    return st;
}

enum gg_status
pipeline_tell_all(struct pipeline *p, const struct pipeline_command *c,
                  const void *bytes, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (int32_t i = 1; i < p->base.n && st == GG_OK && !p->base.planned; i++)
        st = pipeline_tell(p, i, c, bytes, err);
    return st;
}

enum gg_status
pipeline_reply(struct pipeline *p, int32_t rank, void *bytes, size_t n,
               struct gg_error *err)
{
    return receive_bytes(p, rank, TRANSPORT_REPLY, bytes, n, err);
}

enum gg_status
pipeline_answer(struct pipeline *p, const void *bytes, size_t n,
                struct gg_error *err)
{
    return send_bytes(p, 0, TRANSPORT_REPLY, bytes, n, err);
}

bool
pipeline_room(struct pipeline *p, uint64_t n)
{
    return n == 0 || (n <= MAX_COMMAND &&
                      mem_grow(&p->command, &p->cap_command, (size_t)n, 1));
}

enum gg_status
pipeline_next(struct pipeline *p, struct pipeline_command *c,
              const char **bytes, struct gg_error *err)
{
    enum gg_status st =
        receive_bytes(p, 0, TRANSPORT_COMMAND, c, sizeof(*c), err);

    if (st == GG_OK && c->size > MAX_COMMAND)
        return error_set(err, GG_ERR_FORMAT, "a command of rank 0 is damaged");
    if (st == GG_OK && !pipeline_room(p, c->size))
        return error_nomem(err);
    if (st == GG_OK && c->size)
        st = receive_bytes(p, 0, TRANSPORT_COMMAND, p->command, (size_t)c->size,
                           err);
    *bytes = p->command;
    return st;
}

/* ---- what leaves a rank's layers ----------------------------------------- */

static void
set_verdict(struct verdict *v, enum gg_status st, const struct gg_error *err)
{
    *v = (struct verdict){ .status = (int32_t)st };
    if (st != GG_OK && err)
        snprintf(v->text, sizeof(v->text), "%.399s", err->message);
}

/* The error that another rank reports; GG_OK: none. */
static enum gg_status
take_verdict(struct verdict *v, struct gg_error *err)
{
    bool known = v->status >= 0 && v->status <= GG_ERR_ABORTED;

    v->text[sizeof(v->text) - 1] = '\0';
    return v->status == GG_OK
               ? GG_OK
               : error_set(err, known ? (enum gg_status)v->status : GG_ERR_IO,
                           "%s", *v->text ? v->text : "another rank failed");
}

enum gg_status
pipeline_pass(struct pipeline *p, enum gg_status st, const void *bytes,
              size_t n, struct gg_error *err)
{
    int32_t to = (p->base.rank + 1) % p->base.n;
    struct verdict v;
    enum gg_status sent;

    set_verdict(&v, st, err);
    sent = send_bytes(p, to, TRANSPORT_LAYER, &v.status, sizeof(v.status), err);
    if (sent == GG_OK && st == GG_OK)
        sent = send_bytes(p, to, TRANSPORT_LAYER, bytes, n, err);
    else if (sent == GG_OK)
        sent = send_bytes(p, to, TRANSPORT_LAYER, v.text, sizeof(v.text), err);
    return st == GG_OK ? sent : st;
}

void
pipeline_break(struct pipeline *p, const struct gg_error *why)
{
    if (!p->broken && !p->failed)
        snprintf(p->why, sizeof(p->why), "%.399s", why->message);
    p->broken = true;
}

enum gg_status
pipeline_take(struct pipeline *p, void *bytes, size_t n, struct gg_error *err)
{
    int32_t from = (p->base.rank + p->base.n - 1) % p->base.n;
    struct verdict v;
    enum gg_status st = receive_bytes(p, from, TRANSPORT_LAYER, &v.status,
                                      sizeof(v.status), err);

    if (st == GG_OK && v.status == GG_OK)
        return receive_bytes(p, from, TRANSPORT_LAYER, bytes, n, err);
    if (st == GG_OK)
        st = receive_bytes(p, from, TRANSPORT_LAYER, v.text, sizeof(v.text),
                           err);
    return st == GG_OK ? take_verdict(&v, err) : st;
}

/* ---- all of one mind ----------------------------------------------------- */

/* Rank 0 hears all others, and says what the first of them says that failed. */
static enum gg_status
hear_all(struct pipeline *p, struct verdict *v, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (int32_t i = 1; i < p->base.n && st == GG_OK; i++) {
        struct verdict one;

        st = pipeline_reply(p, i, &one, sizeof(one), err);
        if (st != GG_OK || one.status == GG_OK || v->status != GG_OK)
            continue;
        *v = one;
        one.text[sizeof(one.text) - 1] = '\0';
        snprintf(v->text, sizeof(v->text), "rank %d: %.380s", (int)i, one.text);
    }
    for (int32_t i = 1; i < p->base.n && st == GG_OK; i++)
        st = send_bytes(p, i, TRANSPORT_COMMAND, v, sizeof(*v), err);
    return st;
}

enum gg_status
pipeline_agree(struct gg_pipeline *base, enum gg_status st,
               struct gg_error *err)
{
    struct pipeline *p = pipeline_of(base);
    struct verdict v;
    enum gg_status heard;

    if (p->base.planned)
        return st;
    set_verdict(&v, st, err);
    if (p->base.rank == 0) {
        heard = hear_all(p, &v, err);
    } else {
        heard = pipeline_answer(p, &v, sizeof(v), err);
        if (heard == GG_OK)
            heard = receive_bytes(p, 0, TRANSPORT_COMMAND, &v, sizeof(v), err);
    }
    return heard == GG_OK ? take_verdict(&v, err) : heard;
}

/* ---- birth and death ----------------------------------------------------- */

int32_t
pipeline_rank_of(const struct pipeline *p, int32_t layer)
{
    int32_t i = 0;

    while (i < p->base.n - 1 && layer >= p->end[i])
        i++;
    return i;
}
