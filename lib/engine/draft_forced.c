/* draft_forced.c - drafts of ids that must come: marks of a chat's form, tokens
 * that a grammar names, and the bytes that it leaves no choice of
 *
 * These bytes may be made of several rows of tokens. The grammar remembers
 * which token was drawn last at the same place of it, as in an earlier record
 * of the same form; else the vocabulary's own ids of the bytes are likely. They
 * are drawn like others, so that no byte depends on the draft. */
#include <string.h>

#include "engine/draft.h"
#include "sample/history.h"

enum {
    MOST_BYTES = 96, /* that are looked for at once */
    UNTIMED = 3,     /* ids before it is known how long evaluations take */
};

/* The ids of bytes that must come, from `at` on. */
struct spelling {
    int32_t ids[DRAFT_MOST];
    size_t n, at;
};

static void
spell(const struct gg_text *t, struct gg_grammar *g, int32_t place,
      struct spelling *s)
{
    char text[MOST_BYTES];
    size_t len = sample_grammar_must(g, place, text, sizeof(text));
    struct gg_encoded encoded = { 0 };

    s->n = s->at = 0;
    if (len == 0 ||
        gg_vocab_encode(t->sequence->engine->vocab, text, len,
                        GG_ENCODE_CONTINUE | GG_ENCODE_STRICT, s->ids,
                        DRAFT_MOST, &encoded, NULL) != GG_OK)
        return;
    s->n = encoded.n < DRAFT_MOST ? encoded.n : DRAFT_MOST;
}

/* Adds ids up to `most`; td->n_certain of them cannot be others. */
static void
follow_grammar(struct gg_text *t, size_t most)
{
    struct text_draft *td = &t->draft;
    struct gg_grammar *g = t->history->at.grammar;
    int32_t place = t->history->at.state;
    struct spelling s = { .n = 0 };

    while (td->n < most) {
        bool certain;
        int32_t id = sample_grammar_expect(g, place, &certain);

        if (id >= 0) {
            s.n = s.at = 0;
        } else {
            if (s.at == s.n)
                spell(t, g, place, &s);
            if (s.n == 0)
                return;
            id = s.ids[s.at++];
        }
        if (!sample_grammar_follow(g, &place, id))
            return;
        if (certain && td->n_certain == td->n)
            td->n_certain++;
        td->ids[td->n++] = id;
    }
}

static size_t
worthwhile(struct engine_draft *d, const struct gg_text *t, size_t most)
{
    if (!t->draft.counts)
        return engine_draft_length_likely(&d->length, DRAFT_FORCED, most);
    if (!engine_draft_length_timed(&d->length))
        return most < UNTIMED ? most : UNTIMED;
    d->length.again = t->draft.again;
    d->length.given = 0;
    return engine_draft_length_best(&d->length, DRAFT_FORCED, most);
}

bool
engine_draft_has_forced(const struct gg_text *t)
{
    return !t->sequence->engine->no_forced &&
           (t->n_forced || (t->history && t->history->at.grammar));
}

void
engine_draft_forced(struct engine_draft *d, struct gg_text *t, size_t most)
{
    struct text_draft *td = &t->draft;
    size_t n = t->n_forced < most ? t->n_forced : most, useful;

    if (n)
        memcpy(td->ids, t->forced, n * sizeof(*td->ids));
    td->n = td->n_certain = n;
    if (!t->n_forced && engine_draft_has_forced(t) &&
        !engine_text_grammar_waits(t))
        follow_grammar(t, most);
    useful = worthwhile(d, t, most);
    if (useful < td->n_certain)
        useful = td->n_certain;
    if (useful == 0 && td->n > 0 && td->counts)
        engine_draft_length_skipped(&d->length, DRAFT_FORCED);
    if (td->n > useful)
        td->n = useful;
    td->n_forced = td->n;
}
