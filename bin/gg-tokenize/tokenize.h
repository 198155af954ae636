/* tokenize.h - the two directions of gg-tokenize */
#ifndef TOKENIZE_H
#define TOKENIZE_H

#include <gg.h>

struct tokenize_options {
    const char *input; /* name of the file for messages */
    int fd;
    bool records; /* each record is a numbered sequence of its own */
    char end;     /* of a record: newline or NUL */
    bool bos;     /* encode: put BOS in front */
    bool empty;   /* encode: an empty text will do */
    bool no_bos;  /* decode: the text starts at the first id */
    const struct gg_chat_template *chat; /* encode: conversations; or NULL */
    unsigned chat_flags;                 /* GG_CHAT_... */
    bool special;                        /* control tokens stand in the text */
    bool verbose;
    uint64_t max_held; /* decode: bytes of sequences that are open */
};

/* Both return the exit status, or end the tool. */
int
tokenize_encode(const struct gg_vocab *vocab,
                const struct tokenize_options *options);
int
tokenize_decode(const struct gg_vocab *vocab,
                const struct tokenize_options *options);

#endif
