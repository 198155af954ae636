/* overrides.h - options of one record in JSON, in place of the command line's
 */
#ifndef GENERATE_OVERRIDES_H
#define GENERATE_OVERRIDES_H

#include "common/json.h"

#include "gg-generate/records.h"

/* Takes the members of the object, which is `text` as well, that are options;
 * all others mean something else. */
enum gg_status
overrides_read(struct generate *g, struct record *r, json_t *object,
               const char *text, struct gg_error *err);

#endif
