/* string.c - strings: lengths, formats, patterns */
#include <config.h>

#ifdef HAVE_JANSSON

#include "sample/schema/parts.h"

/* No month has fewer days than 28. */
#define DATE                                                                   \
    "[0-9]{4} \"-\" (\"0\" [1-9] | \"1\" [0-2]) \"-\" "                        \
    "(\"0\" [1-9] | \"1\" [0-9] | \"2\" [0-8])"
#define TIME                                                                   \
    "([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9] \":\" [0-5] [0-9] "          \
    "(\".\" [0-9]{1,9})? (\"Z\" | [+-] ([01] [0-9] | \"2\" [0-3]) "            \
    "\":\" [0-5] [0-9])"

/* NULL: others say nothing that could be kept to. */
static const char *
format_of(const json_t *schema)
{
    static const struct {
        const char *name, *body;
    } formats[] = {
        { "date", DATE },
        { "time", TIME },
        { "date-time", DATE " \"T\" " TIME },
        { "uuid", "[0-9a-f]{8} (\"-\" [0-9a-f]{4}){3} \"-\" [0-9a-f]{12}" },
    };
    const char *name = json_string_value(json_object_get(schema, "format"));

    for (size_t i = 0; name && i < sizeof(formats) / sizeof(formats[0]); i++)
        if (!strcmp(name, formats[i].name))
            return formats[i].body;
    return NULL;
}

/* A length that is said as well must hold for all that the pattern allows. */
static bool
add_pattern(struct schema *s, struct schema_text *b, const char *pattern,
            long min, long max)
{
    long least, most;

    sample_schema_pattern(s, b, pattern, &least, &most);
    if ((max >= 0 && least > max) || (most >= 0 && most < min))
        return sample_schema_nothing(
            s, "pattern allows no length that minLength and "
               "maxLength do");
    if (least < min || (max >= 0 && (most < 0 || most > max)))
        sample_schema_refuse(
            s, "pattern allows lengths that minLength or maxLength "
               "does not: not supported");
    return true;
}

bool
sample_schema_string(struct schema *s, struct schema_text *b,
                     const json_t *schema)
{
    const char *format = format_of(schema);
    const json_t *pattern = json_object_get(schema, "pattern");
    long min = sample_schema_least(s, schema, "minLength");
    long max = sample_schema_most(schema, "maxLength");
    bool some = true;

    if (max >= 0 && max < min)
        return sample_schema_nothing(s, "maxLength is below minLength");
    if (format && (min > 0 || max >= 0 || pattern))
        sample_schema_refuse(
            s,
            "a length or pattern with format %.20s is not "
            "supported",
            json_string_value(json_object_get(schema, "format")));
    sample_schema_add(b, "\"\\\"\" ");
    if (format)
        sample_schema_text_add(b, format, strlen(format));
    else if (pattern)
        some = add_pattern(s, b, json_string_value(pattern), min, max);
    else
        sample_schema_add_times(s, b, "character", min, max);
    sample_schema_add(b, " \"\\\"\"");
    return some;
}

#endif
