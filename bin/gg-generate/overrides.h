/* overrides.h - options of one record in JSON, for the command line's */
#ifndef GENERATE_OVERRIDES_H
#define GENERATE_OVERRIDES_H

#include "common/json.h"

#include "gg-generate/records.h"

/* A member of a record. */
struct override {
    struct generate *g;
    struct record *r;
    const char *key;
    json_t *value;
    json_t *object;   /* that it is of, */
    const char *text; /* which is this text */
};

/* Takes a grammar, json_schema or response_format. */
enum gg_status
override_constraint(const struct override *o, struct gg_error *err);

/* Takes reasoning, enable_thinking, reasoning_effort or thinking; a limit of
 * thoughts; chat_template_kwargs. */
enum gg_status
override_reasoning(const struct override *o, struct gg_error *err);
enum gg_status
override_budget(const struct override *o, struct gg_error *err);
enum gg_status
override_arguments(const struct override *o, struct gg_error *err);

/* Takes lora or control_vector: which adapters count, and how much. */
enum gg_status
override_adapters(const struct override *o, struct gg_error *err);

/* Takes the members of the object, which is `text` as well, that are options;
 * all others mean something else. */
enum gg_status
overrides_read(struct generate *g, struct record *r, json_t *object,
               const char *text, struct gg_error *err);

#endif
