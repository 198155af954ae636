/* schema.h - a JSON schema becomes a grammar for what it describes
 *
 * After json-schema.org, drafts 4 to 2020-12. JSON is written without blanks,
 * but for one that may follow a comma or a colon. Members stand in the order in
 * which the schema names them; those that it does not require may be missing;
 * others stand after them where additionalProperties is there and not false.
 * All that is drawn is valid, but not all that is valid is drawn. */
#ifndef SAMPLE_SCHEMA_SCHEMA_H
#define SAMPLE_SCHEMA_SCHEMA_H

#include "core/error.h"

/* The grammar in GBNF, mem_free() it. GG_ERR_FORMAT tells the line that is no
 * JSON, or the path of what is no schema or cannot be kept to (not, if, ...);
 * GG_ERR_UNSUPPORTED: built without Jansson. */
enum gg_status
sample_schema_to_gbnf(const char *text, size_t len, char **out, size_t *n,
                      struct gg_error *err);

#endif
