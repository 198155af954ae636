/* repeat.c - how often something is repeated */
#include <config.h>

#ifdef HAVE_JANSSON

#include "sample/schema/parts.h"

enum {
    MANY_TIMES = 200, /* of which a repetition is not written out */
};

long
sample_schema_least(struct schema *s, const json_t *schema, const char *key)
{
    double x = core_json_real(json_object_get(schema, key));

    if (x <= SCHEMA_MAX_LENGTH)
        return (long)x;
    sample_schema_refuse(s, "%s above %d is not supported", key,
                         SCHEMA_MAX_LENGTH);
    return 0;
}

long
sample_schema_most(const json_t *schema, const char *key)
{
    const json_t *v = json_object_get(schema, key);
    double x = core_json_real(v);

    return !v ? -1 : x < SCHEMA_MAX_LENGTH ? (long)x : SCHEMA_MAX_LENGTH;
}

void
sample_schema_add_count(struct schema_text *b, long min, long max)
{
    if (max >= 0)
        sample_schema_add(b, "{%ld,%ld}", min, max);
    else if (min > 0)
        sample_schema_add(b, "{%ld,}", min);
    else
        sample_schema_add(b, "*");
}

/* A rule for `times` of the item; the item itself is copied less often so. */
static int
block_of(struct schema *s, const char *item, long times)
{
    struct schema_text body = { 0 };
    int rule = sample_schema_new_rules(s, 1);

    sample_schema_add(&body, "%s{%ld}", item, times);
    sample_schema_put_rule(s, rule, &body);
    sample_schema_text_clear(&body);
    return rule;
}

static long
root_of(long n)
{
    long r = 1;

    while (r * r < n)
        r++;
    return r;
}

/* Whole blocks, and less than one. */
static void
add_blocks(struct schema *s, struct schema_text *b, const char *item,
           long times, bool exactly)
{
    long size = root_of(times), n = times / size;
    int block = block_of(s, item, size);

    sample_schema_add(b, " r%d", block);
    if (exactly) {
        sample_schema_add(b, "{%ld} %s{%ld}", n, item, times - n * size);
        return;
    }
    sample_schema_add(b, "{0,%ld} %s{0,%ld}", n - 1, item, size - 1);
    sample_schema_add(b, " | r%d{%ld} %s{0,%ld}", block, n, item,
                      times - n * size);
}

void
sample_schema_add_times(struct schema *s, struct schema_text *b,
                        const char *item, long min, long max)
{
    long more = max - min;

    if (min <= MANY_TIMES && (max < 0 || more <= MANY_TIMES)) {
        sample_schema_add(b, " %s", item);
        sample_schema_add_count(b, min, max);
        return;
    }
    if (min > MANY_TIMES)
        add_blocks(s, b, item, min, true);
    else
        sample_schema_add(b, " %s{%ld}", item, min);
    sample_schema_add(b, " (");
    if (max >= 0 && more > MANY_TIMES)
        add_blocks(s, b, item, more, false);
    else {
        sample_schema_add(b, "%s", item);
        sample_schema_add_count(b, 0, max < 0 ? -1 : more);
    }
    sample_schema_add(b, ")");
}

#endif
