/* answer.h - parts an answer, as it comes, into thoughts, text and calls
 *
 * White space around a thought belongs to no part, nor do the marks. */
#ifndef CHAT_ANSWER_H
#define CHAT_ANSWER_H

#include <gg.h>

#include "chat/marks.h"
#include "chat/thoughts.h"

enum chat_mark_kind {
    CHAT_MARK_OPEN,  /* a thought begins */
    CHAT_MARK_CLOSE, /* it ends */
    CHAT_MARK_TEXT,  /* a message of text begins */
    CHAT_MARK_END,   /* it ends */
    CHAT_MARK_START, /* what stands in front of messages begins */
    CHAT_MARK_CALL,  /* calls begin */
    CHAT_MARK_STOP,  /* they end, and the answer does */
    CHAT_MARK_KINDS,
};

/* A mark as a reader looks for it. */
struct chat_reader_mark {
    enum chat_mark_kind kind;
    char *s;
    bool *control; /* of each byte: it is a control token's */
    size_t n;
    bool first;
};

/* Ids that an answer goes on with by itself. */
struct chat_ids {
    int32_t *p;
    size_t n;
};

struct gg_chat_reader {
    const struct gg_vocab *vocab;
    const struct chat_thoughts *thoughts; /* or NULL */
    struct chat_reader_mark *marks;
    size_t n_marks;
    /* Ids of marks: of the one that opens a thought, none where it is neither a
     * token nor begins with a control token; of the one that ends it; of what
     * stands before each message; and with that of the text. */
    struct chat_ids open, close, start, text;
};

/* Like gg_chat_reader_new(), with the marks of calls. */
enum gg_status
chat_reader_new(const struct gg_vocab *vocab,
                const struct gg_chat_template *template,
                const struct chat_call_marks *calls,
                struct gg_chat_reader **out, struct gg_error *err);

/* The part of the answer that comes next. */
enum chat_answer_state {
    CHAT_ANSWER_TEXT,
    CHAT_ANSWER_THOUGHT,
    CHAT_ANSWER_HEADER, /* what stands in front of a message, and is no part */
    CHAT_ANSWER_CALLS,
};

/* Takes bytes of a part; GG_PART_ALL: of no part. `control`: they are a control
 * token's. False: there is no memory, or no more is wanted. */
typedef bool (*chat_answer_sink)(void *data, enum gg_part part, const char *p,
                                 size_t n, bool control);

/* An answer that is read. All zero, without a reader, is none. */
struct chat_answer {
    const struct gg_chat_reader *reader;
    enum chat_answer_state state;
    bool begins;        /* nothing but white space of the state has come */
    bool after_thought; /* that is text after a thought */
    bool fresh;         /* nor has a thought */
    bool blank;         /* nothing but white space of a header has come */
    bool ended;         /* by the end of calls */
    char *held; /* what may be the beginning of a mark, or stand before it */
    bool *control;
    size_t n, cap, cap_control;
};

/* An answer begins after ids[0..n), which say whether a thought is open. */
enum gg_status
chat_answer_begin(struct chat_answer *a, const struct gg_chat_reader *reader,
                  const int32_t *ids, size_t n, struct gg_error *err);

/* The bytes of a token, control tokens shown. False: the sink says so, or there
 * is no memory. */
bool
chat_answer_add(struct chat_answer *a, const char *p, size_t n, bool control,
                chat_answer_sink sink, void *data);

/* The answer ends: what is held is what it seems. */
bool
chat_answer_end(struct chat_answer *a, chat_answer_sink sink, void *data);

/* Drops the held text. */
void
chat_answer_drop(struct chat_answer *a);

/* Whether a token ends a thought and has text after the mark goes to *spills.
 * False: no memory. */
bool
chat_answer_spills(const struct chat_answer *a, const char *p, size_t n,
                   bool *spills);

/* The part that the next byte belongs to. */
enum gg_part
chat_answer_part(const struct chat_answer *a);

/* Whether the answer is made of messages with headers. */
bool
chat_answer_is_framed(const struct chat_answer *a);

/* Whether p[0..n) is what ends calls. */
bool
chat_answer_stops(const struct chat_answer *a, const char *p, size_t n);

void
chat_answer_clear(struct chat_answer *a);

#endif
