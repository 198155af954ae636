/* interactive.h - a conversation, line by line */
#ifndef GENERATE_INTERACTIVE_H
#define GENERATE_INTERACTIVE_H

#include "gg-generate/editor.h"
#include "gg-generate/generate.h"

/* ---- input.c: what the user writes --------------------------------------- */

struct input {
    struct reader lines;
    struct editor *editor; /* or NULL */
    bool terminal;
    bool prompt;   /* there is somebody to read it */
    bool commands; /* so that messages may have several rows, too */

    struct buffer text; /* the message, or the command, read last */
    bool is_block;      /* it stood between """, and is no command */
};

/* Commands are for terminals, or where `commands` says so. */
void
input_open(struct input *in, bool commands);
void
input_close(struct input *in);

/* A message or a command that is not blank, or, with `blank`, any; to in->text.
 * False: there is no more. */
bool
input_ask(struct input *in, bool blank);

/* ---- turns.c: what can be undone ----------------------------------------- */

/* The state of the conversation before a question. */
struct turn {
    size_t n_messages, n_asked; /* of the question */
    size_t done;
    int32_t *ids; /* of the sequence; NULL: all is rendered anew */
    size_t n_ids;
    uint64_t n_dropped;
    int32_t tail;
};

struct talk {
    struct generate *g;
    struct input in;
    struct turn *turns;
    size_t n_turns, cap_turns;
    struct buffer before;      /* the texts of /file, for the next message */
    struct media_place *media; /* n_media of /image and /audio, the same */
    size_t n_media;
    bool hidden;  /* it began in a state: its messages are not known */
    bool thought; /* an answer has reasoning, which the template may drop */
};

/* A question of n messages was, or is to be, added. */
void
turns_push(struct talk *t, size_t n_messages, size_t n_asked);
/* The conversation is as before the last one, or `asked`: with that alone.
 * GG_ERR_UNSUPPORTED: it cannot be. */
enum gg_status
turns_back(struct talk *t, bool asked, struct gg_error *err);
void
turns_pop(struct talk *t);
/* The messages are others: all is rendered anew, and each user's is a question.
 */
void
turns_renew(struct talk *t);
void
turns_clear(struct talk *t);

/* The sequence holds nothing, and what is rendered is all. */
enum gg_status
turns_start_anew(struct talk *t, struct gg_error *err);

/* ---- talk.c -------------------------------------------------------------- */

/* The user's message, after t->before, is answered. False: the conversation
 * cannot go on. */
bool
talk_say(struct talk *t, const char *text, size_t len);
/* The question that there is is answered. */
bool
talk_answer(struct talk *t);
/* Ends an answer; `heard`: there is one. False: no conversation can go on. */
bool
talk_end_answer(struct talk *t, bool heard);

/* Something has failed, which a script hears at the end. */
CLI_PRINTF(2, 3) void talk_fail(struct talk *t, const char *fmt, ...);
/* For who sits at a terminal. */
CLI_PRINTF(2, 3) void talk_tell(const struct talk *t, const char *fmt, ...);

/* ---- talk_media.c -------------------------------------------------------- */

/* The bytes of an image or a sound go with the next message. */
enum gg_status
talk_take_medium(struct talk *t, enum gg_media_kind kind,
                 const struct buffer *bytes, struct gg_error *err);
/* The last message, which is the user's, gets them. */
enum gg_status
talk_place_media(struct talk *t, struct gg_error *err);
void
talk_drop_media(struct talk *t);

/* ---- commands.c ---------------------------------------------------------- */

/* "/undo", which is changed. False: the conversation ends. */
bool
command_run(struct talk *t, char *text);

#endif
