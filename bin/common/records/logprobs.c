/* logprobs.c - how likely the tokens of an answer were, as OpenAI's interface
 * tells it */
#include <config.h>

#include "common/records/logprobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/utf8.h"

/* ---- taking ---- */

void
logprobs_begin(struct logprobs *l, const struct gg_text *text)
{
    l->n = l->n_prompt;
    l->part = gg_text_part(text);
}

static void
make_room(struct logprobs *l, size_t n)
{
    l->list = cli_alloc(l->list, n * (1 + l->n_top), sizeof(*l->list));
    l->cap = n;
}

/* Copies the likeliest ids that could follow. */
static void
set_likeliest(struct gg_likely *to, size_t n, const struct gg_best *best)
{
    for (size_t i = 0; i < n; i++)
        to[i] = i < best->n ? (struct gg_likely){ best->ids[i],
                                                  (double)best->logits[i] -
                                                      best->log_sum_exp }
                            : (struct gg_likely){ -1, 0 };
}

void
logprobs_set_prompt(struct logprobs *l, const int32_t *ids, size_t n,
                    const float *logprobs, const struct gg_best *best)
{
    size_t width = 1 + l->n_top;

    make_room(l, n);
    l->n = l->n_prompt = n;
    for (size_t i = 0; i < n; i++) {
        struct gg_likely *to = l->list + i * width;
        static const struct gg_best none;

        to[0] = (struct gg_likely){ ids[i], i ? (double)logprobs[i] : NAN };
        set_likeliest(to + 1, l->n_top, i ? &best[i - 1] : &none);
    }
}

void
logprobs_copy_prompt(struct logprobs *l, const struct logprobs *from)
{
    if (!from->n_prompt)
        return;
    make_room(l, from->n_prompt);
    memcpy(l->list, from->list,
           from->n_prompt * (1 + l->n_top) * sizeof(*l->list));
    l->n = l->n_prompt = from->n_prompt;
}

/* Reasoning and calls are no part of the text, nor are the marks around it. */
static bool
is_of_text(enum gg_part before, enum gg_part after,
           const struct gg_vocab *vocab, int32_t id)
{
    if (before == GG_PART_ALL)
        return after == GG_PART_TEXT &&
               gg_vocab_type(vocab, id) != GG_TOKEN_CONTROL;
    return before == GG_PART_TEXT && after == GG_PART_TEXT;
}

void
logprobs_take(struct logprobs *l, const struct gg_vocab *vocab,
              const struct gg_text *text)
{
    struct gg_drawn drawn = gg_text_drawn(text);
    size_t n, width = 1 + l->n_top;
    const struct gg_likely *top = gg_text_top(text, &n);
    enum gg_part before = l->part;
    struct gg_likely *to;

    l->part = gg_text_part(text);
    if (!l->wanted || gg_text_finish(text) == GG_FINISH_EOG ||
        !is_of_text(before, l->part, vocab, drawn.draw.id))
        return;
    if (l->n == l->cap)
        make_room(l, 2 * l->cap + 16);
    to = l->list + l->n++ * width;
    to[0] = (struct gg_likely){ drawn.draw.id, drawn.logprob };
    for (size_t i = 0; i < l->n_top; i++)
        to[1 + i] = i < n ? top[i] : (struct gg_likely){ -1, 0 };
}

void
logprobs_clear(struct logprobs *l)
{
    free(l->list);
    l->list = NULL;
    l->n = l->cap = l->n_prompt = 0;
}

/* ---- texts of tokens ---- */

/* Adds the bytes of an id. */
static void
add_bytes(const struct gg_vocab *vocab, struct gg_decode_state *state,
          int32_t id, unsigned flags, struct buffer *out)
{
    struct gg_decode_state before = *state;
    struct gg_error err;
    size_t n;

    cli_check(gg_vocab_decode(vocab, state, id, flags, NULL, 0, &n, &err),
              &err);
    if (n == 0)
        return;
    *state = before;
    cli_check(gg_vocab_decode(vocab, state, id, flags, buffer_room(out, n), n,
                              &n, &err),
              &err);
    out->len += n;
}

/* The token inside of a text; control tokens by their names. */
static void
set_name(const struct gg_vocab *vocab, int32_t id, struct buffer *out)
{
    struct gg_decode_state state = { .started = true };

    out->len = 0;
    add_bytes(vocab, &state, id, GG_DECODE_SPECIAL, out);
}

/* Offsets in ascending order, of bytes, become those of characters as JSON has
 * them: a byte that is of none is U+FFFD there. */
