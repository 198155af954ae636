/* template.c - chat templates: parse and render */
#include <config.h>

#include "chat/template.h"

#include <string.h>

#include "chat/evaluate.h"
#include "chat/parser.h"
#include "chat/text.h"
#include "core/mem.h"
#include "core/plant.h"

enum {
    MAX_SOURCE = 1 << 22,   /* bytes of a template */
    PARSE_MEMORY = 1 << 30, /* about 200 times the source, at most */
    RENDER_MEMORY = 1 << 30,
    RENDER_STEPS = 20000000,
};

struct chat_template {
    struct chat_arena arena;
    struct chat_node *tree;
    struct chat_names names;
};

enum gg_status
chat_template_parse(const char *text, size_t n, struct chat_template **out,
                    struct gg_error *err)
{
    struct chat_template *t = mem_zalloc(sizeof(*t));
    struct chat_parser p = { .err = err };
    enum gg_status st;

    if (!t)
        return error_nomem(err);
    t->arena.limit = PARSE_MEMORY;
    p.arena = &t->arena;
    st = n > MAX_SOURCE ? error_set(err, GG_ERR_FORMAT,
                                    "it has more than %d bytes", MAX_SOURCE)
                        : chat_parse(&p, text, n, &t->tree);
    t->names = p.names;
    gg_plant("template");
    if (st == GG_OK)
        *out = t;
    else
        chat_template_free(t);
    return st;
}

void
chat_template_free(struct chat_template *t)
{
    if (t)
        chat_arena_clear(&t->arena);
    mem_free(t);
}

const struct chat_node *
chat_template_tree(const struct chat_template *t)
{
    return t->tree;
}

/* The variables that the template names. */
static void
assign_variables(struct chat_run *r, const struct chat_template *t,
                 const struct chat_dict *variables)
{
    for (size_t i = 0; i < variables->n && !chat_failed(r); i++) {
        const struct chat_pair *v = &variables->pairs[i];
        const char *name =
            v->key.type == CHAT_STRING
                ? chat_name(&t->names, v->key.string->s, v->key.string->n)
                : NULL;

        if (name)
            chat_assign(r, name, v->value);
    }
}

/* Renders within `r`, whose arena has the bound. */
static void
render(struct chat_run *r, const struct chat_template *t,
       const struct chat_dict *variables, struct chat_string *out)
{
    struct chat_builder b = { .r = r };
    struct chat_value text;

    r->out = &b;
    chat_enter(r); /* what Jinja calls the context */
    if (!chat_failed(r))
        assign_variables(r, t, variables);
    chat_enter(r);
    if (!chat_failed(r))
        chat_execute(r, t->tree);
    text = chat_built(&b);
    if (!chat_failed(r))
        *out = *text.string;
}

enum gg_status
chat_template_render(const struct chat_template *t, struct chat_value variables,
                     int64_t time, struct chat_limits *limits,
                     struct chat_arena *arena, struct chat_string *out,
                     struct gg_error *err)
{
    struct chat_limits defaults = { 0 };
    struct gg_error unused;
    struct chat_run r = { .time = time, .err = err ? err : &unused };
    size_t before = arena->limit;
    uint64_t steps;

    if (variables.type != CHAT_DICT)
        return error_set(err, GG_ERR_ARG, "a template's variables are a dict");
    if (!limits)
        limits = &defaults;
    r.arena = *arena;
    r.arena.limit =
        arena->total + (limits->memory ? limits->memory : RENDER_MEMORY);
    if (r.arena.limit > before)
        r.arena.limit = before;
    steps = limits->steps ? limits->steps : RENDER_STEPS;
    steps -= limits->taken < steps ? limits->taken : steps;
    r.steps = steps;
    render(&r, t, variables.dict, out);
    limits->taken += steps - r.steps;
    *arena = r.arena;
    arena->limit = before;
    return r.status;
}
