/* schema_parts.h - what the parts of schema.c have in common */
#ifndef COMMON_SCHEMA_PARTS_H
#define COMMON_SCHEMA_PARTS_H

#include <jansson.h>

#include "common/buffer.h"

enum {
    SCHEMA_MAX_DEPTH = 64,
    SCHEMA_MAX_RULES = 4000,
    SCHEMA_MAX_LENGTH = 20000, /* of what is counted: items, characters */
    SCHEMA_MAX_DIGITS = 18,    /* of a whole number */
};

/* A rule, and how it was come to. */
struct schema_rule {
    int level; /* of what it stands in: members, items */
    int maybe; /* how much of that may be missing */
    bool open; /* it is being made */
};

struct schema {
    json_t *root;
    json_t *known; /* the number of a rule, by its schema's text */
    struct buffer *out;
    struct schema_rule rules[SCHEMA_MAX_RULES];
    int n_rules, depth, level, maybe;
    size_t work; /* bytes of text that were looked up in known */
    int n_merges;
    char path[300]; /* of what is looked at: "#/properties/name" */
    bool failed;
    struct gg_error *why;
};

/* ---- schema.c ---- */

/* The first word counts, with the path. */
CLI_PRINTF(2, 3)
void
schema_refuse(struct schema *s, const char *fmt, ...);

/* Adds text, no more than 200 bytes; text[0..len) as a string of the grammar;
 * the value as it is written. */
CLI_PRINTF(2, 3)
void
schema_add(struct buffer *b, const char *fmt, ...);
void
schema_add_literal(struct buffer *b, const char *text, size_t len);
void
schema_add_value(struct schema *s, struct buffer *b, const json_t *value);

/* The first of n new rules; and the body of one. */
int
schema_new_rules(struct schema *s, int n);
void
schema_put_rule(struct schema *s, int rule, const struct buffer *body);

/* The rule of a schema a step down the path: of a part of the value, so that
 * something is written before; of what need not be there. */
enum {
    SCHEMA_INSIDE = 1,
    SCHEMA_MAYBE = 2,
};
int
schema_rule_at(struct schema *s, json_t *schema, unsigned how, const char *step,
               const char *name);

/* The value of a limit, `other` where there is none; {m,n}, {m,} or * for two,
 * -1 being no limit. */
long
schema_limit(struct schema *s, const json_t *schema, const char *key,
             long other);
void
schema_add_count(struct buffer *b, long min, long max);

/* ---- schema_merge.c ---- */

/* The schema as one without $ref and allOf, `const` as enum; json_false where
 * nothing is left. The caller's. NULL: refused. */
json_t *
schema_flatten(struct schema *s, json_t *schema);

/* One for what both allow. The caller's. */
json_t *
schema_both(json_t *a, json_t *b);

/* Whether a value of an enum goes with what else is said. */
bool
schema_fits(struct schema *s, const json_t *schema, const json_t *value);

/* ---- schema_object.c, schema_string.c, schema_number.c, schema_pattern.c ----
 */

void
schema_object(struct schema *s, struct buffer *b, json_t *schema);
void
schema_array(struct schema *s, struct buffer *b, json_t *schema);
void
schema_string(struct schema *s, struct buffer *b, const json_t *schema);
void
schema_number(struct schema *s, struct buffer *b, const json_t *schema,
              bool whole);

/* Strings that the regular expression is found in, without their quotation
 * marks. *min and *max (-1: none) get the number of their characters. */
void
schema_pattern(struct schema *s, struct buffer *b, const char *pattern,
               long *min, long *max);

#endif
