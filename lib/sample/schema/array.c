/* array.c - arrays */
#include <config.h>

#ifdef HAVE_JANSSON

#include "sample/schema/parts.h"

void
sample_schema_add_more(struct schema *s, struct schema_text *b, int item,
                       long min, long max)
{
    char text[48];

    snprintf(text, sizeof(text), "(\",\" blank r%d)", item);
    sample_schema_add_times(s, b, text, min, max);
}

void
sample_schema_add_items(struct schema *s, struct schema_text *b, int item,
                        long min, long max)
{
    if (max == 0)
        return;
    sample_schema_add(b, min > 0 ? " r%d" : " (r%d", item);
    sample_schema_add_more(s, b, item, min > 0 ? min - 1 : 0,
                           max > 0 ? max - 1 : -1);
    if (min == 0)
        sample_schema_add(b, ")?");
}

/* The first ones, each with a schema of its own, until one that allows nothing;
 * all of them are written. */
static long
add_first(struct schema *s, struct schema_text *b, const json_t *first,
          long max)
{
    long n = (long)json_array_size(first), i;
    char step[24];

    n = max >= 0 && max < n ? max : n;
    for (i = 0; i < n && !s->failed; i++) {
        json_t *item = json_array_get(first, (size_t)i);
        int rule;

        snprintf(step, sizeof(step), "%ld", i);
        rule = sample_schema_rule_at(s, item, true, false, "prefixItems", step);
        if (rule == SCHEMA_NOTHING)
            break;
        sample_schema_add(b, "%s r%d", i ? " \",\" blank" : "", rule);
    }
    return i;
}

/* How many items there may be at most, where n stand in front: all of them if
 * there is nothing after, and no more than there must be if nothing is said
 * of what is after. */
static long
most_items(const json_t *schema, long n, bool cut, long min, long max)
{
    const json_t *items = json_object_get(schema, "items");
    bool first = json_object_get(schema, "prefixItems") != NULL;
    long most = max;

    if (cut || json_is_false(items))
        most = n;
    else if (first && !items)
        most = min > n ? min : n;
    return max >= 0 && max < most ? max : most;
}

bool
sample_schema_array(struct schema *s, struct schema_text *b, json_t *schema)
{
    json_t *items = json_object_get(schema, "items");
    const json_t *first = json_object_get(schema, "prefixItems");
    long min = sample_schema_least(s, schema, "minItems");
    long max = sample_schema_most(schema, "maxItems"), n, all;
    bool had = s->reason[0] != '\0';

    if (max >= 0 && max < min)
        return sample_schema_nothing(s, "maxItems is below minItems");
    sample_schema_add(b, "\"[\"");
    n = add_first(s, b, first, max);
    all = (long)json_array_size(first);
    max = most_items(schema, n, n < all && n != max, min, max);
    if (max != n) {
        int item = sample_schema_rule_at(s, items ? items : json_true(), true,
                                         min <= n, "items", NULL);

        if (item == SCHEMA_NOTHING)
            max = n;
        else if (n)
            sample_schema_add_more(s, b, item, min > n ? min - n : 0,
                                   max < 0 ? -1 : max - n);
        else
            sample_schema_add_items(s, b, item, min, max);
    }
    if (max >= 0 && max < min)
        return sample_schema_nothing(s, "minItems is more than there can be");
    if (!had)
        s->reason[0] = '\0';
    sample_schema_add(b, " \"]\"");
    return true;
}

#endif
