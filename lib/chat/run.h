/* run.h - one rendering of a template: its memory, its bounds, its failure
 *
 * The first failure sticks: what is evaluated after it is undefined, quickly,
 * and nobody looks at it. So functions that evaluate return values, and only
 * loops ask chat_failed(). */
#ifndef CHAT_RUN_H
#define CHAT_RUN_H

#include "chat/value.h"

#include "core/error.h"

struct chat_node;
struct chat_builder;

/* A name in a scope; names are compared by their address. */
struct chat_variable {
    const char *name;
    struct chat_value value;
};

struct chat_scope {
    struct chat_scope *outer;
    struct chat_variable *variables;
    size_t n, cap;
};

enum chat_jump {
    CHAT_GO_ON,
    CHAT_BREAK,
    CHAT_CONTINUE
};

struct chat_run {
    struct chat_arena arena;
    struct chat_scope *scope;   /* the innermost */
    struct chat_builder *out;   /* where output goes */
    struct chat_value captured; /* what a block's filters are applied to */
    enum chat_jump jump;        /* out of the innermost loop */
    int64_t time;               /* of strftime_now(): seconds UTC */
    uint64_t steps;             /* that are left */
    unsigned depth;             /* of nodes within nodes */
    int line;                   /* of the template */
    enum gg_status status;
    struct gg_error *err;
};

static inline bool
chat_failed(const struct chat_run *r)
{
    return r->status != GG_OK;
}

/* "line N: sentence", unless something failed before; returns an undefined
 * value. */
__attribute__((format(printf, 2, 3))) struct chat_value
chat_fail(struct chat_run *r, const char *fmt, ...);
/* No memory: of the machine's, or of the bound. */
struct chat_value
chat_fail_memory(struct chat_run *r);

/* Takes n of the steps that are left: one for about 64 bytes copied or
 * compared, 16 searched, one value made. */
void
chat_take_steps(struct chat_run *r, uint64_t n);

/* a == b in Python. */
bool
chat_same(struct chat_run *r, struct chat_value a, struct chat_value b);

enum {
    CHAT_FLOAT_STEPS = 192 /* of writing or reading a number's digits */
};

/* NULL, and a failure, where there is no memory. */
void *
chat_alloc(struct chat_run *r, size_t size);
struct chat_value
chat_new_list(struct chat_run *r, enum chat_type type);
struct chat_value
chat_new_dict(struct chat_run *r, enum chat_type type);
void
chat_run_add(struct chat_run *r, struct chat_value list,
             struct chat_value item);
void
chat_set(struct chat_run *r, struct chat_value dict, struct chat_value key,
         struct chat_value value);
/* The value of a key, taking steps; NULL: there is none. */
const struct chat_value *
chat_find_key(struct chat_run *r, const struct chat_dict *dict,
              struct chat_value key);
const struct chat_value *
chat_find_name(struct chat_run *r, const struct chat_dict *dict,
               const char *name, size_t len);
/* The string of a text of the interpreter's own, that lives on. */
struct chat_value
chat_words(struct chat_run *r, const char *s);

/* Scopes live as long as the rendering: macros keep theirs. */
void
chat_enter(struct chat_run *r);
void
chat_leave(struct chat_run *r);
void
chat_assign(struct chat_run *r, const char *name, struct chat_value value);
/* NULL: there is none. */
const struct chat_value *
chat_lookup(struct chat_run *r, const char *name);

#endif
