/* generate.h - the parts of gg-generate */
#ifndef GENERATE_H
#define GENERATE_H

#include "common/media_intake.h"
#include "common/reasoning.h"
#include "common/records/request.h"
#include "common/shard.h"
#include "common/state.h"
#include "gg-generate/answer.h"
#include "gg-generate/contest.h"
#include "gg-generate/prompt_source.h"
#include "gg-generate/tools.h"

enum {
    BOS_BY_MODEL, /* as the model wants it */
    BOS_FIRST,
    BOS_NONE,
};

enum {
    POOL_AS_MODEL = GG_POOL_RANK, /* in addition to enum gg_pooling */
};

enum {
    SHOW_REASONING = 0, /* as the model wrote it */
    HIDE_REASONING = -1,
};

/* The form of the input. */
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
    const char *suffix; /* what follows the gap after the prompt; or NULL */
    const char *marker; /* stands for a medium in a prompt; or NULL */
    struct media_files files; /* images and sounds */

    bool echo, raw, newline;
    enum special special;
    bool strict; /* a byte without a token is an error */
    bool chat, messages, interactive, commands;
    const char *system;
    const struct gg_chat_template *template; /* NULL: the model's */
    int64_t date;                            /* 0: not said */
    struct reasoning_options reasoning;
    int32_t show_reasoning; /* SHOW_... or a file descriptor */
    struct gg_stop *stop;   /* NULL: no strings */
    struct choices choices;
    bool scores;             /* of all choices */
    const char *draft;       /* "prompt" or a model; or NULL */
    const char *draft_table; /* a file; or NULL */
    int bos;
    int pooling; /* of embeddings: an enum gg_pooling, or POOL_AS_MODEL */
    enum form_kind form;
    bool numbered;
    struct shard shard; /* of the records */
    int32_t n_batch;    /* records answered at once */
    int32_t n_slots;    /* sequences whose KV cache is kept; 0: as many */
    uint64_t cache_ram; /* bytes of it; 0: no limit */
    bool unordered;     /* answers leave when they are done */
    int32_t heartbeat;  /* seconds between two; 0: none */
    int32_t drain;      /* seconds that SIGTERM leaves what runs */
    const char *resume; /* the output, which may have answers already */
    const char *tools;  /* a file; or NULL */
    const char *tool_choice;
    int32_t tool_calls; /* the descriptor for calls; 0: none */
};

/* A prompt as ids, with what it goes on from; and choices after it. */
struct prompt {
    int32_t *ids;
    size_t n, cap;
    bool goes_on; /* it is nothing but what it goes on from */
    const struct gg_chat_reader *reader; /* of a conversation; else NULL */
    char *tools;    /* that the answer may call, in JSON; or NULL */
    char *grammar;  /* that of a record's calls, in GBNF; or NULL */
    bool must_call; /* one of them */
    struct gg_choices contest;
    struct media_intake *intake; /* n_media of it, which ids are rows of */
    size_t *media;
    size_t n_media;
};

/* The content of a state, for any number of prompts that go on from there; or
 * the conversation of which all answers were choices. */
struct base {
    struct gg_sequence *sequence; /* NULL: nothing */
    bool is_pending;              /* its last id: an answer ended there */
    bool has_mirostat;
    double mirostat;
};

/* Counts and times of evaluation, for -v. */
struct generate_sums {
    size_t n_prompt, n_made;  /* ids */
    int64_t t_prompt, t_made; /* microseconds */
};

/* Everything while the tool runs. */
struct generate {
    struct options *o;
    struct engine engine, draft; /* the second is open with --draft MODEL */
    struct answer answer;
    struct generate_sums sums;
    uint64_t left_out;             /* bytes of prompts without a token */
    size_t medium;                 /* the next one of the job's media */
    struct media_intake *intake;   /* of those of messages; or NULL */
    unsigned plainer;              /* what templates refused, the same */
    int64_t date;                  /* of all conversations; 0: of none yet */
    struct gg_chat_reader *reader; /* of the template; NULL: none was wanted */
    struct prompt_source source;   /* of the one prompt, or of all turns */
    struct state state;
    struct base base;
    struct requests requests; /* of records */
    struct tools tools;
    const char *run; /* for ids of answers: of this run alone; or NULL */
    /* Sampling as the model's file gives it, or as the state or the job that
     * goes on gave it; or NULL. */
    const char *sampling;
    char *resumed_sampling; /* the job's, which is freed; or NULL */
    int resumed;     /* a file with answers that there are already; or -1 */
    bool loaded;     /* prompts go on from a state */
    bool heard;      /* some prompt was evaluated */
    bool told_calls; /* for -v: their form */
    bool told_unread;
    bool cut;    /* some answer, inside its grammar */
    bool gentle; /* what has no room ends a message, not the tool */
};

