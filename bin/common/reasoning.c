/* reasoning.c - what is said of thoughts, and of the variables of templates */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/reasoning.h"

#ifdef HAVE_JANSSON

/* Variables that are a conversation's own. */
static const char *const taken[] = { "messages", "tools",
                                     "add_generation_prompt" };

static json_t *
object_of(const char *text)
{
    json_error_t e;

    return text ? cli_json_load(text, strlen(text), JSON_ALLOW_NUL, &e)
                : json_object();
}

static enum gg_status
set_object(char **to, json_t *object, struct gg_error *err)
{
    char *text = cli_json_dump(object, JSON_COMPACT);

    json_decref(object);
    if (!text)
        return cli_error(err, GG_ERR_NOMEM, "out of memory");
    free(*to);
    *to = text;
    return GG_OK;
}

static enum gg_status
check_name(const char *name, struct gg_error *err)
{
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (strcmp(name, taken[i]) == 0)
            return cli_error(err, GG_ERR_ARG,
                             "%s is no argument of a template: the "
                             "conversation has it",
                             name);
    return GG_OK;
}

enum gg_status
reasoning_add_argument(char **to, const char *argument, struct gg_error *err)
{
    const char *is = strchr(argument, '=');
    char why[CLI_JSON_WHY], name[100];
    json_error_t e;
    json_t *value, *all;
    enum gg_status st;

    if (!is || is == argument || is - argument >= (int)sizeof(name))
        return cli_error(err, GG_ERR_ARG, "--template-arg: not NAME=JSON");
    snprintf(name, sizeof(name), "%.*s", (int)(is - argument), argument);
    st = check_name(name, err);
    if (st != GG_OK)
        return st;
    value = cli_json_load(
        is + 1, strlen(is + 1),
        JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &e);
    if (!value)
        return cli_error(err, GG_ERR_ARG,
                         "--template-arg: the value of %s is not JSON: %s",
                         name, cli_json_why(why, &e));
    all = object_of(*to);
    json_object_set_new(all, name, value);
    return set_object(to, all, err);
}

enum gg_status
reasoning_add_arguments(char **to, const char *object, struct gg_error *err)
{
    json_t *all, *more;
    enum gg_status st = GG_OK;
    void *at;

    if (!object)
        return GG_OK;
    all = object_of(*to);
    more = object_of(object);
    for (at = json_object_iter(more); at && st == GG_OK;
         at = json_object_iter_next(more, at))
        st = check_name(json_object_iter_key(at), err);
    if (st == GG_OK)
        json_object_update(all, more);
    json_decref(more);
    if (st == GG_OK)
        return set_object(to, all, err);
    json_decref(all);
    return st;
}

void
reasoning_drop_argument(char **from, const char *name)
{
    json_t *all = object_of(*from);

    json_object_del(all, name);
    free(*from);
    *from = json_object_size(all) ? cli_json_dump(all, JSON_COMPACT) : NULL;
    json_decref(all);
}

enum gg_status
reasoning_check_arguments(const struct gg_chat_template *template,
                          const char *object, struct gg_error *err)
{
    json_t *all = object_of(object);
    enum gg_status st = GG_OK;

    for (void *at = json_object_iter(all); at && st == GG_OK;
         at = json_object_iter_next(all, at))
        if (!gg_chat_reads(template, json_object_iter_key(at)))
            st = cli_error(err, GG_ERR_UNSUPPORTED,
                           "the chat template reads no variable %s",
                           json_object_iter_key(at));
    json_decref(all);
    return st;
}

#else

static enum gg_status
no_json(struct gg_error *err)
{
    return cli_error(err, GG_ERR_UNSUPPORTED,
                     "this %s was built without Jansson, and reads no JSON",
                     cli_name);
}

void
reasoning_drop_argument(char **from, const char *name)
{
    (void)from, (void)name;
}

enum gg_status
reasoning_add_argument(char **to, const char *argument, struct gg_error *err)
{
    (void)to, (void)argument;
    return no_json(err);
}

enum gg_status
reasoning_add_arguments(char **to, const char *object, struct gg_error *err)
{
    (void)to;
    return object ? no_json(err) : GG_OK;
}

enum gg_status
reasoning_check_arguments(const struct gg_chat_template *template,
                          const char *object, struct gg_error *err)
{
    (void)template;
    return object ? no_json(err) : GG_OK;
}

#endif

enum gg_status
reasoning_set_argument(void *options, const struct cli_option *row,
                       const char *value, struct gg_error *err)
{
    return reasoning_add_argument((char **)((char *)options + row->at), value,
                                  err);
}

static enum gg_status
add_switch(const struct reasoning_options *o,
           const struct gg_chat_template *template, char **out,
           struct gg_error *err)
{
    const char *object =
        o->mode ? gg_chat_reasoning(template, o->mode == REASONING_ON) : NULL;

    if (o->mode && !object)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "the chat template has no variable that switches "
                         "reasoning on or off");
    return reasoning_add_arguments(out, object, err);
}

enum gg_status
reasoning_arguments(const struct reasoning_options *o, const char *common,
                    const struct gg_chat_template *template, char **out,
                    struct gg_error *err)
{
    enum gg_status st;

    *out = NULL;
    st = add_switch(o, template, out, err);
    if (st == GG_OK)
        st = reasoning_add_arguments(out, common, err);
    if (st == GG_OK && o->arguments)
        st = reasoning_add_arguments(out, o->arguments, err);
    if (st != GG_OK) {
        free(*out);
        *out = NULL;
    }
    return st;
}

enum gg_status
reasoning_give_arguments(struct chat *c, const char *common,
                         struct gg_error *err)
{
    char *all = NULL;
    enum gg_status st = reasoning_add_arguments(&all, common, err);

    if (st == GG_OK)
        st = reasoning_add_arguments(&all, c->arguments, err);
    if (st != GG_OK) {
        free(all);
        return st;
    }
    free(c->arguments);
    c->arguments = all;
    return GG_OK;
}
