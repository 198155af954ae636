/* peft_factor.c - the factor of an adapter's product */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/peft.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "convert/hf/module_pattern.h"

static bool
is_plain(const char *pattern)
{
    for (const char *p = pattern; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '.' && *p != '_' && *p != '-')
            return false;
    return true;
}

/* Whether a key of a pattern is the module's name, or its end, or a regular
 * expression of it. */
static bool
is_pattern_of(struct hf_peft *p, const char *pattern, const char *module)
{
    size_t n = strlen(pattern), m = strlen(module);

    if (is_plain(pattern))
        return n > 0 && n <= m && strcmp(module + m - n, pattern) == 0 &&
               (n == m || module[m - n - 1] == '.');
    switch (convert_hf_module_match(pattern, module, &p->steps)) {
    case MODULE_MATCHES:
        return true;
    case MODULE_DIFFERS:
        return false;
    case MODULE_LONG:
        core_json_bad(&p->config, GG_ERR_UNSUPPORTED,
                      "%.80s: patterns take too long", pattern);
        return false;
    case MODULE_NOMEM:
        p->config.status = error_nomem(p->config.err);
        return false;
    default:
        core_json_bad(&p->config, GG_ERR_UNSUPPORTED,
                      "%.80s: no regular expression that is read here",
                      pattern);
        return false;
    }
}

/* The first one is. */
static double
pattern_value(struct hf_peft *p, const char *name, const char *module,
              double other)
{
    struct core_json_keys *k = &p->config;
    const json_t *object = core_json_object_of(k, name);
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (k->status != GG_OK || !is_pattern_of(p, key, module))
            continue;
        if (!json_is_number(value))
            core_json_bad(k, GG_ERR_FORMAT, "%s: %.80s: no number", name, key);
        return json_number_value(value);
    }
    return other;
}

double
convert_hf_peft_factor(struct hf_peft *p, const char *module, int64_t rank)
{
    double alpha = pattern_value(p, "alpha_pattern", module, p->alpha);
    double n = (double)rank;

    return alpha / p->alpha * (p->sqrt_rank ? sqrt(n) : 1);
}

#endif
