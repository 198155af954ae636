/* prompt_source.c - what a prompt is made of, and its ids */
#include <config.h>

#include "common/spare.h"
#include "gg-generate/media.h"

#include <stdlib.h>
#include <string.h>

/* Whether a byte without a token is an error. */
static bool
is_strict(const struct options *o)
{
    return o->strict || o->special == SPECIAL_ERROR;
}

static enum gg_status
refuse_control(const struct generate *g, const char *what, const char *text,
               size_t len, struct gg_error *err)
{
    size_t at;

    if (g->o->special != SPECIAL_ERROR ||
        gg_vocab_find_control(g->engine.vocab, text, len, &at) < 0)
        return GG_OK;
    return cli_error(err, GG_ERR_FORMAT,
                     "the %s has a control token at byte %zu", what, at);
}

/* text[0..len), with what the source has after it. */
static enum gg_status
encode_ids(const struct generate *g, const struct prompt_source *s,
           const char *text, size_t len, unsigned flags, struct prompt *out,
           struct gg_encoded *made, struct gg_error *err)
{
    const struct gg_vocab *v = g->engine.vocab;

    return s->suffix
               ? gg_vocab_encode_infill(v, text, len, s->suffix, s->n_suffix,
                                        flags, out->ids, out->cap, made, err)
               : gg_vocab_encode(v, text, len, flags, out->ids, out->cap, made,
                                 err);
}

/* Whether the prompt is an encoder's and what follows it a decoder's. */
static bool
is_answered(const struct generate *g)
{
    return gg_vocab_decoder_start(g->engine.vocab) >= 0 && !g->loaded;
}

static enum gg_status
encode_plain(struct generate *g, const struct prompt_source *s,
             const char *text, size_t len, struct prompt *out,
             struct gg_error *err)
{
    const struct gg_vocab *v = g->engine.vocab;
    bool first = !g->loaded && gg_vocab_add_bos(v);
    bool bos = g->o->bos ? g->o->bos == BOS_FIRST : first;
    unsigned flags = (bos ? GG_ENCODE_BOS : 0) |
                     (is_answered(g) ? GG_ENCODE_EOS : 0) |
                     (g->loaded ? GG_ENCODE_CONTINUE : 0) |
                     (g->o->special == SPECIAL_PARSE ? GG_ENCODE_SPECIAL : 0) |
                     (is_strict(g->o) ? GG_ENCODE_STRICT : 0);
    struct gg_encoded made = { .n = len / 2 + 16 };
    enum gg_status st = refuse_control(g, "prompt", text, len, err);

    if (st == GG_OK && s->suffix)
        st = refuse_control(g, "suffix", s->suffix, s->n_suffix, err);
    if (st != GG_OK)
        return st;
    if (generate_has_media(g))
        return generate_media_text(g, text, len, flags, out, err);
    do {
        if (made.n > out->cap)
            out->ids =
                cli_alloc(out->ids, out->cap = made.n, sizeof(*out->ids));
        st = encode_ids(g, s, text, len, flags, out, &made, err);
    } while (st == GG_OK && made.n > out->cap);
    if (st == GG_OK) {
        out->n = made.n;
        g->left_out += made.left_out;
    }
    return st;
}

static unsigned
chat_flags(const struct options *o)
{
    return GG_CHAT_ANSWER | (o->bos == BOS_FIRST ? GG_CHAT_BOS : 0) |
           (o->bos == BOS_NONE ? GG_CHAT_NO_BOS : 0) |
           (is_strict(o) ? GG_CHAT_STRICT : 0);
}

/* ---- texts and messages -------------------------------------------------- */

/* A state holds all up to an answer, in place of which there is an empty
 * message. */
static void
begin_chat(struct generate *g, struct prompt_source *s)
{
    generate_media_begin(g, &s->chat);
    s->is_chat = true;
    s->template = g->o->template;
    s->done = g->loaded;
    if (g->loaded)
        chat_append(&s->chat, GG_ROLE_ASSISTANT, NULL, 0);
}

