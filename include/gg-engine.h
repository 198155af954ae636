/* gg-engine.h - generation: sequences that share a session, and texts that are
 * drawn from it
 *
 * An engine decides which of its sequences holds which slot of the session.
 * A sequence is a list of ids; what the session has computed of it is found,
 * copied from another one with a shared prefix, or computed again as needed, so
 * that any number of sequences may live. Results never depend on which other
 * sequences are evaluated in the same call.
 *
 *     gg_sequence_new(engine, &sequence, &err);
 *     gg_sequence_put(sequence, prompt, n, &err);
 *     gg_text_new(sequence, &params, &text, &err);
 *     while (gg_text_finish(text) == GG_FINISH_NONE) {
 *         gg_engine_step(engine, &text, 1, &err);
 *         p = gg_text_take(text, &len);
 *         fwrite(p, 1, len, stdout);
 *     }
 *
 * A text alone is a batch of one. As in gg.h, every function that can fail
 * returns enum gg_status and sets its results on success only. One thread at a
 * time an engine, its sequences and texts included.
 */
#ifndef GG_ENGINE_H
#define GG_ENGINE_H

#include "gg.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The whole loop in one call ------------------------------------------ */

struct gg_generate_params {
    uint64_t max_ids;                         /* 0: up to the text's end */
    const struct gg_sampler_params *sampling; /* NULL: the defaults */
    const struct gg_session_params *session;  /* the same */
    uintptr_t reserved[8];
};

/* Takes bytes of a text as they are made; false: no more are wanted. */
typedef bool (*gg_write_callback)(void *data, const char *bytes, size_t n);

/* Continues a prompt, which is encoded by gg_vocab_encode(), with BOS where the
 * model wants it. NULL params: all zero. */
GG_API GG_MUST_CHECK enum gg_status
gg_generate(const struct gg_model *model, const char *prompt, size_t len,
            const struct gg_generate_params *params, gg_write_callback write,
            void *data, struct gg_error *err);

/* ---- Engines ------------------------------------------------------------- */

struct gg_engine;
struct gg_sequence;
struct gg_text;

struct gg_engine_params {
    /* A context that is full drops its oldest ids, all but BOS: half of them,
     * and again, until there is room; a medium goes whole. */
    bool shift;
    /* Sequences keep the log-probabilities of their ids; their last id is not
     * evaluated before another follows: gg_sequence_logprobs(). */
    bool score;
    uintptr_t reserved[8];
};

/* The session is the engine's until gg_engine_free(), and both outlive its
 * sequences. NULL params: all zero. */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_new(const struct gg_model *model, struct gg_session *session,
              const struct gg_engine_params *params, struct gg_engine **out,
              struct gg_error *err);

/* After all sequences and texts. The session is the caller's again. */
GG_API void
gg_engine_free(struct gg_engine *engine); /* takes NULL */

/* Counts of the engine's work so far. */
struct gg_engine_stats {
    uint64_t n_evaluated; /* ids */
    uint64_t n_copied;    /* ids that a shared prefix saved */
    uint64_t n_runs;      /* evaluations */
};
GG_API struct gg_engine_stats
gg_engine_stats(const struct gg_engine *engine);

/* A step (gg_engine_step()) evaluates at most `ids` ids of prompts (0: all
 * that there are), and no more than take about `us` microseconds (0: any
 * time) next to texts that draw; alone, four times as long. A text whose prompt
 * needs several steps draws after the last one. What is drawn does not depend
 * on it. A block of rows is never parted; over several processes, and where
 * more texts are stepped than there are slots, nothing is. */
GG_API void
gg_engine_bound_steps(struct gg_engine *engine, size_t ids, uint64_t us);

/* Slots hold at most `bytes` bytes (0: any number), as far as no living
 * sequence wants more: of those that are gone, what was used least recently
 * goes before more is written. Memory of the CPU is given back. */
GG_API void
gg_engine_bound_cache(struct gg_engine *engine, uint64_t bytes);

/* ---- Sequences ----------------------------------------------------------- */

/* Without ids. */
GG_API GG_MUST_CHECK enum gg_status
gg_sequence_new(struct gg_engine *engine, struct gg_sequence **out,
                struct gg_error *err);

/* A new sequence that begins with all ids of `from`, those that it has dropped
 * included. */
GG_API GG_MUST_CHECK enum gg_status
gg_sequence_copy(const struct gg_sequence *from, struct gg_sequence **out,
                 struct gg_error *err);

/* The KV cache of its slot is kept until the slot is needed: another sequence
 * may share a prefix with it. */
