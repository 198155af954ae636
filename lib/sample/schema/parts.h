/* parts.h - what the parts of schema.c have in common
 *
 * A part of a schema becomes a rule of the grammar. Where no value at all is
 * allowed, it becomes none: SCHEMA_NOTHING goes up to where that can be
 * borne, as by another alternative or a member that may be missing. */
#ifndef SAMPLE_SCHEMA_PARTS_H
#define SAMPLE_SCHEMA_PARTS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/escape.h"
#include "core/json.h"

enum {
    SCHEMA_MAX_DEPTH = 64,
    SCHEMA_MAX_RULES = 4000,
    SCHEMA_MAX_LENGTH = 20000, /* of what is counted: items, characters */
    SCHEMA_MAX_DIGITS = 18,    /* of a whole number */
    SCHEMA_NOTHING = -1,       /* in the place of a rule */
    SCHEMA_SHOWN = 100,        /* bytes of a name in a message */
    SCHEMA_MAX_URI = 1000,     /* bytes of one, with a NUL */
};

#define SCHEMA_BEYOND   INT64_C(1000000000000000000) /* 10^18 */
#define SCHEMA_NO_LIMIT INT64_MAX /* of a range: as many digits as may be */

/* Bytes that grow, within core_json_work(); all zero is the empty one. */
struct schema_text {
    char *p;
    size_t len, cap;
};

static inline void
sample_schema_text_add(struct schema_text *b, const char *p, size_t n)
{
    if (n > b->cap - b->len) {
        b->cap = b->cap > n ? 2 * b->cap : b->cap + n;
        b->p = core_json_realloc(b->p, b->cap);
    }
    if (n)
        memcpy(b->p + b->len, p, n);
    b->len += n;
}

static inline void
sample_schema_text_char(struct schema_text *b, char c)
{
    sample_schema_text_add(b, &c, 1);
}

static inline void
sample_schema_text_clear(struct schema_text *b)
{
    core_json_free(b->p);
    *b = (struct schema_text){ 0 };
}

/* A rule, and how it was come to. */
struct schema_rule {
    int level; /* of what it stands in: members, items */
    bool open; /* it is being made */
    bool possible;
    bool guessed; /* was said to be impossible while it was open */
};

struct schema {
    json_t *root;
    json_t *known;    /* the number of a rule, by its schema's text */
    json_t *possible; /* texts that the last pass found possible */
    struct schema_text *out;
    struct schema_rule rules[SCHEMA_MAX_RULES];
    int n_rules, depth, level;
    bool again;  /* a guess was wrong */
    size_t work; /* bytes of text that were looked up in known */
    int n_merges;
    json_t **targets; /* of $ref, which are numbers of these */
    size_t n_targets, targets_cap;
    char path[300];   /* of what is looked at: "#/properties/name" */
    char reason[512]; /* why nothing is allowed; or "" */
    bool failed;
    struct gg_error *why;
};

/* ---- schema.c ---- */

/* The first word counts, with the path. */
__attribute__((format(printf, 2, 3))) void
sample_schema_refuse(struct schema *s, const char *fmt, ...);

/* Says why no value is allowed; the first word counts. Returns false. */
__attribute__((format(printf, 2, 3))) bool
sample_schema_nothing(struct schema *s, const char *fmt, ...);

/* A name as a message has it, in buf[0..SCHEMA_SHOWN). */
const char *
sample_schema_show(char *buf, const char *name);

/* A step down the path; the way back is to cut it at the length returned. */
size_t
sample_schema_step(struct schema *s, const char *step, const char *name);

/* Adds text, no more than 200 bytes; text[0..len) as a string of the grammar;
 * the value as it is written. */
__attribute__((format(printf, 2, 3))) void
sample_schema_add(struct schema_text *b, const char *fmt, ...);
void
sample_schema_add_literal(struct schema_text *b, const char *text, size_t len);
void
sample_schema_add_value(struct schema *s, struct schema_text *b,
                        const json_t *value);

/* One of the alternatives of `key`, with all else that is said, flat. The
 * caller's; NULL: refused. */
json_t *
sample_schema_alternative(struct schema *s, json_t *schema, const char *key,
                          size_t i);

/* The first of n new rules; and the body of one. */
int
sample_schema_new_rules(struct schema *s, int n);
void
sample_schema_put_rule(struct schema *s, int rule,
                       const struct schema_text *body);

/* The rule of a schema a step down the path, or SCHEMA_NOTHING. `inside`: of a
 * part of the value, so that something is written before. `may_be_nothing`:
 * then the reason is forgotten. */
int
sample_schema_rule_at(struct schema *s, json_t *schema, bool inside,
                      bool may_be_nothing, const char *step, const char *name);

/* The value of a limit: 0 where there is no minimum, -1 where there is no
 * maximum. A minimum above SCHEMA_MAX_LENGTH is refused, a maximum lowered. */
long
sample_schema_least(struct schema *s, const json_t *schema, const char *key);
long
sample_schema_most(const json_t *schema, const char *key);

/* {m,n}, {m,} or * for two limits; -1: no limit. */
void
sample_schema_add_count(struct schema_text *b, long min, long max);

