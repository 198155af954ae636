/* grammars.h - grammars of records, each compiled once as long as it is in use
 *
 * Many records have the same one: those that were used last stay. */
#ifndef RECORDS_GRAMMARS_H
#define RECORDS_GRAMMARS_H

#include "common/cli.h"

struct grammar_entry;

/* All zero: none yet. */
struct grammars {
    struct grammar_entry *newest;
};

/* The grammar of a text in GBNF, or of a JSON schema; to be given back. */
enum gg_status
grammars_take(struct grammars *all, const struct gg_vocab *vocab, bool schema,
              const char *text, size_t len, struct grammar_entry **out,
              struct gg_error *err);
struct gg_grammar *
grammars_get(struct grammar_entry *entry);

/* No sampler and no history uses it any more; takes NULL. */
void
grammars_give_back(struct grammars *all, struct grammar_entry *entry);

/* When all were given back. */
void
grammars_clear(struct grammars *all);

#endif
