/* pre.c - which split rule a pre_tokenizer is */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/tokens.h"

/* ---- steps in one line --------------------------------------------------- */

struct line {
    char text[2048];
    size_t n;
};

static void
add_text(struct line *l, const char *s)
{
    size_t n = strlen(s), room = sizeof(l->text) - 1 - l->n;

    n = n < room ? n : room; /* one so long is like none that is known */
    memcpy(l->text + l->n, s, n);
    l->n += n;
    l->text[l->n] = '\0';
}

static const char *
text_of(const json_t *step, const char *name)
{
    const char *s = json_string_value(json_object_get(step, name));

    return s ? s : "";
}

static bool
is_true(const json_t *step, const char *name, bool other)
{
    const json_t *v = json_object_get(step, name);

    return json_is_boolean(v) ? json_is_true(v) : other;
}

static void
add_split(struct line *l, const json_t *step)
{
    const json_t *pattern = json_object_get(step, "pattern");
    const char *regex = text_of(pattern, "Regex");
    bool inverse = is_true(step, "invert", false);
    const char *how = text_of(step, "behavior");

    /* To take out what is no word, or to keep what is one, is the same. */
    add_text(l, inverse && !strcmp(how, "Removed") ? "Isolated" : how);
    add_text(l, inverse && strcmp(how, "Removed") ? "!" : "");
    add_text(l, " ");
    add_text(l, *regex ? regex : text_of(pattern, "String"));
}

static void
add_step(struct line *l, const json_t *step)
{
    const char *type = text_of(step, "type");

    add_text(l, l->n ? "; " : "");
    if (!strcmp(type, "Split")) {
        add_split(l, step);
    } else if (!strcmp(type, "ByteLevel")) {
        add_text(l, is_true(step, "add_prefix_space", true) ? "blank " : "");
        add_text(l, is_true(step, "use_regex", true) ? "words" : "bytes");
    } else if (!strcmp(type, "Digits")) {
        add_text(l, is_true(step, "individual_digits", false) ? "digits"
                                                              : "numbers");
    } else {
        add_text(l, type);
        add_text(l, text_of(step, "behavior"));
    }
}

static void
describe_pre(struct line *l, const json_t *pre)
{
    const json_t *steps = json_object_get(pre, "pretokenizers");
    const json_t *step;
    size_t i;

    l->n = 0;
    l->text[0] = '\0';
    if (!json_is_array(steps))
        add_step(l, pre);
    json_array_foreach(steps, i, step) add_step(l, step);
}

/* ---- the rules ----------------------------------------------------------- */

#define SUFFIXES "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define REST     "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define CL100K(digits)                                                         \
    "Isolated " SUFFIXES "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits              \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" REST "; bytes"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define O200K(suffixes, digits)                                                \
    "Isolated [^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" suffixes             \
    "|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" suffixes "|" digits          \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" REST "; bytes"

/* The steps are those of the models' tokenizer.json; the names are llama.cpp's,
 * as in lib/vocab/split.c. */
static const struct {
    const char *steps, *name;
    const char *whole; /* the name where words that are tokens stay whole */
} rules[] = {
    { "words", "gpt-2", NULL },
    { "digits; words", "starcoder", NULL },
    { "PunctuationContiguous; words; numbers; Isolated [0-9][0-9][0-9]",
      "falcon", NULL },
    { CL100K("\\p{N}{1,3}"), "dbrx", "llama-bpe" },
    { CL100K("\\p{N}"), "qwen2", NULL },
    { "Isolated " SUFFIXES "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
      "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" REST "; bytes",
      "qwen35", NULL },
    { "Isolated [^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
      "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" REST "; bytes",
      "ufakzeka", NULL },
    { O200K(SUFFIXES "?", "\\p{N}{1,3}"), "gpt-4o", "granite-embed-multi-97m" },
    { O200K("", "\\p{N}"), "tekken", "tekken" },
};

const char *
convert_hf_pre_name(const json_t *pre, bool ignore_merges)
{
    struct line l;

    describe_pre(&l, pre);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (!strcmp(l.text, rules[i].steps))
            return ignore_merges ? rules[i].whole : rules[i].name;
    return NULL;
}

#endif
