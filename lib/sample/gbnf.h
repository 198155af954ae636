/* gbnf.h - a grammar's text as a program */
#ifndef SAMPLE_GBNF_H
#define SAMPLE_GBNF_H

#include "sample/grammar.h"

enum gbnf_op {
    GBNF_RANGE, /* a byte from a to b, then the next */
    GBNF_TOKEN, /* token a; b: any other that is text; then the next */
    GBNF_SPLIT, /* goes on at a, and at b, of it */
    GBNF_JUMP,  /* goes on at a, of it */
    GBNF_CALL,  /* rule a, then the next */
    GBNF_RET,
};

struct gbnf_code {
    uint8_t op;
    int32_t a, b;
};

/* Whether an instruction takes the token; `text`: it is text, and does not end
 * a generation. */
static inline bool
sample_gbnf_takes(const struct gbnf_code *c, int32_t id, bool text)
{
    return c->op == GBNF_TOKEN && (c->b ? text && c->a != id : c->a == id);
}

struct gbnf_rule {
    const char *name; /* in the text */
    size_t len;
    int32_t start; /* of its code; -1: not defined */
    bool nullable;
};

struct gbnf {
    struct gbnf_code *code;
    size_t n, cap;
    struct gbnf_rule *rules;
    size_t n_rules, rules_cap;
    size_t root;
    bool has_tokens; /* some GBNF_TOKEN */
};

enum {
    GBNF_MAX_TEXT = 1 << 20, /* bytes */
    GBNF_MAX_CODE = 1 << 17, /* instructions */
    GBNF_MAX_RULES = 1 << 12,
    GBNF_MAX_DEPTH = 128, /* of parentheses */
};

/* Compiles text[0..len), and refuses left recursion; names of rules point into
 * it. Names of tokens are looked up in the vocabulary. */
enum gg_status
sample_gbnf_compile(const char *text, size_t len,
                    const struct grammar_tokens *tokens, struct gbnf *out,
                    struct gg_error *err);
void
sample_gbnf_clear(struct gbnf *g);

/* Adds code for one of the characters from a to b, of `n` such pairs in
 * ascending order (gbnf_chars.c). */
struct gbnf_span {
    uint32_t from, to;
};
enum gg_status
sample_gbnf_chars(struct gbnf *g, const struct gbnf_span *spans, size_t n,
                  struct gg_error *err);

/* Adds code for one of the characters of pairs in any order, or of all others.
 */
enum gg_status
sample_gbnf_set(struct gbnf *g, const struct gbnf_span *spans, size_t n,
                bool negated, struct gg_error *err);

/* Adds an instruction. */
enum gg_status
sample_gbnf_emit(struct gbnf *g, enum gbnf_op op, int32_t a, int32_t b,
                 struct gg_error *err);
/* The code from `start` on becomes one alternative, with another to follow;
 * `jumps` is the last jump of those that sample_gbnf_end() lets end at the same
 * place, -1 at first. */
enum gg_status
sample_gbnf_alternative(struct gbnf *g, size_t start, int32_t *jumps,
                        struct gg_error *err);
void
sample_gbnf_end(struct gbnf *g, int32_t jumps);

/* GG_ERR_FORMAT names a rule that begins with itself (gbnf_check.c). */
enum gg_status
sample_gbnf_check(struct gbnf *g, struct gg_error *err);

#endif