static void
count_characters(const char *p, size_t len, size_t *offsets, size_t n)
{
    size_t at = 0, count = 0, i = 0;

    while (i < n) {
        bool valid = false;
        size_t next = at < len ? utf8_next(p + at, len - at, &valid) : 0;

        next = at + (valid && next ? next : 1);
        if (next > offsets[i]) {
            offsets[i++] = count;
        } else {
            at = next;
            count++;
        }
    }
}

/* Where the prompt's tokens begin in the echo: what they stand for may differ
 * from it, as some vocabularies change a text. */
static void
find_in_echo(const struct logprobs *l, const struct logprobs_texts *texts,
             size_t *offsets)
{
    struct gg_decode_state state = { 0 };
    struct buffer all = { 0 };

    for (size_t i = 0; i < l->n_prompt; i++) {
        offsets[i] = all.len < texts->echo->len ? all.len : texts->echo->len;
        add_bytes(texts->vocab, &state, l->list[i * (1 + l->n_top)].id, 0,
                  &all);
    }
    buffer_clear(&all);
}

/* All tokens, after the echo; offsets say where they begin, and one more
 * where the last one ends. */
static void
add_all(const struct logprobs *l, const struct logprobs_texts *texts,
        size_t *offsets, struct buffer *out)
{
    struct gg_decode_state state = { .started = texts->goes_on || l->n_prompt };

    find_in_echo(l, texts, offsets);
    buffer_add(out, texts->echo->p, texts->echo->len);
    for (size_t i = l->n_prompt; i < l->n; i++) {
        offsets[i] = out->len;
        add_bytes(texts->vocab, &state, l->list[i * (1 + l->n_top)].id,
                  texts->flags, out);
    }
    offsets[l->n] = out->len;
}

/* Where the text stands in all; there, if it does not, is the end of all. */
static size_t
find_text(const struct logprobs_texts *texts, const struct buffer *all)
{
    size_t echo = texts->echo->len;
    const char *p = texts->text->len && all->len > echo
                        ? memmem(all->p + echo, all->len - echo, texts->text->p,
                                 texts->text->len)
                        : NULL;

    return p ? (size_t)(p - all->p) : all->len;
}

/* Tokens, and where each begins in characters of the answer. */
struct span {
    size_t first, end;
    size_t n;        /* with those before the first that were told */
    size_t *offsets; /* of all; for free() */
};

static struct span
find_tokens(const struct logprobs *l, const struct logprobs_texts *texts)
{
    struct span s = { .end = l->n };
    struct buffer all = { 0 };
    size_t from = 0;

    s.offsets = cli_alloc(NULL, l->n + 1, sizeof(*s.offsets));
    add_all(l, texts, s.offsets, &all);
    if (texts->text) {
        from = find_text(texts, &all);
        while (!l->n_prompt && s.first < l->n && s.offsets[s.first + 1] <= from)
            s.first++;
        while (s.end > s.first && s.end > l->n_prompt &&
               s.offsets[s.end - 1] >= from + texts->text->len)
            s.end--;
    }
    count_characters(all.p, all.len, s.offsets, l->n);
    buffer_clear(&all);
    s.n = s.end - s.first;
    s.first += texts->told < s.n ? texts->told : s.n;
    return s;
}

/* ---- JSON ---- */

/* An impossible token has the number that OpenAI writes there, and one with
 * nothing before it none. */
static void
add_number(struct buffer *out, double logprob)
{
    if (isnan(logprob))
        buffer_format(out, "null");
    else
        buffer_format(out, "%.6f", isfinite(logprob) ? logprob : -9999.0);
}

static void
add_chat_token(const struct gg_vocab *vocab, const struct gg_likely *token,
               struct buffer *out)
{
    struct buffer name = { 0 };

    set_name(vocab, token->id, &name);
    buffer_format(out, "\"token\":");
    cli_json_add(out, name.p, name.len);
    buffer_format(out, ",\"logprob\":");
    add_number(out, token->logprob);
    buffer_format(out, ",\"bytes\":[");
    for (size_t i = 0; i < name.len; i++)
        buffer_format(out, "%s%d", i ? "," : "", (unsigned char)name.p[i]);
    buffer_char(out, ']');
    buffer_clear(&name);
}

size_t
logprobs_add_chat(const struct logprobs *l, const struct logprobs_texts *texts,
                  struct buffer *out)
{
    struct span s;

