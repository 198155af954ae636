/* schema.h - a JSON schema becomes a grammar for what it describes
 *
 * After json-schema.org, drafts 4 to 2020-12. JSON is written without blanks,
 * but for one that may follow a comma or a colon. Members stand in the order in
 * which the schema names them; those that it does not require may be missing;
 * others stand behind them where additionalProperties is there and not false.
 * All that is drawn is valid (of oneOf, as anyOf), but not all that is valid
 * is drawn. Of what cannot be kept to (not, if, ...) the path is told. Needs
 * Jansson: without it every schema is refused. */
#ifndef COMMON_SCHEMA_H
#define COMMON_SCHEMA_H

#include "common/buffer.h"

/* Adds the grammar, in GBNF, to `out`. False: *why gets a sentence. */
bool
schema_to_grammar(const char *text, size_t len, struct buffer *out,
                  struct gg_error *why);

#endif
