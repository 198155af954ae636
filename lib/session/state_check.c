/* state_check.c - whether a session can go on with a state, by its keys */
#include "session/state_open.h"

#include <inttypes.h>
#include <string.h>

#include "core/escape.h"
#include "core/line.h"
#include "core/mem.h"

static bool
same_text(struct gguf_str a, struct gguf_str b)
{
    return a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
}

enum gg_status
session_state_check_kind(struct opener *o)
{
    const struct gguf_str wanted = { STATE_TYPE, strlen(STATE_TYPE) };
    struct gguf_str type = { "", 0 };
    uint32_t version = 0;
    enum gg_status st = gguf_opt_str(o->gguf, "general.type", &type, o->err);

    if (st == GG_OK && !same_text(type, wanted))
        return session_state_refuse(o, GG_ERR_FORMAT,
                                    "is no state of a session");
    if (st == GG_OK && gguf_get_byte_order(o->gguf) != GGUF_MACHINE_ORDER)
        return session_state_refuse(o, GG_ERR_UNSUPPORTED,
                                    "a state of a machine of the other byte "
                                    "order");
    if (st == GG_OK)
        st = gguf_get_u32(o->gguf, STATE_KEY_VERSION, &version, o->err);
    if (st == GG_OK && (version < STATE_OLDEST || version > STATE_VERSION))
        return session_state_refuse(o, GG_ERR_UNSUPPORTED,
                                    "a state of version %" PRIu32
                                    ", but only %d to %d are known",
                                    version, STATE_OLDEST, STATE_VERSION);
    o->its.version = version;
    return st;
}

static enum gg_status
check_model(const struct opener *o)
{
    if (o->its.model != o->own.model)
        return session_state_refuse(o, GG_ERR_UNSUPPORTED,
                                    "the state was made with another model");
    return GG_OK;
}

/* Version 1 does not say what layers keep: it is what they do here. */
static enum gg_status
check_layers(const struct opener *o)
{
    const struct gguf_array *its = &o->its.layers, *own = &o->own.layers;

    if (o->its.version == 1)
        return GG_OK;
    if (its->n != own->n)
        return session_state_refuse(
            o, GG_ERR_FORMAT, STATE_KEY_LAYERS ": no kind for each layer");
    for (size_t i = 0; i < own->n; i++)
        if (gguf_array_i32(its, i) != gguf_array_i32(own, i))
            return session_state_refuse(
                o, GG_ERR_UNSUPPORTED,
                "layer %zu keeps what is of kind %" PRId32 ", not %" PRId32, i,
                gguf_array_i32(its, i), gguf_array_i32(own, i));
    return GG_OK;
}

static bool
same_adapter(const struct state_head *a, const struct state_head *b, size_t i)
{
    const size_t size = sizeof(uint64_t);

    return memcmp((const char *)a->adapters.data + i * size,
                  (const char *)b->adapters.data + i * size, size) == 0 &&
           gguf_array_f32(&a->scales, i) == gguf_array_f32(&b->scales, i);
}

/* The state was made with one that the model has not in its place. */
static enum gg_status
refuse_adapter(const struct opener *o, size_t i)
{
    const struct gguf_str *s = &o->its.names.strings[i];
    char name[200];

    escape_bytes(name, sizeof(name), s->s, s->n);
    return session_state_refuse(o, GG_ERR_UNSUPPORTED,
                                "the state was made with the adapter %s at the "
                                "scale %g: LoRA adapters and control vectors "
                                "must be as they were",
                                name,
                                (double)gguf_array_f32(&o->its.scales, i));
}