/* The model's own is opened when the first conversation wants it. */
static enum gg_status
open_template(struct generate *g, struct prompt_source *s, struct gg_error *err)
{
    struct options *o = g->o;
    enum gg_status st =
        o->template ? GG_OK
                    : chat_template_own(g->engine.vocab, &o->template, err);

    s->template = o->template;
    return st;
}

enum gg_status
prompt_source_open_messages(struct generate *g, struct prompt_source *s,
                            const char *json, size_t len, struct gg_error *err)
{
    enum gg_status st;

    begin_chat(g, s);
    st = open_template(g, s, err);
    if (st == GG_OK)
        st = chat_read(&s->chat, s->template, json, len, s->whole, err);
    if (st == GG_OK && s->chat.n == s->done)
        st = cli_error(err, GG_ERR_FORMAT, "no messages");
    return st == GG_OK ? generate_media_take(g, s, err) : st;
}

void
prompt_source_begin(struct generate *g, struct prompt_source *s)
{
    const char *system = g->o->system;

    begin_chat(g, s);
    if (system && !g->loaded) /* which had one, or none */
        chat_append(&s->chat, GG_ROLE_SYSTEM, system, strlen(system));
}

enum gg_status
prompt_source_open_text(struct generate *g, struct prompt_source *s,
                        const char *text, size_t len, struct gg_error *err)
{
    const char *suffix = g->o->suffix;

    s->text = text;
    s->len = len;
    s->goes_on = g->loaded && len == 0 && g->o->bos != BOS_FIRST;
    return suffix ? prompt_source_add_suffix(g, s, suffix, strlen(suffix), err)
                  : GG_OK;
}

enum gg_status
prompt_source_open(struct generate *g, struct prompt_source *s,
                   const char *text, size_t len, struct gg_error *err)
{
    if (g->o->messages)
        return prompt_source_open_messages(g, s, text, len, err);
    if (!g->o->chat)
        return prompt_source_open_text(g, s, text, len, err);
    s->goes_on = g->loaded && len == 0;
    if (len == 0 && !s->goes_on)
        return cli_error(err, GG_ERR_FORMAT, "the prompt is empty");
    prompt_source_begin(g, s);
    if (len)
        chat_append(&s->chat, GG_ROLE_USER, text, len);
    return len ? generate_media_take(g, s, err) : GG_OK;
}

enum gg_status
prompt_source_add_suffix(const struct generate *g, struct prompt_source *s,
                         const char *suffix, size_t len, struct gg_error *err)
{
    if (s->is_chat)
        return cli_error(err, GG_ERR_FORMAT,
                         "suffix: a conversation has no gap");
    if (g->o->choices.n)
        return cli_error(err, GG_ERR_FORMAT,
                         "suffix: what is to come is not chosen");
    s->suffix = suffix;
    s->n_suffix = len;
    s->goes_on = false;
    return GG_OK;
}

void
prompt_source_close(struct prompt_source *s)
{
    chat_clear(&s->chat);
    *s = (struct prompt_source){ 0 };
}

/* ---- ids ----------------------------------------------------------------- */

/* An assistant's message that a choice takes the place of. */
struct replaced {
    struct gg_message message;
    char *json;
};

/* The assistant's message is the choice, or goes on with it. */
static void
add_answer(struct chat *chat, const struct choice *choice,
           struct replaced *last)
{
    struct buffer text = { 0 };

    *last = (struct replaced){ chat->messages[chat->n - 1],
                               chat->json[chat->n - 1] };
    if (last->message.role == GG_ROLE_ASSISTANT) {
        buffer_add(&text, last->message.content, last->message.len);
        chat->n--;
    }
    buffer_add(&text, choice->text, choice->len);
    chat_append(chat, GG_ROLE_ASSISTANT, text.p, text.len);
    buffer_clear(&text);
}

