/* text.h - a text in the making; for this module */
#ifndef ENGINE_TEXT_H
#define ENGINE_TEXT_H

#include "chat/answer.h"
#include "engine/draft_length.h"
#include "engine/engine.h"
#include "engine/stop.h"

/* The draft of a text. */
struct text_draft {
    int32_t ids[DRAFT_MOST]; /* what was evaluated after the text */
    size_t n, n_accepted;
    size_t n_forced, n_certain; /* the first ones, which must come; of them */
    int kind;                   /* of the others */
    bool counts;                /* the evaluation is of one id and the draft, */
    size_t again;               /* and of N that were evaluated before */
    bool aside;    /* nothing of it is evaluated, and this was drafted to see */
    int32_t guess; /* whether it is right */
    struct gg_sequence *sequence; /* of the draft's engine, or NULL; and */
    struct gg_text *text;         /* what that draws there */
    /* MTP layers draft after these ids, and draw from these rows of logits, or
     * of the likeliest ids (best[0].k > 0; all lie in best[0]'s memory). */
    int32_t after[DRAFT_MOST + 1];
    float *logits;
    size_t n_logits; /* rows that there is room for */
    struct gg_best best[DRAFT_MOST];
};

/* The bytes of a part, with room for what is held back, too. */
struct text_part {
    struct engine_bytes bytes;
    size_t n_taken; /* of them */
    size_t n_gone;  /* bytes before them, which were taken */
};

/* How many bytes of each part there are after an id, all that were taken
 * included. */
struct text_mark {
    size_t len[GG_PART_ALL + 1];
};

struct gg_text {
    struct gg_sequence *sequence;
    struct gg_text_params params;
    struct gg_history *history; /* or NULL */
    size_t n_new;               /* ids at the end that it has not heard of */
    size_t n_put;               /* ids that gg_text_continue() has put */

    /* Logits, or the likeliest ids (best->k > 0), after the last evaluated id
     * and each drafted one: rows of room, of which the first n_rows are valid
     * and `row` is drawn from next. */
    float *logits;
    struct gg_best *best;
    size_t n_logits, n_best; /* rows that there is room for; and of best */
    size_t best_room;        /* ids and logits in each */
    size_t k;                /* likeliest ids that are enough; 0: all */
    size_t n_rows, row;
    uint64_t ticket; /* what to wait for before they are; 0: nothing */

    struct gg_decode_state decode;
    struct chat_answer answer; /* without a reader all is text */
    struct engine_stop stop;
    struct text_part parts[GG_PART_ALL + 1];
    enum gg_part last; /* that all got bytes of; GG_PART_ALL: none */
    bool stopped;      /* a stop string is complete */
    char *piece;       /* scratch */
    size_t cap_piece;

    int32_t *made; /* the ids drawn for this answer */
    size_t n_made, cap_made;
    int32_t pending;       /* drawn, and not put; -1: none */
    const int32_t *forced; /* what comes next, whatever is likely */
    size_t n_forced;
    uint64_t n_thought; /* ids of thoughts */
    bool ends_thought;  /* what ends it comes, or has come */
    struct gg_ban *ban; /* or NULL: nothing is banned; else, of each made id, */
    struct text_mark *marks;
    size_t cap_marks;
    struct chat_answer begun; /* as the answer began: of no use but to begin */
    struct gg_drawn drawn;
    struct gg_likely *top; /* params.n_top of them, of which there are */
    size_t n_top;
    enum gg_finish finish;
    struct gg_error error; /* of GG_FINISH_ERROR */
    struct text_draft draft;
};

/* Room for n rows of logits, or of the likeliest ids. */
enum gg_status
engine_text_reserve_rows(struct gg_text *t, size_t n, struct gg_error *err);

/* Logits that are drawn from: some, or, with ids NULL, all. */
struct text_row {
    float *logits;
    const int32_t *ids; /* the likeliest first */
    size_t n;
    double log_sum_exp; /* if it is known or wanted */
};

/* Room for the likeliest ids of a row, params.n_top of them; none is there. */
enum gg_status
engine_top_reserve(struct gg_text *t, struct gg_error *err);

