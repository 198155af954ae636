/* reasoning.h - what is said of thoughts, and of the variables of templates */
#ifndef COMMON_REASONING_H
#define COMMON_REASONING_H

#include "common/chat.h"

enum reasoning {
    REASONING_AUTO, /* as the template has it */
    REASONING_ON,
    REASONING_OFF,
};

/* All zero: nothing. */
struct reasoning_options {
    int32_t mode;
    bool is_limited;
    uint64_t budget;     /* ids, if it is */
    const char *message; /* ends reasoning that has used it up; or NULL */
    char *arguments;     /* a JSON object, for free(), or NULL */
};

/* Adds NAME=JSON to the object *to, which may be NULL and grows. */
enum gg_status
reasoning_add_argument(char **to, const char *argument, struct gg_error *err);

/* Adds all members of an object; NULL: there are none. */
enum gg_status
reasoning_add_arguments(char **to, const char *object, struct gg_error *err);

/* The object, if there is one, is without the member from now on. */
void
reasoning_drop_argument(char **from, const char *name);

/* --template-arg, whose row is at a char *. */
enum gg_status
reasoning_set_argument(void *options, const struct cli_option *row,
                       const char *value, struct gg_error *err);

/* GG_ERR_UNSUPPORTED: the template reads no variable of the name that a member
 * has; `object` may be NULL. */
enum gg_status
reasoning_check_arguments(const struct gg_chat_template *template,
                          const char *object, struct gg_error *err);

/* The variables of a conversation: those that switch reasoning, then those of
 * the object `common`, then those of the options. *out is for free(), or
 * NULL. GG_ERR_UNSUPPORTED: nothing switches the template's reasoning. */
enum gg_status
reasoning_arguments(const struct reasoning_options *o, const char *common,
                    const struct gg_chat_template *template, char **out,
                    struct gg_error *err);

/* The conversation gets the variables of `common`, an object or NULL, that it
 * does not have itself. */
enum gg_status
reasoning_give_arguments(struct chat *c, const char *common,
                         struct gg_error *err);

#endif
