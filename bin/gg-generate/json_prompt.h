/* json_prompt.h - the prompt of a record in JSON */
#ifndef GENERATE_JSON_PROMPT_H
#define GENERATE_JSON_PROMPT_H

#include "common/json.h"

#include "gg-generate/records.h"

/* The object's prompt, a text or ids, or its messages become the record's ids;
 * `text` is the object, too. */
enum gg_status
json_prompt_encode(struct generate *g, struct record *r, json_t *object,
                   const char *text, struct gg_error *err);

#endif