    if (!l->wanted) {
        buffer_format(out, "null");
        return 0;
    }
    s = find_tokens(l, texts);
    buffer_format(out, "{\"content\":[");
    for (size_t i = s.first; i < s.end; i++) {
        const struct gg_likely *token = l->list + i * (1 + l->n_top);

        buffer_format(out, "%s{", i > s.first ? "," : "");
        add_chat_token(texts->vocab, token, out);
        buffer_format(out, ",\"top_logprobs\":[");
        for (size_t k = 1; k <= l->n_top && token[k].id >= 0; k++) {
            buffer_format(out, "%s{", k > 1 ? "," : "");
            add_chat_token(texts->vocab, &token[k], out);
            buffer_char(out, '}');
        }
        buffer_format(out, "]}");
    }
    buffer_format(out, "],\"refusal\":null}");
    free(s.offsets);
    return s.n;
}

/* Whether any reader of JSON takes it for a member's name. */
static bool
is_name(const struct buffer *b)
{
    bool valid = !b->len || !memchr(b->p, '\0', b->len);

    for (size_t at = 0, n; at < b->len && valid; at += n) {
        n = utf8_next(b->p + at, b->len - at, &valid);
        valid = valid && n;
    }
    return valid;
}

/* Tokens are names of members there: those of what are no characters are made
 * of their bytes, so that they can be told apart. */
static void
add_text_token(const struct gg_vocab *vocab, int32_t id, struct buffer *out)
{
    struct buffer name = { 0 }, shown = { 0 };

    set_name(vocab, id, &name);
    if (is_name(&name)) {
        cli_json_add(out, name.p, name.len);
    } else {
        buffer_format(&shown, "bytes:");
        for (size_t i = 0; i < name.len; i++)
            buffer_format(&shown, "\\x%02x", (unsigned char)name.p[i]);
        cli_json_add(out, shown.p, shown.len);
    }
    buffer_clear(&name);
    buffer_clear(&shown);
}

static bool
same_name(const struct gg_vocab *vocab, int32_t a, int32_t b)
{
    struct buffer one = { 0 }, other = { 0 };
    bool same;

    set_name(vocab, a, &one);
    set_name(vocab, b, &other);
    same = one.len == other.len &&
           (one.len == 0 || memcmp(one.p, other.p, one.len) == 0);
    buffer_clear(&one);
    buffer_clear(&other);
    return same;
}

/* The likeliest, and the token itself; of those with one name the first. */
static void
add_top(const struct logprobs *l, const struct gg_likely *token,
        const struct gg_vocab *vocab, struct buffer *out)
{
    bool first = true;

    if (isnan(token->logprob)) {
        buffer_format(out, "null");
        return;
    }
    buffer_char(out, '{');
    for (size_t k = 1; k <= l->n_top + 1; k++) {
        const struct gg_likely *one = k > l->n_top ? token : &token[k];
        bool known = one->id < 0;

        for (size_t i = 1; i < k && !known; i++)
            known = token[i].id >= 0 && same_name(vocab, token[i].id, one->id);
        if (known)
            continue;
        if (!first)
            buffer_char(out, ',');
        first = false;
        add_text_token(vocab, one->id, out);
        buffer_char(out, ':');
        add_number(out, one->logprob);
    }
    buffer_char(out, '}');
}

size_t
logprobs_add_text(const struct logprobs *l, const struct logprobs_texts *texts,
                  struct buffer *out)
{
    size_t width = 1 + l->n_top;
    struct span s;

    if (!l->wanted) {
        buffer_format(out, "null");
        return 0;
    }
    s = find_tokens(l, texts);
    buffer_format(out, "{\"tokens\":[");
    for (size_t i = s.first; i < s.end; i++) {
        buffer_format(out, "%s", i > s.first ? "," : "");
        add_text_token(texts->vocab, l->list[i * width].id, out);
    }
    buffer_format(out, "],\"token_logprobs\":[");
    for (size_t i = s.first; i < s.end; i++) {
        buffer_format(out, "%s", i > s.first ? "," : "");
        add_number(out, l->list[i * width].logprob);
    }
    buffer_format(out, "],\"top_logprobs\":[");
    for (size_t i = s.first; i < s.end; i++) {
        buffer_format(out, "%s", i > s.first ? "," : "");
        add_top(l, l->list + i * width, texts->vocab, out);
    }
    buffer_format(out, "],\"text_offset\":[");
    for (size_t i = s.first; i < s.end; i++)
        buffer_format(out, "%s%zu", i > s.first ? "," : "", s.offsets[i]);
    buffer_format(out, "]}");
    free(s.offsets);
    return s.n;
}
