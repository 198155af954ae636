/* tokenize.h - options of gg-tokenize, and functions that act on them */
#ifndef TOKENIZE_H
#define TOKENIZE_H

#include "common/media_intake.h"
#include "common/shard.h"

enum truncate {
    TRUNCATE_NOT, /* a text with more ids is an error */
    TRUNCATE_LEFT,
    TRUNCATE_RIGHT,
};

struct tokenize_options {
    const char *input; /* name of the file for messages */
    const char *typed; /* the input itself, in place of a file; or NULL */
    int fd;
    bool records;       /* each record is a numbered sequence of its own */
    char end;           /* of a record: newline or NUL */
    struct shard shard; /* of the records; or, decode, of the sequences */
    bool quiet, verbose;
    enum special special;
    size_t binary; /* bytes of an id; 0: decimal */
    bool no_bos;   /* decode: the text starts at the first id */

    /* encode */
    bool bos, eos;      /* put them around each text */
    size_t n_ends;      /* ids that eos puts there */
    bool empty;         /* an empty text will do */
    bool strict;        /* a byte without a token is an error */
    int tokenizer;      /* 1: greedy, not as the vocabulary has it */
    bool pairs;         /* a record is a query and a document */
    const char *prefix; /* in front of each text; or NULL */
    const char *suffix; /* what follows the gap after each text; or NULL */
    bool fields;        /* each TAB field of a record is a chunk */
    bool escapes;       /* \n, \t, \\ in a record stand for what they name */
    const struct gg_chat_template *chat; /* conversations; or NULL */
    unsigned chat_flags;                 /* GG_CHAT_... */
    int64_t chat_date;
    char *chat_arguments;        /* JSON, or NULL */
    const char *marker;          /* stands for a medium in a text; or NULL */
    bool count, pieces, offsets; /* what is written, in place of ids */
    size_t max;                  /* ids of a text; 0: any number */
    enum truncate truncate;
    size_t budget;       /* ids of the pieces to cut the text into; or 0 */
    int threads;         /* 0: not said */
    struct media *media; /* whose rows stand in texts; or NULL */
    struct media_intake *intake; /* of media that messages bring; or NULL */

    /* decode */
    bool clean;        /* write UTF-8 only */
    bool raw;          /* a terminal gets all bytes as they are */
    bool newline;      /* the text's end */
    uint64_t max_held; /* bytes of sequences that are open */
};

struct arguments {
    struct tokenize_options options;
    const char *model, *file, *output, *prompt, *rows;
    struct media_files files;
    bool decode, bos, eos, no_eos, chat, no_answer, text;
};

/* GG_ENCODE_... of every text. */
static inline unsigned
tokenize_flags(const struct tokenize_options *o)
{
    bool strict = o->strict || o->special == SPECIAL_ERROR;

    return (o->special == SPECIAL_PARSE ? GG_ENCODE_SPECIAL : 0u) |
           (o->tokenizer ? GG_ENCODE_GREEDY : 0u) |
           (strict ? GG_ENCODE_STRICT : 0u);
}

/* Fills *a in, or ends the tool. */
void
parse_arguments(int argc, char **argv, struct arguments *a);

/* All return the exit status, or end the tool. */
int
tokenize_encode(const struct gg_vocab *vocab,
                const struct tokenize_options *options);
int
tokenize_decode(const struct gg_vocab *vocab,
                const struct tokenize_options *options);
int
tokenize_budget(const struct gg_vocab *vocab,
                const struct tokenize_options *options);

#endif