/* The prompt that the options name, which --echo writes, after the answer's
 * tail; or the tool ends. */
void
generate_prompt(struct generate *g, struct prompt *out);

/* The new part of the conversation, after the answer's tail. *out, which was
 * all zero, is to be cleared even if this fails. */
enum gg_status
generate_turn_prompt(struct generate *g, struct prompt *out,
                     struct gg_error *err);
void
prompt_clear(struct prompt *p);

/* The time that templates take for now, in all of the job: --date's, a
 * state's, that of the run which is resumed, SOURCE_DATE_EPOCH, or the clock's,
 * which ends the tool where the job has other parts. */
int64_t
generate_date(struct generate *g);
/* The answer to that record of the run that is resumed had this one. Ends the
 * tool where --date, or another answer, says another one. */
void
generate_resume_date(struct generate *g, uint64_t number, int64_t date);
/* Ends the tool where nothing would hold the date of a job that is resumed. */
void
generate_check_date(const struct generate *g);

/* With --unordered: GG_ERR_CONTEXT where some text of the prompt has more ids
 * than the context, of which *least is some number; so that a long text takes
 * no time. */
enum gg_status
generate_check_length(const struct generate *g, const struct prompt_source *s,
                      size_t *least, struct gg_error *err);

/* Parts the answers of conversations; NULL: all is text. */
enum gg_status
generate_reader(struct generate *g, const struct gg_chat_reader **out,
                struct gg_error *err);

/* --show-reasoning FD: new reasoning of the answer goes there. With -i
 * a newline follows it, at the end of the answer. */
void
generate_write_thought(const struct generate *g, struct answer *a, bool more);

/* Says how many bytes of the prompts so far have no token. */
void
generate_tell_left_out(struct generate *g, const char *name);

/* Says, once, that -p leaves a standard input unread that holds bytes. */
void
generate_tell_unread(struct generate *g);

/* Evaluates the prompt, then draws and writes until an end; after -n 0 at once.
 * False: the prompt was not evaluated, as a signal came, or has no room. */
bool
generate_loop(struct generate *g, const struct prompt *prompt);

/* Writes the likeliest of the prompt's choices. False: a signal came. */
bool
generate_choice(struct generate *g, struct prompt *prompt);

/* One of the two. */
static inline bool
generate_answer(struct generate *g, struct prompt *prompt)
{
    return prompt->contest.n ? generate_choice(g, prompt)
                             : generate_loop(g, prompt);
}

/* Answers line after line; at first to `first`, if it is not all zero, which it
 * clears. */
void
generate_interactive(struct generate *g, struct prompt *first);

/* Answers each record of the input; the standard output has been opened. False:
 * some record failed, or a signal came. */
bool
generate_records(struct generate *g);

/* Options that --draft needs of the model are set before it is opened. */
void
draft_model_choose(struct options *o);
/* Ids that may come next are drafted from now on, as --draft says; or the tool
 * ends. */
void
draft_model_open(struct generate *g);
void
draft_model_close(struct generate *g);
/* For -v: how many drafted ids were accepted. */
void
draft_model_describe(const struct generate *g);

/* --draft-table: the drafts that it goes with; what the file has is known from
 * now on; it becomes what is known at the end, unless a signal came. */
void
draft_table_choose(struct options *o);
void
draft_table_open(struct generate *g);
void
draft_table_save(struct generate *g);

/* g->base is what --load says; without it, it stays empty. */
void
generate_load(struct generate *g);
/* All of it is evaluated, and some slot of the session holds it; unless a
 * signal comes. */
void
generate_hold_base(struct generate *g);
/* It becomes the answer's context, and what is pending its tail. */
void
generate_take_base(struct generate *g);
/* One that begins with all that was loaded. */
enum gg_status
generate_new_sequence(const struct generate *g, struct gg_sequence **out,
                      struct gg_error *err);
/* Saves what was heard, if that was requested. */
void
generate_save(struct generate *g);

/* For -v: how fast it was. */
void
generate_describe(const struct generate *g);

#endif
