/* generate.h - the parts of gg-generate */
#ifndef GENERATE_H
#define GENERATE_H

#include "common/chat.h"
#include "common/state.h"
#include "gg-generate/answer.h"
#include "gg-generate/choice.h"
#include "gg-generate/contest.h"
#include "gg-generate/grammars.h"

enum {
    BOS_BY_MODEL, /* as the model wants it */
    BOS_FIRST,
    BOS_NONE,
};

/* What the input is. */
enum form_kind {
    FORM_TEXT, /* one prompt */
    FORM_LINES,
    FORM_NULL,
    FORM_JSONL,
};

struct options {
    struct engine_options engine;
    struct sampling_options sampling;
    struct state_options state;
    const char *prompt, *input, *output;

    bool echo, raw;
    enum special special;
    bool strict; /* a byte without a token is an error */
    bool chat, messages, interactive;
    const char *system;
    const struct gg_chat_template *template; /* NULL: the model's */
    struct gg_stop *stop;                    /* NULL: no strings */
    struct choices choices;
    bool scores;       /* of all choices */
    const char *draft; /* "prompt" or a model; or NULL */
    int bos;
    enum form_kind form;
    bool numbered;
    int32_t n_batch;    /* records answered at once */
    const char *resume; /* the output, which may have answers already */
};

/* A prompt as ids, with what it goes on from; and choices after it. */
struct prompt {
    int32_t *ids;
    size_t n, cap;
    bool goes_on; /* it is nothing but what it goes on from */
    struct gg_choices contest;
};

/* What a state holds, for any number of prompts that go on from there. */
struct base {
    struct gg_sequence *sequence; /* NULL: nothing */
    bool has_mirostat;
    double mirostat;
};

enum {
    MAX_UNKNOWN = 16,
};

/* Everything while the tool runs. */
struct generate {
    struct options *o;
    struct engine engine, draft; /* the second is open with --draft MODEL */
    struct gg_engine *gg, *gg_draft;
    struct answer answer;
    size_t sum_prompt, sum_made; /* ids */
    uint64_t left_out;           /* bytes of prompts without a token */
    int64_t t_prompt, t_made;    /* microseconds of evaluation */
    struct chat chat;
    size_t done; /* messages that the session holds, but for the last's end */
    struct state state;
    struct base base;
    struct grammars grammars;   /* of records */
    char *unknown[MAX_UNKNOWN]; /* their members that were warned of */
    size_t n_unknown;
    bool has_mirostat; /* the state has what was learnt: */
    double mirostat;
    bool loaded;  /* the answer's context comes from there */
    bool resumed; /* its text goes on without a prompt */
    bool heard;   /* some prompt was evaluated */
    bool cut;     /* some answer, inside its grammar */
};

/* The ids of the prompt, which --echo writes; the caller frees them. With
 * `chat`, the prompt becomes messages of g->chat. */
int32_t *
generate_prompt(struct generate *g, size_t *n);

/* Says how many bytes of the prompts so far have no token. */
void
generate_tell_left_out(struct generate *g, const char *name);

/* The ids of what is new in g->chat, after the answer's tail; the caller frees
 * them. */
int32_t *
generate_chat(struct generate *g, size_t *n);

/* The ids of a text as the options want it: a text, a message of the user, or a
 * conversation in JSON; and of all choices after it. The second reads a
 * conversation whatever the options say. No ids: an empty text. What is in
 * *out, which was all zero, is to be cleared even if this fails. */
enum gg_status
generate_record_ids(struct generate *g, const char *text, size_t len,
                    const struct choices *choices, struct prompt *out,
                    struct gg_error *err);
enum gg_status
generate_messages_ids(struct generate *g, const char *json, size_t len,
                      const struct choices *choices, struct prompt *out,
                      struct gg_error *err);
/* The same of the one prompt that the options name, or the tool ends. */
void
generate_choice_prompt(struct generate *g, struct prompt *out);
void
prompt_clear(struct prompt *p);

/* Evaluates the prompt, then draws and writes until an end; after -n 0 at once.
 * False: the prompt was not evaluated. */
bool
generate_loop(struct generate *g, const int32_t *prompt, size_t n);

/* Answers line after line; at first to first[0..n), the ids of g->chat, if
 * there are any. */
void
generate_interactive(struct generate *g, const int32_t *first, size_t n);

/* Answers each record of the input; the standard output has been opened.
 * `resumed` reads answers that it has already; -1: there are none. False: some
 * record failed, or a signal came. */
bool
generate_records(struct generate *g, int resumed);

/* Ids that may come next are drafted from now on, as --draft says; or the tool
 * ends. */
void
draft_model_open(struct generate *g, int32_t n_slots);
void
draft_model_close(struct generate *g);
/* For -v: how many drafted ids were accepted. */
void
draft_model_describe(const struct generate *g);

/* The answer's context, and g->chat, are what --load says. */
void
generate_load(struct generate *g);
/* g->base is, and some slot of the session holds all of it. Without --load it
 * stays empty. */
void
generate_load_base(struct generate *g);
/* One that begins with all that was loaded. */
enum gg_status
generate_new_sequence(const struct generate *g, struct gg_sequence **out,
                      struct gg_error *err);
/* For an empty prompt after a saved state: the ids to evaluate before the
 * text goes on, which may be none; the caller frees them. */
int32_t *
generate_resume(struct generate *g, size_t *n);
/* Saves what was heard, if that was asked for. */
void
generate_save(struct generate *g);

/* For -v: how fast it was. */
void
generate_describe(const struct generate *g);

#endif
