/* families.c - the table of families */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"

/* A family's rows, ended by one without classes. */
#define FAMILY(name) extern const struct hf_family convert_hf_family_##name[];
#include "convert/hf/families.list"
#undef FAMILY

#define FAMILY(name) convert_hf_family_##name,
static const struct hf_family *const families[] = {
#include "convert/hf/families.list"
};
#undef FAMILY

/* ---- by class ------------------------------------------------------------ */

static bool
is_set(struct core_json_keys *config, const char *setting)
{
    const json_t *v = core_json_find(config, setting);

    return v && !(json_is_integer(v) && json_integer_value(v) == 0);
}

static bool
is_of_name(const char *class, size_t n, const char *model)
{
    return strncmp(class, model, n) == 0 && model[n] == '\0';
}

/* Whether the model is of the class without what stands on top of its layers:
 * "Qwen3Model" of "Qwen3ForCausalLM". */
static bool
is_bare_of(const char *class, size_t n, const char *model)
{
    static const char *const tops[] = { "ForCausalLM", "LMHeadModel",
                                        "ForConditionalGeneration",
                                        "EncoderModel" };

    for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
        size_t top = strlen(tops[i]);

        if (n > top && memcmp(class + n - top, tops[i], top) == 0 &&
            strncmp(model, class, n - top) == 0)
            return !strcmp(model + n - top, "Model") ||
                   !strcmp(model + n - top, "TextModel");
    }
    return false;
}

typedef bool
is_named_t(const char *class, size_t n, const char *model);

/* Whether one of the row's classes is the model's; it is `class` then. */
static bool
has_class(const struct hf_family *f, const char *model, is_named_t *is_named,
          char class[HF_CLASS])
{
    for (const char *list = f->classes; *list; list += *list == '|') {
        size_t n = strcspn(list, "|");

        if (is_named(list, n, model)) {
            snprintf(class, HF_CLASS, "%.*s", (int)n, list);
            return true;
        }
        list += n;
    }
    return false;
}

bool
convert_hf_names_class(const struct hf_family *f, const char *model)
{
    char class[HF_CLASS];

    return has_class(f, model, is_of_name, class);
}

static const struct hf_family *
find_named(const char *model, struct core_json_keys *config,
           is_named_t *is_named, char class[HF_CLASS])
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        for (const struct hf_family *f = families[i]; f->classes; f++)
            if (has_class(f, model, is_named, class) &&
                (!f->setting || is_set(config, f->setting)) &&
                (!f->counts || f->counts(config)))
                return f;
    return NULL;
}

const struct hf_family *
convert_hf_family_find(const char *model, struct core_json_keys *config,
                       char class[HF_CLASS])
{
    const struct hf_family *f = find_named(model, config, is_of_name, class);

    return f ? f : find_named(model, config, is_bare_of, class);
}

#endif
