/* members.c - members of an object in JSON, as they stand in its text */
#include <config.h>

#include "gg-generate/members.h"

#ifdef HAVE_JANSSON

#include <string.h>

#include "common/json.h"

static const char *
skip_space(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')
        p++;
    return p;
}

static const char *
skip_string(const char *p)
{
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

static const char *
skip_value(const char *p)
{
    size_t depth = 0;

    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        depth += *p == '[' || *p == '{';
        depth -= *p == ']' || *p == '}';
        p++;
    } while (depth || !strchr(",]} \t\r\n", *p));
    return p;
}

/* The member that begins at p, after a brace or a comma. False: there is
 * none. */
static bool
next_member(const char *p, struct member *m)
{
    m->begin = p;
    m->key = skip_space(p);
    if (*m->key != '"')
        return false;
    p = skip_string(m->key);
    m->key_len = (size_t)(p - m->key);
    m->value = skip_space(skip_space(p) + 1);
    m->end = skip_value(m->value);
    return true;
}

static const char *const written[] = {
    "text",    "ids",         "logprob",   "stop_reason",       "error",
    "choices", "probability", MEMBER_DATE, "reasoning_content", "tool_calls"
};

bool
member_is_written(const char *name)
{
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
        if (strcmp(name, written[i]) == 0)
            return true;
    return false;
}

/* The member's name, whose escapes are undone; the caller frees it. */
static json_t *
read_key(const struct member *m)
{
    json_t *key = json_loadb(m->key, m->key_len, JSON_DECODE_ANY, NULL);

    if (!key) /* it was read before */
        cli_die("out of memory");
    return key;
}

static bool
is_key(const struct member *m, const char *name)
{
    json_t *key = read_key(m);
    bool same = strcmp(json_string_value(key), name) == 0;

    json_decref(key);
    return same;
}

/* True for what is written anew; a seed stays where it is. */
static bool
is_ours(const struct member *m)
{
    json_t *key = read_key(m);
    const char *name = json_string_value(key);
    bool ours = member_is_written(name) || (strcmp(name, "seed") == 0 &&
                                            strncmp(m->value, "null", 4) == 0);

    json_decref(key);
    return ours;
}

void
member_pass_through(const char *text, struct buffer *out)
{
    struct member m = { .end = skip_space(text) };

    do {
        if (!next_member(m.end + 1, &m))
            break;
        if (is_ours(&m))
            continue;
        buffer_char(out, out->len ? ',' : '{');
        buffer_add(out, m.begin, (size_t)(m.end - m.begin));
    } while (*(m.end = skip_space(m.end)) == ',');
}

bool
member_find(const char *text, const char *name, struct member *m)
{
    m->end = skip_space(text);
    do {
        if (!next_member(m->end + 1, m))
            return false;
        if (is_key(m, name))
            return true;
    } while (*(m->end = skip_space(m->end)) == ',');
    return false;
}

#endif
