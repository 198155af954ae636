/* known.h - members of a record in JSON that are no options of ours */
#ifndef RECORDS_KNOWN_H
#define RECORDS_KNOWN_H

#include "common/json.h"

enum known {
    KNOWN_NOT,
    KNOWN_HARMLESS, /* the answer is the same without it */
    KNOWN_REFUSED,  /* it would change the answer, and is not obeyed */
};

/* The member's meaning to other programs: OpenAI's interface, and servers that
 * have taken it over. */
enum known
known_member(const char *key, const json_t *value);

#endif