/* So often what is in `item`, which is one item of the grammar. */
void
sample_schema_add_times(struct schema *s, struct schema_text *b,
                        const char *item, long min, long max);

/* ---- words.c ---- */

/* Looks at the type of each keyword's value, in the schema alone. */
void
sample_schema_check_words(struct schema *s, const json_t *schema);

/* Calls for each schema that stands in a keyword of this one, with the path a
 * step down. */
void
sample_schema_each(struct schema *s, json_t *schema,
                   void (*call)(struct schema *s, json_t *schema, void *data),
                   void *data);

/* Keywords of the schema itself, in the words of draft 2020-12: not $ref, allOf
 * and const, nor those that limit nothing. The caller's. */
json_t *
sample_schema_own_words(struct schema *s, const json_t *schema);

/* Refuses what limits values and is not kept to. */
void
sample_schema_check_supported(struct schema *s, const json_t *schema);

/* The type that the keywords are about; NULL: any. */
const char *
sample_schema_guess_type(const json_t *schema);

/* ---- refs.c, uri.c ---- */

/* Checks all of the schema, and makes the value of each $ref a number of
 * s->targets; one that leads nowhere stays as it is. */
void
sample_schema_find_refs(struct schema *s);

/* A reference as it is to be understood at a place with such a URI, without its
 * fragment: to out[0..size). Returns whether it has room there. */
bool
sample_schema_resolve_uri(const char *base, const char *ref, char *out,
                          size_t size);

/* %41 becomes A, in place; a NUL stays as it is written. */
void
sample_schema_percent_decode(char *text);

/* ---- merge.c ---- */

/* The schema as one without $ref and allOf, `const` as enum; json_false where
 * nothing is left. The caller's. NULL: refused. */
json_t *
sample_schema_flatten(struct schema *s, json_t *schema);

/* One for what both allow. The caller's. */
json_t *
sample_schema_both(json_t *a, json_t *b);

/* Whether a value of an enum goes with what else is said. */
bool
sample_schema_fits(struct schema *s, const json_t *schema, const json_t *value);

/* Lists of types: what is in both, where "integer" is within "number". The
 * caller's. */
json_t *
sample_schema_common_types(const json_t *a, const json_t *b);

/* Whether a list has the value; numbers are compared as such. */
bool
sample_schema_is_listed(const json_t *list, const json_t *value);

/* ---- apart.c ---- */

/* Refuses a oneOf of which a value that one alternative draws may be valid
 * under another. */
void
sample_schema_check_apart(struct schema *s, json_t *schema);

/* ---- object.c, array.c, string.c, number.c, pattern.c: each adds what it
 * allows, or returns false ---- */

bool
sample_schema_object(struct schema *s, struct schema_text *b, json_t *schema);
bool
sample_schema_array(struct schema *s, struct schema_text *b, json_t *schema);
bool
sample_schema_string(struct schema *s, struct schema_text *b,
                     const json_t *schema);
bool
sample_schema_number(struct schema *s, struct schema_text *b,
                     const json_t *schema, bool whole);

/* Items with commas between them; and such after others. */
void
sample_schema_add_items(struct schema *s, struct schema_text *b, int item,
                        long min, long max);
void
sample_schema_add_more(struct schema *s, struct schema_text *b, int item,
                       long min, long max);

/* Strings that the regular expression is found in, without their quotation
 * marks. *min and *max (-1: none) get the number of their characters. */
void
sample_schema_pattern(struct schema *s, struct schema_text *b,
                      const char *pattern, long *min, long *max);

/* ---- names.c: names of members ---- */

/* Names in order. */
struct schema_names {
    const char **p;
    size_t n;
};

void
sample_schema_add_name(struct schema *s, struct schema_text *b,
                       const char *name);

/* Rules for what follows the first quotation mark of a name that is none of
 * them; and for what follows the character c of such a name, the first. */
int
sample_schema_rule_unlike(struct schema *s, const struct schema_names *names);
int
sample_schema_rule_unlike_from(struct schema *s,
                               const struct schema_names *names, char c);

/* ---- range.c: numbers as digits ---- */

/* Numbers from..to, of 0 or more, in units of 10^-decimals, which need not all
 * be written; below 10^18 units, or SCHEMA_NO_LIMIT. */
void
sample_schema_add_range(struct schema_text *b, int64_t from, int64_t to,
                        int decimals);

/* Whether digits[0..n) are all `c`; as many of one as a number can have. */
bool
sample_schema_all(const char *digits, char c, int n);
extern const char sample_schema_nines[], sample_schema_zeros[];

/* ---- multiple.c ---- */

/* The number above 0 as *p / *q in lowest terms, each up to 10^15; false: it is
 * none. */
bool
sample_schema_fraction(double x, int64_t *p, int64_t *q);
int64_t
sample_schema_gcd(int64_t a, int64_t b);

/* The multiples of m among the whole numbers from..to; none: false. */
bool
sample_schema_add_multiples(struct schema *s, struct schema_text *b,
                            int64_t from, int64_t to, int64_t m);

#endif