GG_API void
gg_sequence_free(struct gg_sequence *sequence); /* takes NULL */

/* How much each of the model's adapters counts in it, gg_model_n_adapters()
 * numbers, which are copied; NULL: as the model was opened with them. What has
 * been evaluated of it is evaluated again. Copies of it have the same. Prefixes
 * are shared by sequences with the same alone. GG_ERR_ARG: one is not finite.
 */
GG_API GG_MUST_CHECK enum gg_status
gg_sequence_set_scales(struct gg_sequence *sequence, const float *scales,
                       struct gg_error *err);

/* Prefixes are shared by sequences with the same key alone, which is copied;
 * NULL: by those without one. What one without a key holds that is to be kept
 * (gg_sequence_keep()) is everybody's. What has been evaluated of it is
 * evaluated again. */
GG_API GG_MUST_CHECK enum gg_status
gg_sequence_set_key(struct gg_sequence *sequence, const char *key,
                    struct gg_error *err);

/* Its slot is taken last: a shared prefix of others. */
GG_API void
gg_sequence_keep(struct gg_sequence *sequence, bool keep);

/* Appends ids, of tokens or of rows that the session was given
 * (gg_session_add_rows()): an evaluation wants blocks of rows whole, and no
 * text draws a row, nor hears a sampler of one. Nothing is evaluated yet.
 * GG_ERR_CONTEXT: the context is full; the sequence is unchanged. */
GG_API GG_MUST_CHECK enum gg_status
gg_sequence_put(struct gg_sequence *sequence, const int32_t *ids, size_t n,
                struct gg_error *err);

/* Takes all but the first n ids away, evaluated or not. */
GG_API void
gg_sequence_truncate(struct gg_sequence *sequence, size_t n);

/* The ids of its context; valid until the sequence changes. */
GG_API const int32_t *
gg_sequence_ids(const struct gg_sequence *sequence, size_t *n);

/* How many of them are evaluated, and kept. */
GG_API size_t
gg_sequence_evaluated(const struct gg_sequence *sequence);

/* How many of them others had evaluated, when it got the slot that it has. */
GG_API size_t
gg_sequence_shared(const struct gg_sequence *sequence);

/* How many ids before those were dropped, which positions count. */
GG_API uint64_t
gg_sequence_dropped(const struct gg_sequence *sequence);

/* Log-probabilities, of an engine that scores: logprobs[i], 0 < i < *n, is the
 * natural logarithm of the probability of the sequence's id i, given all ids
 * before it; 0 of a row. Valid until the sequence changes. */
GG_API const float *
gg_sequence_logprobs(const struct gg_sequence *sequence, size_t *n);

/* Results wanted of a sequence, as of a chunk: `ids` are all of its own. An
 * engine that scores gives none of it but the sequence's log-probabilities. */
struct gg_query {
    struct gg_sequence *sequence;
    struct gg_rows rows;
    struct gg_scores scores;
    struct gg_embedding embed;
    uintptr_t reserved[4];
};

/* Evaluates what the sequences lack. No two queries may name the same one; of
 * one whose ids are all evaluated the last is evaluated again, if something is
 * wanted of it. More queries than the session has slots are done in rounds. On
 * failure (GG_ERR_ABORTED: the session's callback said so) the sequences have
 * the ids they had, and a later call goes on. */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_eval(struct gg_engine *engine, const struct gg_query *queries,
               size_t n, struct gg_error *err);

/* Evaluates as gg_engine_eval() does, a piece at a time: as many ids as a step
 * may have (gg_engine_bound_steps()), next to texts that draw, or with `alone`
 * four times as many. *done: all is evaluated, and what is wanted is there;
 * else the next call with the same queries goes on, as long as their sequences
 * have their slots: next to texts one of them is evaluated at a time. Texts of
 * other sequences may be stepped between two calls. Results do not depend on
 * it. What cannot be parted is evaluated at once. */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_eval_some(struct gg_engine *engine, const struct gg_query *queries,
                    size_t n, bool alone, bool *done, struct gg_error *err);

/* How many ids an evaluation of the sequence would have to evaluate, after
 * those of `others`, without what it shares with them and with what slots hold.
 */
GG_API size_t
gg_sequence_cost(const struct gg_sequence *sequence,
                 struct gg_sequence *const *others, size_t n_others);

/* ---- States -------------------------------------------------------------- */

/* The sequence, which must be empty, becomes number i of the file, with its
 * pending ids; what the file holds of it needs not be evaluated. It gets the
 * slot of the sequence that was used least recently. */