static void
remove_answer(struct chat *chat, const struct replaced *last)
{
    chat_truncate(chat, chat->n - 1);
    if (last->message.role != GG_ROLE_ASSISTANT)
        return;
    chat->messages[chat->n] = last->message;
    chat->json[chat->n++] = last->json;
}

/* Whether reasoning that is to be off is so by nature: the model has none. */
static enum gg_status
settle_reasoning(struct generate *g, const struct prompt_source *s,
                 struct reasoning_options *o, struct gg_error *err)
{
    const struct gg_chat_reader *reader = NULL;
    enum gg_status st;

    if (o->mode != REASONING_OFF || gg_chat_reasoning(s->template, false))
        return GG_OK;
    st = generate_reader(g, &reader, err);
    if (!reader)
        o->mode = REASONING_AUTO;
    return st;
}

/* The variables of the template that options, or a record, give. */
static enum gg_status
take_arguments(struct generate *g, struct prompt_source *s,
               struct gg_error *err)
{
    const struct reasoning_options *all = &g->o->reasoning;
    struct reasoning_options own = s->reasoning ? *s->reasoning : *all;
    char *arguments = NULL;
    enum gg_status st;

    if (s->has_arguments)
        return GG_OK;
    st = settle_reasoning(g, s, &own, err);
    if (own.arguments == all->arguments)
        own.arguments = NULL;
    if (st == GG_OK)
        st = reasoning_arguments(&own, all->arguments, s->template, &arguments,
                                 err);
    if (st == GG_OK)
        st = reasoning_give_arguments(&s->chat, arguments, err);
    free(arguments);
    s->has_arguments = st == GG_OK;
    return st;
}

static enum gg_status
encode_chat(struct generate *g, struct prompt_source *s,
            const struct choice *choice, struct prompt *out,
            struct gg_error *err)
{
    struct gg_chat_params params = { .flags = chat_flags(g->o),
                                     .first = s->done,
                                     .plainer = &g->plainer };
    struct replaced last;
    enum gg_status st;

    params.date = gg_chat_takes_date(s->template) ? generate_date(g) : g->date;
    st = take_arguments(g, s, err);
    if (st != GG_OK)
        return st;
    if (choice)
        add_answer(&s->chat, choice, &last);
    st = chat_encode(g->engine.vocab, s->template, &s->chat, &params, &out->ids,
                     &out->cap, &out->n, &g->left_out, err);
    if (st == GG_OK && s->chat.n_media)
        st = generate_media_place(g, s, out, err);
    if (choice)
        remove_answer(&s->chat, &last);
    return st;
}

static void
take_ids(const struct prompt_source *s, struct prompt *out)
{
    out->cap = out->n = s->n_ids;
    out->ids = cli_alloc(out->ids, out->n, sizeof(*out->ids));
    memcpy(out->ids, s->ids, out->n * sizeof(*out->ids));
}

/* An answer of a decoder, whose text begins anew. */
static enum gg_status
add_decoded(struct generate *g, const struct choice *choice, struct prompt *out,
            struct gg_error *err)
{
    unsigned flags = (g->o->special == SPECIAL_PARSE ? GG_ENCODE_SPECIAL : 0) |
                     (is_strict(g->o) ? GG_ENCODE_STRICT : 0);
    struct gg_encoded made = { .n = choice->len / 2 + 16 };
    enum gg_status st;

    do {
        if (made.n > out->cap - out->n)
            out->ids = cli_alloc(out->ids, out->cap = out->n + made.n,
                                 sizeof(*out->ids));
        st = gg_vocab_encode(g->engine.vocab, choice->text, choice->len, flags,
                             out->ids + out->n, out->cap - out->n, &made, err);
    } while (st == GG_OK && made.n > out->cap - out->n);
    if (st == GG_OK) {
        out->n += made.n;
        g->left_out += made.left_out;
    }
    return st;
}

static enum gg_status
encode_text(struct generate *g, const struct prompt_source *s,
            const struct choice *choice, struct prompt *out,
            struct gg_error *err)
{
    struct buffer text = { 0 };
    enum gg_status st;

