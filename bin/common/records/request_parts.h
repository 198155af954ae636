/* request_parts.h - how members of a request are read: each function takes one,
 * in place of what the command line says */
#ifndef RECORDS_REQUEST_PARTS_H
#define RECORDS_REQUEST_PARTS_H

#include "common/json.h"
#include "common/records/request.h"

/* A member, which is not null. */
struct request_member {
    struct requests *all;
    struct request *r;
    const struct record_object *object; /* that it is of */
    const char *key;
    struct record_value value;
};

/* ---- request_grammar.c ---- */

/* grammar, json_schema or response_format. */
enum gg_status
request_set_grammar(const struct request_member *m, struct gg_error *err);

/* ---- request_reasoning.c ---- */

/* reasoning, enable_thinking, reasoning_effort or thinking. */
enum gg_status
request_set_reasoning(const struct request_member *m, struct gg_error *err);
/* A limit of reasoning. */
enum gg_status
request_set_budget(const struct request_member *m, struct gg_error *err);
/* The message that ends reasoning at its budget. */
enum gg_status
request_set_message(const struct request_member *m, struct gg_error *err);
/* chat_template_kwargs. */
enum gg_status
request_set_arguments(const struct request_member *m, struct gg_error *err);

/* ---- request_adapters.c ---- */

/* lora or control_vector: which adapters count, and how much. */
enum gg_status
request_set_adapters(const struct request_member *m, struct gg_error *err);

/* ---- request_lists.c ---- */

enum gg_status
request_set_stop(const struct request_member *m, struct gg_error *err);
enum gg_status
request_set_choice(const struct request_member *m, struct gg_error *err);
/* logit_bias: {"ID": x} or [[ID, x]], where x may be false: never. */
enum gg_status
request_set_bias(const struct request_member *m, struct gg_error *err);
/* Strings that are not drawn. */
enum gg_status
request_set_ban(const struct request_member *m, struct gg_error *err);
/* Names of stages, or one string of them. */
enum gg_status
request_set_samplers(const struct request_member *m, struct gg_error *err);
/* Strings at which DRY begins anew. */
enum gg_status
request_set_breakers(const struct request_member *m, struct gg_error *err);

/* ---- request_likely.c ---- */

/* A whole number, or a message with the member's name. */
enum gg_status
request_read_count(const json_t *value, const char *name, int least, int most,
                   size_t *out, struct gg_error *err);
enum gg_status
request_set_logprobs(const struct request_member *m, struct gg_error *err);
enum gg_status
request_set_echo(const struct request_member *m, struct gg_error *err);
/* Whether both go with the rest, and with `messages` or another prompt. */
enum gg_status
request_check_likely(const struct request *r, bool messages,
                     struct gg_error *err);

/* ---- request_tools.c ---- */

enum gg_status
request_set_tools(const struct request_member *m, struct gg_error *err);
enum gg_status
request_set_tool_choice(const struct request_member *m, struct gg_error *err);

/* ---- request_options.c ---- */

/* All members that are options; all others mean something else. */
enum gg_status
request_read_options(struct requests *all, struct request *r,
                     const struct record_object *object, struct gg_error *err);

/* ---- request_prompt.c ---- */

/* The prompt or prompts, each a text or ids; or messages. */
enum gg_status
request_read_prompts(struct request *r, const struct record_object *object,
                     struct gg_error *err);
/* Texts and ids alone: a string, ids, or a list of either. */
enum gg_status
request_read_list(struct request *r, const json_t *value, struct gg_error *err);

#endif