GG_API GG_MUST_CHECK enum gg_status
gg_sequence_load(struct gg_sequence *sequence, const struct gg_state_file *file,
                 size_t i, struct gg_error *err);

/* Fills in what gg_session_save() wants of a sequence, but for its number and
 * pending ids. Valid until the engine's next call. */
GG_API struct gg_state_sequence
gg_sequence_state(const struct gg_sequence *sequence);

/* ---- Stop strings -------------------------------------------------------- */

struct gg_stop; /* immutable but for adding; any number of texts use one */

GG_API GG_MUST_CHECK enum gg_status
gg_stop_new(struct gg_stop **out, struct gg_error *err);
GG_API void
gg_stop_free(struct gg_stop *stop); /* takes NULL; after its texts */

/* Copies the string. GG_ERR_ARG: it is empty. */
GG_API GG_MUST_CHECK enum gg_status
gg_stop_add(struct gg_stop *stop, const char *string, size_t len,
            struct gg_error *err);

/* ---- Banned strings ------------------------------------------------------ */

/* Ids drawn of a text, as far as they may become a string of a list that is
 * not to be in it: the text then goes back to the id that the string began
 * with, and another one is drawn there. gg_engine_step() does so by itself;
 * this is for those who draw by gg_sampler_next():
 *
 *     gg_ban_before(ban, history, &err);
 *     ... a draw, without the ids of gg_ban_forbidden() ...
 *     gg_ban_after(ban, id, history, &back, &err);
 *
 * With *back > 0 the last *back ids are to be taken back, the last one first,
 * which is the one just drawn; the next draw has the logits that the first of
 * them was drawn from. */
struct gg_ban;

/* Both outlive it. */
GG_API GG_MUST_CHECK enum gg_status
gg_ban_new(const struct gg_vocab *vocab, const struct gg_stop *strings,
           struct gg_ban **out, struct gg_error *err);
GG_API void
gg_ban_free(struct gg_ban *ban); /* takes NULL */

/* No string begins in what was drawn so far. */
GG_API void
gg_ban_restart(struct gg_ban *ban);

/* A draw follows: what the history (NULL: there is none) is now is kept. */
GG_API GG_MUST_CHECK enum gg_status
gg_ban_before(struct gg_ban *ban, const struct gg_history *history,
              struct gg_error *err);

/* The id was drawn. Where *back > 0 the history is again what it was before the
 * first of the ids that are taken back. */
GG_API GG_MUST_CHECK enum gg_status
gg_ban_after(struct gg_ban *ban, int32_t id, struct gg_history *history,
             size_t *back, struct gg_error *err);

/* The ids that the next draw must not give. Valid until the next call. */
GG_API const int32_t *
gg_ban_forbidden(const struct gg_ban *ban, size_t *n);

/* How many of the last ids may yet be taken back. */
GG_API size_t
gg_ban_open(const struct gg_ban *ban);

/* ---- Texts --------------------------------------------------------------- */

enum gg_finish {
    GG_FINISH_NONE = 0,    /* it has not ended */
    GG_FINISH_EOG = 1,     /* the model has ended the text */
    GG_FINISH_LENGTH = 2,  /* it has as many ids as it may */
    GG_FINISH_CONTEXT = 3, /* the context is full */
    GG_FINISH_STOP = 4,    /* a stop string is complete */
    GG_FINISH_ERROR = 5,   /* gg_text_error() */
    GG_FINISH_CUT = 6,     /* gg_text_cut() */
};

/* Parameters of a text; all that they point to outlives the text. */
struct gg_text_params {
    struct gg_sampler *sampler;
    const struct gg_stop *stop; /* or NULL */
    uint64_t sequence;          /* a number that draws depend on */
    uint64_t max_ids;           /* 0: no limit */
    unsigned decode_flags;      /* GG_DECODE_... */
    bool ignore_eog;            /* no end of generation is drawn */
    bool logprobs;              /* struct gg_drawn has the model's */
    bool all_logits;            /* all are drawn from, though fewer would do */
    bool goes_on;           /* the sequence's end is a text's, which goes on */
    const double *mirostat; /* what it has learnt before; or NULL */
    size_t n_top;           /* likeliest ids that gg_text_top() has; a few */
    /* Parts the answer; NULL: all of it is text. A grammar then begins where
     * the text does, and stop strings are those of the text. */
    const struct gg_chat_reader *reader;
    const uint64_t *max_thought; /* ids of thoughts; then the mark that ends
                                  * them comes. NULL: no limit */
    bool grammar_of_calls;     /* it begins where calls may, and not the text */
    const struct gg_stop *ban; /* strings that are not drawn; or NULL. Not of
                                * an engine that shifts contexts. */
    uint64_t min_ids; /* no end of generation is drawn before this many */
    /* Ids of what a thought ends with that has as many ids as it may, before
     * the mark. */
    const int32_t *last_thought;
    size_t n_last_thought;
    uintptr_t reserved[4];
};