    if (s->ids) {
        take_ids(s, out);
        return GG_OK;
    }
    if (!choice)
        return s->goes_on ? GG_OK
                          : encode_plain(g, s, s->text, s->len, out, err);
    if (is_answered(g)) {
        st = encode_plain(g, s, s->text, s->len, out, err);
        return st == GG_OK ? add_decoded(g, choice, out, err) : st;
    }
    buffer_add(&text, s->text, s->len);
    buffer_add(&text, choice->text, choice->len);
    st = encode_plain(g, s, text.p, text.len, out, err);
    buffer_clear(&text);
    return st;
}

static void
put_base(const struct gg_sequence *sequence, struct prompt *out)
{
    size_t n;
    const int32_t *base = gg_sequence_ids(sequence, &n);

    if (n == 0)
        return;
    if (out->cap - out->n < n)
        out->ids =
            cli_alloc(out->ids, out->cap = out->n + n, sizeof(*out->ids));
    memmove(out->ids + n, out->ids, out->n * sizeof(*out->ids));
    memcpy(out->ids, base, n * sizeof(*out->ids));
    out->n += n;
}

/* Encodes the prompt, after the ids of the state. */
static enum gg_status
encode_prompt(struct generate *g, struct prompt_source *s,
              const struct choice *choice, struct prompt *out,
              struct gg_error *err)
{
    enum gg_status st = spare_check(out->cap + s->len, sizeof(*out->ids), err);

    if (st == GG_OK)
        st = s->is_chat && !s->goes_on ? encode_chat(g, s, choice, out, err)
                                       : encode_text(g, s, choice, out, err);
    if (st == GG_OK)
        put_base(g->base.sequence, out);
    return st;
}

/* A prompt with a choice, all of which must be in the ids. `left_out`: bytes
 * that the prompt lacks; `medium`: the first of its media, which stand in the
 * prompt of every choice. */
static enum gg_status
encode_choice(struct generate *g, struct prompt_source *s,
              const struct choice *choice, uint64_t left_out, size_t medium,
              struct prompt *out, struct gg_error *err)
{
    uint64_t before = g->left_out, without;
    enum gg_status st;

    g->medium = medium;
    st = encode_prompt(g, s, choice, out, err);
    without = g->left_out - before;
    g->left_out = before;
    if (st == GG_OK && without > left_out)
        st = cli_error(
            err, GG_ERR_UNSUPPORTED,
            "a choice has bytes that the vocabulary has no token for");
    return st;
}

enum gg_status
prompt_source_encode(struct generate *g, struct prompt_source *s,
                     const struct choices *choices, struct prompt *out,
                     struct gg_error *err)
{
    uint64_t before = g->left_out, left_out;
    size_t medium = g->medium;
    enum gg_status st;

    if (s->is_chat)
        tools_give(g, s);
    st = encode_prompt(g, s, NULL, out, err);
    left_out = g->left_out - before;

    out->goes_on = s->goes_on;
    if (st == GG_OK && s->is_chat)
        st = generate_reader(g, &out->reader, err);
    if (st == GG_OK && s->is_chat)
        st = tools_prompt(g, s, out, err);
    out->contest.prompt = out->ids;
    out->contest.n_prompt = out->n;
    for (size_t i = 0; st == GG_OK && out->n && i < choices->n; i++) {
        struct prompt both = { 0 };

        st = spare_check(out->n + choices->list[i].len, sizeof(*out->ids), err);
        if (st == GG_OK)
            st = encode_choice(g, s, &choices->list[i], left_out, medium, &both,
                               err);
        if (st == GG_OK)
            st = contest_add(&out->contest, &choices->list[i], both.ids, both.n,
                             err);
        else
            free(both.ids);
    }
    return st;
}

void
prompt_clear(struct prompt *p)
{
    generate_media_release(p);
    free(p->ids);
    free(p->tools);
    free(p->grammar);
    contest_clear(&p->contest);
    *p = (struct prompt){ 0 };
}