/* Ids have the keys and values that they would have here. */
static enum gg_status
check_adapters(const struct opener *o)
{
    const struct state_head *its = &o->its, *own = &o->own;
    size_t n = its->adapters.n;

    if (its->scales.n != n || its->names.n != n)
        return session_state_refuse(o, GG_ERR_FORMAT,
                                    STATE_KEY_ADAPTERS
                                    ": no scale and name for each");
    for (size_t i = 0; i < n; i++)
        if (i >= own->adapters.n || !same_adapter(its, own, i))
            return refuse_adapter(o, i);
    if (n < own->adapters.n)
        return session_state_refuse(
            o, GG_ERR_UNSUPPORTED,
            "the state was made without the adapter %s: LoRA adapters and "
            "control vectors must be as they were",
            own->names.strings[n].s);
    return GG_OK;
}

static enum gg_status
check_rope(const struct opener *o)
{
    const struct state_head *its = &o->its, *own = &o->own;

    if (!same_text(its->scaling, own->scaling) ||
        memcmp(&its->factor, &own->factor, sizeof(float)) != 0 ||
        memcmp(&its->base, &own->base, sizeof(float)) != 0 ||
        its->n_ctx_orig != own->n_ctx_orig)
        return session_state_refuse(
            o, GG_ERR_UNSUPPORTED,
            "the state was made with other rotary positions: "
            "the RoPE scaling, factor, base and context must be as they were");
    if (its->longer != own->longer)
        return session_state_refuse(
            o, GG_ERR_UNSUPPORTED,
            "the state was made for a context %s %" PRIu32
            " positions, where the model turns keys otherwise",
            its->longer ? "of more than" : "of no more than", own->n_ctx_orig);
    return GG_OK;
}

static enum gg_status
take_sampling(struct opener *o)
{
    const struct gguf_str *line = &o->its.sampling;
    struct gg_state *state = &o->f->state;

    if (!(o->its.has & STATE_HAS_SAMPLING))
        return GG_OK;
    if (!core_is_line(line->s, line->n))
        return session_state_refuse(o, GG_ERR_FORMAT,
                                    STATE_KEY_SAMPLING ": is no line of text");
    state->sampling = o->f->sampling = mem_strndup(line->s, line->n);
    return state->sampling ? GG_OK : error_nomem(o->err);
}

/* Takes what is no matter of the session's. */
static enum gg_status
take_rest(struct opener *o)
{
    const struct state_head *its = &o->its;
    const struct gguf_str *chat = &its->chat;
    struct gg_state *state = &o->f->state;

    state->numbered = its->numbered;
    state->has_mirostat = its->has & STATE_HAS_MIROSTAT;
    state->mirostat = its->mirostat;
    state->date = (int64_t)its->date;
    if (state->has_mirostat && state->numbered)
        return session_state_refuse(o, GG_ERR_FORMAT,
                                    STATE_KEY_MIROSTAT ": makes no sense");
    if (its->date > INT64_MAX)
        return session_state_refuse(o, GG_ERR_FORMAT,
                                    STATE_KEY_DATE ": makes no sense");
    if (!(its->has & STATE_HAS_CHAT))
        return GG_OK;
    if (chat->n == 0 || chat->n > 64 || memchr(chat->s, '\0', chat->n))
        return session_state_refuse(o, GG_ERR_FORMAT,
                                    STATE_KEY_CHAT ": is no name");
    state->chat = o->f->chat = mem_strndup(chat->s, chat->n);
    return state->chat ? GG_OK : error_nomem(o->err);
}

/* Mistakes that a user can make are told first. */
enum gg_status
session_state_check_head(struct opener *o)
{
    enum gg_status st = session_state_head_of(o->session, &o->own, o->err);

    if (st == GG_OK)
        st = session_state_head_get(&o->its, o->gguf, o->err);
    if (st == GG_OK)
        st = check_model(o);
    if (st == GG_OK)
        st = check_layers(o);
    if (st == GG_OK)
        st = check_adapters(o);
    if (st == GG_OK)
        st = check_rope(o);
    if (st == GG_OK)
        st = take_sampling(o);
    return st == GG_OK ? take_rest(o) : st;
}