/* An answer begins after the sequence's ids, at least one. The sequence is the
 * text's until it is freed, except for reading. */
GG_API GG_MUST_CHECK enum gg_status
gg_text_new(struct gg_sequence *sequence, const struct gg_text_params *params,
            struct gg_text **out, struct gg_error *err);
GG_API void
gg_text_free(struct gg_text *text); /* takes NULL */

/* Another answer begins, after ids[0..n), which are appended. The sampler keeps
 * its history of the sequence, if it is the same; a grammar begins again.
 * GG_ERR_CONTEXT: nothing has changed. */
GG_API GG_MUST_CHECK enum gg_status
gg_text_continue(struct gg_text *text, const struct gg_text_params *params,
                 const int32_t *ids, size_t n, struct gg_error *err);

/* Evaluates what the texts need, together, and draws one id for each, but for
 * those whose prompts are not all evaluated yet: gg_engine_bound_steps(). None
 * of them has ended. A text that fails for itself (its logits are not numbers,
 * its sampler says so) does not make the call fail: gg_text_error(); one that
 * lacks memory does, and the others have drawn nevertheless. */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_step(struct gg_engine *engine, struct gg_text *const *texts, size_t n,
               struct gg_error *err);

/* Begins to evaluate what the next gg_engine_step() of the texts needs, and
 * comes back while ranks of a pipeline (gg_pipeline_join()) do it: other texts
 * can be begun and stepped meanwhile. Each of them is to be stepped, cut or
 * freed before its sequence is used. Of one process, and with drafts, nothing
 * is begun. What is drawn does not depend on it. */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_begin(struct gg_engine *engine, struct gg_text *const *texts,
                size_t n, struct gg_error *err);

/* How many sets of texts are worth having begun: the ranks, or 1. */
GG_API int32_t
gg_engine_overlap(const struct gg_engine *engine);

/* It ends here. An id that was drawn and not evaluated, as a step has failed,
 * is pending and no longer the sequence's. */
GG_API void
gg_text_cut(struct gg_text *text);

GG_API enum gg_finish
gg_text_finish(const struct gg_text *text);

/* Why it failed; NULL: it did not. It has then ended as far as it went. */
GG_API const char *
gg_text_error(const struct gg_text *text);

/* The stop string that ended it, of *len bytes, which lives as long as those
 * that the text was given; NULL: it has another end. */
GG_API const char *
gg_text_stop(const struct gg_text *text, size_t *len);

/* True where what was drawn follows a grammar, or the form of a schema, that is
 * not at an end; or where it has not come to the text yet: gg_text_part(). */
GG_API bool
gg_text_is_open(const struct gg_text *text);

/* The last draw. */
struct gg_drawn {
    struct gg_draw draw;
    double logprob;    /* in the model, if that was wanted */
    uint64_t position; /* of it in its sequence */
};
GG_API struct gg_drawn
gg_text_drawn(const struct gg_text *text);

/* The ids that were likeliest there in the model, with the natural logarithms
 * of their probabilities, whatever the sampler does: in falling order, the
 * lower id first among equals. Their number is n_top of the parameters, or that
 * of the vocabulary; 0 before the first draw. Valid until the next step. */
struct gg_likely {
    int32_t id;
    double logprob;
};
GG_API const struct gg_likely *
gg_text_top(const struct gg_text *text, size_t *n);

/* All ids of this answer; valid until the next step, which may have taken some
 * of the last ones back: struct gg_text_params' ban. */
GG_API const int32_t *
gg_text_ids(const struct gg_text *text, size_t *n);

/* How many of them stay in any case: all, but for ids that may become a banned
 * string. */
GG_API size_t
gg_text_settled(const struct gg_text *text);

/* The bytes that were added since the last call, but for what may be the
 * beginning of a stop string, of a banned one, or of a mark; of a text that has
 * ended, all of the rest. Valid until the next call on the text. Of an answer
 * that is parted its text: control tokens show as the decode_flags say, and
 * white space around a thought is no part. */
GG_API const char *
gg_text_take(struct gg_text *text, size_t *len);

