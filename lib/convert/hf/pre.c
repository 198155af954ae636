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

/* Blanks as U+2581, and one in front: of a text, or of all that added tokens
 * part. */
static void
add_metaspace(struct line *l, const json_t *step)
{
    const char *scheme = text_of(step, "prepend_scheme");

    if (!*scheme)
        scheme = is_true(step, "add_prefix_space", true) ? "always" : "never";
    add_text(l, "Metaspace ");
    add_text(l, text_of(step, "replacement"));
    add_text(l, scheme);
    add_text(l, is_true(step, "split", true) ? " split" : "");
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
    } else if (!strcmp(type, "Metaspace")) {
        add_metaspace(l, step);
    } else if (!strcmp(type, "Replace")) {
        add_text(l, text_of(json_object_get(step, "pattern"), "String"));
        add_text(l, " as ");
        add_text(l, text_of(step, "content"));
    } else {
        add_text(l, type);
        add_text(l, text_of(step, "behavior"));
    }
}

/* `list`: as files call the steps of several. No step at all is "". */
static void
describe_steps(struct line *l, const json_t *pre, const char *list)
{
    const json_t *steps = json_object_get(pre, list);
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
#define CLIP  "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define O200K(suffixes, digits)                                                \
    "Isolated [^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" suffixes             \
    "|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" suffixes "|" digits          \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" REST "; bytes"
#define DEEPSEEK3(rest)                                                        \
    "Isolated \\p{N}{1,3}; Isolated [\xe4\xb8\x80-\xe9\xbe\xa5"                \
    "\xe3\x81\x80-\xe3\x82\x9f\xe3\x82\xa0-\xe3\x83\xbf]+; "                   \
    "Isolated [!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"           \
    "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+" rest
#define SPARK DEEPSEEK3("|[\\r\\n]|\\s+(?!\\S)|\\s+")

/* The steps are those of the models' tokenizer.json; the names are llama.cpp's,
 * as in lib/vocab/split.c. */
static const struct {
    const char *steps, *name;
    const char *whole; /* the name where words that are tokens stay whole */
} rules[] = {
    { "words", "gpt-2", NULL },
    { "digits; words", "starcoder", NULL },
    { "Isolated " CLIP "; words", "clip", NULL },
    { "Isolated <\\|startoftext\\|>|<\\|endoftext\\|>|" CLIP "; words", "clip",
      NULL },
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
    { DEEPSEEK3("[\\r\\n]*" REST "; bytes"), "deepseek-v3", NULL },
    { SPARK "; Isolated \\p{N}; bytes", "spark2_5", NULL },
    { SPARK "; digits; bytes", "spark2_5", NULL },
};

static const char *
name_of_steps(const json_t *pre, bool ignore_merges)
{
    struct line l;

    describe_steps(&l, pre, "pretokenizers");
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (!strcmp(l.text, rules[i].steps))
            return ignore_merges ? rules[i].whole : rules[i].name;
    return NULL;
}

/* Under Llama's name others expect a token that begins a text. */
const char *
convert_hf_pre_name(const json_t *pre, bool ignore_merges, bool begins)
{
    const char *name = name_of_steps(pre, ignore_merges);

    return name && !begins && !strcmp(name, "llama-bpe") ? "glm5" : name;
}

/* ---- rules for characters ------------------------------------------------ */

#define MARK   "\xe2\x96\x81" /* U+2581 */
#define MARKED "  as " MARK

static const struct {
    const char *normalizer, *steps, *name;
} characters[] = {
    /* No blank is left where the second would cut. */
    { MARKED, "", "granite-embed-multi-311m" },
    { MARKED, "MergedWithPrevious  ", "granite-embed-multi-311m" },
    { MARKED, "Isolated \\n+", "sarvam-moe" },
    { MARKED, "Isolated \n+", "sarvam-moe" },
    { "", "Metaspace " MARK "always split", "mmbert" },
    { MARKED, "Metaspace " MARK "always split", "mmbert" },
    { "", "WhitespaceSplit", "whitespace" },
    { "Lowercase", "WhitespaceSplit", "whitespace" },
};

/* Whether several ends of lines are a token of their own, which no merge makes.
 */
static bool
adds_line_ends(const json_t *file)
{
    const json_t *list = json_object_get(file, "added_tokens"), *v;
    size_t i;

    json_array_foreach(
        list, i, v) if (!strcmp(text_of(v, "content"), "\n\n")) return true;
    return false;
}

const char *
convert_hf_characters_name(const json_t *file)
{
    struct line normalizer, steps;
    const char *name = NULL;

    describe_steps(&normalizer, json_object_get(file, "normalizer"),
                   "normalizers");
    describe_steps(&steps, json_object_get(file, "pre_tokenizer"),
                   "pretokenizers");
    for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++)
        if (!strcmp(normalizer.text, characters[i].normalizer) &&
            !strcmp(steps.text, characters[i].steps))
            name = characters[i].name;
    if (name && !strncmp(name, "granite", 7) && !adds_line_ends(file))
        name = "sarvam-moe";
    return name;
}

#endif
