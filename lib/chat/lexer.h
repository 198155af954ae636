/* lexer.h - a template as tokens
 *
 * Jinja's, set up as transformers does: trim_blocks (the newline after a block
 * is dropped) and lstrip_blocks (so are blanks in front of one that begins its
 * line). https://jinja.palletsprojects.com/en/stable/templates */
#ifndef CHAT_LEXER_H
#define CHAT_LEXER_H

#include "chat/arena.h"

#include "core/error.h"

enum chat_token_type {
    CHAT_TOKEN_END,
    CHAT_TOKEN_TEXT,  /* outside of all blocks */
    CHAT_TOKEN_PRINT, /* {{ */
    CHAT_TOKEN_PRINT_END,
    CHAT_TOKEN_BLOCK, /* {% */
    CHAT_TOKEN_BLOCK_END,
    CHAT_TOKEN_NAME,
    CHAT_TOKEN_STRING, /* with its quotes and escape sequences */
    CHAT_TOKEN_INT,
    CHAT_TOKEN_FLOAT,
    CHAT_TOKEN_OPERATOR,
};

struct chat_token {
    enum chat_token_type type;
    int line;
    const char *s; /* in the lexer's source */
    size_t n;
};

struct chat_lexer {
    struct chat_arena *arena;
    const char *source; /* with newlines as "\n" */
    size_t n, at;
    int line;
    struct chat_token *tokens; /* the last one is CHAT_TOKEN_END */
    size_t n_tokens, cap;
    bool line_starts; /* the last token ended a line */
    enum gg_status status;
    struct gg_error *err;
};

/* Reads a template of n bytes; what comes of it lives in the arena. */
enum gg_status
chat_lex(struct chat_lexer *x, const char *text, size_t n);

#endif
