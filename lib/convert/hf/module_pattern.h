/* module_pattern.h - names of modules by the regular expressions of PEFT */
#ifndef CONVERT_HF_MODULE_PATTERN_H
#define CONVERT_HF_MODULE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

enum module_match {
    MODULE_DIFFERS,
    MODULE_MATCHES,
    MODULE_BAD,  /* no regular expression, or one that is not read */
    MODULE_LONG, /* *budget is used up */
    MODULE_NOMEM,
};

/* Whether Python's re.match(r"(.*\.)?(PATTERN)$", name) finds something: of
 * what matches by states alone, so neither references back nor looks around.
 * *budget: steps that are left. */
enum module_match
convert_hf_module_match(const char *pattern, const char *name,
                        uint64_t *budget);

#endif