/* Like gg_text_take(), of any part. In calls control tokens show; GG_PART_ALL
 * is all that was written, up to a stop string. */
GG_API const char *
gg_text_take_part(struct gg_text *text, enum gg_part part, size_t *len);

/* The part that the next id belongs to; GG_PART_ALL: what stands before a
 * part. */
GG_API enum gg_part
gg_text_part(const struct gg_text *text);

/* An id that was drawn and is not among the sequence's, as the text has ended
 * there: a text that goes on begins with it. -1: none. */
GG_API int32_t
gg_text_pending(const struct gg_text *text);

/* The state of Mirostat; NAN: it is not in use. */
GG_API double
gg_text_mirostat(const struct gg_text *text);

/* ---- Drafts -------------------------------------------------------------- */

/* Speculative decoding: ids that may come next are drafted and evaluated in one
 * batch with the one that does; texts do not depend on it. The length of drafts
 * adapts to the acceptance rate and to the time of evaluations. */

/* Drafts by prompt lookup, or, with `draft`, an engine of another model with
 * the same vocabulary and at least as many slots, by what that draws. It
 * outlives this engine. GG_ERR_ARG: the vocabularies differ, or the slots are
 * fewer. */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_draft(struct gg_engine *engine, struct gg_engine *draft,
                struct gg_error *err);

/* Drafts by the model's MTP layers. GG_ERR_ARG: it was opened without them
 * (gg_model_params). */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_draft_mtp(struct gg_engine *engine, struct gg_error *err);

/* Drafts nothing any more. Without any of these calls ids are drafted that a
 * grammar leaves no choice of, or few. */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_draft_none(struct gg_engine *engine, struct gg_error *err);

/* By prompt lookup, drafts are what followed the same ids earlier in the text,
 * or in a text of the engine that has ended and has the same key. This adds
 * texts of a file, which gg-stream(5) describes, for all keys. On failure none
 * is added: GG_ERR_FORMAT, or GG_ERR_ARG, of another vocabulary. */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_draft_read(struct gg_engine *engine, const void *data, size_t size,
                     struct gg_error *err);

/* Writes such a file, of the last texts without a key; about a megabyte at
 * most. */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_draft_write(const struct gg_engine *engine, int fd,
                      struct gg_error *err);

struct gg_draft_stats {
    uint64_t n_drafted, n_accepted, n_runs;
};
GG_API struct gg_draft_stats
gg_engine_draft_stats(const struct gg_engine *engine);

/* ---- Choices ------------------------------------------------------------- */

/* Texts of which one is to follow a prompt. Ids are those of the prompt and
 * the choice as one text; from the first id on at which some choice differs
 * from the prompt alone, logarithms of probabilities are added up. */
struct gg_choice {
    const int32_t *ids; /* of prompt and choice */
    size_t n;
    const void *data;   /* the caller's */
    double logprob;     /* result */
    size_t n_scored;    /* result: ids that make it up */
    double probability; /* result: as if one of the choices had to come */
};

struct gg_contest; /* choices that are being scored */

struct gg_choices {
    const int32_t *prompt;
    size_t n_prompt;
    struct gg_choice *list;
    size_t n;
    const float *scales; /* as of gg_sequence_set_scales() */
    const char *key;     /* as of gg_sequence_set_key() */
};

/* Log-likelihoods of the choices of all n prompts, in batches. GG_ERR_ARG: a
 * choice adds no id to its prompt, or not even the first id is the same;
 * GG_ERR_CONTEXT: one is above the context. The shared prefix of the choices of
 * a prompt is evaluated once. */
GG_API GG_MUST_CHECK enum gg_status
gg_engine_choose(struct gg_engine *engine, struct gg_choices *choices, size_t n,
                 struct gg_error *err);

/* Scores choices a piece at a time. The choices point to data that stays as it
 * is until the contest is freed. */
GG_API GG_MUST_CHECK enum gg_status
gg_contest_new(struct gg_engine *engine, struct gg_choices *choices, size_t n,
               struct gg_contest **out, struct gg_error *err);
GG_API void
gg_contest_free(struct gg_contest *contest); /* takes NULL */

/* A piece as that of gg_engine_eval_some(). After GG_ERR_ABORTED the next call
 * goes on. *done: the log-likelihoods are there. */
GG_API GG_MUST_CHECK enum gg_status
gg_contest_step(struct gg_contest *contest, bool alone, bool *done,
                struct gg_error *err);

#ifdef __cplusplus
}
#endif

#endif