/* Finds them. */
void
engine_top_take(struct gg_text *t, const struct text_row *row);

/* How many ids may be excluded from a draw: those that the file suppresses and,
 * where the text wants no end of generation, these. */
size_t
engine_text_excluded(const struct gg_text *t);

/* Their logits among n become -infinity; `ids` names the others, or is NULL. */
void
engine_text_exclude(const struct gg_text *t, const int32_t *ids, float *logits,
                    size_t n);

/* Which of the texts, that all need an evaluation, take part in a bounded step,
 * and with how many ids: their sequences' `most`. They come first then; returns
 * how many. *decodes: some of them draw already. `lacks` is scratch, one a
 * text. */
size_t
engine_step_plan(struct gg_engine *e, struct gg_text **texts, size_t n,
                 size_t *lacks, bool *decodes);

/* How many ids are enough for a step without texts. */
size_t
engine_step_ids(const struct gg_engine *e, bool alone);

/* So long an evaluation took of n ids of prompts. */
void
engine_step_learn(struct gg_engine *e, size_t n, bool decodes, double us);

/* How many ids are to be evaluated before the text draws. */
size_t
engine_step_lacks(const struct gg_text *t);

/* The query that gives n rows, the last of which is after the last id. */
struct gg_query
engine_text_query(struct gg_text *t, size_t n);

/* The texts are the engine's, and none has ended. */
enum gg_status
engine_text_check(const struct gg_engine *e, struct gg_text *const *texts,
                  size_t n, struct gg_error *err);

/* Waits for what gg_engine_begin() has begun for the text. */
enum gg_status
engine_text_wait(struct gg_text *t, struct gg_error *err);

/* Draws from the next row, or takes what is forced: t->drawn. *back: ids that
 * were put of a banned string that has come. */
enum gg_status
engine_text_draw(struct gg_text *t, size_t *back, struct gg_error *err);

/* The text's grammar counts for nothing yet: a thought comes, or a header. */
bool
engine_text_grammar_waits(const struct gg_text *t);

/* Whether a thought may begin here, outside the grammar. */
bool
engine_text_may_open(const struct gg_text *t);

/* Takes `back` ids away that were put. */
enum gg_status
engine_text_back(struct gg_text *t, size_t back, struct gg_error *err);

/* Plans what is to be forced now, after an id that was added in the state
 * `from`, or at the beginning. */
void
engine_text_plan(struct gg_text *t, enum chat_answer_state from);

/* Room for the bytes of an id more; adds them. *found: a stop string is
 * complete. */
enum gg_status
engine_part_add(struct gg_text *t, int32_t id, bool *found,
                struct gg_error *err);
void
engine_part_clear(struct gg_text *t);

/* An id was added: where parts end now is kept. */
enum gg_status
engine_part_mark(struct gg_text *t, struct gg_error *err);

/* The parts become what they were when the answer had its first n ids. */
enum gg_status
engine_part_back(struct gg_text *t, size_t n, struct gg_error *err);

/* An answer begins; its parts are empty. */
enum gg_status
engine_part_start(struct gg_text *t, struct gg_error *err);

/* Puts drafted ids after the texts that need an evaluation: t->draft.n of
 * them, perhaps none. */
enum gg_status
engine_draft_put(struct gg_engine *e, struct gg_text *const *texts, size_t n,
                 struct gg_error *err);

/* The texts were evaluated, with their drafts: in `us` microseconds. */
void
engine_draft_evaluated(struct gg_engine *e, struct gg_text *const *texts,
                       size_t n, int64_t us);

/* True: `id` is what was drafted, and stands after the text's ids already.
 * Otherwise what is left of the draft is taken away. */
bool
engine_draft_accept(struct gg_text *t, int32_t id);

/* Takes away what is left of the draft. */
void
engine_draft_drop(struct gg_text *t);
/* And the text has ended. */
void
engine_draft_end(struct gg_text *t);
void
engine_draft_clear(struct gg_text *t);

void
engine_draft_free(struct engine_draft *draft); /* takes NULL */

#endif
