/* draft.h - ids that may come next, evaluated together with the one that does
 *
 * To evaluate several ids at once takes little longer than to evaluate one: the
 * weights are read once. So ids are guessed, evaluated behind the one that was
 * drawn, and then drawn at each place, as if one after the other had been
 * evaluated: as long as what is drawn is what was guessed, the next logits are
 * there. Those do not depend on how many ids are evaluated together, so that
 * the text does not depend on the guesses.
 *
 *     answer_draw(a);
 *     if (!draft_follows(d, a)) {
 *         chunk = draft_chunk(d, a);
 *         gg_session_eval(session, &chunk, 1, &err);
 *         draft_took(d, microseconds);
 *     }
 */
#ifndef GENERATE_DRAFT_H
#define GENERATE_DRAFT_H

#include "gg-generate/answer.h"

struct draft;

/* `what` is "prompt", to guess by what has followed the last ids before, or a
 * model with the engine's vocabulary; the tool ends if it has another one.
 * `o` and `sampling` are those of the answers. */
struct draft *
draft_new(const char *what, const struct engine *engine,
          const struct engine_options *o,
          const struct sampling_options *sampling);
void
draft_free(struct draft *d); /* takes NULL */

/* In place of answer_chunk(). Until draft_end() the answer's logits are the
 * draft's. */
struct gg_chunk
draft_chunk(struct draft *d, struct answer *a);

/* How long the evaluation has taken. */
void
draft_took(struct draft *d, int64_t us);

/* True: the id that was put last has been evaluated. */
bool
draft_follows(struct draft *d, struct answer *a);

/* The answer has ended, or is interrupted: the slot holds its ids, and no
 * others. */
void
draft_end(struct draft *d, struct answer *a);

/* For -v: how many guesses were right. */
void
draft_describe(const struct draft *d);

#endif
